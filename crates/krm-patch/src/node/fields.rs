//! The entries of a map. A map can have millions of entries. Most of them are in a document, and are stored as the ids
//! of their nodes.

use std::borrow::Cow;
use std::rc::Rc;

use super::{Node, same_place};
use krm_yaml::{Document, EntryRef, KeyIndex, NodeId, NodeRef, Value};

/// An entry of a map.
#[derive(Debug, Clone)]
pub struct Field<'a> {
    pub key: Cow<'a, str>,
    pub value: Node<'a>,
    /// The entry of a document that it was made from; `None` if it is new.
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

    /// A new entry, which no document has.
    pub fn made(key: impl Into<Cow<'a, str>>, value: Node<'a>) -> Self {
        Self {
            key: key.into(),
            value,
            entry: None,
        }
    }

    /// The entry with another value.
    pub fn with(&self, value: Node<'a>) -> Self {
        Self {
            value,
            ..self.clone()
        }
    }
}

pub(super) fn key_text<'a>(key: NodeRef<'a>) -> Cow<'a, str> {
    match key.key_text() {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(key.value().map(|key| key.to_json()).unwrap_or_default()),
    }
}

/// The entries of a map, in order.
#[derive(Debug, Clone, Default)]
pub struct Fields<'a> {
    /// The documents that the ids belong to.
    documents: Vec<Document<'a>>,
    /// Copies share the entries until one of them changes.
    entries: Rc<Vec<Entry<'a>>>,
}

#[derive(Debug, Clone)]
enum Entry<'a> {
    /// A key of a document, and its value there or another one.
    Text([u8; 2], NodeId, NodeId),
    /// The key of an entry, with `null`. The comments of that entry are not copied.
    Null(u8, NodeId),
    Made(Rc<Field<'a>>),
}

impl<'a> Fields<'a> {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry at an index.
    pub fn get(&self, at: usize) -> Field<'a> {
        match &self.entries[at] {
            Entry::Text([of, value_of], key, value) => Field {
                value: Node::Text(self.node(*value_of, *value)),
                ..Field::of(EntryRef::of_key(self.node(*of, *key)))
            },
            Entry::Null(of, key) => {
                let key = key_text(self.node(*of, *key));
                Field::made(key, Node::of_value(Value::Null))
            }
            Entry::Made(field) => Field::clone(field),
        }
    }

    fn node(&self, of: u8, id: NodeId) -> NodeRef<'a> {
        self.documents[usize::from(of)].node(id)
    }

    /// The key of the entry at an index.
    pub fn key(&self, at: usize) -> &str {
        match &self.entries[at] {
            Entry::Text([of, _], key, _) | Entry::Null(of, key) => {
                let key = self.node(*of, *key);
                key.key_text().unwrap_or_default()
            }
            Entry::Made(field) => &field.key,
        }
    }

    /// The key of the entry at an index, if it is an `Entry::Null`.
    pub(crate) fn null_key(&self, at: usize) -> Option<NodeRef<'a>> {
        match self.entries[at] {
            Entry::Null(of, key) => Some(self.node(of, key).resolved()),
            _ => None,
        }
    }

    /// The index of the entry with a key.
    pub fn position(&self, key: &str) -> Option<usize> {
        (0..self.len()).find(|at| self.key(*at) == key)
    }

    /// An index of the keys, for a large map.
    pub(crate) fn index(&self) -> KeyIndex {
        KeyIndex::of(self.len(), |at| self.key(at))
    }

    /// Whether these are the entries of a map of a document, unchanged.
    pub(super) fn are_of(&self, map: NodeRef<'a>) -> bool {
        let mut old = map.entries();
        let mut own = self.entries.iter();
        let all = own.all(|entry| match (entry, old.next()) {
            (Entry::Text([of, value_of], key, value), Some(old)) => {
                same_place(self.node(*of, *key), old.key)
                    && same_place(self.node(*value_of, *value), old.value)
            }
            _ => false,
        });
        all && old.next().is_none()
    }

    /// The entries, one by one.
    pub fn iter(&self) -> impl Iterator<Item = Field<'a>> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// Adds an entry after the others.
    pub fn push(&mut self, field: Field<'a>) {
        let entry = self.held(field);
        Rc::make_mut(&mut self.entries).push(entry);
    }

    /// Adds an entry before the one at an index.
    pub fn insert(&mut self, at: usize, field: Field<'a>) {
        let entry = self.held(field);
        Rc::make_mut(&mut self.entries).insert(at, entry);
    }

    /// Replaces the entry at an index.
    pub fn set(&mut self, at: usize, field: Field<'a>) {
        let entry = self.held(field);
        Rc::make_mut(&mut self.entries)[at] = entry;
    }

    /// Removes the entries for which `stays` is false.
    pub fn retain(&mut self, stays: impl Fn(usize, &str) -> bool) {
        let stays: Vec<bool> = (0..self.len()).map(|at| stays(at, self.key(at))).collect();
        if stays.contains(&false) {
            let mut stays = stays.into_iter();
            Rc::make_mut(&mut self.entries).retain(|_| stays.next().unwrap_or(true));
        }
    }

    fn held(&mut self, field: Field<'a>) -> Entry<'a> {
        match self.as_ids(&field) {
            Some(entry) => entry,
            None => Entry::Made(Rc::new(field)),
        }
    }

    /// Adds an entry with the key of another one, and `null`.
    pub(crate) fn push_null(&mut self, field: Field<'a>) {
        let is_key = |key: NodeRef<'a>| key.key_text() == Some(&*field.key);
        let key = field.entry.map(|entry| entry.key);
        let held = key.filter(|key| is_key(*key)).and_then(|key| {
            let of = self.document(key.document)?;
            Some(Entry::Null(of, key.id))
        });
        let made = || Field::made(field.key.clone(), Node::of_value(Value::Null));
        let entry = held.unwrap_or_else(|| Entry::Made(Rc::new(made())));
        Rc::make_mut(&mut self.entries).push(entry);
    }

    /// A field as ids, if its parts are in documents.
    fn as_ids(&mut self, field: &Field<'a>) -> Option<Entry<'a>> {
        let (entry, Node::Text(value)) = (field.entry?, &field.value) else {
            return None;
        };
        let key = entry.key;
        if key.key_text() != Some(&*field.key) {
            return None;
        }
        // An alias is not replaced by what it refers to.
        let is_own = field.value.is(&Node::Text(entry.value));
        let value = if is_own { &entry.value } else { value };
        let of = [self.document(key.document)?, self.document(value.document)?];
        Some(Entry::Text(of, key.id, value.id))
    }

    /// The number of a document, which is added if it is new; `None` if there are too many.
    fn document(&mut self, document: Document<'a>) -> Option<u8> {
        let known = self.documents.iter().position(|known| known.is(document));
        let of = known.unwrap_or(self.documents.len());
        let number = u8::try_from(of).ok()?;
        if known.is_none() {
            self.documents.push(document);
        }
        Some(number)
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
