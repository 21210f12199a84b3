//! Entries by their keys: many edits of one large mapping take linear time.

use std::collections::HashMap;

use crate::yaml::node::{EntryRef, NodeRef};
use crate::yaml::tree::NodeId;

/// Mappings up to this size are searched.
const SMALL: usize = 32;

/// The keys of large mappings that were looked at more than once.
#[derive(Debug, Default)]
pub(super) struct KeyIndexes<'d>(HashMap<NodeId, Option<KeyIndex<'d>>>);

type KeyIndex<'d> = HashMap<&'d str, (usize, EntryRef<'d>)>;

impl<'d> KeyIndexes<'d> {
    /// The first entry of a key, with its place in the mapping.
    pub(super) fn find(
        &mut self,
        mapping: NodeRef<'d>,
        key: &str,
    ) -> Option<(usize, EntryRef<'d>)> {
        if let Some(index) = self.0.get_mut(&mapping.id) {
            return index
                .get_or_insert_with(|| index_of(mapping))
                .get(key)
                .copied();
        }
        let mut entries = mapping.entries().enumerate();
        let found = entries.find(|(_, entry)| entry.key.as_str() == Some(key));
        let is_large = match found {
            Some((place, _)) => place >= SMALL,
            None => mapping.entries().nth(SMALL).is_some(),
        };
        if is_large {
            self.0.insert(mapping.id, None);
        }
        found
    }
}

fn index_of(mapping: NodeRef<'_>) -> KeyIndex<'_> {
    let mut index = HashMap::new();
    for (place, entry) in mapping.entries().enumerate() {
        if let Some(key) = entry.key.as_str() {
            index.entry(key).or_insert((place, entry));
        }
    }
    index
}
