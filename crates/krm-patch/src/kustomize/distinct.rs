//! Checks whether the elements of a list can be distinguished.

use std::collections::HashSet;
use std::ops::Range;

use super::super::node::{Node, Shape};
use krm_core::schema::Keys;

/// The values that identify the elements of a list.
pub(super) struct ElementKeys<'s> {
    /// The names of the keys that count.
    pub(super) names: Vec<&'s str>,
    /// The values of the keys as texts, for each element.
    pub(super) texts: Vec<Vec<String>>,
}

impl<'s> ElementKeys<'s> {
    /// A key that no element has does not count, unless it is the first one. `None` if an element is not a map, or lacks a
    /// key.
    pub(super) fn of(items: &[Node<'_>], keys: Keys<'s>) -> Option<Self> {
        let is_used = |name: &str| items.iter().any(|item| item.get(name).is_some());
        let names = keys.names().enumerate();
        let names = names.filter(|(at, name)| *at == 0 || is_used(name));
        let names: Vec<&str> = names.map(|(_, name)| name).collect();
        let text = |item: &Node<'_>, name: &str| {
            let key = item.get(name).filter(|key| key.shape() == Shape::Scalar)?;
            Some(key.scalar()?.plain_text()).filter(|text| !text.is_empty())
        };
        let texts = |item: &Node<'_>| names.iter().map(|name| text(item, name)).collect();
        let texts: Vec<Vec<String>> = items.iter().map(texts).collect::<Option<_>>()?;
        Some(Self { names, texts })
    }

    pub(super) fn are_distinct(&self, range: Range<usize>) -> bool {
        let mut seen = HashSet::new();
        self.texts[range].iter().all(|key| seen.insert(key))
    }
}

/// Whether the elements of a list are maps with different keys.
pub(super) fn are_distinct(list: &Node<'_>, keys: Keys<'_>) -> bool {
    let items: Vec<Node<'_>> = list.each_item().collect();
    let found = ElementKeys::of(&items, keys);
    found.is_some_and(|found| found.are_distinct(0..items.len()))
}

/// Whether the elements of a list are maps with different keys, where an absent key, other than the first, is a value of
/// its own. kustomize keeps such elements where a patch does not name their list.
pub(super) fn are_separate(list: &Node<'_>, keys: Keys<'_>) -> bool {
    let mut seen = HashSet::new();
    list.each_item().all(|item| {
        let text = |name: &str| match item.get(name) {
            None => Some(String::new()),
            Some(key) => Some(key.scalar()?.plain_text()).filter(|text| !text.is_empty()),
        };
        let texts: Option<Vec<String>> = keys.names().map(text).collect();
        let texts = texts.filter(|texts| texts.first().is_some_and(|first| !first.is_empty()));
        texts.is_some_and(|texts| seen.insert(texts))
    })
}

/// Whether a list has only strings, and none of them twice.
pub(super) fn has_distinct_strings(list: &Node<'_>) -> bool {
    let mut seen = HashSet::new();
    list.each_item().all(|item| {
        item.as_str()
            .is_some_and(|text| seen.insert(text.to_owned()))
    })
}
