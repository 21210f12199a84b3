//! The order of a merged list.
//!
//! The preserve-order document puts elements that only live has before all others. API servers and kubectl keep each of
//! them at its place in live, as far as that can be determined.
//!
//! Source: preserve-order document; contract, apply-patch (`listOrder`).

use krm_core::word_enum;

use std::collections::HashMap;

use super::elements::first_positions;
use super::go_sort;
use super::rules::ElementKey;

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

/// The order that a patch requests.
#[derive(Clone, Copy)]
pub(super) struct RequestedOrder<'m> {
    pub(super) keys: &'m [ElementKey],
    /// Whether it is a `$setElementOrder`, and not the order of the elements in the patch.
    pub(super) is_set: bool,
}

impl ListOrder {
    /// The positions of the elements of a merged list, in their new order. `live` has the keys of live, as API servers
    /// look up positions in it.
    pub(super) fn positions(
        self,
        elements: &[&ElementKey],
        live: &[&ElementKey],
        requested: RequestedOrder<'_>,
    ) -> Vec<usize> {
        let ranks = first_positions(requested.keys);
        let rank = |at: &usize| ranks.get(elements[*at]).copied();
        let all = 0..elements.len();
        let (mut ours, live_only): (Vec<usize>, Vec<usize>) =
            all.clone().partition(|at| rank(at).is_some());
        if self == Self::Document && !requested.is_set && ours.is_sorted_by_key(rank) {
            return all.collect();
        }
        ours.sort_by_key(rank);
        if self == Self::Document {
            return live_only.into_iter().chain(ours).collect();
        }
        let places = first_positions(live.iter().copied());
        let place = |at: usize| places.get(elements[at]);
        let mut positions = Vec::with_capacity(elements.len());
        let mut live_only = live_only.into_iter().peekable();
        for at in ours {
            let is_before = |other: &usize| {
                let places = place(*other).zip(place(at));
                places.is_some_and(|(other, own)| other < own)
            };
            while let Some(other) = live_only.next_if(is_before) {
                positions.push(other);
            }
            positions.push(at);
        }
        positions.extend(live_only);
        positions
    }
}

/// The positions of the elements of a merged list after an empty `$setElementOrder`: an API server takes all elements for
/// ones that only live has, and sorts them by their places in live. New ones have none.
pub(super) fn after_empty_order(
    mut positions: Vec<usize>,
    elements: &[&ElementKey],
    live: &[&ElementKey],
) -> Vec<usize> {
    let places = first_positions(live.iter().copied());
    go_sort::sort(&mut positions, |a, b| {
        let places = places.get(elements[*a]).zip(places.get(elements[*b]));
        places.is_none_or(|(a, b)| a < b)
    });
    positions
}

/// The keys of live in which an API server looks up positions when it applies `$setElementOrder`. It removes deleted
/// elements from the list in place, which leaves stale elements in the last positions, and new elements overwrite them.
pub(super) fn live_after_deletions<'m>(
    live: &'m [ElementKey],
    deleted: &[ElementKey],
    new: &[&'m ElementKey],
) -> Vec<&'m ElementKey> {
    let mut by_key: HashMap<&ElementKey, Vec<usize>> = HashMap::new();
    for (at, key) in live.iter().enumerate() {
        by_key.entry(key).or_default().push(at);
    }
    let mut is_left = vec![true; live.len()];
    let mut last = live.len();
    let mut stale = Vec::new();
    for key in deleted {
        for at in by_key.remove(key).unwrap_or_default() {
            while last > 0 && !is_left[last - 1] {
                last -= 1;
            }
            // The last element remains there, next to its copy one position before.
            stale.push(&live[last - 1]);
            is_left[at] = false;
        }
    }
    stale.reverse();
    for (place, key) in stale.iter_mut().zip(new) {
        *place = *key;
    }
    let left = live.iter().zip(&is_left).filter(|(_, left)| **left);
    left.map(|(key, _)| key).chain(stale).collect()
}
