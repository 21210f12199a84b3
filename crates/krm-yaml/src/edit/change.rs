//! The changes that an editor collects, by the node that they change.

use super::Editor;
use super::refuse::readable;
use super::slot::{NewSlot, Slot};
use super::slots::remove_kept;
use crate::content::Content;
use crate::error::EditError;
use crate::node::{EntryRef, NodeRef};
use crate::tree::NodeKind;

#[derive(Debug, Clone)]
pub(super) enum Change<'a> {
    Replace(Content<'a>),
    #[expect(
        clippy::box_collection,
        reason = "there can be millions of small changes"
    )]
    Slots(Box<Vec<Slot<'a>>>),
}

impl<'a> Change<'a> {
    pub(super) fn slots(slots: Vec<Slot<'a>>) -> Self {
        Self::Slots(Box::new(slots))
    }
}

impl<'d, 'f> Editor<'d, 'f> {
    /// The entry of a key, with its position. A large mapping gets a hash index at the second lookup.
    pub(super) fn find(&self, mapping: NodeRef<'d>, key: &str) -> Option<(usize, EntryRef<'d>)> {
        self.keys.borrow_mut().find(mapping, key)
    }

    /// The slots after pending removals, so that positions are valid.
    pub(super) fn current_slots(&mut self, collection: NodeRef<'d>) -> &mut Vec<Slot<'f>> {
        let removed = self.removed.remove(&collection.id).unwrap_or_default();
        let slots = self.slots(collection);
        remove_kept(slots, &removed);
        slots
    }

    #[expect(
        clippy::unreachable,
        reason = "a replacement becomes slots in the line above"
    )]
    pub(super) fn slots(&mut self, collection: NodeRef<'d>) -> &mut Vec<Slot<'f>> {
        let fresh = || {
            let count = collection.entries().count() + collection.items().count();
            Change::slots((0..count).map(Slot::Kept).collect())
        };
        let change = self.changes.entry(collection.id).or_insert_with(fresh);
        if let Change::Replace(_) = change {
            *change = Change::slots(Vec::new());
        }
        match change {
            Change::Slots(slots) => slots,
            Change::Replace(_) => unreachable!("replaced just above"),
        }
    }

    pub(super) fn insert_slot(
        &mut self,
        collection: NodeRef<'d>,
        position: Option<usize>,
        slot: NewSlot<'f>,
    ) -> Result<(), EditError> {
        let slot = self.new_slot(collection, slot)?;
        match position {
            None => self.slots(collection).push(slot),
            Some(position) => {
                let slots = self.current_slots(collection);
                slots.insert(position.min(slots.len()), slot);
            }
        }
        Ok(())
    }

    /// A new entry or item of a collection.
    pub(super) fn new_slot(
        &mut self,
        collection: NodeRef<'d>,
        slot: NewSlot<'f>,
    ) -> Result<Slot<'f>, EditError> {
        let content = readable(slot.content)?;
        self.refuse_parts(collection, slot.key.is_some())?;
        self.added += content.length();
        Ok(NewSlot { content, ..slot }.into())
    }

    /// Refuses new entries in a node that is not a mapping, and new items in a node that is not a sequence.
    pub(super) fn refuse_parts(
        &self,
        collection: NodeRef<'d>,
        are_entries: bool,
    ) -> Result<(), EditError> {
        let kind = collection.kind();
        let (fits, expected) = if are_entries {
            (kind.is_mapping(), "mapping")
        } else {
            (kind.is_sequence(), "sequence")
        };
        if !fits && !is_empty(collection) {
            return Err(EditError::WrongKind {
                place: collection.path().to_string(),
                expected,
                found: collection.kind_name(),
            });
        }
        Ok(())
    }
}

/// Whether a node is an empty value, which can become a mapping or a sequence.
fn is_empty(node: NodeRef<'_>) -> bool {
    matches!(node.kind(), NodeKind::Scalar(_)) && node.is_null()
}
