//! Writes the comments around a value to the places that its new spelling has for them.
//!
//! ```yaml
//! a: value # comment
//! b: |     # comment
//!   text
//! c:       # comment
//! - item
//! d:       # two comments need
//!   # lines of their own
//!   value
//! ```

use super::{Cursor, Emitter, Tail};
use crate::comments::ValueComments;
use crate::format::Owner;

impl Emitter<'_> {
    /// Writes a value with the comments around it.
    pub(crate) fn with_comments(
        &mut self,
        comments: ValueComments<'_>,
        write: impl FnOnce(&mut Self) -> Tail,
    ) -> Tail {
        self.around = comments.into_owned();
        let tail = write(self);
        self.close_line();
        tail
    }

    /// Ends the line of a value with its remaining comment.
    pub(super) fn close_line(&mut self) {
        if let Some(comment) = self.around.tail.take() {
            self.comment(&comment);
        }
        debug_assert!(self.around.is_empty(), "a comment has no place");
    }

    /// Writes the comments around a block collection: the first one on the line of the indicator, the others on lines
    /// at a column.
    pub(crate) fn open_collection(&mut self, column: usize) {
        if self.around.is_empty() {
            return;
        }
        let around = std::mem::take(&mut self.around);
        let comments = around.head.iter().chain(&around.between);
        let mut comments = comments.chain(&around.tail);
        if let Some(first) = comments.next() {
            self.comment(first);
        }
        comments.for_each(|comment| self.whole_line(column, comment.trim()));
    }

    /// Writes the comments above the first entry or item of a block collection.
    pub(super) fn head(&mut self, lines: &[&str], column: usize) {
        if !lines.is_empty() {
            self.open_collection(column);
            lines.iter().for_each(|line| self.whole_line(column, line));
        }
    }

    /// Writes the comments above a value that is not a block, and keeps the one after it for the end of the line.
    pub(super) fn open_line(&mut self, owner: Owner) {
        let around = &mut self.around;
        if around.count() < 2 {
            around.tail = around.tail.take().or(around.head.take());
            around.tail = around.tail.take().or(around.between.pop());
            return;
        }
        let tail = around.tail.take();
        let column = owner.column() + self.format.step;
        self.open_collection(column);
        self.next_line(column);
        self.cursor = Cursor::Text;
        self.around.tail = tail;
    }

    /// Whether the header of a block scalar has room for the comments: it takes one.
    pub(super) fn fits_header(&self) -> bool {
        self.around.count() < 2
    }

    /// Writes the comment of the header after the indicators of a block scalar.
    pub(super) fn close_header(&mut self) {
        let around = std::mem::take(&mut self.around);
        let comments = around.head.iter().chain(&around.between);
        let comments = comments.chain(&around.tail);
        comments.for_each(|comment| self.comment(comment));
    }

    /// Writes a comment at the end of the line.
    fn comment(&mut self, comment: &str) {
        match self.cursor {
            Cursor::Text if comment.starts_with('#') => {
                self.out.push(' ');
                self.out.push_str(comment);
            }
            Cursor::Colon(_) | Cursor::Dash(_) if comment.starts_with('#') => self.inline(comment),
            // The comment includes the white space before it.
            Cursor::Text | Cursor::Colon(_) | Cursor::Dash(_) => self.out.push_str(comment),
            Cursor::LineStart => self.out.push_str(comment.trim_start()),
        }
        self.cursor = Cursor::Text;
    }
}
