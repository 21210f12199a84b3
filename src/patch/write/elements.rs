//! Which elements of a list stay: by their place, else by their value.

use std::hash::{BuildHasher, RandomState};

use crate::interner::matches;
use crate::patch::node::{Node, same_place};
use crate::yaml::Children;

/// For each element of the new list the position of the old one that it is, or is equal to.
pub(super) fn kept(new: &Node<'_>, old: &Children<'_>) -> Vec<Option<usize>> {
    let mut used = vec![false; old.len()];
    let mut kept: Vec<Option<usize>> = Vec::with_capacity(old.len());
    for item in new.placed_items() {
        let place = item.place.filter(|(index, place)| {
            *index < old.len() && same_place(old.owner(*index), *place) && !used[*index]
        });
        place.into_iter().for_each(|(index, _)| used[index] = true);
        kept.push(place.map(|(index, _)| index));
    }
    if !kept.contains(&None) || !used.contains(&false) {
        return kept;
    }
    // Elements of another list that are equal to one that is there.
    let state = RandomState::new();
    let hash = |value: &Node<'_>| state.hash_one(value.to_value());
    let unused: Vec<usize> = (0..old.len()).filter(|at| !used[*at]).collect();
    let ours = unused.iter().map(|at| hash(&Node::Text(old.owner(*at))));
    let open = new
        .each_item()
        .zip(&kept)
        .filter(|(_, kept)| kept.is_none());
    let mut found = matches(ours, open.map(|(value, _)| hash(&value))).into_iter();
    let open = new
        .each_item()
        .zip(&mut kept)
        .filter(|(_, kept)| kept.is_none());
    for (value, kept) in open {
        let at = found.next().flatten().map(|at| unused[at]);
        *kept = at.filter(|at| value.equals(&Node::Text(old.owner(*at))));
    }
    kept
}
