//! What a slow command is doing, for a person who waits.

use std::fmt;

use krm_package::escaped::{ShownLine, StandardStream};

const STDERR: StandardStream = StandardStream::Error;

/// Reports a slow operation on standard error, if that is a terminal.
pub(crate) fn progress(what: fmt::Arguments<'_>) {
    if STDERR.is_terminal() {
        // A closed standard error cannot be reported.
        let _ = STDERR.print_line(&ShownLine::of(&[&what, &" ..."]));
    }
}
