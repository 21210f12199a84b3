//! The identity that a resource has in the package that it comes from: `group|kind|namespace|name`.

use std::fmt;

use crate::resource::{Resource, namespace_of};

/// The annotation that holds it, as kpt writes it.
pub const UPSTREAM_IDENTIFIER: &str = "internal.kpt.dev/upstream-identifier";

/// The identity of a resource upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamIdentifier {
    /// API group; the core group is empty.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; an absent or empty one is `default`.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl UpstreamIdentifier {
    /// The identifier of these parts.
    #[must_use]
    pub fn new(group: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace_of(Some(namespace)).to_owned(),
            name: name.to_owned(),
        }
    }

    /// What is written on a resource that comes from upstream; a Kptfile, and what has no name, gets
    /// none.
    #[must_use]
    pub fn of(resource: &Resource) -> Option<Self> {
        let name = resource.name.as_deref().filter(|name| !name.is_empty())?;
        let namespace = resource.namespace.as_deref().unwrap_or_default();
        let identifier = || Self::new(resource.group(), &resource.kind, namespace, name);
        (!resource.is_kptfile()).then(identifier)
    }

    /// Reads what [`Display`](fmt::Display) writes; `None` if parts are missing.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('|').map(str::trim);
        let (group, kind) = (parts.next()?, parts.next()?);
        let (namespace, name) = (parts.next()?, parts.next()?);
        Some(Self::new(group, kind, namespace, name))
    }
}

impl fmt::Display for UpstreamIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            group,
            kind,
            namespace,
            name,
        } = self;
        write!(f, "{group}|{kind}|{namespace}|{name}")
    }
}
