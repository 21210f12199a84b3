//! Writes new YAML text into one buffer, in a given format.
//!
//! Content is a value, or a node of another document. A node keeps its spelling and the comments within it; only its
//! indentation changes.
//!
//! ```yaml
//! metadata:
//!   labels:
//!     app: a
//! args:
//! - x
//! - {y: z}
//! ```

mod around;
mod document;
mod entries;
mod flow;
mod rendered;
mod transcribe;
mod value;

pub use document::content_text;
pub use document::document_text;
pub use document::node_text;
pub use document::to_block_text;
pub use document::value_text;
pub use document::with_comments_above;
pub(super) use rendered::Rendered;

use super::comments::{ValueComments, comments_above};
use super::content::Content;
use super::format::{Format, Owner};
use super::node::NodeRef;
use super::scalar::ScalarStyle;
use super::value::Value;

/// Writes YAML at the end of a text.
pub(super) struct Emitter<'o> {
    out: &'o mut String,
    format: Format,
    cursor: Cursor,
    /// Length of the text before anything was written.
    start: usize,
    /// Column of the content, if its first line was written after the dash of its owner.
    moved_up: Option<usize>,
    /// Comments around the value that is written next.
    around: ValueComments<'static>,
}

/// What was written last, which determines how the next text begins.
#[derive(Debug, Clone, Copy)]
enum Cursor {
    /// A line break, or the start of the text.
    LineStart,
    /// A dash. The next text follows after white space of this width; a collection begins on the same line.
    Dash(usize),
    /// A colon, or nothing at all. The next text follows after white space of this width; a collection begins on the
    /// next line.
    Colon(usize),
    Text,
}

/// Whether a comment can follow on the last line that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    /// The line ends a scalar or flow collection.
    Open,
    /// It belongs to a block scalar or block collection.
    Closed,
}

/// A state of the emitter to return to.
struct Checkpoint {
    length: usize,
    cursor: Cursor,
    moved_up: Option<usize>,
    around: ValueComments<'static>,
}

impl<'o> Emitter<'o> {
    /// An emitter that begins at the start of a line.
    pub(super) fn at_line_start(out: &'o mut String, format: Format) -> Self {
        Self::at_cursor(out, format, Cursor::LineStart)
    }

    fn at_cursor(out: &'o mut String, format: Format, cursor: Cursor) -> Self {
        let start = out.len();
        Self {
            out,
            format,
            cursor,
            start,
            moved_up: None,
            around: ValueComments::default(),
        }
    }

    /// Writes content in block style after the indicator of its owner, without a final line break.
    pub(super) fn content(&mut self, content: &Content<'_>, owner: Owner) -> Tail {
        match content {
            Content::Value(value) => self.value(value, owner),
            Content::Quoted(text) => self.string(text, ScalarStyle::SingleQuoted, owner),
            Content::Node(node) => self.node(*node, &[], owner),
            Content::Map(entries) if entries.is_empty() => {
                self.value(&Value::Mapping(Vec::new()), owner)
            }
            Content::Map(entries) => {
                let key = |emitter: &mut Self, key: &String, column| emitter.text_key(key, column);
                self.block_entries(entries, owner, key, Self::content);
                Tail::Closed
            }
            Content::Text(text) => {
                let Some(root) = text.root() else {
                    return self.value(&Value::Null, owner);
                };
                if let Some(lines) = text.lines_as_they_are() {
                    let column = owner.child(root.kind().is_sequence(), &self.format);
                    self.open_collection(column);
                    lines.for_each(|line| self.whole_line(column, line));
                    return Tail::Closed;
                }
                // The comments at the head of the text belong to its first entry.
                let first = root.entries().next().map(|entry| entry.key);
                let first = first.or(root.items().next());
                let first = first.filter(|_| root.kind().is_block_collection());
                let head = first.map(comments_above);
                self.node(root, &head.unwrap_or_default(), owner)
            }
        }
    }

    /// Writes a node with its spelling if possible, otherwise its value. `head` has the comments above its first line.
    fn node(&mut self, node: NodeRef<'_>, head: &[&str], owner: Owner) -> Tail {
        let checkpoint = self.checkpoint();
        let column = owner.child(node.kind().is_sequence(), &self.format);
        // A tag must be on the line of the indicator, so no comment may be written before it.
        if node.tag().is_none() {
            self.head(head, column);
        }
        if let Some(tail) = self.transcribe(node, owner) {
            return tail;
        }
        self.reset(checkpoint);
        self.head(head, column);
        self.value(&node.value().unwrap_or(Value::Null), owner)
    }

    /// Begins a line at a column, or continues after a dash.
    fn line(&mut self, column: usize) {
        match self.cursor {
            Cursor::LineStart => self.spaces(column),
            Cursor::Dash(gap) => {
                self.note_moved_up(column);
                self.spaces(gap);
            }
            Cursor::Colon(_) | Cursor::Text => self.next_line(column),
        }
        self.cursor = Cursor::Text;
    }

    fn next_line(&mut self, column: usize) {
        self.out.push_str(self.format.newline);
        self.spaces(column);
    }

    /// Writes a line; an empty one is not indented.
    fn whole_line(&mut self, column: usize, line: &str) {
        if line.is_empty() {
            return self.blank_line();
        }
        self.line(column);
        self.out.push_str(line);
    }

    fn blank_line(&mut self) {
        match self.cursor {
            Cursor::LineStart => return self.out.push_str(self.format.newline),
            // The line of the dash is the blank line.
            Cursor::Dash(_) => self.note_moved_up(0),
            Cursor::Colon(_) | Cursor::Text => self.out.push_str(self.format.newline),
        }
        self.cursor = Cursor::Text;
    }

    fn note_moved_up(&mut self, column: usize) {
        if self.out.len() == self.start {
            self.moved_up = Some(column);
        }
    }

    /// Begins text on the line of the indicator.
    fn gap(&mut self) {
        match self.cursor {
            Cursor::Dash(gap) | Cursor::Colon(gap) => self.spaces(gap),
            Cursor::LineStart | Cursor::Text => {}
        }
        self.cursor = Cursor::Text;
    }

    /// Writes text on the line of the indicator.
    fn inline(&mut self, text: &str) {
        if !text.is_empty() {
            self.gap();
            self.out.push_str(text);
        }
    }

    /// Writes a colon; its content follows after white space of a width.
    fn colon(&mut self, gap: usize) {
        self.out.push(':');
        self.cursor = Cursor::Colon(gap);
    }

    /// Writes a dash; its content follows after white space.
    fn dash(&mut self) {
        self.out.push('-');
        self.cursor = Cursor::Dash(self.format.dash.max(2) - 1);
    }

    /// Ends an entry or item. The next one then begins on a new line, even after an empty one.
    fn end_part(&mut self) {
        self.cursor = Cursor::Text;
    }

    fn spaces(&mut self, count: usize) {
        self.out.extend(std::iter::repeat_n(' ', count));
    }

    fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            length: self.out.len(),
            cursor: self.cursor,
            moved_up: self.moved_up,
            around: self.around.clone(),
        }
    }

    fn reset(&mut self, checkpoint: Checkpoint) {
        self.out.truncate(checkpoint.length);
        (self.cursor, self.moved_up) = (checkpoint.cursor, checkpoint.moved_up);
        self.around = checkpoint.around;
    }
}

/// Whether a key needs a question mark: readers search for its colon only in the next 1024 characters or bytes (YAML
/// 1.2.2, 7.4.2).
pub(super) fn is_long(key: &str) -> bool {
    key.len() > 1000
}
