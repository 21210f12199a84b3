//! Strings that every reader takes for the same string when they are written plain.

use std::borrow::Cow;

use super::{Context, is_decimal_float, split_digits};

/// Whether `text` written plain on one line reads back as exactly this string with every common reader, of YAML 1.1 or 1.2.
///
/// False for what breaks the syntax in this context (7.3.3) and for what some reader resolves to another type: empty text and null words,
/// the booleans of YAML 1.1 (`y`, `on`, ...) in any case, numbers (`0o17`, `017`, `0b1`, `1_000`, `1,000`, `1e3`, `.5`, `12:30`, `.inf`), dates and times, `=` and `<<`.
/// Where readers are stricter or laxer than their specification, the answer is the cautious one.
pub(crate) fn plain_is_safe(text: &str, context: Context) -> bool {
    if is_usual(text.as_bytes()) {
        return text.as_bytes().last() != Some(&b':') && !is_reserved_word(text);
    }
    plain_keeps_its_text(text, context)
        && !is_reserved_word(text)
        && !looks_like_number(text)
        && !looks_like_timestamp(text)
}

/// Whether a text begins with a letter, so that it is not a number, time or indicator, and all of its
/// bytes stand for themselves after any other and in every context. Most texts are so.
fn is_usual(text: &[u8]) -> bool {
    const ORDINARY: [bool; 256] = {
        let mut ordinary = [false; 256];
        let mut byte = b'!';
        while byte <= b'~' {
            ordinary[byte as usize] =
                !matches!(byte, b'#' | b',' | b'[' | b']' | b'{' | b'}' | b'?');
            byte += 1;
        }
        ordinary
    };
    let are_ordinary = |bytes: &[u8]| {
        let each = bytes.iter().map(|byte| ORDINARY[usize::from(*byte)]);
        each.fold(true, |all, each| all & each)
    };
    let (eights, rest) = text.as_chunks::<8>();
    text.first().is_some_and(u8::is_ascii_alphabetic)
        && eights.iter().all(|eight| are_ordinary(eight))
        && are_ordinary(rest)
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

/// On one line in every reader: printable (5.1), no line break of YAML 1.1 (NEL, LS, PS), no byte order mark. The tab is.
pub(super) fn is_printable(character: char) -> bool {
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
    let may_begin_one = |first: &u8| b"~=<ynotf".contains(&first.to_ascii_lowercase());
    text.len() <= 5
        && text.as_bytes().first().is_some_and(may_begin_one)
        && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
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

/// `0x1F`, `0o17`, `0b11`, also in upper case, with a sign after the prefix, or without digits.
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
/// A date alone, or one with something after it that may be a time.
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
