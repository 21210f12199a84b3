//! Lists in which a version has equal elements.

use std::collections::BTreeSet;

use super::Merged;
use super::generate::Triple;
use super::merge::Conflict;
use super::plain::Plain;

/// Whether two results differ in nothing but lists that have equal elements in one of the versions.
pub(super) fn differ_only_there(triple: &Triple, one: &Merged, other: &Merged) -> bool {
    let mut lists = BTreeSet::new();
    for version in triple.versions.iter().flatten() {
        collect(version, "", &mut lists);
    }
    let rest = |merged: &Merged| {
        let value = merged.0.as_ref().map(|value| without(value, "", &lists));
        let is_elsewhere = |conflict: &&Conflict| {
            let (Conflict::Value(path) | Conflict::Order(path)) = *conflict;
            let path = without_indices(path);
            !lists
                .iter()
                .any(|list| path == *list || path.starts_with(&format!("{list}.")))
        };
        let conflicts: BTreeSet<Conflict> = merged.1.iter().filter(is_elsewhere).cloned().collect();
        (value, conflicts)
    };
    !lists.is_empty() && rest(one) == rest(other)
}

/// The places of lists with equal elements.
fn collect(value: &Plain, path: &str, lists: &mut BTreeSet<String>) {
    let elements = value.elements();
    let is_twice = |(at, element): (usize, &Plain)| elements[..at].contains(element);
    if elements.iter().enumerate().any(is_twice) {
        lists.insert(path.to_owned());
    }
    for element in elements {
        collect(element, path, lists);
    }
    for (key, value) in value.entries() {
        collect(value, &below(path, key), lists);
    }
}

/// The value with nothing in place of these lists.
fn without(value: &Plain, path: &str, lists: &BTreeSet<String>) -> Plain {
    match value {
        _ if lists.contains(path) => Plain::Null,
        Plain::List(elements) => {
            let elements = elements.iter();
            Plain::List(
                elements
                    .map(|element| without(element, path, lists))
                    .collect(),
            )
        }
        Plain::Map(entries) => {
            let entry = |(key, value): &(String, Plain)| {
                (key.clone(), without(value, &below(path, key), lists))
            };
            Plain::Map(entries.iter().map(entry).collect())
        }
        other => other.clone(),
    }
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

fn without_indices(path: &str) -> String {
    let mut is_index = false;
    let is_kept = |letter: &char| {
        let is_end = *letter == ']';
        is_index = *letter == '[' || is_index && !is_end;
        !is_index && !is_end
    };
    path.chars().filter(is_kept).collect()
}
