//! Prunes packages whose PackageVariant no longer exists or targets another package.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::cannot_work::{CannotWork, locked};
use super::config::FleetSettings;
use super::directory::Mode;
use super::outcome::{Action, VariantEntry, VariantOutcome};
use super::owners::is_in;
use super::render::WorkedPackage;
use crate::fleet::ClaimedPackage;
use krm_core::config::UsageError;
use krm_core::diff::FileDiff;
use krm_core::kptfile::{remove_owner, root_kptfile};
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results};
use krm_package::{
    FileChange, PackageError, PackageLock, delete_package, read_package, recover_package,
    write_package_whole,
};

/// The error for more deletions than `maxDeletions` allows; `None` if they are allowed.
pub(super) fn too_many(
    deleted: usize,
    owned: usize,
    settings: &FleetSettings,
) -> Option<FunctionResult> {
    if !settings.prunes {
        return None;
    }
    let limit = settings.max_deletions.limit(owned);
    (deleted as u64 > limit).then(|| {
        let message = format!(
            "{deleted} of {owned} packages would be deleted, which is more than the {limit} that `maxDeletions` allows; \
             nothing is changed"
        );
        FunctionResult::error(Reason::TooManyDeletions, message)
    })
}

/// Deletes or orphans a package with `remove`. Without `prune`, or if its variant failed, the package is only reported.
pub(super) fn prune(
    package: &ClaimedPackage,
    settings: &FleetSettings,
    failed: &HashSet<String>,
    remove: impl FnOnce() -> Result<Vec<FileDiff>, CannotWork>,
) -> VariantOutcome {
    let action = if package.orphans {
        Action::Orphaned
    } else {
        Action::Deleted
    };
    if !settings.prunes || failed.contains(&package.owner) {
        return named(package, settings.prunes, action.as_str());
    }
    match remove() {
        Ok(diffs) => VariantOutcome {
            diffs,
            ..VariantOutcome::of_package(package, action)
        },
        Err(CannotWork(result)) => {
            let result = result.tag("action", Action::Failed.as_str());
            let mut outcome = VariantOutcome::with_result(package, result);
            outcome.entry.action = Some(Action::Failed);
            outcome
        }
    }
}

/// The outcome of a package that is kept, and that `prune` would delete or orphan.
pub(super) fn named(package: &ClaimedPackage, prunes: bool, would: &str) -> VariantOutcome {
    let ClaimedPackage { owner, .. } = package;
    let message = if prunes {
        format!("kept: its PackageVariant `{owner}` now targets another package, and that failed")
    } else {
        format!(
            "its PackageVariant `{owner}` no longer exists or now targets another package; with `prune: true` it would be {would}"
        )
    };
    VariantOutcome::with_result(package, FunctionResult::info(message))
}

/// Deletes a package without the packages `below` it, or removes its owner. Returns the diffs, if the mode collects
/// them.
pub(super) fn remove(
    fleet: &Path,
    package: &ClaimedPackage,
    below: &[&str],
    mode: Mode,
) -> Result<Vec<FileDiff>, CannotWork> {
    let directory = fleet.join(&package.path);
    let lock = PackageLock::acquire(&directory).map_err(PackageError::io("lock", &*directory));
    let _lock = lock?.ok_or_else(locked)?;
    let mut worked = WorkedPackage::default();
    if package.orphans || mode.keeps_diffs {
        if mode.writes {
            recover_package(&directory)?;
        }
        let files = read_package(&directory)?;
        worked = if package.orphans {
            let mut findings = Results::default();
            let worked =
                WorkedPackage::new(Arc::new(files.only("Kptfile")), &mut findings, orphan)?;
            if let Some(error) = findings.iter().next() {
                return Err(CannotWork(Box::new(error.clone())));
            }
            worked
        } else {
            let paths = files.files().map(|(path, _)| path);
            let own = paths.filter(|file| !is_in(&format!("{}/{file}", package.path), below));
            WorkedPackage {
                changes: own.map(FileChange::delete).collect(),
                files: Arc::new(files),
                ..worked
            }
        };
    }
    let mut diffs = Vec::new();
    if mode.keeps_diffs {
        diffs = worked.diffs(&package.path)?;
    }
    if mode.writes {
        if package.orphans {
            write_package_whole(&worked.files, &worked.changes)?;
        } else {
            delete_package(fleet, &package.path, below)?;
        }
    }
    Ok(diffs)
}

/// Removes the annotations about the owner from the Kptfile of a package.
pub(super) fn orphan(
    list: &mut ResourceList,
    findings: &mut Results,
) -> Result<VariantEntry, UsageError> {
    if let Some(kptfile) = root_kptfile(list)
        && let Err(error) = list.edit(kptfile, |root, editor| {
            remove_owner(root, editor);
            Ok(())
        })
    {
        findings.push(FunctionResult::refused(&error));
    }
    Ok(VariantEntry {
        action: Some(Action::Orphaned),
        ..VariantEntry::default()
    })
}
