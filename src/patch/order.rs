//! The order of a merged list.
//!
//! The preserve-order document puts elements that only live has before all others. API servers and kubectl keep each of
//! them at its place in live, as far as that can be determined.
//!
//! Source: preserve-order document; contract, apply-patch (`listOrder`).

use std::collections::HashMap;

use crate::yaml::Value;

/// The values of an element's keys, which distinguish it from the other elements of its list.
pub type ElementKey = Vec<Value>;

word_enum! {
    /// Where to put list elements that only live has.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ListOrder {
        /// First, as the preserve-order document says.
        #[default]
        Document = "document",
        /// Where kubectl and API servers put them.
        ApiServer = "apiserver",
    }
}

/// A list whose elements have been merged: the remaining elements of live, then new ones.
pub(super) struct MergedOrder<'m> {
    /// The keys of all elements.
    pub(super) keys: Vec<&'m ElementKey>,
    /// The keys of live, as API servers look up positions in it.
    pub(super) live: Vec<&'m ElementKey>,
    /// The keys in the requested order: from `$setElementOrder`, or else from the patch.
    pub(super) wanted: Vec<&'m ElementKey>,
    /// Whether the order comes from `$setElementOrder`.
    pub(super) is_set: bool,
}

impl MergedOrder<'_> {
    /// The positions of the elements, in their new order.
    pub(super) fn order(&self, order: ListOrder) -> Vec<usize> {
        let wanted = first_positions(self.wanted.iter().copied());
        let rank = |at: &usize| wanted.get(self.keys[*at]).copied();
        let all = 0..self.keys.len();
        let (mut ours, live_only): (Vec<usize>, Vec<usize>) =
            all.clone().partition(|at| rank(at).is_some());
        if order == ListOrder::Document && !self.is_set && ours.is_sorted_by_key(rank) {
            return all.collect();
        }
        ours.sort_by_key(rank);
        match order {
            ListOrder::Document => live_only.into_iter().chain(ours).collect(),
            ListOrder::ApiServer => self.as_api_server(&ours, &live_only),
        }
    }

    fn as_api_server(&self, ours: &[usize], live_only: &[usize]) -> Vec<usize> {
        let places = first_positions(self.live.iter().copied());
        let place = |at: usize| places.get(self.keys[at]).copied();
        let mut order = Vec::with_capacity(self.keys.len());
        let mut live_only = live_only.iter().copied().peekable();
        for at in ours.iter().copied() {
            let is_before = |other: &usize| match (place(*other), place(at)) {
                (Some(other), Some(own)) => other < own,
                _ => false,
            };
            while let Some(other) = live_only.next_if(is_before) {
                order.push(other);
            }
            order.push(at);
        }
        order.extend(live_only);
        order
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

/// The keys of live in which an API server looks up positions when it applies `$setElementOrder`. It removes deleted
/// elements from the list in place, which leaves stale elements in the last positions, and new elements overwrite them.
pub(super) fn live_after_deletions<'m>(
    live: &[&'m ElementKey],
    deleted: &[&'m ElementKey],
    new: &[&'m ElementKey],
) -> Vec<&'m ElementKey> {
    let mut by_key: HashMap<&ElementKey, Vec<usize>> = HashMap::new();
    for (at, key) in live.iter().enumerate() {
        by_key.entry(*key).or_default().push(at);
    }
    let mut is_left = vec![true; live.len()];
    let mut last = live.len();
    let mut stale = Vec::new();
    for key in deleted {
        for at in by_key.remove(*key).unwrap_or_default() {
            while last > 0 && !is_left[last - 1] {
                last -= 1;
            }
            // The last element remains there, next to its copy one position before.
            stale.push(live[last - 1]);
            is_left[at] = false;
        }
    }
    stale.reverse();
    for (place, key) in stale.iter_mut().zip(new) {
        *place = *key;
    }
    let left = live.iter().zip(&is_left).filter(|(_, left)| **left);
    left.map(|(key, _)| *key).chain(stale).collect()
}
