//! Who made a change: the local package, upstream, or both.
//!
//! ```text
//! original   upstream   after    by
//! 1          1          2        local
//! 1          2          2        upstream
//! 1          2          3        both
//! ```

use super::Author;
use super::units::ClusterObject;
use super::walk::{PathStep, comparable, follow};
use krm_core::resource_list::ResourceList;
use krm_core::schema::TypeRef;
use krm_merge::package::Members;
use krm_merge::resources::match_resources;
use krm_yaml::NodeRef;

use super::UpstreamChange;

/// A resource in both upstream revisions.
#[derive(Clone, Copy, Default)]
pub(super) struct InUpstream<'l> {
    pub(super) original: Option<NodeRef<'l>>,
    pub(super) upstream: Option<NodeRef<'l>>,
}

/// Finds the resources of a package in two upstream revisions.
pub(super) struct Authors<'l> {
    upstream: UpstreamChange<'l>,
    /// For each resource of the package, its positions in the two revisions.
    found: Vec<[Option<usize>; 2]>,
    members: [Members; 2],
}

impl<'l> Authors<'l> {
    /// Pairs the resources of a package as a merge does.
    pub(super) fn of(upstream: UpstreamChange<'l>, package: &Members, list: &ResourceList) -> Self {
        let members = [upstream.original, upstream.upstream].map(Members::read);
        let [original, new] = &members;
        let sources = [
            original.source(upstream.original),
            package.source(list),
            new.source(upstream.upstream),
        ];
        let matches = match_resources(sources.each_ref().into()).all;
        drop(sources);
        let mut found = vec![[None, None]; package.members.len()];
        for matched in matches {
            if let Some(local) = matched.local {
                found[local] = [matched.base, matched.upstream];
            }
        }
        Self {
            upstream,
            found,
            members,
        }
    }

    /// Finds a resource of the package in both revisions.
    pub(super) fn find(&self, at: usize) -> InUpstream<'l> {
        let node = |side: usize, list: &'l ResourceList| {
            let id = self.members[side].ids[self.found[at][side]?];
            Some(ClusterObject::of(list, id)?.node)
        };
        InUpstream {
            original: node(0, self.upstream.original),
            upstream: node(1, self.upstream.upstream),
        }
    }
}

impl InUpstream<'_> {
    /// Who added or removed the resource.
    pub(super) fn of_resource(self) -> Author {
        match (self.original, self.upstream) {
            (Some(_), None) | (None, Some(_)) => Author::Upstream,
            _ => Author::Local,
        }
    }

    /// Who changed a field.
    pub(super) fn of_field(
        self,
        steps: &[PathStep<'_>],
        root: Option<NodeRef<'_>>,
        schema: Option<TypeRef<'_>>,
    ) -> Author {
        let steps = comparable(steps);
        let original = follow(steps, self.original, schema);
        let upstream = follow(steps, self.upstream, schema);
        let after = follow(steps, root, schema);
        if NodeRef::same(original, upstream) {
            Author::Local
        } else if NodeRef::same(upstream, after) {
            Author::Upstream
        } else {
            Author::Both
        }
    }
}
