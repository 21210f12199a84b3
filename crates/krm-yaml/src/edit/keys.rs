//! Finds entries by their keys, so that many edits of one large mapping take linear time.

use std::collections::HashMap;

use crate::key_index::KeyIndex;
use crate::node::{EntryRef, NodeRef};
use crate::tree::NodeId;

/// Mappings up to this size are searched without an index.
const SMALL: usize = 32;

/// The keys of large mappings of one document: `None` after the first lookup, an index from the second on.
#[derive(Debug, Default)]
pub(crate) struct KeyIndexes(HashMap<NodeId, Option<StringKeys>>);

impl KeyIndexes {
    /// The first entry of a key, with its position in the mapping.
    pub(crate) fn find<'d>(
        &mut self,
        mapping: NodeRef<'d>,
        key: &str,
    ) -> Option<(usize, EntryRef<'d>)> {
        if let Some(keys) = self.0.get_mut(&mapping.id) {
            let keys = keys.get_or_insert_with(|| StringKeys::of(mapping));
            let (place, key) = keys.find(mapping, key)?;
            return Some((place as usize, EntryRef::of_key(mapping.document.node(key))));
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

/// The keys of a mapping that are strings: the position of each in the mapping, and its node.
#[derive(Debug)]
struct StringKeys(Vec<(u32, NodeId)>, KeyIndex);

impl StringKeys {
    fn of(mapping: NodeRef<'_>) -> Self {
        let keys = (0..)
            .zip(mapping.entries())
            .map(|(at, entry)| (at, entry.key));
        let keys = keys.filter(|(_, key)| key.as_str().is_some());
        let keys: Vec<(u32, NodeId)> = keys.map(|(at, key)| (at, key.id)).collect();
        let index = KeyIndex::of(keys.len(), |at| text_of(mapping, keys[at].1));
        Self(keys, index)
    }

    fn find(&self, mapping: NodeRef<'_>, key: &str) -> Option<(u32, NodeId)> {
        let found = self.1.find(key, |at| text_of(mapping, self.0[at].1));
        found.map(|at| self.0[at])
    }
}

fn text_of<'d>(mapping: NodeRef<'d>, key: NodeId) -> &'d str {
    let key = mapping.document.node(key).resolved();
    key.scalar_text().unwrap_or_default()
}
