//! How types are stored: arrays that refer to each other by index.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use super::extensions::{MapType, PatchStrategy};
use super::list_type::Key;
use krm_yaml::Value;

/// Longer names are ignored; Kubernetes allows 316 bytes at most.
pub(super) const MAX_NAME: usize = 1024;

/// Defaults of keys that schemas do not contain, because API servers set them in code.
const KNOWN_DEFAULTS: [(&str, &str); 1] = [("protocol", "TCP")];

/// Types, and the kinds of resources that have them.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Sorted by group and kind, the newest version first.
    pub(super) kinds: Vec<KindEntry>,
    pub(super) types: Vec<Type>,
}

/// A kind of resource.
#[derive(Debug)]
pub(super) struct KindEntry {
    pub(super) group: Box<str>,
    pub(super) version: Box<str>,
    pub(super) kind: Box<str>,
    pub(super) root: usize,
}

/// A field of an object.
#[derive(Debug)]
pub(super) struct FieldEntry {
    pub(super) name: Box<str>,
    pub(super) index: usize,
}

/// How the elements of a list relate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ListRelation {
    Atomic,
    Set,
    Map(Arc<[Key]>),
}

/// The facts of a schema about one place; none by default.
#[derive(Debug, Clone, Default)]
pub(super) struct Type {
    /// Sorted by name.
    pub(super) fields: Arc<[FieldEntry]>,
    /// Type of the values of all other keys.
    pub(super) values: Option<usize>,
    /// Type of the elements.
    pub(super) items: Option<usize>,
    pub(super) list: Option<ListRelation>,
    pub(super) map: Option<MapType>,
    pub(super) strategy: PatchStrategy,
    /// The one key by which patches distinguish elements.
    pub(super) merge_key: Option<Arc<Key>>,
    /// Whether keys that the schema does not name are allowed.
    pub(super) open: bool,
    /// Whether this is a resource, with the `metadata` of every built-in kind.
    pub(super) resource: bool,
}

impl Type {
    /// The type of a field.
    pub(super) fn field(&self, name: &str) -> Option<usize> {
        let found = self
            .fields
            .binary_search_by(|field| (*field.name).cmp(name));
        found.ok().map(|at| self.fields[at].index)
    }
}

impl Key {
    /// A key with the default that API servers give it.
    pub(super) fn known(name: impl Into<Cow<'static, str>>) -> Self {
        let name = name.into();
        let known = KNOWN_DEFAULTS.iter().find(|(known, _)| *known == name);
        let default = known.map(|(_, text)| Value::from(*text));
        Self { name, default }
    }
}

impl Table {
    /// Adds a kind with its root type.
    pub(super) fn add_kind(&mut self, [group, version, kind]: [&str; 3], root: usize) {
        if [group, version, kind].iter().any(|n| n.len() > MAX_NAME) {
            return;
        }
        self.kinds.push(KindEntry {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
            root,
        });
    }

    /// The versions of a kind, the newest first.
    pub(super) fn versions(&self, group: &str, kind: &str) -> &[KindEntry] {
        let order = |entry: &KindEntry| entry.order().cmp(&(group, kind));
        let from = self.kinds.partition_point(|entry| order(entry).is_lt());
        let count = self.kinds[from..].partition_point(|entry| order(entry).is_eq());
        &self.kinds[from..from + count]
    }

    /// The root type of a kind in exactly this version.
    pub(super) fn version(&self, group: &str, version: &str, kind: &str) -> Option<usize> {
        let mut versions = self.versions(group, kind).iter();
        versions
            .find(|entry| &*entry.version == version)
            .map(|entry| entry.root)
    }

    /// Sorts the kinds into the order of [`Table::kinds`]. Of two entries for the same kind and version, the later one
    /// comes first.
    pub(super) fn sort_kinds(&mut self) {
        self.kinds.reverse();
        self.kinds.sort_by(|a, b| {
            let versions = || newest_first(&a.version, &b.version);
            a.order().cmp(&b.order()).then_with(versions)
        });
    }
}

impl KindEntry {
    fn order(&self) -> (&str, &str) {
        (&self.group, &self.kind)
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
