//! Exit codes.

pub(crate) const DONE: u8 = 0;
/// Conflicts are undecided, or a result is an error.
pub(crate) const OPEN: u8 = 1;
/// Wrong usage or input; Git failed.
pub(crate) const USAGE: u8 = 2;
/// A newer release exists.
pub(crate) const NEWER: u8 = 3;

/// [`OPEN`] if something is undecided or an error, otherwise [`DONE`].
pub(crate) fn open_if(is_open: bool) -> u8 {
    if is_open { OPEN } else { DONE }
}
