//! What a merge must know of a place in a resource: its schema, and places with rules of their own.

use super::groups::{self, Group};
use super::kustomization::{self, Known};
use super::upstream_identifier::UPSTREAM_IDENTIFIER;
use crate::resource::{Resource, is_pipeline_annotation};
use crate::schema::{ListType, MapType, Schema, TypeRef};

/// A place in a resource.
#[derive(Debug, Clone, Copy)]
pub struct MergeSchema<'s> {
    /// What the schema knows of it.
    type_ref: Option<TypeRef<'s>>,
    pub(super) location: Location,
}

/// Places with rules of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Location {
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

impl<'s> MergeSchema<'s> {
    /// The root of a resource.
    #[must_use]
    pub fn of(resource: &Resource, schema: &'s Schema, root_package: bool) -> Self {
        if resource.is_kptfile() {
            let location = if root_package {
                Location::RootKptfile
            } else {
                Location::Kptfile
            };
            // Of a Kptfile only the metadata is known.
            return Self {
                type_ref: schema.resource("v1", "ConfigMap"),
                location,
            };
        }
        let found = schema.resource(&resource.api_version, &resource.kind);
        // Every resource has metadata. The other fields of a ConfigMap have no lists.
        let type_ref = found.or_else(|| schema.resource("v1", "ConfigMap"));
        let location = match (resource.group(), resource.kind.as_str()) {
            ("kustomize.config.k8s.io", "Kustomization" | "Component") => Location::Kustomization,
            (group, kind) => match groups::of_spec(group, kind) {
                [] => Location::Resource,
                groups => Location::ResourceOf(groups),
            },
        };
        Self { type_ref, location }
    }

    /// The value under a key.
    pub(super) fn field(&self, name: &str) -> Self {
        let location = match (self.location, name) {
            (
                Location::Resource
                | Location::ResourceOf(_)
                | Location::Kptfile
                | Location::Kustomization,
                "metadata",
            ) => Location::Metadata,
            (Location::RootKptfile, "metadata") => Location::RootKptfileMetadata,
            (Location::Metadata | Location::RootKptfileMetadata, "annotations") => {
                Location::Annotations
            }
            (Location::Kptfile | Location::RootKptfile, "pipeline") => Location::Pipeline,
            (Location::Kptfile | Location::RootKptfile, "info") => Location::KptfileInfo,
            (Location::Kptfile | Location::RootKptfile, "status") => Location::KptfileStatus,
            (Location::Pipeline, "mutators" | "validators") => Location::Functions,
            (Location::KptfileInfo, "readinessGates") => Location::Typed("conditionType"),
            (Location::KptfileStatus, "conditions") => Location::Typed("type"),
            (Location::ResourceOf(groups), "spec") => Location::Grouped(groups),
            (Location::Kustomization, name) => {
                kustomization::list(name).map_or(Location::Other, Location::Kustomized)
            }
            (Location::Generator, name) => {
                kustomization::list_of_generator(name).map_or(Location::Other, Location::Kustomized)
            }
            _ if self.type_ref.is_some() => of_known(name),
            _ => Location::Other,
        };
        let type_ref = self.type_ref.and_then(|type_ref| type_ref.field(name));
        Self { type_ref, location }
    }

    /// The keys of a mapping that are one value together.
    pub(super) fn groups(&self) -> &'static [Group] {
        match self.location {
            Location::Kptfile => &groups::SUB_PACKAGE,
            Location::Grouped(groups) => groups,
            _ => &[],
        }
    }

    /// The elements of a list.
    pub(super) fn items(&self) -> Self {
        let type_ref = self.type_ref.and_then(TypeRef::items);
        let location = match self.location {
            Location::Functions => Location::Grouped(&groups::FUNCTION),
            Location::ListOf(groups) => Location::Grouped(groups),
            Location::Kustomized(List::Kustomization(Known::Generator)) => Location::Generator,
            _ => Location::Other,
        };
        Self { type_ref, location }
    }

    pub(super) fn list(&self) -> List<'s> {
        match self.location {
            Location::Functions => return List::Functions,
            Location::Typed(field) => return List::Field(field),
            Location::Kustomized(list) => return list,
            _ => {}
        }
        match self.type_ref.map(TypeRef::list) {
            Some(ListType::Set) => List::Set,
            Some(ListType::Map(keys)) => List::Map(keys),
            Some(ListType::Atomic) | None => List::Atomic,
        }
    }

    pub(super) fn is_atomic_map(&self) -> bool {
        self.type_ref
            .is_some_and(|type_ref| type_ref.map() == MapType::Atomic)
    }

    /// Whether a merge leaves an entry as local has it.
    pub(super) fn keeps_local(&self, key: &str) -> bool {
        match self.location {
            Location::Annotations => key == UPSTREAM_IDENTIFIER || is_pipeline_annotation(key),
            Location::RootKptfile => matches!(key, "upstream" | "upstreamLock"),
            Location::RootKptfileMetadata => key == "name",
            _ => false,
        }
    }
}

/// Places of a known type that are known by their keys.
fn of_known(name: &str) -> Location {
    if name == "ports" {
        return Location::Ports;
    }
    match (groups::of_field(name), groups::of_elements(name)) {
        ([], []) => Location::Other,
        ([], groups) => Location::ListOf(groups),
        (groups, _) => Location::Grouped(groups),
    }
}
