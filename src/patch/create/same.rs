//! Parts of a resource for which a patch needs nothing, as it needs for most: the configuration, live and the previous
//! configuration say the same, in the same order. Found without the copies that a patch is made of.

use super::super::rules::{ListRule, Rules};
use super::Nodes;
use crate::patch::node::Node;
use crate::schema::Keys;
use crate::yaml::{EntryRef, NodeRef};

/// Maps and lists up to this size are searched entry by entry.
const SMALL: usize = 16;

/// Whether what an alias or a merge key brings cannot be in a value.
pub(super) fn is_plain(node: &Node<'_>) -> bool {
    let Some(source) = node.source() else {
        return true;
    };
    let source = source.source();
    memchr::memchr(b'*', source.as_bytes()).is_none() && !source.contains("<<")
}

/// Whether the patch certainly needs nothing of a field, and there is nothing to report. The values are [plain](is_plain).
pub(super) fn needs_nothing(versions: Nodes<'_, '_>, rules: Rules<'_>) -> bool {
    let old = match versions.original {
        None => None,
        Some(Node::Text(old)) => Some(*old),
        Some(_) => return false,
    };
    match (versions.modified, versions.live) {
        (Node::Text(own), Some(Node::Text(live))) => value(*own, *live, old, rules),
        _ => false,
    }
}

fn value(own: NodeRef<'_>, live: NodeRef<'_>, old: Option<NodeRef<'_>>, rules: Rules<'_>) -> bool {
    let kind = own.kind();
    if kind.is_mapping() && !rules.replaces_map() {
        return map(own, live, old, rules, rules.retains_keys());
    }
    if kind.is_sequence() {
        match rules.list() {
            ListRule::Set => return false,
            ListRule::Keyed(keys) => return list(own, live, old, keys, rules),
            ListRule::Atomic => {}
        }
    }
    own.equals(&live)
}

fn map(
    own: NodeRef<'_>,
    live: NodeRef<'_>,
    old: Option<NodeRef<'_>>,
    rules: Rules<'_>,
    retains: bool,
) -> bool {
    if !live.kind().is_mapping() {
        return false;
    }
    // Another kind of value says nothing of fields to delete.
    let old = old.filter(|old| old.kind().is_mapping());
    let (mut lives, mut olds) = (Entries::of(Some(live)), Entries::of(old));
    let (mut count, mut in_old) = (0, 0);
    for entry in own.entries() {
        let Some(key) = entry.key.scalar_text().filter(|key| !key.starts_with('$')) else {
            return false;
        };
        let Some(live) = lives.find(key) else {
            return false;
        };
        let old = olds.find(key);
        (count, in_old) = (count + 1, in_old + usize::from(old.is_some()));
        if !value(entry.value, live, old, rules.field(key)) {
            return false;
        }
    }
    let has_more = |map: NodeRef<'_>, count: usize| map.entries().nth(count).is_some();
    // What only the previous configuration has is deleted; the keys that stay are named where live has more.
    let deletes = old.is_some_and(|old| has_more(old, in_old));
    let names = retains && has_more(live, count);
    !deletes && !names
}

fn list(
    own: NodeRef<'_>,
    live: NodeRef<'_>,
    old: Option<NodeRef<'_>>,
    keys: Keys<'_>,
    rules: Rules<'_>,
) -> bool {
    let old = old.filter(|old| old.kind().is_sequence());
    let (Some(own), Some(live)) = (elements(own), elements(live)) else {
        return false;
    };
    let old = match old.map(elements) {
        Some(None) => return false,
        Some(Some(old)) => old,
        None => Vec::new(),
    };
    let is_as_long = live.len() == own.len() && (old.is_empty() || old.len() == own.len());
    // Two elements of the same keys may be paired in other ways.
    let are_told_apart = own.iter().enumerate().all(|(index, item)| {
        has_keys(*item, keys)
            && !own[..index]
                .iter()
                .any(|other| are_named_alike(*other, *item, keys))
    });
    is_as_long
        && are_told_apart
        && own
            .iter()
            .zip(&live)
            .enumerate()
            .all(|(index, (own, live))| {
                let old = old.get(index).copied();
                old.is_none_or(|old| are_named_alike(old, *own, keys))
                    && map(*own, *live, old, rules.items(), rules.retains_keys())
            })
}

/// The elements of a list; `None` if it is large, or none.
fn elements(list: NodeRef<'_>) -> Option<Vec<NodeRef<'_>>> {
    let elements: Vec<NodeRef<'_>> = list.items().take(SMALL + 1).collect();
    (list.kind().is_sequence() && elements.len() <= SMALL).then_some(elements)
}

fn has_keys(element: NodeRef<'_>, keys: Keys<'_>) -> bool {
    let is_key = |value: NodeRef<'_>| value.scalar_text().is_some() && !value.is_null();
    element.kind().is_mapping()
        && keys
            .names()
            .all(|name| element.get(name).is_some_and(is_key))
}

/// Whether two elements have the same keys, and all of them.
fn are_named_alike(one: NodeRef<'_>, other: NodeRef<'_>, keys: Keys<'_>) -> bool {
    keys.names()
        .all(|name| match (one.get(name), other.get(name)) {
            (Some(one), Some(other)) => one.equals(&other),
            _ => false,
        })
}

/// Finds the entries of a map: those of a large one in its order alone.
struct Entries<'t, I> {
    map: Option<NodeRef<'t>>,
    is_large: bool,
    next: I,
}

impl<'t> Entries<'t, ()> {
    fn of(map: Option<NodeRef<'t>>) -> Entries<'t, impl Iterator<Item = EntryRef<'t>>> {
        Entries {
            map,
            is_large: map.is_some_and(|map| map.entries().nth(SMALL).is_some()),
            next: map.into_iter().flat_map(|map| map.entries()),
        }
    }
}

impl<'t, I: Iterator<Item = EntryRef<'t>>> Entries<'t, I> {
    fn find(&mut self, key: &str) -> Option<NodeRef<'t>> {
        let is_it = |entry: &EntryRef<'t>| entry.key.scalar_text() == Some(key);
        let found = if self.is_large {
            self.next.next().filter(is_it)
        } else {
            self.map?.entries().find(is_it)
        };
        found.map(|entry| entry.value)
    }
}
