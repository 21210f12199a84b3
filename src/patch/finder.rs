//! Finds the entries of a map by their keys, fastest in the order of the map: two large maps that are
//! compared mostly have the same keys in the same order, and then no index is built.

use std::collections::VecDeque;

use super::fields::{Field, Fields};
use super::node::Node;
use crate::yaml::KeyIndex;

/// Up to this many entries are searched one by one.
const SMALL: usize = 16;
/// How many entries behind the last found one are searched before an index is built.
const AHEAD: usize = 32;

/// Finds the entries of one map.
pub(super) enum Finder<'p, 'a> {
    Small(Vec<Field<'a>>),
    Large(Box<Large<'p, 'a>>),
}

pub(super) struct Large<'p, 'a> {
    map: &'p Node<'a>,
    ahead: VecDeque<Field<'a>>,
    rest: Box<dyn Iterator<Item = Field<'a>> + 'p>,
    /// Built for the first key that is not among those ahead.
    by_key: Option<(Fields<'a>, KeyIndex)>,
}

impl<'p, 'a> Finder<'p, 'a> {
    /// Finds in a map; without a map nothing is found.
    pub(super) fn of(map: Option<&'p Node<'a>>) -> Self {
        let Some(map) = map else {
            return Self::Small(Vec::new());
        };
        let mut rest = map.each_field();
        let first: Vec<Field<'a>> = rest.by_ref().take(SMALL + 1).collect();
        if first.len() <= SMALL {
            Self::Small(first)
        } else {
            Self::Large(Box::new(Large {
                map,
                ahead: first.into(),
                rest,
                by_key: None,
            }))
        }
    }

    /// The value under a key.
    pub(super) fn find(&mut self, key: &str) -> Option<Node<'a>> {
        match self {
            Self::Small(fields) => {
                let found = fields.iter().find(|field| field.key == key)?;
                Some(found.value.clone())
            }
            Self::Large(large) => large.find(key),
        }
    }
}

impl<'a> Large<'_, 'a> {
    fn find(&mut self, key: &str) -> Option<Node<'a>> {
        let missing = AHEAD.saturating_sub(self.ahead.len());
        self.ahead.extend(self.rest.by_ref().take(missing));
        if let Some(at) = self.ahead.iter().position(|field| field.key == key) {
            let found = self.ahead.drain(..=at).next_back();
            return found.map(|field| field.value);
        }
        let map = self.map;
        let (fields, by_key) = self.by_key.get_or_insert_with(|| {
            let fields = map.fields();
            let index = fields.index();
            (fields, index)
        });
        let found = by_key.find(key, |at| fields.key(at));
        found.map(|at| fields.get(at).value)
    }
}
