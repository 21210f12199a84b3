//! The identities of a package's resources: their current identities, and the upstream identities that they declare.
//!
//! Source: contract, merge-package, Identity.

use std::collections::{BTreeMap, HashMap, HashSet};

use krm_core::resource::{DEFAULT_NAMESPACE, Resource};
use krm_core::resource_key::ResourceKey;
use krm_core::upstream_identifier::{MERGE_COMMENT, UPSTREAM_IDENTIFIER, UpstreamIdentifier};
use krm_yaml::{NodeRef, line_comment};

/// The identity of a resource in a package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Member {
    /// Who it is; Kptfiles and resources without a name are known by their path.
    pub key: ResourceKey,
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
    pub fn of(resource: &Resource, path: Option<String>) -> Self {
        Self {
            key: ResourceKey::of(resource),
            path,
            package: String::new(),
            declared: None,
            is_identified: false,
        }
    }

    /// Whether the resource is known by a name, and not by its path.
    pub(super) fn is_named(&self) -> bool {
        self.key.name.is_given()
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
        &*self.key.kind == "Kptfile" && &*self.key.group == "kpt.dev"
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
        let key = &self.key;
        let namespace = key.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
        Some((&key.group, &key.kind, namespace, key.name.name()?))
    }
}

/// Group, kind, namespace and name.
pub(super) type Former<'a> = (&'a str, &'a str, &'a str, &'a str);

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
pub fn duplicates(members: &[Member]) -> Vec<(usize, Vec<usize>)> {
    let mut seen = HashMap::with_capacity(members.len());
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, member) in members.iter().enumerate() {
        if member.key.name.is_generated() {
            continue;
        }
        let first = *seen
            .entry((&member.key, member.path.as_deref()))
            .or_insert(at);
        if first != at {
            found.entry(first).or_default().push(at);
        }
    }
    found.into_iter().collect()
}
