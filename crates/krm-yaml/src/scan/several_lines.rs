//! Plain and quoted scalars that continue below their first line, as tools wrap long descriptions (YAML 1.2.2, 7.3;
//! folding: 6.5).

use super::inline::Stop;
use super::{Bail, Events, Line, Scanner};

impl<E: Events> Scanner<'_, &mut E> {
    /// Whether the next line may belong to a plain scalar whose key or dash is at `column`. For
    /// most lines one byte shows that it does not. The caller decides about blank lines with white
    /// space.
    #[inline]
    pub(super) fn may_go_on(&self, line: Line, column: usize) -> bool {
        matches!(self.bytes.get(line.next), Some(b'\n' | b'\r'))
            || self.bytes.get(line.next + column) == Some(&b' ')
    }

    /// The next line that is not blank, and its first byte that is not a space.
    fn below(&self, mut line: Line) -> Option<(Line, usize)> {
        while line.next < self.bytes.len() {
            line = self.line(line.next);
            let first = self.skip_spaces(line.start, line.end);
            if first < line.end {
                return Some((line, first));
            }
        }
        None
    }

    /// The end and the last line of a plain scalar that continues below `line`; `None` if it does not.
    pub(super) fn plain_below(
        &self,
        mut line: Line,
        column: usize,
    ) -> Result<Option<(usize, Line)>, Bail> {
        let mut found = None;
        while let Some((below, first)) = self.below(line) {
            line = below;
            if first - line.start <= column || self.bytes[first] == b'#' {
                break;
            }
            let (end, stop) = self.plain_rest(first, line.end)?;
            if let Stop::Colon(_) = stop {
                return Err(Bail);
            }
            found = Some((end, line));
            if stop == Stop::Comment {
                break;
            }
        }
        Ok(found)
    }

    /// The end (after the closing quote) and the last line of a quoted scalar that `line` does not close. Its lines may
    /// also be at the column of its key or dash.
    pub(super) fn quoted_below(
        &self,
        quote: u8,
        mut line: Line,
        column: usize,
    ) -> Result<(usize, Line), Bail> {
        while let Some((below, first)) = self.below(line) {
            line = below;
            let marker = first == line.start && self.starts_marker(line);
            if first - line.start < column || marker || self.bytes[first] == b'\t' {
                return Err(Bail);
            }
            if let Some(end) = self.closing(quote, first, line.end)? {
                return Ok((end, line));
            }
        }
        Err(Bail)
    }
}
