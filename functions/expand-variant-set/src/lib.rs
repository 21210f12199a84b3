//! Creates the PackageVariants of PackageVariantSets.
//!
//! ```yaml
//! targets:               # before, in a PackageVariantSet `fleet`
//! - repositories:
//!   - name: cluster-01
//! ```
//! ```yaml
//! downstream:            # after, in a PackageVariant `fleet-cluster-01-foo`
//!   repo: cluster-01
//!   package: foo
//! ```
//!
//! Source: package-variant document, Fan Out of Variant Generation to PackageVariantSet Status;
//! contract, expand-variant-set.

mod apply;
mod check;
mod comments;
mod fleet;
mod new_files;
mod sets;
mod status;
mod variant;

use std::collections::{BTreeSet, HashSet};

use krm_core::config::{CONFIG_MAP, Key, Keys, UsageError};
use krm_core::resource::{Resource, namespace_of};
use krm_core::resource_list::{ItemId, NewResource, NewText, ResourceList};
use krm_core::results::{FunctionResult, MOST_LISTED, Reason, Results};
use krm_function::supplied::{Role, Supplied, SuppliedPackage};
use krm_function::{Function, Output, StepRun};
use krm_upstream::SOURCES;
use krm_variant::cluster::Cluster;
use krm_variant::expression::on_large_stack;
use krm_variant::fan_out::{SetExpansion, assume_upstreams, fan_out, too_many};
use krm_variant::package_variant_set;
use krm_yaml::{EditError, Value};

use check::{check_files, check_names, check_owners, check_targets};
use fleet::Fleet;
use new_files::{VariantFiles, namespaces_of};
use sets::{LocatedSet, LocatedSets, namespaces, read_sets, sets_among, sets_of_items, types};
use status::{NOT_READY, NOT_STALLED, STALLED};
use variant::{annotations_due, new_resource};

/// The definition of the function.
pub const FUNCTION: Function = Function {
    name: "expand-variant-set",
    about: "Creates the PackageVariants of PackageVariantSets: one for each target, from a template.",
    examples: &[
        "expand-variant-set --package DIR --config set.yaml --resources cluster.yaml",
        "expand-variant-set --package DIR --resources cluster.yaml --check",
    ],
    configs: &[
        (package_variant_set::API_VERSION, package_variant_set::KIND),
        CONFIG_MAP,
    ],
    roles: &[Role::Resources],
    keys: Keys::These(&[Key {
        name: "allowEmpty",
        words: &["false", "true"],
        help: "allow a set to lose all of its variants",
    }]),
    sources: SOURCES,
    step,
    ..Function::PLAIN
};

const GROUP: &str = "config.porch.kpt.dev";
/// Bytes of PackageVariants that every run may create.
const ROOM: usize = 48_000_000;
/// Additional bytes for each byte of input.
const ROOM_PER_BYTE: usize = 4;
/// The minimum cost of a PackageVariant, in bytes.
const LEAST_COST: usize = 500;
/// The cost of a new PackageVariant in addition to its text, in bytes.
const NEW_COST: usize = 300;
/// The cost of a PackageVariant's result if it is listed, in bytes.
const RESULT_COST: usize = 700;
/// The most errors of one set that are reported one by one.
const MOST_ERRORS: usize = 100;

fn step(run: StepRun<'_>) -> Result<Output, UsageError> {
    let mut located = read_sets(run.config, run.list, run.results)?;
    if let Some((_, error)) = located.unreadable.pop() {
        return Err(error);
    }
    if located.sources.is_empty() {
        if run.results.is_empty() {
            let message =
                "expected a PackageVariantSet as functionConfig or among the items, found none";
            run.results.push(FunctionResult::warning(
                Reason::NoPackageVariantSet,
                message,
            ));
        }
        if located.are_items {
            check_owners(run.list, &Sets::new(Vec::new(), run.list), run.results);
        }
        return Ok(Output::Edited);
    }
    let made = Expanding::new(located, run.list, run.supplied, false, run.results)?;
    if run.results.has_errors() || made.failed.contains(&true) {
        for (located, expansion) in made.sets.all.iter().zip(made.expansions) {
            report_failure(&located.resource, expansion.findings, run.results);
        }
    } else {
        made.sets
            .apply(made.expansions, &made.failed, run.list, run.results);
    }
    Ok(Output::Edited)
}

/// Expands the sets among the items, for a fleet. Its catalogs provide upstream packages without PackageRevisions. A
/// set with an error does not get PackageVariants, and the ones that it owns are removed from the list, so that their
/// packages are left unchanged. Returns whether all sets were expanded.
///
/// # Errors
/// [`UsageError`]: no thread can be started.
pub fn expand_valid_sets(
    list: &mut ResourceList,
    supplied: &Supplied,
    allow_empty: bool,
    results: &mut Results,
) -> Result<bool, UsageError> {
    let located = LocatedSets {
        allow_empty,
        ..sets_of_items(list, results)
    };
    for (resource, error) in &located.unreadable {
        let result = FunctionResult::error(Reason::InvalidConfig, error.to_string());
        results.push(result.with_resource(resource));
    }
    let Expanding {
        sets,
        mut expansions,
        mut failed,
    } = Expanding::new(located, list, supplied, true, results)?;
    for (index, expansion) in expansions.iter_mut().enumerate() {
        if failed[index] {
            let findings = std::mem::take(&mut expansion.findings);
            report_failure(&sets.all[index].resource, findings, results);
            expansion.variants.clear();
        }
    }
    if !sets.apply(expansions, &failed, list, results) {
        failed.fill(true);
    }
    sets.remove_variants_of(&failed, list);
    Ok(!results.has_errors())
}

/// The sets of a run and their expansions, before anything is written.
struct Expanding {
    sets: Sets,
    expansions: Vec<SetExpansion<Made>>,
    /// For each set, whether it has errors.
    failed: Vec<bool>,
}

impl Expanding {
    fn new(
        located: LocatedSets,
        list: &mut ResourceList,
        supplied: &Supplied,
        is_fleet: bool,
        results: &mut Results,
    ) -> Result<Self, UsageError> {
        let sources = located.sources;
        let mut findings = Vec::new();
        let mut cluster = read_cluster(&sources, list, supplied, &mut findings);
        if is_fleet {
            assume_upstreams(sources.iter().map(|source| &source.set), &mut cluster);
        }
        let sets = Sets::new(sources, list);
        let mut expansions = sets.expand(&cluster, list, room(list, supplied))?;
        drop(cluster);
        if located.are_items {
            check_owners(list, &sets, results);
        }
        check_targets(&sets, &mut expansions, located.allow_empty);
        check_names(&sets, &mut expansions, list);
        // A fleet does not write its PackageVariants to files.
        if !is_fleet {
            check_files(&sets, &mut expansions, list);
        }
        let all_failed = !findings.is_empty();
        results.extend(findings);
        let failed = sets.all.iter().zip(&expansions);
        let failed = failed.map(|(located, expansion)| {
            all_failed || located.is_ambiguous || !expansion.findings.is_empty()
        });
        Ok(Self {
            failed: failed.collect(),
            sets,
            expansions,
        })
    }
}

/// Reads the objects that targets can select, from the items and the supplied resources.
fn read_cluster(
    sources: &[LocatedSet],
    list: &ResourceList,
    supplied: &Supplied,
    findings: &mut Vec<FunctionResult>,
) -> Cluster {
    let packages: Vec<&SuppliedPackage> = supplied.resources().collect();
    let mut lists: Vec<&ResourceList> = vec![list];
    lists.extend(packages.iter().map(|package| package.list()));
    let place_of = |number: usize, path: &str| match number.checked_sub(1) {
        Some(number) => packages[number].place_of_file(path),
        None => path.to_owned(),
    };
    let (types, namespaces) = (types(sources), namespaces(sources));
    Cluster::read(&lists, place_of, &types, &namespaces, findings)
}

/// How many bytes of PackageVariants a run with this input may create.
fn room(list: &ResourceList, supplied: &Supplied) -> usize {
    let supplied = supplied.resources().map(SuppliedPackage::length);
    let length = list.length() + supplied.sum::<usize>();
    ROOM.saturating_add(ROOM_PER_BYTE.saturating_mul(length))
}

/// The sets of a run, and the existing PackageVariants.
struct Sets {
    all: Vec<LocatedSet>,
    fleet: Fleet,
}

impl Sets {
    fn new(mut all: Vec<LocatedSet>, list: &ResourceList) -> Self {
        let namespaces = namespaces_of(all.iter().map(|located| &located.set), list);
        for located in &mut all {
            located.files = VariantFiles::of(list, &located.set, &located.resource, &namespaces);
        }
        let fleet = Fleet::read(list);
        Self { all, fleet }
    }

    /// The sets among the items that are not expanded, because they have another version or unknown fields.
    fn others<'l>(&'l self, list: &'l ResourceList) -> impl Iterator<Item = ItemId> + 'l {
        let expanded = self.all.iter().filter_map(|located| located.item);
        let expanded: HashSet<ItemId> = expanded.collect();
        let ids = sets_among(list).map(|(id, _)| id);
        ids.filter(move |id| !expanded.contains(id))
    }

    /// Removes the PackageVariants of sets that have errors or are not expanded.
    fn remove_variants_of(&self, failed: &[bool], list: &mut ResourceList) {
        let failed = self.all.iter().zip(failed).filter(|(_, failed)| **failed);
        let owned = failed.flat_map(|(located, _)| self.fleet.owned_by(&located.set));
        let others = self.others(list);
        let others = others.flat_map(|id| self.fleet.may_belong_to_item(list, id));
        let items: BTreeSet<ItemId> = owned.chain(others).map(|member| member.item).collect();
        items.into_iter().for_each(|id| list.remove(id));
    }

    /// Creates the PackageVariants of all targets in memory; the list is not changed.
    fn expand(
        &self,
        cluster: &Cluster,
        list: &mut ResourceList,
        room: usize,
    ) -> Result<Vec<SetExpansion<Made>>, UsageError> {
        let mut left = room;
        let mut count = 0;
        let expansions = on_large_stack(move || {
            // A `ResourceList` is `Send` but not `Sync`: `&mut` can move to the thread, and only there become `&`.
            let list = &*list;
            fan_out(
                self.all.iter().map(|located| &located.set),
                cluster,
                room / LEAST_COST,
                |index, target, name, spec| {
                    let made = self.make(&self.all[index], target, name, spec, list);
                    let made = made.map_err(|error| Box::new(FunctionResult::refused(&error)))?;
                    count += 1;
                    let result = if count > MOST_LISTED { 0 } else { RESULT_COST };
                    let cost = made.cost().saturating_add(result);
                    left = left.checked_sub(cost).ok_or_else(|| Box::new(too_many()))?;
                    Ok(made)
                },
            )
        });
        expansions.map_err(|error| UsageError::cannot("start a thread", error))
    }
}

/// The PackageVariant of a target, compared with the existing one.
enum Made {
    New(NewText),
    Changed(ItemId, Value),
    Unchanged(ItemId),
}

impl Made {
    /// The existing item; `None` for a new PackageVariant.
    fn item(&self) -> Option<ItemId> {
        match self {
            Self::New(_) => None,
            Self::Changed(id, _) | Self::Unchanged(id) => Some(*id),
        }
    }

    fn cost(&self) -> usize {
        match self {
            Self::New(new) => NEW_COST + new.text.len(),
            Self::Changed(_, spec) => spec.cost(),
            Self::Unchanged(_) => LEAST_COST,
        }
    }
}

impl Sets {
    /// Creates the PackageVariant of a target, and compares it with the existing one.
    fn make(
        &self,
        located: &LocatedSet,
        target: usize,
        name: &str,
        spec: Value,
        list: &ResourceList,
    ) -> Result<Made, EditError> {
        let (set, files) = (&located.set, &located.files);
        let namespace = namespace_of(set.namespace.as_deref());
        let Some(member) = self.fleet.find(namespace, name) else {
            let new = NewResource {
                path: files.path(name),
                package_path: files.package_path.clone(),
                value: new_resource(set, name, spec),
            };
            let mut new = list.write(new);
            if let Some(Some(comments)) = located.comments.get(target) {
                new.text = comments.write(new.text)?;
            }
            return Ok(Made::New(new));
        };
        let is_right = list.read(member.item, |node| {
            let old = node.get("spec").and_then(|spec| spec.value());
            old.as_ref() == Some(&spec) && annotations_due(node, set).next().is_none()
        });
        Ok(if is_right {
            Made::Unchanged(member.item)
        } else {
            Made::Changed(member.item, spec)
        })
    }
}

fn report_failure(resource: &Resource, findings: Vec<FunctionResult>, results: &mut Results) {
    let stalled = if findings.is_empty() {
        &NOT_STALLED
    } else {
        &STALLED
    };
    let count = findings.len();
    for finding in findings.into_iter().take(MOST_ERRORS) {
        results.push(finding.with_resource(resource));
    }
    if count > MOST_ERRORS {
        let message = format!("{} more errors of this set", count - MOST_ERRORS);
        results.push(FunctionResult::error(Reason::InvalidConfig, message).with_resource(resource));
    }
    results.push(stalled.result().with_resource(resource));
    results.push(NOT_READY.result().with_resource(resource));
}
