//! Finds the values at paths of one document. Each collection on the way is read once.

use std::collections::HashMap;

use super::edit::keys::KeyIndexes;
use super::node::NodeRef;
use super::path::{Path, PathElement};
use super::tree::NodeId;

/// The parts of the collections of one document that paths led through.
#[derive(Debug, Default)]
pub struct PlaceIndex {
    keys: KeyIndexes,
    items: HashMap<NodeId, Vec<NodeId>>,
}

impl PlaceIndex {
    /// The offset of the value at a path, and the value. Resolves aliases. If it does not exist, the offset of the last
    /// part of its path that does. All calls must be for one document.
    pub fn place<'a>(&mut self, root: NodeRef<'a>, path: &Path) -> (usize, Option<NodeRef<'a>>) {
        let (mut at, mut node) = (root.outer_start(), root);
        for element in path.elements() {
            let next = match element {
                PathElement::Field(name) => {
                    let found = self.keys.find(node, name);
                    found.map(|(_, entry)| (entry.key, entry.value))
                }
                element => self.item(node, element).map(|item| (item, item)),
            };
            let Some((owner, value)) = next else {
                return (at, None);
            };
            (at, node) = (owner.outer_start(), value.resolved());
        }
        (at, Some(node))
    }

    fn item<'a>(&mut self, list: NodeRef<'a>, element: &PathElement) -> Option<NodeRef<'a>> {
        let is = |value: Option<NodeRef<'_>>, text: &String| {
            value.is_some_and(|value| value.value_text() == Some(text))
        };
        match element {
            PathElement::Field(_) => None,
            PathElement::Index(index) => {
                let items = self.items.entry(list.id);
                let items = items.or_insert_with(|| list.items().map(|item| item.id).collect());
                Some(list.document.node(*items.get(*index)?))
            }
            PathElement::Key(keys) => list.items().find(|item| {
                let mut keys = keys.iter();
                keys.all(|(key, value)| is(item.get(key), value))
            }),
            PathElement::Value(value) => list.items().find(|item| is(Some(*item), value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OwnedDocument;

    fn place<'a>(root: NodeRef<'a>, path: &Path) -> (usize, Option<NodeRef<'a>>) {
        let (mut at, mut node) = (root.outer_start(), root);
        for element in path.elements() {
            let next = match element {
                PathElement::Field(name) => node.entry(name).map(|entry| (entry.key, entry.value)),
                PathElement::Index(index) => node.items().nth(*index).map(|item| (item, item)),
                _ => None,
            };
            let Some((owner, value)) = next else {
                return (at, None);
            };
            (at, node) = (owner.outer_start(), value.resolved());
        }
        (at, Some(node))
    }

    #[test]
    fn elements_are_found_by_their_keys_and_values() {
        let text = "list: [{name: a, tag: 1}, {name: b, tag: 1}, x, 0x1F]\n".to_owned();
        let document = OwnedDocument::parse_resource(text).expect("YAML");
        let root = document.root().expect("a document");
        for (path, expected) in [
            ("list[name=b]", Some(1)),
            ("list[name=a,tag=1]", Some(0)),
            ("list[name=a,tag=2]", None),
            ("list[=x]", Some(2)),
            ("list[=31]", Some(3)),
        ] {
            let path = Path::parse(path).expect("a path");
            let (_, found) = PlaceIndex::default().place(root, &path);
            let items = root.get("list").into_iter().flat_map(|list| list.items());
            let mut ids = items.map(|item| item.id);
            let at = ids.position(|id| found.is_some_and(|node| node.id == id));
            assert_eq!(at, expected, "{path}");
        }
    }

    #[test]
    fn indexed_places_equal_those_of_a_search() {
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
                    let expected = place(root, &path);
                    let found = index.place(root, &path);
                    let ids = [expected.1, found.1].map(|node| node.map(|node| node.id));
                    assert_eq!((expected.0, ids[0]), (found.0, ids[1]), "{path}");
                }
            }
        }
    }
}
