//! How much the edits of one run may add: a small source that is copied to thousands of places, or
//! aliases that have to be written out, must not become gigabytes.
//!
//! Source: contract, Bad input.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::yaml::EditError;

/// Bytes that edits may add in addition to as many as all inputs have.
pub(crate) const MOST_ADDED: usize = 16 << 20;

/// The bytes that edits may still add.
#[derive(Debug)]
pub(super) struct Room(AtomicUsize);

impl Room {
    /// Room for any edit.
    pub(super) fn unlimited() -> Self {
        Self(AtomicUsize::new(usize::MAX))
    }

    /// Room for edits of a run with inputs of so many bytes.
    pub(super) fn of_inputs(length: usize) -> Self {
        Self(AtomicUsize::new(length.saturating_add(MOST_ADDED)))
    }

    /// Takes room for an edit.
    ///
    /// # Errors
    /// [`EditError::TooLarge`] if there is not that much.
    pub(super) fn take(&self, bytes: usize) -> Result<(), EditError> {
        let take = |left: usize| left.checked_sub(bytes);
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.map(|_| ()).map_err(|_| EditError::TooLarge)
    }
}
