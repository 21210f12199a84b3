//! The three packages that are merged.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Strategy;
use super::members::{Members, PackageMembers, same_text, same_value};
use super::own_upstream::OwnUpstream;
use super::report::{Report, described};
use crate::member::duplicates;
use crate::resources::{ResourceMatch, match_resources};
use crate::{Side, Versions};
use krm_core::kptfile::{PACKAGE_CONTEXT_NAME, root_kptfile};
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Reason, Results};
use krm_package::Package;

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
    /// Sub-packages that are left unchanged.
    own_upstream: &'p OwnUpstream,
    /// Resources that a side renamed, as likeness shows.
    renamed: Vec<(ResourceMatch, Side)>,
    /// The resources of base that a side lacks, each with the resources of that side that it may be.
    ties: BTreeMap<(usize, Side), Vec<usize>>,
    /// The resources that local has several times in a file and that are equal: the first, and another.
    repeats: Vec<(usize, usize)>,
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
        own_upstream: &'p OwnUpstream,
    ) -> Self {
        let is_left_out = |path: &str| texts.contains(path) || own_upstream.has(path);
        let local_package = PackageMembers::read(local, &is_left_out);
        Self {
            base: PackageMembers::read(base, &is_left_out),
            upstream: PackageMembers::read(upstream, &is_left_out),
            root: root_kptfile(local),
            // kpt writes the identity on all resources of a package, or on none.
            identifies: {
                let members = &local_package.all.members;
                members.iter().any(|member| member.is_identified)
            },
            unchanged: unchanged_files(original, upstream),
            original,
            texts,
            own_upstream,
            renamed: Vec::new(),
            ties: BTreeMap::new(),
            repeats: Vec::new(),
            local: local_package,
        }
    }

    /// Warns of each resource that a package has several times in a file. Equal ones count as one; the others pair by
    /// likeness and position.
    pub(super) fn count_duplicates_once(&mut self, results: &mut Results) {
        let base = equal_duplicates(&self.base, "original", results);
        self.repeats = equal_duplicates(&self.local, "local", results);
        let upstream = equal_duplicates(&self.upstream, "upstream", results);
        for (package, equal) in [(&mut self.base, base), (&mut self.upstream, upstream)] {
            let positions = equal.into_iter().map(|(_, other)| other);
            package.all.leave_out(&positions.collect());
        }
    }

    /// All resources of the three packages.
    pub(super) fn matches(&mut self, strategy: Strategy) -> Vec<ResourceMatch> {
        let sources = [
            self.base.source(),
            self.local.source(),
            self.upstream.source(),
        ];
        let found = match_resources(Versions::from(sources.each_ref()));
        drop(sources);
        let mut matches = found.all;
        self.renamed = renames(&matches, &found.renamed);
        self.ties = found.ties;
        self.separate_untouched(&mut matches, &found.renamed);
        self.match_repeats(&mut matches);
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

    /// Separates resources that upstream renamed and moved, and that local left as they were: upstream's text is taken
    /// where upstream has it.
    fn separate_untouched(
        &self,
        matches: &mut Vec<ResourceMatch>,
        renamed: &BTreeSet<(usize, Side)>,
    ) {
        let mut new = Vec::new();
        for matched in matches.iter_mut() {
            let (Some(base), Some(local), Some(_)) =
                (matched.base, matched.local, matched.upstream)
            else {
                continue;
            };
            let paths = self.paths(matched);
            let is_moved =
                renamed.contains(&(base, Side::Upstream)) && paths.base != paths.upstream;
            if is_moved && same_text((&self.base, base), (&self.local, local)) {
                let upstream = matched.upstream.take();
                new.push(ResourceMatch {
                    upstream,
                    ..ResourceMatch::default()
                });
            }
        }
        matches.extend(new);
    }

    /// Gives the resources that local has several times, and that are equal, the same counterparts.
    fn match_repeats(&self, matches: &mut [ResourceMatch]) {
        let of_local: HashMap<usize, usize> = if self.repeats.is_empty() {
            return;
        } else {
            let all = matches.iter().enumerate();
            all.filter_map(|(number, matched)| Some((matched.local?, number)))
                .collect()
        };
        for (first, other) in &self.repeats {
            let numbers = [first, other].map(|at| of_local.get(at).copied());
            if let [Some(first), Some(other)] = numbers {
                let ResourceMatch { base, upstream, .. } = matches[first];
                let matched = &mut matches[other];
                (matched.base, matched.upstream) = (base, upstream);
            }
        }
    }

    /// The resources of the revision that local was made from.
    pub(super) fn original_members(&self) -> PackageMembers<'p> {
        let is_left_out = |path: &str| self.texts.contains(path) || self.own_upstream.has(path);
        PackageMembers::read(self.original, &is_left_out)
    }

    pub(super) fn members(&self) -> Versions<&Members> {
        Versions::new(&self.base.all, &self.local.all, &self.upstream.all)
    }

    /// Reports the resources that one side renamed, unless there is nothing to merge: local renamed one that upstream
    /// left as it was, or both renamed it alike.
    pub(super) fn report_renamed(&self, report: &mut Report<'_>) {
        for (matched, side) in &self.renamed {
            // A change of the group alone does not rename it.
            let identity = |of: &Members, at: Option<usize>| {
                let key = of.members[at?].key.clone();
                Some((key.kind, key.namespace, key.name))
            };
            let all = self
                .members()
                .zip(*matched)
                .map(|(of, at)| identity(of, at));
            if self.is_untouched(matched) || all.local.is_some() && all.local == all.upstream {
                continue;
            }
            let Some(base) = matched.base.map(|at| self.base.resource(at)) else {
                continue;
            };
            let own = match side {
                Side::Local => matched.local.map(|at| self.local.resource(at)),
                Side::Upstream => matched.upstream.map(|at| self.upstream.resource(at)),
            };
            let of = matched.local.map(|at| self.local.resource(at)).or(own);
            if let (Some(own), Some(of)) = (own, of) {
                report.renamed(*side, base, own, of);
            }
        }
    }

    /// The resources of a side that a resource of base may be there, as text. Empty if it is certain which it is.
    pub(super) fn candidates(&self, base: Option<usize>, side: Side) -> String {
        let ties = base.and_then(|base| self.ties.get(&(base, side)));
        let resource = |at: &usize| match side {
            Side::Local => self.local.resource(*at),
            Side::Upstream => self.upstream.resource(*at),
        };
        let names = ties.into_iter().flatten().map(resource);
        let names = names.map(|resource| format!("`{}`", described(resource)));
        names.collect::<Vec<_>>().join(" and ")
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
            let key = &member.key;
            let named = key
                .name
                .name()
                .is_some_and(|name| &**name == PACKAGE_CONTEXT_NAME);
            is_in_root && named && key.group_kind() == "ConfigMap"
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

/// The resources that a package has several times in a file and that are equal: the first, and another. Reports all that
/// it has several times.
fn equal_duplicates(
    package: &PackageMembers<'_>,
    name: &str,
    results: &mut Results,
) -> Vec<(usize, usize)> {
    let mut equal = Vec::new();
    for (first, others) in duplicates(&package.all.members) {
        let path = package.all.path(Some(first)).unwrap_or_default();
        let mut different = vec![first];
        for other in others {
            let is_equal = |one: &usize| same_value((package, Some(*one)), (package, Some(other)));
            let how = match different.iter().copied().find(is_equal) {
                Some(one) => {
                    equal.push((one, other));
                    "the two are equal and count as one"
                }
                None => {
                    different.push(other);
                    "the two differ, and are matched by likeness and position"
                }
            };
            let message = format!("the {name} package has this resource twice in `{path}`: {how}");
            let result = FunctionResult::warning(Reason::DuplicateResource, message);
            results.push(result.with_resource(package.resource(other)));
        }
    }
    equal
}

/// The matches of renamed resources, with the sides that renamed them.
fn renames(
    matches: &[ResourceMatch],
    renamed: &BTreeSet<(usize, Side)>,
) -> Vec<(ResourceMatch, Side)> {
    if renamed.is_empty() {
        return Vec::new();
    }
    let sides = |matched: &ResourceMatch| {
        let matched = *matched;
        [Side::Local, Side::Upstream]
            .into_iter()
            .filter(move |side| {
                matched
                    .base
                    .is_some_and(|base| renamed.contains(&(base, *side)))
            })
            .map(move |side| (matched, side))
    };
    matches.iter().flat_map(sides).collect()
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
