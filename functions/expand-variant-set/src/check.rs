//! Checks a set before it is written: its variants' names and files must be free, and it must still have targets.

use std::collections::{HashMap, HashSet};

use super::new_files::paths_below;
use super::sets::LocatedSet;
use super::{Made, Sets};
use krm_core::config::enum_fields::{BOOL, word};
use krm_core::resource::namespace_of;
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results};
use krm_variant::fan_out::{Set, SetExpansion, TargetElement};
use krm_yaml::Path;

/// The annotation that allows a set to lose all of its variants.
pub(super) const ALLOW_EMPTY_ANNOTATION: &str = "fn.kpt.dev/allow-empty";

/// Refuses a set that has variants but no longer selects anything. Otherwise a missing input with the target objects
/// would remove a whole fleet.
pub(super) fn check_targets(
    Sets { all, fleet }: &Sets,
    expansions: &mut [SetExpansion<Made>],
    allow_empty: bool,
) {
    for (LocatedSet { set, .. }, expansion) in all.iter().zip(expansions) {
        let annotations = &set.annotations;
        let annotation = annotations
            .iter()
            .find(|(name, _)| name == ALLOW_EMPTY_ANNOTATION);
        let allowed = annotation.map(|(_, found)| word(found, &BOOL));
        let is_allowed = allow_empty || matches!(allowed, Some(Ok(true)));
        if let Some(Err(message)) = allowed {
            let path = Path::fields(&["metadata", "annotations", ALLOW_EMPTY_ANNOTATION]);
            let finding = FunctionResult::error(Reason::InvalidConfig, message);
            expansion.findings.push(finding.with_field(path));
        }
        let targets = set.typed.spec.targets.len();
        let selects_nothing = targets > 0 && expansion.empty.len() == targets;
        if !selects_nothing || is_allowed {
            continue;
        }
        let owned = fleet.owned_by(set).len();
        if owned == 0 {
            continue;
        }
        let message = format!(
            "expected at least one target that selects something, found none, and the set owns {owned} \
             PackageVariants; supply the Repositories and other targets (`--resources PATH`), or set the \
             annotation `{ALLOW_EMPTY_ANNOTATION}: \"true\"` to remove them all"
        );
        let finding = FunctionResult::error(Reason::NoTargets, message);
        let path = Path::fields(&["spec", "targets"]);
        expansion.findings.push(finding.with_field(path));
    }
}

/// Warns of PackageVariants whose set does not exist, because nothing keeps them up to date.
pub(super) fn check_owners(list: &ResourceList, sets: &Sets, results: &mut Results) {
    let all = sets.all.iter().map(|located| &located.set);
    let lost = sets.fleet.without_owner(all, list, sets.others(list));
    for member in lost {
        let message = format!(
            "expected {} among the items, found none; left unchanged",
            member.owner.describe()
        );
        let result = FunctionResult::warning(Reason::OwnerNotFound, message);
        results.push(result.with_resource(list.resource(member.item)));
    }
}

/// Checks that every name is free, or belongs to a variant that the set owns.
pub(super) fn check_names(
    Sets { all, fleet }: &Sets,
    expansions: &mut [SetExpansion<Made>],
    list: &ResourceList,
) {
    let mut taken: HashMap<(&str, &str), (&Set, TargetElement)> = HashMap::new();
    for (LocatedSet { set, .. }, expansion) in all.iter().zip(expansions) {
        let namespace = namespace_of(set.namespace.as_deref());
        let SetExpansion {
            variants, findings, ..
        } = expansion;
        for variant in &*variants {
            let place = variant.place;
            let name = variant.name.as_str();
            let mut collision = |reason, message| {
                findings.push(FunctionResult::error(reason, message).with_field(place.path()));
            };
            match taken.get(&(namespace, name)) {
                Some((other, first)) if other.name == set.name => {
                    let message = format!(
                        "the PackageVariant `{name}` of set `{}` would be created both for `{}` and for `{}`",
                        set.name,
                        first.path(),
                        place.path()
                    );
                    collision(Reason::NameCollision, message);
                }
                Some((other, first)) => {
                    let message = format!(
                        "the PackageVariant `{name}` would be created by set `{}` for `{}` and by set `{}` for `{}`",
                        other.name,
                        first.path(),
                        set.name,
                        place.path()
                    );
                    collision(Reason::NameCollision, message);
                }
                None => {
                    taken.insert((namespace, name), (set, place));
                }
            }
            let Some(member) = fleet.find(namespace, name) else {
                continue;
            };
            let file_of = |item| list.resource(item).origin.path.as_deref();
            let file = file_of(member.item);
            let file = file.map(|file| format!(" ({file})")).unwrap_or_default();
            if !member.owner.is(set) {
                let message = format!(
                    "expected a PackageVariant `{name}` that set `{}` owns, found one{file} that belongs to {}",
                    set.name,
                    member.owner.describe()
                );
                collision(Reason::OtherOwner, message);
            } else if let Some(other) = member.other {
                let files = [member.item, other].into_iter().filter_map(file_of);
                let files: Vec<&str> = files.collect();
                let files = match files.as_slice() {
                    [] => String::new(),
                    files => format!(" ({})", files.join(", ")),
                };
                let message = format!("the PackageVariant `{name}` appears twice{files}");
                collision(Reason::Ambiguous, message);
            }
        }
    }
}

/// Checks that every new variant has a free path.
pub(super) fn check_files(sets: &Sets, expansions: &mut [SetExpansion<Made>], list: &ResourceList) {
    let places = || sets.all.iter().map(|located| &located.files);
    let mut taken = paths_below(places(), list);
    for (files, expansion) in places().zip(expansions) {
        let SetExpansion {
            variants, findings, ..
        } = expansion;
        // Variants of one name are a collision of names already.
        let mut names = HashSet::new();
        let mut is_first = |name| names.insert(name);
        let new = variants
            .iter()
            .filter(|variant| variant.made.item().is_none());
        let new = new.filter(|variant| is_first(variant.name.as_str()));
        let refused = new.filter_map(|variant| {
            let finding = files.refuse(&variant.name, &mut taken)?;
            Some(finding.with_field(variant.place.path()))
        });
        findings.extend(refused);
    }
}
