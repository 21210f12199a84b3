//! A line of a gap, once it is decided that the merged text has it.

use crate::Side;

/// The side that added a merged line or entry; `None` if base has it.
pub(super) type AddedBy = Option<Side>;

/// A merged line that has no place yet.
#[derive(Debug)]
pub(super) struct MergedLine {
    pub(super) text: String,
    /// The side that added it; `None` for a line of base.
    pub(super) origin: AddedBy,
    /// The key of the entry or item that a side added it directly above.
    pub(super) above: Option<u64>,
}

impl MergedLine {
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}
