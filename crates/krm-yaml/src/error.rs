//! Errors of reading and editing YAML.

use std::fmt;

use thiserror::Error;

/// Text that is not YAML, or YAML that no package may hold (duplicate keys, too deep).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ParseError {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// What was expected and what was found.
    pub message: String,
    /// Whether the text is not YAML at all. `false` for YAML that no package may hold.
    pub is_syntax: bool,
    /// Whether a mapping has a key twice.
    pub is_duplicate_key: bool,
}

impl ParseError {
    /// An error at a byte of the text.
    pub(super) fn at(text: &str, at: usize, message: String) -> Self {
        let Location { line, column } = Location::of(text, at);
        Self {
            line,
            column,
            message,
            is_syntax: false,
            is_duplicate_key: false,
        }
    }

    /// The error for a text that is not UTF-8.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let at = std::str::from_utf8(bytes).err()?.valid_up_to();
        // All bytes before `at` are valid UTF-8.
        let before = String::from_utf8_lossy(&bytes[..at]);
        let hint = match bytes {
            [0xfe, 0xff, ..] | [0xff, 0xfe, ..] => " (the text looks like UTF-16)",
            _ => "",
        };
        let message = format!("expected UTF-8, found the byte 0x{:02x}{hint}", bytes[at]);
        Some(Self {
            is_syntax: true,
            ..Self::at(&before, at, message)
        })
    }
}

/// Why an edit is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// An alias would read another value after the edit, and its old value cannot be written out in
    /// its place.
    #[error(
        "{place}: the value is shared through the anchor `&{anchor}`; write it out in full first"
    )]
    SharedAnchor {
        /// Path of the alias, or of the node to edit.
        place: String,
        /// Name of the anchor.
        anchor: String,
    },
    /// The edits of a run would add more bytes than the limit.
    #[error("the edits would add more than the limit (16 MB and the size of all inputs)")]
    TooLarge,
    /// The text, or the new content, has aliases that cannot be written out.
    #[error("{place}: the aliases expand to too many values, or refer to themselves")]
    Endless {
        /// Path of the node to edit, or of the content in the document that it comes from.
        place: String,
    },
    /// A mapping would have the same key twice, and the key is a collection.
    #[error("{place}: the mapping has the key {key} twice")]
    KeyTwice {
        /// Path of the mapping.
        place: String,
        /// The key, as JSON.
        key: String,
    },
    /// The place holds another kind of value than the edit needs.
    #[error("{place}: expected a {expected}, found {found}")]
    WrongKind {
        /// Path of the node.
        place: String,
        /// The kind that the edit needs.
        expected: &'static str,
        /// The kind that was found.
        found: &'static str,
    },
    /// Two changes of the text overlap. This is a bug of this program; the edit is refused so that neither change is
    /// lost.
    #[error("two edits overlap at byte {at} of the text, or lie outside of it")]
    Overlap {
        /// Byte offset in the text.
        at: usize,
    },
    /// The text after the edit does not parse. The original text is left unchanged.
    #[error("the edit would produce invalid YAML: {0}")]
    Broken(ParseError),
}

impl EditError {
    /// The same error with a place relative to a node of the document, given by its path.
    #[must_use]
    pub(super) fn seen_from(mut self, node: &str) -> Self {
        if let Self::SharedAnchor { place, .. } = &mut self
            && let Some(below) = place.strip_prefix(node)
        {
            *place = below.trim_start_matches('.').to_owned();
        }
        self
    }
}

/// A place in a text, for messages: `line 3, column 7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
}

impl Location {
    /// The place of a byte offset in a text.
    #[must_use]
    pub fn of(text: &str, offset: usize) -> Self {
        Self { line: 1, column: 1 }.after(&text.as_bytes()[..offset.min(text.len())])
    }

    /// The locations of the offsets 0, `step`, 2 * `step` and so on.
    pub(super) fn milestones(text: &str, step: usize) -> Vec<Self> {
        let start = Self { line: 1, column: 1 };
        let mut at = start;
        let pieces = text.as_bytes().chunks(step);
        let after = pieces.map(|piece| {
            at = at.after(piece);
            at
        });
        std::iter::once(start).chain(after).collect()
    }

    /// The location after `text`, if `text` begins at this location.
    pub(super) fn after(self, text: &[u8]) -> Self {
        let characters = |line: &[u8]| line.iter().filter(|b| **b & 0xC0 != 0x80).count();
        match memchr::memrchr(b'\n', text) {
            Some(last) => Self {
                line: self.line + memchr::memchr_iter(b'\n', text).count(),
                column: 1 + characters(&text[last + 1..]),
            },
            None => Self {
                line: self.line,
                column: self.column + characters(text),
            },
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}
