//! Which elements of three lists are the same.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

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

/// Interner for identities, the same in all three sources.
#[derive(Debug, Default)]
pub(super) struct Interner<'a> {
    /// By number: an identity, and how many of its equals stand before it in a source.
    known: Vec<(Identity<'a>, usize)>,
    /// Interner by the hash of what is known; one more than the hash where that is taken.
    numbers: HashMap<u64, usize, BuildHasherDefault<IsHash>>,
    state: RandomState,
}

impl<'a> Interner<'a> {
    /// The numbers of one source, and whether an identity occurs twice in it. Those are matched by
    /// their position among equals.
    pub(super) fn of(&mut self, source: &[Identity<'a>]) -> (Vec<usize>, bool) {
        let mut counts = vec![0; self.known.len()];
        let mut twice = false;
        // Most sources have the order of the first, which spares looking for the number.
        let mut next = 0;
        let mut numbers = Vec::with_capacity(source.len());
        for identity in source {
            let first = match self.known.get(next) {
                Some((known, 0)) if known == identity => next,
                _ => self.number(identity, 0),
            };
            next = first + 1;
            counts.resize(self.known.len(), 0);
            counts[first] += 1;
            numbers.push(match counts[first] {
                1 => first,
                count => {
                    twice = true;
                    self.number(identity, count - 1)
                }
            });
        }
        (numbers, twice)
    }

    fn number(&mut self, identity: &Identity<'a>, occurrence: usize) -> usize {
        let mut hash = self.state.hash_one((identity, occurrence));
        while let Some(number) = self.numbers.get(&hash) {
            let (known, place) = &self.known[*number];
            if known == identity && *place == occurrence {
                return *number;
            }
            hash = hash.wrapping_add(1);
        }
        self.numbers.insert(hash, self.known.len());
        self.known.push((identity.clone(), occurrence));
        self.known.len() - 1
    }

    pub(super) fn len(&self) -> usize {
        self.known.len()
    }
}

/// Takes a number for its hash, which it is already.
#[derive(Debug, Default)]
struct IsHash(u64);

impl Hasher for IsHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_have_one_number_in_all_sources() {
        let mut interner = Interner::default();
        let mut of = |keys: &'static str| {
            let keys: Vec<_> = keys.split(' ').map(Identity::Key).collect();
            interner.of(&keys)
        };
        assert_eq!(of("a b c"), (vec![0, 1, 2], false));
        assert_eq!(of("a c b d"), (vec![0, 2, 1, 3], false));
        assert_eq!(of("c a a d a"), (vec![2, 0, 4, 3, 5], true));
        assert_eq!(of("a a a b"), (vec![0, 4, 5, 1], true));
    }
}
