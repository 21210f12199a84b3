//! Finds the entries of a map by their keys.

use super::Node;
use super::fields::Fields;
use crate::yaml::KeyIndex;

/// Up to this many entries are searched one by one.
const SMALL: usize = 16;

/// Finds the entries of one map.
pub(in crate::patch) struct Finder<'a> {
    fields: Fields<'a>,
    /// Of a large map.
    index: Option<KeyIndex>,
}

impl<'a> Finder<'a> {
    /// Finds in a map; without a map nothing is found.
    pub(in crate::patch) fn of(map: Option<&Node<'a>>) -> Self {
        let fields = map.map(Node::fields).unwrap_or_default();
        let index = (fields.len() > SMALL).then(|| fields.index());
        Self { fields, index }
    }

    /// The value under a key.
    pub(in crate::patch) fn find(&self, key: &str) -> Option<Node<'a>> {
        let fields = &self.fields;
        let at = match &self.index {
            Some(index) => index.find(key, |at| fields.key(at)),
            None => fields.position(key),
        };
        at.map(|at| fields.get(at).value)
    }
}
