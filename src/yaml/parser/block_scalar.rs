//! Where a block scalar begins and ends, which the events do not tell.

use super::Builder;
use crate::yaml::lines::{block_indent, line_end, line_start, trim_break};

impl Builder<'_> {
    /// The `|` or `>` of a block scalar, from a place in or behind its header.
    pub(super) fn block_header(&self, within: usize) -> usize {
        let mut at = self.cursor;
        loop {
            at = self.skip_trivia(at);
            match self.bytes.get(at) {
                Some(b'|' | b'>') | None => return at.min(self.text.len()),
                // An anchor whose event has not come yet.
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
    pub(super) fn block_end(&self, header: usize, parsed_end: usize) -> usize {
        let header_end = line_end(self.bytes, header);
        let indicators = &self.bytes[header + 1..header_end];
        let keep = indicators.iter().take(2).any(|b| *b == b'+');
        let body = (header_end + 1).min(self.bytes.len());
        // The span can run into the indentation of the next token's line.
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
