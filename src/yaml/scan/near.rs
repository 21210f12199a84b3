//! Searches for what is usually near: eight bytes in one step.
//!
//! Lines, keys and values are so short that a search by vector instructions takes longer to begin than these to end.

use memchr::memchr2;

use crate::yaml::lines;

/// One in each byte.
const ONES: u64 = u64::from_le_bytes([1; 8]);
/// The highest bit of each byte.
const HIGHEST: u64 = ONES << 7;
const SPACES: u64 = ONES * b' ' as u64;
/// Words to look at before a search by vector instructions begins.
const NEAR: usize = 8;

/// The first line feed at or behind `at`, or the end of the text.
#[inline]
pub(in crate::yaml) fn line_end(bytes: &[u8], mut at: usize) -> usize {
    for _ in 0..NEAR {
        let Some(word) = word(bytes, at) else { break };
        let found = equal(word, b'\n');
        if found != 0 {
            return at + lowest(found);
        }
        at += 8;
    }
    lines::line_end(bytes, at)
}

/// The first byte from `at` on that is no space; at most `end`.
#[inline]
pub(super) fn skip_spaces(bytes: &[u8], mut at: usize, end: usize) -> usize {
    while at < end
        && let Some(word) = word(bytes, at)
    {
        let others = word ^ SPACES;
        if others != 0 {
            return end.min(at + lowest(others));
        }
        at += 8;
    }
    while at < end && bytes[at] == b' ' {
        at += 1;
    }
    at.min(end)
}

/// The first colon or hash from `at` on, before `end`.
#[inline]
pub(super) fn colon_or_hash(bytes: &[u8], mut at: usize, end: usize) -> Option<usize> {
    for _ in 0..NEAR {
        if at >= end {
            return None;
        }
        let Some(word) = word(bytes, at) else { break };
        let found = equal(word, b':') | equal(word, b'#');
        if found != 0 {
            return Some(at + lowest(found)).filter(|at| *at < end);
        }
        at += 8;
    }
    let rest = bytes.get(at..end)?;
    memchr2(b':', b'#', rest).map(|found| at + found)
}

/// Eight bytes, the first of them as the lowest; `None` where the text ends before.
#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*word))
}

/// A bit in the lowest byte of a word that is `byte`; none if there is no such byte.
#[inline]
fn equal(word: u64, byte: u8) -> u64 {
    // Zero where the bytes are equal. The subtraction borrows from the next byte only there, so that what lies above the
    // lowest equal byte may be wrong.
    let others = word ^ (ONES * u64::from(byte));
    others.wrapping_sub(ONES) & !others & HIGHEST
}

/// The lowest byte with a bit.
#[inline]
fn lowest(bits: u64) -> usize {
    (bits.trailing_zeros() / u8::BITS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of spaces, breaks, colons, hashes, letters and bytes next to them.
    fn texts() -> impl Iterator<Item = Vec<u8>> {
        let bytes = [
            b' ', b'!', b'\n', b'\x0b', b':', b';', b'#', b'"', b'a', 0x80, 0xba, 0xff,
        ];
        let mut state: u64 = 1;
        let mut next = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize
        };
        (0..3000).map(move |round| {
            // Mostly one byte, so that runs are long.
            let usual = bytes[next() % bytes.len()];
            let length = next() % 100;
            let seldom = 1 + round % 20;
            (0..length)
                .map(|_| {
                    if next() % seldom == 0 {
                        bytes[next() % bytes.len()]
                    } else {
                        usual
                    }
                })
                .collect()
        })
    }

    #[test]
    fn searches_find_what_a_loop_finds() {
        for text in texts() {
            let end = text.len();
            for at in 0..=end {
                let line = text[at..]
                    .iter()
                    .position(|byte| *byte == b'\n')
                    .map_or(end, |n| at + n);
                assert_eq!(line_end(&text, at), line, "{text:?} {at}");
                for end in [at, line, end] {
                    let part = &text[at..end];
                    let space = part
                        .iter()
                        .position(|byte| *byte != b' ')
                        .map_or(end, |n| at + n);
                    assert_eq!(skip_spaces(&text, at, end), space, "{text:?} {at} {end}");
                    let colon = part
                        .iter()
                        .position(|byte| matches!(byte, b':' | b'#'))
                        .map(|n| at + n);
                    assert_eq!(colon_or_hash(&text, at, end), colon, "{text:?} {at} {end}");
                }
            }
        }
    }
}
