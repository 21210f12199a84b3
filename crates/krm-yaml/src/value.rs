//! The value of a YAML node, independent of its spelling.
//!
//! Values are compared here and spelled in [`super::scalar`]: `8080`, `0x1f90` and `8080.0` are equal, `"8080"` is not.

use std::borrow::Cow;
use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};

use serde::de::IgnoredAny;

use crate::interner::matches;

/// A YAML value, independent of its spelling.
///
/// Equality is by value: numbers across `Int` and `Float`, `.nan` equals itself, the order of a mapping's keys does not
/// matter. If a key occurs twice, its first entries are compared with each other, then its second entries.
#[derive(Debug, Clone)]
pub enum Value {
    /// `null`, `~` or nothing at all.
    Null,
    Bool(bool),
    /// An integer or floating point number.
    Number(Number),
    String(String),
    /// The elements of a sequence.
    Sequence(Vec<Value>),
    /// The entries of a mapping, in the order of the document.
    Mapping(Vec<(Value, Value)>),
}

/// A YAML number. `5` and `5.0` are equal.
#[derive(Debug, Clone)]
pub enum Number {
    Int(i128),
    /// A floating point number, infinities and not-a-number included.
    Float(f64),
    /// A number spelled in a way that readers disagree on (`017` is 15 in YAML 1.1 and 17 in YAML 1.2), or one too large.
    /// It equals only the same spelling.
    Verbatim(Box<str>),
}

impl Value {
    /// The value of the first entry with this key; `None` if there is none or this is not a mapping.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let Value::Mapping(entries) = self else {
            return None;
        };
        entries
            .iter()
            .find(|(name, _)| name.as_str() == Some(key))
            .map(|(_, value)| value)
    }

    /// The value at the end of a chain of keys.
    pub fn get_path(&self, keys: &[&str]) -> Option<&Value> {
        keys.iter().try_fold(self, |value, key| value.get(key))
    }

    /// The value of a key, or the element with an index, as a JSON pointer names it.
    pub fn part(&self, step: &str) -> Option<&Self> {
        match self {
            Self::Sequence(items) => items.get(step.parse::<usize>().ok()?),
            _ => self.get(step),
        }
    }

    /// As [`Self::part`].
    pub fn part_mut(&mut self, step: &str) -> Option<&mut Self> {
        match self {
            Self::Sequence(items) => items.get_mut(step.parse::<usize>().ok()?),
            _ => self.get_mut(step),
        }
    }

    /// The items of a sequence; empty for other values.
    pub fn items(&self) -> &[Value] {
        match self {
            Value::Sequence(items) => items,
            _ => &[],
        }
    }

    /// The entries of a mapping; empty for other values.
    pub fn entries(&self) -> &[(Value, Value)] {
        match self {
            Value::Mapping(entries) => entries,
            _ => &[],
        }
    }

    /// Whether it is a sequence or mapping that is not empty.
    pub fn has_parts(&self) -> bool {
        !self.items().is_empty() || !self.entries().is_empty()
    }

    /// Makes an entry for a [`Value::Mapping`].
    pub fn entry(key: impl Into<Self>, value: impl Into<Self>) -> (Self, Self) {
        (key.into(), value.into())
    }

    /// The value of the first entry with this key; `None` if there is none or this is not a mapping.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let Self::Mapping(entries) = self else {
            return None;
        };
        let found = entries
            .iter_mut()
            .find(|(name, _)| name.as_str() == Some(key));
        found.map(|(_, value)| value)
    }

    /// The value of a key. A missing key is added with an empty mapping. A value that is not a mapping is replaced with
    /// one.
    pub fn field_mut(&mut self, key: &str) -> &mut Self {
        if !matches!(self, Self::Mapping(_)) {
            *self = Self::Mapping(Vec::new());
        }
        if self.get(key).is_none() {
            self.push(key, Self::Mapping(Vec::new()));
        }
        #[expect(clippy::expect_used, reason = "pushed just above")]
        self.get_mut(key).expect("an entry")
    }

    /// Adds an entry to a mapping; other values are unchanged.
    pub fn push(&mut self, key: impl Into<Self>, value: impl Into<Self>) {
        if let Self::Mapping(entries) = self {
            entries.push(Self::entry(key, value));
        }
    }

    /// Approximate number of bytes that it takes in a text.
    pub(super) fn length(&self) -> usize {
        match self {
            Value::String(text) => text.len() + 2,
            Value::Sequence(items) => items.iter().map(|item| item.length() + 2).sum(),
            Value::Mapping(entries) => {
                let length = |(key, value): &(Value, Value)| key.length() + value.length() + 2;
                entries.iter().map(length).sum()
            }
            _ => 4,
        }
    }

    /// Approximate number of bytes that it takes in memory.
    #[must_use]
    pub fn cost(&self) -> usize {
        size_of::<Self>()
            + match self {
                Value::String(text) => text.len(),
                Value::Sequence(items) => items.iter().map(Value::cost).sum(),
                Value::Mapping(entries) => entries.iter().map(|(k, v)| k.cost() + v.cost()).sum(),
                _ => 0,
            }
    }

    /// The text of a string; `None` for everything else, numbers and booleans included.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The kind for messages: `null`, `boolean`, `number`, `string`, `sequence` or `mapping`.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Sequence(_) => "sequence",
            Value::Mapping(_) => "mapping",
        }
    }

    /// Compact JSON: `{"a":[1,null]}`, keys in the order of the document.
    ///
    /// Values that JSON cannot represent become strings: keys that are not strings (their plain text; JSON for
    /// collections), infinities, not-a-number, and numbers in a spelling that JSON does not know.
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        self.append_json(&mut json);
        json
    }

    fn append_json(&self, json: &mut String) {
        match self {
            Value::Null => json.push_str("null"),
            Value::Bool(true) => json.push_str("true"),
            Value::Bool(false) => json.push_str("false"),
            Value::Number(number) => {
                let text = number.to_string();
                if is_json_number(&text) {
                    json.push_str(&text);
                } else {
                    append_json_string(json, &text);
                }
            }
            Value::String(text) => append_json_string(json, text),
            Value::Sequence(elements) => {
                json.push('[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        json.push(',');
                    }
                    element.append_json(json);
                }
                json.push(']');
            }
            Value::Mapping(entries) => {
                json.push('{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        json.push(',');
                    }
                    append_json_string(json, &key.plain_text());
                    json.push(':');
                    value.append_json(json);
                }
                json.push('}');
            }
        }
    }

    /// A scalar without quotes, a collection as JSON: the name of a key in a path or in JSON.
    pub fn plain_text(&self) -> String {
        match self {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            other => other.to_json(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::String(text)
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Self {
        Value::String(text.into_owned())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Number(Number::Int(value.into()))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Number(left), Value::Number(right)) => left == right,
            (Value::String(left), Value::String(right)) => left == right,
            (Value::Sequence(left), Value::Sequence(right)) => left == right,
            (Value::Mapping(left), Value::Mapping(right)) => mappings_are_equal(left, right),
            _ => false,
        }
    }
}

impl Eq for Value {}

/// Agrees with `==`: the order of a mapping's entries does not matter.
impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Value::Null => {}
            Value::Bool(value) => value.hash(state),
            Value::Number(number) => number.hash(state),
            Value::String(text) => text.hash(state),
            Value::Sequence(elements) => elements.hash(state),
            // A sum, because the order of keys must not matter.
            Value::Mapping(entries) => {
                let hasher = BuildHasherDefault::<DefaultHasher>::default();
                let entries = entries.iter().map(|entry| hasher.hash_one(entry));
                entries.fold(0, u64::wrapping_add).hash(state);
            }
        }
    }
}

impl Number {
    /// The number as an integer; `None` if it is not one or does not fit.
    fn as_integer(&self) -> Option<i128> {
        // 2^127; the doubles in -2^127 .. 2^127 without a fraction are exactly those that an i128 holds.
        const BOUND: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
        match *self {
            Number::Int(value) => Some(value),
            Number::Float(value) if value.fract() == 0.0 && (-BOUND..BOUND).contains(&value) => {
                Some(value as i128)
            }
            _ => None,
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Number::Float(left), Number::Float(right)) => {
                left == right || (left.is_nan() && right.is_nan())
            }
            (Number::Verbatim(left), Number::Verbatim(right)) => left == right,
            (left, right) => match (left.as_integer(), right.as_integer()) {
                (Some(left), Some(right)) => left == right,
                _ => false,
            },
        }
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match (self.as_integer(), self) {
            (Some(integer), _) => integer.hash(state),
            (None, Number::Float(value)) if value.is_nan() => f64::NAN.to_bits().hash(state),
            (None, Number::Float(value)) => value.to_bits().hash(state),
            (None, Number::Verbatim(text)) => text.hash(state),
            (None, Number::Int(value)) => value.hash(state),
        }
    }
}

/// The spelling of a new number, on which readers of YAML 1.1, YAML 1.2 and, if it is finite, JSON agree: `5`, `5.0`,
/// `1.0e+100`, `-.inf`, `.nan`.
impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Int(value) => write!(formatter, "{value}"),
            Number::Verbatim(text) => formatter.write_str(text),
            Number::Float(value) if value.is_nan() => formatter.write_str(".nan"),
            Number::Float(value) if value.is_infinite() => {
                formatter.write_str(if *value < 0.0 { "-.inf" } else { ".inf" })
            }
            Number::Float(value) => {
                let text = format!("{value:?}");
                // YAML 1.1 requires both the point and the sign of the exponent; Rust writes `1e100`.
                let Some((mantissa, exponent)) = text.split_once('e') else {
                    return formatter.write_str(&text);
                };
                let point = if mantissa.contains('.') { "" } else { ".0" };
                let sign = if exponent.starts_with('-') { "" } else { "+" };
                write!(formatter, "{mantissa}{point}e{sign}{exponent}")
            }
        }
    }
}

/// Compares mappings by key, in any order.
///
/// A [`Value`] keeps its entries in a list in the order of the text, not in a map: a key that is a collection may occur
/// twice in a text, written differently, and the editor must detect that to refuse it.
fn mappings_are_equal(left: &[(Value, Value)], right: &[(Value, Value)]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    // Usually the order is the same, and then no table of keys is needed. Loops instead of closures, which would take
    // several stack frames for each level.
    let mut same = 0;
    for ((key, value), (other_key, other)) in left.iter().zip(right) {
        if key != other_key {
            break;
        }
        if value != other {
            return false;
        }
        same += 1;
    }
    if same == left.len() {
        return true;
    }
    let (left, right) = (&left[same..], &right[same..]);
    let [ours, theirs] = [left, right].map(|entries| entries.iter().map(|(key, _)| Some(key)));
    for (place, (_, value)) in matches(ours, theirs).into_iter().zip(right) {
        if place.is_none_or(|place| left[place].1 != *value) {
            return false;
        }
    }
    true
}

/// Whether a text is a JSON number (RFC 8259, section 6).
pub(crate) fn is_json_number(text: &str) -> bool {
    let is_number = text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_digit());
    is_number && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn append_json_string(json: &mut String, text: &str) {
    json.push_str(&serde_json::Value::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i128) -> Value {
        Value::Number(Number::Int(value))
    }

    fn float(value: f64) -> Value {
        Value::Number(Number::Float(value))
    }

    fn verbatim(text: &str) -> Value {
        Value::Number(Number::Verbatim(text.into()))
    }

    fn mapping<const N: usize>(entries: [(&str, Value); N]) -> Value {
        Value::Mapping(entries.map(|(key, value)| (key.into(), value)).into())
    }

    #[test]
    fn equal_values() {
        let table = [
            (Value::Null, Value::Null),
            (int(5), float(5.0)),
            (float(0.0), float(-0.0)),
            (int(0), float(-0.0)),
            (float(f64::NAN), float(-f64::NAN)),
            (float(f64::INFINITY), float(f64::INFINITY)),
            (int(1 << 80), float((1i128 << 80) as f64)),
            (int(i128::MIN), float(i128::MIN as f64)),
            (verbatim("017"), verbatim("017")),
            (
                mapping([("a", int(1)), ("b", int(2))]),
                mapping([("b", int(2)), ("a", float(1.0))]),
            ),
            (
                mapping([("a", int(1)), ("b", int(2)), ("b", int(3))]),
                mapping([("b", int(2)), ("a", int(1)), ("b", int(3))]),
            ),
            (
                Value::Mapping(vec![
                    (mapping([("x", int(1)), ("y", int(2))]), int(3)),
                    (int(1), int(2)),
                ]),
                Value::Mapping(vec![
                    (float(1.0), int(2)),
                    (mapping([("y", int(2)), ("x", int(1))]), int(3)),
                ]),
            ),
        ];
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        for (left, right) in table {
            assert_eq!(left, right);
            assert_eq!(right, left);
            assert_eq!(hasher.hash_one(&left), hasher.hash_one(&right));
        }
    }

    #[test]
    fn different_values() {
        let table = [
            (int(5), "5".into()),
            (Value::Null, "".into()),
            (true.into(), "true".into()),
            (int(1), true.into()),
            (int(5), float(5.5)),
            (int(i128::MAX), float(i128::MAX as f64)),
            (int((1 << 60) + 1), float((1i128 << 60) as f64)),
            (int(17), verbatim("017")),
            (float(f64::INFINITY), float(f64::NEG_INFINITY)),
            (float(f64::NAN), int(0)),
            (
                Value::Sequence(vec![int(1), int(2)]),
                Value::Sequence(vec![int(2), int(1)]),
            ),
            (Value::Sequence(vec![]), Value::Mapping(vec![])),
            (mapping([("a", int(1))]), mapping([("a", int(2))])),
            (mapping([("a", int(1))]), mapping([("b", int(1))])),
            (
                mapping([("a", int(1)), ("a", int(1))]),
                mapping([("a", int(1)), ("b", int(1))]),
            ),
            (
                mapping([("b", int(1)), ("a", int(2))]),
                mapping([("a", int(1)), ("b", int(2))]),
            ),
        ];
        for (left, right) in table {
            assert_ne!(left, right);
            assert_ne!(right, left);
        }
    }

    #[test]
    fn large_mappings_compare_in_any_order_and_fast() {
        let entries: Vec<(Value, Value)> = (0..200_000)
            .map(|index| (Value::from(format!("key{index}")), Value::from(index)))
            .collect();
        let mut reversed = entries.clone();
        reversed.reverse();
        assert_eq!(
            Value::Mapping(entries.clone()),
            Value::Mapping(reversed.clone())
        );
        reversed[7].1 = Value::Null;
        assert_ne!(Value::Mapping(entries), Value::Mapping(reversed));
    }

    #[test]
    fn large_mappings_know_equal_number_keys() {
        let integers: Vec<_> = (0..100).map(|index| (int(index), Value::Null)).collect();
        let floats: Vec<_> = (0..100)
            .rev()
            .map(|index| (float(index as f64), Value::Null))
            .collect();
        assert_eq!(Value::Mapping(integers), Value::Mapping(floats));
    }

    #[test]
    fn lookups() {
        let value = mapping([("a", "x".into()), ("b", int(1))]);
        assert_eq!(value.get("a").and_then(Value::as_str), Some("x"));
        assert_eq!(value.get("b").and_then(Value::as_str), None);
        assert_eq!(value.get("c"), None);
        assert_eq!(Value::Null.get("a"), None);
        assert_eq!(value.kind(), "mapping");
        assert_eq!(Value::from(true).kind(), "boolean");
    }

    #[test]
    fn json() {
        let table = [
            (Value::Null, "null"),
            (true.into(), "true"),
            (int(-5), "-5"),
            (float(5.0), "5.0"),
            (float(1e100), "1.0e+100"),
            (float(1.5e-9), "1.5e-9"),
            (float(f64::NAN), "\".nan\""),
            (verbatim("017"), "\"017\""),
            (verbatim("1e400"), "1e400"),
            (verbatim("+1e400"), "\"+1e400\""),
            (
                "a\"\\\n\r\t\u{8}\u{c}\u{1}é/".into(),
                "\"a\\\"\\\\\\n\\r\\t\\b\\f\\u0001é/\"",
            ),
            (
                Value::Sequence(vec![int(1), Value::Sequence(vec![]), "x".into()]),
                "[1,[],\"x\"]",
            ),
            (
                mapping([("b", int(1)), ("a", mapping([]))]),
                "{\"b\":1,\"a\":{}}",
            ),
            (
                Value::Mapping(vec![
                    (int(1), Value::Null),
                    (Value::Null, Value::Null),
                    (true.into(), Value::Null),
                    (Value::Sequence(vec!["x".into()]), Value::Null),
                ]),
                "{\"1\":null,\"null\":null,\"true\":null,\"[\\\"x\\\"]\":null}",
            ),
        ];
        for (value, expected) in table {
            assert_eq!(value.to_json(), expected);
        }
    }

    #[test]
    fn json_numbers() {
        for text in ["0", "-0", "10", "1.5", "1e5", "1E+5", "-1.25e-7"] {
            assert!(is_json_number(text), "{text}");
        }
        for text in [
            "", "-", "01", "+1", ".5", "1.", "1e", "1e+", "0x1", "1_0", "1 ",
        ] {
            assert!(!is_json_number(text), "{text}");
        }
    }
}
