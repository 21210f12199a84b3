//! Text in each of the scalar styles.

use std::borrow::Cow;

use super::plain::{is_printable, plain_is_safe};
use super::{Context, ScalarStyle};

/// The string `text` on one line: in the preferred style if that can hold it, else in double quotes.
///
/// Plain style is used if [`plain_is_safe`]. The block styles, which need separate lines, become double quotes (see
/// [`write_block`]).
pub(crate) fn write_inline(text: &str, preferred: ScalarStyle, context: Context) -> Cow<'_, str> {
    let quoted = match preferred {
        ScalarStyle::Plain if plain_is_safe(text, context) => return Cow::Borrowed(text),
        ScalarStyle::SingleQuoted => write_single_quoted(text),
        _ => None,
    };
    Cow::Owned(quoted.unwrap_or_else(|| write_double_quoted(text)))
}

/// `text` in double quotes on one line (7.3.1). Every string can be written this way.
///
/// Escapes `"`, `\`, line feed, tab, carriage return and unprintable characters, with escapes that JSON has too, so
/// that JSON remains JSON.
pub(crate) fn write_double_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            _ if is_printable(character) => quoted.push(character),
            _ => quoted.push_str(&format!("\\u{:04X}", u32::from(character))),
        }
    }
    quoted.push('"');
    quoted
}

/// `text` in single quotes on one line (7.3.2), or `None` if it contains a line break or an unprintable character.
pub(crate) fn write_single_quoted(text: &str) -> Option<String> {
    text.chars()
        .all(is_printable)
        .then(|| format!("'{}'", text.replace('\'', "''")))
}

/// The header and the body of `text` as a block scalar (8.1), or `None` if that cannot hold it exactly.
///
/// `"a\nb\n"` literal with indentation 2 -> `("|", "  a\n  b")`. The body ends without a line break; the caller adds `newline` after it (needed with `|+` and `>+`).
/// The header is `|` or `>`, then, if the first line that is not empty starts with white space, the digit `step`, which must be how much deeper `indent` is than
/// the parent's indentation, then `-` without a trailing line feed, nothing with one, `+` with several.
///
/// Folded text is written without folding: each line of the text on one line, with the blank lines that keep lines
/// apart. `None` if the text is only white space or has an unprintable character (such as a carriage return), if it
/// has no indentation, if `step` is not within 1 to 9 where its digit is needed, or if folded text has a line of white
/// space.
pub(crate) fn write_block(
    text: &str,
    folded: bool,
    indent: usize,
    newline: &str,
    step: usize,
) -> Option<(String, String)> {
    let is_blank = |line: &str| line.bytes().all(|byte| matches!(byte, b' ' | b'\t'));
    let writable = indent > 0
        && !text.split('\n').all(is_blank)
        && text
            .chars()
            .all(|character| character == '\n' || is_printable(character));
    if !writable
        || (folded
            && text
                .split('\n')
                .any(|line| !line.is_empty() && is_blank(line)))
    {
        return None;
    }

    let content = text.trim_end_matches('\n');
    let mut header = String::from(if folded { ">" } else { "|" });
    if content.trim_start_matches('\n').starts_with([' ', '\t']) {
        if !(1..=9).contains(&step) {
            return None;
        }
        header.push_str(&step.to_string());
    }
    match text.len() - content.len() {
        0 => header.push('-'),
        1 => {}
        _ => header.push('+'),
    }

    let mut body = String::new();
    let prefix = " ".repeat(indent);
    let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
    // Whether a break after the last line that was not empty would be folded.
    let mut after_foldable = false;
    for (index, line) in lines.enumerate() {
        if index > 0 {
            body.push_str(newline);
        }
        if line.is_empty() {
            continue;
        }
        let foldable = folded && !line.starts_with([' ', '\t']);
        if foldable && after_foldable {
            body.push_str(newline);
        }
        after_foldable = foldable;
        body.push_str(&prefix);
        body.push_str(line);
    }
    Some((header, body))
}
