//! How types are stored: arrays that refer to each other by index.

use std::cmp::{Ordering, Reverse};

use super::extensions::{MapType, PatchStrategy};

/// No type: nothing is known of elements or values.
pub(super) const NONE: u32 = u32::MAX;

/// A part of an array, or of the text of all names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Run {
    pub(super) start: u32,
    pub(super) len: u32,
}

impl Run {
    pub(super) const EMPTY: Self = Self { start: 0, len: 0 };

    pub(super) const fn new(start: u32, len: u32) -> Self {
        Self { start, len }
    }

    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }

    fn of<T>(self, all: &[T]) -> &[T] {
        &all[self.range()]
    }
}

/// Longer names than this (Kubernetes allows 316 bytes at most) are none.
pub(super) const MAX_NAME: usize = 1024;

/// Keys whose default schemas leave out: API servers fill them in by code.
const KNOWN_DEFAULTS: [(&str, &str); 1] = [("protocol", "TCP")];

/// Types, and the kinds of resources that have them.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// All names, one after the other.
    pub(super) names: String,
    /// Sorted by group and kind, the newest version first.
    pub(super) kinds: Vec<KindEntry>,
    pub(super) types: Vec<Type>,
    /// The fields of each type stand together, sorted by name.
    pub(super) fields: Vec<Field>,
    pub(super) keys: Vec<KeyEntry>,
}

/// A kind of resource.
#[derive(Debug, Clone, Copy)]
pub(super) struct KindEntry {
    pub(super) group: Run,
    pub(super) version: Run,
    pub(super) kind: Run,
    pub(super) root: u32,
}

/// A field of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) name: Run,
    pub(super) index: u32,
}

/// A key by which the elements of a list are distinguished.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyEntry {
    pub(super) name: Run,
    pub(super) default: KeyDefaultEntry,
}

/// What an absent key stands for.
#[derive(Debug, Clone, Copy)]
pub(super) enum KeyDefaultEntry {
    None,
    String(Run),
    Integer(i64),
    Bool(bool),
}

/// How the elements of a list relate; the keys are next to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ListRelation {
    #[default]
    Atomic,
    Set,
    Map,
}

/// What a schema says of one place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Type {
    /// Part of [`Table::fields`].
    pub(super) fields: Run,
    /// Type of the values under any other key, or [`NONE`].
    pub(super) values: u32,
    /// Type of the elements, or [`NONE`].
    pub(super) items: u32,
    pub(super) list: ListRelation,
    /// Part of [`Table::keys`].
    pub(super) keys: Run,
    pub(super) map: MapType,
    pub(super) strategy: PatchStrategy,
    /// Part of [`Table::names`].
    pub(super) merge_key: Run,
    /// Keys that the schema does not name are allowed.
    pub(super) open: bool,
    /// A resource whose `metadata` is that of every built-in kind.
    pub(super) resource: bool,
}

impl Type {
    /// Nothing is known but that the place is there.
    pub(super) const LEAF: Self = Self {
        fields: Run::EMPTY,
        values: NONE,
        items: NONE,
        list: ListRelation::Atomic,
        keys: Run::EMPTY,
        map: MapType::Granular,
        strategy: PatchStrategy::UNSET,
        merge_key: Run::EMPTY,
        open: false,
        resource: false,
    };
}

/// Texts are smaller than 4 GiB, and what is read from them is smaller still.
pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(NONE)
}

impl Table {
    /// Adds a kind with its root type.
    pub(super) fn add_kind(&mut self, [group, version, kind]: [&str; 3], root: u32) {
        if [group, version, kind].iter().any(|n| n.len() > MAX_NAME) {
            return;
        }
        let entry = KindEntry {
            group: self.add_name(group),
            version: self.add_name(version),
            kind: self.add_name(kind),
            root,
        };
        self.kinds.push(entry);
    }

    pub(super) fn add_name(&mut self, text: &str) -> Run {
        let start = offset(self.names.len());
        self.names.push_str(text);
        Run::new(start, offset(text.len()))
    }

    /// The default of a key where the schema has none.
    pub(super) fn known_default(&mut self, key: &str) -> KeyDefaultEntry {
        match KNOWN_DEFAULTS.iter().find(|(known, _)| *known == key) {
            Some((_, text)) => KeyDefaultEntry::String(self.add_name(text)),
            None => KeyDefaultEntry::None,
        }
    }

    pub(super) fn name(&self, name: Run) -> &str {
        &self.names[name.range()]
    }

    pub(super) fn fields(&self, of: &Type) -> &[Field] {
        of.fields.of(&self.fields)
    }

    pub(super) fn keys(&self, of: &Type) -> &[KeyEntry] {
        of.keys.of(&self.keys)
    }

    /// The type of a field.
    pub(super) fn field(&self, of: &Type, name: &str) -> Option<u32> {
        let fields = self.fields(of);
        let found = fields.binary_search_by(|field| self.name(field.name).cmp(name));
        found.ok().map(|at| fields[at].index)
    }

    /// The versions of a kind, the newest first.
    pub(super) fn versions(&self, group: &str, kind: &str) -> &[KindEntry] {
        let order = |entry: &KindEntry| self.order(entry).cmp(&(group, kind));
        let from = self.kinds.partition_point(|entry| order(entry).is_lt());
        let count = self.kinds[from..].partition_point(|entry| order(entry).is_eq());
        &self.kinds[from..from + count]
    }

    /// The root type of a kind in just this version.
    pub(super) fn version(&self, group: &str, version: &str, kind: &str) -> Option<u32> {
        let mut versions = self.versions(group, kind).iter();
        versions
            .find(|entry| self.name(entry.version) == version)
            .map(|entry| entry.root)
    }

    fn order(&self, entry: &KindEntry) -> (&str, &str) {
        (self.name(entry.group), self.name(entry.kind))
    }

    /// Brings kinds into the order that [`Table::kinds`] promises; of two that are one, the later
    /// comes first.
    pub(super) fn sort_kinds(&mut self) {
        let mut kinds = std::mem::take(&mut self.kinds);
        kinds.reverse();
        kinds.sort_by(|a, b| {
            let versions = || newest_first(self.name(a.version), self.name(b.version));
            self.order(a).cmp(&self.order(b)).then_with(versions)
        });
        self.kinds = kinds;
    }
}

/// Kubernetes' order of versions: `v2`, `v1`, `v1beta2`, `v1beta1`, `v1alpha1`, then other names.
fn newest_first(a: &str, b: &str) -> Ordering {
    (Reverse(rank(a)), a).cmp(&(Reverse(rank(b)), b))
}

/// Stability, major and minor number of a version.
fn rank(version: &str) -> Option<(u8, u32, u32)> {
    let number = version.strip_prefix('v')?;
    let stages = [("alpha", 1), ("beta", 2)];
    for (word, stage) in stages {
        if let Some((major, minor)) = number.split_once(word) {
            return Some((stage, major.parse().ok()?, minor.parse().ok()?));
        }
    }
    Some((3, number.parse().ok()?, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_kubernetes_orders_them() {
        // Kubernetes documentation, "Versions in CustomResourceDefinitions", version priority.
        let ordered = [
            "v10",
            "v2",
            "v1",
            "v11beta2",
            "v10beta3",
            "v3beta1",
            "v12alpha1",
            "v11alpha2",
            "foo1",
            "foo10",
        ];
        let mut sorted = ordered;
        sorted.reverse();
        sorted.sort_by(|a, b| newest_first(a, b));
        assert_eq!(sorted, ordered);
    }
}
