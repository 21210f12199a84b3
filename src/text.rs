//! Slices of one shared buffer. The input is in memory once, however it is cut.

use std::borrow::Cow;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A part of a shared buffer.
#[derive(Debug, Clone)]
pub struct Text {
    buffer: Buffer,
    range: Range<usize>,
}

#[derive(Debug, Clone)]
enum Buffer {
    Shared(Arc<String>),
    /// The input of the process, which stays in memory until the end.
    Static(&'static str),
}

impl Buffer {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Shared(one), Self::Shared(other)) => Arc::ptr_eq(one, other),
            (Self::Static(one), Self::Static(other)) => std::ptr::eq(*one, *other),
            _ => false,
        }
    }
}

impl Text {
    /// A part of this text.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let start = self.range.start + range.start;
        let end = self.range.start + range.end;
        Self {
            buffer: self.buffer.clone(),
            range: start..end,
        }
    }

    /// Appends a text to others. Neighbours in a buffer become one slice.
    pub(crate) fn push(texts: &mut Vec<Self>, text: Self) {
        if !texts.last_mut().is_some_and(|last| last.extend_to(&text)) {
            texts.push(text);
        }
    }

    /// Extends the slice by `next` if that follows directly in the same buffer.
    fn extend_to(&mut self, next: &Self) -> bool {
        let follows = self.range.end == next.range.start;
        let joined = follows && self.buffer.is(&next.buffer);
        if joined {
            self.range.end = next.range.end;
        }
        joined
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::from(Cow::Borrowed(""))
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

impl From<String> for Text {
    fn from(text: String) -> Self {
        let range = 0..text.len();
        Self {
            buffer: Buffer::Shared(Arc::new(text)),
            range,
        }
    }
}

impl From<Cow<'static, str>> for Text {
    fn from(text: Cow<'static, str>) -> Self {
        match text {
            Cow::Owned(text) => Self::from(text),
            Cow::Borrowed(text) => Self {
                buffer: Buffer::Static(text),
                range: 0..text.len(),
            },
        }
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        let buffer = match &self.buffer {
            Buffer::Shared(text) => text.as_str(),
            Buffer::Static(text) => text,
        };
        &buffer[self.range.clone()]
    }
}
