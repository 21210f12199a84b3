//! Finds the entries of a map by their keys.

use super::fields::Fields;
use super::node::Node;
use crate::yaml::KeyIndex;

/// Up to this many entries are searched one by one.
const SMALL: usize = 16;

/// Finds the entries of one map.
pub(super) struct Finder<'a> {
    fields: Fields<'a>,
    /// Of a large map.
    index: Option<KeyIndex>,
}

impl<'a> Finder<'a> {
    /// Finds in a map; without a map nothing is found.
    pub(super) fn of(map: Option<&Node<'a>>) -> Self {
        let fields = map.map(Node::fields).unwrap_or_default();
        let index = (fields.len() > SMALL).then(|| fields.index());
        Self { fields, index }
    }

    /// The value under a key.
    pub(super) fn find(&self, key: &str) -> Option<Node<'a>> {
        let fields = &self.fields;
        let at = match &self.index {
            Some(index) => index.find(key, |at| fields.key(at)),
            None => fields.position(key),
        };
        at.map(|at| fields.get(at).value)
    }
}
