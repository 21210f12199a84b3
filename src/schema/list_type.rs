//! How the elements of a list relate: which one is the same in another version of the list.
//!
//! ```yaml
//! ports:                                 # Map, with the keys `port` and `protocol`
//! - {port: 53, protocol: UDP}            # [53, UDP]
//! - {port: 53}                           # [53, TCP]: an absent key counts as its default
//! finalizers: [a]                        # Set: `a`
//! ```
//!
//! One enum for all who merge lists: a list type that is added here does not compile before the merge and
//! patches have decided about it.

use std::fmt;

use super::table::{KeyDefaultEntry, KeyEntry, Table};
use crate::yaml::{NodeRef, Value};

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
    /// The functions of a Kptfile's pipeline. What tells them apart depends on all of them.
    Functions,
}

/// The part of a string that is its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StringKey {
    /// What is before `=`: the `literals` of a kustomization's generators.
    BeforeEquals,
    /// The same, else the name of the file: the `files` of a kustomization's generators.
    BeforeEqualsOrFileName,
}

/// The fields by which the elements of a list are distinguished, in the order of the schema; at least
/// one.
#[derive(Clone, Copy)]
pub struct Keys<'s>(Fields<'s>);

#[derive(Clone, Copy)]
enum Fields<'s> {
    Table(&'s Table, &'s [KeyEntry]),
    Names(&'s [&'s str]),
    One(&'s str),
}

/// A field by which the elements of a list are distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key<'s> {
    /// Name of the field.
    pub name: &'s str,
    /// What an element without the field has there.
    pub default: Option<KeyDefault<'s>>,
}

/// What an absent key stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyDefault<'s> {
    /// A string, as `TCP` for `protocol`.
    String(&'s str),
    /// An integer.
    Integer(i64),
    /// A boolean.
    Bool(bool),
}

/// What an element has for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyValue<'s, V> {
    /// A value.
    Given(V),
    /// No value, and the schema has a default.
    Default(KeyDefault<'s>),
    /// No value, and no default.
    Absent,
}

/// What tells an element, or the entry of a map, from the others of its collection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Identity<'a> {
    /// A string.
    Key(&'a str),
    /// The values of the keys, absent ones included.
    Values(Vec<Option<Value>>),
    /// The element itself, which no value of a key can equal.
    Element(Box<Value>),
}

impl<'s> ListType<'s> {
    /// What tells an element from the others. `None` if elements are not distinguished one by one, or if
    /// the value of one cannot be read.
    #[must_use]
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
    pub(super) fn of_table(table: &'s Table, keys: &'s [KeyEntry]) -> Self {
        Self(Fields::Table(table, keys))
    }

    /// One key without a default.
    #[must_use]
    pub const fn one(name: &'s str) -> Self {
        Self(Fields::One(name))
    }

    /// Keys without defaults; at least one.
    #[must_use]
    pub const fn named(names: &'s [&'s str]) -> Self {
        Self(Fields::Names(names))
    }

    /// Number of keys.
    #[must_use]
    pub fn len(self) -> usize {
        match self.0 {
            Fields::Table(_, keys) => keys.len(),
            Fields::Names(names) => names.len(),
            Fields::One(_) => 1,
        }
    }

    /// Never: there is at least one.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The name of the key, if there is only one.
    #[must_use]
    pub fn only(self) -> Option<&'s str> {
        (self.len() == 1).then(|| self.at(0).name)
    }

    /// The keys, in the order of the schema.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Key<'s>> {
        (0..self.len()).map(move |index| self.at(index))
    }

    /// The names of the keys, in the order of the schema.
    pub fn names(self) -> impl ExactSizeIterator<Item = &'s str> {
        self.iter().map(|key| key.name)
    }

    /// What an element has for each key; `get` gives the values of its fields.
    pub fn values<V>(
        self,
        get: impl Fn(&'s str) -> Option<V>,
    ) -> impl ExactSizeIterator<Item = (&'s str, KeyValue<'s, V>)> {
        self.iter().map(move |key| {
            let value = match (get(key.name), key.default) {
                (Some(value), _) => KeyValue::Given(value),
                (None, Some(default)) => KeyValue::Default(default),
                (None, None) => KeyValue::Absent,
            };
            (key.name, value)
        })
    }

    fn at(self, index: usize) -> Key<'s> {
        let named = |name| Key {
            name,
            default: None,
        };
        match self.0 {
            Fields::Table(table, keys) => Key::of(table, &keys[index]),
            Fields::Names(names) => named(names[index]),
            Fields::One(name) => named(name),
        }
    }

    /// An element without any of the keys is distinguished by its value.
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
            KeyValue::Default(default) => Some(default.to_value()),
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

impl<'s> Key<'s> {
    fn of(table: &'s Table, key: &'s KeyEntry) -> Self {
        Self {
            name: table.name(key.name),
            default: match key.default {
                KeyDefaultEntry::None => None,
                KeyDefaultEntry::String(text) => Some(KeyDefault::String(table.name(text))),
                KeyDefaultEntry::Integer(value) => Some(KeyDefault::Integer(value)),
                KeyDefaultEntry::Bool(value) => Some(KeyDefault::Bool(value)),
            },
        }
    }
}

impl KeyDefault<'_> {
    /// As a value, to compare with those of a document.
    #[must_use]
    pub fn to_value(self) -> Value {
        match self {
            KeyDefault::String(text) => Value::from(text),
            KeyDefault::Integer(value) => Value::from(value),
            KeyDefault::Bool(value) => Value::from(value),
        }
    }
}

impl<'a> Identity<'a> {
    /// The identity of a map's entry.
    #[must_use]
    pub fn of_key(key: NodeRef<'a>) -> Self {
        match key.as_str() {
            Some(text) => Identity::Key(text),
            None => Identity::Values(vec![key.value()]),
        }
    }

    fn of_value(element: NodeRef<'a>) -> Option<Self> {
        Some(Identity::Element(Box::new(element.value()?)))
    }

    /// For results: one value, or a list of those that are there.
    #[must_use]
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

impl fmt::Debug for Keys<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for Keys<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Keys<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use crate::yaml::OwnedDocument;

    #[track_caller]
    fn check(list: ListType<'_>, elements: &str, expected: &[&str]) {
        let document = OwnedDocument::parse(elements.to_owned()).expect("YAML");
        let items = document.root().expect("a list").items();
        let found = items.map(|item| match list.identity(item) {
            Some(identity) => identity.to_value().to_json(),
            None => "none".to_owned(),
        });
        assert_eq!(found.collect::<Vec<_>>(), expected, "{elements}");
    }

    #[test]
    fn identities_by_list_type() {
        check(ListType::Atomic, "[a]", &["none"]);
        check(ListType::Functions, "[{name: a}]", &["none"]);
        check(
            ListType::Set,
            "[a, 1, {b: c}]",
            &[r#""a""#, "1", r#"{"b":"c"}"#],
        );
        let literals = ListType::KeyedStrings(StringKey::BeforeEquals);
        check(literals, "[a=1, b, 2]", &[r#""a""#, r#""b""#, "2"]);
        let files = ListType::KeyedStrings(StringKey::BeforeEqualsOrFileName);
        check(files, "[a=x/y, x/y]", &[r#""a""#, r#""y""#]);
        let map = ListType::Map(Keys::one("name"));
        let elements = "[{name: a, x: 1}, {name: 5}, {x: 1}]";
        check(map, elements, &[r#""a""#, "5", r#"{"x":1}"#]);
        // An element is never taken for one whose key has its value.
        let document = OwnedDocument::parse("[5, {name: 5}]".to_owned()).expect("YAML");
        let items = document.root().expect("a list").items();
        let found: Vec<_> = items.map(|item| map.identity(item)).collect();
        assert_ne!(found[0], found[1]);
        let map = ListType::Map(Keys::named(&["name", "namespace"]));
        let elements = "[{name: a}, {name: a, namespace: b}, {}]";
        check(map, elements, &[r#""a""#, r#"["a","b"]"#, "{}"]);
    }

    #[test]
    fn an_absent_key_is_its_default() {
        let schema = Schema::builtin();
        let service = schema.resource("v1", "Service").expect("built in");
        let ports = service.field("spec").and_then(|spec| spec.field("ports"));
        let ports = ports.expect("known").list();
        let elements = "[{port: 53}, {port: 53, protocol: UDP}, {protocol: TCP}]";
        check(
            ports,
            elements,
            &[r#"[53,"TCP"]"#, r#"[53,"UDP"]"#, r#""TCP""#],
        );
    }
}
