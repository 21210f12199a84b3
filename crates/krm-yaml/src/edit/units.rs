//! The lines that belong to each entry or item of a block collection.

use std::ops::Range;

use super::Editor;
use crate::children::Children;
use crate::comments::head_start;
use crate::node::NodeRef;

/// An entry or item in block style, and the lines that belong to it.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    /// Start of the first comment line directly above, or of the line of the key or dash. Equals `start` if other text
    /// precedes it on that line.
    pub(super) lines_start: usize,
    /// Offset of the key or dash.
    pub(super) start: usize,
    /// After the line break of the last line, or of the comments directly below that are indented deeper.
    pub(super) lines_end: usize,
    /// After deeper comments that follow blank lines, too. New units are inserted here.
    pub(super) below: usize,
    /// Whether only white space precedes `start` on its line.
    pub(super) own_line: bool,
    /// Node ids of the entry or item.
    pub(super) ids: Range<u32>,
}

/// A block collection whose units are rearranged.
pub(super) struct Block<'d> {
    pub(super) node: NodeRef<'d>,
    pub(super) children: Children<'d>,
    /// Column of the keys or dashes.
    pub(super) column: usize,
    /// Whether the first unit is after the dash of an item.
    pub(super) after_dash: bool,
    /// Whether any unit stays in its place.
    pub(super) any_stays: bool,
}

impl<'d> Editor<'d, '_> {
    /// An entry or item of a block collection with the lines that belong to it.
    pub(super) fn unit(&self, block: &Block<'d>, index: usize) -> Unit {
        let document = self.document;
        let range = block.children.range(index);
        let line = document.line_start(range.start);
        let own_line = document.text[line..range.start].bytes().all(|b| b == b' ');
        let lines_start = if own_line {
            let floor = match index.checked_sub(1) {
                Some(before) => self.lines_end(&block.children.range(before)).0,
                None => self.floor(block.node),
            };
            head_start(document, line, range.start - line, floor)
        } else {
            range.start
        };
        let (lines_end, below) = self.lines_end(&range);
        Unit {
            lines_start,
            start: range.start,
            lines_end,
            below,
            own_line,
            ids: block.children.ids(index),
        }
    }

    /// Where the lines of an entry or item end: without and with the deeper comments that follow blank lines.
    pub(super) fn lines_end(&self, range: &Range<usize>) -> (usize, usize) {
        let column = self.document.column(range.start);
        let end = self.after_line(range.end);
        let below = self.after_deeper_comments(end, column);
        // Comments directly below that are indented deeper belong to the unit.
        let end = match self.after_blank_lines(end) {
            at if at == end => self.after_adjoining_comments(end, below),
            _ => end,
        };
        (end, below)
    }
}
