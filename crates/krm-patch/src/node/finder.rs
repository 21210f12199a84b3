//! Finds the entries of a map by their keys.

use std::cell::{Cell, OnceCell};

use super::Node;
use super::fields::Fields;
use krm_yaml::KeyIndex;

/// Maps with up to this many entries are searched without an index.
const SMALL: usize = 16;

/// Finds the entries of one map, fastest in their own order.
pub(crate) struct Finder<'a> {
    pub(crate) fields: Fields<'a>,
    /// The position after the entry that was found last.
    next: Cell<usize>,
    /// Only used for a large map.
    index: OnceCell<KeyIndex>,
}

impl<'a> Finder<'a> {
    /// Finds entries of a map; without a map nothing is found.
    pub(crate) fn of(map: Option<&Node<'a>>) -> Self {
        Self::in_fields(map.map(Node::fields).unwrap_or_default())
    }

    /// Finds entries among fields.
    pub(crate) fn in_fields(fields: Fields<'a>) -> Self {
        Self {
            fields,
            next: Cell::new(0),
            index: OnceCell::new(),
        }
    }

    /// The value under a key.
    pub(crate) fn find(&self, key: &str) -> Option<Node<'a>> {
        self.position(key).map(|at| self.fields.get(at).value)
    }

    /// The index of a key.
    pub(crate) fn position(&self, key: &str) -> Option<usize> {
        let (fields, next) = (&self.fields, self.next.get());
        let at = if next < fields.len() && fields.key(next) == key {
            next
        } else if fields.len() <= SMALL {
            fields.position(key)?
        } else {
            let index = self.index.get_or_init(|| fields.index());
            index.find(key, |at| fields.key(at))?
        };
        self.next.set(at + 1);
        Some(at)
    }
}
