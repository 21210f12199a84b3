//! Keys, plain and quoted scalars of one line.

use memchr::{memchr, memchr2};

use super::search::colon_or_hash;
use super::{Awaited, Bail, Events, Line, Scalar, ScalarStyle, Scanner};

/// Limit of the bytes from the start of a key to its colon; YAML allows 1,024 characters.
pub(super) const MAX_KEY: usize = 1000;

/// Where a plain scalar ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// At the end of its line.
    Line,
    /// Before a comment.
    Comment,
    /// Before a colon that makes it a key.
    Colon(usize),
}

impl<E: Events> Scanner<'_, &mut E> {
    /// The key at `at`, and the offset of its colon; `None` if a value is there.
    #[inline]
    pub(super) fn key(&self, at: usize, line: Line) -> Result<Option<(Scalar, usize)>, Bail> {
        let (style, end, colon) = match self.bytes[at] {
            b'[' | b'{' | b'|' | b'>' => return Ok(None),
            quote @ (b'"' | b'\'') => {
                let Some(end) = self.closing(quote, at + 1, line.end)? else {
                    return Ok(None);
                };
                let colon = self.skip_spaces(end, line.end);
                if colon == line.end || !self.is_indicator(b':', colon, line.end) {
                    return Ok(None);
                }
                (quoted_style(quote), end, colon)
            }
            _ => match self.plain(at, line.end)? {
                (end, Stop::Colon(colon)) => (ScalarStyle::Plain, end, colon),
                _ => return Ok(None),
            },
        };
        if colon - at > MAX_KEY {
            return Err(Bail);
        }
        let key = Scalar {
            style,
            start: at,
            end,
            indicator: None,
            folded: false,
            indent: None,
        };
        Ok(Some((key, colon)))
    }

    /// Reads the value at `at`, after its indicator. Returns the start of the line to continue with.
    #[inline]
    pub(super) fn value(&mut self, at: usize, line: Line, awaited: Awaited) -> Result<usize, Bail> {
        let indicator = Some(awaited.indicator);
        let (mut last, mut folded) = (line, false);
        let (style, end) = match self.bytes[at] {
            b'|' | b'>' => return self.block_scalar(at, line, awaited),
            b'[' | b'{' => return self.flow_value(at, line, indicator, awaited.column + 1),
            quote @ (b'"' | b'\'') => {
                let end = match self.closing(quote, at + 1, line.end)? {
                    Some(end) => end,
                    None => {
                        folded = true;
                        let (end, line) = self.quoted_below(quote, line, awaited.column)?;
                        last = line;
                        end
                    }
                };
                (quoted_style(quote), end)
            }
            _ => {
                let (mut end, stop) = self.plain(at, line.end)?;
                if let Stop::Colon(_) = stop {
                    return Err(Bail);
                }
                if stop == Stop::Line
                    && self.may_go_on(line, awaited.column)
                    && let Some(below) = self.plain_below(line, awaited.column)?
                {
                    folded = true;
                    (end, last) = below;
                }
                (ScalarStyle::Plain, end)
            }
        };
        self.report_scalar(Scalar {
            style,
            start: at,
            end,
            indicator,
            folded,
            indent: None,
        })?;
        self.cursor = end;
        self.tail(end, last)?;
        Ok(last.next)
    }

    /// A plain scalar outside of flow collections: its end, and what ended it.
    #[inline(always)]
    fn plain(&self, start: usize, limit: usize) -> Result<(usize, Stop), Bail> {
        if !begins_plain(self.bytes[start]) && !self.begins_with_indicator(start, limit) {
            return Err(Bail);
        }
        self.plain_rest(start, limit)
    }

    /// Whether a plain scalar begins with `-`, `?` or `:`. A character other than white space must follow.
    fn begins_with_indicator(&self, start: usize, limit: usize) -> bool {
        matches!(self.bytes[start], b'-' | b'?' | b':')
            && !matches!(self.bytes[start..limit].get(1), None | Some(b' ' | b'\t'))
    }

    /// Like [`plain`](Self::plain), for the later lines of a scalar, which may begin with any byte.
    #[inline(always)]
    pub(super) fn plain_rest(&self, start: usize, limit: usize) -> Result<(usize, Stop), Bail> {
        let mut at = start;
        let (mut end, stop) = loop {
            let Some(found) = colon_or_hash(self.bytes, at, limit) else {
                break (limit, Stop::Line);
            };
            at = found;
            if self.bytes[at] == b':' {
                if at + 1 == limit || self.bytes[at + 1] == b' ' {
                    break (at, Stop::Colon(at));
                }
                if self.bytes[at + 1] == b'\t' {
                    return Err(Bail);
                }
            } else if at > start && self.bytes[at - 1] == b' ' {
                break (at, Stop::Comment);
            }
            at += 1;
        };
        while end > start && self.bytes[end - 1] == b' ' {
            end -= 1;
        }
        if self.tabs && memchr(b'\t', &self.bytes[start..end]).is_some() {
            return Err(Bail);
        }
        Ok((end, stop))
    }

    /// The offset after the closing quote of a scalar, from an offset within it; `None` if the quote is not on this
    /// line.
    #[inline]
    pub(super) fn closing(
        &self,
        quote: u8,
        from: usize,
        limit: usize,
    ) -> Result<Option<usize>, Bail> {
        match quote {
            b'"' => self.closing_double(from, limit),
            _ => Ok(self.closing_single(from, limit)),
        }
    }

    fn closing_single(&self, mut at: usize, limit: usize) -> Option<usize> {
        loop {
            at += memchr(b'\'', &self.bytes[at..limit])? + 1;
            if at == limit || self.bytes[at] != b'\'' {
                return Some(at);
            }
            at += 1;
        }
    }

    fn closing_double(&self, mut at: usize, limit: usize) -> Result<Option<usize>, Bail> {
        loop {
            let Some(found) = memchr2(b'"', b'\\', &self.bytes[at..limit]) else {
                return Ok(None);
            };
            at += found;
            // Escapes often follow each other, and a search takes longer than reading an escape.
            while at < limit && self.bytes[at] == b'\\' {
                at += super::decode::escape(&self.bytes[at..limit]).ok_or(Bail)?.1;
                // Folding keeps an escaped space at the end of a line, which the general parser handles.
                let is_white = |byte: &u8| matches!(byte, b' ' | b'\t');
                if self.bytes[at - 1] == b' ' && self.bytes[at..limit].iter().all(is_white) {
                    return Err(Bail);
                }
            }
            if at < limit && self.bytes[at] == b'"' {
                return Ok(Some(at + 1));
            }
        }
    }
}

pub(super) fn quoted_style(quote: u8) -> ScalarStyle {
    match quote {
        b'"' => ScalarStyle::DoubleQuoted,
        _ => ScalarStyle::SingleQuoted,
    }
}

/// Whether a plain scalar can begin with this byte, whatever follows (YAML 1.2.2, 7.3.3).
#[inline]
pub(super) fn begins_plain(byte: u8) -> bool {
    // A table, because this is checked for every key and every value.
    const BEGINS: [bool; 256] = {
        let mut begins = [true; 256];
        let mut others = b"-?:,[]{}#&*!|>'\"%@`\t".as_slice();
        while let [first, rest @ ..] = others {
            begins[*first as usize] = false;
            others = rest;
        }
        begins
    };
    BEGINS[usize::from(byte)]
}
