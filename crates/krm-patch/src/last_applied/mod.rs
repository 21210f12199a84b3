//! The annotation in which `kubectl apply` stores the configuration that it applied last.
//!
//! Compact JSON with sorted keys, as Go writes it: `<`, `>` and `&` escaped, a line break at the end.
//!
//! Source: merging-fields document, Last Applied Resource Config; contract, apply-config.

use std::borrow::Cow;

use serde::de::{Error, IgnoredAny};

use super::annotations::{with_annotations, without_tool_annotations};
use super::node::{Node, Shape};
use krm_yaml::value::Number;
use krm_yaml::{OwnedDocument, Value};

/// The configuration that was applied last, as a document of the same value.
#[derive(Debug)]
pub struct LastApplied(OwnedDocument);

impl LastApplied {
    /// Reads the annotation.
    ///
    /// # Errors
    /// An error if the text is not a JSON object.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        let text = without_surrogates(text);
        // Nearly all JSON is YAML. The exceptions are control characters, and duplicate keys, of which the last one
        // counts, as in Go.
        let document = match OwnedDocument::parse_resource(text.to_string()) {
            Ok(document) => serde_json::from_str::<IgnoredAny>(&text).map(|_| document)?,
            Err(_) => {
                let value: serde_json::Value = serde_json::from_str(&text)?;
                let is_plain = |c: &char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
                let mut json = String::new();
                for c in value.to_string().chars() {
                    match Some(c).filter(is_plain) {
                        Some(plain) => json.push(plain),
                        None => json += &format!("\\u{:04x}", u32::from(c)),
                    }
                }
                OwnedDocument::parse_resource(json).map_err(Error::custom)?
            }
        };
        match document.root().map(|root| Node::Text(root).shape()) {
            Some(Shape::Map) => Ok(Self(document)),
            shape => {
                let found = shape.unwrap_or(Shape::Null).with_article();
                Err(Error::custom(format!("expected an object, found {found}")))
            }
        }
    }

    /// The configuration that was applied last.
    pub fn node(&self) -> Node<'_> {
        self.0.root().map_or_else(Node::empty_map, Node::Text)
    }
}

/// The text of the annotation for a configuration: without the annotations of the pipeline and the annotation itself,
/// and always with `annotations`.
pub fn write(config: &Node<'_>) -> String {
    let mut json = String::new();
    let config = without_tool_annotations(config);
    let config = with_annotations(config.clone(), &config, |_| {});
    write_json(&config, &mut json);
    json.push('\n');
    json
}

/// Compact JSON with sorted keys, as Go's encoder writes it.
fn write_json(node: &Node<'_>, json: &mut String) {
    match node.shape() {
        Shape::Null => json.push_str("null"),
        Shape::Scalar => match node.as_str() {
            Some(text) => write_string(text, json),
            None => write_word(node.scalar(), json),
        },
        Shape::List => write_each(['[', ']'], node.each_item(), json, |item, json| {
            write_json(&item, json);
        }),
        Shape::Map => {
            let fields = node.fields();
            let mut order: Vec<usize> = (0..fields.len()).collect();
            order.sort_by(|a, b| fields.key(*a).cmp(fields.key(*b)));
            write_each(['{', '}'], order, json, |at, json| {
                write_string(fields.key(at), json);
                json.push(':');
                write_json(&fields.get(at).value, json);
            });
        }
    }
}

/// Writes parts between brackets, separated by commas.
fn write_each<T>(
    [open, close]: [char; 2],
    parts: impl IntoIterator<Item = T>,
    json: &mut String,
    mut write: impl FnMut(T, &mut String),
) {
    json.push(open);
    for (index, part) in parts.into_iter().enumerate() {
        if index > 0 {
            json.push(',');
        }
        write(part, json);
    }
    json.push(close);
}

fn write_word(value: Option<Value>, json: &mut String) {
    match value {
        Some(Value::Bool(value)) => json.push_str(if value { "true" } else { "false" }),
        Some(Value::Number(number)) => json.push_str(&number_text(&number)),
        _ => json.push_str("null"),
    }
}

/// A number as Go writes it: 64-bit integers without a fraction, others in the shortest form.
fn number_text(number: &Number) -> String {
    let float = match number {
        Number::Int(value) => match i64::try_from(*value) {
            Ok(value) => return value.to_string(),
            Err(_) => *value as f64,
        },
        Number::Float(value) => *value,
        Number::Verbatim(text) => match text.parse::<f64>() {
            Ok(value) if value.is_finite() => value,
            _ => {
                let mut json = String::new();
                write_string(text, &mut json);
                return json;
            }
        },
    };
    if !float.is_finite() {
        return format!("\"{number}\"");
    }
    let size = float.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return format!("{float}");
    }
    let text = format!("{float:e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) if !exponent.starts_with('-') => {
            format!("{mantissa}e+{exponent}")
        }
        _ => text,
    }
}

/// A string as Go's encoder writes it. It escapes characters that have a meaning in HTML or JavaScript.
fn write_string(text: &str, json: &mut String) {
    const SPECIAL: [char; 5] = ['<', '>', '&', '\u{2028}', '\u{2029}'];
    let text = serde_json::to_string(text).unwrap_or_default();
    for part in text.split_inclusive(SPECIAL) {
        let plain = part.trim_end_matches(SPECIAL);
        json.push_str(plain);
        let special = part[plain.len()..].chars().map(u32::from);
        json.extend(special.map(|code| format!("\\u{code:04x}")));
    }
}

/// The same JSON without escapes of surrogates: a pair becomes one character, and a lone surrogate becomes U+FFFD, as
/// in Go.
fn without_surrogates(text: &str) -> Cow<'_, str> {
    let code = |at: usize| -> Option<u16> {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut whole = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(escape) = memchr::memchr(b'\\', &text.as_bytes()[at..]) {
        let escape = at + escape;
        at = (escape + 2).min(text.len());
        let Some(first @ 0xd800..=0xdfff) = code(escape) else {
            continue;
        };
        let units = [Some(first), code(escape + 6)].into_iter().flatten();
        let pair = char::decode_utf16(units).next().and_then(Result::ok);
        whole.push_str(&text[copied..escape]);
        whole.push(pair.unwrap_or(char::REPLACEMENT_CHARACTER));
        at = escape + if pair.is_some() { 12 } else { 6 };
        copied = at;
    }
    match copied {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(whole + &text[copied..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_as_go_writes_it() {
        let table = [
            (
                r#"{"b":1,"a":[true,null,"x"]}"#,
                r#"{"a":[true,null,"x"],"b":1}"#,
            ),
            (
                r#"{"a":"<&>\u2028é\/"}"#,
                r#"{"a":"\u003c\u0026\u003e\u2028é/"}"#,
            ),
            (
                r#"{"a":"\ud83d\ude00\ud83d"}"#,
                "{\"a\":\"\u{1f600}\u{fffd}\"}",
            ),
            (
                r#"{"a":5.0,"b":1e21,"c":1e-7,"d":0.5,"e":1E2}"#,
                r#"{"a":5,"b":1e+21,"c":1e-7,"d":0.5,"e":100}"#,
            ),
            (
                r#"{"a":9223372036854775808}"#,
                r#"{"a":9223372036854776000}"#,
            ),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (
                "{\"a\":\t\"\u{7f}\u{85}\u{90}\u{feff}\u{fffe}\u{ffff}\u{10ffff}\"}",
                "{\"a\":\"\u{7f}\u{85}\u{90}\u{feff}\u{fffe}\u{ffff}\u{10ffff}\"}",
            ),
            (
                r#"{"a":"\udbff\udfff","a":"\udbff\udfff"}"#,
                "{\"a\":\"\u{10ffff}\"}",
            ),
        ];
        for (text, expected) in table {
            let mut json = String::new();
            write_json(&LastApplied::read(text).expect(text).node(), &mut json);
            assert_eq!(json, expected);
        }
    }

    #[test]
    fn halves_of_surrogate_pairs_are_one_character_each() {
        for (text, whole) in [
            (r"\ud83d\ude00", "\u{1f600}"),
            (r"\ud83d", "\u{fffd}"),
            (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
            (r"\ud83d\ud83d\ude00.", "\u{fffd}\u{1f600}."),
            (r"abcd\n\ud83d", "abcd\\n\u{fffd}"),
            (r"\\ud83d", r"\\ud83d"),
            (r"\ud7ff\ue000", r"\ud7ff\ue000"),
        ] {
            assert_eq!(without_surrogates(text), whole, "{text}");
        }
    }

    #[test]
    fn long_keys_and_line_breaks_are_read() {
        let key = "k".repeat(1_000);
        for text in [
            format!("{{\"{key}\":1}}"),
            format!("{{\"a\\u0041{key}\" :\n\t1}}\n"),
            format!("{{\"{key}\":\n{{\"{key}\"\n:1}},\"{key}\":2}}"),
        ] {
            assert!(LastApplied::read(&text).is_ok(), "{text}");
        }
    }

    #[test]
    fn text_that_is_not_json_is_refused() {
        for text in [
            "",
            "{",
            "[]",
            "{} x",
            "{a: 1}",
            "{\"a\":01}",
            "{\"a\":\"\n\"}",
            "{\"a\":1,}",
            "{\"a\":\"\\x\"}",
            "{\"a\":\"\\ué\"}",
            "{\"a\" 1}",
            "{\"a\":tru}",
        ] {
            assert!(LastApplied::read(text).is_err(), "{text}");
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(600), "]".repeat(600));
        assert!(LastApplied::read(&deep).is_err());
    }
}
