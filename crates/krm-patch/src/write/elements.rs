//! Finds the elements of a list that stay: by their place, or else by their value.

use std::hash::{BuildHasher, RandomState};

use crate::node::{Node, same_place};
use krm_yaml::Children;
use krm_yaml::interner::matches;

/// For each element of the new list, the position of the old element that it is, or that it equals.
pub(super) fn kept(new: &Node<'_>, old: &Children<'_>) -> Vec<Option<usize>> {
    let mut used = vec![false; old.count()];
    let mut kept: Vec<Option<usize>> = Vec::with_capacity(old.count());
    for item in new.placed_items() {
        let place = item.place.filter(|(index, place)| {
            *index < old.count() && same_place(old.owner(*index), *place) && !used[*index]
        });
        place.into_iter().for_each(|(index, _)| used[index] = true);
        kept.push(place.map(|(index, _)| index));
    }
    if !kept.contains(&None) || !used.contains(&false) {
        return kept;
    }
    // New elements from elsewhere that equal an unused old element.
    let state = RandomState::new();
    let hash = |value: &Node<'_>| state.hash_one(value.to_value());
    let ours = (0..old.count()).map(|at| {
        let is_unused = !used[at];
        is_unused.then(|| hash(&Node::Text(old.owner(at))))
    });
    let theirs = new.each_item().zip(&kept);
    let theirs = theirs.map(|(value, kept)| kept.is_none().then(|| hash(&value)));
    let found = matches(ours, theirs);
    for ((value, kept), found) in new.each_item().zip(&mut kept).zip(found) {
        let is_equal = |at: &usize| value.equals(&Node::Text(old.owner(*at)));
        *kept = kept.or_else(|| found.filter(is_equal));
    }
    kept
}
