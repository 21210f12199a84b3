//! Finds duplicate keys of the open mappings without a tree.

use std::hash::{BuildHasher, RandomState};

use memchr::memchr;

use super::{Bail, Scalar, ScalarStyle};
use crate::expand::MERGE_KEY;
use crate::scalar::Reading;

/// In mappings up to this size, each new key is compared with the others. The keys of larger ones are hashed when they
/// end.
const SMALL: usize = 16;

/// The keys of all open mappings, the innermost last.
#[derive(Debug, Default)]
pub(super) struct OpenKeys<'t> {
    keys: Vec<&'t [u8]>,
    /// The index of the first key of each mapping.
    starts: Vec<usize>,
}

impl<'t> OpenKeys<'t> {
    /// Begins a mapping.
    pub(super) fn open(&mut self) {
        self.starts.push(self.keys.len());
    }

    /// Adds a key to the innermost mapping; returns its text.
    ///
    /// # Errors
    /// A duplicate key, a key that needs unescaping, a key that may be equal to one of another spelling (null, a bool, most
    /// numbers), and a merge key.
    #[inline]
    pub(super) fn add(&mut self, text: &'t str, key: &Scalar) -> Result<&'t [u8], Bail> {
        let source = &text[key.start..key.end];
        let inner = match key.style {
            ScalarStyle::Plain if has_one_spelling(source) => source.as_bytes(),
            ScalarStyle::SingleQuoted => without_quotes(source.as_bytes(), b'\'')?,
            ScalarStyle::DoubleQuoted => without_quotes(source.as_bytes(), b'\\')?,
            _ => return Err(Bail),
        };
        let start = *self.starts.last().ok_or(Bail)?;
        let siblings = &self.keys[start..];
        if siblings.len() < SMALL && siblings.contains(&inner) {
            return Err(Bail);
        }
        self.keys.push(inner);
        Ok(inner)
    }

    /// Ends the innermost mapping.
    ///
    /// # Errors
    /// A duplicate key.
    pub(super) fn close(&mut self) -> Result<(), Bail> {
        let start = self.starts.pop().unwrap_or_default();
        let keys = &self.keys[start..];
        if keys.len() > SMALL {
            // If different keys had one hash, the general parser would compare them.
            let state = RandomState::new();
            let mut hashes: Vec<u64> = keys.iter().map(|key| state.hash_one(key)).collect();
            hashes.sort_unstable();
            if hashes.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(Bail);
            }
        }
        self.keys.truncate(start);
        Ok(())
    }
}

/// Whether no other spelling equals this plain key, to any reader: it is a string, but not the merge key, or an integer in
/// its usual spelling.
#[inline]
fn has_one_spelling(key: &str) -> bool {
    let is_string = |reading: Reading| reading.is_string(key);
    is_string(Reading::Core) && is_string(Reading::Kubernetes) && key != MERGE_KEY
        || is_usual_number(key.as_bytes())
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
