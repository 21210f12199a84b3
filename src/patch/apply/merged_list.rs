//! Lists whose elements merge, by value or by key.

use std::collections::HashSet;

use super::super::directive::{PATCH, Word, word};
use super::super::node::{ListItem, Node, Shape};
use super::super::order::{ElementKey, MergedOrder, first_positions, live_after_deletions};
use super::super::rules::{ListRule, Rules, key_values};
use super::Apply;
use crate::results::Reason;
use crate::yaml::Trail;

/// A list of live and the changes of a patch to it, with the keys of all elements.
struct Lists<'a> {
    live: Vec<ListItem<'a>>,
    live_keys: Vec<ElementKey>,
    patch: SpecialElements<'a>,
    /// The keys of the plain elements of the patch.
    patch_keys: Vec<ElementKey>,
    /// The keys of `$setElementOrder`.
    order: Option<Vec<ElementKey>>,
}

/// The elements of a merged list: the remaining elements of live, then new ones.
struct MergedElements<'l, 'a> {
    keys: Vec<&'l ElementKey>,
    items: Vec<ListItem<'a>>,
    /// How many elements are from live.
    left: usize,
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
        let Some(lists) = self.lists(live, patch, order, rule, trail) else {
            return live.clone();
        };
        let elements = self.elements(&lists, rule, rules, trail);
        let positions = self.positions(&lists, &elements, rule);
        let items = positions.into_iter().map(|at| elements.items[at].clone());
        Node::list(items.collect(), live.source())
    }

    /// Reads the keys of all elements. If an element has none, or a directive is not valid, adds a finding and returns
    /// `None`.
    fn lists<'a>(
        &mut self,
        live: &Node<'a>,
        patch: &Node<'a>,
        order: Option<&[ListItem<'a>]>,
        rule: ListRule<'_>,
        trail: &Trail<'_>,
    ) -> Option<Lists<'a>> {
        let live = live.items();
        let live_keys = self.keys(&live, rule, "live", trail);
        let patch = self.special(&patch.items(), rule, trail);
        let (live_keys, patch) = (live_keys?, patch?);
        let plain = patch.plain.iter().map(|(_, item)| item.clone());
        let patch_keys = self.keys(&plain.collect::<Vec<_>>(), rule, "the patch", trail)?;
        let order = match order {
            None => None,
            Some(order) => {
                let keys = self.keys(order, rule, "$setElementOrder", trail)?;
                self.check_order(&patch_keys, &keys, trail);
                Some(keys)
            }
        };
        if rule == ListRule::Set {
            self.check_kinds(&live_keys, &patch_keys, trail);
        }
        Some(Lists {
            live,
            live_keys,
            patch,
            patch_keys,
            order,
        })
    }

    /// Merges the elements of the patch into the elements of live, one by one.
    fn elements<'l, 'a>(
        &mut self,
        lists: &'l Lists<'a>,
        rule: ListRule<'_>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) -> MergedElements<'l, 'a> {
        let replaces = lists.patch.replaces;
        let deleted: HashSet<&ElementKey> = lists.patch.deleted.iter().collect();
        let live = lists.live_keys.iter().zip(&lists.live);
        let live = live.filter(|(key, _)| !replaces && !deleted.contains(key));
        let (mut keys, mut items): (Vec<_>, Vec<_>) =
            live.map(|(key, item)| (key, item.clone())).unzip();
        let left = keys.len();
        let mut first = first_positions(keys.iter().copied());
        let is_map = matches!(rule, ListRule::Keyed(_));
        for (key, (index, item)) in lists.patch_keys.iter().zip(&lists.patch.plain) {
            let at = trail.element(*index);
            let found = first.get(key).copied().filter(|_| !replaces);
            let old: Option<Node<'a>> = found.map(|found| items[found].value.clone());
            let value = if is_map {
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
        MergedElements { keys, items, left }
    }

    /// The positions of the elements, in their new order.
    fn positions(
        &self,
        lists: &Lists<'_>,
        elements: &MergedElements<'_, '_>,
        rule: ListRule<'_>,
    ) -> Vec<usize> {
        let live: Vec<&ElementKey> = lists.live_keys.iter().collect();
        let is_keyed = matches!(rule, ListRule::Keyed(_));
        let live = if is_keyed && lists.order.is_some() {
            let deleted: Vec<&ElementKey> = lists.patch.deleted.iter().collect();
            live_after_deletions(&live, &deleted, &elements.keys[elements.left..])
        } else {
            live
        };
        let wanted = lists.order.as_ref().unwrap_or(&lists.patch_keys);
        let merged = MergedOrder {
            keys: elements.keys.clone(),
            live,
            wanted: wanted.iter().collect(),
            is_set: lists.order.is_some(),
        };
        merged.order(self.order)
    }

    /// Sorts the elements of a patch's list by their directives. If one is not valid, adds a finding and returns
    /// `None`.
    fn special<'a>(
        &mut self,
        items: &[ListItem<'a>],
        rule: ListRule<'_>,
        trail: &Trail<'_>,
    ) -> Option<SpecialElements<'a>> {
        let mut special = SpecialElements {
            plain: Vec::new(),
            deleted: Vec::new(),
            replaces: false,
        };
        let ListRule::Keyed(keys) = rule else {
            special.plain = items.iter().cloned().enumerate().collect();
            return Some(special);
        };
        for (index, item) in items.iter().enumerate() {
            let at = trail.element(index);
            let is_map = item.value.shape() == Shape::Map;
            let mut ignored: Vec<String> = Vec::new();
            match word(&item.value).filter(|_| is_map) {
                Some(Word::Delete) => match key_values(keys, &item.value) {
                    Ok(key) => special.deleted.push(key),
                    Err(message) => {
                        self.findings.error(&at, Reason::InvalidPatch, message);
                        return None;
                    }
                },
                Some(Word::Replace) => {
                    special.replaces = true;
                    let fields = item.value.each_field();
                    let others = fields.filter(|field| field.key != "$patch");
                    ignored = others.map(|field| format!("`{}`", field.key)).collect();
                }
                Some(Word::Merge) if is_marker(&item.value) => {}
                _ => special.plain.push((index, item.clone())),
            }
            if !ignored.is_empty() {
                let message = format!(
                    "`$patch: replace` as an element replaces the whole list; its other fields are ignored: {}",
                    ignored.join(", ")
                );
                self.findings.warning(&at, Reason::IgnoredField, message);
            }
        }
        Some(special)
    }
}

/// Whether an element holds only a directive.
pub(super) fn is_marker(element: &Node<'_>) -> bool {
    let fields = element.fields();
    fields.len() == 1 && fields.key(0) == PATCH
}

/// The elements of a patch's list, sorted by their directives.
struct SpecialElements<'a> {
    /// Elements without a directive, with their index.
    plain: Vec<(usize, ListItem<'a>)>,
    deleted: Vec<ElementKey>,
    replaces: bool,
}
