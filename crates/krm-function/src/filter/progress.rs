//! Progress lines on a terminal.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use super::arguments::{Arguments, ResultsFormat};
use crate::supplied::Progress;
use krm_package::escaped::{ShownLine, StandardStream};
use krm_package::test_switches::Switch;

/// Work that ends sooner shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);
/// The shortest time between two updates of the line.
const PACE: Duration = Duration::from_millis(100);
const STDERR: StandardStream = StandardStream::Error;

/// Whether progress is shown: on a terminal, unless it would disturb other output.
pub fn shows_progress(arguments: &Arguments) -> bool {
    !arguments.quiet
        && !arguments.verbose
        && !arguments.diff
        && arguments.output == ResultsFormat::Text
        && STDERR.is_terminal()
}

/// The progress callback of a search; `None` if standard error is not a terminal.
pub fn search_progress() -> Option<Progress> {
    STDERR.is_terminal().then_some(show_search)
}

/// Shows how many revisions a search for the original has compared; erases the line at the end.
pub(super) fn show_search(compared: usize, all: usize) {
    static LINE: OnceLock<ProgressLine> = OnceLock::new();
    let line = LINE.get_or_init(|| ProgressLine::new("Comparing revisions", all));
    if compared == all {
        line.erase();
    } else {
        line.show(compared, "");
    }
}

/// A progress line on a terminal for work of many steps. It appears after one second and is updated in place.
#[derive(Debug)]
pub struct ProgressLine {
    what: &'static str,
    steps: usize,
    begun: AtomicUsize,
    start: Instant,
    /// When the line was last written; `None` if it is not visible.
    written: Mutex<Option<Instant>>,
}

impl ProgressLine {
    /// A line for work of this many steps.
    pub fn new(what: &'static str, steps: usize) -> Self {
        Self {
            what,
            steps,
            begun: AtomicUsize::new(0),
            start: Instant::now(),
            written: Mutex::new(None),
        }
    }

    /// Records that the next step begins.
    pub fn step(&self, name: &str) {
        let before = self.begun.fetch_add(1, Ordering::Relaxed);
        self.show(before + 1, name);
    }

    fn show(&self, number: usize, name: &str) {
        let Ok(mut written) = self.written.lock() else {
            return;
        };
        let is_due = match *written {
            Some(last) => last.elapsed() >= PACE,
            None => self.start.elapsed() >= PATIENCE || Switch::Impatient.is_on(),
        };
        if !is_due {
            return;
        }
        if !STDERR.is_terminal() {
            return;
        }
        *written = Some(Instant::now());
        let name = if name.is_empty() {
            String::new()
        } else {
            format!(": {name}")
        };
        let left = self.steps.saturating_sub(number) as f64;
        let left = self.start.elapsed().mul_f64(left / number.max(1) as f64);
        let (what, steps, left) = (self.what, self.steps, left.as_secs());
        let line = format!("{what}{name} ({number} of {steps}, {left} s left)");
        STDERR.replace_line(&ShownLine::of(&[&line]));
    }

    fn erase(&self) {
        let written = self.written.lock().ok().and_then(|mut last| last.take());
        if written.is_some() {
            STDERR.erase_line();
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.erase();
    }
}
