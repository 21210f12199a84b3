//! The equality table: every pattern of three versions, for a scalar, a map, a list element, a
//! resource and a file, with who stands and whether a conflict is reported.

use indoc::indoc;
use std::collections::BTreeMap;

use krm_yaml::OwnedDocument;

use crate::merge_cases::{Files, merge_files};

/// What stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wins {
    Local,
    Upstream,
    /// The side that `onConflict` names, and a conflict.
    Winner,
    /// Local's, whoever wins, and a conflict.
    LocalInConflict,
}
use Wins::{Local as L, LocalInConflict as C, Upstream as U, Winner as W};

/// Base, local and upstream: `-` is absent, equal letters are equal values. Then what stands of a
/// scalar, a map or an element; of a resource; of a file that is not KRM.
const TABLE: [(&str, Wins, Wins, Wins); 15] = [
    ("---", L, L, L),
    ("--a", U, U, U),
    ("-a-", L, L, L),
    ("-aa", L, L, L),
    // Added on both sides: a resource is merged with an empty original.
    ("-ab", W, W, C),
    ("a--", L, L, L),
    ("a-a", L, L, L),
    // Deleted locally: stays deleted.
    ("a-b", W, L, L),
    ("aa-", U, U, U),
    ("aaa", L, L, L),
    ("aab", U, U, U),
    // Deleted upstream, changed locally: kept.
    ("ab-", W, C, C),
    ("aba", L, L, L),
    ("abb", L, L, L),
    ("abc", W, W, C),
];

const HEAD: &str = indoc! {"
    apiVersion: v1
    kind: Pod
    metadata:
      name: p
    spec:
      first: 1
"};
const KEEP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: keep\n";

/// How a version of something is put into the files of a package, and read again.
struct Kind {
    name: &'static str,
    /// The values of `a`, `b` and `c`; patterns with a letter that has none are left out.
    values: &'static [&'static str],
    files: fn(Option<&str>) -> Files,
    read: fn(&Files) -> Option<String>,
}

fn pod(lines: &str) -> Files {
    BTreeMap::from([("pod.yaml".to_owned(), format!("{HEAD}{lines}"))])
}

fn field(files: &Files, path: &[&str]) -> Option<String> {
    let document = OwnedDocument::parse(files.get("pod.yaml")?.clone()).expect("YAML");
    let found = document.root()?.get_path(path)?.value()?;
    Some(found.to_json())
}

fn at_x(value: Option<&str>) -> Files {
    pod(&value.map(|v| format!("  x: {v}\n")).unwrap_or_default())
}

fn containers(value: Option<&str>) -> Files {
    pod(&value
        .map(|v| format!("  containers: {v}\n"))
        .unwrap_or_default())
}

fn finalizers(value: &str) -> Files {
    let text = HEAD.replace(
        "  name: p\n",
        &format!("  name: p\n  finalizers: {value}\n"),
    );
    BTreeMap::from([("pod.yaml".to_owned(), text)])
}

/// Null is a value wherever a value can stand. Resources and files cannot be null: a document that is
/// null has no apiVersion and kind, and is no resource; a file that is not KRM is its bytes.
const KINDS: &[Kind] = &[
    Kind {
        name: "scalar",
        values: &["1", "2", "3"],
        files: at_x,
        read: |files| field(files, &["spec", "x"]),
    },
    Kind {
        name: "scalar, null in base",
        values: &["null", "2", "3"],
        files: at_x,
        read: |files| field(files, &["spec", "x"]),
    },
    Kind {
        name: "scalar, null as a new value",
        values: &["1", "null", "3"],
        files: at_x,
        read: |files| field(files, &["spec", "x"]),
    },
    Kind {
        name: "map",
        values: &["{k: 1}", "{k: 2}", "{k: 3}"],
        files: at_x,
        read: |files| field(files, &["spec", "x"]),
    },
    Kind {
        name: "map, null in base",
        values: &["null", "{k: 2}", "{k: 3}"],
        files: at_x,
        read: |files| field(files, &["spec", "x"]),
    },
    Kind {
        name: "map, null as a new value",
        values: &["{k: 1}", "null", "{k: 3}"],
        files: at_x,
        read: |files| field(files, &["spec", "x"]),
    },
    Kind {
        name: "map, its entry null in base",
        values: &["{k: null}", "{k: 2}", "{k: 3}"],
        files: at_x,
        read: |files| field(files, &["spec", "x"]),
    },
    Kind {
        name: "map, its entry null as a new value",
        values: &["{k: 1}", "{k: null}", "{k: 3}"],
        files: at_x,
        read: |files| field(files, &["spec", "x"]),
    },
    Kind {
        name: "list of one value",
        values: &["[1]", "[1, 2]", "[3]"],
        files: at_x,
        read: |files| field(files, &["spec", "x"]),
    },
    Kind {
        name: "list of one value, null in base",
        values: &["null", "[1, 2]", "[3]"],
        files: at_x,
        read: |files| field(files, &["spec", "x"]),
    },
    Kind {
        name: "list of one value, null as a new value",
        values: &["[1]", "null", "[3]"],
        files: at_x,
        read: |files| field(files, &["spec", "x"]),
    },
    Kind {
        name: "list of one value, its element null in base",
        values: &["[null]", "[2]", "[3]"],
        files: at_x,
        read: |files| field(files, &["spec", "x"]),
    },
    Kind {
        name: "list of one value, its element null as a new value",
        values: &["[1]", "[null]", "[3]"],
        files: at_x,
        read: |files| field(files, &["spec", "x"]),
    },
    Kind {
        name: "keyed list",
        values: &[
            "[{name: x, image: a}]",
            "[{name: x, image: b}]",
            "[{name: x, image: c}]",
        ],
        files: containers,
        read: |files| field(files, &["spec", "containers"]),
    },
    Kind {
        name: "keyed list, null in base",
        values: &["null", "[{name: x, image: b}]", "[{name: x, image: c}]"],
        files: containers,
        read: |files| field(files, &["spec", "containers"]),
    },
    Kind {
        name: "keyed list, null as a new value",
        values: &["[{name: x, image: a}]", "null", "[{name: x, image: c}]"],
        files: containers,
        read: |files| field(files, &["spec", "containers"]),
    },
    Kind {
        name: "element",
        values: &["1", "2", "3"],
        files: |value| {
            let element = value.map(|v| format!(", {{name: x, image: {v}}}"));
            containers(Some(&format!(
                "[{{name: a}}{}]",
                element.unwrap_or_default()
            )))
        },
        read: |files| field(files, &["spec", "containers"]),
    },
    Kind {
        name: "element, its field null in base",
        values: &["null", "2", "3"],
        files: |value| {
            let element = value.map(|v| format!(", {{name: x, image: {v}}}"));
            containers(Some(&format!(
                "[{{name: a}}{}]",
                element.unwrap_or_default()
            )))
        },
        read: |files| field(files, &["spec", "containers"]),
    },
    Kind {
        name: "element, its field null as a new value",
        values: &["1", "null", "3"],
        files: |value| {
            let element = value.map(|v| format!(", {{name: x, image: {v}}}"));
            containers(Some(&format!(
                "[{{name: a}}{}]",
                element.unwrap_or_default()
            )))
        },
        read: |files| field(files, &["spec", "containers"]),
    },
    Kind {
        name: "element of a set, which is there or not",
        values: &["x"],
        files: |value| {
            let element = value.map(|v| format!(", {v}")).unwrap_or_default();
            finalizers(&format!("[a{element}]"))
        },
        read: |files| field(files, &["metadata", "finalizers"]),
    },
    Kind {
        name: "element of a set that is null",
        values: &["null"],
        files: |value| {
            let element = value.map(|v| format!(", {v}")).unwrap_or_default();
            finalizers(&format!("[a{element}]"))
        },
        read: |files| field(files, &["metadata", "finalizers"]),
    },
    Kind {
        name: "resource",
        values: &["1", "2", "3"],
        files: |value| {
            let text = value.map(|v| ("pod.yaml".to_owned(), format!("{HEAD}  x: {v}\n")));
            text.into_iter().collect()
        },
        read: |files| field(files, &["spec", "x"]),
    },
    Kind {
        name: "file",
        values: &["1", "2", "3"],
        files: |value| {
            value
                .map(|v| ("notes.txt".to_owned(), v.to_owned()))
                .into_iter()
                .collect()
        },
        read: |files| files.get("notes.txt").cloned(),
    },
];

#[test]
fn every_pattern_of_every_kind() {
    for kind in KINDS {
        for (pattern, part, resource, file) in TABLE {
            let expected = match kind.name {
                "resource" => resource,
                "file" => file,
                _ => part,
            };
            let number = |at: usize| {
                let letter = pattern.as_bytes()[at];
                (letter != b'-').then(|| usize::from(letter - b'a'))
            };
            if (0..3).any(|at| number(at).is_some_and(|letter| letter >= kind.values.len())) {
                continue;
            }
            let version = |at: usize| number(at).map(|letter| kind.values[letter]);
            let sources = [0, 1, 2].map(|at| {
                let mut files = (kind.files)(version(at));
                files.insert("keep.yaml".to_owned(), KEEP.to_owned());
                files
            });
            let borrowed = sources.each_ref().map(|files| {
                let files = files
                    .iter()
                    .map(|(path, text)| (path.as_str(), text.as_str()));
                files.collect::<Vec<_>>()
            });
            for winner in ["local", "upstream"] {
                let (files, said) = merge_files(
                    [&borrowed[0], &borrowed[1], &borrowed[2]],
                    &format!("onConflict: {winner}\ncombine: none\n"),
                );
                let what = format!("{} {pattern}, {winner} wins: {said:?}", kind.name);
                let stands = match expected {
                    Wins::Local | Wins::LocalInConflict => 1,
                    Wins::Upstream => 2,
                    Wins::Winner if winner == "local" => 1,
                    Wins::Winner => 2,
                };
                assert_eq!((kind.read)(&files), (kind.read)(&sources[stands]), "{what}");
                let conflicts = said.iter().filter(|line| line.ends_with("(MergeConflict)"));
                let is_conflict = matches!(expected, Wins::Winner | Wins::LocalInConflict);
                assert_eq!(conflicts.count(), usize::from(is_conflict), "{what}");
            }
        }
    }
}
