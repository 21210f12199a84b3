//! Scalars, and their positions, which the events lack for block scalars and empty ones.

use granit_parser::{ScalarStyle as Style, Span};

use super::Builder;
use crate::error::ParseError;
use crate::lines::{block_indent, line_end, line_start, trim_break};
use crate::scalar::ScalarStyle;
use crate::tree::{NONE, NodeId, NodeKind, offset};

impl Builder<'_> {
    pub(super) fn scalar(
        &mut self,
        value: &str,
        style: Style,
        span: &Span,
        range: std::ops::Range<usize>,
    ) -> Result<(), ParseError> {
        let kind = NodeKind::Scalar(match style {
            Style::Plain => ScalarStyle::Plain,
            Style::SingleQuoted => ScalarStyle::SingleQuoted,
            Style::DoubleQuoted => ScalarStyle::DoubleQuoted,
            Style::Literal => ScalarStyle::Literal,
            Style::Folded => ScalarStyle::Folded,
        });
        let id = self.begin(kind, Some(span))?;
        let block = matches!(style, Style::Literal | Style::Folded);
        let (start, end) = if block {
            let start = self.block_header(range.start);
            (start, self.block_end(start, range.end))
        } else if range.is_empty() {
            let at = self.empty_place(id);
            (at, at)
        } else {
            let plain = &self.bytes[range.clone()];
            let kept = plain.len()
                - plain
                    .iter()
                    .rev()
                    .take_while(|b| b" \t\r\n".contains(b))
                    .count();
            (
                range.start,
                if style == Style::Plain {
                    range.start + kept
                } else {
                    range.end
                },
            )
        };
        if style == Style::Plain
            && let Some(at) = comment_in(&self.bytes[start..end])
        {
            // The parser accepts some of these.
            let message = "expected a new entry or item, found text that a comment cut off";
            return Err(self.syntax_error(start + at, message));
        }
        let mut value = value;
        if block && end == self.text.len() && !self.text.ends_with('\n') {
            // Without a line break there is none to keep (YAML 1.2.2, 8.1.1.2), but the parser adds one.
            value = value.strip_suffix('\n').unwrap_or(value);
            self.tree.unterminated = Some(NodeId(id));
        }
        let empty = start == end;
        let node = &mut self.tree.nodes[id as usize];
        (node.start, node.end) = (offset(start), offset(end));
        if !empty && self.text.get(start..end) != Some(value) {
            self.tree.add_decoded(self.text, value.into());
        }
        self.cursor = end.max(self.cursor);
        self.grow_parent_start(id);
        Ok(())
    }

    /// The position of an empty scalar: after its indicator; for an empty key, at its colon.
    fn empty_place(&self, id: u32) -> usize {
        let node = &self.tree.nodes[id as usize];
        let is_key = self.open.last().is_some_and(|open| {
            !open.at_key && self.tree.nodes[open.node as usize].kind.is_mapping()
        });
        if is_key && node.indicator == NONE {
            self.skip_trivia(self.cursor)
        } else {
            self.cursor
        }
    }

    /// The offset of the `|` or `>` of a block scalar. `within` is in or after its header.
    fn block_header(&self, within: usize) -> usize {
        let mut at = self.cursor;
        loop {
            at = self.skip_trivia(at);
            match self.bytes.get(at) {
                Some(b'|' | b'>') | None => return at.min(self.text.len()),
                // An anchor or tag whose event has not come yet.
                Some(b'&' | b'!') => {
                    at += self.bytes[at..]
                        .iter()
                        .take_while(|b| !b" \t\r\n".contains(b))
                        .count();
                }
                Some(_) => return at.min(within),
            }
        }
    }

    /// The end of a block scalar's content, before its last line break.
    fn block_end(&self, header: usize, parsed_end: usize) -> usize {
        let header_end = line_end(self.bytes, header);
        let indicators = &self.bytes[header + 1..header_end];
        let keep = indicators.iter().take(2).any(|b| *b == b'+');
        let body = (header_end + 1).min(self.bytes.len());
        // The span can extend into the indentation of the next token's line.
        let mut end = parsed_end.max(body).min(self.bytes.len());
        if end < self.bytes.len() || !self.text.ends_with('\n') {
            let line = line_start(self.bytes, end);
            if line >= body
                && self.bytes[line..end].iter().all(|b| *b == b' ')
                && end < self.bytes.len()
            {
                end = line;
            }
        }
        let lines = &self.bytes[body..end];
        let indent = block_indent(lines);
        if !keep {
            while end > body {
                let line = line_start(self.bytes, end - 1);
                let content = trim_break(&self.bytes[line..end]);
                if content.len() > indent || content.iter().any(|b| *b != b' ') {
                    break;
                }
                end = line;
            }
        }
        if end <= body {
            // No content: the scalar is its header, without a comment there.
            let digits = indicators
                .iter()
                .take_while(|b| b"+-123456789".contains(b))
                .count();
            return header + 1 + digits;
        }
        end - (self.bytes[body..end].len() - trim_break(&self.bytes[body..end]).len())
    }
}

/// The offset of a comment between the lines of a plain scalar, which ends the scalar (YAML 1.2.2, 6.7).
fn comment_in(plain: &[u8]) -> Option<usize> {
    memchr::memchr(b'\n', plain)?;
    let mut signs = memchr::memchr_iter(b'#', plain);
    signs.find(|at| *at > 0 && b" \t\n".contains(&plain[at - 1]))
}
