//! What stands on one line: keys, plain and quoted scalars.

use memchr::{memchr, memchr2};

use super::{Awaited, Bail, Events, Line, Scalar, ScalarStyle, Scanner};

/// Bytes from the start of a key to its colon; YAML allows 1,024 characters.
pub(super) const MAX_KEY: usize = 1000;

/// Where a plain scalar ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// At the end of its line.
    Line,
    /// Before a comment.
    Comment,
    /// Before a colon that makes it a key.
    Colon(usize),
}

impl<E: Events> Scanner<'_, &mut E> {
    /// The key at `at` with its colon; `None` if there is a value.
    #[inline]
    pub(super) fn key(&self, at: usize, line: Line) -> Result<Option<(Scalar, usize)>, Bail> {
        let (style, end, colon) = match self.bytes[at] {
            b'[' | b'{' | b'|' | b'>' => return Ok(None),
            quote @ (b'"' | b'\'') => {
                let end = self.quoted(at, line.end)?;
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
            mark: None,
        };
        Ok(Some((key, colon)))
    }

    /// A value that begins at `at`, behind its indicator. Gives the line to go on with.
    #[inline]
    pub(super) fn value(&mut self, at: usize, line: Line, awaited: Awaited) -> Result<usize, Bail> {
        let mark = Some(awaited.mark);
        let (style, end) = match self.bytes[at] {
            b'|' | b'>' => return self.block_scalar(at, line, awaited),
            b'[' | b'{' => return self.flow_value(at, line, mark, awaited.column + 1),
            quote @ (b'"' | b'\'') => (quoted_style(quote), self.quoted(at, line.end)?),
            _ => match self.plain(at, line.end)? {
                (_, Stop::Colon(_)) => return Err(Bail),
                (end, _) => (ScalarStyle::Plain, end),
            },
        };
        self.events.scalar(Scalar {
            style,
            start: at,
            end,
            mark,
        })?;
        self.cursor = end;
        self.tail(end, line)?;
        Ok(line.next)
    }

    /// A plain scalar outside of flow collections: its end, and what ended it.
    #[inline]
    fn plain(&self, start: usize, limit: usize) -> Result<(usize, Stop), Bail> {
        let first = self.bytes[start];
        if !begins_plain(first) {
            return Err(Bail);
        }
        if matches!(first, b'-' | b'?' | b':') {
            match self.bytes[start..limit].get(1) {
                None | Some(b' ' | b'\t') => return Err(Bail),
                Some(_) => {}
            }
        }
        let mut at = start;
        let (mut end, stop) = loop {
            let Some(found) = colon_or_hash(&self.bytes[at..limit]) else {
                break (limit, Stop::Line);
            };
            at += found;
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

    /// The end of a quoted scalar, behind the closing quote.
    #[inline]
    pub(super) fn quoted(&self, start: usize, limit: usize) -> Result<usize, Bail> {
        match self.bytes[start] {
            b'"' => self.double_quoted(start, limit),
            _ => self.single_quoted(start, limit),
        }
    }

    fn single_quoted(&self, start: usize, limit: usize) -> Result<usize, Bail> {
        let mut at = start + 1;
        loop {
            at += memchr(b'\'', &self.bytes[at..limit]).ok_or(Bail)? + 1;
            if at == limit || self.bytes[at] != b'\'' {
                return Ok(at);
            }
            at += 1;
        }
    }

    fn double_quoted(&self, start: usize, limit: usize) -> Result<usize, Bail> {
        let mut at = start + 1;
        loop {
            at += memchr2(b'"', b'\\', &self.bytes[at..limit]).ok_or(Bail)?;
            // Escapes often come together, and a search for each takes longer than its escape.
            while at < limit && self.bytes[at] == b'\\' {
                at += super::decode::escape(&self.bytes[at..limit]).ok_or(Bail)?.1;
            }
            if at < limit && self.bytes[at] == b'"' {
                return Ok(at + 1);
            }
        }
    }
}

/// Most keys and values are so short that a loop finds their end before a search has begun.
const SHORT: usize = 16;

#[inline]
fn colon_or_hash(bytes: &[u8]) -> Option<usize> {
    let (near, far) = bytes.split_at(bytes.len().min(SHORT));
    let found = near.iter().position(|byte| matches!(byte, b':' | b'#'));
    found.or_else(|| memchr2(b':', b'#', far).map(|at| SHORT + at))
}

pub(super) fn quoted_style(quote: u8) -> ScalarStyle {
    match quote {
        b'"' => ScalarStyle::DoubleQuoted,
        _ => ScalarStyle::SingleQuoted,
    }
}

/// Whether a plain scalar can begin with this byte (YAML 1.2.2, 7.3.3).
#[inline]
pub(super) fn begins_plain(byte: u8) -> bool {
    !matches!(
        byte,
        b',' | b'['
            | b']'
            | b'{'
            | b'}'
            | b'#'
            | b'&'
            | b'*'
            | b'!'
            | b'|'
            | b'>'
            | b'\''
            | b'"'
            | b'%'
            | b'@'
            | b'`'
            | b'\t'
    )
}
