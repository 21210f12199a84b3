//! Deserializes a [`Value`] into a Rust type, for functionConfigs.
//!
//! It is strict, because YAML's implicit types often make configs wrong: `name: true` for a string -> ``name: expected
//! a string, found boolean `true` ``.
//!
//! Each deserializer knows its step from the enclosing collection and puts it before its errors. `serde_path_to_error`
//! is not used, because it does not name keys that are not strings.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    self, DeserializeOwned, Deserializer, Error as _, Expected, IntoDeserializer, Unexpected,
    Visitor,
};
use serde::forward_to_deserialize_any;
use std::fmt;

use super::value::{Number, Value};
use crate::nearest::nearest;

/// Strings longer than this many characters are cut in messages.
const SHOWN_CHARACTERS: usize = 60;

/// Why a value does not fit a type, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}{}{message}", if .path.is_empty() { "" } else { ": " })]
pub struct DeError {
    /// The field, as `spec.targets[0].name`; empty at the root. An unknown field is named by its own path.
    ///
    /// Errors in values that serde buffers (untagged and internally tagged enums, flattened fields) have the path of
    /// the field that contains them.
    pub path: String,
    /// What was expected and what was found, as ``expected a string, found boolean `true` ``.
    pub message: String,
}

/// Reads `value` as a `T`.
///
/// Strings, numbers and booleans are not converted into each other. A null field counts as absent, so that
/// `#[serde(default)]` applies to it. An unknown field is reported even if it is null, and so is a null value in a map
/// of strings. Enums are read from the name of a variant. Variants with content, tuples and characters are not
/// supported, because no config has them.
///
/// # Errors
///
/// The first field that does not fit: another type, a number out of range, or, depending on serde's attributes, an
/// unknown, missing or duplicate field.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, DeError> {
    T::deserialize(ValueDeserializer { value, step: None })
}

impl DeError {
    /// Puts a step before the path of the error.
    fn after(mut self, step: Option<ValueStep<'_>>) -> Self {
        let step = match step {
            None => return self,
            Some(ValueStep::Key(key)) => key.plain_text(),
            Some(ValueStep::Index(index)) => format!("[{index}]"),
        };
        let joint = if self.path.is_empty() || self.path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.path = format!("{step}{joint}{}", self.path);
        self
    }
}

/// The error for a field that is none of the expected fields.
pub fn unknown_field(field: &str, expected: &[&str]) -> DeError {
    if let [nearest, ..] = nearest(field, expected.iter().copied(), 1)[..] {
        return de::Error::custom(format_args!(
            "unknown field `{field}`; did you mean `{nearest}`?"
        ));
    }
    match expected {
        [] => de::Error::custom(format_args!("unknown field `{field}`, expected no fields")),
        [one] => de::Error::custom(format_args!("unknown field `{field}`, expected `{one}`")),
        [one, other] => de::Error::custom(format_args!(
            "unknown field `{field}`, expected `{one}` or `{other}`"
        )),
        expected => {
            let known = expected.join("`, `");
            de::Error::custom(format_args!(
                "unknown field `{field}`, expected one of `{known}`"
            ))
        }
    }
}

impl de::Error for DeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        DeError {
            path: String::new(),
            message: message.to_string(),
        }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        unknown_field(field, expected)
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = expected.to_string();
        // YAML reads unquoted `true` and `1` as a boolean and a number.
        let is_unquoted = matches!(
            found,
            Unexpected::Bool(_)
                | Unexpected::Signed(_)
                | Unexpected::Unsigned(_)
                | Unexpected::Float(_)
                | Unexpected::Other(_)
        );
        let advice = match &*expected {
            "a string" | "field identifier" if is_unquoted => "; quote it",
            _ => "",
        };
        let found = ShownUnexpected(found);
        let expected = in_terms_of_yaml(&expected);
        Self::custom(format_args!("expected {expected}, found {found}{advice}"))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = ShownUnexpected(found);
        Self::custom(format_args!("expected {expected}, found {found}"))
    }
}

/// What a visitor of serde expects, in the terms of YAML.
fn in_terms_of_yaml(expected: &str) -> &str {
    match expected {
        "a boolean" => "a boolean (true or false)",
        "a map" => "a mapping",
        "field identifier" => "a name",
        "f32" | "f64" => "a number",
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "an integer",
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "an integer",
        other if other.starts_with("struct ") => "a mapping",
        other if other.starts_with("enum ") => "a string",
        other => other,
    }
}

/// Prints a value in a message.
struct ShownUnexpected<'a>(Unexpected<'a>);

impl fmt::Display for ShownUnexpected<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Unexpected::Unit => formatter.write_str("null"),
            Unexpected::Unsigned(value) => write!(formatter, "number `{value}`"),
            Unexpected::Signed(value) => write!(formatter, "number `{value}`"),
            Unexpected::Float(value) => write!(formatter, "number `{}`", Number::Float(value)),
            Unexpected::Str(text) => match text.char_indices().nth(SHOWN_CHARACTERS) {
                None => write!(formatter, "string {text:?}"),
                Some((end, _)) => write!(formatter, "string {:?}...", &text[..end]),
            },
            Unexpected::Seq => formatter.write_str("a sequence"),
            Unexpected::Map => formatter.write_str("a mapping"),
            other => other.fmt(formatter),
        }
    }
}

/// The position of a value in the enclosing collection.
#[derive(Clone, Copy)]
enum ValueStep<'a> {
    Key(&'a Value),
    Index(usize),
}

/// A value, or a key of a mapping, which has the same step as its value.
#[derive(Clone, Copy)]
struct ValueDeserializer<'a> {
    value: &'a Value,
    step: Option<ValueStep<'a>>,
}

impl ValueDeserializer<'_> {
    /// Reads any value. The fields of a mapping that are null are left out; null under another key is kept, so that the
    /// key is reported.
    fn any<'de, V: Visitor<'de>>(self, fields: &[&str], visitor: V) -> Result<V::Value, DeError> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(Number::Int(value)) => {
                match (i64::try_from(*value), u64::try_from(*value)) {
                    (Ok(value), _) => visitor.visit_i64(value),
                    (_, Ok(value)) => visitor.visit_u64(value),
                    _ => visitor.visit_i128(*value),
                }
            }
            Value::Number(Number::Float(value)) => visitor.visit_f64(*value),
            Value::Number(Number::Verbatim(text)) => {
                let found = format!("number `{text}`");
                Err(DeError::invalid_type(Unexpected::Other(&found), &visitor))
            }
            Value::String(text) => visitor.visit_str(text),
            Value::Sequence(elements) => {
                let elements = elements.iter().enumerate().map(|(index, value)| Self {
                    value,
                    step: Some(ValueStep::Index(index)),
                });
                let mut elements = SeqDeserializer::new(elements);
                let value = visitor.visit_seq(&mut elements)?;
                elements.end()?;
                Ok(value)
            }
            Value::Mapping(entries) => {
                let is_field = |key: &Value| key.as_str().is_some_and(|key| fields.contains(&key));
                let entries = entries
                    .iter()
                    .filter(|(key, value)| !matches!(value, Value::Null) || !is_field(key))
                    .map(|(key, value)| {
                        let step = Some(ValueStep::Key(key));
                        (Self { value: key, step }, Self { value, step })
                    });
                visitor.visit_map(MapDeserializer::new(entries))
            }
        }
    }
}

impl IntoDeserializer<'_, DeError> for ValueDeserializer<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for ValueDeserializer<'_> {
    type Error = DeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        let value = self.any(&[], visitor);
        value.map_err(|error| error.after(self.step))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        let (value, step) = (self.value, None);
        let value = match value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(Self { value, step }),
        };
        value.map_err(|error| error.after(self.step))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        let value = match self.value {
            // The visitor would take its elements for fields.
            Value::Sequence(_) => Err(DeError::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.any(fields, visitor),
        };
        value.map_err(|error| error.after(self.step))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        let value = match self.value {
            Value::String(variant) => visitor.visit_enum(variant.as_str().into_deserializer()),
            _ => self.any(&[], visitor),
        };
        value.map_err(|error| error.after(self.step))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

#[cfg(test)]
mod tests;
