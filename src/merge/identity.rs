//! Which elements of three lists are the same.

use std::collections::HashMap;

use super::facts::List;
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

/// The identity of a list's element; `None` if it has none, and the list is one value then.
pub(super) fn of_element<'a>(list: List<'_>, element: NodeRef<'a>) -> Option<Identity<'a>> {
    let element = element.resolved();
    match list {
        List::Atomic | List::Functions => None,
        List::Set => Some(match element.as_str() {
            Some(text) => Identity::Key(text),
            None => Identity::Values(vec![Some(element.value()?)]),
        }),
        List::Field(name) => element.get(name)?.as_str().map(Identity::Key),
        List::Map(keys) => {
            if !element.kind().is_mapping() {
                return None;
            }
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
            known.then_some(Identity::Values(values))
        }
    }
}

/// Numbers for identities, the same in all three sources.
#[derive(Debug, Default)]
pub(super) struct Numbers<'a> {
    /// The first of an identity, the second, ...
    known: HashMap<(Identity<'a>, usize), usize>,
}

impl<'a> Numbers<'a> {
    /// The numbers of one source, and whether an identity occurs twice in it. Those are matched by
    /// their position among equals.
    pub(super) fn of(&mut self, source: &[Identity<'a>]) -> (Vec<usize>, bool) {
        let mut seen: HashMap<usize, usize> = HashMap::new();
        let mut twice = false;
        let numbers = source.iter().map(|identity| {
            let first = self.number(identity, 0);
            let count = seen.entry(first).or_default();
            *count += 1;
            match *count {
                1 => first,
                count => {
                    twice = true;
                    self.number(identity, count - 1)
                }
            }
        });
        (numbers.collect(), twice)
    }

    fn number(&mut self, identity: &Identity<'a>, occurrence: usize) -> usize {
        let next = self.known.len();
        *self
            .known
            .entry((identity.clone(), occurrence))
            .or_insert(next)
    }

    pub(super) fn len(&self) -> usize {
        self.known.len()
    }
}
