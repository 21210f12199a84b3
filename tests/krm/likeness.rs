//! How many values two packages differ in, by which `--original auto` finds what a copy was made from.

use std::rc::Rc;

use krm_variants::merge::likeness::{Looker, PackageValues, count, differences};

fn package(looker: &mut Looker, files: &[(&str, &str)]) -> PackageValues {
    let files = files.iter();
    let values = files.map(|(path, text)| {
        let values = looker.values(path, text.as_bytes());
        ((*path).to_owned(), Rc::new(values))
    });
    values.collect()
}

/// How many values differ, and how many are shared.
fn between(ours: &[(&str, &str)], theirs: &[(&str, &str)]) -> (usize, usize) {
    let mut looker = Looker::default();
    let (ours, theirs) = (package(&mut looker, ours), package(&mut looker, theirs));
    let found = differences(&ours, &theirs);
    let back = differences(&theirs, &ours);
    assert_eq!(found, back, "either way");
    (found.count, found.shared)
}

fn files(one: &str, other: &str) -> (usize, usize) {
    between(&[("a.yaml", one)], &[("a.yaml", other)])
}

#[test]
fn what_describes_the_copy_itself_is_no_difference() {
    let kptfile = |name: &str, top: &str, info: &str| {
        format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: {name}\n\
             upstream: {top}\nupstreamLock: {top}\nstatus: {top}\ninfo:\n  upstream: {info}\n"
        )
    };
    let (one, other) = (kptfile("a", "b", "c"), kptfile("x", "y", "c"));
    let of = |one: &str, other: &str| between(&[("Kptfile", one)], &[("Kptfile", other)]);
    // apiVersion, kind, and the field of that name further down.
    assert_eq!(of(&one, &other), (0, 3));
    assert_eq!(of(&one, &kptfile("x", "y", "d")), (1, 2));
    // Other resources have no such fields.
    let plain = |text: String| text.replace("kpt.dev/v1", "v1").replace("Kptfile", "Thing");
    assert_eq!(files(&plain(one), &plain(other)), (14, 0));
    // Annotations of pipelines and upstream's identifier, and nothing else of their names.
    let annotated = |key: &str, value: &str, elsewhere: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n    {key}: '{value}'\n\
             data:\n  {key}: '{elsewhere}'\n"
        )
    };
    for key in [
        "internal.kpt.dev/upstream-identifier",
        "internal.config.kubernetes.io/path",
    ] {
        assert_eq!(
            files(&annotated(key, "1", "1"), &annotated(key, "2", "1")),
            (0, 4),
            "{key}"
        );
        assert_eq!(
            files(&annotated(key, "1", "1"), &annotated(key, "1", "2")),
            (1, 3),
            "{key}"
        );
    }
    assert_eq!(
        files(&annotated("own", "1", "1"), &annotated("own", "2", "1")),
        (1, 4)
    );
}

#[test]
fn documents_are_versions_of_each_other_by_what_they_are_and_where() {
    let map = |namespace: &str, value: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: {namespace}\ndata:\n  k: {value}\n"
        )
    };
    let (one, two) = (map("n", "1"), map("m", "2"));
    // Moved to another file; and in another namespace, which is one value.
    assert_eq!(between(&[("a.yaml", &one)], &[("b.yaml", &one)]), (0, 5));
    assert_eq!(
        between(&[("a.yaml", &one)], &[("a.yaml", &map("m", "1"))]),
        (1, 4)
    );
    assert_eq!(
        between(&[("a.yaml", &one)], &[("b.yaml", &map("m", "1"))]),
        (1, 4)
    );
    // Of two, each goes with its own.
    let (both, turned) = (format!("{one}---\n{two}"), format!("{two}---\n{one}"));
    assert_eq!(files(&both, &turned), (0, 10));
    assert_eq!(files(&both, &one), (5, 5));
    // What is not KRM differs by lines, wherever they stand.
    assert_eq!(
        between(&[("n.txt", "a\nb\n")], &[("n.txt", "b\na\n")]),
        (0, 3)
    );
    assert_eq!(
        between(&[("n.txt", "a\nb\n")], &[("n.txt", "a\nc\n")]),
        (2, 2)
    );
    assert_eq!(between(&[("n.txt", "a\n")], &[("m.txt", "a\n")]), (4, 0));
}

#[test]
fn values_of_lists_are_told_apart_by_name_or_value() {
    let list = |items: &str| {
        format!("apiVersion: v1\nkind: Thing\nmetadata: {{name: a}}\nspec: {items}\n")
    };
    // Turned round: by name, by value; maps without a name by place.
    assert_eq!(
        files(
            &list("[{name: x, v: 1}, {name: y, v: 2}]"),
            &list("[{name: y, v: 2}, {name: x, v: 1}]")
        ),
        (0, 7)
    );
    assert_eq!(files(&list("[x, y]"), &list("[y, x]")), (0, 5));
    assert_eq!(files(&list("[x, x]"), &list("[x]")), (1, 4));
    assert_eq!(
        files(&list("[{v: 1}, {v: 2}]"), &list("[{v: 2}, {v: 1}]")),
        (2, 3)
    );
    // An empty one is a value.
    assert_eq!(files(&list("{}"), &list("[]")), (1, 3));
    let mut looker = Looker::default();
    assert_eq!(
        count(&package(&mut looker, &[("a.yaml", &list("[x, {}]"))])),
        5
    );
}
