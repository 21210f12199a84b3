//! Finds the values at many paths of one document. Each collection on the way is read once.

use std::collections::HashMap;

use super::key_index::KeyIndex;
use super::node::{EntryRef, NodeRef};
use super::path::{Path, PathElement};
use super::tree::NodeId;

/// The parts of the collections of one document that paths led through.
#[derive(Debug, Default)]
pub struct PlaceIndex {
    /// The keys of mappings that are strings, and their positions among these.
    keys: HashMap<NodeId, (Vec<NodeId>, KeyIndex)>,
    items: HashMap<NodeId, Vec<NodeId>>,
}

impl PlaceIndex {
    /// The offset of the value at a path, and the value. Resolves aliases. If it does not exist, the offset of the last
    /// part of its path that does. All calls must be for one document.
    pub fn place<'a>(&mut self, root: NodeRef<'a>, path: &Path) -> (usize, Option<NodeRef<'a>>) {
        let (mut at, mut node) = (root.outer_start(), root);
        for element in path.elements() {
            let next = match element {
                PathElement::Field(name) => self.entry(node, name).map(|entry| {
                    let start = entry.key.outer_start();
                    (start, entry.value)
                }),
                PathElement::Index(index) => self.item(node, *index).map(|item| {
                    let start = item.outer_start();
                    (start, item)
                }),
                PathElement::Key(_) | PathElement::Value(_) => None,
            };
            let Some((start, value)) = next else {
                return (at, None);
            };
            (at, node) = (start, value.resolved());
        }
        (at, Some(node))
    }

    fn entry<'a>(&mut self, mapping: NodeRef<'a>, name: &str) -> Option<EntryRef<'a>> {
        let document = mapping.document;
        let key_at = |id: NodeId| document.node(id).as_str().unwrap_or_default();
        let (ids, index) = self.keys.entry(mapping.id).or_insert_with(|| {
            let keys = mapping.entries().map(|entry| entry.key);
            let ids = keys.filter(|key| key.as_str().is_some()).map(|key| key.id);
            let ids: Vec<NodeId> = ids.collect();
            let index = KeyIndex::of(ids.len(), |at| key_at(ids[at]));
            (ids, index)
        });
        let found = index.find(name, |at| key_at(ids[at]))?;
        Some(EntryRef::of_key(document.node(ids[found])))
    }

    fn item<'a>(&mut self, sequence: NodeRef<'a>, index: usize) -> Option<NodeRef<'a>> {
        let items = self.items.entry(sequence.id);
        let items = items.or_insert_with(|| sequence.items().map(|item| item.id).collect());
        Some(sequence.document.node(*items.get(index)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OwnedDocument;

    #[test]
    fn places_are_those_of_a_search() {
        let text =
            "a: &a [x, {b: c}, []]\n1: one\n\"1\": two\nd: *a\ne: {f: {}}\n? [g]\n: {h: i}\n";
        let document = OwnedDocument::parse(text.to_owned()).expect("YAML");
        let root = document.root().expect("a document");
        let mut index = PlaceIndex::default();
        let names = ["a", "1", "d", "e", "f", "b", "[g]", "none"].map(str::to_owned);
        let steps = names.map(PathElement::Field).into_iter();
        let steps: Vec<_> = steps.chain([0, 1, 2, 7].map(PathElement::Index)).collect();
        for one in &steps {
            for two in &steps {
                for three in &steps {
                    let path = Path::root().child(one.clone());
                    let path = path.child(two.clone()).child(three.clone());
                    let expected = root.place(&path);
                    let found = index.place(root, &path);
                    let ids = [expected.1, found.1].map(|node| node.map(|node| node.id));
                    assert_eq!((expected.0, ids[0]), (found.0, ids[1]), "{path}");
                }
            }
        }
    }
}
