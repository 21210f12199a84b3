//! Block scalars: the header, and the lines that belong to the body (YAML 1.2.2, 8.1).

use super::{Awaited, Bail, Events, Line, Scalar, ScalarStyle, Scanner};

impl<E: Events> Scanner<'_, &mut E> {
    /// Reads a block scalar from its `|` or `>`. Returns the start of the line to continue with.
    pub(super) fn block_scalar(
        &mut self,
        start: usize,
        header: Line,
        awaited: Awaited,
    ) -> Result<usize, Bail> {
        let style = match self.bytes[start] {
            b'|' => ScalarStyle::Literal,
            _ => ScalarStyle::Folded,
        };
        let chomping = self.bytes[start + 1..header.end].first().copied();
        let indicators = usize::from(matches!(chomping, Some(b'+' | b'-')));
        // An indentation indicator is refused here, too.
        self.tail(start + 1 + indicators, header)?;
        let (end, next) = self.body(header.next, awaited.column, chomping == Some(b'+'))?;
        self.report_scalar(Scalar {
            style,
            start,
            end,
            indicator: Some(awaited.indicator),
            folded: false,
        })?;
        self.cursor = end;
        Ok(next)
    }

    /// The end of a body without its last line break, and the start of the line after it.
    fn body(&self, first: usize, owner: usize, keep: bool) -> Result<(usize, usize), Bail> {
        let bytes = self.bytes;
        // The column of the text, set by the first line that is not blank.
        let mut indent = None;
        let mut end = None;
        let mut at = first;
        while at < bytes.len() {
            let line = self.line(at);
            let text = self.skip_spaces(at, line.end);
            let column = text - at;
            if text == line.end {
                match indent {
                    // A line of spaces can be content, or an error.
                    None if column > 0 => return Err(Bail),
                    Some(indent) if keep || column > indent => end = Some(line.end),
                    _ => {}
                }
                // A blank line at the end of the text lacks its line break.
                if column > 0 && line.end == bytes.len() {
                    return Err(Bail);
                }
            } else {
                if indent.is_none() && column > owner && bytes[text] != b'\t' {
                    indent = Some(column);
                }
                match indent {
                    Some(indent) if column >= indent => end = Some(line.end),
                    _ if bytes[text] == b'\t' || (column > owner && bytes[text] != b'#') => {
                        return Err(Bail);
                    }
                    _ => break,
                }
            }
            at = line.next;
        }
        // Without content the scalar is only its header, which the general parser reads.
        end.filter(|_| indent.is_some())
            .map(|end| (end, at))
            .ok_or(Bail)
    }
}
