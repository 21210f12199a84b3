//! Decides what a merge does, before anything is changed.

use std::collections::{BTreeMap, BTreeSet};

use super::Merge;
use super::actions::ResourceAction;
use super::default_paths;
use super::documents;
use super::files::FileActions;
use super::heads::{HeadVersions, Heads};
use super::others::Others;
use super::packages::Packages;
use super::places::{moved_to, places};
use super::report::Report;
use super::subpackages::SubPackages;
use super::untouched::Untouched;
use crate::config::UsageError;
use crate::merge::resources::Track;
use crate::merge::{Side, Versions};
use crate::resource_list::{ItemId, ResourceList};
use crate::results::Results;

/// What a merge does to the local package.
pub(super) struct Plan {
    /// The resources of the three packages. Their numbers are positions in this list.
    pub(super) tracks: Vec<Track>,
    /// What becomes of each.
    pub(super) actions: Vec<ResourceAction>,
    /// Files and documents for which upstream's text stands.
    pub(super) untouched: Untouched,
    /// Resources whose fields merge.
    pub(super) merged: BTreeMap<ItemId, Track>,
    /// New paths of resources, by number.
    pub(super) moves: BTreeMap<usize, String>,
    /// For resources that are new in a file, by number: the local member that each is before.
    pub(super) places: BTreeMap<usize, usize>,
    pub(super) heads: Heads,
    pub(super) files: FileActions,
}

impl Merge<'_> {
    /// Decides over all resources and files. `None` if the strategy refuses the merge.
    pub(super) fn decide(
        &self,
        packages: &mut Packages<'_, '_>,
        local: &ResourceList,
        report: &mut Report<'_>,
        results: &mut Results,
    ) -> Result<Option<Plan>, UsageError> {
        let strategy = self.options.strategy;
        let tracks = packages.tracks(strategy);
        default_paths::place(packages, &tracks, results);
        let packages = &*packages;
        let others = Others::read(self.original, local, self.upstream, packages.texts)?;
        if strategy.refuses_local_changes() {
            packages.refuse_local_changes(&tracks, results);
            others.refuse_local_changes(results);
            if results.has_errors() {
                return Ok(None);
            }
        }
        let overwrites = strategy.overwrites_local();
        let sub_packages = if overwrites {
            SubPackages::default()
        } else {
            SubPackages::find(packages, &others, &tracks, report, results)
        };
        let actions = tracks.iter();
        let actions = actions.map(|track| packages.decide(track, &sub_packages, report));
        let actions: Vec<ResourceAction> = actions.collect();
        if overwrites {
            packages.warn_of_overwritten(self.original, &tracks, strategy, report);
        }
        let kept = kept_paths(packages, &tracks, &actions);
        let files = others.decide(strategy, &sub_packages, &kept, report);
        let mut untouched = if overwrites {
            Untouched::default()
        } else {
            Untouched::find(
                packages,
                self.original,
                self.upstream,
                local,
                &tracks,
                &actions,
            )
        };
        let sources = (self.original, self.upstream);
        documents::report_kept(packages, sources, local, &untouched, report);
        let sides = HeadVersions {
            packages,
            original: self.original,
            upstream: self.upstream,
            local,
            overwrites,
            untouched: &untouched,
        };
        let heads = sides.decide(&tracks, &actions, report);
        untouched.merge_documents(|number| heads.decides(&tracks[number]));
        let winner = self.options.on_conflict.winner();
        report.counts.removed += count(&actions, ResourceAction::Remove);
        report.counts.added += count(&actions, ResourceAction::Add);
        Ok(Some(Plan {
            merged: merged(packages, &tracks, &actions, &untouched, &heads, report),
            moves: moves(packages, &tracks, &actions, &untouched, report),
            places: places(&tracks, &actions, packages.members(), winner),
            tracks,
            actions,
            untouched,
            heads,
            files,
        }))
    }
}

fn count(actions: &[ResourceAction], wanted: ResourceAction) -> usize {
    actions.iter().filter(|action| **action == wanted).count()
}

/// The files in which local keeps resources, or gets some.
fn kept_paths<'p>(
    packages: &'p Packages<'_, '_>,
    tracks: &[Track],
    actions: &[ResourceAction],
) -> BTreeSet<&'p str> {
    let mut kept = BTreeSet::new();
    for (track, action) in tracks.iter().zip(actions) {
        kept.extend(match action {
            ResourceAction::Add => packages.upstream.all.path(track.upstream),
            ResourceAction::Remove => None,
            ResourceAction::Keep | ResourceAction::Merge => packages.local.all.path(track.local),
        });
    }
    kept
}

/// The resources whose fields merge. Most of a package is as it was, and need not be looked at.
fn merged(
    packages: &Packages<'_, '_>,
    tracks: &[Track],
    actions: &[ResourceAction],
    untouched: &Untouched,
    heads: &Heads,
    report: &mut Report<'_>,
) -> BTreeMap<ItemId, Track> {
    let mut merged = BTreeMap::new();
    for (number, (track, action)) in tracks.iter().zip(actions).enumerate() {
        let Some(at) = track.local.filter(|_| *action == ResourceAction::Merge) else {
            continue;
        };
        let has_file = untouched.has_file(packages.local.all.path(track.local));
        // Upstream changed the file, and so its only resource.
        let is_changed = has_file && packages.upstream.all.is_alone(track.upstream);
        if !is_changed && !heads.decides(track) && packages.is_untouched(track) {
            continue;
        }
        if has_file || untouched.has_document(number) {
            report.counts.updated += 1;
        } else {
            merged.insert(packages.local.all.ids[at], *track);
        }
    }
    merged
}

/// The new paths of resources that upstream moved, by number.
fn moves(
    packages: &Packages<'_, '_>,
    tracks: &[Track],
    actions: &[ResourceAction],
    untouched: &Untouched,
    report: &mut Report<'_>,
) -> BTreeMap<usize, String> {
    let mut moves = BTreeMap::new();
    for (number, (track, action)) in tracks.iter().zip(actions).enumerate() {
        let Some(at) = track.local.filter(|_| *action == ResourceAction::Merge) else {
            continue;
        };
        if untouched.has_document(number) {
            continue;
        }
        let paths = packages.paths(track);
        let is_taken =
            both_moved(paths) && report.moved(packages.local.resource(at), paths) == Side::Upstream;
        let path = moved_to(track, packages.members());
        if let Some(path) = path.or(paths.upstream.filter(|_| is_taken)) {
            report.counts.moved += 1;
            moves.insert(number, path.to_owned());
        }
    }
    moves
}

/// Whether local and upstream moved a resource to two different files.
fn both_moved(paths: Versions<Option<&str>>) -> bool {
    match (paths.base, paths.local, paths.upstream) {
        (Some(old), Some(ours), Some(theirs)) => ours != old && theirs != old && ours != theirs,
        _ => false,
    }
}
