//! What a merge must know of a place in a resource: its schema, and places with rules of their own.

use super::groups::{self, Group};
use super::kustomization::{self, Known};
use super::upstream_identifier::UPSTREAM_IDENTIFIER;
use crate::resource::{Resource, is_pipeline_annotation};
use crate::schema::{ListType, MapType, Schema, TypeRef};

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
    /// A mapping with keys that are one value together.
    Grouped(&'static [Group]),
    /// A resource whose `spec` is one.
    ResourceOf(&'static [Group]),
    /// A list of such mappings.
    ListOf(&'static [Group]),
    /// A list in which each `name` is there once, though it is no key.
    Ports,
    Kustomization,
    /// A list of a kustomization.
    Kustomized(List<'static>),
    Generator,
}

/// How the elements of a list relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List<'s> {
    Atomic,
    Set,
    Map(crate::schema::Keys<'s>),
    /// By one field.
    Field(&'static str),
    Functions,
    Kustomization(Known),
}

impl<'s> List<'s> {
    /// The key by which elements are told apart, if it is one.
    pub(super) fn only_key(self) -> Option<&'s str> {
        match self {
            List::Map(keys) if keys.len() == 1 => keys.names().next(),
            List::Field(name) => Some(name),
            _ => None,
        }
    }
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
        let place = match (resource.group(), resource.kind.as_str()) {
            ("kustomize.config.k8s.io", "Kustomization" | "Component") => Place::Kustomization,
            (group, kind) => match groups::of_spec(group, kind) {
                [] => Place::Resource,
                groups => Place::ResourceOf(groups),
            },
        };
        Self { schema, place }
    }

    /// The value under a key.
    pub(super) fn field(&self, name: &str) -> Self {
        let place = match (self.place, name) {
            (
                Place::Resource | Place::ResourceOf(_) | Place::Kptfile | Place::Kustomization,
                "metadata",
            ) => Place::Metadata,
            (Place::RootKptfile, "metadata") => Place::RootKptfileMetadata,
            (Place::Metadata | Place::RootKptfileMetadata, "annotations") => Place::Annotations,
            (Place::Kptfile | Place::RootKptfile, "pipeline") => Place::Pipeline,
            (Place::Kptfile | Place::RootKptfile, "info") => Place::KptfileInfo,
            (Place::Kptfile | Place::RootKptfile, "status") => Place::KptfileStatus,
            (Place::Pipeline, "mutators" | "validators") => Place::Functions,
            (Place::KptfileInfo, "readinessGates") => Place::Typed("conditionType"),
            (Place::KptfileStatus, "conditions") => Place::Typed("type"),
            (Place::ResourceOf(groups), "spec") => Place::Grouped(groups),
            (Place::Kustomization, name) => {
                kustomization::list(name).map_or(Place::Other, Place::Kustomized)
            }
            (Place::Generator, name) => {
                kustomization::list_of_generator(name).map_or(Place::Other, Place::Kustomized)
            }
            _ if self.schema.is_some() => of_known(name),
            _ => Place::Other,
        };
        let schema = self.schema.and_then(|schema| schema.field(name));
        Self { schema, place }
    }

    /// The keys of a mapping that are one value together.
    pub(super) fn groups(&self) -> &'static [Group] {
        match self.place {
            Place::Kptfile => &groups::SUB_PACKAGE,
            Place::Grouped(groups) => groups,
            _ => &[],
        }
    }

    /// The elements of a list.
    pub(super) fn items(&self) -> Self {
        let schema = self.schema.and_then(TypeRef::items);
        let place = match self.place {
            Place::Functions => Place::Grouped(&groups::FUNCTION),
            Place::ListOf(groups) => Place::Grouped(groups),
            Place::Kustomized(List::Kustomization(Known::Generator)) => Place::Generator,
            _ => Place::Other,
        };
        Self { schema, place }
    }

    pub(super) fn list(&self) -> List<'s> {
        match self.place {
            Place::Functions => return List::Functions,
            Place::Typed(field) => return List::Field(field),
            Place::Kustomized(list) => return list,
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

/// Places of a known type that are known by their keys.
fn of_known(name: &str) -> Place {
    if name == "ports" {
        return Place::Ports;
    }
    match (groups::of_field(name), groups::of_elements(name)) {
        ([], []) => Place::Other,
        ([], groups) => Place::ListOf(groups),
        (groups, _) => Place::Grouped(groups),
    }
}
