//! The identities of a package's resources: their current identities, and the upstream identities that they declare.
//!
//! Source: contract, merge-package, Identity.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::upstream_identifier::{MERGE_COMMENT, UPSTREAM_IDENTIFIER, UpstreamIdentifier};
use crate::resource::{DEFAULT_NAMESPACE, Resource};
use crate::scope::Scopes;
use crate::yaml::{NodeRef, line_comment};

/// The identity of a resource in a package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Member {
    /// API group; the core group is empty.
    pub group: String,
    pub kind: Arc<str>,
    /// Name; Kptfiles and resources without a name are identified by their path.
    pub name: Option<Arc<str>>,
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
            namespace: namespace.filter(|namespace| !by_path && !namespace.is_empty()),
            path,
            package: String::new(),
            declared: None,
            is_identified: false,
        }
    }

    /// Reads the identity that a resource declares.
    pub fn declare(&mut self, resource: &Resource, node: NodeRef<'_>) {
        let metadata = node.resolved().entry("metadata");
        let comment = metadata.and_then(|metadata| line_comment(metadata.key));
        let annotation = ["metadata", "annotations", UPSTREAM_IDENTIFIER];
        self.is_identified = comment.is_some_and(|comment| comment.contains(MERGE_COMMENT))
            || node.get_path(&annotation).is_some();
        if !resource.is_kptfile() {
            self.declared = UpstreamIdentifier::declared(resource, node);
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
            self.name.as_deref(),
            self.namespace.as_deref(),
        )
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

pub(super) type Own<'a> = (&'a str, &'a str, Option<&'a str>, Option<&'a str>);

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

/// Pairs of members with the same identity and path. Members without a name are identified by kind and path.
#[must_use]
pub fn duplicates(members: &[Member]) -> Vec<(usize, usize)> {
    let mut seen = HashMap::new();
    let mut found = Vec::new();
    for (at, member) in members.iter().enumerate() {
        if let Some(first) = seen.insert((member.own(), member.path.as_deref()), at) {
            found.push((first, at));
        }
    }
    found
}
