//! Distinguishes packages that have an owner from copies, whose Kptfiles only name one.

use std::collections::HashMap;

use super::outcome::VariantOutcome;
use super::variants::FleetVariant;
use crate::fleet::ClaimedPackage;
use krm_core::results::{FunctionResult, Reason, Results, listed};
use krm_package::folders_above;

/// The packages with an owner in their Kptfile, sorted by path.
#[derive(Debug, Default)]
pub(super) struct Owners {
    pub(super) owned: Vec<ClaimedPackage>,
    /// Packages that are copies: no PackageVariant owns them.
    pub(super) copies: Vec<ClaimedPackage>,
}

impl Owners {
    /// Separates the packages that really have the owner in their Kptfile from copies, and refuses variants that
    /// target a package of another owner.
    pub(super) fn new(
        claimed: Vec<ClaimedPackage>,
        variants: &mut [FleetVariant],
        is_package: impl Fn(&str) -> bool,
    ) -> Self {
        let targets = targets(variants);
        let is_target = |owner: &str, path: &str| match targets.get(owner) {
            Some(Some(target)) => *target == path,
            // An invalid PackageVariant may target any package.
            Some(None) => true,
            None => false,
        };
        let claimed = claimed.into_iter();
        let (owned, copies) = claimed.partition(|package| package.has_owner(is_target));
        let owners = Self { owned, copies };
        refuse_shared_places(variants, &owners.owned, is_package);
        owners
    }

    /// The packages whose PackageVariant no longer exists or targets another package. After an error of a set they
    /// cannot be determined: a result counts the candidates, and the list is empty.
    pub(super) fn abandoned(
        &self,
        variants: &[FleetVariant],
        are_complete: bool,
        results: &mut Results,
    ) -> Vec<&ClaimedPackage> {
        let targets = targets(variants);
        let is_abandoned = |package: &&ClaimedPackage| match targets.get(package.owner.as_str()) {
            None => true,
            Some(None) => false,
            Some(Some(target)) => *target != package.path,
        };
        let abandoned: Vec<_> = self.owned.iter().filter(is_abandoned).collect();
        if are_complete || abandoned.is_empty() {
            return abandoned;
        }
        let count = abandoned.len();
        results.push(FunctionResult::info(format!(
            "{count} packages without a PackageVariant left unchanged: nothing is pruned while a PackageVariantSet has errors"
        )));
        Vec::new()
    }

    /// The packages in the folder of another package, which are not part of it.
    pub(super) fn below(&self, path: &str) -> Vec<&str> {
        let all = self.owned.iter().chain(&self.copies);
        let paths = all.map(|package| package.path.as_str());
        paths.filter(|other| is_in(other, &[path])).collect()
    }
}

/// Whether a file is in the folder of one of these packages.
pub(super) fn is_in(file: &str, packages: &[&str]) -> bool {
    packages.iter().any(|package| {
        let rest = file.strip_prefix(package);
        rest.is_some_and(|rest| rest.starts_with('/'))
    })
}

/// Refuses variants that target the same path as another variant, or a path inside another variant's path or an
/// existing package. The owner of an existing package keeps it.
fn refuse_shared_places(
    variants: &mut [FleetVariant],
    owned: &[ClaimedPackage],
    is_package: impl Fn(&str) -> bool,
) {
    let owners: HashMap<&str, &str> = owned
        .iter()
        .map(|package| (package.path.as_str(), package.owner.as_str()))
        .collect();
    let owns = |variant: &FleetVariant, path: &str| {
        let owner = owners.get(path);
        owner.is_some_and(|owner| *owner == variant.owner)
    };
    let refuse = |variant: &mut FleetVariant, message: String| {
        let error = FunctionResult::error(Reason::OtherOwner, message);
        variant.refuse(error.with_field("spec.downstream"));
    };
    let mut wanted: HashMap<String, Vec<String>> = HashMap::new();
    for variant in variants.iter_mut() {
        let Some(path) = variant.path() else { continue };
        // The first component is the repository.
        let outer = folders_above(path).skip(1).find(|above| is_package(above));
        match outer.filter(|_| !owns(variant, path)) {
            Some(outer) => {
                let message = format!("the package `{path}` is inside the package `{outer}`");
                refuse(variant, message);
            }
            None => {
                let all = wanted.entry(path.to_owned()).or_default();
                all.push(variant.owner.clone());
            }
        }
    }
    for variant in variants {
        let Some(path) = variant.path() else { continue };
        let outer = folders_above(path).find_map(|above| wanted.get(above)?.first());
        let all = wanted.get(path).map_or(&[][..], Vec::as_slice);
        let message = if let Some(outer) = outer {
            format!("the package `{path}` is inside the package of `{outer}`")
        } else if all.len() > 1 && !owns(variant, path) {
            let others = listed(all.iter().filter(|other| **other != variant.owner));
            format!("expected one PackageVariant for the package `{path}`, found {others} too")
        } else {
            continue;
        };
        refuse(variant, message);
    }
}

/// The path that each PackageVariant targets; `None` if it does not name a valid one.
fn targets(variants: &[FleetVariant]) -> HashMap<&str, Option<&str>> {
    let each = variants.iter();
    each.map(|variant| (variant.owner.as_str(), variant.path()))
        .collect()
}

/// The outcome of a copy, which is left unchanged.
pub(super) fn copied(copy: &ClaimedPackage) -> VariantOutcome {
    let (path, owner) = (&copy.path, &copy.owner);
    let message = match &copy.downstream {
        Some(original) => format!(
            "copied from `{original}`, the package of `{owner}`; the copy has no owner and is never pruned"
        ),
        None => format!(
            "its Kptfile names the owner `{owner}`, which does not target `{path}`; the package has no owner and is never \
             pruned"
        ),
    };
    let result = FunctionResult::info(message).tag("reason", Reason::CopiedPackage.as_str());
    VariantOutcome::with_result(copy, result)
}
