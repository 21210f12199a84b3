//! Reads a tar file, which may be compressed, to its end, so that a damaged or cut off one is noticed.
//!
//! A tar file ends with blocks of zeros, and its reader stops there. What follows in a compressed file, its checksum and
//! its length, would not be read.

use std::io::{self, Read};

use flate2::bufread::GzDecoder;

/// The first bytes of gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// The length of a block of a tar file.
const BLOCK: usize = 512;

/// The bytes of a tar file, unpacked.
pub(super) struct CheckedTar<'b> {
    content: TarContent<'b>,
    /// How many more bytes may be read.
    left: u64,
    /// How many zeros the bytes read so far end with.
    zeros: usize,
}

enum TarContent<'b> {
    Plain(&'b [u8]),
    Gzip(Box<GzDecoder<&'b [u8]>>),
}

impl<'b> CheckedTar<'b> {
    /// A reader of at most `limit` unpacked bytes.
    pub(super) fn new(bytes: &'b [u8], limit: u64) -> Self {
        let content = if bytes.starts_with(&GZIP) {
            TarContent::Gzip(Box::new(GzDecoder::new(bytes)))
        } else {
            TarContent::Plain(bytes)
        };
        Self {
            content,
            left: limit,
            zeros: 0,
        }
    }

    /// Whether the limit was reached.
    pub(super) fn is_at_limit(&self) -> bool {
        self.left == 0
    }

    /// Checks, after the last entry, that the file is complete.
    ///
    /// # Errors
    /// The end of the tar file is missing; the checksum or the length of gzip differs.
    pub(super) fn check_end(&mut self) -> io::Result<()> {
        if self.zeros < BLOCK {
            return Err(cut_off());
        }
        io::copy(self, &mut io::sink()).map(drop)
    }

    fn read_content(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let gzip = match &mut self.content {
                TarContent::Plain(bytes) => return bytes.read(buffer),
                TarContent::Gzip(gzip) => gzip,
            };
            let count = gzip.read(buffer)?;
            let rest = *gzip.get_ref();
            // Tapes are filled up with zeros.
            if count > 0 || buffer.is_empty() || rest.iter().all(|byte| *byte == 0) {
                return Ok(count);
            }
            // Several compressed files in a row are one.
            self.content = TarContent::Gzip(Box::new(GzDecoder::new(rest)));
        }
    }
}

fn cut_off() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it is cut off")
}

impl Read for CheckedTar<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        let most = most.min(buffer.len());
        let count = self.read_content(&mut buffer[..most])?;
        self.left -= count as u64;
        let read = &buffer[..count];
        let zeros = read.iter().rev().take_while(|byte| **byte == 0).count();
        self.zeros = if zeros == count {
            self.zeros.saturating_add(zeros)
        } else {
            zeros
        };
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory")
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut tar = CheckedTar::new(bytes, 1 << 20);
        let mut found = vec![0; 2 * BLOCK];
        tar.read_exact(&mut found)?;
        tar.check_end().map(|()| found)
    }

    fn content() -> Vec<u8> {
        [[b'a'; BLOCK], [0; BLOCK]].concat()
    }

    #[test]
    fn a_whole_file_is_read_to_its_end() {
        let content = content();
        let packed = gzip(&content);
        let (one, other) = content.split_at(100);
        let in_parts = [gzip(one), gzip(other)].concat();
        let filled_up = [packed.as_slice(), &[0; 1000]].concat();
        for bytes in [&content, &packed, &in_parts, &filled_up] {
            assert_eq!(read(bytes).expect("a whole file"), content);
        }
    }

    /// Any changed byte of content, checksum or length, and any missing byte, is noticed.
    #[test]
    fn each_changed_or_missing_byte_is_noticed() {
        let packed = gzip(&content());
        // The header of gzip has no checksum.
        for at in 10..packed.len() {
            let mut changed = packed.clone();
            changed[at] ^= 1;
            assert!(read(&changed).is_err(), "changed at {at}");
        }
        for length in 0..packed.len() {
            assert!(read(&packed[..length]).is_err(), "cut off at {length}");
        }
        assert!(read(&content()[..BLOCK]).is_err());
    }

    #[test]
    fn no_more_than_the_limit_is_read() {
        let packed = gzip(&content());
        let mut tar = CheckedTar::new(&packed, 100);
        let mut found = Vec::new();
        tar.read_to_end(&mut found).expect("bytes");
        assert_eq!(found.len(), 100);
        assert!(tar.is_at_limit());
    }
}
