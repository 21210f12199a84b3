//! What a plain scalar means, to each of the readers that there are.
//!
//! [`Reading::Kubernetes`] is the reader of kubectl and of API servers (sigs.k8s.io/yaml): the words and numbers of
//! go-yaml 2, then JSON, whose numbers are 64 bits wide and whose keys are strings. `kubernetes.txt` has what the real
//! kubectl reads in hundreds of spellings.

use std::borrow::Cow;

use super::{is_plain_null, resolve_special};
use crate::value::{Number, Value};

/// The rules by which a plain scalar is a string, a number, a boolean or null.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reading {
    /// The core schema of YAML 1.2 (10.3.2): `0644` and `yes` are no number and no boolean.
    #[default]
    Core,
    /// What Kubernetes reads: `0644` and `0o644` are 420, `yes`, `on` and `y` are true, `1_000` is 1000. The key `0x35` is the
    /// string `53`.
    Kubernetes,
}

impl Reading {
    /// The value of a plain scalar.
    #[must_use]
    pub fn value(self, text: &str) -> Value {
        self.special(text)
            .unwrap_or_else(|| Value::String(text.to_owned()))
    }

    /// Whether a plain scalar is a string.
    #[inline]
    #[must_use]
    pub fn is_string(self, text: &str) -> bool {
        self.special(text).is_none()
    }

    /// The value of a plain scalar; `None` if it is a string.
    #[inline]
    pub(crate) fn special(self, text: &str) -> Option<Value> {
        match self {
            Self::Core => resolve_special(text),
            Self::Kubernetes => special(text),
        }
    }

    /// The text by which two spellings of one plain scalar are the same: `420` for `0644`, `true` for `yes`. A null keeps
    /// its spelling.
    pub(crate) fn value_text(self, text: &str) -> Cow<'_, str> {
        match self.special(text) {
            None | Some(Value::Null) => Cow::Borrowed(text),
            Some(value) => Cow::Owned(value.plain_text()),
        }
    }

    /// The text of a plain scalar as the key of a mapping: in Kubernetes, keys are strings. `None` if it cannot be one.
    pub(crate) fn key_text(self, text: &str) -> Option<Cow<'_, str>> {
        if self == Self::Core {
            return None;
        }
        match special(text) {
            None => Some(Cow::Borrowed(text)),
            Some(Value::Null) => None,
            // An integer keeps its digits; a float becomes one of 32 bits.
            Some(Value::Number(number)) => Some(Cow::Owned(match (integer(text), float(text)) {
                (Some(integer), _) => integer.to_string(),
                (None, Some(float)) => short_float(float as f32),
                (None, None) => number.to_string(),
            })),
            Some(value) => Some(Cow::Owned(value.plain_text())),
        }
    }
}

/// The value of a plain scalar to Kubernetes; `None` if it is a string.
#[inline]
fn special(text: &str) -> Option<Value> {
    match text.as_bytes().first() {
        None => Some(Value::Null),
        Some(b'~' | b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O') => {
            word(text)
        }
        Some(b'0'..=b'9' | b'-' | b'+' | b'.') => number(text).map(Value::Number),
        Some(_) => None,
    }
}

fn word(text: &str) -> Option<Value> {
    if is_plain_null(text) {
        return Some(Value::Null);
    }
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => {
            Some(Value::Bool(true))
        }
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => {
            Some(Value::Bool(false))
        }
        _ => None,
    }
}

fn number(text: &str) -> Option<Number> {
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Some(Number::Float(f64::INFINITY));
        }
        "-.inf" | "-.Inf" | "-.INF" => return Some(Number::Float(f64::NEG_INFINITY)),
        ".nan" | ".NaN" | ".NAN" => return Some(Number::Float(f64::NAN)),
        _ => {}
    }
    if let Some(integer) = integer(text) {
        // JSON has one kind of number: what 64 bits with a sign do not hold is a float.
        return Some(match i64::try_from(integer) {
            Ok(_) => Number::Int(integer),
            Err(_) => Number::Float(integer as f64),
        });
    }
    let float = float(text)?;
    // JSON has no point in a whole number, and the next reader takes its digits.
    let is_whole = float.fract() == 0.0 && float.abs() < 1e21;
    let text = is_whole.then(|| (float + 0.0).to_string());
    let integer = text.and_then(|digits| digits.parse::<i64>().ok());
    Some(integer.map_or(Number::Float(float), |whole| Number::Int(whole.into())))
}

/// An integer as Go's `ParseInt` and `ParseUint` read it, with base 0 and without `_`.
fn integer(text: &str) -> Option<i128> {
    if text.starts_with('.') {
        return None;
    }
    let compact = without_separators(text);
    let (negative, unsigned) = match compact.as_bytes().first()? {
        b'-' => (true, &compact[1..]),
        b'+' => (false, &compact[1..]),
        _ => (false, &*compact),
    };
    let (digits, radix) = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&unsigned[2..], 16),
        [b'0', b'o' | b'O', ..] => (&unsigned[2..], 8),
        [b'0', b'b' | b'B', ..] => (&unsigned[2..], 2),
        [b'0', _, ..] => (&unsigned[1..], 8),
        _ => (unsigned, 10),
    };
    // go-yaml reads a binary number with a sign after its prefix.
    let (negative, digits) = match digits.as_bytes().first() {
        Some(b'-') if compact.starts_with("0b") => (true, &digits[1..]),
        Some(b'+') if compact.starts_with("0b") => (false, &digits[1..]),
        _ => (negative, digits),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let size = i128::from_str_radix(digits, radix).ok()?;
    let most = if negative || compact.starts_with('+') {
        i128::from(i64::MAX) + i128::from(negative)
    } else {
        i128::from(u64::MAX)
    };
    (size <= most).then_some(if negative { -size } else { size })
}

/// A decimal float; `None` if it is not written as one or is too large.
fn float(text: &str) -> Option<f64> {
    // Only numbers that begin with a digit or sign may have `_`.
    let compact = if text.starts_with('.') {
        Cow::Borrowed(text)
    } else {
        without_separators(text)
    };
    let unsigned = compact.strip_prefix(['-', '+']).unwrap_or(&compact);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let are_digits = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.map(|exponent| exponent.strip_prefix(['-', '+']).unwrap_or(exponent));
    let is_float = are_digits(whole)
        && are_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|digits| !digits.is_empty() && are_digits(digits));
    let float = is_float.then(|| compact.parse::<f64>().ok())??;
    float.is_finite().then_some(float)
}

fn without_separators(text: &str) -> Cow<'_, str> {
    if text.contains('_') {
        Cow::Owned(text.replace('_', ""))
    } else {
        Cow::Borrowed(text)
    }
}

/// A float of 32 bits as Go writes it with the format `g`: `1.5`, `1e+06`, `1.2345679e-07`.
fn short_float(value: f32) -> String {
    if value.is_infinite() {
        return if value < 0.0 { "-.inf" } else { ".inf" }.to_owned();
    }
    let text = format!("{value:e}");
    let Some((mantissa, exponent)) = text.split_once('e') else {
        return text;
    };
    let power: i32 = exponent.parse().unwrap_or_default();
    // The shortest form has an exponent from the seventh digit before the point on, and from the fifth zero after it.
    if (-4..6).contains(&power) || value == 0.0 {
        return format!("{value}");
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", power.abs())
}

#[cfg(test)]
mod tests {
    use crate::{NodeRef, OwnedDocument, Value};

    /// The recorded answers of kubectl: a spelling, the JSON of its value, and the JSON of the key that it is.
    fn recorded() -> impl Iterator<Item = [&'static str; 3]> {
        let lines = include_str!("kubernetes.txt").lines();
        let lines = lines.filter(|line| !line.starts_with("# ") && !line.is_empty());
        lines.map(|line| {
            let mut fields = line.split('\t');
            [(); 3].map(|()| fields.next().expect(line))
        })
    }

    /// The JSON of a value, whose numbers are those of Go.
    fn json(value: &Value) -> serde_json::Value {
        serde_json::from_str(&value.to_json()).expect("JSON")
    }

    fn number_or_text(json: &serde_json::Value) -> serde_json::Value {
        json.as_f64().map_or_else(|| json.clone(), Into::into)
    }

    #[test]
    fn every_spelling_is_read_as_kubectl_reads_it() {
        let mut compared = 0;
        // Base64 stays as it is written.
        for [spelling, value, key] in recorded().filter(|[text, ..]| !text.starts_with("!!binary"))
        {
            let read = |text: String| OwnedDocument::parse_resource(text);
            if value != "!" {
                let document = read(format!("v: {spelling}\n")).expect(spelling);
                let node = document
                    .root()
                    .and_then(|root| root.get("v"))
                    .expect(spelling);
                let expected: serde_json::Value = serde_json::from_str(value).expect(value);
                let found = json(&node.value().expect(spelling));
                assert_eq!(
                    number_or_text(&found),
                    number_or_text(&expected),
                    "{spelling}"
                );
                assert_eq!(found.is_i64(), expected.is_i64(), "{spelling}");
                assert_eq!(node.as_str(), expected.as_str(), "{spelling}");
                assert_eq!(node.is_null(), expected.is_null(), "{spelling}");
                compared += 1;
            }
            if key != "!" {
                let document = read(format!("{spelling}: a\n")).expect(spelling);
                let root = document.root().expect(spelling);
                let entry = root.entries().next().expect(spelling);
                let expected: String = serde_json::from_str(key).expect(key);
                assert_eq!(entry.key.as_str(), Some(&*expected), "{spelling}");
                assert_eq!(
                    entry.key.value(),
                    Some(Value::from(&*expected)),
                    "{spelling}"
                );
                assert!(root.get(&expected).is_some(), "{spelling}");
                compared += 1;
            }
        }
        assert!(compared > 1_000, "{compared}");
    }

    #[test]
    fn two_spellings_are_equal_as_their_values_are() {
        let spellings: Vec<_> = recorded().filter(|[_, value, _]| *value != "!").collect();
        let text: String = spellings
            .iter()
            .map(|[text, ..]| format!("- {text}\n"))
            .collect();
        let document = OwnedDocument::parse_resource(text).expect("YAML");
        let nodes: Vec<NodeRef<'_>> = document.root().expect("a root").items().collect();
        for (node, [spelling, ..]) in nodes.iter().zip(&spellings) {
            for (other, [other_spelling, ..]) in nodes.iter().zip(&spellings) {
                let are_equal = node.value() == other.value();
                assert_eq!(
                    node.equals(other),
                    are_equal,
                    "{spelling} and {other_spelling}"
                );
                let types = [node, other].map(|node| node.kind_name());
                // A float of 64 bits equals an integer that it rounds to.
                let is_exact = [node, other]
                    .map(|node| node.value().is_some_and(|value| json(&value).is_i64()));
                if types[0] == types[1] && types[0] != "null" && is_exact[0] == is_exact[1] {
                    let same = node.value_text() == other.value_text();
                    assert_eq!(same, are_equal, "{spelling} and {other_spelling}");
                }
            }
        }
    }

    #[test]
    fn keys_with_the_same_text_are_one_key_only_in_resources() {
        for text in [
            "53: a\n\"53\": b\n",
            "0x35: a\n53: b\n",
            "on: a\nyes: b\n",
            "1.0: a\n1: b\n",
        ] {
            let twice = OwnedDocument::parse_resource(text.to_owned()).expect_err(text);
            assert!(twice.message.contains("appears twice"), "{text}: {twice:?}");
        }
        OwnedDocument::parse("53: a\n\"53\": b\non: c\nyes: d\n".to_owned()).expect("two keys");
        let null = OwnedDocument::parse_resource("a: b\n~: c\n".to_owned()).expect_err("null");
        assert_eq!(
            (null.line, &*null.message),
            (2, "expected a string as key, found null")
        );
        OwnedDocument::parse_resource("{a, b: , ? c}\n".to_owned()).expect("values that are null");
    }

    #[test]
    fn core_reads_words_and_octals_as_they_are_written() {
        let text = "a: 0644\nb: yes\nc: True\nd: 0x1F\n53: e\n";
        let document = OwnedDocument::parse(text.to_owned()).expect("YAML");
        let root = document.root().expect("a root");
        let texts =
            ["a", "b", "c", "d"].map(|key| root.get(key).and_then(|node| node.value_text()));
        assert_eq!(texts, [Some("0644"), Some("yes"), Some("true"), Some("31")]);
        assert!(root.get("53").is_none());
    }
}
