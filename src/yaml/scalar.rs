//! Scalars: what a plain one means, and how text is written so that every reader gets the same text back.
//!
//! `yes` the string -> `"yes"`, since a YAML 1.1 reader would take the plain word for a boolean.
//!
//! Sources: YAML 1.2.2, chapters 5, 7 and 8 for the styles and 10.3.2 for the core schema; the YAML 1.1 type repository
//! (<https://yaml.org/type/>) for the older words; and the resolvers of PyYAML, go-yaml v2 and v3 and Ruby's Psych, which go beyond both.

use std::borrow::Cow;

use super::value::{Number, Value};

/// How a scalar is written (YAML 1.2.2, 7.3 and 8.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScalarStyle {
    /// `text`
    Plain,
    /// `'text'`
    SingleQuoted,
    /// `"text"`
    DoubleQuoted,
    /// `|` and the lines as they are.
    Literal,
    /// `>` and lines that are joined.
    Folded,
}

/// Where a scalar stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// In a block collection, or alone in its document.
    Block,
    /// Inside of `[]` or `{}`, where `,[]{}` end a plain scalar.
    Flow,
}

/// What a plain scalar means in the core schema of YAML 1.2 (10.3.2).
///
/// Shapes: nothing, `~`, `null`, `Null`, `NULL`; `true`, `false` in three cases; `-12`, `0o14`, `0xC`; `1.5e3`, `.5`, `-.inf`, `.nan`. All else is a string.
/// A decimal with a leading zero, and what overflows an `i128` or a double, is [`Number::Verbatim`].
pub fn resolve_plain(text: &str) -> Value {
    resolve_special(text).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Whether a plain scalar means a string in the core schema.
pub(crate) fn is_plain_string(text: &str) -> bool {
    resolve_special(text).is_none()
}

/// The value of a plain scalar that is no string.
fn resolve_special(text: &str) -> Option<Value> {
    // Most scalars are words, and those end here.
    match text.as_bytes().first() {
        None => Some(Value::Null),
        Some(b'~' | b'n' | b'N') => {
            matches!(text, "~" | "null" | "Null" | "NULL").then_some(Value::Null)
        }
        Some(b't' | b'T') => matches!(text, "true" | "True" | "TRUE").then_some(Value::Bool(true)),
        Some(b'f' | b'F') => {
            matches!(text, "false" | "False" | "FALSE").then_some(Value::Bool(false))
        }
        Some(b'0'..=b'9' | b'-' | b'+' | b'.') => resolve_number(text).map(Value::Number),
        Some(_) => None,
    }
}

fn resolve_number(text: &str) -> Option<Number> {
    let verbatim = || Number::Verbatim(text.into());
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            // `from_str_radix` would take a sign.
            let proper = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
            return proper.then(|| {
                i128::from_str_radix(digits, radix).map_or_else(|_| verbatim(), Number::Int)
            });
        }
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" => {
            let negative = text.starts_with('-');
            return Some(Number::Float(if negative {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            }));
        }
        ".nan" | ".NaN" | ".NAN" if unsigned.len() == text.len() => {
            return Some(Number::Float(f64::NAN));
        }
        _ => {}
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        if unsigned.len() > 1 && unsigned.starts_with('0') {
            return Some(verbatim());
        }
        return Some(text.parse().map_or_else(|_| verbatim(), Number::Int));
    }
    if !is_decimal_float(unsigned.as_bytes()) {
        return None;
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Some(Number::Float(value)),
        _ => Some(verbatim()),
    }
}

/// `(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_decimal_float(text: &[u8]) -> bool {
    let (integer, rest) = split_digits(text);
    let (fraction, rest) = match rest {
        [b'.', rest @ ..] => split_digits(rest),
        _ => (&rest[..0], rest),
    };
    if integer.is_empty() && fraction.is_empty() {
        return false;
    }
    match rest {
        [] => true,
        [b'e' | b'E', b'-' | b'+', rest @ ..] | [b'e' | b'E', rest @ ..] => {
            !rest.is_empty() && rest.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

/// Whether `text` written plain on one line reads back as exactly this string with every common reader, of YAML 1.1 or 1.2.
///
/// False for what breaks the syntax in this context (7.3.3) and for what some reader resolves to another type: empty text and null words,
/// the booleans of YAML 1.1 (`y`, `on`, ...) in any case, numbers (`0o17`, `017`, `0b1`, `1_000`, `1,000`, `1e3`, `.5`, `12:30`, `.inf`), dates and times, `=` and `<<`.
/// Where readers are stricter or laxer than their specification, the answer is the cautious one.
pub fn plain_is_safe(text: &str, context: Context) -> bool {
    plain_keeps_its_text(text, context)
        && !is_reserved_word(text)
        && !looks_like_number(text)
        && !looks_like_timestamp(text)
}

fn plain_keeps_its_text(text: &str, context: Context) -> bool {
    let (Some(first), Some(last)) = (text.chars().next(), text.chars().next_back()) else {
        return false;
    };
    if first.is_whitespace() || last.is_whitespace() || last == ':' {
        return false;
    }
    let starts_well = match first {
        // Ruby takes `:word` for a symbol.
        ':' | ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"'
        | '%' | '@' | '`' => false,
        '-' | '?' => text.len() > 1 && text.as_bytes()[1] != b' ',
        _ => true,
    };
    // Where such a line starts a document's root it would be a marker.
    if !starts_well || text.starts_with("---") || text.starts_with("...") {
        return false;
    }
    let mut before = '\0';
    for character in text.chars() {
        let fine = match character {
            ' ' => before != ':',
            '#' => before != ' ',
            // PyYAML ends a plain scalar at a question mark in flow context, wherever it stands.
            ',' | '[' | ']' | '{' | '}' | '?' => context == Context::Block,
            '\t' => false,
            _ => is_printable(character),
        };
        if !fine {
            return false;
        }
        before = character;
    }
    true
}

/// On one line in every reader: printable (5.1), no line break of YAML 1.1 (NEL, LS, PS), no byte order mark. The tab is.
fn is_printable(character: char) -> bool {
    match character {
        '\t' | ' '..='~' => true,
        '\0'..='\u{9f}' => false,
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        _ => true,
    }
}

/// <https://yaml.org/type/>: bool, null, merge, value. In any case, as Ruby reads them.
fn is_reserved_word(text: &str) -> bool {
    const WORDS: [&str; 12] = [
        "~", "=", "<<", "y", "n", "no", "on", "off", "yes", "null", "true", "false",
    ];
    text.len() <= 5 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// <https://yaml.org/type/>: int and float, with what Go (`0B1`, `0o-7`, `-_1`), Ruby (`1,000`, `.INf`, `0bb1`) and PyYAML (`0x_`) add.
fn looks_like_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !matches!(unsigned.as_bytes().first(), Some(b'0'..=b'9' | b'.' | b'_')) {
        return false;
    }
    if unsigned.eq_ignore_ascii_case(".inf") || unsigned.eq_ignore_ascii_case(".nan") {
        return true;
    }
    if text.starts_with('_') {
        return false;
    }
    let compact: Cow<'_, [u8]> = if unsigned.contains(['_', ',']) {
        Cow::Owned(
            unsigned
                .bytes()
                .filter(|byte| !matches!(byte, b'_' | b','))
                .collect(),
        )
    } else {
        Cow::Borrowed(unsigned.as_bytes())
    };
    // `-_` and `._`, on which ruamel.yaml fails.
    let only_separators =
        compact.len() < unsigned.len() && compact.iter().all(|byte| *byte == b'.');
    only_separators
        || is_decimal_float(&compact)
        || is_bare_exponent(&compact)
        || is_prefixed_integer(&compact)
        || is_sexagesimal(&compact)
}

/// `.e+5`, which Ruby tries to read as a float.
fn is_bare_exponent(text: &[u8]) -> bool {
    matches!(text, [b'.', b'e' | b'E', b'-' | b'+', digits @ ..] if digits.iter().all(u8::is_ascii_digit))
}

/// `0x1F`, `0o17`, `0b11`, also in upper case, with a sign behind the prefix, or without digits.
fn is_prefixed_integer(text: &[u8]) -> bool {
    let [b'0', prefix, digits @ ..] = text else {
        return false;
    };
    let digits = match digits {
        [b'-' | b'+', digits @ ..] => digits,
        _ => digits,
    };
    match prefix {
        b'x' | b'X' => digits.iter().all(u8::is_ascii_hexdigit),
        b'o' | b'O' => digits.iter().all(|digit| matches!(digit, b'0'..=b'7')),
        b'b' | b'B' => digits
            .iter()
            .all(|digit| matches!(digit, b'0' | b'1' | b'b')),
        _ => false,
    }
}

/// Base 60: `[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?`
fn is_sexagesimal(text: &[u8]) -> bool {
    let (first, mut rest) = split_digits(text);
    if first.is_empty() || !rest.starts_with(b":") {
        return false;
    }
    while let [b':', behind @ ..] = rest {
        let (digits, behind) = split_digits(behind);
        if !matches!(digits, [_] | [b'0'..=b'5', _]) {
            return false;
        }
        rest = behind;
    }
    match rest {
        [] => true,
        [b'.', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// <https://yaml.org/type/timestamp.html>, with one-digit months and days as Go has them and years before Christ as Ruby.
///
/// A date alone, or one with something behind it that may be a time.
fn looks_like_timestamp(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let (year, rest) = split_digits(text);
    let ([_, _, _, _], [b'-', rest @ ..]) = (year, rest) else {
        return false;
    };
    let (month, rest) = split_digits(rest);
    let ([_] | [_, _], [b'-', rest @ ..]) = (month, rest) else {
        return false;
    };
    let (day, rest) = split_digits(rest);
    if !matches!(day, [_] | [_, _]) {
        return false;
    }
    match rest {
        [] => true,
        [b'T' | b't' | b' ', time @ ..] => time
            .trim_ascii_start()
            .first()
            .is_some_and(u8::is_ascii_digit),
        _ => false,
    }
}

/// `text` in double quotes on one line (7.3.1), which every string can be written in.
///
/// Escaped are `"`, `\`, line feed, tab, carriage return and what is not printable. The escapes are those that JSON has too, so that JSON stays JSON.
pub fn write_double_quoted(text: &str) -> String {
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

/// `text` in single quotes on one line (7.3.2), or `None` if it holds a line break or something not printable.
pub fn write_single_quoted(text: &str) -> Option<String> {
    text.chars()
        .all(is_printable)
        .then(|| format!("'{}'", text.replace('\'', "''")))
}

/// The string `text` on one line: in the preferred style if that can hold it, else in double quotes.
///
/// Plain is taken if [`plain_is_safe`]; the block styles, which need lines of their own, become double quotes (see [`write_block`]).
pub fn write_inline(text: &str, preferred: ScalarStyle, context: Context) -> String {
    match preferred {
        ScalarStyle::Plain if plain_is_safe(text, context) => text.to_owned(),
        ScalarStyle::SingleQuoted => {
            write_single_quoted(text).unwrap_or_else(|| write_double_quoted(text))
        }
        _ => write_double_quoted(text),
    }
}

/// The header and the body of `text` as a block scalar (8.1), or `None` if that cannot hold it exactly.
///
/// `"a\nb\n"` literal with indentation 2 -> `("|", "  a\n  b")`. The body ends without a line break; the caller adds `newline` behind it (needed with `|+` and `>+`).
/// The header is `|` or `>`, then, if the first line that is not empty starts with white space, the digit `step`, which must be how much deeper `indent` is than
/// the parent's indentation, then `-` without a trailing line feed, nothing with one, `+` with several.
///
/// Folded text is written unfolded: one line a line, with the blank lines that keep lines apart.
/// `None`: nothing but white space, a carriage return or something not printable, no indentation, a `step` outside of 1 to 9 where its digit is needed,
/// and for folded text a line of white space.
pub fn write_block(
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
    // The last line that was not empty, if a break behind it would be folded.
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

/// The spelling of a new number, one that YAML 1.1 and 1.2 agree on: `5`, `5.0`, `1.0e+100`, `-.inf`, `.nan`; a verbatim one as it is.
pub fn number_text(number: &Number) -> String {
    number.to_string()
}
#[cfg(test)]
mod tests;
