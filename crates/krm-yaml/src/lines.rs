//! Lines of a text, and the white space and comments between nodes.

pub(super) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The first CR that no LF follows.
pub(super) fn lone_return(bytes: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'\r', bytes).find(|at| bytes.get(at + 1) != Some(&b'\n'))
}

/// Whether a line begins with the marker `---` or `...`, followed by white space or the end of the text.
pub fn is_marker(line: &[u8], marker: &[u8; 3]) -> bool {
    let after = line.strip_prefix(marker).map(|rest| rest.first());
    after.is_some_and(|next| next.is_none_or(|byte| b" \t\r\n".contains(byte)))
}

/// The first byte at or after `at` that is neither white space nor a comment.
pub(super) fn skip_trivia(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            b'#' => at = line_end(bytes, at),
            // A byte order mark may precede any document.
            0xef if bytes[at..].starts_with(BYTE_ORDER_MARK) => at += BYTE_ORDER_MARK.len(),
            _ => break,
        }
    }
    at
}

/// The first byte of the line that holds `at`.
pub(crate) fn line_start(bytes: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &bytes[..at.min(bytes.len())]).map_or(0, |n| n + 1)
}

/// The line feed that ends the line of `at`, or the end of the text.
pub(super) fn line_end(bytes: &[u8], at: usize) -> usize {
    let at = at.min(bytes.len());
    memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n)
}

/// The line break at the end of the line of `at` (or, on the last line, of the line before).
pub fn newline_at(text: &str, at: usize) -> &'static str {
    let bytes = text.as_bytes();
    let at = at.min(bytes.len());
    let end = memchr::memchr(b'\n', &bytes[at..])
        .map(|n| at + n)
        .or_else(|| memchr::memrchr(b'\n', &bytes[..at]));
    match end {
        Some(end) if end > 0 && bytes[end - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

/// A line without the line break at its end.
pub(super) fn trim_break(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The indentation of a block scalar's body, from its first line with content; `usize::MAX` if no line has any.
pub(super) fn block_indent(body: &[u8]) -> usize {
    body.split(|b| *b == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .find(|line| line.iter().any(|b| *b != b' '))
        .map_or(usize::MAX, |line| {
            line.iter().take_while(|b| **b == b' ').count()
        })
}
