//! Gives equal keys equal numbers, so that the entries of two mappings, or the elements of three lists, are matched
//! without comparing all pairs.
//!
//! A key that occurs twice in one source has a number for its first occurrence and another one for its second, so that
//! first occurrences match each other.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{Hash, RandomState};

use indexmap::IndexSet;

/// Gives numbers to keys, in the order in which they first occur. A key has the same number in every source.
#[derive(Debug)]
pub struct Interner<K> {
    /// By number: a key, and how many equal keys precede it in a source.
    known: IndexSet<(K, u32), RandomState>,
}

/// The numbers of the keys of one source.
#[derive(Debug, PartialEq, Eq)]
pub struct Numbered {
    /// By position in the source.
    pub numbers: Vec<u32>,
    /// Whether a key occurs twice.
    pub repeats: bool,
}

impl<K> Default for Interner<K> {
    fn default() -> Self {
        let known = IndexSet::default();
        Self { known }
    }
}

impl<K: Hash + Eq + Clone> Interner<K> {
    /// Numbers the keys of a source.
    pub fn number(&mut self, source: impl IntoIterator<Item = K>) -> Numbered {
        let mut counts: Vec<u32> = vec![0; self.known.len()];
        let mut repeats = false;
        // Most sources have the order of the first one, so the next number is tried first.
        let mut next = 0;
        let mut numbers = Vec::new();
        for key in source {
            let found = self.known.get_index(next);
            let is_next = matches!(found, Some((known, 0)) if *known == key);
            let first = if is_next { next } else { self.insert(&key, 0) };
            next = first + 1;
            counts.resize(self.known.len(), 0);
            let occurrence = counts[first];
            counts[first] += 1;
            repeats |= occurrence > 0;
            let number = match occurrence {
                0 => first,
                occurrence => self.insert(&key, occurrence),
            };
            numbers.push(u32::try_from(number).unwrap_or(u32::MAX));
        }
        Numbered { numbers, repeats }
    }

    fn insert(&mut self, key: &K, occurrence: u32) -> usize {
        self.known.insert_full((key.clone(), occurrence)).0
    }

    /// How many numbers were assigned.
    #[must_use]
    pub fn count(&self) -> usize {
        self.known.len()
    }
}

/// For each key of `theirs`, the position of an equal key in `ours`. Of several equal keys, the first is matched with
/// the first. `None` matches nothing.
pub fn matches<K: Hash + Eq>(
    ours: impl IntoIterator<Item = Option<K>>,
    theirs: impl IntoIterator<Item = Option<K>>,
) -> Vec<Option<usize>> {
    let ours: Vec<Option<K>> = ours.into_iter().collect();
    let mut next = vec![None; ours.len()];
    let mut first = HashMap::new();
    for (place, key) in ours.into_iter().enumerate().rev() {
        next[place] = key.and_then(|key| first.insert(key, place));
    }
    let mut take = |key: K| {
        let Entry::Occupied(mut first) = first.entry(key) else {
            return None;
        };
        Some(match next[*first.get()] {
            Some(next) => first.insert(next),
            None => first.remove(),
        })
    };
    theirs.into_iter().map(|key| take(key?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_number_in_all_sources() {
        let mut interner = Interner::default();
        let mut check = |keys: &str, numbers: &[u32], repeats| {
            let keys = keys.split(' ').map(str::to_owned);
            let numbers = numbers.to_vec();
            assert_eq!(interner.number(keys), Numbered { numbers, repeats });
        };
        check("a b c", &[0, 1, 2], false);
        check("a c b d", &[0, 2, 1, 3], false);
        check("c a a d a", &[2, 0, 4, 3, 5], true);
        check("a a a b", &[0, 4, 5, 1], true);
    }

    #[test]
    fn first_elements_are_matched_with_each_other() {
        let ours = [Some("a"), None, Some("b"), Some("a")];
        let theirs = [Some("a"), Some("a"), None, Some("c"), Some("b"), Some("a")];
        let found = [Some(0), Some(3), None, None, Some(2), None];
        assert_eq!(matches(ours, theirs), found);
    }
}
