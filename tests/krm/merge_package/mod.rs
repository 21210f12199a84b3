//! `merge-package`: sub-packages, moves, files, PackageRevisionResources, schemas, bad input.

mod beside;
mod bookkeeping;
mod decided;
mod empty;
mod files;
mod ignored;
mod kptfile;
mod kustomization;
mod one_file;
mod own_upstream;
mod pairing;
mod parts;
mod said;
mod texts;

use crate::running::function;
use indoc::indoc;
use krm_function::supplied::Role;
use merge_package::FUNCTION;

use crate::merge_cases::{DEFAULTS, Files, map, merge_files};
use crate::step::{on_list, on_package_with};

fn merge_package() -> &'static str {
    function("merge-package")
}

fn kptfile(name: &str) -> String {
    format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: {name}\n")
}

fn keys(files: &Files) -> Vec<&str> {
    files.keys().map(String::as_str).collect()
}

fn conflicts(said: &[String]) -> Vec<&String> {
    let found = said.iter().filter(|line| line.ends_with("(MergeConflict)"));
    found.collect()
}

#[test]
fn the_table_of_sub_packages() {
    let (root, s) = (kptfile("root"), kptfile("s"));
    let (a, changed) = (map("a", "{x: a}"), map("a", "{x: b}"));
    let b = map("b", "{x: b}");
    let with = |a: &str| -> Vec<(String, String)> {
        [
            ("Kptfile", root.as_str()),
            ("s/Kptfile", &s),
            ("s/a.yaml", a),
        ]
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .to_vec()
    };
    let without = || vec![("Kptfile".to_owned(), root.clone())];
    let run = |sources: [Vec<(String, String)>; 3]| {
        let borrowed = sources.each_ref().map(|files| {
            let files = files
                .iter()
                .map(|(path, text)| (path.as_str(), text.as_str()));
            files.collect::<Vec<_>>()
        });
        merge_files([&borrowed[0], &borrowed[1], &borrowed[2]], "")
    };
    const ALL: [&str; 3] = ["Kptfile", "s/Kptfile", "s/a.yaml"];
    // Added on one side.
    assert_eq!(keys(&run([without(), with(&a), without()]).0), ALL);
    assert_eq!(keys(&run([without(), without(), with(&a)]).0), ALL);
    // On both: equal, and not.
    assert_eq!(run([without(), with(&a), with(&a)]).1, Vec::<String>::new());
    let (_, said) = run([without(), with(&a), with(&changed)]);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("[error] s/Kptfile: ") && said[0].ends_with("(SubPackageExists)"));
    // Deleted locally: stays deleted, what upstream added to it too.
    let (files, said) = run([with(&a), without(), with(&a)]);
    assert_eq!((keys(&files), said.len()), (vec!["Kptfile"], 0));
    let mut more = with(&changed);
    more.push(("s/b.yaml".to_owned(), b.clone()));
    more.push(("s/notes.txt".to_owned(), "n".to_owned()));
    let (files, said) = run([with(&a), without(), more]);
    assert_eq!(keys(&files), ["Kptfile"]);
    let stay = said.iter().filter(|line| line.ends_with("(StaysDeleted)"));
    assert_eq!(stay.count(), 3, "{said:?}");
    // Deleted upstream: deleted, or kept as a whole.
    assert_eq!(keys(&run([with(&a), with(&a), without()]).0), ["Kptfile"]);
    let (files, said) = run([with(&a), with(&changed), without()]);
    assert_eq!(keys(&files), ALL);
    assert!(
        said[0].contains("upstream deleted the sub-package"),
        "{said:?}"
    );
    let mut added = with(&a);
    added.push(("s/notes.txt".to_owned(), "mine".to_owned()));
    let (files, _) = run([with(&a), added, without()]);
    assert_eq!(
        keys(&files),
        ["Kptfile", "s/Kptfile", "s/a.yaml", "s/notes.txt"]
    );
    // In all three: merged.
    assert_eq!(
        run([with(&a), with(&a), with(&changed)]).0["s/a.yaml"],
        changed
    );
}

#[test]
fn moved_resources_are_followed() {
    let (a, mine, theirs) = (
        map("a", "{x: a, y: a}"),
        map("a", "{x: mine, y: a}"),
        map("a", "{x: a, y: theirs}"),
    );
    let both = map("a", "{x: mine, y: theirs}");
    // By local, by upstream, by both.
    let (files, said) = merge_files(
        [
            &[("a.yaml", &a)],
            &[("l.yaml", &mine)],
            &[("a.yaml", &theirs)],
        ],
        "",
    );
    assert_eq!((keys(&files), &files["l.yaml"]), (vec!["l.yaml"], &both));
    assert_eq!(conflicts(&said).len(), 0);
    let (files, said) = merge_files(
        [
            &[("a.yaml", &a)],
            &[("a.yaml", &mine)],
            &[("u/a.yaml", &theirs)],
        ],
        "",
    );
    assert_eq!(
        (keys(&files), &files["u/a.yaml"]),
        (vec!["u/a.yaml"], &both)
    );
    assert!(said[0].contains("1 moved"), "{said:?}");
    let (files, said) = merge_files(
        [
            &[("a.yaml", &a)],
            &[("l.yaml", &mine)],
            &[("u.yaml", &theirs)],
        ],
        "",
    );
    assert_eq!((keys(&files), &files["l.yaml"]), (vec!["l.yaml"], &both));
    assert!(
        conflicts(&said)[0].contains("both moved the resource"),
        "{said:?}"
    );
}

/// Found by the fuzz target `packages`: the resource came out twice in one file, which no later run took.
#[test]
fn a_resource_moves_to_where_the_other_side_has_it() {
    let (old, new) = (map("a", "{x: a}"), map("a", "{x: a} # moved"));
    let upstream = [("b.yaml", new.as_str())];
    let both = [("a.yaml", old.as_str()), ("b.yaml", new.as_str())];
    let base = [("a.yaml", old.as_str())];
    for (local, upstream) in [(&both[..], &upstream[..]), (&upstream[..], &both[..])] {
        let (files, said) = merge_files([&base, local, upstream], "");
        assert_eq!(keys(&files), ["b.yaml"]);
        assert_eq!(files["b.yaml"], new);
        assert_eq!(conflicts(&said), Vec::<&String>::new());
    }
    // What local changed at the old place is a conflict, and stays.
    let changed = map("a", "{x: b}");
    let local = [("a.yaml", changed.as_str()), ("b.yaml", new.as_str())];
    let (files, said) = merge_files([&base, &local, &upstream], "");
    assert_eq!(keys(&files), ["a.yaml", "b.yaml"]);
    assert_eq!(conflicts(&said).len(), 1, "{said:?}");
}

#[test]
fn files_become_krm_and_back() {
    let (notes, a) = ("x: 1\n", map("a", "{x: a}"));
    let (files, _) = merge_files(
        [
            &[("v.yaml", notes)],
            &[("v.yaml", notes)],
            &[("v.yaml", &a)],
        ],
        "",
    );
    assert_eq!(files["v.yaml"], a);
    let (files, said) = merge_files(
        [&[("v.yaml", &a)], &[("v.yaml", &a)], &[("v.yaml", notes)]],
        "",
    );
    assert_eq!(
        (files["v.yaml"].as_str(), conflicts(&said).len()),
        (notes, 0)
    );
    // Local's resources stay.
    let mine = map("a", "{x: mine}");
    let (files, said) = merge_files(
        [
            &[("v.yaml", &a)],
            &[("v.yaml", &mine)],
            &[("v.yaml", notes)],
        ],
        "",
    );
    assert_eq!(files["v.yaml"], mine);
    assert_eq!(conflicts(&said).len(), 2, "{said:?}");
}

/// As metrics-server did with a patch between v0.4.5 and v0.5.0: the program writes each file once.
#[test]
fn a_file_that_upstream_turned_into_one_that_is_not_krm_is_written_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let patch = "- op: add\n  path: /spec\n  value: x\n";
    for (name, text) in [
        ("original", map("a", "{x: a}").as_str()),
        ("local", &map("a", "{x: a}")),
        ("upstream", patch),
    ] {
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
        let write = |file: &str, text: &str| {
            std::fs::write(folder.path().join(name).join(file), text).expect("a file");
        };
        write("patch.yaml", text);
        write("other.yaml", &map("b", "{x: b}"));
    }
    let flags = "--package local --original original --upstream upstream";
    let merged = assert_cmd::Command::new(merge_package())
        .args(flags.split(' '))
        .current_dir(folder.path())
        .output()
        .expect("it runs");
    assert_eq!(
        merged.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&merged.stderr)
    );
    let now = std::fs::read_to_string(folder.path().join("local/patch.yaml"));
    assert_eq!(now.expect("a file"), patch);
}

/// As in Contour's configuration: such a line is a blank one of the block, unless it is deeper.
#[test]
fn a_block_scalar_above_a_line_of_white_space_stays_a_block_scalar() {
    let text = |more: &str, value: &str, space: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n{more}data:\n  c: |\n    # first\n    k: {value}\n{space}"
        )
    };
    for space in ["", " \n", "    \n", "    \n\n  \n", "      \n", "  \t\n"] {
        for below in [
            "",
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: d\n",
        ] {
            let file = |more: &str, value: &str| text(more, value, space) + below;
            let (base, upstream) = (file("", "1"), file("", "2"));
            let local = file("  labels: {x: y}\n", "1");
            let (files, said) = merge_files(
                [
                    &[("c.yaml", &base)],
                    &[("c.yaml", &local)],
                    &[("c.yaml", &upstream)],
                ],
                "",
            );
            assert_eq!(conflicts(&said).len(), 0, "{said:?}");
            assert_eq!(
                files["c.yaml"],
                file("  labels: {x: y}\n", "2"),
                "{space:?}"
            );
        }
    }
}

#[test]
fn documents_unchanged_by_local_are_upstreams_text() {
    let a = map("a", "{x: a}");
    let (b, mine) = (map("b", "{x: b}"), map("b", "{x: mine}"));
    let loose = format!(
        "# upstream's\n{}\n\n# about nothing\n",
        map("a", "{x:   'c'}")
    );
    let file = |a: &str, b: &str| format!("{a}---\n{b}");
    let (files, _) = merge_files(
        [
            &[("f.yaml", &file(&a, &b))],
            &[("f.yaml", &file(&a, &mine))],
            &[("f.yaml", &file(&loose, &b))],
        ],
        "",
    );
    assert_eq!(files["f.yaml"], file(&loose, &mine));
    // Identifiers on existing resources are never added.
    let identified = map("a", "{x: c}").replace("metadata:", "metadata: # kpt-merge: /a");
    let (files, _) = merge_files(
        [
            &[("f.yaml", &a)],
            &[("f.yaml", &a)],
            &[("f.yaml", &identified)],
        ],
        "",
    );
    assert_eq!(files["f.yaml"], map("a", "{x: c}"));
}

/// As in a clone: `render_variant::identities` has what is written where.
/// In a ResourceList such annotations name the file of an item; in a file they are data.
#[test]
fn annotations_that_name_a_path_are_data_in_a_file() {
    let annotated = map("c", "{x: 1}").replace(
        "\ndata:",
        "\n  annotations:\n    config.kubernetes.io/path: other.yaml\n    config.kubernetes.io/index: '3'\n    internal.config.kubernetes.io/package-path: p\ndata:",
    );
    let other = map("a", "{x: 1}");
    for (path, upstream, expected) in [
        ("new.yaml", annotated.clone(), annotated.clone()),
        // Behind a resource that local has.
        (
            "a.yaml",
            format!("{other}---\n{annotated}"),
            format!("{}---\n{annotated}", map("a", "{x: mine}")),
        ),
    ] {
        let (mine, text) = (map("a", "{x: mine}"), upstream.as_str());
        let (files, said) = merge_files(
            [
                &[("Kptfile", &kptfile("p")), ("a.yaml", &other)],
                &[("Kptfile", &kptfile("p")), ("a.yaml", &mine)],
                &[("Kptfile", &kptfile("p")), ("a.yaml", &other), (path, text)],
            ],
            "",
        );
        assert_eq!(files[path], expected);
        assert_eq!(said.len(), 1, "{said:?}");
    }
    // They merge like any other.
    let of = |value: &str, path: &str| {
        let text = annotated.replace("{x: 1}", value);
        text.replace("path: other.yaml", &format!("path: {path}"))
    };
    let (base, local, upstream) = (
        annotated.clone(),
        of("{x: 2}", "other.yaml"),
        of("{x: 1}", "new.yaml"),
    );
    let (files, said) = merge_files(
        [
            &[("c.yaml", &base)],
            &[("c.yaml", &local)],
            &[("c.yaml", &upstream)],
        ],
        "",
    );
    assert_eq!(files["c.yaml"], of("{x: 2}", "new.yaml"), "{said:?}");
}

#[test]
fn new_resources_say_who_they_are_where_those_of_local_do() {
    let (a, b) = (map("a", "{x: a}"), map("b", "{}"));
    let list = "apiVersion: v1\nkind: ConfigMapList\nitems: []\n";
    let annotation =
        "\n  annotations:\n    internal.kpt.dev/upstream-identifier: '|ConfigMap|default|a'\ndata:";
    let upstream = b.replace("metadata:", "metadata: # own");
    let identified = "# own\nmetadata: # kpt-merge: /b\n  name: b\n  annotations:\n    internal.kpt.dev/upstream-identifier: '|ConfigMap|default|b'\n";
    let new = upstream.replace("metadata: # own\n  name: b\n", identified);
    for local in [
        a.replace("metadata:", "metadata: # kpt-merge: /a"),
        a.replace("\ndata:", annotation),
    ] {
        let theirs = map("a", "{x: z}");
        let (files, _) = merge_files(
            [
                &[("a.yaml", &a), ("list.yaml", list)],
                &[("a.yaml", &local), ("list.yaml", list)],
                &[
                    ("a.yaml", &format!("{theirs}---\n{upstream}")),
                    (
                        "b.yaml",
                        &map("c", "{}").replace("metadata:\n  name: c", "metadata: {name: c}"),
                    ),
                    ("list.yaml", &format!("{list}---\n{}", map("d", "{}"))),
                ],
            ],
            "",
        );
        // Those that are there get nothing.
        let merged = local.replace("{x: a}", "{x: z}");
        assert_eq!(files["a.yaml"], format!("{merged}---\n{new}"));
        let flow = "metadata: # kpt-merge: /c\n  name: c\n  annotations:\n";
        assert!(files["b.yaml"].contains(flow), "{}", files["b.yaml"]);
        // A file that local left as it was does not come as a whole.
        let d = "metadata: # kpt-merge: /d\n  name: d\n  annotations:\n";
        assert!(files["list.yaml"].contains(d), "{}", files["list.yaml"]);
    }
    let (files, _) = merge_files(
        [
            &[("a.yaml", &a)],
            &[("a.yaml", &a)],
            &[("a.yaml", &a), ("b.yaml", &upstream)],
        ],
        "",
    );
    assert_eq!(files["b.yaml"], upstream);
}

#[test]
fn crds_of_every_role_decide_how_lists_merge() {
    let crd = indoc! {"
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata:
          name: things.example.com
        spec:
          group: example.com
          names: {kind: Thing, plural: things}
          versions:
          - name: v1
            schema:
              openAPIV3Schema:
                type: object
                properties:
                  spec:
                    type: object
                    properties:
                      parts:
                        type: array
                        x-kubernetes-list-type: map
                        x-kubernetes-list-map-keys: [id]
                        items: {type: object, properties: {id: {type: string}, v: {type: string}}}
    "};
    let thing = |parts: &str| {
        format!(
            "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: t\nspec:\n  parts:\n{parts}"
        )
    };
    let base = thing("  - id: a\n    v: \"1\"\n  - id: b\n    v: \"1\"\n");
    let local = thing("  - id: a\n    v: \"2\"\n  - id: b\n    v: \"1\"\n");
    let upstream = thing("  - id: a\n    v: \"1\"\n  - id: b\n    v: \"3\"\n");
    let both = thing("  - id: a\n    v: \"2\"\n  - id: b\n    v: \"3\"\n");
    // Without the CRD the list has no keys, and is one value then.
    let fields = "combine: none\n";
    let (_, said) = merge_files(
        [
            &[("t.yaml", &base)],
            &[("t.yaml", &local)],
            &[("t.yaml", &upstream)],
        ],
        fields,
    );
    assert_eq!(conflicts(&said).len(), 1);
    for role in 0..3 {
        let of = |at: usize, text: &'static str| {
            [("t.yaml", text), ("z.yaml", crd)][..if at == role { 2 } else { 1 }].to_vec()
        };
        let leak = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        let sources = [
            of(0, leak(&base)),
            of(1, leak(&local)),
            of(2, leak(&upstream)),
        ];
        let (files, said) = merge_files([&sources[0], &sources[1], &sources[2]], fields);
        assert_eq!(files["t.yaml"], both, "{role}: {said:?}");
    }
}

/// A PackageRevisionResources of some files.
pub(crate) fn package_revision(files: &[(&str, &str)]) -> String {
    let mut text = indoc! {"
        apiVersion: porch.kpt.dev/v1alpha1
        kind: PackageRevisionResources
        metadata:
          name: p # mine
        spec:
          packageName: p
          resources:
    "}
    .to_owned();
    for (path, content) in files {
        let lines: String = content
            .lines()
            .map(|line| format!("      {line}\n"))
            .collect();
        text += &format!("    {path}: |\n{lines}");
    }
    text
}

pub(crate) fn item(text: &str, source: Option<&str>) -> String {
    let text = match source {
        Some(word) => text.replacen(
            "metadata:\n",
            &format!("metadata:\n  annotations:\n    config.kubernetes.io/merge-source: {word}\n"),
            1,
        ),
        None => text.to_owned(),
    };
    let lines: String = text
        .lines()
        .skip(1)
        .map(|line| format!("  {line}\n"))
        .collect();
    format!("- {}\n{lines}", text.lines().next().unwrap_or_default())
}

pub(crate) const LIST: &str = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n";

#[test]
fn a_package_revision_is_written_back_as_one() {
    let (a, mine, theirs) = (
        map("a", "{x: a, y: a}"),
        map("a", "{x: mine, y: a}"),
        map("a", "{x: a, y: theirs}"),
    );
    let (gone, new) = (map("gone", "{}"), map("new", "{}"));
    let original =
        package_revision(&[("a.yaml", &a), ("gone.yaml", &gone), ("README.md", "one\n")]);
    let local = package_revision(&[
        ("a.yaml", &mine),
        ("gone.yaml", &gone),
        ("README.md", "one\n"),
    ]);
    let upstream = package_revision(&[
        ("a.yaml", &theirs),
        ("new.yaml", &new),
        ("README.md", "two\n"),
    ]);
    let merged = package_revision(&[
        ("a.yaml", &map("a", "{x: mine, y: theirs}")),
        ("README.md", "two\n"),
        ("new.yaml", &new),
    ]);
    let input = format!(
        "{LIST}{}{}{}",
        item(&original, Some("original")),
        item(&local, None),
        item(&upstream, Some("updated"))
    );
    let outcome = on_list(&FUNCTION, DEFAULTS, &input).expect("a list");
    assert!(!outcome.failed, "{:?}", outcome.results);
    let expected = format!("{LIST}{}", item(&merged, None));
    let found = outcome.file("-");
    let (found, _) = found.split_once("results:").unwrap_or((found, ""));
    assert_eq!(found, expected);
}

/// Where kpt renders a sub-package, the paths of its items are relative to it: a move stays within.
#[test]
fn a_move_within_a_sub_package_of_a_resource_list() {
    let (root, sub) = (kptfile("p"), kptfile("s"));
    let (a, mine, theirs) = (
        map("a", "{x: a, y: a}"),
        map("a", "{x: mine, y: a}"),
        map("a", "{x: a, y: theirs}"),
    );
    let files = |path: &'static str, text| {
        package_revision(&[("Kptfile", &root), ("s/Kptfile", &sub), (path, text)])
    };
    let annotated = |text: &str, package: &str, path: &str| {
        let annotations = format!(
            "\n  annotations:\n    internal.config.kubernetes.io/package-path: {package}\n    internal.config.kubernetes.io/path: '{path}'"
        );
        let (head, rest) = text.split_once("\n  name: ").expect("a name");
        let (name, rest) = rest.split_once('\n').expect("a line");
        let text = format!("{head}\n  name: {name}{annotations}\n{rest}");
        format!("- {}\n", text.trim_end().replace('\n', "\n  "))
    };
    let input = format!(
        "{LIST}{}{}{}{}{}",
        item(&files("s/a.yaml", &a), Some("original")),
        annotated(&root, "/p", "Kptfile"),
        annotated(&sub, "/p/s", "Kptfile"),
        annotated(&mine, "/p/s", "a.yaml"),
        item(&files("s/b/a.yaml", &theirs), Some("updated"))
    );
    let outcome = on_list(&FUNCTION, DEFAULTS, &input).expect("a list");
    assert!(!outcome.failed, "{:?}", outcome.results);
    let merged = annotated(&map("a", "{x: mine, y: theirs}"), "/p/s", "b/a.yaml");
    assert!(
        outcome.file("-").contains(&merged),
        "{}\n{merged}",
        outcome.file("-")
    );
    let said = outcome.results.last().expect("a count");
    assert!(said.contains("1 moved"), "{said}");
}

#[test]
fn bad_input_in_a_role_is_wrong_usage() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = folder.path().join("good");
    let bad = folder.path().join("bad");
    for (path, text) in [(&good, map("a", "{}")), (&bad, "a: 1\na: 2\n".to_owned())] {
        std::fs::create_dir(path).expect("a folder");
        std::fs::write(path.join("a.yaml"), text).expect("a file");
    }
    let local = [(
        "a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    )];
    let flags = |original: &std::path::Path, upstream: &std::path::Path| {
        vec![
            (Role::Original, original.to_owned()),
            (Role::Upstream, upstream.to_owned()),
        ]
    };
    for flags in [flags(&bad, &good), flags(&good, &bad)] {
        let error = on_package_with(&FUNCTION, DEFAULTS, &local, &flags).expect_err("usage");
        assert!(error.to_string().contains("a.yaml"), "{error}");
    }
    let error =
        on_package_with(&FUNCTION, DEFAULTS, &local, &flags(&good, &good)[..1]).expect_err("usage");
    assert!(error.to_string().starts_with("role `upstream`"), "{error}");
    // A word that is none of those allowed is a result.
    let config = format!("{DEFAULTS}onConflict: mine\nstrategy: merge\n");
    let outcome =
        on_package_with(&FUNCTION, &config, &local, &flags(&good, &good)).expect("results");
    let found: Vec<_> = outcome
        .results
        .iter()
        .filter(|line| line.ends_with("(InvalidConfig)"))
        .collect();
    assert_eq!(found.len(), 2, "{:?}", outcome.results);
    // --openapi must hold definitions.
    let arguments = [
        "--original",
        good.to_str().expect("a path"),
        "--upstream",
        good.to_str().expect("a path"),
        "--openapi",
        "deny.toml",
    ];
    let output = assert_cmd::Command::new(merge_package())
        .args(arguments)
        .write_stdin(LIST)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn anchors_and_aliases() {
    let with = |x: &str, y: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: {x}\n  y: {y}\n  z: z\n"
        )
    };
    // An alias merges as its value, and stays if the result is the anchor's.
    let (base, local, upstream) = (
        with("&v one", "*v"),
        with("&v one", "*v") + "  l: l\n",
        with("one", "two"),
    );
    let (files, _) = merge_files(
        [
            &[("a.yaml", &base)],
            &[("a.yaml", &local)],
            &[("a.yaml", &upstream)],
        ],
        "",
    );
    assert_eq!(files["a.yaml"], with("&v one", "two") + "  l: l\n");
    // What an alias reads does not change under it: the alias gets it written out.
    let upstream = with("two", "one");
    let (files, said) = merge_files(
        [
            &[("a.yaml", &base)],
            &[("a.yaml", &local)],
            &[("a.yaml", &upstream)],
        ],
        "",
    );
    assert_eq!(files["a.yaml"], with("&v two", "one") + "  l: l\n");
    assert_eq!(said.len(), 1, "{said:?}");
}

/// A document that is not KRM, next to a resource.
#[test]
fn documents_that_are_not_krm() {
    let file = |x: &str, note: &str| map("a", &format!("{{x: {x}}}")) + "---\n" + note;
    let (old, note) = (file("a", "note: old\n"), file("a", "note: new\n"));
    let said_of = |said: &[String]| -> Vec<String> {
        let conflicts = said
            .iter()
            .filter(|line| line.contains("more than its resources"));
        conflicts.cloned().collect()
    };
    let merge = |versions: [Option<&str>; 3]| {
        let files = versions.map(|text| text.map(|text| ("a.yaml", text)));
        let other = map("other", "{}");
        let files = files.map(|file| {
            let all = file.into_iter().chain([("other.yaml", other.as_str())]);
            all.collect::<Vec<_>>()
        });
        let (files, said) = merge_files([&files[0], &files[1], &files[2]], "");
        (files.get("a.yaml").cloned(), said)
    };
    // Local did not touch the file: upstream's, deletion included.
    let (found, said) = merge([Some(&old), Some(&old), Some(&note)]);
    assert_eq!((found.as_deref(), said_of(&said).len()), (Some(&*note), 0));
    let (found, said) = merge([Some(&old), Some(&old), None]);
    assert_eq!((found, said_of(&said).len()), (None, 0), "{said:?}");
    // Local changed the resource, and upstream the document.
    let local = file("mine", "note: old\n");
    let (found, said) = merge([Some(&old), Some(&local), Some(&note)]);
    assert_eq!(found.as_deref(), Some(&*local));
    assert_eq!(
        said_of(&said),
        [
            "[warning] a.yaml: local and upstream both changed the file, and upstream changed more than its resources: kept your version (MergeConflict)"
        ]
    );
    // Local changed the document, and upstream deleted the file: the document stays.
    let local = file("a", "note: mine\n");
    let (found, said) = merge([Some(&old), Some(&local), None]);
    assert_eq!(found.as_deref(), Some("note: mine\n"));
    assert_eq!(said_of(&said).len(), 1, "{said:?}");
    // Local deleted the file, and upstream changed the document.
    let (found, said) = merge([Some(&old), None, Some(&note)]);
    assert_eq!((found, said_of(&said).len()), (None, 1), "{said:?}");
    // One side alone changed the document.
    let (found, said) = merge([Some(&old), Some(&local), Some(&old)]);
    assert_eq!((found.as_deref(), said.len()), (Some(&*local), 0));
    let (found, said) = merge([Some(&old), Some(&local), Some(&local)]);
    assert_eq!((found.as_deref(), said.len()), (Some(&*local), 0));
    // Both added the file.
    let (_, said) = merge([None, Some(&old), Some(&note)]);
    assert_eq!(said_of(&said).len(), 1, "{said:?}");
}

#[test]
fn an_unedited_clone_has_no_conflict_where_annotations_have_no_value() {
    let text = |annotations: &str, x: u8| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n{annotations}data:\n  x: \"{x}\"\n"
        )
    };
    let identifier = "    internal.kpt.dev/upstream-identifier: '|ConfigMap|default|a'\n";
    let (base, local) = (text("", 1), text(identifier, 1));
    let keep = ("keep.yaml", &*map("keep", "{}"));
    for (upstream, expected) in [
        (None, None),
        (Some(text("", 2)), Some(text(identifier, 2))),
        (
            Some(text("", 1).replace("  annotations:\n", "")),
            Some(local.clone()),
        ),
    ] {
        let upstream = upstream.as_ref().map(|text| ("a.yaml", text.as_str()));
        let upstream: Vec<_> = upstream.into_iter().chain([keep]).collect();
        let (files, said) = merge_files(
            [
                &[("a.yaml", &base), keep],
                &[("a.yaml", &local), keep],
                &upstream,
            ],
            "",
        );
        assert_eq!(files.get("a.yaml"), expected.as_ref(), "{said:?}");
        assert!(
            said.iter().all(|line| line.starts_with("[info]")),
            "{said:?}"
        );
    }
}
