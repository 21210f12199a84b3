//! The text of a scalar after unescaping and folding.

use std::borrow::Cow;

use super::{Scalar, ScalarStyle};
use crate::lines::block_indent;

/// The decoded text of a scalar.
pub fn decode<'t>(text: &'t str, scalar: &Scalar) -> Cow<'t, str> {
    let source = &text[scalar.start..scalar.end];
    match scalar.style {
        ScalarStyle::Plain if scalar.folded => Cow::Owned(fold(source, Cow::Borrowed)),
        ScalarStyle::Plain => Cow::Borrowed(source),
        ScalarStyle::SingleQuoted if scalar.folded => {
            Cow::Owned(fold(&source[1..source.len() - 1], single_quotes))
        }
        ScalarStyle::DoubleQuoted if scalar.folded => {
            Cow::Owned(fold(&source[1..source.len() - 1], unescape))
        }
        ScalarStyle::SingleQuoted => single_quotes(&source[1..source.len() - 1]),
        ScalarStyle::DoubleQuoted => unescape(&source[1..source.len() - 1]),
        // If the text ends without a line break, the scalar has none to keep (YAML 1.2.2, 8.1.1.2).
        style => Cow::Owned(block(
            source,
            style == ScalarStyle::Folded,
            scalar.end < text.len(),
            scalar.indent,
        )),
    }
}

/// The character and the length of an escape sequence that begins with a backslash (YAML 1.2.2, 5.7). `None` if the
/// sequence is an escaped line break or not valid.
pub(super) fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    let simple = |character| Some((character, 2));
    let by_code = |digits: usize| {
        let digits = bytes.get(2..2 + digits)?;
        let code = digits.iter().try_fold(0_u32, |code, digit| {
            let digit = char::from(*digit).to_digit(16)?;
            code.checked_mul(16)?.checked_add(digit)
        })?;
        // Surrogates are not characters.
        Some((char::from_u32(code)?, 2 + digits.len()))
    };
    match bytes.get(1)? {
        b'"' => simple('"'),
        b'\\' => simple('\\'),
        b' ' => simple(' '),
        b'/' => simple('/'),
        b'n' => simple('\n'),
        b't' => simple('\t'),
        b'r' => simple('\r'),
        b'b' => simple('\u{8}'),
        b'f' => simple('\u{c}'),
        b'u' => by_code(4),
        b'x' => by_code(2),
        b'U' => by_code(8),
        b'0' => simple('\0'),
        b'a' => simple('\u{7}'),
        b'v' => simple('\u{b}'),
        b'e' => simple('\u{1b}'),
        b'N' => simple('\u{85}'),
        b'_' => simple('\u{a0}'),
        b'L' => simple('\u{2028}'),
        b'P' => simple('\u{2029}'),
        _ => None,
    }
}

/// The text within single quotes, where a quote is written twice.
fn single_quotes(inner: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\'', inner.as_bytes()).is_some() {
        Cow::Owned(inner.replace("''", "'"))
    } else {
        Cow::Borrowed(inner)
    }
}

fn unescape(inner: &str) -> Cow<'_, str> {
    let mut rest = inner;
    let mut text = String::new();
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        let Some((character, length)) = escape(&rest.as_bytes()[at..]) else {
            break;
        };
        text.push(character);
        rest = &rest[at + length..];
    }
    if rest.len() == inner.len() {
        return Cow::Borrowed(inner);
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Folds lines into one: a line break becomes a space, an empty line a line break (YAML 1.2.2, 6.5).
fn fold<'t>(source: &'t str, decode: impl Fn(&'t str) -> Cow<'t, str>) -> String {
    const WHITE: [char; 3] = [' ', '\t', '\r'];
    let mut text = String::with_capacity(source.len());
    let mut lines = source.split('\n').peekable();
    let (mut is_first, mut breaks) = (true, 0);
    while let Some(mut line) = lines.next() {
        if !is_first {
            line = line.trim_start_matches(WHITE);
            breaks += 1;
        }
        let is_last = lines.peek().is_none();
        if !is_last {
            line = line.trim_end_matches(WHITE);
        }
        if !line.is_empty() || is_last {
            match breaks {
                0 => {}
                1 => text.push(' '),
                more => push_breaks(&mut text, more - 1),
            }
            text.push_str(&decode(line));
            breaks = 0;
        }
        is_first = false;
    }
    text
}

/// The text of a block scalar; `source` begins at its header.
fn block(source: &str, folded: bool, terminated: bool, indent: Option<usize>) -> String {
    let (header, body) = source.split_once('\n').unwrap_or((source, ""));
    let strip = header.bytes().skip(1).take(2).any(|byte| byte == b'-');
    let indent = indent.unwrap_or_else(|| block_indent(body.as_bytes()));
    let mut text = String::with_capacity(body.len() + 1);
    // Number of line breaks before the next line, and whether the previous line can be folded.
    let mut breaks = 0;
    let mut foldable = false;
    let mut started = false;
    for line in body.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let line = line.get(indent..).unwrap_or_default();
        if line.is_empty() {
            breaks += 1;
            continue;
        }
        let more_indented = line.starts_with([' ', '\t']);
        if folded && started && foldable && !more_indented {
            match breaks {
                1 => text.push(' '),
                _ => push_breaks(&mut text, breaks - 1),
            }
        } else {
            push_breaks(&mut text, breaks);
        }
        text.push_str(line);
        (breaks, foldable, started) = (1, !more_indented, true);
    }
    if started {
        breaks -= 1;
    }
    push_breaks(&mut text, breaks);
    if terminated && !strip {
        text.push('\n');
    }
    text
}

fn push_breaks(text: &mut String, count: usize) {
    text.extend(std::iter::repeat_n('\n', count));
}
