//! Changes of binary files, in the form that `git apply` takes: both contents, encoded.
//!
//! ```text
//! diff --git a/logo.png b/logo.png
//! index <blob before>..<blob after>
//! GIT binary patch
//! literal 3
//! Kcmb2Q...
//! ```
//!
//! A patch that only says that binary files differ is worth nothing: `git apply` refuses all of it, the text files too
//! ("missing binary patch data").
//!
//! Source: git's `diff.c` (emit_binary_diff_body) and `base85.c`; RFC 1950 and 1951 for zlib's stored blocks.

use super::{git_mode, put, quote};

/// The id that Git uses for a missing file.
const NO_BLOB: &str = "0000000000000000000000000000000000000000";

/// The diff of a binary file for `git apply`. A file is given as its content and permission bits; `None` if it does not
/// exist.
pub(super) fn binary_diff(
    path: &str,
    before: Option<(&[u8], u32)>,
    after: Option<(&[u8], u32)>,
) -> String {
    let mut diff = String::new();
    let (a, b) = (quote(&format!("a/{path}")), quote(&format!("b/{path}")));
    put(&mut diff, format_args!("diff --git {a} {b}\n"));
    match (before, after) {
        (None, Some((_, mode))) => {
            put(
                &mut diff,
                format_args!("new file mode {}\n", git_mode(mode)),
            );
        }
        (Some((_, mode)), None) => {
            put(
                &mut diff,
                format_args!("deleted file mode {}\n", git_mode(mode)),
            );
        }
        _ => {}
    }
    let (before, after) = (before.map(|file| file.0), after.map(|file| file.0));
    let (old, new) = (blob(before), blob(after));
    put(
        &mut diff,
        format_args!("index {old}..{new}\nGIT binary patch\n"),
    );
    put_literal(&mut diff, after.unwrap_or_default());
    // The old content, for `git apply --reverse`.
    put_literal(&mut diff, before.unwrap_or_default());
    diff
}

/// The Git id of a content.
fn blob(content: Option<&[u8]>) -> String {
    let Some(content) = content else {
        return NO_BLOB.to_owned();
    };
    let mut sha = sha1_smol::Sha1::new();
    sha.update(format!("blob {}\0", content.len()).as_bytes());
    sha.update(content);
    sha.digest().to_string()
}

/// A content as a hunk, with the empty line at its end.
fn put_literal(diff: &mut String, content: &[u8]) {
    /// Bytes per line.
    const LINE: usize = 52;
    put(diff, format_args!("literal {}\n", content.len()));
    for line in zlib(content).chunks(LINE) {
        // A to Z are 1 to 26 bytes, a to z are 27 to 52.
        let length = u8::try_from(line.len()).unwrap_or_default();
        let letter = match length {
            0..=26 => b'A' + length - 1,
            _ => b'a' + length - 27,
        };
        diff.push(char::from(letter));
        for word in line.chunks(4) {
            put_word(diff, word);
        }
        diff.push('\n');
    }
    diff.push('\n');
}

/// Encodes up to four bytes as five characters.
fn put_word(diff: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 85] =
        b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
    let mut word = [0; 4];
    word[..bytes.len()].copy_from_slice(bytes);
    let mut rest = u32::from_be_bytes(word) as usize;
    let mut digits = [0; 5];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[rest % DIGITS.len()];
        rest /= DIGITS.len();
    }
    diff.extend(digits.map(char::from));
}

/// A zlib stream that stores the bytes without compression.
fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let mut blocks = bytes.chunks(usize::from(u16::MAX)).peekable();
    if blocks.peek().is_none() {
        put_block(&mut stream, &[], true);
    }
    while let Some(block) = blocks.next() {
        put_block(&mut stream, block, blocks.peek().is_none());
    }
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    stream.extend((b << 16 | a).to_be_bytes());
    stream
}

fn put_block(stream: &mut Vec<u8>, block: &[u8], is_last: bool) {
    let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
    stream.push(u8::from(is_last));
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(block);
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::binary_diff;

    /// The content of a file after `git apply`.
    fn applied(path: &str, before: Option<&[u8]>, diff: &str, reverse: bool) -> Option<Vec<u8>> {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("p").join(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
        if let Some(before) = before {
            fs::write(&file, before).expect("a file");
        }
        let patch = dir.path().join("diff");
        fs::write(&patch, diff).expect("a file");
        let mut git = Command::new("git");
        git.arg("apply")
            .arg(&patch)
            .current_dir(dir.path().join("p"));
        git.args(reverse.then_some("--reverse"));
        git.env("GIT_CEILING_DIRECTORIES", dir.path());
        let output = git.output().expect("it runs");
        assert!(output.status.success(), "{output:?}\n{diff}");
        fs::read(file).ok()
    }

    #[test]
    fn git_applies_every_kind_of_change_of_a_binary_file() {
        let long: Vec<u8> = (0..200_000_u32)
            .flat_map(|n| n.wrapping_mul(n).to_le_bytes())
            .collect();
        let contents: [Option<&[u8]>; 5] = [
            None,
            Some(b"\x89PNG\r\n\x1a\n\0\0"),
            Some(b"caf\xe9\n"),
            Some(&long),
            Some(b""),
        ];
        for path in ["logo.png", "a b/c\td \u{e9}.bin"] {
            for before in contents {
                for after in contents.into_iter().filter(|after| *after != before) {
                    let with_mode = |content: Option<_>| content.map(|bytes| (bytes, 0o644));
                    let diff = binary_diff(path, with_mode(before), with_mode(after));
                    assert_eq!(applied(path, before, &diff, false).as_deref(), after);
                    assert_eq!(applied(path, after, &diff, true).as_deref(), before);
                }
            }
        }
    }
}
