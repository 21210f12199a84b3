//! Slices of one shared buffer: the input is held once, whatever it is cut into.

use std::ops::{Deref, Range};
use std::sync::Arc;

/// A part of a buffer that is shared by all parts.
#[derive(Debug, Clone)]
pub struct Text {
    buffer: Arc<String>,
    range: Range<usize>,
}

impl Text {
    /// A part of this text.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let start = self.range.start + range.start;
        let end = self.range.start + range.end;
        Self {
            buffer: Arc::clone(&self.buffer),
            range: start..end,
        }
    }

    /// What stands between this text and a later one of the same buffer.
    #[must_use]
    pub(crate) fn until(&self, next: &Self) -> Self {
        Self {
            buffer: Arc::clone(&self.buffer),
            range: self.range.end..next.range.start,
        }
    }

    /// Grows to hold `next`, too, if that follows directly in the same buffer.
    pub(crate) fn extend_to(&mut self, next: &Self) -> bool {
        let follows = self.range.end == next.range.start;
        let joined = follows && Arc::ptr_eq(&self.buffer, &next.buffer);
        if joined {
            self.range.end = next.range.end;
        }
        joined
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        let range = 0..text.len();
        Self {
            buffer: Arc::new(text),
            range,
        }
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.buffer[self.range.clone()]
    }
}
