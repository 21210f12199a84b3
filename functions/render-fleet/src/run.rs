//! Runs over a whole fleet: reads its variants, renders them on several threads, and prunes what remains.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use super::config::{FleetSettings, read_settings};
use super::directory::{Mode, on_directory};
use super::drafts::Drafts;
use super::outcome::VariantOutcome;
use super::owners::{Owners, copied};
use super::prune::{prune, remove, too_many};
use super::render::Worker;
use super::status::Statuses;
use super::variants::{FleetVariant, Variants, is_set, is_variant};
use crate::fleet::{ClaimedPackage, Shard, claimed_packages};
use krm_core::config::{NamedDocument, UsageError};
use krm_core::results::{FunctionResult, Results};
use krm_function::supplied::{CatalogSource, Role, Supplied, SuppliedPackage};
use krm_upstream::SOURCES;
use krm_variant::expression::on_large_stack;
use krm_yaml::NodeRef;
use render_variant::ListedRevisions;

/// A run over a fleet in a directory.
#[derive(Debug)]
pub(crate) struct FleetRun<'r> {
    /// The directory of the fleet.
    pub fleet: &'r Path,
    /// The functionConfig; `None` for the defaults.
    pub config: Option<NodeRef<'r>>,
    pub conflicts: Option<&'r NamedDocument>,
    /// The files and directories for the roles `variants` and `resources`.
    pub supplied: &'r [(Role, PathBuf)],
    /// The catalogs, in addition to the catalogs of the config.
    pub catalogs: Vec<CatalogSource>,
    /// The share of the fleet to process; `None` for the whole fleet.
    pub shard: Option<Shard>,
    /// How many variants are processed at a time.
    pub jobs: usize,
    /// What the run does apart from rendering.
    pub mode: Mode,
    /// Whether to write the status of PackageVariants that were read from directories.
    pub writes_status: bool,
}

pub(crate) trait RunObserver {
    /// Called once, with the number of variants that will be processed.
    fn begin(&mut self, variants: usize);

    /// Called with the outcome of each variant, in the order of namespaces and names.
    ///
    /// # Errors
    /// [`UsageError`]: the outcome cannot be recorded. The run continues to its end.
    fn record(&mut self, outcome: VariantOutcome) -> Result<(), UsageError>;
}

/// Creates, updates, refreshes and prunes the packages of a fleet. Returns the results about the whole run. An error
/// of a set excludes its variants and all pruning; any other error among these results stops the run before anything
/// changes.
///
/// # Errors
/// [`UsageError`]: inputs or settings are invalid; a report cannot be written.
pub(crate) fn run_fleet(
    run: FleetRun<'_>,
    observer: &mut dyn RunObserver,
) -> Result<Results, UsageError> {
    let mut results = Results::default();
    let settings = read_settings(run.config, run.conflicts, &mut results)?;
    let Some(mut settings) = settings else {
        return Ok(results);
    };
    take_flags(&mut settings, &run.catalogs, run.shard)?;
    settings.drafts = run.mode.drafts;
    let mut supplied = Supplied::default();
    let Some(mut variants) = supplied_variants(&run, &mut supplied, &settings, &mut results)?
    else {
        return Ok(results);
    };
    let drafts = || Drafts::new(run.fleet, &variants.repositories, &settings, run.mode);
    let mut before = drafts();
    let claimed = claimed(&run, &mut before, &variants.all, &mut results)?;
    let is_package = |path: &str| !run.mode.drafts && run.fleet.join(path).join("Kptfile").exists();
    let owners = Owners::new(claimed, &mut variants.all, is_package);
    let mut left = owners.abandoned(&variants.all, variants.are_complete, &mut results);
    let deleted = deleted(&settings, &mut before, &left)?;
    if let Some(error) = too_many(deleted, owners.owned.len(), &settings) {
        results.push(error);
        return Ok(results);
    }
    variants.all.retain(|variant| settings.has(&variant.owner));
    left.retain(|package| settings.has(&package.owner));
    observer.begin(variants.all.len());
    let work = Work {
        run: &run,
        settings: &settings,
        variants: &variants,
        resources: &supplied,
        next: AtomicUsize::new(0),
    };
    let mut failed = HashSet::new();
    let mut statuses = Statuses::default();
    let mut seen = Ok(());
    let found = work.render_all(&mut |outcome| {
        failed.extend(outcome.is_failed().then(|| outcome.entry.name.clone()));
        if run.writes_status {
            statuses.add(&outcome);
        }
        if seen.is_ok() {
            seen = observer.record(outcome);
        }
    })?;
    add_once(&mut results, found);
    seen?;
    // Opened again, because rendering changed the branches.
    let mut drafts = drafts();
    left.sort_by(|a, b| (&a.owner, &a.path).cmp(&(&b.owner, &b.path)));
    for package in left {
        observer.record(if run.mode.drafts {
            drafts.prune(package, &failed)
        } else {
            let below = owners.below(&package.path);
            let remove = || remove(run.fleet, package, &below, run.mode);
            prune(package, &settings, &failed, remove)
        })?;
    }
    let copies = owners.copies.iter();
    for copy in copies.filter(|copy| settings.has(&copy.owner)) {
        observer.record(copied(copy))?;
    }
    if run.writes_status && run.mode.writes {
        let lists = supplied.resources().map(SuppliedPackage::list);
        let listed = ListedRevisions::read(lists);
        statuses.write(run.supplied, &listed, &mut results)?;
    }
    Ok(results)
}

/// Reads the variants of the run, and adds the resources that came with them to `supplied`. `None` if an error among
/// the results ends the run.
fn supplied_variants(
    run: &FleetRun<'_>,
    supplied: &mut Supplied,
    settings: &FleetSettings,
    results: &mut Results,
) -> Result<Option<Variants>, UsageError> {
    let inputs = read_inputs(run.supplied, Role::Variants, results)?;
    for package in read_inputs(run.supplied, Role::Resources, results)? {
        supplied.add(Role::Resources, Arc::new(package));
    }
    if results.has_errors() {
        return Ok(None);
    }
    let inputs: Vec<_> = inputs.into_iter().map(Arc::new).collect();
    add_other_objects(&inputs, supplied);
    let inputs: Vec<_> = inputs.iter().map(|input| input.list()).collect();
    let read = || Variants::read(&inputs, supplied, settings, results);
    let variants = on_large_stack(read);
    let variants = variants.map_err(|error| UsageError::cannot("start a thread", error))??;
    let Some(error) = variants.none(&inputs, settings) else {
        return Ok(Some(variants));
    };
    results.push(error);
    Ok(None)
}

/// Finds the packages of the fleet with an owner in their Kptfile.
fn claimed(
    run: &FleetRun<'_>,
    drafts: &mut Drafts<'_>,
    variants: &[FleetVariant],
    results: &mut Results,
) -> Result<Vec<ClaimedPackage>, UsageError> {
    if run.mode.drafts {
        return drafts.claimed(variants, results);
    }
    claimed_packages(run.fleet, !run.mode.writes).map_err(UsageError::of)
}

/// How many of these packages a run with `prune` would delete or propose to delete.
fn deleted(
    settings: &FleetSettings,
    drafts: &mut Drafts<'_>,
    left: &[&ClaimedPackage],
) -> Result<usize, UsageError> {
    let mut deleted = left.iter().filter(|package| !package.orphans);
    if !settings.drafts || !settings.prunes {
        return Ok(deleted.count());
    }
    deleted.try_fold(0, |count, package| {
        Ok(count + usize::from(drafts.deletes(package)?))
    })
}

/// Adds the inputs of the role `variants` that contain other objects to the role `resources`.
pub(super) fn add_other_objects<'i>(
    inputs: impl IntoIterator<Item = &'i Arc<SuppliedPackage>>,
    supplied: &mut Supplied,
) {
    for input in inputs {
        let mut items = input.list().items();
        if items.any(|(_, resource)| !(is_variant(resource) || is_set(resource))) {
            supplied.add(Role::Resources, Arc::clone(input));
        }
    }
}

/// Adds the values of flags to the settings of the config.
pub(super) fn take_flags(
    settings: &mut FleetSettings,
    catalogs: &[CatalogSource],
    shard: Option<Shard>,
) -> Result<(), UsageError> {
    if shard.is_some() && settings.shard.is_some() {
        let message = "expected `--shard` or the field `shard`, found both";
        return Err(UsageError::of(message));
    }
    settings.shard = settings.shard.or(shard);
    settings.catalogs.extend(catalogs.iter().cloned());
    let mut names = HashSet::new();
    for source in &settings.catalogs {
        if !names.insert((&source.namespace, &source.name)) {
            return Err(UsageError::of(format!(
                "expected one catalog `{source}`, found two"
            )));
        }
    }
    Ok(())
}

fn read_inputs(
    paths: &[(Role, PathBuf)],
    role: Role,
    results: &mut Results,
) -> Result<Vec<SuppliedPackage>, UsageError> {
    let paths = paths.iter().filter(|(other, _)| *other == role);
    paths
        .map(|(_, path)| SuppliedPackage::from_path(role, path, SOURCES, results))
        .collect()
}

/// The work that several threads share.
struct Work<'w> {
    run: &'w FleetRun<'w>,
    settings: &'w FleetSettings,
    variants: &'w Variants,
    resources: &'w Supplied,
    next: AtomicUsize,
}

impl Work<'_> {
    /// Processes all variants, and calls `take` with each outcome in order. Returns the results about upstream
    /// packages.
    fn render_all(
        &self,
        take: &mut dyn FnMut(VariantOutcome),
    ) -> Result<Vec<FunctionResult>, UsageError> {
        let jobs = self.run.jobs.clamp(1, self.variants.all.len().max(1));
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(jobs * 16);
            let threads: Vec<_> = (0..jobs)
                .map(|_| {
                    let sender = sender.clone();
                    std::thread::Builder::new()
                        .stack_size(STACK)
                        .spawn_scoped(scope, move || self.render_until_done(&sender))
                        .map_err(|error| UsageError::cannot("start a thread", error))
                })
                .collect::<Result<_, _>>()?;
            drop(sender);
            // Outcomes that arrived before their turn.
            let mut early: BTreeMap<usize, VariantOutcome> = BTreeMap::new();
            let mut turn = 0;
            for (index, outcome) in receiver {
                early.insert(index, outcome);
                while let Some(outcome) = early.remove(&turn) {
                    take(outcome);
                    turn += 1;
                }
            }
            let mut found = Vec::new();
            for thread in threads {
                match thread.join() {
                    Ok(results) => found.extend(results.iter().cloned()),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            Ok(found)
        })
    }

    /// Processes variants until none is left.
    fn render_until_done(&self, sender: &SyncSender<(usize, VariantOutcome)>) -> Results {
        let FleetRun { fleet, mode, .. } = *self.run;
        let repositories = &self.variants.repositories;
        let mut worker = Worker::new(self.settings, repositories, self.resources);
        let mut drafts = Drafts::new(fleet, repositories, self.settings, mode);
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(variant) = self.variants.all.get(index) else {
                break;
            };
            let outcome = self.render_one(&mut worker, &mut drafts, variant);
            if sender.send((index, outcome)).is_err() {
                break;
            }
        }
        worker.into_results()
    }

    fn render_one(
        &self,
        worker: &mut Worker<'_>,
        drafts: &mut Drafts<'_>,
        variant: &FleetVariant,
    ) -> VariantOutcome {
        let FleetRun { fleet, mode, .. } = *self.run;
        match &variant.place {
            Ok(place) if mode.drafts => drafts.render(worker, variant, place),
            Ok(place) => on_directory(worker, fleet, variant, place, mode),
            Err(findings) => VariantOutcome::refused(variant, findings),
        }
    }
}

/// The stack of a thread: as large as the main thread's, because deep documents are parsed on threads too.
const STACK: usize = 8 << 20;

/// Adds results sorted by their text, without duplicates, because several threads read the same upstream packages.
fn add_once(results: &mut Results, mut found: Vec<FunctionResult>) {
    found.sort_by_cached_key(ToString::to_string);
    found.dedup();
    results.extend(found);
}
