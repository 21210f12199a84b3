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
        let BlockHeader {
            length,
            keep,
            width,
        } = BlockHeader::read(&self.bytes[start + 1..header.end]);
        self.tail(start + 1 + length, header)?;
        let indent = match width {
            // How deep the item of a sequence is depends on what is around the sequence.
            Some(_) if awaited.dash => return Err(Bail),
            Some(width) => Some(awaited.column + width),
            None => None,
        };
        let (end, next) = self.body(header.next, awaited.column, indent, keep)?;
        self.report_scalar(Scalar {
            style,
            start,
            end,
            indicator: Some(awaited.indicator),
            folded: false,
            indent,
        })?;
        self.cursor = end;
        Ok(next)
    }

    /// The end of a body without its last line break, and the start of the line after it. `indent` is the column of the
    /// text, if the header says it.
    fn body(
        &self,
        first: usize,
        owner: usize,
        mut indent: Option<usize>,
        keep: bool,
    ) -> Result<(usize, usize), Bail> {
        let bytes = self.bytes;
        let is_given = indent.is_some();
        let (mut end, mut is_empty) = (None, true);
        let mut at = first;
        while at < bytes.len() {
            let line = self.line(at);
            let text = self.skip_spaces(at, line.end);
            let column = text - at;
            if text == line.end {
                match indent {
                    // A line of spaces can be content, or an error.
                    None if column > 0 => return Err(Bail),
                    Some(indent) if is_given && column > indent => return Err(Bail),
                    Some(indent) if keep || column > indent => end = Some(line.end),
                    _ => {}
                }
                // A blank line at the end of the text lacks its line break.
                if column > 0 && line.end == bytes.len() {
                    return Err(Bail);
                }
            } else {
                // Without one in the header, the first line that is not blank sets the column.
                if indent.is_none() && column > owner && bytes[text] != b'\t' {
                    indent = Some(column);
                }
                match indent {
                    Some(indent) if column >= indent => (end, is_empty) = (Some(line.end), false),
                    _ if bytes[text] == b'\t' || (column > owner && bytes[text] != b'#') => {
                        return Err(Bail);
                    }
                    _ => break,
                }
            }
            at = line.next;
        }
        // Without content the scalar is only its header, which the general parser reads.
        end.filter(|_| !is_empty).map(|end| (end, at)).ok_or(Bail)
    }
}

/// What follows the `|` or `>`: `-`, `+`, and the indentation of the text, in any order.
struct BlockHeader {
    length: usize,
    keep: bool,
    /// The columns from the owner of the scalar to the text.
    width: Option<usize>,
}

impl BlockHeader {
    fn read(bytes: &[u8]) -> Self {
        let mut header = Self {
            length: 0,
            keep: false,
            width: None,
        };
        let mut has_chomping = false;
        for byte in bytes.iter().take(2) {
            match byte {
                b'+' | b'-' if !has_chomping => {
                    has_chomping = true;
                    header.keep = *byte == b'+';
                }
                b'1'..=b'9' if header.width.is_none() => {
                    header.width = Some(usize::from(byte - b'0'));
                }
                _ => break,
            }
            header.length += 1;
        }
        header
    }
}
