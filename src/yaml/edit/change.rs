//! The changes that an editor collects, by the node that they change.

use std::sync::Arc;

use super::Editor;
use super::refuse::readable;
use super::slots::{NewSlot, Slot, take_out};
use crate::yaml::content::Content;
use crate::yaml::error::EditError;
use crate::yaml::node::{EntryRef, NodeRef};
use crate::yaml::tree::NodeKind;

/// The change of a node.
#[derive(Debug, Clone)]
pub(super) enum Change<'a> {
    Replace(Content<'a>),
    Slots(Vec<Slot<'a>>),
}

impl<'d, 'f> Editor<'d, 'f> {
    /// The entry of a key, with its index. A large mapping that is asked again gets an index.
    pub(super) fn find(&self, mapping: NodeRef<'d>, key: &str) -> Option<(usize, EntryRef<'d>)> {
        self.keys.borrow_mut().find(mapping, key)
    }

    /// The slots without the removed ones, so that positions count.
    pub(super) fn settled_slots(&mut self, collection: NodeRef<'d>) -> &mut Vec<Slot<'f>> {
        let gone = self.gone.remove(&collection.id).unwrap_or_default();
        let slots = self.slots(collection);
        take_out(slots, &gone);
        slots
    }

    pub(super) fn slots(&mut self, collection: NodeRef<'d>) -> &mut Vec<Slot<'f>> {
        let fresh = || {
            let count = collection.entries().count() + collection.items().count();
            Change::Slots((0..count).map(Slot::Kept).collect())
        };
        let change = self.changes.entry(collection.id).or_insert_with(fresh);
        if let Change::Replace(_) = change {
            *change = Change::Slots(Vec::new());
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
        let kind = collection.kind();
        let (fits, expected) = match slot.key {
            Some(_) => (kind.is_mapping(), "mapping"),
            None => (kind.is_sequence(), "sequence"),
        };
        let slot = self.new_slot(slot)?;
        if !fits && !is_empty(collection) {
            return Err(EditError::WrongKind {
                place: collection.path().to_string(),
                expected,
                found: collection.kind_name(),
            });
        }
        self.refuse(collection, || collection.shared_above())?;
        self.added += slot.length();
        match position {
            None => self.slots(collection).push(slot),
            Some(position) => {
                let slots = self.settled_slots(collection);
                slots.insert(position.min(slots.len()), slot);
            }
        }
        Ok(())
    }

    pub(super) fn new_slot(&self, slot: NewSlot<'f>) -> Result<Slot<'f>, EditError> {
        let content = readable(slot.content)?;
        let without = Arc::clone(&self.without);
        Ok(Slot::New(Box::new(NewSlot {
            content,
            without,
            ..slot
        })))
    }
}

/// Whether a node is an empty value, which can become a mapping or a sequence.
pub(super) fn is_empty(node: NodeRef<'_>) -> bool {
    matches!(node.kind(), NodeKind::Scalar(_)) && node.is_null()
}
