//! The annotation in which `kubectl apply` keeps the configuration that it applied last.
//!
//! Compact JSON with sorted keys, as Go writes it: `<`, `>` and `&` escaped, a line break at the end.
//!
//! Source: merging-fields document, Last Applied Resource Config; contract, apply-config.

use thiserror::Error;

use super::annotations::{with_field, without_tool_annotations};
use super::node::{Field, Item, List, Map, Node, Shape};
use crate::yaml::Value;
use crate::yaml::value::Number;

/// Deeper JSON is refused.
const MAX_DEPTH: usize = 512;

/// Text that is no JSON object.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("byte {at}: expected {expected}")]
pub struct JsonError {
    at: usize,
    expected: &'static str,
}

/// Reads what was applied last.
///
/// # Errors
/// [`JsonError`] if the text is no JSON object.
pub fn read(text: &str) -> Result<Node<'static>, JsonError> {
    let mut reader = Reader { text, at: 0 };
    let node = reader.value(0)?;
    reader.skip_space();
    if reader.at < text.len() {
        return Err(reader.expected("nothing behind the object"));
    }
    match node.shape() {
        Shape::Map => Ok(node),
        _ => Err(JsonError {
            at: 0,
            expected: "an object",
        }),
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
    let empty = || Node::Map(Map::default());
    let metadata = config.get("metadata").unwrap_or_else(empty);
    let annotations = metadata.get("annotations");
    let annotations = annotations.filter(|a| !a.is_null()).unwrap_or_else(empty);
    let metadata = with_field(metadata, "annotations", annotations);
    with_field(config, "metadata", metadata)
}

/// Compact JSON with sorted keys, as Go's encoder writes it.
fn write_json(node: &Node<'_>, json: &mut String) {
    match node.shape() {
        Shape::Null => json.push_str("null"),
        Shape::Scalar => match node.scalar() {
            Some(Value::Bool(value)) => json.push_str(if value { "true" } else { "false" }),
            Some(Value::Number(number)) => json.push_str(&number_text(&number)),
            Some(Value::String(text)) => write_string(&text, json),
            _ => json.push_str("null"),
        },
        Shape::List => {
            json.push('[');
            for (index, item) in node.items().iter().enumerate() {
                if index > 0 {
                    json.push(',');
                }
                write_json(&item.value, json);
            }
            json.push(']');
        }
        Shape::Map => {
            let mut fields = node.fields();
            fields.sort_by(|a, b| a.key.cmp(&b.key));
            json.push('{');
            for (index, field) in fields.iter().enumerate() {
                if index > 0 {
                    json.push(',');
                }
                write_string(&field.key, json);
                json.push(':');
                write_json(&field.value, json);
            }
            json.push('}');
        }
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

fn write_string(text: &str, json: &mut String) {
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            '\u{8}' => json.push_str("\\b"),
            '\u{c}' => json.push_str("\\f"),
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                json.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => json.push(character),
        }
    }
    json.push('"');
}

/// Reads JSON (RFC 8259). Of two equal keys the later one counts, as in Go.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn expected(&self, expected: &'static str) -> JsonError {
        let at = self.at;
        JsonError { at, expected }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Takes a byte if it is next.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Result<Node<'static>, JsonError> {
        if depth > MAX_DEPTH {
            return Err(self.expected("at most 512 levels"));
        }
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Node::Scalar(Value::String(self.string()?))),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                let words = [
                    ("true", Value::Bool(true)),
                    ("false", Value::Bool(false)),
                    ("null", Value::Null),
                ];
                for (word, value) in words {
                    if self.rest().starts_with(word) {
                        self.at += word.len();
                        return Ok(Node::Scalar(value));
                    }
                }
                Err(self.expected("a JSON value"))
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Node<'static>, JsonError> {
        let mut fields: Vec<Field<'static>> = Vec::new();
        let mut places = std::collections::HashMap::new();
        self.at += 1;
        if self.take(b'}') {
            return Ok(Node::Map(Map::default()));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key in quotes"));
            }
            let key = self.string()?;
            if !self.take(b':') {
                return Err(self.expected("a colon"));
            }
            let value = self.value(depth + 1)?;
            match places.get(&key) {
                Some(at) => {
                    let field: &mut Field<'static> = &mut fields[*at];
                    field.value = value;
                }
                None => {
                    places.insert(key.clone(), fields.len());
                    fields.push(Field::made(key, value));
                }
            }
            if self.take(b'}') {
                let source = None;
                return Ok(Node::Map(Map { fields, source }));
            }
            if !self.take(b',') {
                return Err(self.expected("a comma or a closing brace"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Node<'static>, JsonError> {
        let mut items = Vec::new();
        self.at += 1;
        if self.take(b']') {
            return Ok(Node::List(List::default()));
        }
        loop {
            items.push(Item::made(self.value(depth + 1)?));
            if self.take(b']') {
                let source = None;
                return Ok(Node::List(List { items, source }));
            }
            if !self.take(b',') {
                return Err(self.expected("a comma or a closing bracket"));
            }
        }
    }

    fn number(&mut self) -> Result<Node<'static>, JsonError> {
        let is_number = |byte: &u8| b"+-.eE0123456789".contains(byte);
        let length = self
            .rest()
            .bytes()
            .take_while(|byte| is_number(byte))
            .count();
        let text = &self.text[self.at..self.at + length];
        if !crate::yaml::value::is_json_number(text) {
            return Err(self.expected("a number"));
        }
        self.at += length;
        let whole = text.parse::<i128>().ok().map(Number::Int);
        let number = whole.or_else(|| text.parse::<f64>().ok().map(Number::Float));
        let number = number.ok_or_else(|| self.expected("a number"))?;
        Ok(Node::Scalar(Value::Number(number)))
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let mut text = String::new();
        self.at += 1;
        loop {
            let rest = self.rest();
            let plain = rest.find(['"', '\\']).unwrap_or(rest.len());
            if let Some(bad) = rest[..plain].bytes().position(|byte| byte < b' ') {
                self.at += bad;
                return Err(self.expected("an escape in place of a control character"));
            }
            text.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(_) => {
                    self.at += 1;
                    text.push(self.escape()?);
                }
                None => return Err(self.expected("a closing quote")),
            }
        }
    }

    /// The character of an escape, whose backslash was taken.
    fn escape(&mut self) -> Result<char, JsonError> {
        let byte = self.peek();
        self.at += usize::from(byte.is_some_and(|byte| byte.is_ascii()));
        Ok(match byte {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.hex()?;
                let is_high = (0xd800..0xdc00).contains(&first);
                if is_high && self.rest().starts_with("\\u") {
                    let before = self.at;
                    self.at += 2;
                    let second = self.hex()?;
                    if (0xdc00..0xe000).contains(&second) {
                        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                        return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                    }
                    self.at = before;
                }
                // Half a pair is the replacement character, as in Go.
                char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return Err(self.expected("one of the escapes of JSON")),
        })
    }

    fn hex(&mut self) -> Result<u32, JsonError> {
        let digits = self.rest().get(..4);
        let digits = digits.filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let code = code.ok_or_else(|| self.expected("four hexadecimal digits"))?;
        self.at += 4;
        Ok(code)
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
