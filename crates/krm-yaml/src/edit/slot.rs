//! One entry or item of a collection after the edit. An edit can copy millions of them, so an unchanged copy is small.

use std::borrow::Cow;

use crate::content::Content;
use crate::node::{EntryRef, NodeRef};
use crate::tree::NodeKind;
use crate::value::Value;

/// A new entry or item.
#[derive(Debug, Clone)]
pub(super) struct NewSlot<'a> {
    /// Key of a mapping entry; items have none.
    pub(super) key: Option<Value>,
    pub(super) content: Content<'a>,
    /// The entry (by its key) or item of another document whose comments are copied.
    pub(super) source: Option<NodeRef<'a>>,
}

impl<'a> NewSlot<'a> {
    /// The value that the source of the comments has.
    pub(super) fn source_value(&self) -> Option<NodeRef<'a>> {
        let source = self.source?;
        match self.key {
            Some(_) => Some(EntryRef::of_key(source).value),
            None => Some(source),
        }
    }

    /// Whether this copies its source without changes. The key of such an entry is a scalar.
    fn is_copy(&self) -> bool {
        let Content::Node(content) = &self.content else {
            return false;
        };
        let is_value =
            |value: NodeRef<'_>| value.id == content.id && value.document.is(content.document);
        let is_simple = |source: NodeRef<'_>| {
            self.key.is_none() || matches!(source.kind(), NodeKind::Scalar(_))
        };
        self.source.is_some_and(is_simple) && self.source_value().is_some_and(is_value)
    }
}

/// An entry or item of a collection after the edit.
#[derive(Debug, Clone)]
pub(super) enum Slot<'a> {
    /// The entry or item of this index in the source.
    Kept(usize),
    /// An unchanged copy of an item, or of the entry of a key.
    Copy(NodeRef<'a>),
    /// An entry with a copy of this key, and `null` as its value.
    Null(NodeRef<'a>),
    New(Box<NewSlot<'a>>),
}

impl<'a> From<NewSlot<'a>> for Slot<'a> {
    fn from(new: NewSlot<'a>) -> Self {
        match new.source.filter(|_| new.is_copy()) {
            Some(source) => Self::Copy(source),
            None => Self::New(Box::new(new)),
        }
    }
}

impl<'a> Slot<'a> {
    /// The index in the source; `None` for new entries and items.
    pub(super) fn kept(&self) -> Option<usize> {
        match self {
            Self::Kept(index) => Some(*index),
            Self::New(_) | Self::Copy(_) | Self::Null(_) => None,
        }
    }

    /// A new entry or item; `None` for a kept one.
    pub(super) fn added(&self) -> Option<Cow<'_, NewSlot<'a>>> {
        Some(match self {
            Self::Kept(_) => return None,
            Self::New(new) => Cow::Borrowed(new),
            Self::Null(key) => {
                let key = Value::from(key.field_name());
                Cow::Owned(NewSlot {
                    key: Some(key),
                    content: Content::Value(Value::Null),
                    source: None,
                })
            }
            Self::Copy(source) => {
                let is_key = source.parent().is_some_and(|p| p.kind().is_mapping());
                let (key, value) = if is_key {
                    let key = source.value().unwrap_or(Value::Null);
                    (Some(key), EntryRef::of_key(*source).value)
                } else {
                    (None, *source)
                };
                Cow::Owned(NewSlot {
                    key,
                    content: Content::Node(value),
                    source: Some(*source),
                })
            }
        })
    }
}

/// The new entries or items among the slots.
pub(super) fn new_slots<'s, 'a>(
    slots: &'s [Slot<'a>],
) -> impl Iterator<Item = Cow<'s, NewSlot<'a>>> {
    slots.iter().filter_map(Slot::added)
}

/// Whether the new slots, if any, are entries.
pub(super) fn are_entries(slots: &[Slot<'_>]) -> bool {
    new_slots(slots).next().is_some_and(|new| new.key.is_some())
}
