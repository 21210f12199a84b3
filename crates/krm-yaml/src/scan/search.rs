//! Searches for bytes that are usually near, with sixteen bytes in one step.
//!
//! Lines, keys and values are short. The searches of memchr first choose their instructions, and starting one takes
//! longer than a whole search here.

use memchr::memchr2;
use wide::u8x16;

use crate::lines;

/// Bytes that are compared in one step.
const STEP: usize = 16;
/// Steps before the search continues with memchr.
const NEAR: usize = 6;

/// The first line feed at or after `at`, or the end of the text.
#[inline]
pub(crate) fn line_end(bytes: &[u8], mut at: usize) -> usize {
    for _ in 0..NEAR {
        let Some(step) = step(bytes, at) else { break };
        let found = equal(step, b'\n').to_bitmask();
        if found != 0 {
            return at + lowest(found);
        }
        at += STEP;
    }
    lines::line_end(bytes, at)
}

/// The first byte from `at` on that is not a space; at most `end`.
#[inline]
pub(super) fn skip_spaces(bytes: &[u8], mut at: usize, end: usize) -> usize {
    while at < end
        && let Some(step) = step(bytes, at)
    {
        let spaces = equal(step, b' ').to_bitmask();
        if spaces != (1 << STEP) - 1 {
            return end.min(at + lowest(!spaces));
        }
        at += STEP;
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
        let Some(step) = step(bytes, at) else { break };
        let found = (equal(step, b':') | equal(step, b'#')).to_bitmask();
        if found != 0 {
            return Some(at + lowest(found)).filter(|at| *at < end);
        }
        at += STEP;
    }
    let rest = bytes.get(at..end)?;
    memchr2(b':', b'#', rest).map(|found| at + found)
}

/// The bytes of a step; `None` if the text ends before.
#[inline]
fn step(bytes: &[u8], at: usize) -> Option<u8x16> {
    let step = bytes.get(at..)?.first_chunk::<STEP>()?;
    Some(u8x16::from(*step))
}

/// All bits of the bytes that equal `byte`, and none of the others.
#[inline]
fn equal(step: u8x16, byte: u8) -> u8x16 {
    step.simd_eq(u8x16::splat(byte))
}

/// The position of the lowest bit.
#[inline]
fn lowest(bits: u32) -> usize {
    bits.trailing_zeros() as usize
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
