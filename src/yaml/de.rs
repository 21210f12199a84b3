//! A [`Value`] as a Rust type, for functionConfigs.
//!
//! Strict, since YAML's implicit types are where configs go wrong: `name: true` for a string -> ``name: expected a string, found boolean `true` ``.

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected,
    IntoDeserializer, MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use std::fmt;

use super::value::{Number, Value};

/// Strings longer than this many characters are cut in messages.
const SHOWN_CHARACTERS: usize = 60;

/// Why a value does not fit a type, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}{}{message}", if .path.is_empty() { "" } else { ": " })]
pub struct DeError {
    /// The field, as `spec.targets[0].name`; empty at the root. An unknown field is named by its own path.
    ///
    /// What serde reads into a buffer first (untagged and internally tagged enums, flattened fields) is named by the field that holds it.
    pub path: String,
    /// What was expected and what was found, as ``expected a string, found boolean `true` ``.
    pub message: String,
}

/// Reads `value` as a `T`.
///
/// Nothing is converted between strings, numbers and booleans. A field that is null counts as absent, so that `#[serde(default)]`
/// applies to it, but an unknown field is reported even if it is null, and so is a null value in a map of strings. Enums are their variant's name, or a mapping from it to the variant's content.
///
/// # Errors
///
/// The first field that does not fit: another type, a number out of range, and by serde's attributes an unknown, missing or doubled field.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, DeError> {
    T::deserialize(ValueDeserializer(value))
}

impl DeError {
    /// This error as seen from the mapping that holds it under `key`.
    fn in_entry(self, key: &Value) -> Self {
        self.behind(&key.plain_text())
    }

    /// This error as seen from the sequence that holds it at `index`.
    fn in_element(self, index: usize) -> Self {
        self.behind(&format!("[{index}]"))
    }

    fn behind(mut self, step: &str) -> Self {
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

impl de::Error for DeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        DeError {
            path: String::new(),
            message: message.to_string(),
        }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::mismatch(&expected, &FoundUnexpected(found))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::mismatch(&expected, &FoundUnexpected(found))
    }
}

/// A value in a message, in the words of YAML.
struct Found<'a>(&'a Value);

impl fmt::Display for Found<'_> {
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

/// The same for what serde's own visitors turn away.
struct FoundUnexpected<'a>(Unexpected<'a>);

impl fmt::Display for FoundUnexpected<'_> {
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

#[derive(Clone, Copy)]
struct ValueDeserializer<'a>(&'a Value);

impl<'a> ValueDeserializer<'a> {
    fn mismatch<T>(self, expected: &str) -> Result<T, DeError> {
        Err(DeError::mismatch(&expected, &Found(self.0)))
    }

    fn visit_integer<'de, V: Visitor<'de>>(value: i128, visitor: V) -> Result<V::Value, DeError> {
        if let Ok(value) = i64::try_from(value) {
            visitor.visit_i64(value)
        } else if let Ok(value) = u64::try_from(value) {
            visitor.visit_u64(value)
        } else {
            visitor.visit_i128(value)
        }
    }

    fn visit_elements<'de, V: Visitor<'de>>(
        self,
        elements: &'a [Value],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        let mut access = Elements { elements, next: 0 };
        let value = visitor.visit_seq(&mut access)?;
        match access.next {
            next if next == elements.len() => Ok(value),
            next => Err(DeError::custom(format_args!(
                "expected {next} elements, found {}",
                elements.len()
            ))),
        }
    }

    fn visit_entries<'de, V: Visitor<'de>>(
        self,
        entries: &'a [(Value, Value)],
        fields: Option<&'static [&'static str]>,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        visitor.visit_map(Entries {
            entries: entries.iter(),
            fields,
            current: None,
        })
    }

    fn integer<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.0 {
            Value::Number(Number::Int(value)) => Self::visit_integer(*value, visitor),
            _ => self.mismatch("an integer"),
        }
    }

    fn float<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.0 {
            Value::Number(Number::Int(value)) => visitor.visit_f64(*value as f64),
            Value::Number(Number::Float(value)) => visitor.visit_f64(*value),
            _ => self.mismatch("a number"),
        }
    }

    fn string<'de, V: Visitor<'de>>(self, expected: &str, visitor: V) -> Result<V::Value, DeError> {
        match self.0 {
            Value::String(text) => visitor.visit_str(text),
            _ => self.mismatch(expected),
        }
    }

    fn sequence<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.0 {
            Value::Sequence(elements) => self.visit_elements(elements, visitor),
            _ => self.mismatch("a sequence"),
        }
    }

    fn mapping<'de, V: Visitor<'de>>(
        self,
        fields: Option<&'static [&'static str]>,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        match self.0 {
            Value::Mapping(entries) => self.visit_entries(entries, fields, visitor),
            _ => self.mismatch("a mapping"),
        }
    }
}

/// Methods of `Deserializer` that all read the same.
macro_rules! read_as {
    ($read:ident: $($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
            self.$read(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for ValueDeserializer<'_> {
    type Error = DeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(Number::Int(value)) => Self::visit_integer(*value, visitor),
            Value::Number(Number::Float(value)) => visitor.visit_f64(*value),
            Value::Number(Number::Verbatim(_)) => {
                self.mismatch("a number in range and without leading zeros")
            }
            Value::String(text) => visitor.visit_str(text),
            Value::Sequence(elements) => self.visit_elements(elements, visitor),
            Value::Mapping(entries) => self.visit_entries(entries, None, visitor),
        }
    }

    read_as! { integer:
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }
    read_as! { float: deserialize_f32 deserialize_f64 }
    read_as! { sequence: deserialize_seq }
    read_as! { deserialize_any: deserialize_bytes deserialize_byte_buf }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.0 {
            Value::Bool(value) => visitor.visit_bool(*value),
            _ => self.mismatch("a boolean"),
        }
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.string("a character", visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.string("a string", visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.string("a string", visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.string("a name", visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            _ => self.mismatch("null"),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        match self.0 {
            Value::Sequence(elements) if elements.len() != length => Err(DeError::custom(
                format_args!("expected {length} elements, found {}", elements.len()),
            )),
            _ => self.sequence(visitor),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.mapping(None, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        self.mapping(Some(fields), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        match self.0 {
            Value::String(variant) => {
                let variant: StrDeserializer<'_, DeError> = variant.as_str().into_deserializer();
                visitor.visit_enum(variant)
            }
            Value::Mapping(entries) => match entries.as_slice() {
                [(variant, content)] => visitor.visit_enum(Variant { variant, content }),
                _ => Err(DeError::custom(format_args!(
                    "expected a string or a mapping with one entry, found {} entries",
                    entries.len()
                ))),
            },
            _ => self.mismatch("a string or a mapping with one entry"),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_unit()
    }
}

/// The elements of a sequence from `next` on.
struct Elements<'a> {
    elements: &'a [Value],
    next: usize,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = DeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DeError> {
        let index = self.next;
        let Some(element) = self.elements.get(index) else {
            return Ok(None);
        };
        self.next += 1;
        seed.deserialize(ValueDeserializer(element))
            .map(Some)
            .map_err(|error| error.in_element(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.len() - self.next)
    }
}

/// The entries of a mapping; those of a struct that are null are left out.
struct Entries<'a> {
    entries: std::slice::Iter<'a, (Value, Value)>,
    /// The fields of the struct that is read, where there is one: null under another key is still an unknown field.
    fields: Option<&'static [&'static str]>,
    current: Option<&'a (Value, Value)>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = DeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DeError> {
        for entry in self.entries.by_ref() {
            let may_be_left_out =
                |fields: &[&str]| entry.0.as_str().is_some_and(|key| fields.contains(&key));
            if matches!(entry.1, Value::Null) && self.fields.is_some_and(may_be_left_out) {
                continue;
            }
            self.current = Some(entry);
            return seed
                .deserialize(ValueDeserializer(&entry.0))
                .map(Some)
                .map_err(|error| error.in_entry(&entry.0));
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DeError> {
        let Some((key, value)) = self.current.take() else {
            return Err(DeError::custom("a value was asked for before its key"));
        };
        seed.deserialize(ValueDeserializer(value))
            .map_err(|error| error.in_entry(key))
    }
}

/// An enum's variant with content.
struct Variant<'a> {
    variant: &'a Value,
    content: &'a Value,
}

impl<'de, 'a> EnumAccess<'de> for Variant<'a> {
    type Error = DeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), DeError> {
        let name = seed
            .deserialize(ValueDeserializer(self.variant))
            .map_err(|error| error.in_entry(self.variant))?;
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = DeError;

    fn unit_variant(self) -> Result<(), DeError> {
        match self.content {
            Value::Null => Ok(()),
            content => Err(DeError::mismatch(&"null", &Found(content)).in_entry(self.variant)),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, DeError> {
        seed.deserialize(ValueDeserializer(self.content))
            .map_err(|error| error.in_entry(self.variant))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        ValueDeserializer(self.content)
            .deserialize_tuple(length, visitor)
            .map_err(|error| error.in_entry(self.variant))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        ValueDeserializer(self.content)
            .mapping(Some(fields), visitor)
            .map_err(|error| error.in_entry(self.variant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "camelCase")]
    struct Config {
        name: String,
        count: Option<u8>,
        ratio: f64,
        enabled: bool,
        big: Option<i128>,
        #[serde(alias = "target")]
        targets: Vec<Target>,
        labels: BTreeMap<String, String>,
        policy: Policy,
        selector: Option<Selector>,
        pair: Option<(i64, i64)>,
        nested: Option<Box<Config>>,
        letter: Option<char>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Target {
        name: String,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "camelCase")]
    enum Policy {
        #[default]
        Keep,
        Limit(u32),
        Range {
            #[serde(default)]
            from: Vec<i64>,
        },
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(untagged)]
    enum Selector {
        Name(String),
        Labels(BTreeMap<String, String>),
        Many(Vec<Selector>),
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Flat {
        kind: String,
        #[serde(flatten)]
        rest: BTreeMap<String, i64>,
    }

    fn mapping<const N: usize>(entries: [(&str, Value); N]) -> Value {
        Value::Mapping(entries.map(|(key, value)| (key.into(), value)).into())
    }

    fn sequence<const N: usize>(elements: [Value; N]) -> Value {
        Value::Sequence(elements.into())
    }

    fn number(text: &str) -> Value {
        crate::yaml::scalar::resolve_plain(text)
    }

    #[test]
    fn everything_that_fits() {
        let value = mapping([
            ("name", "x".into()),
            ("count", 5.into()),
            ("ratio", 2.into()),
            ("enabled", true.into()),
            ("big", number("170141183460469231731687303715884105727")),
            ("targets", sequence([mapping([("name", "a".into())])])),
            ("labels", mapping([("k", "v".into())])),
            (
                "policy",
                mapping([("range", mapping([("from", sequence([1.into()]))]))]),
            ),
            (
                "selector",
                sequence(["a".into(), mapping([("k", "v".into())])]),
            ),
            ("pair", sequence([1.into(), number("-2")])),
            (
                "nested",
                mapping([("policy", mapping([("limit", 3.into())]))]),
            ),
            ("letter", "é".into()),
        ]);
        let expected = Config {
            name: "x".to_owned(),
            count: Some(5),
            ratio: 2.0,
            enabled: true,
            big: Some(i128::MAX),
            targets: vec![Target {
                name: "a".to_owned(),
            }],
            labels: BTreeMap::from([("k".to_owned(), "v".to_owned())]),
            policy: Policy::Range { from: vec![1] },
            selector: Some(Selector::Many(vec![
                Selector::Name("a".to_owned()),
                Selector::Labels(BTreeMap::from([("k".to_owned(), "v".to_owned())])),
            ])),
            pair: Some((1, -2)),
            nested: Some(Box::new(Config {
                policy: Policy::Limit(3),
                ..Config::default()
            })),
            letter: Some('é'),
        };
        assert_eq!(from_value::<Config>(&value), Ok(expected));
    }

    #[test]
    fn null_counts_as_absent() {
        let names = [
            "name", "count", "ratio", "enabled", "big", "targets", "target", "labels", "policy",
            "selector", "pair", "nested",
        ];
        let value = mapping(names.map(|name| (name, Value::Null)));
        assert_eq!(from_value::<Config>(&value), Ok(Config::default()));

        let value = mapping([(
            "policy",
            mapping([("range", mapping([("from", Value::Null)]))]),
        )]);
        assert_eq!(
            from_value::<Config>(&value).map(|config| config.policy),
            Ok(Policy::Range { from: vec![] })
        );
        assert_eq!(from_value::<Option<Config>>(&Value::Null), Ok(None));
    }

    #[test]
    fn flattened_and_plain_maps() {
        let value = mapping([("kind", "K".into()), ("a", 1.into())]);
        assert_eq!(
            from_value::<Flat>(&value),
            Ok(Flat {
                kind: "K".to_owned(),
                rest: BTreeMap::from([("a".to_owned(), 1)])
            })
        );
        let value = Value::Mapping(vec![(1.into(), "x".into())]);
        assert_eq!(
            from_value::<BTreeMap<i64, String>>(&value),
            Ok(BTreeMap::from([(1, "x".to_owned())]))
        );
        let value = mapping([("region", Value::Null)]);
        let error = from_value::<BTreeMap<String, String>>(&value).expect_err("null");
        assert_eq!(error.to_string(), "region: expected a string, found null");
    }

    #[test]
    fn errors_say_where_and_what() {
        let target = |value| {
            mapping([(
                "targets",
                sequence([mapping([("name", "a".into())]), value]),
            )])
        };
        let table = [
            (
                mapping([("name", true.into())]),
                "name: expected a string, found boolean `true`",
            ),
            (
                mapping([("name", 5.into())]),
                "name: expected a string, found number `5`",
            ),
            (
                mapping([("name", number("017"))]),
                "name: expected a string, found number `017`",
            ),
            (
                mapping([("enabled", "true".into())]),
                "enabled: expected a boolean, found string \"true\"",
            ),
            (
                mapping([("count", "5".into())]),
                "count: expected an integer, found string \"5\"",
            ),
            (
                mapping([("count", number("5.0"))]),
                "count: expected an integer, found number `5.0`",
            ),
            (
                mapping([("count", 300.into())]),
                "count: expected u8, found number `300`",
            ),
            (
                mapping([("count", number("-1"))]),
                "count: expected u8, found number `-1`",
            ),
            (
                mapping([("ratio", "x".into())]),
                "ratio: expected a number, found string \"x\"",
            ),
            (
                mapping([("labels", sequence([]))]),
                "labels: expected a mapping, found a sequence",
            ),
            (
                mapping([("labels", mapping([("a.b", 1.into())]))]),
                "labels.a.b: expected a string, found number `1`",
            ),
            (
                mapping([("targets", mapping([]))]),
                "targets: expected a sequence, found a mapping",
            ),
            (
                target(Value::Null),
                "targets[1]: expected a mapping, found null",
            ),
            (target(mapping([])), "targets[1]: missing field `name`"),
            (
                target(mapping([("name", Value::Null)])),
                "targets[1]: missing field `name`",
            ),
            (
                target(mapping([("name", 1.into())])),
                "targets[1].name: expected a string, found number `1`",
            ),
            (
                target(mapping([("nam", 1.into())])),
                "targets[1].nam: unknown field `nam`, expected `name`",
            ),
            (
                target(mapping([("nam", Value::Null)])),
                "targets[1].nam: unknown field `nam`, expected `name`",
            ),
            (
                target(Value::Mapping(vec![(1.into(), 1.into())])),
                "targets[1].1: expected a name, found number `1`",
            ),
            (
                mapping([("policy", "drop".into())]),
                "policy: unknown variant `drop`, expected one of `keep`, `limit`, `range`",
            ),
            (
                mapping([("policy", 1.into())]),
                "policy: expected a string or a mapping with one entry, found number `1`",
            ),
            (
                mapping([("policy", mapping([]))]),
                "policy: expected a string or a mapping with one entry, found 0 entries",
            ),
            (
                mapping([("policy", mapping([("limit", "x".into())]))]),
                "policy.limit: expected an integer, found string \"x\"",
            ),
            (
                mapping([("policy", mapping([("keep", 1.into())]))]),
                "policy.keep: expected null, found number `1`",
            ),
            (
                mapping([("policy", mapping([("drop", 1.into())]))]),
                "policy.drop: unknown variant `drop`, expected one of `keep`, `limit`, `range`",
            ),
            (
                mapping([("pair", sequence([1.into()]))]),
                "pair: expected 2 elements, found 1",
            ),
            (
                mapping([("pair", sequence([1.into(), 2.into(), 3.into()]))]),
                "pair: expected 2 elements, found 3",
            ),
            (
                mapping([(
                    "nested",
                    mapping([("nested", mapping([("name", Value::Sequence(vec![]))]))]),
                )]),
                "nested.nested.name: expected a string, found a sequence",
            ),
            (
                mapping([("selector", true.into())]),
                "selector: data did not match any variant of untagged enum Selector",
            ),
            (
                mapping([("letter", "ab".into())]),
                "letter: expected a character, found string \"ab\"",
            ),
            (
                mapping([("enabled", "x".repeat(100).into())]),
                &format!(
                    "enabled: expected a boolean, found string \"{}\"...",
                    "x".repeat(60)
                ),
            ),
            ("x".into(), "expected a mapping, found string \"x\""),
            (Value::Null, "expected a mapping, found null"),
        ];
        for (value, expected) in table {
            let error = from_value::<Config>(&value).expect_err(expected);
            assert_eq!(error.to_string(), expected);
        }
    }
}
