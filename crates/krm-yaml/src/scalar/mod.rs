//! Scalars: the value of a plain scalar, and how text is written so that every reader reads the same text.
//!
//! The string `yes` is written as `"yes"`, because a YAML 1.1 reader would read the plain word as a boolean.
//!
//! Sources: YAML 1.2.2, chapters 5, 7 and 8 for the styles and 10.3.2 for the core schema; the YAML 1.1 type repository
//! (<https://yaml.org/type/>) for the older words; and the resolvers of PyYAML, go-yaml v2 and v3 and Ruby's Psych, which go beyond both.

mod plain;
mod reading;
mod write;

pub use plain::plain_is_safe;
pub use reading::Reading;
#[cfg(test)]
use write::write_single_quoted;
pub(crate) use write::{write_block, write_double_quoted, write_inline};

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
    /// `|` and the lines without changes.
    Literal,
    /// `>` and lines that are joined.
    Folded,
}

/// Where a scalar is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// In a block collection, or alone in its document.
    Block,
    /// Inside of `[]` or `{}`, where `,[]{}` end a plain scalar.
    Flow,
}

/// Whether a plain scalar is `null`.
pub(crate) fn is_plain_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// The value of a plain scalar in the core schema of YAML 1.2 (10.3.2); `None` if it is a string.
///
/// These are not strings: empty text, `~`, `null`, `Null`, `NULL`; `true`, `false` in three cases; `-12`, `0o14`,
/// `0xC`; `1.5e3`, `.5`, `-.inf`, `.nan`. Everything else is a string. A decimal with a leading zero, and a number that
/// overflows an `i128` or a double, is [`Number::Verbatim`].
#[inline]
fn resolve_special(text: &str) -> Option<Value> {
    match text.as_bytes().first() {
        None => Some(Value::Null),
        Some(b'~' | b'n' | b'N') => is_plain_null(text).then_some(Value::Null),
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
            // `from_str_radix` would accept a sign.
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
    // `parse` would also accept words, such as `inf`.
    if !unsigned.starts_with(|first: char| first == '.' || first.is_ascii_digit()) {
        return None;
    }
    let value = text.parse::<f64>().ok()?;
    Some(if value.is_finite() {
        Number::Float(value)
    } else {
        verbatim()
    })
}

#[cfg(test)]
mod tests;
