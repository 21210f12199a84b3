//! Lines around a node: their breaks, indentation, blank lines and comments.

use std::ops::Range;

use super::Editor;
use crate::document::Document;
use crate::lines::newline_at;
use crate::node::NodeRef;

/// Columns that the lines of a block scalar are indented by; `None` if it has no lines with text.
pub(crate) fn body_indent(node: NodeRef<'_>) -> Option<usize> {
    let mut lines = node.source().split('\n').skip(1);
    lines.find(|line| !line.trim().is_empty()).map(indent_of)
}

pub(super) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// The end of the line of `at`, before its LF or CRLF.
pub(super) fn break_at(document: Document<'_>, at: usize) -> usize {
    let end = document.line_end(at);
    if end > at && document.text.as_bytes()[end - 1] == b'\r' {
        end - 1
    } else {
        end
    }
}

impl<'d> Editor<'d, '_> {
    /// The end of the comment lines below `from` that are indented deeper than `column`, with the blank lines between
    /// them. `from` must be the start of a line.
    pub(super) fn after_deeper_comments(&self, from: usize, column: usize) -> usize {
        let document = self.document;
        let mut after = from;
        let mut at = self.after_blank_lines(from);
        while at < document.text.len() {
            let indent = indent_of(&document.text[at..document.line_end(at)]);
            if indent <= column || document.comment_at(at + indent).is_none() {
                break;
            }
            after = self.after_line(at);
            at = self.after_blank_lines(after);
        }
        after
    }

    /// The indentation that a block scalar ending at `from` must exceed, so that the blank lines from `from` on, and a
    /// comment after them, do not become part of its text. A comment becomes part of it if it is indented as deep as
    /// the scalar's lines. A blank line does if it is deeper or contains a tab, so spaces alone count one less.
    pub(super) fn indent_below(&self, from: usize) -> usize {
        let document = self.document;
        let comment = self.after_blank_lines(from).min(document.text.len());
        let blank = document.text.get(from..comment).unwrap_or_default();
        let depth = |line: &str| match indent_of(line) {
            indent if line.contains('\t') => indent,
            indent => indent.saturating_sub(1),
        };
        let blank = blank.lines().map(depth).max();
        let indent = indent_of(&document.text[comment..document.line_end(comment)]);
        let comment = document.comment_at(comment + indent).map_or(0, |_| indent);
        blank.unwrap_or(0).max(comment)
    }

    /// The start of the first blank line from `from` on, or `end`.
    pub(super) fn after_adjoining_comments(&self, from: usize, end: usize) -> usize {
        let mut at = from;
        while at < end && self.after_blank_lines(at) == at {
            at = self.after_line(at);
        }
        at
    }

    pub(super) fn after_blank_lines(&self, from: usize) -> usize {
        let text = self.document.text;
        let mut at = from;
        while at < text.len() {
            let end = self.document.line_end(at);
            if end == text.len() || !text[at..end].trim().is_empty() {
                break;
            }
            at = end + 1;
        }
        at
    }

    /// The end of the line of `at`, after its line break. For the last line, this includes the line break that it gets
    /// during the edit.
    pub(super) fn after_line(&self, at: usize) -> usize {
        let text = self.document.text;
        let end = self.document.line_end(at);
        if end < text.len() {
            end + 1
        } else {
            end + newline_at(text, end).len()
        }
    }

    pub(super) fn with_space_before(&self, range: Range<usize>) -> Range<usize> {
        let before = &self.document.text[..range.start];
        let blank = before.len() - before.trim_end_matches([' ', '\t']).len();
        range.start - blank..range.end
    }

    /// The first offset at which comments above the first unit of a block collection can begin.
    pub(super) fn floor(&self, node: NodeRef<'d>) -> usize {
        let document = self.document;
        if let Some(indicator) = node.indicator() {
            return (document.line_end(indicator) + 1).min(node.range().start);
        }
        if node.parent().is_some() {
            return 0;
        }
        let documents = &document.tree.documents;
        let index = documents.partition_point(|d| d.root.0 <= node.id.0);
        let body = documents.get(index.saturating_sub(1)).map_or(0, |d| d.body);
        if document.line_start(body) == body {
            body
        } else {
            (document.line_end(body) + 1).min(node.range().start)
        }
    }
}
