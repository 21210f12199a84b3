//! Flow collections, on one line or over several as JSON is printed.
//!
//! A line may end after an opening bracket or a comma, and before a closing bracket. Comments within, values on a line
//! below their key and commas at the start of a line are left to the general parser.

use super::inline::{MAX_KEY, begins_plain, quoted_style};
use super::{Bail, Events, Line, Scalar, ScalarStyle, Scanner};
use crate::yaml::tree::NodeKind;

/// Depth limit of nested flow collections.
const MAX_FLOW: u32 = u64::BITS;

/// The flow collections that are open.
#[derive(Clone, Copy, Default)]
struct Nesting {
    depth: u32,
    /// A bit for each collection, the innermost one lowest: whether it is a mapping.
    mappings: u64,
}

impl Nesting {
    fn enter(&mut self, mapping: bool) -> Result<(), Bail> {
        if self.depth == MAX_FLOW {
            return Err(Bail);
        }
        self.depth += 1;
        self.mappings = self.mappings << 1 | u64::from(mapping);
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
        self.mappings >>= 1;
    }

    fn in_mapping(self) -> bool {
        self.mappings & 1 == 1
    }

    fn kind(self) -> NodeKind {
        if self.in_mapping() {
            NodeKind::FlowMapping
        } else {
            NodeKind::FlowSequence
        }
    }

    fn closing(self) -> u8 {
        if self.in_mapping() { b'}' } else { b']' }
    }
}

impl<E: Events> Scanner<'_, &mut E> {
    /// Reads a flow collection from its bracket, and the rest of its last line. Returns the start of the line to
    /// continue with.
    ///
    /// Lines within must begin at column `least` or deeper.
    pub(super) fn flow_value(
        &mut self,
        start: usize,
        line: Line,
        indicator: Option<usize>,
        least: usize,
    ) -> Result<usize, Bail> {
        let (end, line) = self.flow(start, line, indicator, least)?;
        self.cursor = end;
        self.tail(end, line)?;
        Ok(line.next)
    }

    /// Reads a flow collection. Returns its end, and the line of its end.
    fn flow(
        &mut self,
        start: usize,
        mut line: Line,
        mut indicator: Option<usize>,
        least: usize,
    ) -> Result<(usize, Line), Bail> {
        let mut nesting = Nesting::default();
        let mut at = start;
        loop {
            // A node begins here.
            let mut entered = false;
            match self.bytes[at] {
                bracket @ (b'[' | b'{') => {
                    nesting.enter(bracket == b'{')?;
                    self.report_open(nesting.kind(), at, indicator)?;
                    at = self.flow_next(at + 1, &mut line, least)?;
                    entered = self.bytes[at] != nesting.closing();
                }
                _ => {
                    let (style, end) = self.flow_scalar(at, line.end)?;
                    self.report_scalar(Scalar {
                        style,
                        start: at,
                        end,
                        indicator,
                        folded: false,
                    })?;
                    at = end;
                }
            }
            // Collections end here, until a comma begins the next element.
            while !entered {
                at = self.skip_spaces(at, line.end);
                if at == line.end {
                    at = self.flow_next(at, &mut line, least)?;
                    if self.bytes[at] != nesting.closing() {
                        return Err(Bail);
                    }
                }
                match self.bytes[at] {
                    b',' => {
                        at = self.flow_next(at + 1, &mut line, least)?;
                        entered = true;
                    }
                    byte if byte == nesting.closing() => {
                        at += 1;
                        self.report_close(nesting.kind(), at)?;
                        nesting.leave();
                        if nesting.depth == 0 {
                            return Ok((at, line));
                        }
                    }
                    _ => return Err(Bail),
                }
            }
            indicator = None;
            if nesting.in_mapping() {
                let colon = self.flow_key(at, line.end)?;
                indicator = Some(colon);
                at = self.skip_spaces(colon + 1, line.end);
                if at == line.end {
                    return Err(Bail);
                }
            }
        }
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
