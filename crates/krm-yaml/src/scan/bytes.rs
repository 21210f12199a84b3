//! Checks every byte before the scan: finds characters that YAML or the scanner refuses.

use super::Bail;

/// Unusual bytes that the scanner accepts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SeenBytes {
    pub(super) tabs: bool,
    pub(super) returns: bool,
}

/// Refuses control characters, lone carriage returns, byte order marks, unprintable characters (YAML 1.2.2, 5.1), and
/// the line breaks of Unicode. Returns which unusual bytes the text has.
pub(super) fn check(bytes: &[u8]) -> Result<SeenBytes, Bail> {
    let mut seen = SeenBytes::default();
    // The loop over a block has no branches, so that the compiler can turn it into vector instructions.
    for (number, block) in bytes.chunks(BLOCK).enumerate() {
        let (mut control, mut high) = (false, 0);
        for &byte in block {
            control |= (byte < b' ') & (byte != b'\n');
            high |= byte.wrapping_add(1);
        }
        if control {
            controls(bytes, number * BLOCK, block.len(), &mut seen)?;
        }
        // 0x7f and 0x80 to 0xfe; UTF-8 has no 0xff.
        if high >= 0x80 {
            wide_characters(bytes, number * BLOCK, block.len())?;
        }
    }
    Ok(seen)
}

const BLOCK: usize = 256;

fn controls(bytes: &[u8], start: usize, length: usize, seen: &mut SeenBytes) -> Result<(), Bail> {
    for at in start..start + length {
        match bytes[at] {
            b'\t' => seen.tabs = true,
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => seen.returns = true,
            b'\n' | b' '.. => {}
            _ => return Err(Bail),
        }
    }
    Ok(())
}

fn wide_characters(bytes: &[u8], start: usize, length: usize) -> Result<(), Bail> {
    for at in start..start + length {
        let refused = match bytes[at] {
            0x7f => true,
            // U+0080 to U+009F.
            0xc2 => bytes[at + 1] < 0xa0,
            // U+2028, U+2029.
            0xe2 => bytes[at + 1] == 0x80 && matches!(bytes[at + 2], 0xa8 | 0xa9),
            // U+FEFF, U+FFFE, U+FFFF.
            0xef => matches!(
                (bytes[at + 1], bytes[at + 2]),
                (0xbb, 0xbf) | (0xbf, 0xbe | 0xbf)
            ),
            _ => false,
        };
        if refused {
            return Err(Bail);
        }
    }
    Ok(())
}
