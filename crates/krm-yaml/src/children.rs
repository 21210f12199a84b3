//! The entries or items of a collection, by position.

use std::ops::Range;

use super::comments::entry_end;
use super::node::{EntryRef, NodeRef};
use super::tree::NodeId;

/// The entries or items of a collection. There can be millions, so only their ids are stored; everything else is looked
/// up.
pub struct Children<'d> {
    node: NodeRef<'d>,
    /// The keys or items.
    ids: Vec<NodeId>,
}

impl<'d> Children<'d> {
    pub fn of(node: NodeRef<'d>) -> Self {
        let keys = node.entries().map(|entry| entry.key.id);
        let items = node.items().map(|item| item.id);
        Self {
            node,
            ids: keys.chain(items).collect(),
        }
    }

    /// How many entries or items there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.ids.len()
    }

    /// The entry at a position. Only meaningful for mappings.
    pub(super) fn entry(&self, index: usize) -> EntryRef<'d> {
        EntryRef::of_key(self.node.document.node(self.ids[index]))
    }

    /// The key or item at a position.
    pub fn owner(&self, index: usize) -> NodeRef<'d> {
        self.node.document.node(self.ids[index])
    }

    /// The value of an entry, or the item, at a position.
    pub(super) fn value(&self, index: usize) -> NodeRef<'d> {
        if self.node.kind().is_mapping() {
            self.entry(index).value
        } else {
            self.owner(index)
        }
    }

    /// The nodes of an entry or item.
    pub(super) fn ids(&self, index: usize) -> Range<u32> {
        let next = self.ids.get(index + 1).map(|id| id.0);
        self.ids[index].0..next.unwrap_or(self.node.ids().end)
    }

    /// The bytes of an entry or item, with its indicator and key.
    pub(super) fn range(&self, index: usize) -> Range<usize> {
        let first = self.node.document.node(self.ids[index]);
        let start = first.indicator().unwrap_or_else(|| first.outer_start());
        let end = if self.node.kind().is_mapping() {
            entry_end(self.entry(index))
        } else {
            first
                .range()
                .end
                .max(first.indicator().map_or(0, |indicator| indicator + 1))
        };
        start..end
    }
}
