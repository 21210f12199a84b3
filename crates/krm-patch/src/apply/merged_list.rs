//! Lists whose elements merge, by value or by key.

use std::collections::HashSet;

use super::super::directive::{PATCH, Word, short, word};
use super::super::elements::{Keyed, different_kinds, first_positions};
use super::super::node::{ListItem, Node, Shape};
use super::super::order::{ListOrder, RequestedOrder, after_empty_order, live_after_deletions};
use super::super::rules::{ElementKey, ListRule, Rules};
use super::Apply;
use krm_core::results::Reason;
use krm_yaml::{Trail, Value};

/// The list of a patch, sorted by directives.
#[derive(Default)]
struct PatchList<'a> {
    /// The elements without a directive.
    plain: Keyed<'a>,
    /// The positions of the plain elements in the patch.
    indexes: Vec<usize>,
    deleted: Vec<ElementKey>,
    /// Whether the list replaces the list of live.
    replaces: bool,
    /// The keys of `$setElementOrder`.
    order: Option<Vec<ElementKey>>,
}

impl Apply<'_> {
    /// Merges a list of the patch into the live list.
    pub(super) fn merge<'a>(
        &mut self,
        live: &Node<'a>,
        patch: &Node<'a>,
        order: Option<&[ListItem<'a>]>,
        rule: ListRule<'_>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) -> Node<'a> {
        let old = self.keyed(live.items(), rule, "live", trail);
        let new = self.patch_list(patch, order, rule, trail);
        let (Some(old), Some(new)) = (old, new) else {
            return live.clone();
        };
        if rule == ListRule::Set {
            self.check_kinds(&old.keys, &new.plain.keys, trail);
        }
        let items = self.elements(&old, &new, rule, rules, trail);
        Node::list(items, live.source())
    }

    /// The elements of the merged list: those of live that remain, merged one by one, and new ones.
    fn elements<'a>(
        &mut self,
        live: &Keyed<'a>,
        patch: &PatchList<'a>,
        rule: ListRule<'_>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) -> Vec<ListItem<'a>> {
        let deleted: HashSet<&ElementKey> = patch.deleted.iter().collect();
        let old = live.keys.iter().zip(&live.items);
        let old = old.filter(|(key, _)| !patch.replaces && !deleted.contains(key));
        let (mut keys, mut items): (Vec<&ElementKey>, Vec<_>) =
            old.map(|(key, item)| (key, item.clone())).unzip();
        let left = keys.len();
        let mut first = first_positions(keys.iter().copied());
        let is_keyed = matches!(rule, ListRule::Keyed(_));
        let plain = patch.plain.keys.iter().zip(&patch.plain.items);
        for ((key, item), index) in plain.zip(&patch.indexes) {
            let found = first.get(key).copied().filter(|_| !patch.replaces);
            let old: Option<Node<'a>> = found.map(|found| items[found].value.clone());
            let value = if is_keyed {
                let at = trail.element(*index);
                self.map(old.as_ref(), &item.value, rules.items(), &at)
            } else {
                Some(old.unwrap_or_else(|| item.value.clone()))
            };
            let Some(value) = value else { continue };
            if let Some(found) = found {
                items[found].value = value;
            } else {
                first.insert(key, keys.len());
                keys.push(key);
                items.push(ListItem { value, ..*item });
            }
        }
        let places = if is_keyed && patch.order.is_some() {
            live_after_deletions(&live.keys, &patch.deleted, &keys[left..])
        } else {
            live.keys.iter().collect()
        };
        let positions = match &patch.order {
            Some(order) if order.is_empty() => {
                let keys_of_patch = RequestedOrder {
                    keys: &patch.plain.keys,
                    is_set: false,
                };
                let positions = self.order.positions(&keys, &places, keys_of_patch);
                after_empty_order(positions, &keys, &places)
            }
            order => {
                let requested = RequestedOrder {
                    keys: order.as_ref().unwrap_or(&patch.plain.keys),
                    is_set: order.is_some(),
                };
                self.order.positions(&keys, &places, requested)
            }
        };
        let positions = positions.into_iter();
        positions.map(|at| items[at].clone()).collect()
    }

    /// Sorts the elements of a patch's list by their directives. If an element has no key, adds a finding and returns
    /// `None`.
    fn patch_list<'a>(
        &mut self,
        patch: &Node<'a>,
        order: Option<&[ListItem<'a>]>,
        rule: ListRule<'_>,
        trail: &Trail<'_>,
    ) -> Option<PatchList<'a>> {
        let mut list = PatchList::default();
        let has_words = matches!(rule, ListRule::Keyed(_));
        for (index, item) in patch.placed_items().enumerate() {
            let at = trail.element(index);
            let is_map = item.value.shape() == Shape::Map;
            let word = word(&item.value).filter(|_| is_map && has_words);
            match word {
                Some(Word::Replace) => {
                    list.replaces = true;
                    self.warn_of_ignored(&item.value, &at);
                    continue;
                }
                Some(Word::Merge) if is_marker(&item.value) => continue,
                _ => {}
            }
            match rule.key(&item.value) {
                Ok(key) if word == Some(Word::Delete) => list.deleted.push(key),
                Ok(key) => {
                    list.plain.keys.push(key);
                    list.plain.items.push(item);
                    list.indexes.push(index);
                }
                Err(message) => {
                    let message = format!("element of the patch: {message}");
                    self.findings.error(&at, Reason::InvalidPatch, message);
                    return None;
                }
            }
        }
        if let Some(order) = order {
            let order = self.keyed(order.to_vec(), rule, "$setElementOrder", trail)?;
            // API servers do not compare a list with an empty order.
            if self.order == ListOrder::Document || !order.keys.is_empty() {
                self.check_order(&list.plain.keys, &order.keys, trail);
            }
            list.order = Some(order.keys);
        }
        Some(list)
    }

    fn warn_of_ignored(&mut self, element: &Node<'_>, trail: &Trail<'_>) {
        let others = element.each_field().filter(|field| field.key != PATCH);
        let ignored: Vec<String> = others.map(|field| format!("`{}`", field.key)).collect();
        if !ignored.is_empty() {
            let message = format!(
                "`$patch: replace` as an element replaces the whole list; its other fields are ignored: {}",
                ignored.join(", ")
            );
            self.findings.warning(trail, Reason::IgnoredField, message);
        }
    }

    /// Reads the keys of a list. If an element has none, adds a finding and returns `None`.
    pub(super) fn keyed<'a>(
        &mut self,
        items: Vec<ListItem<'a>>,
        rule: ListRule<'_>,
        owner: &str,
        trail: &Trail<'_>,
    ) -> Option<Keyed<'a>> {
        let owner = (owner, Reason::InvalidPatch);
        Keyed::read(items, rule, owner, trail, self.findings)
    }

    /// Refuses the two cases that the preserve-order document rejects: an element of the patch is missing in
    /// `$setElementOrder`, or the orders differ.
    pub(super) fn check_order(
        &mut self,
        patch: &[ElementKey],
        order: &[ElementKey],
        trail: &Trail<'_>,
    ) {
        let listed: HashSet<&ElementKey> = order.iter().collect();
        let missing = patch.iter().filter(|key| !listed.contains(key));
        let missing: Vec<String> = missing.map(key_text).collect();
        if !missing.is_empty() {
            let message = format!(
                "expected all elements of the patch's list in its $setElementOrder, found {} outside of {}",
                missing.join(", "),
                keys_text(order)
            );
            self.findings
                .error(trail, Reason::NotInElementOrder, message);
            return;
        }
        let mut listed = order.iter();
        if !patch.iter().all(|key| listed.any(|other| other == key)) {
            let message = format!(
                "expected the elements of the patch's list in the order of its $setElementOrder {}, found {}",
                keys_text(order),
                keys_text(patch)
            );
            self.findings
                .error(trail, Reason::ElementOrderMismatch, message);
        }
    }

    /// Refuses a list of primitives whose elements are of different kinds.
    pub(super) fn check_kinds(
        &mut self,
        live: &[ElementKey],
        patch: &[ElementKey],
        trail: &Trail<'_>,
    ) {
        if let Some(message) = different_kinds(live.iter().chain(patch)) {
            self.findings.error(trail, Reason::InvalidPatch, message);
        }
    }
}

/// Whether an element holds only a directive.
pub(super) fn is_marker(element: &Node<'_>) -> bool {
    let fields = element.fields();
    fields.len() == 1 && fields.key(0) == PATCH
}

fn key_text(key: &ElementKey) -> String {
    let parts: Vec<String> = key.iter().map(Value::plain_text).collect();
    let text = parts.join("/");
    format!("`{}`", short(&Node::of_value(text)))
}

/// The first keys of a list in a message.
fn keys_text(keys: &[ElementKey]) -> String {
    const SHOWN: usize = 16;
    let mut texts: Vec<String> = keys.iter().take(SHOWN).map(key_text).collect();
    if keys.len() > SHOWN {
        texts.push("…".to_owned());
    }
    format!("[{}]", texts.join(", "))
}
