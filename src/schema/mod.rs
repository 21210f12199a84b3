//! How the parts of a resource relate: which fields tell the elements of a list apart, which lists
//! and maps are one value, and how strategic merge patches treat them.
//!
//! A [`Schema`] knows all built-in kinds of Kubernetes, from a table that
//! `tools/schema_table.py` makes. CustomResourceDefinitions and an OpenAPI document
//! add to it. A [`TypeRef`] is a place in a resource, and is asked for what lies below:
//!
//! ```
//! use krm_variants::schema::{ListType, Schema};
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
//! Nothing is validated here. Callers decide what a list without a schema is (atomic).

mod builtin;
mod custom;
mod extensions;
mod list_type;
mod openapi;
mod read;
mod table;
mod type_ref;

use thiserror::Error;

use crate::yaml::NodeRef;
use builtin::BUILTIN;
use table::Table;

pub use custom::Groups;
pub use extensions::{MapType, PatchStrategy};
pub use list_type::{Identity, Key, KeyValue, Keys, ListType, StringKey};
pub use type_ref::TypeRef;

/// Kinds that moved to another group: the kind, and where it is now; they left `extensions`.
const MOVED: [(&str, &str); 5] = [
    ("DaemonSet", "apps"),
    ("Deployment", "apps"),
    ("Ingress", "networking.k8s.io"),
    ("NetworkPolicy", "networking.k8s.io"),
    ("ReplicaSet", "apps"),
];

/// The kinds that are known, with their types.
#[derive(Debug)]
pub struct Schema {
    builtin: Option<&'static Table>,
    /// Later ones go before earlier ones.
    added: Vec<Table>,
}

/// Why a document is of no use as a schema.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SchemaError {
    /// It has no types.
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
    /// The kind.
    pub kind: &'s str,
}

impl Schema {
    /// A schema without any kind.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            builtin: None,
            added: Vec::new(),
        }
    }

    /// The built-in kinds of Kubernetes.
    #[must_use]
    pub fn builtin() -> Self {
        Self {
            builtin: Some(&BUILTIN),
            added: Vec::new(),
        }
    }

    /// Adds the kinds of those resources that are CustomResourceDefinitions of the groups; where two describe one
    /// kind in one version, the later one counts.
    ///
    /// A part of a schema that cannot be read counts as absent.
    #[must_use]
    pub fn with_crds<'d>(
        mut self,
        resources: impl IntoIterator<Item = NodeRef<'d>>,
        groups: &Groups,
    ) -> Self {
        self.added.extend(custom::read(resources, groups));
        self
    }

    /// Adds the kinds of an OpenAPI v2 document; they go before the built-in ones.
    ///
    /// # Errors
    /// [`SchemaError`] for a document without definitions.
    pub fn with_openapi(mut self, document: NodeRef<'_>) -> Result<Self, SchemaError> {
        self.added.push(openapi::read(document)?);
        Ok(self)
    }

    /// The type of a kind's resources.
    ///
    /// A built-in kind in a version that is not known, since it was removed, has the type of its newest
    /// version (`batch/v1beta1` CronJob that of `batch/v1`), also if that is in another group by now
    /// (`extensions/v1beta1` Deployment that of `apps/v1`).
    #[must_use]
    pub fn resource(&self, api_version: &str, kind: &str) -> Option<TypeRef<'_>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        for table in self.added.iter().rev().chain(self.builtin) {
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

    /// All kinds with their types: those added last first, of each source sorted by group and kind with
    /// the newest version first.
    pub fn kinds(&self) -> impl Iterator<Item = (GroupVersionKind<'_>, TypeRef<'_>)> {
        let tables = self.added.iter().rev().chain(self.builtin);
        tables.flat_map(|table| {
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
