//! What a merge must know of a place in a resource: its schema, and places with rules of their own.

use crate::resource::{Resource, is_pipeline_annotation};
use crate::schema::{ListType, MapType, Schema, TypeRef};

/// The identity that a resource had upstream, as kpt writes it.
pub const UPSTREAM_IDENTIFIER: &str = "internal.kpt.dev/upstream-identifier";

/// A place in a resource.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'s> {
    /// What the schema knows of it.
    schema: Option<TypeRef<'s>>,
    pub(super) place: Place,
}

/// Places with rules of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Other,
    Resource,
    Metadata,
    Annotations,
    /// The Kptfile of the root package keeps its own name and upstream.
    RootKptfile,
    RootKptfileMetadata,
    /// The Kptfile of a sub-package.
    Kptfile,
    KptfileInfo,
    KptfileStatus,
    Pipeline,
    /// `mutators` or `validators`.
    Functions,
    /// A list whose elements have a field with their type.
    Typed(&'static str),
}

/// How the elements of a list relate.
#[derive(Debug, Clone, Copy)]
pub(super) enum List<'s> {
    Atomic,
    Set,
    Map(crate::schema::Keys<'s>),
    /// By one field.
    Field(&'static str),
    Functions,
}

impl<'s> Facts<'s> {
    /// The root of a resource.
    #[must_use]
    pub fn of(resource: &Resource, schema: &'s Schema, root_package: bool) -> Self {
        if resource.is_kptfile() {
            let place = if root_package {
                Place::RootKptfile
            } else {
                Place::Kptfile
            };
            // Of a Kptfile only the metadata is known.
            return Self {
                schema: schema.resource("v1", "ConfigMap"),
                place,
            };
        }
        let found = schema.resource(&resource.api_version, &resource.kind);
        // Every resource has metadata. The other fields of a ConfigMap have no lists.
        let schema = found.or_else(|| schema.resource("v1", "ConfigMap"));
        Self {
            schema,
            place: Place::Resource,
        }
    }

    /// The value under a key.
    pub(super) fn field(&self, name: &str) -> Self {
        let place = match (self.place, name) {
            (Place::Resource | Place::Kptfile, "metadata") => Place::Metadata,
            (Place::RootKptfile, "metadata") => Place::RootKptfileMetadata,
            (Place::Metadata | Place::RootKptfileMetadata, "annotations") => Place::Annotations,
            (Place::Kptfile | Place::RootKptfile, "pipeline") => Place::Pipeline,
            (Place::Kptfile | Place::RootKptfile, "info") => Place::KptfileInfo,
            (Place::Kptfile | Place::RootKptfile, "status") => Place::KptfileStatus,
            (Place::Pipeline, "mutators" | "validators") => Place::Functions,
            (Place::KptfileInfo, "readinessGates") => Place::Typed("conditionType"),
            (Place::KptfileStatus, "conditions") => Place::Typed("type"),
            _ => Place::Other,
        };
        let schema = self.schema.and_then(|schema| schema.field(name));
        Self { schema, place }
    }

    /// The elements of a list.
    pub(super) fn items(&self) -> Self {
        let schema = self.schema.and_then(TypeRef::items);
        Self {
            schema,
            place: Place::Other,
        }
    }

    pub(super) fn list(&self) -> List<'s> {
        match self.place {
            Place::Functions => return List::Functions,
            Place::Typed(field) => return List::Field(field),
            _ => {}
        }
        match self.schema.map(TypeRef::list) {
            Some(ListType::Set) => List::Set,
            Some(ListType::Map(keys)) => List::Map(keys),
            Some(ListType::Atomic) | None => List::Atomic,
        }
    }

    pub(super) fn is_atomic_map(&self) -> bool {
        self.schema
            .is_some_and(|schema| schema.map() == MapType::Atomic)
    }

    /// Whether a merge leaves an entry as local has it.
    pub(super) fn keeps_local(&self, key: &str) -> bool {
        match self.place {
            Place::Annotations => key == UPSTREAM_IDENTIFIER || is_pipeline_annotation(key),
            Place::RootKptfile => matches!(key, "upstream" | "upstreamLock"),
            Place::RootKptfileMetadata => key == "name",
            _ => false,
        }
    }
}
