//! Which strings can be written plain, so that every reader reads the same string.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::Context;

/// Whether `text`, written plain on one line, is read as exactly this string by every common reader, of YAML 1.1 or
/// 1.2.
///
/// False for text that breaks the syntax in this context (7.3.3) and for text that some reader resolves to another
/// type: empty text and null words, the booleans of YAML 1.1 (`y`, `on`, ...) in any case, numbers (`0o17`, `017`,
/// `0b1`, `1_000`, `1,000`, `1e3`, `.5`, `12:30`, `.inf`), dates and times, `=` and `<<`. Where readers are stricter or
/// laxer than their specification, the answer is the cautious one.
pub fn plain_is_safe(text: &str, context: Context) -> bool {
    // Most strings: no number, time or indicator begins with a letter.
    let is_usual =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    if text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(is_usual) {
        return !is_reserved_word(text);
    }
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
        // Ruby reads `:word` as a symbol.
        ':' | ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"'
        | '%' | '@' | '`' => false,
        '-' | '?' => text.len() > 1 && text.as_bytes()[1] != b' ',
        _ => true,
    };
    // At the start of a document's root, such a line would be a marker.
    if !starts_well || text.starts_with("---") || text.starts_with("...") {
        return false;
    }
    let mut before = '\0';
    for character in text.chars() {
        let fine = match character {
            ' ' => before != ':',
            '#' => before != ' ',
            // PyYAML ends a plain scalar at a question mark in flow context, wherever it is.
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

/// Whether a character can be written on one line for every reader: printable (5.1), including the tab, but no line
/// break of YAML 1.1 (NEL, LS, PS) and no byte order mark.
pub(super) fn is_printable(character: char) -> bool {
    match character {
        '\t' | ' '..='~' => true,
        '\0'..='\u{9f}' => false,
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        _ => true,
    }
}

/// Whether a text is a bool, null, merge or value of <https://yaml.org/type/>, in any case, because Ruby ignores the
/// case.
fn is_reserved_word(text: &str) -> bool {
    const WORDS: [&str; 12] = [
        "~", "=", "<<", "y", "n", "no", "on", "off", "yes", "null", "true", "false",
    ];
    let may_begin_one = |first: &u8| b"~=<ynotf".contains(&first.to_ascii_lowercase());
    text.len() <= 5
        && text.as_bytes().first().is_some_and(may_begin_one)
        && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a text can be an int or float of <https://yaml.org/type/>, or one that only Go (`0B1`, `0o-7`, `-_1`), Ruby
/// (`1,000`, `.INf`, `0bb1`, `.e+5`) or PyYAML (`0x_`) accepts.
fn looks_like_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned.eq_ignore_ascii_case(".inf") || unsigned.eq_ignore_ascii_case(".nan") {
        return true;
    }
    let begins_one = |first: char| first.is_ascii_digit() || matches!(first, '.' | '_');
    if !unsigned.starts_with(begins_one) || text.starts_with('_') {
        return false;
    }
    let compact = unsigned.replace(['_', ','], "");
    // `-_` and `._`, on which ruamel.yaml fails.
    let only_separators = compact.len() < unsigned.len() && compact.bytes().all(|b| b == b'.');
    only_separators || NUMBER.is_match(&compact)
}

/// A number without sign and separators: decimal, an exponent alone, hexadecimal, octal, binary, base 60.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)^(?:
        (?: [0-9]+ (?:\.[0-9]*)? | \.[0-9]+ ) (?:[eE][-+]?[0-9]+)?
        | \.[eE][-+][0-9]*
        | 0[xX][-+]?[0-9a-fA-F]*
        | 0[oO][-+]?[0-7]*
        | 0[bB][-+]?[01b]*
        | [0-9]+ (?::[0-5]?[0-9])+ (?:\.[0-9]*)?
    )$",
    )
});

/// Whether a text can be a time of <https://yaml.org/type/timestamp.html>, with one-digit months and days as in Go, or
/// a year before Christ as in Ruby.
///
/// It is a date, alone or followed by text that may be a time.
fn looks_like_timestamp(text: &str) -> bool {
    // Most texts begin with a letter and need no pattern.
    let begins_one = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    begins_one && TIMESTAMP.is_match(text)
}

static TIMESTAMP: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?x)^-?[0-9]{4}-[0-9]{1,2}-[0-9]{1,2} (?: $ | [Tt\x20] [\x20\t\n\f\r]* [0-9] )")
});

#[expect(clippy::expect_used, reason = "tests use all of them")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern")
}
