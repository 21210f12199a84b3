//! Finds duplicate keys of the open mappings without a tree.

use memchr::memchr;

use super::{Bail, Scalar, ScalarStyle};
use crate::yaml::expand::MERGE_KEY;
use crate::yaml::scalar::{is_plain_string, may_be_special};
use crate::yaml::tree::offset;

/// In mappings up to this size, each new key is compared with the others. Larger mappings are sorted when they end.
const SMALL: usize = 16;

/// Spreads the differences of fingerprints over the highest bits (Fibonacci hashing: 2^64 divided by the golden ratio).
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
    /// Index of its first key.
    start: usize,
    /// A bit for the fingerprint of each key. A key whose bit is not set is new.
    seen: u64,
}

#[derive(Debug, Clone, Copy)]
struct ScannedKey {
    /// Fingerprint of length and last bytes. Keys with different fingerprints differ.
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
    /// With capacity for the open keys of a usual resource.
    fn default() -> Self {
        Self {
            keys: Vec::with_capacity(32),
            open: Vec::with_capacity(16),
        }
    }
}

impl OpenKeys {
    /// Begins a mapping.
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

    /// Ends the innermost mapping.
    ///
    /// # Errors
    /// A duplicate key.
    pub(crate) fn close(&mut self, text: &str) -> Result<(), Bail> {
        let start = self.open.pop().map_or(0, |open| open.start);
        let keys = &mut self.keys[start..];
        if keys.len() > SMALL {
            // Fingerprints are compared first, because the texts are far apart in memory.
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

/// Whether no other spelling equals this plain key: it is a string, but not the merge key, or an integer in its usual
/// spelling. Most keys are words, which their first byte shows.
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

/// Whether a text is a decimal integer without sign and leading zeros, and too short to overflow.
fn is_usual_number(text: &[u8]) -> bool {
    const MOST_DIGITS: usize = 18;
    let begins = matches!(text, [b'0'] | [b'1'..=b'9', ..]);
    begins && text.len() <= MOST_DIGITS && text.iter().all(u8::is_ascii_digit)
}

/// The text between quotes.
///
/// # Errors
/// [`Bail`] if the text has a byte that begins an escape.
fn without_quotes(source: &[u8], escape: u8) -> Result<&[u8], Bail> {
    let inner = &source[1..source.len() - 1];
    match memchr(escape, inner) {
        None => Ok(inner),
        Some(_) => Err(Bail),
    }
}

/// The fingerprint of the key of `length` bytes at `start`.
#[inline]
fn print(text: &[u8], start: usize, length: usize) -> u64 {
    let last = length.min(8);
    let at = start + length - last;
    // A short key is read together with the bytes after it. At the end of a text there may be too few of them.
    let word = match text[at..].first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => {
            let bytes = text[at..at + last].iter().rev();
            bytes.fold(0, |word, byte| word << 8 | u64::from(*byte))
        }
    };
    let after = u64::BITS - u8::BITS * offset(last);
    let word = word.checked_shl(after).unwrap_or_default();
    word.wrapping_add((length as u64) << 56)
}

#[cfg(test)]
mod tests {
    use super::print;

    #[test]
    fn a_key_has_one_fingerprint_at_every_position() {
        for length in 0..20 {
            let key = &"abcdefghijklmnopqrstuvwxyz"[..length];
            let prints = ["", ": 1", ": 123456789"].map(|after| {
                let text = format!("- {key}{after}");
                print(text.as_bytes(), 2, length)
            });
            assert!(prints.iter().all(|one| *one == prints[0]), "{key}");
        }
    }
}
