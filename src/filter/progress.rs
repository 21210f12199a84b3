//! Progress lines on a terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::arguments::{Arguments, Output};
use crate::supplied::Progress;
use crate::test_switches::Switch;

/// A search that ends sooner shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often a line is written at most.
const PACE: Duration = Duration::from_millis(100);

/// When the next line may be written; `None` before the start of the search.
static NEXT: Mutex<Option<Instant>> = Mutex::new(None);

/// Whether standard error is a terminal that progress lines do not disturb.
pub(super) fn is_shown(arguments: &Arguments) -> bool {
    !arguments.quiet
        && !arguments.verbose
        && !arguments.diff
        && arguments.output == Output::Text
        && io::stderr().is_terminal()
}

/// Progress of a search, if standard error is a terminal.
#[must_use]
pub fn search_progress() -> Option<Progress> {
    io::stderr().is_terminal().then_some(show_search)
}

/// Shows how many revisions a search for the original has compared, and removes the line at its end.
pub(super) fn show_search(compared: usize, all: usize) {
    const ERASE: &str = "\r\x1b[K";
    let Ok(mut next) = NEXT.lock() else { return };
    let now = Instant::now();
    let patience = if Switch::Impatient.is_on() {
        Duration::ZERO
    } else {
        PATIENCE
    };
    let due = *next.get_or_insert(now + patience);
    // A terminal that cannot be written to misses only the progress.
    let mut stderr = io::stderr().lock();
    if compared == all {
        let _ = write!(stderr, "{ERASE}");
    } else if now >= due {
        *next = Some(now + PACE);
        let _ = write!(stderr, "{ERASE}compared {compared} of {all} revisions");
        let _ = stderr.flush();
    }
}
