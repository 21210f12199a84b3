//! Makes the PackageVariants of PackageVariantSets.
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

mod check;
mod fleet;
mod new_files;
mod sets;
mod status;
mod variant;

use std::collections::HashSet;

use crate::config::UsageError;
use crate::filter::{Function, Run};
use crate::resource::Resource;
use crate::resource_list::{ItemId, NewResource, ResourceList, WrittenResource};
use crate::results::{FunctionResult, Reason, Results};
use crate::supplied::Role;
use crate::variant::cluster::{Cluster, namespace_of};
use crate::variant::expression::on_large_stack;
use crate::variant::fan_out::{Expansion, Set, Variant, fan_out, too_many};
use crate::yaml::Value;

use check::{check_names, check_owners, check_targets};
use fleet::Fleet;
use new_files::{NewFiles, paths_below};
use sets::{Sources, namespaces, read_sets, types};
use status::{NOT_READY, NOT_STALLED, READY, STALLED, result, write_status};
use variant::{resource_value, update};

/// The function, for its binary.
pub const FUNCTION: Function = Function {
    name: "expand-variant-set",
    about: "Makes the PackageVariants of PackageVariantSets: one for each target, by template.",
    roles: &[Role::Resources],
    uses_schema: false,
    step,
};

const GROUP: &str = "config.porch.kpt.dev";
/// Bytes of PackageVariants that a run makes, whatever the input.
const ROOM: usize = 48_000_000;
/// And for each byte of the input.
const ROOM_PER_BYTE: usize = 4;
/// Least bytes that a PackageVariant takes.
const LEAST_COST: usize = 500;
/// Errors of one set that are reported one by one.
const MOST_ERRORS: usize = 100;

fn step(run: Run<'_>) -> Result<(), UsageError> {
    let Run {
        config,
        list,
        supplied,
        results,
    } = run;
    let Sources {
        sources,
        allow_empty,
        are_items,
    } = read_sets(config, list, results)?;
    if sources.is_empty() {
        if results.is_empty() {
            let message =
                "expected a PackageVariantSet as functionConfig or among the items, found none";
            results.push(FunctionResult::warning(
                Reason::NoPackageVariantSet,
                message,
            ));
        }
        if are_items {
            check_owners(list, &[], &Fleet::read(list), results);
        }
        return Ok(());
    }
    let mut findings = Vec::new();
    let cluster = {
        let mut lists: Vec<&ResourceList> = vec![list];
        lists.extend(supplied.resources().map(|package| package.list()));
        Cluster::read(
            &lists,
            &types(&sources),
            &namespaces(&sources),
            &mut findings,
        )
    };
    let (sets, sources): (Vec<Set>, Vec<Home>) = sources
        .into_iter()
        .map(|source| (source.set, (source.resource, source.item)))
        .unzip();
    let fleet = Fleet::read(list);
    let supplied_length = supplied.resources().map(|package| package.list().length());
    let length = list.length() + supplied_length.sum::<usize>();
    let room = ROOM.saturating_add(ROOM_PER_BYTE.saturating_mul(length));
    let places: Vec<NewFiles> = sources
        .iter()
        .zip(&sets)
        .map(|((resource, _), set)| NewFiles::of(list, set, resource))
        .collect();
    let mut expansions = {
        // What a parser leaves behind may change threads, but not be shared by them.
        let list = &mut *list;
        let (sets, fleet, places, cluster) = (&sets, &fleet, &places, &cluster);
        on_large_stack(move || {
            let mut left = room;
            fan_out(sets, cluster, room / LEAST_COST, |index, name, spec| {
                let made = make(&sets[index], name, spec, fleet, &places[index], list);
                left = left
                    .checked_sub(made.cost())
                    .ok_or_else(|| Box::new(too_many()))?;
                Ok(made)
            })
        })
        .map_err(|error| UsageError(format!("cannot start a thread: {error}")))?
    };
    drop(cluster);
    if are_items {
        check_owners(list, &sets, &fleet, results);
    }
    check_targets(&sets, &mut expansions, &fleet, allow_empty);
    check_names(&sets, &mut expansions, list, &fleet);
    let is_failed = results.has_errors()
        || !findings.is_empty()
        || expansions.iter().any(|one| !one.findings.is_empty());
    for finding in findings {
        results.push(finding);
    }
    if is_failed {
        report_failure(&sources, expansions, results);
        return Ok(());
    }
    let desired: HashSet<(String, String)> = sets
        .iter()
        .zip(&expansions)
        .flat_map(|(set, one)| {
            let namespace = namespace_of(set.namespace.as_deref());
            // Others are not there to be removed.
            one.variants
                .iter()
                .filter(|variant| fleet.find(namespace, &variant.name).is_some())
                .map(|variant| (namespace.to_owned(), variant.name.clone()))
        })
        .collect();
    let mut taken = paths_below(&places, list);
    for (index, expansion) in expansions.into_iter().enumerate() {
        let one = One {
            set: &sets[index],
            resource: &sources[index].0,
            item: sources[index].1,
            files: &places[index],
        };
        apply(&one, expansion, &desired, &fleet, &mut taken, list, results);
    }
    Ok(())
}

/// What is to be done for a target.
enum Made {
    New(WrittenResource),
    Changed(Value),
    Unchanged,
}

impl Made {
    fn cost(&self) -> usize {
        match self {
            Self::New(written) => written.cost(),
            Self::Changed(spec) => spec.cost(),
            Self::Unchanged => LEAST_COST,
        }
    }
}

fn make(
    set: &Set,
    name: &str,
    spec: Value,
    fleet: &Fleet,
    files: &NewFiles,
    list: &ResourceList,
) -> Made {
    let namespace = namespace_of(set.namespace.as_deref());
    let Some(member) = fleet.find(namespace, name) else {
        return Made::New(list.write(NewResource {
            path: files.path(name),
            package_path: files.package_path.clone(),
            value: resource_value(set, name, spec),
        }));
    };
    let old = list.read(member.item, |node| {
        node.get("spec").and_then(|spec| spec.value())
    });
    match old.as_ref() == Some(&spec) {
        true => Made::Unchanged,
        false => Made::Changed(spec),
    }
}

/// A set that is applied.
struct One<'a> {
    set: &'a Set,
    resource: &'a Resource,
    item: Option<ItemId>,
    files: &'a NewFiles,
}

/// A set's identity and file, and the item that gets its status.
type Home = (Resource, Option<ItemId>);

fn report_failure(places: &[Home], expansions: Vec<Expansion<Made>>, results: &mut Results) {
    for ((resource, _), expansion) in places.iter().zip(expansions) {
        let stalled = if expansion.findings.is_empty() {
            &NOT_STALLED
        } else {
            &STALLED
        };
        let count = expansion.findings.len();
        for finding in expansion.findings.into_iter().take(MOST_ERRORS) {
            let field = finding.field.clone();
            let result = finding.about(resource);
            results.push(match field {
                Some(field) => result.at(field),
                None => result,
            });
        }
        if count > MOST_ERRORS {
            let message = format!("{} more errors of this set", count - MOST_ERRORS);
            results.push(FunctionResult::error(Reason::InvalidConfig, message).about(resource));
        }
        results.push(result(stalled).about(resource));
        results.push(result(&NOT_READY).about(resource));
    }
}

/// How many PackageVariants of a set were what.
#[derive(Default)]
struct Counts {
    created: usize,
    updated: usize,
    unchanged: usize,
    removed: usize,
}

/// Writes the variants of one set; nothing can be wrong with it any more but the texts themselves.
fn apply(
    one: &One<'_>,
    expansion: Expansion<Made>,
    desired: &HashSet<(String, String)>,
    fleet: &Fleet,
    taken: &mut HashSet<String>,
    list: &mut ResourceList,
    results: &mut Results,
) {
    let One { set, resource, .. } = *one;
    for path in expansion.empty {
        let message = "the target selects nothing";
        let result = FunctionResult::warning(Reason::NoTargetSelected, message);
        results.push(result.about(resource).at(path));
    }
    let namespace = namespace_of(set.namespace.as_deref());
    let mut counts = Counts::default();
    for Variant { name, made, .. } in expansion.variants {
        match made {
            Made::Unchanged => counts.unchanged += 1,
            Made::New(written) => {
                counts.created += 1;
                if let Some(result) = one.files.refuse(&name, taken) {
                    results.push(result.about(resource));
                }
                list.add_written(written);
            }
            Made::Changed(spec) => {
                counts.updated += 1;
                let Some(member) = fleet.find(namespace, &name) else {
                    continue;
                };
                let edit = list.edit(member.item, |node, editor| update(node, &spec, editor));
                if let Err(error) = edit {
                    let result = FunctionResult::refused(&error);
                    results.push(result.about(list.resource(member.item)).at("spec"));
                }
            }
        }
    }
    let owned = fleet.owned_by(set);
    let no_longer = owned.filter(|(identity, _)| !desired.contains(*identity));
    let mut no_longer: Vec<ItemId> = no_longer.map(|(_, member)| member.item).collect();
    no_longer.sort_unstable();
    counts.removed = no_longer.len();
    for id in no_longer {
        list.remove(id);
    }
    let Counts {
        created,
        updated,
        unchanged,
        removed,
    } = counts;
    let message = format!(
        "PackageVariants: {created} created, {updated} updated, {unchanged} unchanged, {removed} removed"
    );
    let counted = FunctionResult::info(message).about(resource);
    let counted = counted
        .tag("created", created.to_string())
        .tag("updated", updated.to_string());
    let counted = counted
        .tag("unchanged", unchanged.to_string())
        .tag("removed", removed.to_string());
    results.push(counted);
    for condition in [&NOT_STALLED, &READY] {
        results.push(result(condition).about(resource));
    }
    if let Some(id) = one.item
        && let Err(error) = list.edit(id, write_status)
    {
        results.push(
            FunctionResult::refused(&error)
                .about(resource)
                .at("status.conditions"),
        );
    }
}
