//! The order of a merged list.
//!
//! The preserve-order document puts elements that only live has before all others. API servers and
//! kubectl put each of them where it was in live, as far as that can be told.
//!
//! Source: preserve-order document; contract, apply-patch (`listOrder`).

use std::collections::HashMap;

use crate::yaml::Value;

/// The values of an element's keys, which tell it apart from the others of its list.
pub type ElementKey = Vec<Value>;

/// Where elements go that only live has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListOrder {
    /// First, as the preserve-order document says.
    #[default]
    Document,
    /// As kubectl and API servers do it.
    ApiServer,
}

impl ListOrder {
    /// The words of the config.
    pub const WORDS: [(&'static str, Self); 2] =
        [("document", Self::Document), ("apiserver", Self::ApiServer)];
}

/// A list after its elements were merged: those of live that are left, then new ones.
pub(super) struct MergedOrder<'m> {
    /// The keys of all elements.
    pub(super) keys: Vec<&'m ElementKey>,
    /// The keys of live as API servers look places up in it.
    pub(super) live: Vec<&'m ElementKey>,
    /// The keys in the order wanted: those of `$setElementOrder`, else of the patch.
    pub(super) wanted: Vec<&'m ElementKey>,
    /// Whether `$setElementOrder` says so.
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

/// Where each key comes first.
pub(super) fn first_positions<'k>(
    keys: impl IntoIterator<Item = &'k ElementKey>,
) -> HashMap<&'k ElementKey, usize> {
    let mut positions = HashMap::new();
    for (at, key) in keys.into_iter().enumerate() {
        positions.entry(key).or_insert(at);
    }
    positions
}

/// What is wrong with primitives that are not all of one kind.
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

/// Live's keys as an API server looks places up in them while `$setElementOrder` counts: it takes
/// deleted elements out of the list itself, whose last places new elements then fill.
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
            // What was last stays there, next to its copy one place before.
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
