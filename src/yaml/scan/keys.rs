//! The keys of the open mappings: finds duplicate keys without a tree.

use memchr::memchr;

use super::{Bail, Scalar, ScalarStyle};
use crate::yaml::expand::MERGE_KEY;
use crate::yaml::scalar::{is_plain_string, may_be_special};
use crate::yaml::tree::offset;

/// Mappings up to this size are searched key by key, larger ones sorted at their end.
const SMALL: usize = 16;

/// Spreads what differs in fingerprints over the highest bits (Fibonacci hashing: 2^64 by the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The keys of all open mappings, the innermost last.
#[derive(Debug)]
pub(crate) struct OpenKeys {
    keys: Vec<ScannedKey>,
    open: Vec<OpenMapping>,
}

/// A mapping that has not ended yet.
#[derive(Debug, Clone, Copy)]
struct OpenMapping {
    /// Where its keys begin.
    start: usize,
    /// A bit for the fingerprint of each of them: a key whose bit is not there is a new one.
    seen: u64,
}

#[derive(Debug, Clone, Copy)]
struct ScannedKey {
    /// Length and last bytes: keys with different fingerprints differ.
    print: u64,
    start: u32,
    end: u32,
}

impl ScannedKey {
    fn text<'t>(&self, text: &'t str) -> &'t [u8] {
        &text.as_bytes()[self.start as usize..self.end as usize]
    }
}

impl Default for OpenKeys {
    /// With room for the open keys of a usual resource.
    fn default() -> Self {
        Self {
            keys: Vec::with_capacity(32),
            open: Vec::with_capacity(16),
        }
    }
}

impl OpenKeys {
    /// A mapping begins.
    pub(crate) fn open(&mut self) {
        let start = self.keys.len();
        self.open.push(OpenMapping { start, seen: 0 });
    }

    /// Adds a key to the innermost mapping; returns its text.
    ///
    /// # Errors
    /// A duplicate key, a key that needs unescaping, a key that may be equal to one of another spelling (null, a bool, most
    /// numbers), and a merge key.
    #[inline]
    pub(crate) fn add<'t>(&mut self, text: &'t str, key: &Scalar) -> Result<&'t [u8], Bail> {
        let source = &text.as_bytes()[key.start..key.end];
        let (inner, quote) = match key.style {
            ScalarStyle::Plain if has_one_spelling(text, key) => (source, 0),
            ScalarStyle::SingleQuoted => (without_quotes(source, b'\'')?, 1),
            ScalarStyle::DoubleQuoted => (without_quotes(source, b'\\')?, 1),
            _ => return Err(Bail),
        };
        let new = ScannedKey {
            print: print(text.as_bytes(), key.start + quote, inner.len()),
            start: offset(key.start + quote),
            end: offset(key.end - quote),
        };
        let open = self.open.last_mut().ok_or(Bail)?;
        let bit = 1 << (new.print.wrapping_mul(SPREAD) >> (u64::BITS - 6));
        if open.seen & bit != 0 {
            let siblings = &self.keys[open.start..];
            let twice = |other: &ScannedKey| other.print == new.print && other.text(text) == inner;
            if siblings.len() < SMALL && siblings.iter().any(twice) {
                return Err(Bail);
            }
        }
        open.seen |= bit;
        self.keys.push(new);
        Ok(inner)
    }

    /// The innermost mapping ends.
    ///
    /// # Errors
    /// A duplicate key.
    pub(crate) fn close(&mut self, text: &str) -> Result<(), Bail> {
        let start = self.open.pop().map_or(0, |open| open.start);
        let keys = &mut self.keys[start..];
        if keys.len() > SMALL {
            // By their fingerprints first: the texts lie far apart in memory.
            keys.sort_unstable_by(|a, b| {
                let texts = || a.text(text).cmp(b.text(text));
                a.print.cmp(&b.print).then_with(texts)
            });
            let mut pairs = keys.windows(2);
            if pairs.any(|pair| {
                pair[0].print == pair[1].print && pair[0].text(text) == pair[1].text(text)
            }) {
                return Err(Bail);
            }
        }
        self.keys.truncate(start);
        Ok(())
    }
}

/// Whether a plain key is equal to no key of another spelling: a string, but not the merge key, or a whole number as one usually
/// writes it. Most keys are words, which show it by their first byte.
#[inline]
fn has_one_spelling(text: &str, key: &Scalar) -> bool {
    match text.as_bytes()[key.start..key.end].first() {
        Some(first) if !may_be_special(*first) && *first != MERGE_KEY.as_bytes()[0] => true,
        _ => {
            let source = &text[key.start..key.end];
            (is_plain_string(source) && source != MERGE_KEY) || is_usual_number(source.as_bytes())
        }
    }
}

/// Whether these are the digits of a whole number, without zeros in front, and not so many that it has no value.
fn is_usual_number(text: &[u8]) -> bool {
    const MOST_DIGITS: usize = 18;
    let begins = matches!(text, [b'0'] | [b'1'..=b'9', ..]);
    begins && text.len() <= MOST_DIGITS && text.iter().all(u8::is_ascii_digit)
}

/// What is between quotes.
///
/// # Errors
/// A byte that begins an escape.
fn without_quotes(source: &[u8], escape: u8) -> Result<&[u8], Bail> {
    let inner = &source[1..source.len() - 1];
    match memchr(escape, inner) {
        None => Ok(inner),
        Some(_) => Err(Bail),
    }
}

/// The fingerprint of the key of a length at `start`.
#[inline]
fn print(text: &[u8], start: usize, length: usize) -> u64 {
    let last = length.min(8);
    let at = start + length - last;
    // A short key is looked at together with what follows it, and not much follows at the end of a text.
    let word = match text[at..].first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => {
            let bytes = text[at..at + last].iter().rev();
            bytes.fold(0, |word, byte| word << 8 | u64::from(*byte))
        }
    };
    let behind = u64::BITS - u8::BITS * offset(last);
    let word = word.checked_shl(behind).unwrap_or_default();
    word.wrapping_add((length as u64) << 56)
}

#[cfg(test)]
mod tests {
    use super::print;

    #[test]
    fn a_key_has_one_fingerprint_wherever_it_stands() {
        for length in 0..20 {
            let key = &"abcdefghijklmnopqrstuvwxyz"[..length];
            let prints = ["", ": 1", ": 123456789"].map(|behind| {
                let text = format!("- {key}{behind}");
                print(text.as_bytes(), 2, length)
            });
            assert!(prints.iter().all(|one| *one == prints[0]), "{key}");
        }
    }
}
