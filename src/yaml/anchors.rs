//! Anchors that aliases outside of a node read. An edit must not silently change what such an alias reads.

use std::collections::HashMap;

use super::document::Document;
use super::node::NodeRef;
use super::tree::{NONE, NodeKind};

impl<'a> Document<'a> {
    /// The name of an anchor within these nodes that an alias after them reads.
    pub(super) fn read_from_outside(&self, ids: std::ops::Range<u32>) -> Option<&'a str> {
        let shared = &self.tree.shared;
        let from = shared.partition_point(|anchor| anchor.node.0 < ids.start);
        let within = shared[from..].iter().take_while(|a| a.node.0 < ids.end);
        let mut read = within.filter(|anchor| anchor.last_reader.0 >= ids.end);
        read.next().map(|anchor| &*anchor.name)
    }
}

impl<'a> NodeRef<'a> {
    /// The name of an anchor that an alias outside of this node reads: an anchor of this node, of a node around it, or
    /// of a node within it.
    #[must_use]
    pub fn shared_anchor(&self) -> Option<&'a str> {
        self.shared_above()
            .or_else(|| self.document.read_from_outside(self.ids()))
    }

    /// The name of the nearest anchor, of this node or of a node around it, that an alias reads.
    pub(super) fn shared_above(&self) -> Option<&'a str> {
        let shared = &self.document.tree.shared;
        let mut node = Some(*self).filter(|_| !shared.is_empty());
        while let Some(at) = node {
            if let Ok(found) = shared.binary_search_by_key(&at.id, |anchor| anchor.node) {
                return Some(&shared[found].name);
            }
            node = at.parent();
        }
        None
    }

    /// The name of an anchor within this collection whose aliases would read another value if the entries or items were
    /// in another order.
    pub(super) fn anchor_in_order(&self) -> Option<&'a str> {
        let tree = self.document.tree;
        if tree.shared.is_empty() {
            return None;
        }
        let inside = self.ids();
        let children = self.items().chain(self.entries().map(|entry| entry.value));
        let ends: Vec<u32> = children.map(|child| child.raw().next).collect();
        let unit = |id: u32| ends.partition_point(|end| *end <= id);
        let mut defined: HashMap<&str, usize> = HashMap::new();
        for id in inside.clone() {
            if let Some(anchor) = self.at(id).anchor() {
                *defined.entry(&anchor[1..]).or_default() += 1;
            }
        }
        for id in inside.clone() {
            let node = self.at(id);
            if node.kind() != NodeKind::Alias {
                continue;
            }
            let (name, target) = (&node.source()[1..], node.raw().extra);
            let elsewhere = if inside.contains(&target) {
                unit(target) != unit(id)
            } else {
                defined.contains_key(name)
            };
            if elsewhere {
                return Some(name);
            }
        }
        self.document
            .read_from_outside(inside)
            .filter(|name| defined.get(name).is_some_and(|count| *count > 1))
    }

    /// Whether this holds an anchor, a tag or an alias.
    pub(super) fn holds_properties_or_aliases(&self) -> bool {
        let ids = self.ids();
        let nodes = &self.document.tree.nodes[ids.start as usize..ids.end as usize];
        let mut nodes = nodes.iter();
        nodes.any(|node| node.kind == NodeKind::Alias || node.properties != NONE)
    }

    /// Whether this is an alias, or holds one.
    pub(super) fn has_alias(&self) -> bool {
        let ids = self.ids();
        let nodes = &self.document.tree.nodes[ids.start as usize..ids.end as usize];
        nodes.iter().any(|node| node.kind == NodeKind::Alias)
    }
}
