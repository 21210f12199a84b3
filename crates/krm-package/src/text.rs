//! Slices of one shared buffer. The input is in memory once, however it is cut.

use std::ops::{Deref, Range};
use std::sync::Arc;

/// A part of a shared buffer.
#[derive(Debug, Clone, Default)]
pub struct Text {
    buffer: Arc<String>,
    range: Range<usize>,
}

impl Text {
    /// A part of this text.
    pub fn slice(&self, range: Range<usize>) -> Self {
        let start = self.range.start + range.start;
        let end = self.range.start + range.end;
        Self {
            buffer: self.buffer.clone(),
            range: start..end,
        }
    }

    /// The text before this part in the shared buffer.
    pub fn before(&self) -> &str {
        &self.buffer[..self.range.start]
    }

    /// Appends a text to others. Adjacent slices of one buffer are joined.
    pub fn push(texts: &mut Vec<Self>, text: Self) {
        if !texts.last_mut().is_some_and(|last| last.extend_to(&text)) {
            texts.push(text);
        }
    }

    /// Extends the slice by `next`, if it follows directly in the same buffer.
    fn extend_to(&mut self, next: &Self) -> bool {
        let follows = self.range.end == next.range.start;
        let joined = follows && Arc::ptr_eq(&self.buffer, &next.buffer);
        if joined {
            self.range.end = next.range.end;
        }
        joined
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        let is_same = self.range == other.range && Arc::ptr_eq(&self.buffer, &other.buffer);
        is_same || **self == **other
    }
}

impl Eq for Text {}

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
