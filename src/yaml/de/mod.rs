//! Deserializes a [`Value`] into a Rust type, for functionConfigs.
//!
//! It is strict, because YAML's implicit types often make configs wrong: `name: true` for a string -> ``name: expected
//! a string, found boolean `true` ``.
//!
//! Each deserializer knows its step from the enclosing collection and puts it before its errors. `serde_path_to_error`
//! is not used, because it does not name keys that are not strings.

use serde::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{
    self, DeserializeOwned, Deserializer, Error as _, Expected, IntoDeserializer, Unexpected,
    Visitor,
};
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

    fn mismatch(expected: &dyn fmt::Display, found: &dyn fmt::Display) -> Self {
        Self::custom(format_args!("expected {expected}, found {found}"))
    }
}

/// The error for a field that is none of the expected fields.
pub(crate) fn unknown_field(field: &str, expected: &[&str]) -> DeError {
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
        Self::mismatch(&expected, &ShownUnexpected(found))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::mismatch(&expected, &ShownUnexpected(found))
    }
}

/// Prints a value in a message, in the terms of YAML.
struct ShownValue<'a>(&'a Value);

impl fmt::Display for ShownValue<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => formatter.write_str("null"),
            Value::Bool(value) => write!(formatter, "boolean `{value}`"),
            Value::Number(number) => write!(formatter, "number `{number}`"),
            Value::String(text) => write_string(formatter, text),
            Value::Sequence(_) => formatter.write_str("a sequence"),
            Value::Mapping(_) => formatter.write_str("a mapping"),
        }
    }
}

/// The same for values that serde's own visitors reject.
struct ShownUnexpected<'a>(Unexpected<'a>);

impl fmt::Display for ShownUnexpected<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Unexpected::Unit => formatter.write_str("null"),
            Unexpected::Unsigned(value) => write!(formatter, "number `{value}`"),
            Unexpected::Signed(value) => write!(formatter, "number `{value}`"),
            Unexpected::Float(value) => write!(formatter, "number `{}`", Number::Float(value)),
            Unexpected::Str(text) => write_string(formatter, text),
            Unexpected::Seq => formatter.write_str("a sequence"),
            Unexpected::Map => formatter.write_str("a mapping"),
            other => other.fmt(formatter),
        }
    }
}

fn write_string(formatter: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        None => write!(formatter, "string {text:?}"),
        Some((end, _)) => write!(formatter, "string {:?}...", &text[..end]),
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

impl<'a> ValueDeserializer<'a> {
    fn mismatch<T>(self, expected: &str) -> Result<T, DeError> {
        Err(DeError::mismatch(&expected, &ShownValue(self.value)))
    }

    fn any<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(Number::Int(_)) => self.integer(visitor),
            Value::Number(Number::Float(value)) => visitor.visit_f64(*value),
            Value::Number(Number::Verbatim(_)) => {
                self.mismatch("a number in range and without leading zeros")
            }
            Value::String(text) => visitor.visit_str(text),
            Value::Sequence(_) => self.sequence(visitor),
            Value::Mapping(_) => self.mapping(visitor),
        }
    }

    fn boolean<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.value {
            Value::Bool(value) => visitor.visit_bool(*value),
            _ => self.mismatch("a boolean (true or false)"),
        }
    }

    fn integer<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        let Value::Number(Number::Int(value)) = *self.value else {
            return self.mismatch("an integer");
        };
        if let Ok(value) = i64::try_from(value) {
            visitor.visit_i64(value)
        } else if let Ok(value) = u64::try_from(value) {
            visitor.visit_u64(value)
        } else {
            visitor.visit_i128(value)
        }
    }

    fn float<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.value {
            Value::Number(Number::Int(value)) => visitor.visit_f64(*value as f64),
            Value::Number(Number::Float(value)) => visitor.visit_f64(*value),
            _ => self.mismatch("a number"),
        }
    }

    fn string<'de, V: Visitor<'de>>(self, expected: &str, visitor: V) -> Result<V::Value, DeError> {
        match self.value {
            Value::String(text) => visitor.visit_str(text),
            // YAML reads unquoted `true` and `1` as a boolean and a number.
            Value::Bool(_) | Value::Number(_) => Err(DeError::custom(format_args!(
                "expected {expected}, found {}; quote it",
                ShownValue(self.value)
            ))),
            _ => self.mismatch(expected),
        }
    }

    fn text<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.string("a string", visitor)
    }

    fn name<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.string("a name", visitor)
    }

    fn option<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.value {
            Value::Null => visitor.visit_none(),
            // This deserializer adds the step to errors.
            value => visitor.visit_some(Self { value, step: None }),
        }
    }

    fn unit<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            _ => self.mismatch("null"),
        }
    }

    fn sequence<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        let Value::Sequence(elements) = self.value else {
            return self.mismatch("a sequence");
        };
        let elements = elements.iter().enumerate().map(|(index, value)| Self {
            value,
            step: Some(ValueStep::Index(index)),
        });
        let mut elements = SeqDeserializer::new(elements);
        let value = visitor.visit_seq(&mut elements)?;
        elements.end()?;
        Ok(value)
    }

    fn mapping<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.structure(&[], visitor)
    }

    /// Leaves out fields that are null. Null under an unknown key is kept, so that the key is reported.
    fn structure<'de, V: Visitor<'de>>(
        self,
        fields: &[&str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        let Value::Mapping(entries) = self.value else {
            return self.mismatch("a mapping");
        };
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

    fn enumeration<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        let Value::String(variant) = self.value else {
            return self.mismatch("a string");
        };
        let variant: StrDeserializer<'_, DeError> = variant.as_str().into_deserializer();
        visitor.visit_enum(variant)
    }
}

impl IntoDeserializer<'_, DeError> for ValueDeserializer<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Defines methods of `Deserializer` that read a value and put the step before its errors.
macro_rules! read {
    ($($method:ident($($name:ident: $type:ty),*) = $read:ident($($argument:expr),*);)*) => {
        $(fn $method<V: Visitor<'de>>(
            self,
            $($name: $type,)*
            visitor: V,
        ) -> Result<V::Value, DeError> {
            let value = self.$read($($argument,)* visitor);
            value.map_err(|error| error.after(self.step))
        })*
    };
}

impl<'de> Deserializer<'de> for ValueDeserializer<'_> {
    type Error = DeError;

    read! {
        deserialize_any() = any();
        deserialize_bool() = boolean();
        deserialize_i8() = integer();
        deserialize_i16() = integer();
        deserialize_i32() = integer();
        deserialize_i64() = integer();
        deserialize_i128() = integer();
        deserialize_u8() = integer();
        deserialize_u16() = integer();
        deserialize_u32() = integer();
        deserialize_u64() = integer();
        deserialize_u128() = integer();
        deserialize_f32() = float();
        deserialize_f64() = float();
        deserialize_char() = any();
        deserialize_str() = text();
        deserialize_string() = text();
        deserialize_bytes() = any();
        deserialize_byte_buf() = any();
        deserialize_identifier() = name();
        deserialize_option() = option();
        deserialize_unit() = unit();
        deserialize_unit_struct(_name: &'static str) = unit();
        deserialize_seq() = sequence();
        deserialize_tuple(_length: usize) = any();
        deserialize_tuple_struct(_name: &'static str, _length: usize) = any();
        deserialize_map() = mapping();
        deserialize_struct(_name: &'static str, fields: &'static [&'static str]) = structure(fields);
        deserialize_enum(_name: &'static str, _variants: &'static [&'static str]) = enumeration();
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_unit()
    }
}

#[cfg(test)]
mod tests;
