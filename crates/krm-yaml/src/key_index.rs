//! Finds the positions of keys. The table holds positions instead of keys, because large maps have millions of keys
//! and the texts of the keys exist already.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// The position of each key. The keys are not stored; callers pass a function that returns them.
#[derive(Debug)]
pub struct KeyIndex {
    positions: HashTable<u32>,
    hasher: RandomState,
}

impl KeyIndex {
    /// Indexes `count` keys. Of equal keys, the first is found.
    pub fn of<'k>(count: usize, key_at: impl Fn(usize) -> &'k str) -> Self {
        let hasher = RandomState::new();
        let mut positions: HashTable<u32> = HashTable::with_capacity(count);
        let hash_at = |at: &u32| hasher.hash_one(key_at(*at as usize));
        for (at, position) in (0..count).zip(0..) {
            let key = key_at(at);
            let is_key = |other: &u32| key_at(*other as usize) == key;
            if let Entry::Vacant(place) = positions.entry(hasher.hash_one(key), is_key, hash_at) {
                place.insert(position);
            }
        }
        Self { positions, hasher }
    }

    /// The position of a key. `key_at` must return the keys that the index was made of.
    pub fn find<'k>(&self, key: &str, key_at: impl Fn(usize) -> &'k str) -> Option<usize> {
        let is_key = |at: &u32| key_at(*at as usize) == key;
        let found = self.positions.find(self.hasher.hash_one(key), is_key);
        found.map(|at| *at as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_keys_is_found() {
        let keys = ["a", "b", "a", ""];
        let index = KeyIndex::of(keys.len(), |at| keys[at]);
        let table = [("a", Some(0)), ("b", Some(1)), ("", Some(3)), ("c", None)];
        for (key, expected) in table {
            assert_eq!(index.find(key, |at| keys[at]), expected);
        }
    }
}
