//! Which elements of three lists are the same.

use super::kustomization;
use super::merge_schema::List;
use crate::schema::KeyDefault;
use crate::yaml::{NodeRef, Value};

/// What tells an entry or element from the others of its collection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Identity<'a> {
    /// A key that is a string.
    Key(&'a str),
    /// The values of the key fields; or the element itself.
    Values(Vec<Option<Value>>),
    /// An image, or a command.
    Program(String),
    /// One of the elements that stand or fall together, with its value.
    Together(Value),
}

impl Identity<'_> {
    /// For results.
    pub(super) fn to_value(&self) -> Value {
        match self {
            Self::Key(key) => Value::from(*key),
            Self::Program(name) => Value::from(name.as_str()),
            Self::Together(value) => value.clone(),
            Self::Values(values) => {
                let mut values = values.iter().map(|v| v.clone().unwrap_or(Value::Null));
                match (values.next(), values.next()) {
                    (Some(only), None) => only,
                    (first, second) => {
                        Value::Sequence(first.into_iter().chain(second).chain(values).collect())
                    }
                }
            }
        }
    }
}

/// The identity of a mapping's entry.
pub(super) fn of_key(key: NodeRef<'_>) -> Identity<'_> {
    match key.as_str() {
        Some(text) => Identity::Key(text),
        None => Identity::Values(vec![key.value()]),
    }
}

/// The identity of a list's element; `None` if the list is one value.
pub(super) fn of_element<'a>(list: List<'_>, element: NodeRef<'a>) -> Option<Identity<'a>> {
    let element = element.resolved();
    match list {
        List::Atomic | List::Functions => None,
        List::Kustomization(known) => Some(match kustomization::names(known, element) {
            Some([Some(name), None]) => Identity::Key(name),
            Some(names) => {
                let texts = names.map(|name| name.map(Value::from));
                Identity::Values(texts.to_vec())
            }
            None => by_value(element)?,
        }),
        List::Set => Some(match element.as_str() {
            Some(text) => Identity::Key(text),
            None => Identity::Values(vec![Some(element.value()?)]),
        }),
        List::Field(name) => match element.get(name).and_then(|value| value.as_str()) {
            Some(text) => Some(Identity::Key(text)),
            None => by_value(element),
        },
        List::Map(keys) => {
            if let (1, Some(key)) = (keys.len(), keys.iter().next())
                && let Some(text) = element.get(key.name).and_then(|value| value.as_str())
            {
                return Some(Identity::Key(text));
            }
            let values = keys.iter().map(|key| match element.get(key.name) {
                Some(value) => value.value(),
                None => key.default.map(|default| match default {
                    KeyDefault::String(text) => Value::from(text),
                    KeyDefault::Integer(number) => Value::from(number),
                    KeyDefault::Bool(value) => Value::from(value),
                }),
            });
            let values: Vec<_> = values.collect();
            let known = keys.iter().any(|key| element.get(key.name).is_some());
            match known {
                true => Some(Identity::Values(values)),
                // It is the same as one of equal value.
                false => by_value(element),
            }
        }
    }
}

fn by_value<'a>(element: NodeRef<'a>) -> Option<Identity<'a>> {
    Some(Identity::Values(vec![Some(element.value()?)]))
}
