//! Finds entries by their keys, so that many edits of one large mapping take linear time.

use std::collections::HashMap;

use crate::key_index::KeyIndex;
use crate::node::{EntryRef, NodeRef};
use crate::tree::NodeId;

/// Mappings up to this size are searched without an index.
const SMALL: usize = 32;

/// The keys of large mappings: `None` after the first lookup, an index from the second on.
#[derive(Debug, Default)]
pub(super) struct KeyIndexes<'d>(HashMap<NodeId, Option<StringKeys<'d>>>);

impl<'d> KeyIndexes<'d> {
    /// The first entry of a key, with its position in the mapping.
    pub(super) fn find(
        &mut self,
        mapping: NodeRef<'d>,
        key: &str,
    ) -> Option<(usize, EntryRef<'d>)> {
        if let Some(keys) = self.0.get_mut(&mapping.id) {
            return keys
                .get_or_insert_with(|| StringKeys::of(mapping))
                .find(key);
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

/// The keys of a mapping that are strings.
#[derive(Debug)]
struct StringKeys<'d> {
    mapping: NodeRef<'d>,
    /// The position of each key in the mapping, and its node.
    keys: Vec<(u32, NodeId)>,
    index: KeyIndex,
}

impl<'d> StringKeys<'d> {
    fn of(mapping: NodeRef<'d>) -> Self {
        let keys = (0..)
            .zip(mapping.entries())
            .map(|(at, entry)| (at, entry.key));
        let keys = keys.filter(|(_, key)| key.as_str().is_some());
        let keys: Vec<(u32, NodeId)> = keys.map(|(at, key)| (at, key.id)).collect();
        let index = KeyIndex::of(keys.len(), |at| text_of(mapping, keys[at].1));
        Self {
            mapping,
            keys,
            index,
        }
    }

    fn find(&self, key: &str) -> Option<(usize, EntryRef<'d>)> {
        let text = |at: usize| text_of(self.mapping, self.keys[at].1);
        let (place, key) = self.keys[self.index.find(key, text)?];
        let key = self.mapping.document.node(key);
        Some((place as usize, EntryRef::of_key(key)))
    }
}

fn text_of<'d>(mapping: NodeRef<'d>, key: NodeId) -> &'d str {
    let key = mapping.document.node(key).resolved();
    key.scalar_text().unwrap_or_default()
}
