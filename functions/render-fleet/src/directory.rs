//! Renders the package of a variant in a directory: locks, reads, renders and writes it.

use std::mem::take;
use std::path::Path;
use std::sync::Arc;

use super::cannot_work::{CannotWork, locked};
use super::outcome::VariantOutcome;
use super::render::{WorkedPackage, Worker};
use super::variants::{Destination, FleetVariant};
use krm_core::diff::FileDiff;
use krm_core::results::Results;
use krm_package::{
    Package, PackageError, PackageLock, check_folders, is_vacant, read_package, recover_package,
    remove_empty_folders, write_package_whole,
};

/// What a run does apart from rendering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// Whether changes are written.
    pub writes: bool,
    /// Whether changes are committed to drafts, so that work trees are left unchanged.
    pub drafts: bool,
    /// Whether the diffs of changed files are collected.
    pub keeps_diffs: bool,
    /// Whether changes are reviewed, for a report.
    pub reports: bool,
}

/// Creates, updates or refreshes the package of a variant.
pub(super) fn on_directory(
    worker: &mut Worker<'_>,
    fleet: &Path,
    variant: &FleetVariant,
    place: &Destination,
    mode: Mode,
) -> VariantOutcome {
    let mut findings = Results::default();
    let package = PackageDirectory {
        fleet,
        directory: &fleet.join(&place.path),
        place,
        mode,
    };
    let done = package.run(worker, variant, &mut findings);
    let (worked, diffs) = done.unwrap_or_else(|error| {
        findings.push(error.about(variant));
        Default::default()
    });
    let is_changed = !worked.changes.is_empty();
    let mut outcome = VariantOutcome::of(variant, worked.rendered, &findings, is_changed);
    outcome.diffs = diffs;
    outcome
}

struct PackageDirectory<'p> {
    fleet: &'p Path,
    directory: &'p Path,
    place: &'p Destination,
    mode: Mode,
}

impl PackageDirectory<'_> {
    fn run(
        &self,
        worker: &mut Worker<'_>,
        variant: &FleetVariant,
        findings: &mut Results,
    ) -> Result<(WorkedPackage, Vec<FileDiff>), CannotWork> {
        check_folders(self.fleet, &format!("{}/", self.place.path))?;
        let is_made = self.mode.writes && !self.directory.exists();
        let _lock = self.lock()?;
        let done = self.render(worker, variant, findings);
        if is_made {
            // No other run works in this directory until the lock is released.
            remove_empty_folders(self.fleet, self.directory);
        }
        done
    }

    /// Locks the package's directory. A run that writes creates a missing directory; other runs return `None` if it
    /// is missing.
    fn lock(&self) -> Result<Option<PackageLock>, CannotWork> {
        let lock = if self.mode.writes {
            PackageLock::make(self.directory)
        } else if self.directory.exists() {
            PackageLock::acquire(self.directory)
        } else {
            return Ok(None);
        };
        let lock = lock.map_err(PackageError::io("make and lock", self.directory))?;
        Ok(Some(lock.ok_or_else(locked)?))
    }

    fn render(
        &self,
        worker: &mut Worker<'_>,
        variant: &FleetVariant,
        findings: &mut Results,
    ) -> Result<(WorkedPackage, Vec<FileDiff>), CannotWork> {
        if self.mode.writes {
            recover_package(self.directory)?;
        }
        let files = match read_package(self.directory) {
            Err(PackageError::Missing { path }) => Package::empty(path),
            files => files?,
        };
        let is_new = is_vacant(self.directory)?;
        let mut worked = WorkedPackage::new(Arc::new(files), findings, |list, findings| {
            worker.render(variant, self.place, list, is_new, findings)
        })?;
        if self.mode.reports && !worked.changes.is_empty() {
            worked.review();
        }
        if findings.has_errors() || worked.rendered.action.is_none() {
            return Ok((worked, Vec::new()));
        }
        let (files, changes) = (&worked.files, &worked.changes);
        *findings = take(findings).with_lines(|path| files.text_after(changes, path));
        let mut diffs = Vec::new();
        if self.mode.keeps_diffs {
            diffs = worked.diffs(&self.place.path)?;
        }
        if self.mode.writes {
            // Called even without changes, to remove what a killed run left behind.
            write_package_whole(files, changes)?;
        }
        Ok((worked, diffs))
    }
}
