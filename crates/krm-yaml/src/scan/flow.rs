//! Flow collections, on one line or over several as JSON is printed.
//!
//! A line may end after an opening bracket or a comma, and before a closing bracket. Comments within, values on a line
//! below their key and commas at the start of a line are left to the general parser.

use super::inline::{MAX_KEY, begins_plain, quoted_style};
use super::{Bail, Events, Line, Scalar, ScalarStyle, Scanner};
use crate::tree::NodeKind;

impl<E: Events> Scanner<'_, &mut E> {
    /// Reads a flow collection from its bracket, and the rest of its last line. Returns the start of the line to
    /// continue with.
    ///
    /// Lines within must begin at column `least` or deeper.
    pub(super) fn flow_value(
        &mut self,
        start: usize,
        mut line: Line,
        indicator: Option<usize>,
        least: usize,
    ) -> Result<usize, Bail> {
        let end = self.flow_node(start, &mut line, indicator, least)?;
        self.cursor = end;
        self.tail(end, line)?;
        Ok(line.next)
    }

    /// Reads a flow collection, or a scalar within one; returns its end. `line` becomes the line of the end.
    fn flow_node(
        &mut self,
        start: usize,
        line: &mut Line,
        indicator: Option<usize>,
        least: usize,
    ) -> Result<usize, Bail> {
        let (kind, closing) = match self.bytes[start] {
            b'{' => (NodeKind::FlowMapping, b'}'),
            b'[' => (NodeKind::FlowSequence, b']'),
            _ => {
                let (style, end) = self.flow_scalar(start, line.end)?;
                self.report_scalar(Scalar {
                    style,
                    start,
                    end,
                    indicator,
                    folded: false,
                    indent: None,
                })?;
                return Ok(end);
            }
        };
        self.report_open(kind, start, indicator)?;
        let mut at = self.flow_next(start + 1, line, least)?;
        let mut is_closed = self.bytes[at] == closing;
        while !is_closed {
            let mut colon = None;
            if kind.is_mapping() {
                let after_key = self.flow_key(at, line.end)?;
                colon = Some(after_key);
                at = self.skip_spaces(after_key + 1, line.end);
                if at == line.end {
                    return Err(Bail);
                }
            }
            at = self.flow_node(at, line, colon, least)?;
            let is_last_on_line = self.skip_spaces(at, line.end) == line.end;
            at = self.flow_next(at, line, least)?;
            is_closed = self.bytes[at] == closing;
            if !is_closed {
                if self.bytes[at] != b',' || is_last_on_line {
                    return Err(Bail);
                }
                at = self.flow_next(at + 1, line, least)?;
            }
        }
        self.report_close(kind, at + 1)?;
        Ok(at + 1)
    }

    /// The first byte at or after `at` that is not white space, on this line or a later one.
    #[inline]
    fn flow_next(&self, at: usize, line: &mut Line, least: usize) -> Result<usize, Bail> {
        let mut at = self.skip_spaces(at, line.end);
        while at == line.end {
            if line.next == self.bytes.len() {
                return Err(Bail);
            }
            *line = self.line(line.next);
            at = self.skip_spaces(line.start, line.end);
            let column = at - line.start;
            let marker = || column == 0 && self.starts_marker(*line);
            if at < line.end && (column < least || marker()) {
                return Err(Bail);
            }
        }
        Ok(at)
    }

    /// Reads a key in braces; returns the offset of its colon.
    fn flow_key(&mut self, start: usize, limit: usize) -> Result<usize, Bail> {
        let (style, end) = self.flow_scalar(start, limit)?;
        let colon = self.skip_spaces(end, limit);
        let rest = &self.bytes[colon..limit];
        // After a quoted key, the value may follow immediately, as in JSON.
        let apart = style != ScalarStyle::Plain || rest.get(1) == Some(&b' ');
        if rest.first() != Some(&b':') || !apart || colon - start > MAX_KEY {
            return Err(Bail);
        }
        self.report_key(Scalar {
            style,
            start,
            end,
            indicator: None,
            folded: false,
            indent: None,
        })?;
        Ok(colon)
    }

    fn flow_scalar(&self, start: usize, limit: usize) -> Result<(ScalarStyle, usize), Bail> {
        match self.bytes[..limit].get(start) {
            Some(quote @ (b'"' | b'\'')) => {
                let end = self.closing(*quote, start + 1, limit)?;
                Ok((quoted_style(*quote), end.ok_or(Bail)?))
            }
            Some(_) => Ok((ScalarStyle::Plain, self.flow_plain(start, limit)?)),
            None => Err(Bail),
        }
    }

    /// The end of a plain scalar within brackets or braces.
    fn flow_plain(&self, start: usize, limit: usize) -> Result<usize, Bail> {
        let first = self.bytes[start];
        if !begins_plain(first) && first != b'-' {
            return Err(Bail);
        }
        let bytes = &self.bytes[..limit];
        if first == b'-' && matches!(bytes.get(start + 1), None | Some(b' ' | b',' | b']' | b'}')) {
            return Err(Bail);
        }
        let mut end = start;
        for at in start..limit {
            match bytes[at] {
                b',' | b']' | b'}' => break,
                b':' if matches!(bytes.get(at + 1), Some(b' ')) => break,
                b':' if matches!(
                    bytes.get(at + 1),
                    None | Some(b',' | b'[' | b']' | b'{' | b'}')
                ) =>
                {
                    return Err(Bail);
                }
                b'#' if bytes[at - 1] == b' ' => return Err(Bail),
                b'[' | b'{' | b'\t' => return Err(Bail),
                b' ' => {}
                _ => end = at + 1,
            }
        }
        Ok(end)
    }
}
