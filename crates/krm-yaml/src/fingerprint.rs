//! Hashes of values. They find equal parts of two trees without a comparison of all pairs.

use std::hash::{BuildHasher, RandomState};

use super::node::NodeRef;
use super::tree::{NodeId, NodeKind};

/// The fingerprints of a node and its descendants.
///
/// With the same [`RandomState`], equal values have equal fingerprints, and different values almost never do.
#[derive(Debug)]
pub struct Fingerprints {
    first: u32,
    fingerprints: Vec<NodeFingerprint>,
}

#[derive(Debug, Clone, Copy)]
struct NodeFingerprint {
    value: u64,
    /// Whether the source holds the whole value: no alias, anchor or tag within.
    literal: bool,
}

impl Fingerprints {
    /// Visits each node once.
    #[must_use]
    pub fn of(node: NodeRef<'_>, state: &RandomState) -> Self {
        let ids = node.ids();
        let mut found = Self {
            first: ids.start,
            fingerprints: vec![
                NodeFingerprint {
                    value: 0,
                    literal: false
                };
                ids.len()
            ],
        };
        // A node precedes its descendants, and its hash needs theirs.
        for id in ids.rev() {
            let node = node.document.node(NodeId(id));
            let fingerprint = found.fingerprint(node, state);
            found.fingerprints[(id - found.first) as usize] = fingerprint;
        }
        found
    }

    /// The fingerprint of a node's value; `None` if the source does not hold the whole value.
    #[must_use]
    pub fn get(&self, node: NodeRef<'_>) -> Option<u64> {
        let fingerprint = self.at(node);
        fingerprint.literal.then_some(fingerprint.value)
    }

    fn at(&self, node: NodeRef<'_>) -> NodeFingerprint {
        self.fingerprints[(node.id.0 - self.first) as usize]
    }

    fn fingerprint(&self, node: NodeRef<'_>, state: &RandomState) -> NodeFingerprint {
        let mut literal = node.properties_range().is_none();
        let kind = node.kind();
        let value = if kind.is_mapping() {
            let mut sum = 0_u64;
            for entry in node.entries() {
                let (key, value) = (self.at(entry.key), self.at(entry.value));
                literal &= key.literal && value.literal;
                // The order of keys does not matter.
                sum = sum.wrapping_add(state.hash_one((key.value, value.value)));
            }
            state.hash_one(('m', sum))
        } else if kind.is_sequence() {
            let items = node.items().map(|item| self.at(item));
            let values: Vec<u64> = items
                .map(|fingerprint| {
                    literal &= fingerprint.literal;
                    fingerprint.value
                })
                .collect();
            state.hash_one(('s', values))
        } else {
            literal &= kind != NodeKind::Alias;
            // A scalar contains no alias, so its value is cheap to compute.
            match kind {
                NodeKind::Scalar(_) => state.hash_one(('v', node.value())),
                _ => 0,
            }
        };
        NodeFingerprint { value, literal }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, ParseOptions, Tree};

    #[test]
    fn equal_values_have_one_fingerprint() {
        let state = RandomState::new();
        let print = |text: &str| {
            let tree = Tree::parse(text, ParseOptions::default()).expect("YAML");
            let root = Document::new(text, &tree).root(0).expect("a document");
            Fingerprints::of(root, &state).get(root)
        };
        let same = print("a: 5\nb: [x, {c: 'd'}]\n");
        assert_eq!(same, print("b:\n- x # c\n- c: d\na: 5.0\n"));
        assert!(same.is_some());
        assert_ne!(same, print("a: \"5\"\nb: [x, {c: d}]\n"));
        assert_ne!(same, print("a: 5\nb: [{c: d}, x]\n"));
        for text in ["a: &a 1\nb: *a\n", "a: !!str 5\n"] {
            assert_eq!(print(text), None, "{text}");
        }
    }
}
