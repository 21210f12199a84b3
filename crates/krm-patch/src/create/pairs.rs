//! Which elements of two lists are the same, and how their orders differ.

use std::collections::{HashMap, HashSet};

use super::super::elements::first_positions;
use super::super::rules::ElementKey;
use krm_yaml::Value;

/// Which elements of an older list correspond to elements of a newer one.
pub(super) struct KeyPairs {
    /// For each element of the newer list, its position in the older one.
    pub(super) of: Vec<Option<usize>>,
    /// The positions of the older list that have no counterpart.
    pub(super) left: Vec<usize>,
}

/// Pairs elements by their keys. Of equal keys, the last is paired with the last, as in kubectl.
pub(super) fn pair(old: &[ElementKey], new: &[ElementKey]) -> KeyPairs {
    let mut by_key: HashMap<&ElementKey, Vec<usize>> = HashMap::new();
    for (at, key) in old.iter().enumerate() {
        by_key.entry(key).or_default().push(at);
    }
    let mut of = vec![None; new.len()];
    for (at, key) in new.iter().enumerate().rev() {
        of[at] = by_key.get_mut(key).and_then(Vec::pop);
    }
    let left = by_key.into_values().flatten().collect::<HashSet<_>>();
    let left = (0..old.len()).filter(|at| left.contains(at)).collect();
    KeyPairs { of, left }
}

/// The order of the elements in the patch, which is the order of the configuration. Of elements with the same key the
/// last comes first, as in kubectl, unless the patch would then contradict its `$setElementOrder`.
pub(super) fn patch_order(own: &[ElementKey]) -> Vec<usize> {
    let first = first_positions(own);
    let mut order: Vec<usize> = (0..own.len()).collect();
    order.sort_by_key(|at| (first[&own[*at]], std::cmp::Reverse(*at)));
    let agrees = order.iter().map(|at| &own[*at]).eq(own);
    if agrees {
        order
    } else {
        (0..own.len()).collect()
    }
}

/// Whether the elements that both lists have are in another order.
pub(super) fn own_order_differs(own: &[ElementKey], live: &[ElementKey]) -> bool {
    let in_own: HashSet<&ElementKey> = own.iter().collect();
    let in_live: HashSet<&ElementKey> = live.iter().collect();
    let own = own.iter().filter(|key| in_live.contains(key));
    own.ne(live.iter().filter(|key| in_own.contains(key)))
}

pub(super) fn repeats(keys: &[ElementKey]) -> bool {
    let mut seen = HashSet::new();
    !keys.iter().all(|key| seen.insert(key))
}

/// The text of a key, by which kubectl sorts elements.
pub(super) fn sort_text(key: &ElementKey) -> Vec<String> {
    key.iter().map(Value::plain_text).collect()
}
