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
mod tests {
    use super::*;
    use granit_parser::{Event, Parser};
    use proptest::prelude::*;

    const CONTEXTS: [Context; 2] = [Context::Block, Context::Flow];

    #[test]
    fn core_schema() {
        let int = |value| Value::Number(Number::Int(value));
        let float = |value| Value::Number(Number::Float(value));
        let verbatim = |text: &str| Value::Number(Number::Verbatim(text.into()));
        let table = [
            ("", Value::Null),
            ("~", Value::Null),
            ("null", Value::Null),
            ("Null", Value::Null),
            ("NULL", Value::Null),
            ("true", true.into()),
            ("True", true.into()),
            ("TRUE", true.into()),
            ("false", false.into()),
            ("FALSE", false.into()),
            ("0", int(0)),
            ("-0", int(0)),
            ("+12", int(12)),
            ("-19", int(-19)),
            ("0o17", int(15)),
            ("0x1fA", int(0x1fa)),
            ("170141183460469231731687303715884105727", int(i128::MAX)),
            ("-170141183460469231731687303715884105728", int(i128::MIN)),
            (
                "170141183460469231731687303715884105728",
                verbatim("170141183460469231731687303715884105728"),
            ),
            (
                "0xffffffffffffffffffffffffffffffff",
                verbatim("0xffffffffffffffffffffffffffffffff"),
            ),
            ("017", verbatim("017")),
            ("08", verbatim("08")),
            ("-00", verbatim("-00")),
            ("0.", float(0.0)),
            ("-.5", float(-0.5)),
            ("1e3", float(1000.0)),
            ("+12.5E-02", float(0.125)),
            ("08.5", float(8.5)),
            ("1e400", verbatim("1e400")),
            (".inf", float(f64::INFINITY)),
            ("+.Inf", float(f64::INFINITY)),
            ("-.INF", float(f64::NEG_INFINITY)),
            (".NaN", float(f64::NAN)),
        ];
        for (text, expected) in table {
            let value = resolve_plain(text);
            assert_eq!(value, expected, "{text}");
            // `==` does not tell an integer from a float.
            assert_eq!(
                format!("{value:?}").get(..12),
                format!("{expected:?}").get(..12),
                "{text}"
            );
        }
        for text in [
            "nULL",
            "yes",
            "tRUE",
            "0o8",
            "0o",
            "0x",
            "0x-1",
            "0xg",
            "-0x1",
            "+0o7",
            "0b1",
            "1_000",
            "1,000",
            "1:30",
            ".",
            "-",
            "+",
            "..",
            "e5",
            ".e5",
            "1e",
            "1e+",
            "1.2.3",
            "-.nan",
            ".iNF",
            "inf",
            "nan",
            "2001-12-14",
            "<<",
            "=",
            "1 ",
            "--1",
            "٣",
        ] {
            assert_eq!(resolve_plain(text), text.into(), "{text}");
        }
    }

    #[test]
    fn ordinary_words_are_plain() {
        for text in [
            "v1.2.3",
            "1.2.3",
            "10.0.0.1",
            "10.0.0.0/8",
            "foo-bar",
            "a b",
            "-x",
            "--flag=1",
            "/path",
            "500m",
            "1Gi",
            "25%",
            "naïve",
            "日本",
            "a#b",
            "~/x",
            ".",
            "..",
            "./a",
            ".hidden",
            "1.2.3-rc.1",
            "8080:80",
            "sha256:9f86d0",
            "0755x",
            "null-value",
            "yesterday",
            "nope",
            "on-call",
            "_1",
            "1a",
            "a=b",
            "=a",
            "<<a",
            "a'b\"c",
            "2001-12-14-backup",
            "20011214",
            "2001-12",
            "it's",
            "(x)",
            "$(x)",
            "😀",
            "a\u{a0}b",
            "x|y",
            "a>b",
            "a&b",
            "a*",
            "C:\\x",
            "+",
            "+a",
            "-.",
            "1.2:3:4",
            "12:60",
            "1/2",
            "1-2",
            "0xg",
            "0b2",
            "0o8",
            "e3",
            "1e",
            "inf",
            "NaN",
            "apps/v1",
        ] {
            let number = text == "20011214";
            for context in CONTEXTS {
                assert_eq!(plain_is_safe(text, context), !number, "{text} {context:?}");
            }
        }
    }

    #[test]
    fn flow_context_is_narrower() {
        for text in [
            "a,b",
            "a]",
            "{a",
            "a[0]",
            "a}",
            "http://x.y/z?q=1#f",
            "?x",
            "a?",
        ] {
            assert!(
                plain_is_safe(text, Context::Block) || text.starts_with('{'),
                "{text}"
            );
            assert!(!plain_is_safe(text, Context::Flow), "{text}");
        }
        for text in ["gcr.io/a/b:v0.1", "http://x.y/z#f", "a::b"] {
            assert!(plain_is_safe(text, Context::Block), "{text}");
            assert!(plain_is_safe(text, Context::Flow), "{text}");
        }
    }

    #[test]
    fn what_some_reader_takes_otherwise_is_not_plain() {
        for text in [
            // Syntax.
            "",
            " a",
            "a ",
            "\u{a0}a",
            "-",
            "- a",
            "?",
            "? a",
            ":",
            ":a",
            ": a",
            ",a",
            "[a",
            "]",
            "{",
            "}",
            "#a",
            "&a",
            "*a",
            "!a",
            "|",
            ">",
            "'a'",
            "\"a\"",
            "%a",
            "@a",
            "`a",
            "a: b",
            "a #b",
            "a:",
            "a:b:",
            "a\nb",
            "a\tb",
            "a\rb",
            "a\u{1}",
            "\u{7f}",
            "a\u{85}b",
            "a\u{2028}b",
            "a\u{2029}b",
            "\u{feff}a",
            "a\u{feff}",
            "\u{fffe}",
            "---",
            "--- a",
            "...",
            "---a",
            // Null, booleans, merge and value.
            "~",
            "null",
            "Null",
            "NULL",
            "nULL",
            "y",
            "Y",
            "n",
            "N",
            "yes",
            "Yes",
            "YES",
            "yEs",
            "no",
            "No",
            "NO",
            "on",
            "On",
            "ON",
            "off",
            "Off",
            "OFF",
            "true",
            "True",
            "TRUE",
            "tRue",
            "false",
            "False",
            "FALSE",
            "=",
            "<<",
            // Integers.
            "0",
            "1",
            "-1",
            "+1",
            "017",
            "08",
            "0o17",
            "0O17",
            "0x1F",
            "0X1f",
            "-0x1",
            "0b11",
            "0B1",
            "-0b1",
            "1_000",
            "1,000",
            "0_7",
            "-_1",
            "-_",
            "._",
            "0o-7",
            "0b+1",
            "0x_",
            "1__0",
            "340282366920938463463374607431768211456",
            // Floats.
            "1.0",
            "1.",
            ".5",
            "-.5",
            "1e3",
            "1E3",
            "1e+3",
            "1.5e-3",
            "1_0.5",
            "1,000.5",
            "6.8523015e+5",
            ".inf",
            "-.inf",
            "+.INF",
            ".InF",
            ".nan",
            ".NaN",
            ".NAN",
            "012.5",
            ".e+5",
            // Base 60.
            "1:30",
            "190:20:30",
            "190:20:30.15",
            "-1:30",
            "00:11:22:33:44:55",
            "1_0:30",
            // Dates and times.
            "2001-12-14",
            "2006-1-2",
            "2001-12-14t21:59:43.10-05:00",
            "2001-12-14T21:59:43Z",
            "2001-12-14 21:59:43.10 -5",
            "2001-1-1   1:2:3",
            "-2001-12-14 21:59:43",
        ] {
            for context in CONTEXTS {
                assert!(!plain_is_safe(text, context), "{text:?} {context:?}");
            }
        }
    }

    #[test]
    fn quoted() {
        let table = [
            ("", "\"\"", Some("''")),
            ("a", "\"a\"", Some("'a'")),
            (
                "it's \"x\" \\",
                "\"it's \\\"x\\\" \\\\\"",
                Some("'it''s \"x\" \\'"),
            ),
            ("a\tb", "\"a\\tb\"", Some("'a\tb'")),
            ("a\r\nb", "\"a\\r\\nb\"", None),
            ("\0\u{1b}\u{7f}", "\"\\u0000\\u001B\\u007F\"", None),
            (
                "\u{85}\u{2028}\u{2029}\u{feff}\u{ffff}",
                "\"\\u0085\\u2028\\u2029\\uFEFF\\uFFFF\"",
                None,
            ),
            (
                "naïve 日本 😀\u{a0}",
                "\"naïve 日本 😀\u{a0}\"",
                Some("'naïve 日本 😀\u{a0}'"),
            ),
        ];
        for (text, double, single) in table {
            assert_eq!(write_double_quoted(text), double);
            assert_eq!(write_single_quoted(text).as_deref(), single);
        }
    }

    #[test]
    fn inline() {
        use ScalarStyle::*;
        let table = [
            ("a", Plain, Context::Block, "a"),
            ("yes", Plain, Context::Block, "\"yes\""),
            ("a,b", Plain, Context::Block, "a,b"),
            ("a,b", Plain, Context::Flow, "\"a,b\""),
            ("yes", SingleQuoted, Context::Block, "'yes'"),
            ("a\nb", SingleQuoted, Context::Block, "\"a\\nb\""),
            ("a", DoubleQuoted, Context::Flow, "\"a\""),
            ("a", Literal, Context::Block, "\"a\""),
            ("a", Folded, Context::Block, "\"a\""),
        ];
        for (text, preferred, context, expected) in table {
            assert_eq!(write_inline(text, preferred, context), expected);
        }
    }

    #[test]
    fn blocks() {
        let table = [
            ("a\nb\n", false, Some(("|", "  a\n  b"))),
            ("a", false, Some(("|-", "  a"))),
            ("a\n\n", false, Some(("|+", "  a\n"))),
            ("a\n\n  b\n", false, Some(("|", "  a\n\n    b"))),
            (" a\n", false, Some(("|2", "   a"))),
            ("\n\n a", false, Some(("|2-", "\n\n   a"))),
            ("\ta\n\n\n", false, Some(("|2+", "  \ta\n\n"))),
            ("a\n \nb", false, Some(("|-", "  a\n   \n  b"))),
            (
                "a\tb # c: d\n---\n",
                false,
                Some(("|", "  a\tb # c: d\n  ---")),
            ),
            ("", false, None),
            ("\n\n", false, None),
            (" \n\t", false, None),
            ("a\r\nb\n", false, None),
            ("a\u{1}", false, None),
            ("a\u{85}", false, None),
            ("a\u{feff}", false, None),
            ("a\nb\n", true, Some((">", "  a\n\n  b"))),
            ("a\n\nb", true, Some((">-", "  a\n\n\n  b"))),
            ("a\n b\nc\n", true, Some((">", "  a\n   b\n  c"))),
            ("\na\n\n", true, Some((">+", "\n  a\n"))),
            ("a\n \nb", true, None),
        ];
        for (text, folded, expected) in table {
            let written = write_block(text, folded, 2, "\n", 2);
            let written = written
                .as_ref()
                .map(|(header, body)| (header.as_str(), body.as_str()));
            assert_eq!(written, expected, "{text:?} {folded}");
        }
        assert_eq!(
            write_block("a\nb\n", false, 4, "\r\n", 4),
            Some(("|".to_owned(), "    a\r\n    b".to_owned()))
        );
        assert_eq!(write_block("a", false, 0, "\n", 2), None);
        assert_eq!(write_block(" a", false, 12, "\n", 10), None);
    }

    fn parsed_scalars(document: &str) -> Result<Vec<(String, bool)>, String> {
        let mut scalars = Vec::new();
        for event in Parser::new_from_str(document) {
            if let (Event::Scalar(text, style, ..), _) = event.map_err(|error| error.to_string())? {
                scalars.push((
                    text.into_owned(),
                    style == granit_parser::ScalarStyle::Plain,
                ));
            }
        }
        Ok(scalars)
    }

    /// Checks that the scalars of the document are `text` and then the given others.
    fn check_parsed(document: &str, text: &str, position: usize, count: usize) {
        let scalars =
            parsed_scalars(document).unwrap_or_else(|error| panic!("{document:?}: {error}"));
        assert_eq!(scalars.len(), count, "{document:?}");
        assert_eq!(scalars[position].0, text, "{document:?}");
        if scalars[position].1 {
            assert_eq!(resolve_plain(text), text.into(), "{document:?}");
        }
    }

    fn tricky() -> impl Strategy<Value = String> {
        prop_oneof![
            "[-?:,\\[\\]{}#&*!|>'\"%@` ab01._\\n\\t]{0,8}",
            "[ab \\n]{0,10}",
            "[ a\\n\\t#:-]{0,12}",
            "[-+0-9._,:eExobTZ ]{0,8}",
            "(?i)y|n|yes|no|on|off|true|false|null|~|=|<<|[-+.]{0,2}(inf|nan)",
            "[a-c\\x00-\\x1f\\x7f-\\u{a0}\\u{2028}\\u{2029}\\u{feff}\\u{fffe}é日😀 ]{0,6}",
            "\\PC{0,20}",
            any::<String>(),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn inline_reads_back(text in tricky()) {
            use ScalarStyle::*;
            for style in [Plain, SingleQuoted, DoubleQuoted, Literal, Folded] {
                let written = write_inline(&text, style, Context::Block);
                check_parsed(&format!("k: {written}\nz: y\n"), &text, 1, 4);
                check_parsed(&format!("- {written} # c\n- z\n"), &text, 0, 2);
                check_parsed(&format!("{written}: v\n"), &text, 0, 2);
                check_parsed(&written, &text, 0, 1);
                let written = write_inline(&text, style, Context::Flow);
                check_parsed(&format!("[{written}]"), &text, 0, 1);
                check_parsed(&format!("[{written},{written}]"), &text, 1, 2);
                check_parsed(&format!("{{k: {written}}}"), &text, 1, 2);
                check_parsed(&format!("{{{written}: v}}"), &text, 0, 2);
            }
        }

        #[test]
        fn safe_text_is_a_string(text in tricky()) {
            for context in CONTEXTS {
                if plain_is_safe(&text, context) {
                    prop_assert_eq!(resolve_plain(&text), Value::from(text.as_str()));
                }
            }
        }

        #[test]
        fn blocks_read_back(text in tricky(), end in "\\n{0,3}") {
            let text = text + &end;
            for folded in [false, true] {
                for newline in ["\n", "\r\n"] {
                    if let Some((header, body)) = write_block(&text, folded, 2, newline, 2) {
                        check_parsed(&format!("k: {header}{newline}{body}{newline}z: y{newline}"), &text, 1, 4);
                        check_parsed(&format!("k: {header}{newline}{body}{newline}"), &text, 1, 2);
                    }
                    if let Some((header, body)) = write_block(&text, folded, 5, newline, 3) {
                        check_parsed(&format!("k:{newline}  l: {header}{newline}{body}{newline}# c{newline}"), &text, 2, 3);
                    }
                }
            }
        }

        #[test]
        fn numbers_read_back(integer in any::<i128>(), float in any::<f64>()) {
            for number in [Number::Int(integer), Number::Float(float)] {
                prop_assert_eq!(resolve_plain(&number_text(&number)), Value::Number(number.clone()));
                prop_assert!(!plain_is_safe(&number_text(&number), Context::Block));
            }
        }
    }
}
