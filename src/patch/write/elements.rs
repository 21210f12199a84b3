//! Which elements of a list stay: by their place, else by their value.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::patch::node::{Node, Shape, same_place};
use crate::yaml::{NodeId, NodeRef};

/// The elements of a list in a text, by position. There can be millions.
pub(super) struct Elements<'f> {
    list: NodeRef<'f>,
    ids: Vec<NodeId>,
}

impl<'f> Elements<'f> {
    pub(super) fn of(list: NodeRef<'f>) -> Self {
        let list = list.resolved();
        let ids = list.items().map(|item| item.id).collect();
        Self { list, ids }
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn get(&self, index: usize) -> Option<NodeRef<'f>> {
        let id = self.ids.get(index)?;
        Some(self.list.document.node(*id))
    }
}

/// For each element of the new list the position of the old one that it is, or is equal to.
pub(super) fn kept(new: &Node<'_>, old: &Elements<'_>) -> Vec<Option<usize>> {
    let mut used = vec![false; old.len()];
    let mut kept: Vec<Option<usize>> = Vec::with_capacity(old.len());
    for item in new.placed_items() {
        let place = item.place.filter(|(index, place)| {
            let there = old.get(*index).is_some_and(|old| same_place(old, *place));
            there && !used[*index]
        });
        place.into_iter().for_each(|(index, _)| used[index] = true);
        kept.push(place.map(|(index, _)| index));
    }
    // Elements of another list that are equal to one that is there: the first such one stays.
    let is_settled =
        |kept: &[Option<usize>], used: &[bool]| !kept.contains(&None) || !used.contains(&false);
    if is_settled(&kept, &used) {
        return kept;
    }
    // Most lists begin like the old one.
    for (at, (value, kept)) in new.each_item().zip(&mut kept).enumerate() {
        let is_first = || {
            !used[at]
                && old
                    .get(at)
                    .is_some_and(|old| value.equals(&Node::Text(old)))
        };
        if at < old.len() && kept.is_none() && is_first() {
            (*kept, used[at]) = (Some(at), true);
        } else if *kept != Some(at) {
            break;
        }
    }
    if is_settled(&kept, &used) {
        return kept;
    }
    let mut unused = Unused::of(old, &used);
    for (value, kept) in new.each_item().zip(&mut kept) {
        if kept.is_none() {
            *kept = unused.take(&value);
        }
    }
    kept
}

/// Old elements that can be taken by their value, the first of equal ones first.
struct Unused<'o, 'f> {
    old: &'o Elements<'f>,
    /// The first of each value.
    first: HashTable<u32>,
    /// By position: the next one of the same value, or [`NO_MORE`].
    next: Vec<u32>,
    hasher: RandomState,
}

const NO_MORE: u32 = u32::MAX;

impl<'o, 'f> Unused<'o, 'f> {
    fn of(old: &'o Elements<'f>, used: &[bool]) -> Self {
        let mut unused = Self {
            old,
            first: HashTable::new(),
            next: vec![NO_MORE; old.len()],
            hasher: RandomState::new(),
        };
        let count = u32::try_from(old.len()).unwrap_or(NO_MORE);
        for index in (0..count).rev() {
            let at = index as usize;
            let Some(value) = old.get(at).map(Node::Text).filter(|_| !used[at]) else {
                continue;
            };
            let hash = |at: &u32| {
                old.get(*at as usize)
                    .map_or(0, |old| hash(&unused.hasher, &Node::Text(old)))
            };
            let is_equal = |at: &u32| is_at(old, *at, &value);
            match unused.first.entry(hash(&index), is_equal, hash) {
                Entry::Occupied(mut first) => {
                    unused.next[at] = std::mem::replace(first.get_mut(), index);
                }
                Entry::Vacant(place) => {
                    place.insert(index);
                }
            }
        }
        unused
    }

    /// The position of the first one with this value, once.
    fn take(&mut self, value: &Node<'_>) -> Option<usize> {
        let hash = hash(&self.hasher, value);
        let is_equal = |at: &u32| is_at(self.old, *at, value);
        let mut first = self.first.find_entry(hash, is_equal).ok()?;
        let at = *first.get() as usize;
        match self.next[at] {
            NO_MORE => {
                first.remove();
            }
            next => *first.get_mut() = next,
        }
        Some(at)
    }
}

fn is_at(old: &Elements<'_>, at: u32, value: &Node<'_>) -> bool {
    old.get(at as usize)
        .is_some_and(|old| value.equals(&Node::Text(old)))
}

/// A hash of a value, whatever it is written like: [`Node::equals`] of two means the same hash.
fn hash(state: &RandomState, node: &Node<'_>) -> u64 {
    let mut hasher = state.build_hasher();
    match node.shape() {
        Shape::Null => {}
        Shape::Scalar => match node.as_str() {
            Some(text) => text.hash(&mut hasher),
            None => node.scalar().hash(&mut hasher),
        },
        Shape::List => node
            .each_item()
            .for_each(|item| hash(state, &item).hash(&mut hasher)),
        Shape::Map => {
            // The order of keys does not count.
            let fields = node
                .each_field()
                .map(|field| state.hash_one((&*field.key, hash(state, &field.value))));
            fields.fold(0, u64::wrapping_add).hash(&mut hasher);
        }
    }
    hasher.finish()
}
