//! The annotation in which `kubectl apply` keeps the configuration that it applied last.
//!
//! Compact JSON with sorted keys, as Go writes it: `<`, `>` and `&` escaped, a line break at the end.
//!
//! Source: merging-fields document, Last Applied Resource Config; contract, apply-config.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Formatter};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::annotations::{with_field, without_tool_annotations};
use super::node::{Field, Fields, ListItem, Node, Shape};
use crate::yaml::value::Number;
use crate::yaml::{OwnedDocument, Value};

/// Deeper JSON is refused.
const MAX_DEPTH: usize = 512;

/// What was applied last.
#[derive(Debug)]
pub struct LastApplied(AnnotationForm);

#[derive(Debug)]
enum AnnotationForm {
    /// The JSON, as a document that has the same value.
    Document(Box<OwnedDocument>),
    Node(Node<'static>),
}

impl LastApplied {
    /// Reads the annotation.
    ///
    /// # Errors
    /// What is wrong, if the text is not a JSON object.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        // A tree takes far less memory than a value, and nearly all JSON is YAML.
        let document = OwnedDocument::parse(text.to_owned()).ok();
        let is_json = || !text.contains("\\u") && serde_json::from_str::<IgnoredAny>(text).is_ok();
        let is_map = |document: &OwnedDocument| {
            let root = document.root().filter(|root| root.kind().is_mapping());
            root.is_some() && document.document().len() == 1 && is_json()
        };
        if let Some(document) = document.filter(is_map) {
            return Ok(Self(AnnotationForm::Document(Box::new(document))));
        }
        read(text).map(|node| Self(AnnotationForm::Node(node)))
    }

    /// The configuration.
    #[must_use]
    pub fn node(&self) -> Node<'_> {
        match &self.0 {
            AnnotationForm::Document(document) => match document.root() {
                Some(root) => Node::Text(root),
                None => Node::empty_map(),
            },
            AnnotationForm::Node(node) => node.clone(),
        }
    }
}

/// Reads what was applied last.
///
/// # Errors
/// What is wrong, if the text is not a JSON object.
fn read(text: &str) -> Result<Node<'static>, serde_json::Error> {
    let text = without_half_pairs(text);
    let mut json = serde_json::Deserializer::from_str(&text);
    json.disable_recursion_limit();
    let node = AnnotationReader(0).deserialize(&mut json)?;
    json.end()?;
    match node.shape() {
        Shape::Map => Ok(node),
        shape => {
            let found = shape.with_article();
            Err(Error::custom(format!("expected an object, found {found}")))
        }
    }
}

/// The configuration as it is kept: without the annotations of the pipeline and the annotation
/// itself, and always with `annotations`.
#[must_use]
pub fn write(config: &Node<'_>) -> String {
    let mut json = String::new();
    write_json(&as_applied(config), &mut json);
    json.push('\n');
    json
}

fn as_applied<'a>(config: &Node<'a>) -> Node<'a> {
    let config = without_tool_annotations(config);
    let metadata = config.get("metadata").unwrap_or_else(Node::empty_map);
    let annotations = metadata.get("annotations").filter(|a| !a.is_null());
    let annotations = annotations.unwrap_or_else(Node::empty_map);
    let metadata = with_field(metadata, "annotations", annotations);
    with_field(config, "metadata", metadata)
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

/// Writes parts between brackets, set apart by commas.
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

/// A number as Go writes it: whole ones of 64 bits without a fraction, others in the shortest form.
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

/// A string as Go's encoder writes it, which escapes what HTML or JavaScript would read.
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

/// The same JSON with U+FFFD for halves of surrogate pairs, which Go reads so and [`serde_json`]
/// refuses.
fn without_half_pairs(text: &str) -> Cow<'_, str> {
    let code = |at: usize| -> Option<u32> {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut whole = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(escape) = memchr::memchr(b'\\', &text.as_bytes()[at..]) {
        let escape = at + escape;
        at = (escape + 2).min(text.len());
        match code(escape) {
            Some(0xd800..=0xdbff) if matches!(code(escape + 6), Some(0xdc00..=0xdfff)) => {
                at = escape + 12;
            }
            Some(0xd800..=0xdfff) => {
                whole.push_str(&text[copied..escape]);
                whole.push_str("\\ufffd");
                copied = escape + 6;
                at = copied;
            }
            _ => {}
        }
    }
    match copied {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(whole + &text[copied..]),
    }
}

/// Reads a JSON value at a depth.
struct AnnotationReader(usize);

impl<'de> DeserializeSeed<'de> for AnnotationReader {
    type Value = Node<'static>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        if self.0 > MAX_DEPTH {
            return Err(D::Error::custom("expected at most 512 levels"));
        }
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnnotationReader {
    type Value = Node<'static>;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Node::of_value(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Node::of_value(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Node::of_value(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Node::of_value(Value::Number(Number::Int(value.into()))))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Node::of_value(Value::Number(Number::Float(value))))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Node::of_value(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(value) = list.next_element_seed(Self(self.0 + 1))? {
            items.push(ListItem::made(value));
        }
        Ok(Node::list(items, None))
    }

    /// Of two equal keys the later one counts, as in Go.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Fields::default();
        let mut is_sorted = true;
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(Self(self.0 + 1))?;
            let last = fields.len().checked_sub(1);
            is_sorted &= last.is_none_or(|last| fields.key(last) < &*key);
            fields.push(Field::made(key, value));
        }
        // What kubectl wrote is sorted, and then no key appears twice.
        if !is_sorted {
            let mut places: HashMap<String, usize> = HashMap::new();
            let mut unique = Fields::default();
            for field in fields.iter() {
                match places.get(&*field.key) {
                    Some(at) => unique.set(*at, field),
                    None => {
                        places.insert(field.key.to_string(), unique.len());
                        unique.push(field);
                    }
                }
            }
            fields = unique;
        }
        Ok(Node::map(fields, None))
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
        ];
        for (text, expected) in table {
            let mut json = String::new();
            write_json(&read(text).expect(text), &mut json);
            assert_eq!(json, expected);
        }
    }

    #[test]
    fn halves_of_surrogate_pairs_are_one_character_each() {
        for (text, whole) in [
            (r"\ud83d\ude00", r"\ud83d\ude00"),
            (r"\ud83d", r"\ufffd"),
            (r"\ude00\ud83d", r"\ufffd\ufffd"),
            (r"\ud83d\ud83d\ude00.", r"\ufffd\ud83d\ude00."),
            (r"abcd\n\ud83d", r"abcd\n\ufffd"),
            (r"\\ud83d", r"\\ud83d"),
            (r"\ud7ff\ue000", r"\ud7ff\ue000"),
        ] {
            assert_eq!(without_half_pairs(text), whole, "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_refused() {
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
            assert!(read(text).is_err(), "{text}");
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(600), "]".repeat(600));
        assert!(read(&deep).is_err());
    }
}
