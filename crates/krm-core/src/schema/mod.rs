//! How the parts of a resource relate: which fields distinguish the elements of a list, which lists and maps are one
//! value, and how strategic merge patches treat them.
//!
//! A [`Schema`] knows all built-in kinds of Kubernetes, from a table that `tools/schema_table.py` makes.
//! CustomResourceDefinitions and an OpenAPI document add to it. A [`TypeRef`] is a place in a resource, and leads to
//! the places below it:
//!
//! ```
//! use krm_core::schema::{ListType, Schema};
//!
//! let schema = Schema::builtin();
//! let pod = schema.resource("v1", "Pod").and_then(|pod| pod.field("spec"));
//! let containers = pod.and_then(|spec| spec.field("containers")).expect("known");
//! let ListType::Map(keys) = containers.list() else {
//!     panic!("containers have names");
//! };
//! assert_eq!(keys.names().collect::<Vec<_>>(), ["name"]);
//! assert!(containers.patch_strategy().merge);
//! assert_eq!(containers.patch_merge_key().expect("a key").name, "name");
//! ```
//!
//! This module validates nothing. Callers decide how to treat a list without a schema (as atomic).

mod builtin;
mod custom;
mod extensions;
mod list_type;
mod openapi;
mod read;
mod table;
mod type_ref;

use std::collections::HashSet;
use std::sync::Arc;

use thiserror::Error;

use builtin::BUILTIN;
use krm_yaml::NodeRef;
use table::Table;

pub(crate) use custom::CustomKind;
pub use custom::Groups;
pub use extensions::{MapType, PatchStrategy};
pub use list_type::{Identity, Key, KeyValue, Keys, ListType, StringKey};
pub use type_ref::TypeRef;

/// Kinds that left the group `extensions`, and the group that they are in now.
const MOVED: [(&str, &str); 5] = [
    ("DaemonSet", "apps"),
    ("Deployment", "apps"),
    ("Ingress", "networking.k8s.io"),
    ("NetworkPolicy", "networking.k8s.io"),
    ("ReplicaSet", "apps"),
];

/// The known kinds, with their types.
#[derive(Debug)]
pub struct Schema {
    builtin: Option<&'static Table>,
    /// Later tables take precedence over earlier ones.
    added: Vec<Arc<Table>>,
}

/// Why a document cannot be used as a schema.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SchemaError {
    /// The document has no types.
    #[error(
        "expected an OpenAPI v2 document (`kubectl get --raw /openapi/v2`), found a {0} without definitions"
    )]
    NoDefinitions(&'static str),
}

/// A kind of resource in one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupVersionKind<'s> {
    /// The API group; the core group is empty.
    pub group: &'s str,
    /// The version, as `v1beta1`.
    pub version: &'s str,
    pub kind: &'s str,
}

impl Schema {
    /// A schema without any kind.
    pub const fn empty() -> Self {
        Self {
            builtin: None,
            added: Vec::new(),
        }
    }

    /// The built-in kinds of Kubernetes.
    pub fn builtin() -> Self {
        Self {
            builtin: Some(&BUILTIN),
            added: Vec::new(),
        }
    }

    /// Adds the kinds of those resources that are CustomResourceDefinitions of the groups. If two describe the same
    /// kind and version, the later one counts.
    ///
    /// A part of a schema that cannot be read counts as absent.
    #[must_use]
    pub fn with_crds<'d>(
        mut self,
        resources: impl IntoIterator<Item = NodeRef<'d>>,
        groups: &Groups,
    ) -> Self {
        let resources = resources.into_iter();
        let read = resources.filter_map(|resource| CustomKind::read(resource, groups));
        self.added.extend(read.map(|kind| kind.0));
        self
    }

    /// Like [`with_crds`](Self::with_crds), with definitions that were read before. One that occurs again counts at its
    /// last place.
    #[must_use]
    pub(crate) fn with_custom_kinds(mut self, kinds: impl IntoIterator<Item = CustomKind>) -> Self {
        let mut kinds: Vec<Arc<Table>> = kinds.into_iter().map(|kind| kind.0).collect();
        let mut known = HashSet::new();
        kinds.reverse();
        kinds.retain(|table| known.insert(Arc::as_ptr(table)));
        kinds.reverse();
        self.added.extend(kinds);
        self
    }

    /// Adds the kinds of an OpenAPI v2 document, which take precedence over the built-in ones.
    ///
    /// # Errors
    /// [`SchemaError`] for a document without definitions.
    pub fn with_openapi(mut self, document: NodeRef<'_>) -> Result<Self, SchemaError> {
        self.added.push(Arc::new(openapi::read(document)?));
        Ok(self)
    }

    /// The type of a kind's resources.
    ///
    /// If a version of a built-in kind is not known because it was removed, the type is taken from the newest version
    /// (`batch/v1` for a `batch/v1beta1` CronJob), even if the kind is now in another group (`apps/v1` for an
    /// `extensions/v1beta1` Deployment).
    pub fn resource(&self, api_version: &str, kind: &str) -> Option<TypeRef<'_>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        for table in self.tables() {
            if let Some(index) = table.version(group, version, kind) {
                return Some(TypeRef { table, index });
            }
        }
        let table = self.builtin?;
        let moved = MOVED.iter().filter(|_| group == "extensions");
        let moved = moved.into_iter().find(|(name, _)| *name == kind);
        let group = moved.map_or(group, |(_, group)| group);
        let index = table.versions(group, kind).first()?.root;
        Some(TypeRef { table, index })
    }

    /// The tables, those that take precedence first.
    fn tables(&self) -> impl Iterator<Item = &Table> {
        let added = self.added.iter().rev().map(|table| &**table);
        added.chain(self.builtin)
    }

    /// All kinds with their types. Sources that were added last come first. Each source is sorted by group and kind,
    /// with the newest version first.
    pub fn kinds(&self) -> impl Iterator<Item = (GroupVersionKind<'_>, TypeRef<'_>)> {
        self.tables().flat_map(|table| {
            table.kinds.iter().map(move |entry| {
                let names = GroupVersionKind {
                    group: &entry.group,
                    version: &entry.version,
                    kind: &entry.kind,
                };
                let index = entry.root;
                (names, TypeRef { table, index })
            })
        })
    }
}
