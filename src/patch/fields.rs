//! The entries of a map that was made. A map can have millions of entries, and most of them stand in
//! a document: those are held as the ids of their nodes.

use std::borrow::Cow;
use std::rc::Rc;

use super::node::{Node, same_place};
use crate::yaml::{Document, EntryRef, NodeId, NodeRef};

/// An entry of a map.
#[derive(Debug, Clone)]
pub struct Field<'a> {
    /// The key.
    pub key: Cow<'a, str>,
    /// The value.
    pub value: Node<'a>,
    /// The entry of a document that it was made of.
    pub entry: Option<EntryRef<'a>>,
}

impl<'a> Field<'a> {
    pub(super) fn of(entry: EntryRef<'a>) -> Self {
        Self {
            key: key_text(entry.key),
            value: Node::Text(entry.value),
            entry: Some(entry),
        }
    }

    /// An entry that stands nowhere.
    #[must_use]
    pub fn made(key: impl Into<Cow<'a, str>>, value: Node<'a>) -> Self {
        Self {
            key: key.into(),
            value,
            entry: None,
        }
    }

    /// The entry with another value.
    #[must_use]
    pub fn with(&self, value: Node<'a>) -> Self {
        Self {
            value,
            ..self.clone()
        }
    }
}

pub(super) fn key_text<'a>(key: NodeRef<'a>) -> Cow<'a, str> {
    match key.resolved().scalar_text() {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(key.value().map(|key| key.to_json()).unwrap_or_default()),
    }
}

/// The entries of a map, in order.
#[derive(Debug, Clone, Default)]
pub struct Fields<'a> {
    /// The document of all keys that are held as ids.
    keys: Option<Document<'a>>,
    /// The document of all values that are held as ids.
    values: Option<Document<'a>>,
    entries: Vec<Entry<'a>>,
}

#[derive(Debug, Clone)]
enum Entry<'a> {
    /// An entry of the document of the keys, by its key.
    Kept(NodeId),
    /// A key of the document of the keys, and a value of the document of the values.
    Changed(NodeId, NodeId),
    Made(Rc<Field<'a>>),
}

const KNOWN: &str = "ids are held of documents that are known";

impl<'a> Fields<'a> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry of an index.
    #[must_use]
    pub fn get(&self, at: usize) -> Field<'a> {
        match &self.entries[at] {
            Entry::Kept(key) => Field::of(self.entry(*key)),
            Entry::Changed(key, value) => {
                let value = self.values.expect(KNOWN).node(*value);
                Field {
                    value: Node::Text(value),
                    ..Field::of(self.entry(*key))
                }
            }
            Entry::Made(field) => Field::clone(field),
        }
    }

    fn entry(&self, key: NodeId) -> EntryRef<'a> {
        EntryRef::of_key(self.keys.expect(KNOWN).node(key))
    }

    /// The key of the entry of an index.
    #[must_use]
    pub fn key(&self, at: usize) -> &str {
        match &self.entries[at] {
            Entry::Kept(key) | Entry::Changed(key, _) => {
                let key = self.keys.expect(KNOWN).node(*key);
                key.resolved().scalar_text().unwrap_or_default()
            }
            Entry::Made(field) => &field.key,
        }
    }

    /// The index of a key.
    #[must_use]
    pub fn position(&self, key: &str) -> Option<usize> {
        (0..self.len()).find(|at| self.key(*at) == key)
    }

    /// The entries, one by one.
    pub fn iter(&self) -> impl Iterator<Item = Field<'a>> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// Adds an entry behind the others.
    pub fn push(&mut self, field: Field<'a>) {
        let entry = self.held(field);
        self.entries.push(entry);
    }

    /// Adds an entry before that of an index.
    pub fn insert(&mut self, at: usize, field: Field<'a>) {
        let entry = self.held(field);
        self.entries.insert(at, entry);
    }

    /// Puts another entry in the place of that of an index.
    pub fn set(&mut self, at: usize, field: Field<'a>) {
        self.entries[at] = self.held(field);
    }

    /// Takes away the entries whose index and key do not fit.
    pub fn retain(&mut self, stays: impl Fn(usize, &str) -> bool) {
        let stays: Vec<bool> = (0..self.len()).map(|at| stays(at, self.key(at))).collect();
        let mut stays = stays.into_iter();
        self.entries.retain(|_| stays.next().unwrap_or(true));
    }

    fn held(&mut self, field: Field<'a>) -> Entry<'a> {
        match self.as_ids(&field) {
            Some(entry) => entry,
            None => Entry::Made(Rc::new(field)),
        }
    }

    /// An entry whose parts stand in the documents that ids are held of.
    fn as_ids(&mut self, field: &Field<'a>) -> Option<Entry<'a>> {
        let (entry, Node::Text(value)) = (field.entry?, &field.value) else {
            return None;
        };
        let key = entry.key;
        if key.resolved().scalar_text() != Some(&*field.key)
            || !self.keys.get_or_insert(key.document).is(key.document)
        {
            return None;
        }
        if same_place(*value, entry.value) {
            return Some(Entry::Kept(key.id));
        }
        let values = self.values.get_or_insert(value.document);
        let is_held = values.is(value.document);
        is_held.then_some(Entry::Changed(key.id, value.id))
    }
}

impl<'a> Extend<Field<'a>> for Fields<'a> {
    fn extend<I: IntoIterator<Item = Field<'a>>>(&mut self, fields: I) {
        fields.into_iter().for_each(|field| self.push(field));
    }
}

impl<'a> FromIterator<Field<'a>> for Fields<'a> {
    fn from_iter<I: IntoIterator<Item = Field<'a>>>(fields: I) -> Self {
        let mut all = Self::default();
        all.extend(fields);
        all
    }
}
