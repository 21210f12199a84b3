//! Who a resource is: the one key by which resources are found again, in another version of a package or in a cluster.
//!
//! ```
//! use krm_core::resource::Resource;
//! use krm_core::resource_key::{GivenName, ResourceKey};
//! use krm_yaml::OwnedDocument;
//!
//! let text = "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: seed-}\n";
//! let document = OwnedDocument::parse_resource(text.to_owned())?;
//! let key = ResourceKey::of(&Resource::read(document.root().ok_or("empty")?));
//! assert_eq!(key.group_kind(), "batch/Job");
//! assert_eq!(key.name, GivenName::Generated("seed-".into()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The version of an API is not part of it. A resource with a `generateName` is known by its file as well.
//!
//! Source: contract, Who a resource is.

use std::fmt;
use std::sync::Arc;

use crate::resource::{DEFAULT_NAMESPACE, Resource};
use crate::scope::Scopes;

/// Group, kind, namespace and name of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ResourceKey {
    /// API group; the core group is empty.
    pub group: Arc<str>,
    pub kind: Arc<str>,
    /// `None` where the resource names none.
    pub namespace: Option<Arc<str>>,
    pub name: GivenName,
}

/// The name that a resource gives to its object.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum GivenName {
    Name(Arc<str>),
    /// A `generateName`: each application creates another object, so two resources with it are no duplicates.
    Generated(Arc<str>),
    /// It has no name, or is known by its path: a Kptfile has the name of the copy.
    #[default]
    None,
}

impl GivenName {
    /// The name; `None` for a `generateName`.
    pub fn name(&self) -> Option<&Arc<str>> {
        match self {
            Self::Name(name) => Some(name),
            Self::Generated(_) | Self::None => None,
        }
    }

    /// The name, or its beginning; empty without one.
    pub fn text(&self) -> &str {
        match self {
            Self::Name(name) | Self::Generated(name) => name,
            Self::None => "",
        }
    }

    /// Whether an API server generates the name.
    pub fn is_generated(&self) -> bool {
        matches!(self, Self::Generated(_))
    }

    /// Whether there is a name, or the beginning of one.
    pub fn is_given(&self) -> bool {
        *self != Self::None
    }
}

/// `web`, or `seed-*` for a `generateName`.
impl fmt::Display for GivenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Generated(name) => write!(f, "{name}*"),
            Self::None => Ok(()),
        }
    }
}

impl ResourceKey {
    /// Who a resource is in its package. A Kptfile has the name of the copy, and is known by its path.
    pub fn of(resource: &Resource) -> Self {
        let key = Self::as_written(resource);
        if resource.is_kptfile() {
            let (namespace, name) = Default::default();
            return Self {
                namespace,
                name,
                ..key
            };
        }
        key
    }

    /// The fields of a resource, for what names it by them. An empty namespace is none.
    pub fn as_written(resource: &Resource) -> Self {
        let namespace = resource.namespace.clone();
        Self {
            group: resource.group().into(),
            kind: resource.kind.clone(),
            namespace: namespace.filter(|namespace| !namespace.is_empty()),
            name: match (&resource.name, &resource.generate_name) {
                (Some(name), _) => GivenName::Name(name.clone()),
                (None, Some(name)) => GivenName::Generated(name.clone()),
                (None, None) => GivenName::None,
            },
        }
    }

    /// Which object of a cluster a resource is: a kind without namespaces has none, and the kinds of the group `extensions`
    /// are in others.
    pub fn in_cluster(resource: &Resource) -> Self {
        let mut key = Self::of(resource);
        if &*key.group == "extensions" {
            key.group = match &*key.kind {
                "Ingress" | "NetworkPolicy" => "networking.k8s.io",
                "PodSecurityPolicy" => "policy",
                _ => "apps",
            }
            .into();
        }
        key.without_needless_namespace()
    }

    /// Who a resource is in a build of kustomize: an absent namespace is `default`.
    pub fn in_build(resource: &Resource) -> Self {
        let key = Self::of(resource).without_needless_namespace();
        let namespace = key.namespace.filter(|name| &**name != DEFAULT_NAMESPACE);
        Self { namespace, ..key }
    }

    fn without_needless_namespace(self) -> Self {
        let is_global = self.is_cluster_scoped();
        Self {
            namespace: self.namespace.filter(|_| !is_global),
            ..self
        }
    }

    /// Whether its kind is a built-in one without namespace.
    pub fn is_cluster_scoped(&self) -> bool {
        Scopes::default().is_cluster_scoped(&self.group, &self.kind)
    }

    /// The same in any namespace.
    pub fn in_any_namespace(&self) -> Self {
        Self {
            namespace: None,
            ..self.clone()
        }
    }

    /// `apps/Deployment`; `Service` in the core group.
    pub fn group_kind(&self) -> String {
        match &*self.group {
            "" => self.kind.to_string(),
            group => format!("{group}/{}", self.kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(text: &str) -> Resource {
        let document = krm_yaml::OwnedDocument::parse_resource(text.to_owned()).expect(text);
        Resource::read(document.root().expect(text))
    }

    #[test]
    fn keys_in_a_package_a_cluster_and_a_build() {
        let shown = |key: ResourceKey| {
            let namespace = key.namespace.as_deref().unwrap_or("-").to_owned();
            format!("{} {namespace} {}", key.group_kind(), key.name)
        };
        for (text, expected) in [
            (
                "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}",
                [
                    "ConfigMap default a",
                    "ConfigMap default a",
                    "ConfigMap - a",
                ],
            ),
            (
                "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ''}}",
                ["ConfigMap - a"; 3],
            ),
            (
                "{apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: b}}",
                ["Namespace b a", "Namespace - a", "Namespace - a"],
            ),
            (
                "{apiVersion: extensions/v1beta1, kind: Ingress, metadata: {name: a}}",
                [
                    "extensions/Ingress - a",
                    "networking.k8s.io/Ingress - a",
                    "extensions/Ingress - a",
                ],
            ),
            (
                "{apiVersion: batch/v1, kind: Job, metadata: {generateName: seed-, namespace: b}}",
                ["batch/Job b seed-*"; 3],
            ),
            (
                "{apiVersion: batch/v1, kind: Job, metadata: {name: a, generateName: seed-}}",
                ["batch/Job - a"; 3],
            ),
            (
                "{apiVersion: kpt.dev/v1, kind: Kptfile, metadata: {name: a, namespace: b}}",
                ["kpt.dev/Kptfile - "; 3],
            ),
        ] {
            let resource = resource(text);
            let keys = [
                ResourceKey::of(&resource),
                ResourceKey::in_cluster(&resource),
                ResourceKey::in_build(&resource),
            ];
            assert_eq!(keys.map(shown), expected, "{text}");
        }
    }
}
