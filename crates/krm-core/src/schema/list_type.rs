//! How the elements of a list relate: which one is the same in another version of the list.
//!
//! ```yaml
//! ports:                                 # Map, with the keys `port` and `protocol`
//! - {port: 53, protocol: UDP}            # [53, UDP]
//! - {port: 53}                           # [53, TCP]: an absent key counts as its default
//! finalizers: [a]                        # Set: `a`
//! ```
//!
//! All code that merges lists uses this enum. If a list type is added, the merge and the patches do not compile until
//! they handle it.

use std::borrow::Cow;
use std::slice;

use krm_yaml::{NodeRef, Value};

/// How the elements of a list relate (`x-kubernetes-list-type`, and lists of kpt and kustomize).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListType<'s> {
    /// The list is one value.
    Atomic,
    /// Every element is its own key.
    Set,
    /// Elements are distinguished by some of their fields.
    Map(Keys<'s>),
    /// Strings with a key at their beginning; no schema of Kubernetes has such lists.
    KeyedStrings(StringKey),
    /// The functions of a Kptfile's pipeline. Which fields distinguish them depends on the whole list.
    Functions,
}

/// The part of a string that is its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StringKey {
    /// The part before `=`: the `literals` of a kustomization's generators.
    BeforeEquals,
    /// The part before `=`, or else the name of the file: the `files` of a kustomization's generators.
    BeforeEqualsOrFileName,
}

/// The fields by which the elements of a list are distinguished, in the order of the schema; at least
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keys<'s>(&'s [Key]);

/// A field by which the elements of a list are distinguished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Name of the field.
    pub name: Cow<'static, str>,
    /// The value of an element without the field, if the schema has one: a string (as `TCP` for `protocol`), an integer
    /// or a boolean.
    pub default: Option<Value>,
}

impl Key {
    /// A key without a default.
    pub const fn named(name: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            default: None,
        }
    }
}

/// The value that an element has for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyValue<'s, V> {
    /// The element has a value.
    Given(V),
    /// The element has no value, but the schema has a default.
    Default(&'s Value),
    /// The element has no value, and the schema no default.
    Absent,
}

/// What distinguishes an element, or the entry of a map, from the others of its collection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Identity<'a> {
    /// A string.
    Key(&'a str),
    /// The values of the keys; `None` for an absent key.
    Values(Vec<Option<Value>>),
    /// The value of the whole element. It never equals the value of a key.
    Element(Box<Value>),
}

impl<'s> ListType<'s> {
    /// What distinguishes an element from the others. `None` if elements are not distinguished one by one, or if a
    /// value cannot be read.
    pub fn identity<'a>(self, element: NodeRef<'a>) -> Option<Identity<'a>> {
        let element = element.resolved();
        match self {
            ListType::Atomic | ListType::Functions => None,
            ListType::Set => match element.as_str() {
                Some(text) => Some(Identity::Key(text)),
                None => Identity::of_value(element),
            },
            ListType::KeyedStrings(key) => match element.as_str().and_then(|text| key.of(text)) {
                Some(key) => Some(Identity::Key(key)),
                None => Identity::of_value(element),
            },
            ListType::Map(keys) => keys.identity(element),
        }
    }
}

impl StringKey {
    fn of(self, text: &str) -> Option<&str> {
        match (self, text.split_once('=')) {
            (_, Some((key, _))) => Some(key),
            (Self::BeforeEquals, None) => None,
            (Self::BeforeEqualsOrFileName, None) => Some(text.rsplit('/').next().unwrap_or(text)),
        }
    }
}

impl<'s> Keys<'s> {
    /// These keys, of which there must be at least one.
    pub const fn of(keys: &'s [Key]) -> Self {
        Self(keys)
    }

    /// A single key.
    pub const fn one(key: &'s Key) -> Self {
        Self(slice::from_ref(key))
    }

    /// The name of the key, if there is only one.
    pub fn only(self) -> Option<&'s str> {
        match self.0 {
            [key] => Some(&key.name),
            _ => None,
        }
    }

    /// The keys, in the order of the schema.
    pub fn iter(self) -> slice::Iter<'s, Key> {
        self.0.iter()
    }

    /// The names of the keys, in the order of the schema.
    pub fn names(self) -> impl ExactSizeIterator<Item = &'s str> {
        self.iter().map(|key| &*key.name)
    }

    /// The value that an element has for each key; `get` returns the values of its fields.
    pub fn values<V>(
        self,
        get: impl Fn(&'s str) -> Option<V>,
    ) -> impl ExactSizeIterator<Item = (&'s str, KeyValue<'s, V>)> {
        self.iter().map(move |key| {
            let value = match (get(&key.name), &key.default) {
                (Some(value), _) => KeyValue::Given(value),
                (None, Some(default)) => KeyValue::Default(default),
                (None, None) => KeyValue::Absent,
            };
            (&*key.name, value)
        })
    }

    /// The identity of an element. If it has none of the keys, it is identified by its value.
    fn identity<'a>(self, element: NodeRef<'a>) -> Option<Identity<'a>> {
        if let Some(name) = self.only()
            && let Some(text) = element.get(name).and_then(|value| value.as_str())
        {
            return Some(Identity::Key(text));
        }
        let mut is_given = false;
        let values = self.values(|name| element.get(name));
        let values = values.map(|(_, value)| match value {
            KeyValue::Given(node) => {
                is_given = true;
                node.value()
            }
            KeyValue::Default(default) => Some(default.clone()),
            KeyValue::Absent => None,
        });
        let values = values.collect();
        if is_given {
            Some(Identity::Values(values))
        } else {
            Identity::of_value(element)
        }
    }
}

impl<'a> Identity<'a> {
    /// The identity of a map's entry.
    pub fn of_key(key: NodeRef<'a>) -> Self {
        match key.as_str() {
            Some(text) => Identity::Key(text),
            None => Identity::Values(vec![key.value()]),
        }
    }

    fn of_value(element: NodeRef<'a>) -> Option<Self> {
        Some(Identity::Element(Box::new(element.value()?)))
    }

    /// The value for results: a single value, or a list of the values that are present.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Key(key) => Value::from(*key),
            Self::Element(value) => Value::clone(value),
            Self::Values(values) => {
                let mut given: Vec<Value> = values.iter().flatten().cloned().collect();
                if given.len() == 1 {
                    given.swap_remove(0)
                } else {
                    Value::Sequence(given)
                }
            }
        }
    }
}
