//! The parts of mappings and lists.

use std::collections::HashMap;
use std::hash::Hash;

use super::super::versions::Versions;
use krm_yaml::{Content, Document, EntryRef, NodeId, NodeRef, Part};

/// An entry of a mapping, an item of a sequence, or a root.
#[derive(Clone, Copy)]
pub(super) struct Child<'a> {
    /// Position in its collection.
    pub(super) index: usize,
    pub(super) entry: Option<EntryRef<'a>>,
    pub(super) value: NodeRef<'a>,
}

/// One entry, item or root in three versions. The local version is edited.
pub(super) type ChildVersions<'d, 'f> = Versions<Option<Child<'f>>, Option<Child<'d>>>;

impl<'a> Child<'a> {
    pub(super) fn of(value: NodeRef<'a>) -> Self {
        Self {
            index: 0,
            entry: None,
            value,
        }
    }

    /// The node that comments belong to.
    pub(super) fn owner(&self) -> NodeRef<'a> {
        self.entry.map_or(self.value, |entry| entry.key)
    }

    /// A new entry (with the key of this entry) or item, with this content.
    pub(super) fn part(&self, content: Content<'a>) -> Part<'a> {
        match self.entry {
            Some(entry) => Part::Entry(entry, content),
            None => Part::Item(self.value, content),
        }
    }

    /// The name of an entry; empty for an item.
    pub(super) fn name(&self) -> &'a str {
        self.entry.map_or("", |entry| entry.key.field_name())
    }
}

pub(super) fn nodes<'a>(versions: ChildVersions<'a, 'a>) -> Versions<Option<NodeRef<'a>>> {
    versions.map(|child| child.map(|child| child.value))
}

/// The entries of a mapping or the items of a sequence, held as ids: there can be millions.
#[derive(Clone, Default)]
pub(super) struct Siblings<'a> {
    /// `None` if there is no collection.
    document: Option<Document<'a>>,
    /// The IDs of keys or items.
    ids: Vec<NodeId>,
    are_entries: bool,
}

impl<'a> Siblings<'a> {
    /// The children of a collection. Empty if a version does not have it.
    pub(super) fn of(collection: Option<NodeRef<'a>>) -> Self {
        let Some(collection) = collection else {
            return Self::default();
        };
        let keys = collection.entries().map(|entry| entry.key.id);
        let items = collection.items().map(|item| item.id);
        Self {
            document: Some(collection.document),
            ids: keys.chain(items).collect(),
            are_entries: collection.kind().is_mapping(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    pub(super) fn get(&self, index: usize) -> Option<Child<'a>> {
        let node = self.document?.node(*self.ids.get(index)?);
        let entry = self.are_entries.then(|| EntryRef::of_key(node));
        Some(Child {
            index,
            entry,
            value: entry.map_or(node, |entry| entry.value),
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Child<'a>> {
        (0..self.ids.len()).filter_map(|index| self.get(index))
    }

    /// Leaves out the children for which `stays` is false.
    pub(super) fn retain(&mut self, mut stays: impl FnMut(Child<'a>) -> bool) {
        let all = std::mem::take(&mut self.ids);
        let source = Self { ids: all, ..*self };
        let kept = source.iter().filter(|child| stays(*child));
        self.ids = kept.map(|child| child.owner().id).collect();
    }
}

/// The positions of the children with a unique name, by name.
pub(super) fn unique_by<'a, K: Hash + Eq>(
    name_of: impl Fn(Child<'a>) -> Option<K>,
    children: impl Iterator<Item = Child<'a>>,
) -> HashMap<K, usize> {
    let mut found: HashMap<K, Option<usize>> = HashMap::new();
    for child in children {
        if let Some(name) = name_of(child) {
            let place = found.entry(name).or_insert(Some(child.index));
            place.take_if(|first| *first != child.index);
        }
    }
    let alone = found.into_iter();
    alone.filter_map(|(name, at)| Some((name, at?))).collect()
}
