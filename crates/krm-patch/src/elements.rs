//! The elements of a list with their keys, which distinguish them.

use std::collections::HashMap;

use super::finding::Findings;
use super::node::ListItem;
use super::rules::{ElementKey, ListRule};
use krm_core::results::Reason;
use krm_yaml::{Trail, Value};

/// The elements of a list, each with its key.
#[derive(Debug, Default)]
pub(super) struct Keyed<'a> {
    pub(super) items: Vec<ListItem<'a>>,
    pub(super) keys: Vec<ElementKey>,
}

impl<'a> Keyed<'a> {
    /// Reads the keys of a list. If an element has none, adds a finding with the name of the list's `owner`, and returns
    /// `None`.
    pub(super) fn read(
        items: Vec<ListItem<'a>>,
        rule: ListRule<'_>,
        (owner, reason): (&str, Reason),
        trail: &Trail<'_>,
        findings: &mut Findings,
    ) -> Option<Self> {
        let mut keys = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match rule.key(&item.value) {
                Ok(key) => keys.push(key),
                Err(message) => {
                    let message = format!("element of {owner}: {message}");
                    findings.error(&trail.element(index), reason, message);
                    return None;
                }
            }
        }
        Some(Self { items, keys })
    }
}

/// The first position of each key.
pub(super) fn first_positions<'k>(
    keys: impl IntoIterator<Item = &'k ElementKey>,
) -> HashMap<&'k ElementKey, usize> {
    let mut positions = HashMap::new();
    for (at, key) in keys.into_iter().enumerate() {
        positions.entry(key).or_insert(at);
    }
    positions
}

/// The message for primitives that are not all of one kind; `None` if they are.
pub(super) fn different_kinds<'k>(
    keys: impl IntoIterator<Item = &'k ElementKey>,
) -> Option<String> {
    let mut kinds = keys.into_iter().flatten().map(Value::kind);
    let first = kinds.next()?;
    let other = kinds.find(|kind| *kind != first)?;
    Some(format!(
        "expected elements of one kind, found a {first} and a {other}"
    ))
}
