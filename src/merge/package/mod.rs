//! Merges packages: which resources are the same, what becomes of each, and what is said of it.
//!
//! In reading order: `empty` refuses what is no package; `members` and `others` read what a package has,
//! `packages` puts three side by side; `local_changes`, `subpackages`, `fates`, `files` with `kustomization_file`, `heads` and `documents` decide,
//! `untouched` finds what needs no merge; `apply` with `places` and `new_text` does it, `report` tells, and `cut`
//! shortens what it shows.
//!
//! Source: contract, merge-package.

mod apply;
mod cut;
mod documents;
mod empty;
mod fates;
mod files;
mod heads;
mod kustomization_file;
mod local_changes;
mod members;
mod new_text;
mod others;
mod packages;
mod places;
mod report;
mod subpackages;
mod untouched;

use std::collections::{BTreeMap, BTreeSet};

use super::decided::ConflictRules;
use super::fields::{self, Conflict, Findings, Policy};
use super::merge_schema::MergeSchema;
use super::resources::{Track, duplicates, tracks};
use super::rule::OnConflict;
use crate::config::UsageError;
use crate::kptfile::{remove_ids, root_kptfile};
use crate::resource::Resource;
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason, Results};
use crate::schema::Schema;
use crate::supplied::SuppliedPackage;
use crate::yaml::EditError;

use apply::Work;
use fates::Fate;
use members::Package;
use others::Others;
use packages::Packages;
use report::Report;
use subpackages::SubPackages;
use untouched::Untouched;

/// How a package is brought up to date; kpt's words and meanings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Three-way.
    #[default]
    ResourceMerge,
    /// Only if local has no changes.
    FastForward,
    /// Upstream takes local's place.
    ForceDeleteReplace,
    /// Upstream is copied over local; what only local has stays.
    CopyMerge,
}

impl Strategy {
    /// The values of the field `strategy`.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("resource-merge", Self::ResourceMerge),
        ("fast-forward", Self::FastForward),
        ("force-delete-replace", Self::ForceDeleteReplace),
        ("copy-merge", Self::CopyMerge),
    ];
}

/// How to merge.
#[derive(Debug, Clone, Copy, Default)]
pub struct MergeOptions {
    /// Who stands in a conflict.
    pub on_conflict: OnConflict,
    /// What a merge is.
    pub strategy: Strategy,
    /// Whether original and upstream may be empty.
    pub allow_empty: bool,
}

/// One of the packages that local is merged with.
#[derive(Debug, Clone, Copy)]
pub enum Source<'s> {
    /// A supplied input, with its files where it has any.
    Supplied(&'s SuppliedPackage),
    /// Resources alone.
    Items(&'s ResourceList),
}

impl<'s> Source<'s> {
    fn list(self) -> &'s ResourceList {
        match self {
            Self::Supplied(package) => package.list(),
            Self::Items(list) => list,
        }
    }

    fn files(self) -> Option<&'s SuppliedPackage> {
        match self {
            Self::Supplied(package) if package.is_package() => Some(package),
            _ => None,
        }
    }
}

/// What local is merged with, and how.
pub struct Merge<'m> {
    /// What local is based on.
    pub original: Source<'m>,
    /// The package revision wanted.
    pub upstream: Source<'m>,
    /// Who stands, and what a merge is.
    pub options: MergeOptions,
    /// Conflicts that are decided beforehand.
    pub rules: &'m ConflictRules,
    /// The schema of the types that are not described in the packages.
    pub schema: Schema,
    /// Fields that a later step overwrites; conflicts there are not reported.
    pub is_overwritten: &'m dyn Fn(ItemId, &Conflict) -> bool,
    /// How somebody says that original and upstream may be empty.
    pub allow_empty_by: &'static str,
}

impl Merge<'_> {
    /// Merges upstream into the local package.
    ///
    /// # Errors
    /// [`UsageError`]: a file that cannot be read any more.
    pub fn run(self, local: &mut ResourceList, results: &mut Results) -> Result<(), UsageError> {
        let options = self.options;
        if !options.allow_empty && self.refuse_empty(local, results) {
            return Ok(());
        }
        let replaced = matches!(
            options.strategy,
            Strategy::ForceDeleteReplace | Strategy::CopyMerge
        );
        // As if local had no changes.
        let all: Vec<ItemId> = local.items().map(|(id, _)| id).collect();
        let copy = replaced.then(|| local.copies_of(&all));
        let base = Package::read(copy.as_ref().unwrap_or(self.original.list()));
        let ours = Package::read(local);
        let packages = Packages {
            base,
            upstream: Package::read(self.upstream.list()),
            root: root_kptfile(local),
            // kpt writes it on all resources of a package, or on none.
            identifies: ours.all.members.iter().any(|member| member.is_annotated),
            unchanged: unchanged_files(self.original, self.upstream),
            local: ours,
        };
        if refuse_duplicates(&packages, results) {
            return Ok(());
        }
        let mut tracks = tracks(
            &packages.base.all.members,
            &packages.local.all.members,
            &packages.upstream.all.members,
        );
        if options.strategy == Strategy::CopyMerge {
            // Upstream says nothing of what only local has.
            for track in tracks.iter_mut().filter(|track| track.upstream.is_none()) {
                track.base = None;
            }
        }
        let others = Others::read(self.original, local, self.upstream)?;
        if options.strategy == Strategy::FastForward {
            packages.refuse_local_changes(&tracks, results);
            others.refuse_local_changes(results);
            if results.has_errors() {
                return Ok(());
            }
        }
        let mut report = Report::new(options, self.rules);
        let sub_packages = match replaced {
            true => SubPackages::default(),
            false => SubPackages::find(&packages, &others, &tracks, &mut report, results),
        };
        let fates: Vec<Fate> = tracks
            .iter()
            .map(|track| packages.fate(track, &sub_packages, &mut report))
            .collect();
        if replaced {
            let original = Package::read(self.original.list());
            packages.warn_of_overwritten(&original, &tracks, options, &mut report);
        }
        let kept = kept_paths(&packages, &tracks, &fates);
        let files = others.merge(options.strategy, &sub_packages, &kept, &mut report);
        let schema = with_crds(self.schema, &packages);
        let sources = [self.original, self.upstream];
        let untouched = match replaced {
            true => Untouched::default(),
            false => Untouched::find(&packages, sources, local, &tracks, &fates),
        };
        documents::report_kept(&packages, sources, local, &untouched, &mut report);
        let sides = heads::Sides {
            packages: &packages,
            sources,
            local,
            replaced,
            untouched: &untouched,
        };
        let heads = sides.merge(&tracks, &fates, &mut report);
        let merged = tracks.iter().zip(&fates).enumerate();
        // Most of a package is as it was, and need not be looked at.
        let merged = merged.filter(|(_, (_, fate))| **fate == Fate::Merge);
        let merged = merged.filter(|(number, (track, _))| {
            let has_file = untouched.has_file(packages.local.all.path(track.local));
            // Upstream changed the file, and so its only resource.
            let is_changed = has_file && packages.upstream.all.is_alone(track.upstream);
            if !is_changed && packages.is_untouched(track) {
                return false;
            }
            let is_upstreams = has_file || untouched.has_document(*number);
            report.counts.updated += usize::from(is_upstreams);
            !is_upstreams
        });
        let ids = &packages.local.all.ids;
        let by_id = merged.filter_map(|(_, (track, _))| Some((ids[track.local?], *track)));
        let by_id: BTreeMap<ItemId, Track> = by_id.collect();
        let Packages {
            base,
            local: Package { all: ours, .. },
            upstream,
            root,
            identifies,
            ..
        } = packages;
        let pairs = Pairs {
            base: &base,
            upstream: &upstream,
            schema: &schema,
            options,
            rules: self.rules,
            root,
            by_id: &by_id,
        };
        pairs.merge(local, self.is_overwritten, &mut report);
        let work = Work {
            tracks: &tracks,
            fates: &fates,
            members: [&base.all, &ours, &upstream.all],
            upstream: &upstream,
            sources,
            untouched: &untouched,
            identifies,
            winner: options.on_conflict.winner(),
        };
        work.apply(local, &mut report)?;
        heads.apply(local);
        files.apply(local);
        report.finish(results);
        Ok(())
    }
}

/// An error for each resource of which a package has two.
fn refuse_duplicates(packages: &Packages<'_, '_>, results: &mut Results) -> bool {
    let all = [
        (&packages.base, "original"),
        (&packages.local, "local"),
        (&packages.upstream, "upstream"),
    ];
    let mut found = false;
    for (package, name) in all {
        for (first, second) in duplicates(&package.all.members) {
            found = true;
            let path = package.all.path(Some(first)).unwrap_or_default();
            let message = format!("the {name} package has this resource twice in `{path}`");
            let result = FunctionResult::error(Reason::DuplicateResource, message);
            results.push(result.about(package.resource(second)));
        }
    }
    found
}

/// The files with resources that two packages have byte for byte: none of their resources needs a
/// second look.
fn unchanged_files<'s>(original: Source<'s>, upstream: Source<'s>) -> BTreeSet<&'s str> {
    let (Some(old), Some(new)) = (original.files(), upstream.files()) else {
        return BTreeSet::new();
    };
    let same = |path: &&str| match (old.read_file(path), new.read_file(path)) {
        (Ok(old), Ok(new)) => old == new,
        _ => false,
    };
    let krm = new.files().filter(|file| file.is_krm());
    krm.map(|file| file.path.as_str()).filter(same).collect()
}

/// The schema with those that the packages bring along.
fn with_crds(schema: Schema, packages: &Packages<'_, '_>) -> Schema {
    let all = [&packages.base, &packages.local, &packages.upstream];
    let crds = all.into_iter().flat_map(|package| {
        let members = package.all.members.iter().enumerate();
        let crds = members.filter(|(_, member)| member.kind == "CustomResourceDefinition");
        crds.map(|(at, _)| package.node(at))
    });
    schema.with_crds(crds.collect::<Vec<_>>())
}

/// The files in which local keeps resources, or gets some.
fn kept_paths<'p>(
    packages: &'p Packages<'_, '_>,
    tracks: &[Track],
    fates: &[Fate],
) -> BTreeSet<&'p str> {
    let mut kept = BTreeSet::new();
    for (track, fate) in tracks.iter().zip(fates) {
        kept.extend(match fate {
            Fate::Added => packages.upstream.all.path(track.upstream),
            Fate::Removed => None,
            Fate::Stays | Fate::Merge => packages.local.all.path(track.local),
        });
    }
    kept
}

/// The resources that local and upstream have.
struct Pairs<'p> {
    base: &'p Package<'p>,
    upstream: &'p Package<'p>,
    schema: &'p Schema,
    options: MergeOptions,
    rules: &'p ConflictRules,
    root: Option<ItemId>,
    by_id: &'p BTreeMap<ItemId, Track>,
}

impl Pairs<'_> {
    fn merge(
        &self,
        local: &mut ResourceList,
        is_overwritten: &dyn Fn(ItemId, &Conflict) -> bool,
        report: &mut Report<'_>,
    ) {
        let winner = self.options.on_conflict.winner();
        let in_package = local.is_package();
        let ids = self.by_id.keys().copied();
        let resources: BTreeMap<ItemId, Resource> = ids
            .clone()
            .map(|id| (id, local.resource(id).clone()))
            .collect();
        let mut found: Vec<(ItemId, Findings)> = Vec::new();
        let mut refused: Vec<(ItemId, EditError)> = Vec::new();
        let mut updated: BTreeSet<ItemId> = BTreeSet::new();
        local.edit_items(
            ids,
            |id, node, editor| {
                let track = &self.by_id[&id];
                let Some(upstream) = track.upstream else {
                    return Ok(());
                };
                let base = track.base.map(|at| self.base.node(at));
                let merge_schema =
                    MergeSchema::of(&resources[&id], self.schema, self.root == Some(id));
                let upstream = self.upstream.node(upstream);
                let rules = self.rules.of(&resources[&id]);
                let policy = Policy { winner, rules };
                let findings =
                    fields::merge_resource(base, node, upstream, merge_schema, policy, editor)?;
                if findings.moves_comments && !in_package {
                    remove_ids(node, editor)?;
                }
                updated.extend(editor.touches(node).then_some(id));
                found.push((id, findings));
                Ok(())
            },
            |id, error| refused.push((id, error)),
        );
        let mut unmerged = BTreeSet::new();
        for (id, error) in refused {
            updated.remove(&id);
            unmerged.insert(id);
            report.say(FunctionResult::refused(&error).about(&resources[&id]));
        }
        report.counts.updated += updated.len();
        found.retain(|(id, _)| !unmerged.contains(id));
        for (id, mut findings) in found {
            findings
                .conflicts
                .retain(|conflict| !is_overwritten(id, conflict));
            report.findings(&resources[&id], &findings);
        }
    }
}
