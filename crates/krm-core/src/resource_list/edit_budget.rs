//! How much the edits of one run may add. A small source that is copied to thousands of places, or aliases that have to
//! be written out, must not become gigabytes.
//!
//! Source: contract, Bad input.

use std::sync::atomic::{AtomicUsize, Ordering};

use krm_yaml::EditError;

/// Bytes that edits may add in addition to the size of all inputs.
pub const MOST_ADDED: usize = 16 << 20;

/// The bytes that edits may still add.
#[derive(Debug)]
pub(super) struct EditBudget(AtomicUsize);

impl EditBudget {
    /// No limit.
    pub(super) fn unlimited() -> Self {
        Self(AtomicUsize::new(usize::MAX))
    }

    /// The limit of a run with inputs of `length` bytes.
    pub(super) fn of_inputs(length: usize) -> Self {
        Self(AtomicUsize::new(length.saturating_add(MOST_ADDED)))
    }

    /// Takes the bytes of an edit.
    ///
    /// # Errors
    /// [`EditError::TooLarge`] if fewer bytes are left.
    pub(super) fn take(&self, bytes: usize) -> Result<(), EditError> {
        let take = |left: usize| left.checked_sub(bytes);
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.map(|_| ()).map_err(|_| EditError::TooLarge)
    }
}
