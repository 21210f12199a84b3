//! Lists of a patch: new lists, ordered lists, and lists of elements to delete.

use std::collections::HashSet;

use super::super::directive::{NO_SCHEMA, Word, word};
use super::super::node::{ListItem, Node, Shape};
use super::super::rules::{ElementKey, ListRule, Rules};
use super::merged_list::is_marker;
use super::{Apply, keep_if_equal};
use krm_core::results::Reason;
use krm_yaml::Trail;

impl Apply<'_> {
    /// A list that live does not have.
    pub(super) fn new_list<'a>(
        &mut self,
        patch: &Node<'a>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) -> Node<'a> {
        let is_keyed = matches!(rules.list(), ListRule::Keyed(_));
        // Elements are copied only from the first changed one on: most lists do not change, and some have millions of
        // elements.
        let mut changed: Option<Vec<ListItem<'a>>> = None;
        let before = |index| patch.placed_items().take(index).collect();
        for (index, item) in patch.placed_items().enumerate() {
            let at = trail.element(index);
            if item.value.shape() == Shape::Map
                && let Some(word) = word(&item.value)
            {
                if !rules.is_known() {
                    self.findings.error(&at, Reason::InvalidPatch, NO_SCHEMA);
                }
                if is_keyed && (word == Word::Replace || is_marker(&item.value)) {
                    changed.get_or_insert_with(|| before(index));
                    continue;
                }
            }
            let value = match item.value.shape() {
                Shape::Map => self.map(None, &item.value, rules.items(), &at),
                Shape::List => Some(self.new_list(&item.value, rules.items(), &at)),
                Shape::Null | Shape::Scalar => Some(item.value.clone()),
            };
            let is_same = value.as_ref().is_some_and(|value| value.is(&item.value));
            if !is_same {
                changed.get_or_insert_with(|| before(index));
            }
            if let (Some(value), Some(items)) = (value, &mut changed) {
                items.push(ListItem { value, ..item });
            }
        }
        match changed {
            Some(items) => Node::list(items, patch.source()),
            None => patch.clone(),
        }
    }

    /// A list with `$setElementOrder`.
    pub(super) fn ordered<'a>(
        &mut self,
        live: Option<&Node<'a>>,
        patch: Option<&Node<'a>>,
        order: &[ListItem<'a>],
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) -> Option<Node<'a>> {
        let is_list = |node: &&Node<'a>| node.shape() == Shape::List;
        let other = patch.filter(|patch| !is_list(patch));
        // A list of the patch replaces a live value that is not a list.
        let other =
            other.or(live.filter(|live| !is_list(live) && patch.is_none() && !live.is_null()));
        if let Some(other) = other {
            let found = other.shape().with_article();
            let message = format!("expected a list to order, found {found}");
            self.findings.error(trail, Reason::InvalidPatch, message);
            return live.cloned();
        }
        let live = live.filter(is_list);
        let nothing = Node::list(Vec::new(), None);
        match (live, patch) {
            (None, None) => None,
            (Some(live), patch) => {
                let patch = patch.unwrap_or(&nothing);
                Some(self.list(live, patch, Some(order), rules, trail))
            }
            (None, Some(patch)) => {
                let empty = Node::list(Vec::new(), patch.source());
                Some(self.list(&empty, patch, Some(order), rules, trail))
            }
        }
    }

    /// A list that both live and the patch have.
    pub(super) fn list<'a>(
        &mut self,
        live: &Node<'a>,
        patch: &Node<'a>,
        order: Option<&[ListItem<'a>]>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) -> Node<'a> {
        match (rules.list(), order) {
            (ListRule::Atomic, None) => {
                let new = self.new_list(patch, rules, trail);
                keep_if_equal(Some(live), new)
            }
            (ListRule::Atomic, Some(order)) => {
                // The list of the patch replaces the list of live, if the patch has one.
                let new = if patch.source().is_none() && patch.is_empty() {
                    live.clone()
                } else {
                    self.new_list(patch, rules, trail)
                };
                let ordered = self.merge(&new, patch, Some(order), ListRule::Set, rules, trail);
                keep_if_equal(Some(live), ordered)
            }
            (rule, order) => self.merge(live, patch, order, rule, rules, trail),
        }
    }

    /// Deletes the elements of `$deleteFromPrimitiveList`.
    pub(super) fn delete<'a>(
        &mut self,
        list: Node<'a>,
        delete: &[ListItem<'a>],
        trail: &Trail<'_>,
    ) -> Option<Node<'a>> {
        if list.shape() != Shape::List || delete.is_empty() {
            return Some(list);
        }
        let (rule, delete) = (ListRule::Set, delete.to_vec());
        let own = self.keyed(list.items(), rule, "the list", trail);
        let removed = self.keyed(delete, rule, "$deleteFromPrimitiveList", trail);
        let (Some(own), Some(removed)) = (own, removed) else {
            return Some(list);
        };
        self.check_kinds(&own.keys, &removed.keys, trail);
        let removed: HashSet<&ElementKey> = removed.keys.iter().collect();
        let kept = own.items.into_iter().zip(&own.keys);
        let kept = kept.filter(|(_, key)| !removed.contains(key));
        let kept = kept.map(|(item, _)| item).collect();
        Some(Node::list(kept, list.source()))
    }
}
