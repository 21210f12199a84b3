//! Anchors and the aliases that refer to them.

use super::Builder;
use crate::yaml::error::ParseError;
use crate::yaml::tree::{NONE, NodeId, NodeKind, SharedAnchor, offset};

/// An anchor that aliases of this document can refer to.
pub(super) struct Anchor {
    node: u32,
    name: Box<str>,
    /// Its index in `Tree::shared`; `None` until an alias refers to it.
    shared: Option<usize>,
}

impl Builder<'_> {
    pub(super) fn anchor(&mut self, id: usize, name: &str, range: std::ops::Range<usize>) {
        let node = offset(self.tree.nodes.len()) - 1;
        let anchor = Anchor {
            node,
            name: name.into(),
            shared: None,
        };
        self.anchors.insert(id, anchor);
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
        if let Some(anchor) = self.anchors.get_mut(&target) {
            node.extra = anchor.node;
            match anchor.shared {
                Some(at) => self.tree.shared[at].last_reader = NodeId(id),
                None => {
                    anchor.shared = Some(self.tree.shared.len());
                    self.tree.shared.push(SharedAnchor {
                        node: NodeId(anchor.node),
                        name: anchor.name.clone(),
                        last_reader: NodeId(id),
                    });
                }
            }
        }
        self.cursor = range.end;
        self.grow_parent_start(id);
        Ok(())
    }
}
