//! The laws of the contract on generated resources.

use super::tests::merged;
use super::*;
use krm_yaml::{OwnedDocument, to_block_text};
use proptest::prelude::*;

fn mapping(entries: Vec<(String, Value)>) -> Value {
    let mut seen = std::collections::HashSet::new();
    let entries = entries
        .into_iter()
        .filter(|(key, _)| seen.insert(key.clone()));
    Value::Mapping(
        entries
            .map(|(key, value)| (Value::from(key), value))
            .collect(),
    )
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => (0..3i64).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => Just(Value::from("text")),
        1 => Just(Value::from("two\nlines\n")),
        1 => Just(Value::Mapping(Vec::new())),
        1 => Just(Value::Sequence(Vec::new())),
        1 => prop::collection::vec((0..3i64).prop_map(Value::from), 1..3).prop_map(Value::Sequence),
    ]
}

fn tree() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop::collection::vec(("[a-d]", inner), 0..4).prop_map(mapping)
    })
}

/// Distinct names, in any order.
fn names() -> impl Strategy<Value = Vec<&'static str>> {
    (Just(vec!["p", "q", "r", "s"]).prop_shuffle(), 0..5usize)
        .prop_map(|(names, length)| names[..length].to_vec())
}

fn containers() -> impl Strategy<Value = Value> {
    let element = (
        scalar(),
        prop::option::of(names()),
        prop::option::of(tree()),
    );
    (names(), prop::collection::vec(element, 4)).prop_map(|(names, elements)| {
        let list = names
            .into_iter()
            .zip(elements)
            .map(|(name, (image, env, more))| {
                let mut entries = vec![
                    ("name".to_owned(), Value::from(name)),
                    ("image".to_owned(), image),
                ];
                if let Some(env) = env {
                    let env = env
                        .into_iter()
                        .map(|name| mapping(vec![("name".to_owned(), Value::from(name))]));
                    entries.push(("env".to_owned(), Value::Sequence(env.collect())));
                }
                if let Some(more) = more {
                    entries.push(("x".to_owned(), more));
                }
                mapping(entries)
            });
        Value::Sequence(list.collect())
    })
}

fn resource() -> impl Strategy<Value = String> {
    (tree(), prop::option::of(containers()), names()).prop_map(|(free, containers, set)| {
        let set = set.into_iter().map(Value::from).collect();
        let metadata = vec![("finalizers".to_owned(), Value::Sequence(set))];
        let spec = containers.map(|list| ("containers".to_owned(), list));
        let entries = vec![
            ("apiVersion".to_owned(), Value::from("v1")),
            ("kind".to_owned(), Value::from("Pod")),
            ("metadata".to_owned(), mapping(metadata)),
            ("spec".to_owned(), mapping(spec.into_iter().collect())),
            ("free".to_owned(), free),
        ];
        to_block_text(&mapping(entries))
    })
}

fn value(text: &str) -> Value {
    let owned = OwnedDocument::parse(text.to_owned()).expect("YAML");
    owned.root().and_then(|root| root.value()).expect("a value")
}

/// Paths of all leaves with their values; elements by name.
fn leaves(value: &Value, path: &str, out: &mut std::collections::BTreeMap<String, Value>) {
    match value {
        Value::Mapping(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                leaves(
                    value,
                    &format!("{path}.{}", key.as_str().unwrap_or("?")),
                    out,
                );
            }
        }
        Value::Sequence(items) if items.iter().all(|item| item.get("name").is_some()) => {
            for item in items {
                let name = item.get("name").and_then(Value::as_str).unwrap_or("?");
                leaves(item, &format!("{path}[{name}]"), out);
            }
        }
        Value::Sequence(items) if !items.is_empty() => {
            for item in items {
                out.insert(format!("{path}[{}]", item.to_json()), item.clone());
            }
        }
        value => {
            out.insert(path.to_owned(), value.clone());
        }
    }
}

/// Changes of a list: at a position, remove an element, put another one in its place, or insert one.
type ListEdits = Vec<(usize, u8, usize)>;

fn list_edits() -> impl Strategy<Value = ListEdits> {
    prop::collection::vec((0..8usize, 0..3u8, 0..8usize), 0..4)
}

/// An element of a few: words, flags, and maps that are alike. Many of them occur several times.
fn element(number: usize) -> &'static str {
    [
        "a",
        "b",
        "--f=1",
        "--f=2",
        "{k: [x], v: [1, 2, 3]}",
        "{k: [x], v: [1, 2, 4]}",
        "{k: [y], v: [1, 2, 3]}",
        "{n: p, v: [1, 2]}",
    ][number]
}

fn edited(list: &[usize], edits: &ListEdits) -> Vec<usize> {
    let mut list = list.to_vec();
    for (at, kind, new) in edits {
        let at = at % (list.len() + 1);
        match kind {
            0 if at < list.len() => {
                list.remove(at);
            }
            1 if at < list.len() => list[at] = *new,
            _ => list.insert(at, *new),
        }
    }
    list
}

fn has_twice(list: &[usize]) -> bool {
    let mut seen = std::collections::HashSet::new();
    !list.iter().all(|number| seen.insert(number))
}

fn list_text(list: &[usize]) -> String {
    let lines: String = list
        .iter()
        .map(|number| format!("  - {}\n", element(*number)))
        .collect();
    let list = if lines.is_empty() {
        " []\n"
    } else {
        &format!("\n{lines}")
    };
    format!("apiVersion: example.com/v1\nkind: Example\nspec:\n  x:{list}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Lists in which elements occur several times.
    #[test]
    fn lists_without_keys(
        base in prop::collection::vec(0..8usize, 0..6),
        local in list_edits(),
        upstream in list_edits(),
    ) {
        let lists = [&base, &edited(&base, &local), &edited(&base, &upstream)];
        // Which of two elements is another version of a third one can be clear in one merge only.
        let has_alike = lists.iter().any(|list| has_twice(list)) || {
            let all = lists.iter().flat_map(|list| list.iter());
            let alike: std::collections::HashSet<_> = all.filter(|number| (4..7).contains(*number)).collect();
            alike.len() > 1
        };
        let [base, local, upstream] = lists.map(|list| list_text(list));
        for winner in [Side::Local, Side::Upstream] {
            let (text, conflicts) = merged(&base, &local, &upstream, winner);
            if !conflicts.is_empty() {
                continue;
            }
            // How often a word occurs, if only one side changed that, or both did alike.
            for number in 0..2 {
                let count = |text: &str| text.lines().filter(|line| *line == format!("  - {}", element(number))).count();
                let [b, l, u, result] = [&base, &local, &upstream, &text].map(|text| count(text));
                let expected = if u == b || u == l { l } else if l == b { u } else { continue };
                prop_assert_eq!(result, expected, "{}: {}\n{}\n{}\n{}", element(number), base, local, upstream, text);
            }
            if !has_alike {
                let (again, _) = merged(&base, &text, &upstream, winner);
                prop_assert_eq!(again, text, "merged twice: {}\n{}\n{}", base, local, upstream);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn one_side_changed(base in resource(), x in resource()) {
        for winner in [Side::Local, Side::Upstream] {
            prop_assert_eq!(merged(&base, &x, &base, winner), (x.clone(), vec![]));
            prop_assert_eq!(merged(&base, &x, &x, winner), (x.clone(), vec![]));
            let (text, conflicts) = merged(&base, &base, &x, winner);
            prop_assert_eq!(to_block_text(&value(&text)), x.clone());
            prop_assert_eq!(conflicts, Vec::<String>::new());
        }
    }

    #[test]
    fn both_sides_changed(base in resource(), local in resource(), upstream in resource()) {
        for winner in [Side::Local, Side::Upstream] {
            let (text, conflicts) = merged(&base, &local, &upstream, winner);
            let (again, _) = merged(&base, &text, &upstream, winner);
            prop_assert_eq!(&again, &text, "merged twice");
            let of = |text: &str| {
                let mut out = std::collections::BTreeMap::new();
                leaves(&value(text), "", &mut out);
                out
            };
            let (old, ours, result) = (of(&base), of(&local), of(&text));
            let is_reported = |path: &str| {
                let plain = path.split('[').next().unwrap_or_default();
                conflicts.iter().any(|conflict| {
                    let conflict = conflict.rsplit_once(':').map_or("", |(path, _)| path);
                    let conflict = conflict.trim_start_matches("order of ");
                    let conflict = format!(".{}", conflict.split('[').next().unwrap_or_default());
                    plain.starts_with(&conflict) || conflict.starts_with(plain)
                })
            };
            for path in ours.keys().chain(old.keys()) {
                let (before, after) = (old.get(path), ours.get(path));
                // An empty collection does not count as a value while its parts merge.
                let is_empty = |value: Option<&Value>| match value {
                    Some(Value::Mapping(entries)) => entries.is_empty(),
                    Some(Value::Sequence(items)) => items.is_empty(),
                    _ => false,
                };
                if before == after || is_empty(before) || is_empty(after) {
                    continue;
                }
                let kept = result.get(path) == after;
                prop_assert!(kept || is_reported(path), "{path} got lost: {conflicts:?}\n{text}");
            }
        }
    }
}
