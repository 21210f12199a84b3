//! Anchors and the aliases that refer to them.

use super::Builder;
use crate::error::ParseError;
use crate::tree::{NONE, NodeKind, offset};

impl Builder<'_> {
    pub(super) fn anchor(&mut self, id: usize, range: std::ops::Range<usize>) {
        let node = offset(self.tree.nodes.len()) - 1;
        self.anchors.insert(id, node);
        let (start, end) = (offset(range.start), offset(range.end));
        let entry = &mut self.tree.nodes[node as usize];
        entry.properties = entry.properties.min(start);
        if entry.start == entry.end && entry.start < end && entry.start != NONE {
            (entry.start, entry.end) = (end, end);
        }
        // A collection that begins with this node begins with the node's anchor.
        let mut child = node;
        loop {
            let parent = self.tree.nodes[child as usize].parent;
            if parent == NONE || parent + 1 != child {
                break;
            }
            let first = &mut self.tree.nodes[parent as usize];
            if !first.kind.is_block_collection() && first.kind != NodeKind::FlowPair {
                break;
            }
            if first.start == NONE || first.start <= start {
                break;
            }
            first.start = start;
            child = parent;
        }
        self.cursor = self.cursor.max(range.end);
    }

    pub(super) fn alias(
        &mut self,
        target: usize,
        range: std::ops::Range<usize>,
    ) -> Result<(), ParseError> {
        let id = self.begin(NodeKind::Alias, None)?;
        let node = &mut self.tree.nodes[id as usize];
        (node.start, node.end) = (offset(range.start), offset(range.end));
        node.extra = self.anchors.get(&target).copied().unwrap_or(NONE);
        self.tree.aliases = true;
        self.cursor = range.end;
        self.grow_parent_start(id);
        Ok(())
    }
}
