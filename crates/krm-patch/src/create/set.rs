//! Lists of primitives that merge.

use std::collections::HashSet;

use super::super::directive::{DELETE_FROM_PRIMITIVE_LIST, SET_ELEMENT_ORDER};
use super::super::elements::{Keyed, different_kinds};
use super::super::node::{Field, Fields, ListItem, Node};
use super::super::rules::{ElementKey, ListRule};
use super::pairs::{own_order_differs, sort_text};
use super::{Create, Nodes};
use krm_core::results::Reason;
use krm_yaml::Trail;

impl Create<'_> {
    /// Adds the patch of a list of primitives to the fields of the patch.
    pub(super) fn set<'a>(
        &mut self,
        field: &Field<'a>,
        nodes: Nodes<'_, 'a>,
        trail: &Trail<'_>,
        fields: &mut Fields<'a>,
    ) {
        let is_empty = |list: Option<&Node<'_>>| list.is_none_or(Node::is_empty);
        let is_whole = is_empty(nodes.live);
        if nodes.modified.is_empty() && is_whole && is_empty(nodes.original) {
            // If live has no list, the empty list is added. If live has an empty one, there is nothing to patch.
            if nodes.live.is_none() {
                fields.push(field.clone());
            }
            return;
        }
        let Some([old, own, live]) = self.keyed(nodes, ListRule::Set, trail) else {
            return;
        };
        if let Some(message) =
            different_kinds([&own.keys, &live.keys, &old.keys].into_iter().flatten())
        {
            self.findings.error(trail, Reason::InvalidValue, message);
            return;
        }
        let removed = missing(&old.keys, &own.keys);
        let added = added(&own, &live.keys);
        let moved = own_order_differs(&own.keys, &live.keys);
        let is_ordered = !removed.is_empty() || (!is_whole && (!added.is_empty() || moved));
        if is_ordered && !own.items.is_empty() {
            let key = format!("{SET_ELEMENT_ORDER}{}", field.key);
            fields.push(Field::made(key, nodes.modified.clone()));
        }
        if !removed.is_empty() {
            let items = removed.into_iter().flatten().cloned();
            let items = items.map(|value| ListItem::made(Node::of_value(value)));
            let list = Node::list(items.collect(), None);
            let key = format!("{DELETE_FROM_PRIMITIVE_LIST}{}", field.key);
            fields.push(Field::made(key, list));
        }
        if is_whole {
            if nodes.live.is_none() || !own.items.is_empty() {
                fields.push(field.clone());
            }
        } else if !added.is_empty() {
            let source = nodes.modified.source();
            let list = Node::list(added, source);
            fields.push(field.with(list));
        }
    }
}

/// The keys of an older list that a newer one does not have, in kubectl's order.
fn missing<'k>(old: &'k [ElementKey], new: &[ElementKey]) -> Vec<&'k ElementKey> {
    let new: HashSet<&ElementKey> = new.iter().collect();
    let mut missing: Vec<_> = old.iter().filter(|key| !new.contains(key)).collect();
    missing.sort_by_cached_key(|key| sort_text(key));
    missing.dedup();
    missing
}

/// The elements that live does not have, each once.
fn added<'a>(own: &Keyed<'a>, live: &[ElementKey]) -> Vec<ListItem<'a>> {
    let live: HashSet<&ElementKey> = live.iter().collect();
    let mut seen: HashSet<&ElementKey> = HashSet::new();
    let own = own.items.iter().zip(&own.keys);
    let added = own.filter(|(_, key)| !live.contains(key) && seen.insert(key));
    added.map(|(item, _)| item.clone()).collect()
}
