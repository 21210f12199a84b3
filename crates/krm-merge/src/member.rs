//! The identities of a package's resources: their current identities, and the upstream identities that they declare.
//!
//! Source: contract, merge-package, Identity.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::upstream_identifier::{MERGE_COMMENT, UPSTREAM_IDENTIFIER, UpstreamIdentifier};
use krm_core::resource::{DEFAULT_NAMESPACE, Resource};
use krm_core::scope::Scopes;
use krm_yaml::{NodeRef, line_comment};

/// The identity of a resource in a package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Member {
    /// API group; the core group is empty.
    pub group: String,
    pub kind: Arc<str>,
    /// Name; Kptfiles and resources without a name are identified by their path.
    pub name: Option<Arc<str>>,
    /// The `generateName` of a resource without a name.
    pub generate_name: Option<Arc<str>>,
    pub namespace: Option<Arc<str>>,
    /// Path of the file from the root package.
    pub path: Option<String>,
    /// The directory of its (sub-)package; empty for the root package.
    pub package: String,
    /// The upstream identity that it declares.
    pub declared: Option<UpstreamIdentifier>,
    /// Whether it carries the comment or the annotation with that identity.
    pub is_identified: bool,
}

impl Member {
    /// The identity of a resource; its package, and what it declares, are not known yet.
    #[must_use]
    pub fn of(resource: &Resource, path: Option<String>) -> Self {
        let by_path = resource.is_kptfile();
        let namespace = resource.namespace.clone();
        Self {
            group: resource.group().to_owned(),
            kind: resource.kind.clone(),
            name: resource.name.clone().filter(|_| !by_path),
            generate_name: None,
            namespace: namespace.filter(|namespace| !by_path && !namespace.is_empty()),
            path,
            package: String::new(),
            declared: None,
            is_identified: false,
        }
    }

    /// Whether the identity can be read only from the resource itself: it may have a `generateName`.
    pub(super) fn is_unnamed(&self) -> bool {
        self.name.is_none() && !self.is_kptfile()
    }

    /// Whether the resource is known by a name, and not by its path.
    pub(super) fn is_named(&self) -> bool {
        self.name.is_some() || self.generate_name.is_some()
    }

    /// Reads the identity that a resource declares, and its `generateName` if it has no name.
    pub fn declare(&mut self, resource: &Resource, node: NodeRef<'_>) {
        let metadata = node.resolved().entry("metadata");
        let comment = metadata.and_then(|metadata| line_comment(metadata.key));
        let annotation = ["metadata", "annotations", UPSTREAM_IDENTIFIER];
        self.is_identified = comment.is_some_and(|comment| comment.contains(MERGE_COMMENT))
            || node.get_path(&annotation).is_some();
        if !resource.is_kptfile() {
            self.declared = UpstreamIdentifier::declared(resource, node);
        }
        if self.is_unnamed() {
            let generated = node.get_path(&["metadata", "generateName"]);
            self.generate_name = generated.and_then(|name| name.as_str()).map(Arc::from);
        }
    }

    /// Whether this is a package's `Kptfile`.
    pub(super) fn is_kptfile(&self) -> bool {
        self.kind.as_ref() == "Kptfile" && self.group == "kpt.dev"
    }

    /// Whether its kind is a built-in one without namespace.
    pub(super) fn is_cluster_scoped(&self) -> bool {
        Scopes::default().is_cluster_scoped(&self.group, &self.kind)
    }

    /// Its current identity.
    pub(super) fn own(&self) -> Own<'_> {
        (
            &self.group,
            &self.kind,
            self.given_name(),
            self.namespace.as_deref(),
        )
    }

    /// Its name, or the beginning of the names that an API server generates for it.
    pub(super) fn given_name(&self) -> GivenName<'_> {
        match (&self.name, &self.generate_name) {
            (Some(name), _) => GivenName::Name(name),
            (None, Some(name)) => GivenName::Generated(name),
            (None, None) => GivenName::None,
        }
    }

    /// The identity that it declares, otherwise its current one.
    pub(super) fn former(&self) -> Option<Former<'_>> {
        self.declared().or_else(|| self.now())
    }

    /// The identity that it declares.
    pub(super) fn declared(&self) -> Option<Former<'_>> {
        let declared = self.declared.as_ref()?;
        let (group, kind) = (&declared.group, &declared.kind);
        Some((group, kind, &declared.namespace, &declared.name))
    }

    /// Its current identity, with `default` for an absent namespace. `None` without a name.
    pub(super) fn now(&self) -> Option<Former<'_>> {
        let namespace = self.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
        Some((&self.group, &self.kind, namespace, self.name.as_deref()?))
    }
}

/// Group, kind, namespace and name.
pub(super) type Former<'a> = (&'a str, &'a str, &'a str, &'a str);

/// Group, kind, name and namespace.
pub(super) type Own<'a> = (&'a str, &'a str, GivenName<'a>, Option<&'a str>);

/// The name that a resource gives to its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum GivenName<'a> {
    Name(&'a str),
    /// A `generateName`: each application creates another object.
    Generated(&'a str),
    /// It is known by its path.
    None,
}

/// Finds the (sub-)package of each: the nearest directory above with a Kptfile.
pub fn find_packages(members: &mut [Member]) {
    let directory = |path: &str| {
        path.rsplit_once('/')
            .map_or("", |(directory, _)| directory)
            .to_owned()
    };
    let packages: HashSet<String> = members
        .iter()
        .filter(|member| member.is_kptfile())
        .filter_map(|member| member.path.as_deref().map(directory))
        .collect();
    for member in members {
        let mut at = member.path.as_deref().map(directory).unwrap_or_default();
        while !at.is_empty() && !packages.contains(&at) {
            at = directory(&at);
        }
        member.package = at;
    }
}

/// Members with the same identity and path, each with the others that follow. Members without a name are identified by
/// kind and path. Those with a `generateName` are no duplicates.
#[must_use]
pub fn duplicates(members: &[Member]) -> Vec<(usize, Vec<usize>)> {
    let mut seen = HashMap::with_capacity(members.len());
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, member) in members.iter().enumerate() {
        if member.generate_name.is_some() {
            continue;
        }
        let first = *seen
            .entry((member.own(), member.path.as_deref()))
            .or_insert(at);
        if first != at {
            found.entry(first).or_default().push(at);
        }
    }
    found.into_iter().collect()
}
