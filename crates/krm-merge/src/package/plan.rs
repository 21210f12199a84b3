//! Decides what a merge does, before anything is changed.

use std::collections::BTreeMap;

use super::Merge;
use super::actions::ResourceAction;
use super::default_paths;
use super::documents;
use super::files::FileActions;
use super::heads::{HeadMerger, Heads};
use super::others::Others;
use super::packages::Packages;
use super::places::places;
use super::report::Report;
use super::subpackages::SubPackages;
use super::untouched::Untouched;
use crate::Side;
use crate::resources::ResourceMatch;
use krm_core::config::UsageError;
use krm_core::resource::Resource;
use krm_core::resource_list::ItemId;
use krm_core::results::Results;

/// What a merge does to the local package.
pub(super) struct Plan {
    /// The resources of the three packages. Their numbers are positions in this list.
    pub(super) matches: Vec<ResourceMatch>,
    /// What the merge does with each resource.
    pub(super) actions: Vec<ResourceAction>,
    /// Files and documents for which upstream's text is taken.
    pub(super) untouched: Untouched,
    /// Resources whose fields merge.
    pub(super) merged: BTreeMap<ItemId, ResourceMatch>,
    /// New paths of resources, by number.
    pub(super) moves: BTreeMap<usize, String>,
    /// For resources that are new in a file, by number: the local member before which each is inserted.
    pub(super) places: BTreeMap<usize, usize>,
    pub(super) heads: Heads,
    pub(super) files: FileActions,
}

impl Merge<'_> {
    /// Decides about all resources and files. `None` if the strategy refuses the merge.
    pub(super) fn plan(
        &self,
        packages: &mut Packages<'_, '_>,
        report: &mut Report<'_>,
        results: &mut Results,
    ) -> Result<Option<Plan>, UsageError> {
        let strategy = self.options.strategy;
        let matches = packages.matches(strategy);
        default_paths::place(packages, &matches, results);
        let packages = &*packages;
        let others = Others::read(packages)?;
        if strategy.refuses_local_changes() {
            packages.refuse_local_changes(&matches, results);
            others.refuse_local_changes(results);
            if results.has_errors() {
                return Ok(None);
            }
        }
        let overwrites = strategy.overwrites_local();
        let sub_packages = if overwrites {
            SubPackages::default()
        } else {
            SubPackages::find(packages, &others, &matches, report, results)
        };
        let actions = matches.iter();
        let actions = actions.map(|matched| packages.action(matched, &sub_packages, report));
        let actions: Vec<ResourceAction> = actions.collect();
        packages.report_renamed(report);
        if overwrites {
            packages.warn_of_overwritten(&matches, strategy, report);
        } else {
            packages.warn_of_removed_comments(&matches, &actions, report);
        }
        let moves = upstream_moves(packages, &matches, &actions, report);
        let paths = paths_after(packages, &matches, &actions, &moves);
        let has_resources = paths.iter().copied().flatten().collect();
        let files = others.plan(strategy, &sub_packages, &has_resources, report);
        let is_guarded = |resource: &Resource| report.is_guarded(resource);
        let mut untouched = Untouched::find(packages, &matches, &actions, overwrites, &is_guarded);
        documents::report_kept(packages, &untouched, report);
        let heads = HeadMerger {
            packages,
            overwrites,
            untouched: &untouched,
        };
        let heads = heads.merge(&matches, &paths, report);
        untouched.merge_documents(|number| heads.decides(&matches[number]));
        let winner = self.options.on_conflict.winner();
        report.counts.removed += count(&actions, ResourceAction::Remove);
        report.counts.added += count(&actions, ResourceAction::Add);
        Ok(Some(Plan {
            merged: fields_to_merge(packages, &matches, &actions, &untouched, &heads, report),
            places: places(&matches, &actions, &moves, packages.members(), winner),
            moves,
            matches,
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

/// The path of each resource after the merge.
fn paths_after<'p>(
    packages: &'p Packages<'_, '_>,
    matches: &[ResourceMatch],
    actions: &[ResourceAction],
    moves: &'p BTreeMap<usize, String>,
) -> Vec<Option<&'p str>> {
    let all = matches.iter().zip(actions).enumerate();
    let paths = all.map(|(number, (matched, action))| match action {
        ResourceAction::Add => packages.upstream.all.path(matched.upstream),
        ResourceAction::Remove => None,
        ResourceAction::Keep | ResourceAction::Merge => match moves.get(&number) {
            Some(path) => Some(path.as_str()),
            None => packages.local.all.path(matched.local),
        },
    });
    paths.collect()
}

/// The resources whose fields merge. Resources that upstream did not change are left out; usually these are most.
fn fields_to_merge(
    packages: &Packages<'_, '_>,
    matches: &[ResourceMatch],
    actions: &[ResourceAction],
    untouched: &Untouched,
    heads: &Heads,
    report: &mut Report<'_>,
) -> BTreeMap<ItemId, ResourceMatch> {
    let mut merged = BTreeMap::new();
    for (number, (matched, action)) in matches.iter().zip(actions).enumerate() {
        let Some(at) = matched.local.filter(|_| *action == ResourceAction::Merge) else {
            continue;
        };
        let has_file = untouched.has_file(packages.local.all.path(matched.local));
        // Upstream changed the file, and so its only resource.
        let is_changed = has_file && packages.upstream.all.is_alone(matched.upstream);
        if !is_changed && !heads.decides(matched) && packages.is_untouched(matched) {
            continue;
        }
        if has_file || untouched.documents.contains(&number) {
            report.counts.updated += 1;
        } else {
            merged.insert(packages.local.all.ids[at], *matched);
        }
    }
    merged
}

/// The new paths of resources that upstream moved, by number.
fn upstream_moves(
    packages: &Packages<'_, '_>,
    matches: &[ResourceMatch],
    actions: &[ResourceAction],
    report: &mut Report<'_>,
) -> BTreeMap<usize, String> {
    let mut moves = BTreeMap::new();
    for (number, (matched, action)) in matches.iter().zip(actions).enumerate() {
        let Some(at) = matched.local.filter(|_| *action == ResourceAction::Merge) else {
            continue;
        };
        let paths = packages.paths(matched);
        let Some(all) = paths.all() else { continue };
        let is_moved = all.upstream != all.base && all.local != all.upstream;
        let mut is_taken = || {
            all.local == all.base
                || report.moved(packages.local.resource(at), paths) == Side::Upstream
        };
        if is_moved && is_taken() {
            report.counts.moved += 1;
            moves.insert(number, all.upstream.to_owned());
        }
    }
    moves
}
