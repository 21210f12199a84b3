//! The parts of mappings and lists.

use super::super::versions::Versions;
use crate::yaml::{EntryRef, NodeRef};

/// An entry of a mapping, an item of a sequence, or a root.
#[derive(Clone, Copy)]
pub(super) struct Child<'a> {
    /// Position in its collection.
    pub(super) index: usize,
    pub(super) entry: Option<EntryRef<'a>>,
    pub(super) value: NodeRef<'a>,
}

/// One entry, item or root in three versions. Local's is edited.
pub(super) type Children<'d, 'f> = Versions<Option<Child<'f>>, Option<Child<'d>>>;

impl<'a> Child<'a> {
    pub(super) fn of(value: NodeRef<'a>) -> Self {
        Self {
            index: 0,
            entry: None,
            value,
        }
    }

    /// The node that comments belong to.
    pub(super) fn owner(&self) -> NodeRef<'a> {
        self.entry.map_or(self.value, |entry| entry.key)
    }

    /// The name of an entry; empty for an item.
    pub(super) fn name(&self) -> &'a str {
        self.entry.map_or("", |entry| entry.key.field_name())
    }
}

/// The values of three versions.
pub(super) fn nodes<'a>(versions: Children<'a, 'a>) -> Versions<Option<NodeRef<'a>>> {
    versions.map(|child| child.map(|child| child.value))
}

pub(super) fn entries_of<'a>(node: NodeRef<'a>) -> impl Iterator<Item = Child<'a>> {
    let entries = node.entries().enumerate();
    entries.map(|(index, entry)| Child {
        index,
        entry: Some(entry),
        value: entry.value,
    })
}

pub(super) fn items_of<'a>(node: NodeRef<'a>) -> impl Iterator<Item = Child<'a>> {
    node.items().enumerate().map(|(index, value)| Child {
        index,
        entry: None,
        value,
    })
}
