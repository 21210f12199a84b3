//! A value that is yet to be written. Its texts are borrowed from where they are known: new resources
//! and results are many and much alike, and each is written once.

use std::borrow::Cow;

use super::value::Value;

/// A value with borrowed parts.
#[derive(Debug, Clone)]
pub enum Draft<'a> {
    /// A constant that can be written plain.
    Plain(&'static str),
    /// Text.
    Text(Cow<'a, str>),
    /// Anything.
    Value(Cow<'a, Value>),
    /// The elements of a sequence.
    Sequence(Vec<Draft<'a>>),
    /// The entries of a mapping.
    Mapping(Vec<(Draft<'a>, Draft<'a>)>),
}

impl<'a> From<&'a str> for Draft<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<Cow<'a, str>> for Draft<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a Value> for Draft<'a> {
    fn from(value: &'a Value) -> Self {
        Self::Value(Cow::Borrowed(value))
    }
}

impl From<Value> for Draft<'_> {
    fn from(value: Value) -> Self {
        Self::Value(Cow::Owned(value))
    }
}

impl<'a> Draft<'a> {
    /// An entry of a mapping, whose key can be written plain.
    pub fn entry(key: &'static str, value: impl Into<Draft<'a>>) -> (Self, Self) {
        (Self::Plain(key), value.into())
    }

    /// An entry of a mapping with any key.
    pub fn pair(key: &'a str, value: &'a str) -> (Self, Self) {
        (Self::from(key), Self::from(value))
    }

    /// The value itself.
    #[must_use]
    pub fn into_value(self) -> Value {
        match self {
            Self::Plain(text) => Value::from(text),
            Self::Text(text) => Value::String(text.into_owned()),
            Self::Value(value) => value.into_owned(),
            Self::Sequence(items) => {
                Value::Sequence(items.into_iter().map(Self::into_value).collect())
            }
            Self::Mapping(entries) => {
                let entries = entries.into_iter();
                let entry = |(key, value): (Self, Self)| (key.into_value(), value.into_value());
                Value::Mapping(entries.map(entry).collect())
            }
        }
    }

    /// The entries of a mapping; what is no mapping becomes an empty one.
    #[expect(clippy::unreachable, reason = "what is no mapping becomes one first")]
    pub fn entries_mut(&mut self) -> &mut Vec<(Self, Self)> {
        if !matches!(self, Self::Mapping(_)) {
            *self = Self::Mapping(match self {
                Self::Value(Cow::Borrowed(Value::Mapping(entries))) => {
                    let entry = |(key, value): &'a (Value, Value)| (key.into(), value.into());
                    entries.iter().map(entry).collect()
                }
                Self::Value(Cow::Owned(Value::Mapping(entries))) => {
                    let entries = std::mem::take(entries).into_iter();
                    let entry = |(key, value): (Value, Value)| (key.into(), value.into());
                    entries.map(entry).collect()
                }
                _ => Vec::new(),
            });
        }
        let Self::Mapping(entries) = self else {
            unreachable!("made a mapping just above")
        };
        entries
    }

    /// The value of a mapping's key; an empty mapping if there is none.
    pub fn field_mut(&mut self, key: &'static str) -> &mut Self {
        let entries = self.entries_mut();
        let found = entries.iter().position(|(name, _)| name.is_text(key));
        let index = found.unwrap_or_else(|| {
            entries.push(Self::entry(key, Self::Mapping(Vec::new())));
            entries.len() - 1
        });
        &mut entries[index].1
    }

    fn is_text(&self, text: &str) -> bool {
        match self {
            Self::Plain(own) => *own == text,
            Self::Text(own) => own == text,
            Self::Value(value) => value.as_str() == Some(text),
            _ => false,
        }
    }
}
