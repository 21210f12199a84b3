//! The three packages that are merged.

use std::collections::BTreeSet;

use super::Strategy;
use super::members::{Members, PackageMembers, same_text, same_value};
use crate::kptfile::{PACKAGE_CONTEXT_NAME, root_kptfile};
use crate::merge::Versions;
use crate::merge::member::duplicates;
use crate::merge::resources::{ResourceMatch, match_resources};
use crate::package::Package;
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason, Results};

pub(super) struct Packages<'p, 'l> {
    pub(super) base: PackageMembers<'p>,
    pub(super) local: PackageMembers<'l>,
    pub(super) upstream: PackageMembers<'p>,
    /// The revision that local was made from, even if the strategy ignores local changes.
    pub(super) original: &'p ResourceList,
    /// The Kptfile of the local root package.
    pub(super) root: Option<ItemId>,
    /// Whether local's resources have their upstream identity.
    pub(super) identifies: bool,
    /// Files that are the same in the original and in upstream.
    pub(super) unchanged: BTreeSet<&'p str>,
    /// Files that are text although they are named like KRM.
    pub(super) texts: &'p BTreeSet<String>,
}

impl<'p, 'l> Packages<'p, 'l> {
    /// Reads three packages. `base` is what local is compared with: the original, or local itself if the strategy
    /// ignores its changes.
    pub(super) fn read(
        base: &'p ResourceList,
        local: &'l ResourceList,
        original: &'p ResourceList,
        upstream: &'p ResourceList,
        texts: &'p BTreeSet<String>,
    ) -> Self {
        let local_package = PackageMembers::read(local, texts);
        Self {
            base: PackageMembers::read(base, texts),
            upstream: PackageMembers::read(upstream, texts),
            root: root_kptfile(local),
            // kpt writes the identity on all resources of a package, or on none.
            identifies: {
                let members = &local_package.all.members;
                members.iter().any(|member| member.is_identified)
            },
            unchanged: unchanged_files(original, upstream),
            original,
            texts,
            local: local_package,
        }
    }

    /// Reports each resource that a package has twice as an error. The second one is left out of the merge, so that
    /// everything else is found and reported too.
    pub(super) fn refuse_duplicates(&mut self, results: &mut Results) {
        refuse_duplicates(&mut self.base, "original", results);
        refuse_duplicates(&mut self.local, "local", results);
        refuse_duplicates(&mut self.upstream, "upstream", results);
    }

    /// All resources of the three packages.
    pub(super) fn matches(&self, strategy: Strategy) -> Vec<ResourceMatch> {
        let members = self.members().map(|package| package.members.as_slice());
        let mut matches = match_resources(members);
        if strategy.deletes_nothing() {
            // Resources that upstream does not have count as added by local, so that they are kept.
            for matched in matches
                .iter_mut()
                .filter(|matched| matched.upstream.is_none())
            {
                matched.base = None;
            }
        }
        matches
    }

    pub(super) fn members(&self) -> Versions<&Members> {
        Versions {
            base: &self.base.all,
            local: &self.local.all,
            upstream: &self.upstream.all,
        }
    }

    pub(super) fn is_root(&self, matched: &ResourceMatch) -> bool {
        let id = matched.local.map(|at| self.local.all.ids[at]);
        id.is_some() && id == self.root
    }

    /// Whether a resource is kept as local has it, whatever upstream has: the root Kptfile, and next to it the package
    /// context, which kpt creates.
    pub(super) fn is_own(&self, matched: &ResourceMatch) -> bool {
        let is_context = |at: usize| {
            let member = &self.local.all.members[at];
            let is_in_root = member.package.is_empty()
                && member
                    .path
                    .as_deref()
                    .is_none_or(|path| !path.contains('/'));
            let named = member.name.as_deref() == Some(PACKAGE_CONTEXT_NAME);
            is_in_root && named && member.kind.as_ref() == "ConfigMap" && member.group.is_empty()
        };
        self.is_root(matched) || self.root.is_some() && matched.local.is_some_and(is_context)
    }

    /// Whether all three packages are made of files.
    pub(super) fn are_files(&self) -> bool {
        let lists = [self.original, self.local.list, self.upstream.list];
        lists.into_iter().all(ResourceList::is_package)
    }

    /// The paths of a resource's file in all three packages.
    pub(super) fn paths(&self, matched: &ResourceMatch) -> Versions<Option<&str>> {
        self.members()
            .zip(*matched)
            .map(|(members, at)| members.path(at))
    }

    /// Whether upstream has exactly the same text as base, so that there is nothing to merge.
    pub(super) fn is_untouched(&self, matched: &ResourceMatch) -> bool {
        let (base, upstream) = (&self.base, &self.upstream);
        let (Some(b), Some(u)) = (matched.base, matched.upstream) else {
            return false;
        };
        let path = base.all.path(Some(b));
        let is_same_file = path == upstream.all.path(Some(u))
            && path.is_some_and(|path| self.unchanged.contains(path))
            && base.resource(b).origin.index == upstream.resource(u).origin.index;
        is_same_file || same_text((base, b), (upstream, u))
    }

    /// Whether local changed, added or deleted a resource.
    pub(super) fn is_changed_locally(&self, matched: &ResourceMatch) -> bool {
        !same_value((&self.base, matched.base), (&self.local, matched.local))
    }
}

fn refuse_duplicates(package: &mut PackageMembers<'_>, name: &str, results: &mut Results) {
    let mut seconds = BTreeSet::new();
    for (first, second) in duplicates(&package.all.members) {
        let path = package.all.path(Some(first)).unwrap_or_default();
        let message = format!("the {name} package has this resource twice in `{path}`");
        let result = FunctionResult::error(Reason::DuplicateResource, message);
        results.push(result.with_resource(package.resource(second)));
        seconds.insert(second);
    }
    package.all.leave_out(&seconds);
}

/// The files named like KRM that are the same in two packages. Their resources need not be compared.
fn unchanged_files<'s>(original: &ResourceList, upstream: &'s ResourceList) -> BTreeSet<&'s str> {
    let krm = upstream.files().into_iter().flat_map(Package::krm);
    let same = krm.filter(|(path, new)| {
        let old = original.files().and_then(|files| files.get(path)?.krm());
        old == Some(*new)
    });
    same.map(|(path, _)| path).collect()
}
