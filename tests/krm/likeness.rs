//! How many edits lead from an upstream package to a local one, by which `--original auto` finds what a copy was made from.

use std::rc::Rc;

use krm_merge::likeness::{
    ComparedPackages, EditCount, FileEditCount, LocalPaths, SimilarityScanner,
};

type Files<'f> = &'f [(&'f str, &'f str)];

fn edits(local: Files<'_>, upstream: Files<'_>) -> EditCount {
    let mut scanner = SimilarityScanner::default();
    let mut packages = ComparedPackages::default();
    for (path, text) in upstream {
        packages.upstream(path, &scanner.values(path, text.as_bytes()));
    }
    for (path, text) in local {
        let ours = scanner.values(path, text.as_bytes());
        match upstream.iter().find(|(other, _)| other == path) {
            Some((_, text)) => {
                let theirs = scanner.values(path, text.as_bytes());
                packages.both(path, Rc::new(FileEditCount::between(&ours, &theirs)));
            }
            None => packages.local(path, &ours),
        }
    }
    packages.edits()
}

/// Changed, added and removed.
fn between(local: Files<'_>, upstream: Files<'_>) -> (usize, usize, usize) {
    let edits = edits(local, upstream);
    (edits.changed, edits.added, edits.removed)
}

fn file(local: &str, upstream: &str) -> (usize, usize, usize) {
    between(&[("a.yaml", local)], &[("a.yaml", upstream)])
}

fn thing(name: &str, spec: &str) -> String {
    format!("apiVersion: v1\nkind: Thing\nmetadata: {{name: {name}}}\nspec: {spec}\n")
}

#[test]
fn a_value_that_differs_or_is_added_is_one_edit() {
    let (a, b) = (thing("x", "{v: 1, w: 2}"), thing("x", "{v: 3, w: 2}"));
    assert_eq!(file(&a, &b), (1, 0, 0));
    assert_eq!(file(&a, &thing("x", "{w: 2}")), (0, 1, 0));
    assert_eq!(
        file(
            &thing("x", "{v: {p: 1, q: 2}, w: 2}"),
            &thing("x", "{w: 2}")
        ),
        (0, 2, 0)
    );
    // By value: spelling, order and comments are no edits.
    assert_eq!(file(&a, &thing("x", "\n  w: 2 # two\n  v: 0x1")), (0, 0, 0));
    assert_eq!(file(&thing("x", "{v: \"1\", w: 2}"), &a), (1, 0, 0));
}

#[test]
fn a_missing_resource_is_one_edit_however_large() {
    let large = "{deep: {p: [1, 2, 3], q: {r: 1, s: 2}}, w: 2}";
    assert_eq!(file(&thing("x", "{w: 2}"), &thing("x", large)), (0, 0, 1));
    let list = "[{name: a, v: 1, u: 2}, {name: b, v: 1}]";
    assert_eq!(
        file(&thing("x", "[{name: b, v: 1}]"), &thing("x", list)),
        (0, 0, 1)
    );
    // A resource of a file that is there.
    let (x, y) = (thing("x", large), thing("y", large));
    assert_eq!(file(&x, &format!("{x}---\n{y}")), (0, 0, 1));
    // A file, and a folder with all that is in it.
    let a = ("a.yaml", x.as_str());
    assert_eq!(between(&[a], &[a, ("b.yaml", &y)]), (0, 0, 1));
    let z = thing("z", "1");
    let folder = [a, ("f/b.yaml", &y), ("f/g/c.yaml", &z), ("f/n.txt", "n\n")];
    assert_eq!(between(&[a], &folder), (0, 0, 1));
    assert_eq!(between(&folder[..2], &folder), (0, 0, 2));
}

#[test]
fn a_resource_or_file_that_only_local_has_is_one_edit() {
    let (x, y) = (thing("x", "{v: 1, w: 2}"), thing("y", "{v: 1, w: 2}"));
    let a = ("a.yaml", x.as_str());
    assert_eq!(file(&format!("{x}---\n{y}"), &x), (0, 1, 0));
    assert_eq!(
        between(
            &[a, ("b.yaml", &format!("{y}---\n{}", thing("z", "1")))],
            &[a]
        ),
        (0, 1, 0)
    );
    assert_eq!(between(&[a, ("n.txt", "a\nb\n")], &[a]), (0, 1, 0));
}

#[test]
fn lines_of_other_files() {
    let text = |local: &str, upstream: &str| between(&[("n.txt", local)], &[("n.txt", upstream)]);
    assert_eq!(text("a\nb\nc\n", "a\nb\nc\n"), (0, 0, 0));
    assert_eq!(text("a\nB\nc\n", "a\nb\nc\n"), (1, 0, 0));
    assert_eq!(text("a\nb\nx\nc\n", "a\nb\nc\n"), (0, 1, 0));
    // Lines that follow each other are one removed part.
    assert_eq!(text("a\n", "a\nb\nc\nd\n"), (0, 0, 1));
}

#[test]
fn documents_are_versions_of_each_other_by_identity_and_position() {
    let map = |namespace: &str, value: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: {namespace}\ndata:\n  k: {value}\n"
        )
    };
    let (one, two) = (map("n", "1"), map("m", "2"));
    // Moved to another file, which is one edit; and in another namespace, which is one value.
    assert_eq!(between(&[("a.yaml", &one)], &[("b.yaml", &one)]), (1, 0, 0));
    assert_eq!(
        between(&[("a.yaml", &one)], &[("a.yaml", &map("m", "1"))]),
        (1, 0, 0)
    );
    assert_eq!(
        between(&[("a.yaml", &one)], &[("b.yaml", &map("m", "1"))]),
        (2, 0, 0)
    );
    // Of two, each goes with its own.
    let (both, turned) = (format!("{one}---\n{two}"), format!("{two}---\n{one}"));
    assert_eq!(file(&both, &turned), (0, 0, 0));
    assert_eq!(file(&one, &both), (0, 0, 1));
}

#[test]
fn elements_pair_by_name_by_value_then_in_order() {
    for (local, upstream, expected) in [
        (
            "[{name: x, v: 1}, {name: y, v: 2}]",
            "[{name: y, v: 2}, {name: x, v: 1}]",
            (0, 0, 0),
        ),
        ("[x, y]", "[y, x]", (0, 0, 0)),
        ("[{v: 2}]", "[{v: 1}, {v: 2}]", (0, 0, 1)),
        ("[x, x]", "[x]", (0, 1, 0)),
        ("[--a=1, --b]", "[--a=2, --b]", (1, 0, 0)),
        ("[{v: 1, w: 1}]", "[{v: 1, w: 2}]", (1, 0, 0)),
        ("{}", "[]", (1, 0, 0)),
    ] {
        let found = file(&thing("x", local), &thing("x", upstream));
        assert_eq!(found, expected, "{local} from {upstream}");
    }
}

#[test]
fn revisions_are_compared_in_everything_that_local_has() {
    let local = thing("x", "{v: 1, w: 2}");
    let alike = |upstream: &str| edits(&[("a.yaml", &local)], &[("a.yaml", upstream)]).alike;
    let whole = alike(&local);
    // What local lacks does not tell them apart.
    assert_eq!(alike(&thing("x", "{v: 1, w: 2, more: [1]}")), whole);
    assert_eq!(alike(&format!("{local}---\n{}", thing("y", "1"))), whole);
    let changed = alike(&thing("x", "{v: 5, w: 2}"));
    assert_ne!(changed, whole);
    assert_ne!(alike(&thing("x", "{v: 6, w: 2}")), changed);
    assert_ne!(alike(&thing("x", "{w: 2}")), changed);
    assert_eq!(alike(&thing("x", "{v: 5, w: 2, more: 1}")), changed);
}

#[test]
fn descriptions_of_the_copy_itself_are_not_edits() {
    let kptfile = |name: &str, top: &str, info: &str| {
        format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: {name}\n\
             upstream: {top}\nupstreamLock: {top}\nstatus: {top}\ninfo:\n  upstream: {info}\n"
        )
    };
    let (one, other) = (kptfile("a", "b", "c"), kptfile("x", "y", "c"));
    let of = |one: &str, other: &str| between(&[("Kptfile", one)], &[("Kptfile", other)]);
    assert_eq!(of(&one, &other), (0, 0, 0));
    assert_eq!(of(&one, &kptfile("x", "y", "d")), (1, 0, 0));
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
            file(&annotated(key, "1", "1"), &annotated(key, "2", "1")),
            (0, 0, 0),
            "{key}"
        );
        assert_eq!(
            file(&annotated(key, "1", "1"), &annotated(key, "1", "2")),
            (1, 0, 0),
            "{key}"
        );
    }
    assert_eq!(
        file(&annotated("own", "1", "1"), &annotated("own", "2", "1")),
        (1, 0, 0)
    );
}

#[test]
fn aliases_that_multiply_end() {
    let mut text =
        String::from("apiVersion: v1\nkind: Thing\nmetadata: {name: x}\na0: &a0 [1, 1]\n");
    for level in 1..60 {
        let below = level - 1;
        text += &format!("a{level}: &a{level} [*a{below}, *a{below}]\n");
    }
    assert_eq!(file(&text, &text), (0, 0, 0));
}

/// Packages of the resources x, y and z, each in one of these files or in none.
fn packages() -> Vec<Vec<(&'static str, String)>> {
    const PATHS: [&str; 4] = ["a.yaml", "f/a.yaml", "f/b.yaml", "g/a.yaml"];
    let choices = PATHS.len() + 1;
    let all = (0..choices.pow(3)).map(|number| {
        let place = |at: u32| PATHS.get(number / choices.pow(at) % choices);
        let mut files: Vec<(&str, String)> = Vec::new();
        for (at, name) in [(0, "x"), (1, "y"), (2, "z")] {
            let Some(path) = place(at) else { continue };
            let text = thing(name, "{v: 1}");
            match files.iter_mut().find(|(other, _)| other == path) {
                Some((_, found)) => *found += &format!("---\n{text}"),
                None => files.push((path, text)),
            }
        }
        files
    });
    all.collect()
}

#[test]
fn paths_alone_never_overestimate_the_edits() {
    let all = packages();
    let mut most = 0;
    for local in &all {
        let paths = LocalPaths::new(local.iter().map(|(path, _)| *path));
        for upstream in &all {
            let fewest = paths.fewest_edits(&upstream.iter().map(|(path, _)| *path).collect());
            let [ours, theirs] = [local, upstream].map(|files| {
                let files = files.iter().map(|(path, text)| (*path, text.as_str()));
                files.collect::<Vec<_>>()
            });
            let found = edits(&ours, &theirs);
            assert!(
                fewest.values() <= found.values() && fewest.count() <= found.count(),
                "{local:?} {upstream:?}: {fewest:?} {found:?}"
            );
            most = most.max(fewest.count());
        }
    }
    assert_eq!(most, 3);
}
