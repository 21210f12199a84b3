//! `krmv upgrade`: merges a newer revision of upstream into a package.
//!
//! While conflicts are undecided the files have local's values there, `upstream.git.ref` names the new revision, and
//! `upstreamLock` the old one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use krm_variants::diff::file_diff;
use krm_variants::kptfile::UpstreamLock;
use krm_variants::merge::Side;
use krm_variants::upstream::{FileSource, is_digest};

use super::cli::{Common, TakeSide, UpgradeArguments};
use super::conflict::{ReportedConflict, conflicts};
use super::failure::{Failure, Result};
use super::kptfile::{self, OpenUpgrade};
use super::merging::{MergedPackage, Merger, with_markers};
use super::package::{Contents, KPTFILE, LocalPackage};
use super::print::{Page, to_stdout};
use super::releases::Releases;
use super::report::{UpgradeReport, print_errors};
use super::session::{followed, locked_name, merger, open_target};
use super::upstream::{ChosenRevision, UpstreamSource, contents};
use super::{exit, worktree};

pub(crate) fn run(upgrade: &UpgradeArguments, common: &Common) -> Result<u8> {
    let (directory, request) = arguments(&upgrade.arguments)?;
    let package = LocalPackage::open(&directory)?;
    if upgrade.abort {
        return abort(&package, common);
    }
    let (_, repository) = followed(&package)?;
    let upstream = UpstreamSource::open(repository, common.offline)?;
    let releases = upstream.releases(&package.tracking.path())?;
    let target = match (&request, &package.tracking.open) {
        (None, Some(open)) => {
            ChosenRevision::unlisted(open_target(&package, open, Some(&releases)))
        }
        _ => target(&package, &upstream, &releases, request.as_deref())?,
    };
    let task = Task {
        upgrade,
        common,
        package: &package,
        upstream: &upstream,
        releases: &releases,
        target: &target,
    };
    match &package.tracking.open {
        Some(open) => task.go_on(open),
        None => task.begin(),
    }
}

/// The directory and the revision among the arguments. A lone one that is not a package is a revision.
pub(crate) fn arguments(arguments: &[String]) -> Result<(PathBuf, Option<String>)> {
    match arguments {
        [] => Ok((PathBuf::from("."), None)),
        [one] if Path::new(one).exists() && FileSource::parse(one).is_none() => {
            Ok((PathBuf::from(one), None))
        }
        [one] => {
            // A path that is not there would make a strange revision.
            if !Path::new(KPTFILE).exists() {
                let message =
                    format!("'{one}' is not a package, and neither is the current directory");
                return Err(Failure::new(message).hint("krmv status ."));
            }
            Ok((PathBuf::from("."), Some(one.clone())))
        }
        [directory, revision, ..] => Ok((PathBuf::from(directory), Some(revision.clone()))),
    }
}

/// The revision that a person asks for; the newest final release without a request.
pub(crate) fn target<'r>(
    package: &LocalPackage,
    upstream: &UpstreamSource,
    releases: &'r Releases,
    request: Option<&str>,
) -> Result<ChosenRevision<'r>> {
    if let Some(request) = request {
        return upstream.asked(&package.tracking.path(), releases, request);
    }
    let newest = releases.newest().map(ChosenRevision::listed);
    newest.ok_or_else(|| {
        let next = package.command(&["upgrade"]);
        releases.no_release(upstream.address(), &next)
    })
}

/// One upgrade.
struct Task<'t> {
    upgrade: &'t UpgradeArguments,
    common: &'t Common,
    package: &'t LocalPackage,
    upstream: &'t UpstreamSource,
    releases: &'t Releases,
    target: &'t ChosenRevision<'t>,
}

impl Task<'_> {
    fn merger(&self) -> Result<Merger> {
        let ChosenRevision {
            revision,
            reference,
        } = self.target;
        merger(
            self.package,
            self.upstream,
            Some(self.releases),
            revision,
            *reference,
        )
    }

    /// An upgrade is open: lists what is undecided, and merges nothing.
    fn go_on(&self, open: &OpenUpgrade) -> Result<u8> {
        let revision = &self.target.revision;
        if revision.commit != open.to {
            let wanted = self.package.tracking.wanted.as_deref().unwrap_or(&open.to);
            let moved = wanted == revision.upstream_ref;
            let message = if moved {
                format!(
                    "`{wanted}` has moved since the open upgrade began; decide its conflicts first, or abort it"
                )
            } else {
                format!("the upgrade to {wanted} is open; decide its conflicts first, or abort it")
            };
            return Err(Failure {
                code: exit::OPEN,
                ..Failure::new(message)
                    .hint(self.package.command(&["resolve"]))
                    .hint(self.package.command(&["upgrade", "--abort"]))
            });
        }
        super::resolve::go_on(self.package, self.common, &self.merger()?, revision, open)
    }

    fn begin(&self) -> Result<u8> {
        let (lock, repository) = followed(self.package)?;
        let revision = &self.target.revision;
        if lock.commit.as_deref() == Some(&revision.commit) {
            return self.up_to_date(&revision.lock_ref);
        }
        if let Some(newer) = self.is_behind(locked_name(lock).as_deref()) {
            return self.up_to_date(&newer);
        }
        let is_dry = self.upgrade.dry_run || self.upgrade.diff;
        if !is_dry && !self.upgrade.force {
            worktree::refuse_uncommitted(&self.package.directory, &self.command_line())?;
        }
        let merger = self.merger()?;
        let side = match self.upgrade.take {
            Some(TakeSide::Upstream) => Side::Upstream,
            _ => Side::Local,
        };
        let mut merged = merger.merge(&self.package.contents, side)?;
        if merged.results.has_errors() {
            print_errors(&merged.results, self.common)?;
            return Ok(exit::OPEN);
        }
        let found = conflicts(&merged.results);
        let open = if self.upgrade.take.is_some() {
            Vec::new()
        } else {
            found.clone()
        };
        let text = LocalPackage::kptfile(&merged.contents);
        let from = lock.commit.clone().unwrap_or_default();
        let new_open = OpenUpgrade {
            from,
            to: revision.commit.clone(),
            source: is_digest(&revision.commit).then(|| revision.upstream_ref.clone()),
            decided: BTreeSet::new(),
        };
        let at = kptfile::at(lock, &merger.path);
        let new = at.moved_to(repository, revision);
        let text = if open.is_empty() {
            kptfile::locked(&text, &new)?
        } else {
            kptfile::opened(&text, lock, &new, &new_open)?
        };
        merged
            .contents
            .insert(KPTFILE.to_owned(), text.into_bytes());
        if self.upgrade.markers {
            mark(&merger, &mut merged.contents, &open, &revision.upstream_ref)?;
        }
        self.finish(lock, &merger.path, merged, &found, &open)
    }

    /// The locked revision, if the user asked for no other and the newest release is older than it.
    fn is_behind(&self, locked: Option<&str>) -> Option<String> {
        let is_default = self.upgrade.arguments.len() < 2
            && self
                .upgrade
                .arguments
                .first()
                .is_none_or(|one| Path::new(one).exists());
        let locked = locked.filter(|_| is_default)?;
        let version = self.releases.named(locked)?.version()?;
        let newest = self.target.reference?.version()?;
        (newest <= version).then(|| locked.to_owned())
    }

    fn command_line(&self) -> String {
        let request = self.target.revision.upstream_ref.as_str();
        self.package.command(&["upgrade", request])
    }

    fn up_to_date(&self, name: &str) -> Result<u8> {
        let shown = self.package.name();
        if self.common.json {
            let json = serde_json::json!({
                "path": shown, "from": name, "to": name, "written": false, "conflicts": [],
            });
            to_stdout(&format!("{json}\n"))?;
            return Ok(exit::DONE);
        }
        let mut page = Page::new(self.common);
        page.line(format_args!("{shown}: already up to date, at {name}"));
        page.finish()?;
        Ok(exit::DONE)
    }

    /// Writes the package, or the diff, and reports.
    fn finish(
        &self,
        lock: &UpstreamLock,
        path: &str,
        merged: MergedPackage,
        found: &[ReportedConflict],
        open: &[ReportedConflict],
    ) -> Result<u8> {
        let changes = self.package.changes(&merged.contents, &merged.modes);
        if self.upgrade.diff {
            let mut text = String::new();
            for change in &changes {
                let path = change.path();
                let before = self
                    .package
                    .contents
                    .get(path)
                    .map(|bytes| (bytes.as_slice(), 0o644));
                let after = merged
                    .contents
                    .get(path)
                    .map(|bytes| (bytes.as_slice(), 0o644));
                text += &file_diff(path, before, after);
            }
            to_stdout(&text)?;
            return Ok(if open.is_empty() {
                exit::DONE
            } else {
                exit::OPEN
            });
        }
        if !self.upgrade.dry_run {
            self.package.write(&changes)?;
        }
        let from = locked_name(lock);
        let report = UpgradeReport {
            package: self.package,
            from: from.as_deref(),
            moved: (path != lock.directory).then_some([&lock.directory, path]),
            to: &self.target.revision,
            results: &merged.results,
            found,
            open,
            is_written: !self.upgrade.dry_run,
            taken: self.upgrade.take,
            has_markers: self.upgrade.markers,
            again: self.command_line(),
        };
        report.print(self.common)?;
        Ok(if open.is_empty() {
            exit::DONE
        } else {
            exit::OPEN
        })
    }
}

/// Writes markers into the files with undecided conflicts.
fn mark(
    merger: &Merger,
    files: &mut Contents,
    open: &[ReportedConflict],
    label: &str,
) -> Result<()> {
    let original = contents(&merger.original)?;
    let upstream = contents(&merger.upstream)?;
    let paths: BTreeSet<&str> = open.iter().map(|conflict| conflict.file.as_str()).collect();
    for path in paths.into_iter().filter(|path| *path != KPTFILE) {
        let versions = [original.get(path), files.get(path), upstream.get(path)];
        if let Some(marked) = with_markers(path, versions, label)? {
            files.insert(path.to_owned(), marked);
        }
    }
    Ok(())
}

fn abort(package: &LocalPackage, common: &Common) -> Result<u8> {
    if package.tracking.open.is_none() {
        let message = format!("no upgrade of '{}' is open", package.name());
        return Err(Failure::new(message).hint(package.command(&["status"])));
    }
    let said = worktree::restore(&package.directory)?;
    if common.json {
        let json = serde_json::json!({"path": package.name(), "aborted": true, "message": said});
        to_stdout(&format!("{json}\n"))?;
        return Ok(exit::DONE);
    }
    let mut page = Page::new(common);
    page.wrapped(&format!("{}: {said}", package.name()), 2);
    page.hint(&package.command(&["status"]));
    page.finish()?;
    Ok(exit::DONE)
}
