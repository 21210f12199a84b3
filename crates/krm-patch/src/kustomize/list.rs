//! Lists that kustomize merges.
//!
//! The result has the elements that the patch names first, in the patch's order, then the other elements of live. With
//! more than one key, it has the new elements first, then the elements of live.

use std::collections::{HashMap, HashSet};

use super::super::node::{Fields, ListItem, Node};
use super::distinct::{ElementKeys, has_distinct_strings};
use super::place::ValuePlace;
use super::{KustomizePatch, deletion};
use krm_core::schema::Keys;
use krm_yaml::NodeRef;

/// Two lists whose elements kustomize can merge.
pub(super) struct KustomizeLists<'a, 's> {
    names: Vec<&'s str>,
    live: Vec<ListItem<'a>>,
    new: Vec<ListItem<'a>>,
    /// For each new element, its position in live.
    of_live: Vec<Option<usize>>,
    removed: Vec<usize>,
    source: Option<NodeRef<'a>>,
}

/// The two lists; `None` if a merge patch cannot produce the new one.
pub(super) fn keyed<'a, 's>(
    live: &Node<'a>,
    new: &Node<'a>,
    keys: Keys<'s>,
    place: &ValuePlace<'_, '_>,
) -> Option<KustomizeLists<'a, 's>> {
    let source = new.source();
    let (live, new) = (live.items(), new.items());
    let both: Vec<Node<'a>> = live
        .iter()
        .chain(&new)
        .map(|item| item.value.clone())
        .collect();
    let found = ElementKeys::of(&both, keys)?;
    let (old, own) = (0..live.len(), live.len()..both.len());
    if !found.are_distinct(old.clone()) || !found.are_distinct(own.clone()) {
        return None;
    }
    let in_live: HashMap<&Vec<String>, usize> = found.texts[old].iter().zip(0..).collect();
    let of_live: Vec<Option<usize>> = found.texts[own]
        .iter()
        .map(|key| in_live.get(key).copied())
        .collect();
    let is_new = |(item, of_live): (&ListItem<'a>, &Option<usize>)| {
        of_live.is_some() || place.element(0).takes(&item.value)
    };
    let is_sayable = new.iter().zip(&of_live).all(is_new)
        // With several keys, new elements must come first: `None` sorts first.
        && (found.names.len() == 1 || of_live.is_sorted());
    if !is_sayable {
        return None;
    }
    let stays: HashSet<usize> = of_live.iter().flatten().copied().collect();
    let removed = (0..live.len()).filter(|at| !stays.contains(at)).collect();
    Some(KustomizeLists {
        names: found.names,
        live,
        new,
        of_live,
        removed,
        source,
    })
}

impl<'a> KustomizePatch<'a> {
    /// The merge patch of a list; `None` if it needs none.
    pub(super) fn keyed(
        &mut self,
        lists: &KustomizeLists<'a, '_>,
        place: &ValuePlace<'_, '_>,
    ) -> Option<Node<'a>> {
        let mut patches: Vec<Option<Node<'a>>> = Vec::with_capacity(lists.new.len());
        for (at, (item, of_live)) in lists.new.iter().zip(&lists.of_live).enumerate() {
            let Some(live) = of_live.map(|at| &lists.live[at].value) else {
                patches.push(Some(item.value.clone()));
                continue;
            };
            let mut fields = Fields::default();
            self.tested(&item.value, place, at, |create, at| {
                fields = create.map(live, &item.value, at);
            });
            let patch = Node::map(fields, item.value.source());
            patches.push((!patch.is_empty()).then(|| lists.with_keys(&patch, &item.value)));
        }
        let is_named: Vec<bool> = patches.iter().map(Option::is_some).collect();
        let named = if lists.names.len() == 1 {
            first_to_name(&lists.of_live, &is_named)
        } else {
            0
        };
        let mut items: Vec<ListItem<'a>> = Vec::new();
        for (at, (item, patch)) in lists.new.iter().zip(patches).enumerate() {
            let keys_alone = || lists.with_keys(&Node::empty_map(), &item.value);
            let patch = patch.or_else(|| (at < named).then(keys_alone));
            items.extend(patch.map(|value| ListItem { value, ..*item }));
        }
        for at in &lists.removed {
            let removed = &lists.live[*at];
            items.push(ListItem::made(lists.with_keys(&deletion(), &removed.value)));
        }
        (!items.is_empty()).then(|| Node::list(items, lists.source))
    }
}

impl KustomizeLists<'_, '_> {
    /// The patch of an element, with the keys that identify it.
    fn with_keys<'a>(&self, patch: &Node<'a>, element: &Node<'a>) -> Node<'a> {
        patch.with_keys(element, |key| self.names.contains(&key))
    }
}

/// How many elements, from the first, a patch has to name so that the others follow in the order of live: all up to the
/// last one that is changed or out of order.
fn first_to_name(of_live: &[Option<usize>], is_named: &[bool]) -> usize {
    let mut next = usize::MAX;
    for (at, (of_live, is_named)) in of_live.iter().zip(is_named).enumerate().rev() {
        match of_live {
            Some(of_live) if !is_named && *of_live < next => next = *of_live,
            _ => return at + 1,
        }
    }
    0
}

/// The merge patch of a list of strings, if it needs one. The outer `None` means that a merge patch cannot produce the
/// new list: it cannot delete strings.
pub(super) fn values<'a>(live: &Node<'a>, new: &Node<'a>) -> Option<Option<Node<'a>>> {
    if !has_distinct_strings(live) || !has_distinct_strings(new) {
        return None;
    }
    let (live, items) = (live.items(), new.items());
    let texts = live
        .iter()
        .map(|item| item.value.as_str().unwrap_or_default());
    let in_live: HashMap<&str, usize> = texts.zip(0..).collect();
    let of_live = items
        .iter()
        .map(|item| in_live.get(item.value.as_str()?).copied());
    let of_live: Vec<Option<usize>> = of_live.collect();
    if of_live.iter().flatten().count() < live.len() {
        return None;
    }
    let named = first_to_name(&of_live, &vec![false; items.len()]);
    let items: Vec<ListItem<'a>> = items.into_iter().take(named).collect();
    Some((!items.is_empty()).then(|| Node::list(items, new.source())))
}
