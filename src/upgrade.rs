//! `krmv upgrade`: merges a newer revision of upstream into a package.
//!
//! While conflicts are undecided the files have local's values there, `upstream.git.ref` names the new revision, and
//! `upstreamLock` the old one.

use std::collections::BTreeSet;

use krm_core::diff::file_diff;
use krm_core::results::Results;
use krm_merge::Side;
use krm_package::FileChange;
use krm_review::{PackageChange, Review, package_changes};
use krm_upstream::git::Revision;
use krm_upstream::is_digest;
use serde_json::json;

use super::cli::{Common, Take, UpgradeArguments};
use super::conflict::{ReportedConflict, conflicts};
use super::exit;
use super::failure::{Failure, Hint, Result};
use super::field_history::ConflictHistories;
use super::kptfile::{self, OpenUpgrade, locked_name, release_outside_git};
use super::merging::{MergedPackage, Merger, with_markers};
use super::package::{Contents, KPTFILE, LocalPackage};
use super::print::{self, Page};
use super::report::{UpgradeReport, print_errors};
use super::review::{reviewable, reviewed};
use super::session::{FollowedPackage, arguments, name_at};
use super::upstream::contents;
use super::worktree::{self, MarkedFile};

pub(crate) fn run(upgrade: &UpgradeArguments, common: &Common) -> Result<u8> {
    let (directory, request) = arguments(&upgrade.arguments)?;
    let package = LocalPackage::open(&directory)?;
    if upgrade.abort {
        return abort(&package, common);
    }
    let followed = FollowedPackage::open(&package, request.as_deref(), common.offline)?;
    let target = match (&request, &package.tracking.open) {
        (None, Some(open)) => followed.open_target(open),
        _ => followed.target(request.as_deref())?,
    };
    let task = Task {
        upgrade,
        common,
        package: &package,
        followed: &followed,
        target: &target,
    };
    match &package.tracking.open {
        Some(open) => task.continue_upgrade(open),
        None => task.begin(),
    }
}

/// The upgrade of one package.
pub(crate) struct Task<'t> {
    pub(crate) upgrade: &'t UpgradeArguments,
    pub(crate) common: &'t Common,
    pub(crate) package: &'t LocalPackage,
    pub(crate) followed: &'t FollowedPackage<'t>,
    pub(crate) target: &'t Revision,
}

/// What an upgrade comes to, before anything is written.
pub(crate) enum UpgradeAttempt {
    /// Nothing is newer than this revision.
    UpToDate(String),
    /// The merge has errors.
    Refused(Results),
    Merged(Box<MergedUpgrade>),
}

/// An upgrade in memory.
pub(crate) struct MergedUpgrade {
    pub(crate) merged: MergedPackage,
    /// The versions that were merged.
    pub(crate) merger: Merger,
    /// All conflicts of the merge, including decided ones.
    found: Vec<ReportedConflict>,
    /// The undecided conflicts.
    pub(crate) open: Vec<ReportedConflict>,
    /// What the upgrade means for the cluster. `None` if the package cannot be read, or no report is printed.
    pub(crate) review: Option<Review>,
    /// The files with conflict markers.
    pub(crate) marked: Vec<MarkedFile>,
    /// The same files without markers.
    unmarked: Contents,
}

impl MergedUpgrade {
    /// What the upgrade changes in the package, resource by resource. Files with markers cannot be read.
    fn changes(&self, package: &LocalPackage) -> Vec<PackageChange> {
        let mut after = self.merged.contents.clone();
        after.extend(self.unmarked.clone());
        package_changes(&package.contents, &after)
    }
}

impl Task<'_> {
    /// Continues an open upgrade: lists what is undecided, and merges no other revision.
    fn continue_upgrade(&self, open: &OpenUpgrade) -> Result<u8> {
        let revision = self.target;
        if revision.commit != open.to {
            let wanted = self
                .package
                .tracking
                .requested
                .as_deref()
                .unwrap_or(&open.to);
            let moved = wanted == revision.upstream_ref;
            let message = if moved {
                format!(
                    "`{wanted}` has moved since the open upgrade began; decide its conflicts first, or abort it"
                )
            } else {
                let release = release_outside_git(wanted, &open.to);
                let name = release.as_deref().unwrap_or(wanted);
                format!("the upgrade to {name} is open; decide its conflicts first, or abort it")
            };
            return Err(Failure {
                code: exit::OPEN,
                ..Failure::new(message)
                    .hint(self.package.command(&["resolve"]))
                    .hint(self.package.command(&["upgrade", "--abort"]))
            });
        }
        let merger = self.followed.merger(revision)?;
        super::resolve::continue_upgrade(self.followed, self.common, &merger, revision, open)
    }

    fn begin(&self) -> Result<u8> {
        let merged = match self.attempt(|package, again| {
            let is_dry = self.upgrade.dry_run || self.upgrade.diff;
            if is_dry || self.upgrade.force {
                return Ok(());
            }
            worktree::refuse_uncommitted(package, again, &BTreeSet::new())
        })? {
            UpgradeAttempt::UpToDate(name) => return self.up_to_date(&name),
            UpgradeAttempt::Refused(results) => return print_errors(&results, self.common),
            UpgradeAttempt::Merged(merged) => merged,
        };
        let changes = self
            .package
            .changes(&merged.merged.contents, &merged.merged.modes);
        if self.upgrade.diff {
            self.print_diff(&changes, &merged)?;
            return Ok(exit::open_if(!merged.open.is_empty()));
        }
        if !self.upgrade.dry_run {
            self.write(&changes, &merged)?;
        }
        self.report(&merged).print(self.common)?;
        Ok(exit::open_if(!merged.open.is_empty()))
    }

    /// Merges in memory. `is_clean` refuses a package whose edits no commit has; it is asked only if there is something to
    /// merge.
    pub(crate) fn attempt(
        &self,
        is_clean: impl FnOnce(&LocalPackage, &Hint) -> Result<()>,
    ) -> Result<UpgradeAttempt> {
        let lock = self.followed.lock;
        let revision = self.target;
        // A newer sibling of a path with a version in its name may be in the same commit.
        let is_same = lock.commit.as_deref() == Some(&revision.commit)
            && self.followed.path_at(revision)?.path == lock.directory;
        if is_same && !self.followed.is_rendered_anew() {
            return Ok(UpgradeAttempt::UpToDate(revision.lock_ref.clone()));
        }
        is_clean(self.package, &self.command_line())?;
        let merger = self.followed.merger(revision)?;
        let side = match self.upgrade.take {
            Some(Take::Upstream) => Side::Upstream,
            _ => Side::Local,
        };
        let mut merged = merger.merge(&self.package.contents, side)?;
        if merged.results.has_errors() {
            return Ok(UpgradeAttempt::Refused(merged.results));
        }
        merger.warn_of_skipped(self.package.skipped(), &mut merged.results);
        merger
            .kept
            .iter()
            .for_each(|kept| merged.results.push(kept.clone()));
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
            path: (merger.path != lock.directory).then(|| merger.path.clone()),
            decided: BTreeSet::new(),
        };
        let at = kptfile::at(lock, &merger.path);
        let new = at.moved_to(&self.followed.upstream.remote, revision);
        let text = if open.is_empty() {
            kptfile::locked(&text, &new, &self.package.surroundings())?
        } else {
            kptfile::opened(&text, &new, &new_open, &self.package.surroundings())?
        };
        merged
            .contents
            .insert(KPTFILE.to_owned(), text.into_bytes());
        if let Some(rendering) = &merger.rendering {
            rendering.record(&mut merged.contents, !open.is_empty());
        }
        let review = self
            .is_reported()
            .then(|| reviewable(&self.package.contents, &[&merger.original]).ok())
            .flatten()
            .and_then(|before| reviewed(&before, &merger, &merged, None));
        let (mut marked, mut unmarked) = (Vec::new(), Contents::new());
        if self.upgrade.markers {
            let (local, name) = (&self.package.contents, &revision.upstream_ref);
            (marked, unmarked) = mark(&merger, local, &mut merged.contents, &open, name)?;
        }
        Ok(UpgradeAttempt::Merged(Box::new(MergedUpgrade {
            merged,
            merger,
            found,
            open,
            review,
            marked,
            unmarked,
        })))
    }

    /// The names of the revisions before and after. A branch, or a tag that moved, is named with its commits. In one commit,
    /// the paths of the package differ, or its values.
    pub(crate) fn step(&self, path: &str) -> [Option<String>; 2] {
        let (lock, target) = (self.followed.lock, self.target);
        let from = locked_name(lock);
        if from.as_ref() != Some(&target.lock_ref) {
            return [from, Some(self.followed.shown_name(target))];
        }
        if lock.commit.as_ref() == Some(&target.commit) {
            if path == lock.directory {
                let again = format!("{}, rendered again", target.lock_ref);
                return [from, Some(again)];
            }
            return [&lock.directory, path].map(|path| Some(path.to_owned()));
        }
        let before = lock.commit.as_deref();
        let before = before.map(|commit| name_at(&target.lock_ref, commit));
        [before, Some(self.followed.shown_name(target))]
    }

    /// Whether the [report](Self::report) is printed. A diff replaces it, and a commit has a review of its own in its
    /// message.
    fn is_reported(&self) -> bool {
        let flags = self.upgrade;
        !(flags.diff || flags.commit || flags.branch.is_some())
    }

    fn command_line(&self) -> Hint {
        let request = self.target.upstream_ref.as_str();
        self.package.command(&["upgrade", request])
    }

    /// The command that reviews what the upgrade changes. `None` if no commit has the files as they were.
    fn review_command(&self) -> Option<Hint> {
        let request = self.target.upstream_ref.as_str();
        if self.upgrade.dry_run {
            return Some(self.package.command(&["review", request]));
        }
        let is_edited = self.followed.is_edited_since_commit().ok()?;
        is_edited.then(|| self.package.command(&["review"]))
    }

    fn up_to_date(&self, name: &str) -> Result<u8> {
        let shown = self.package.name();
        let document =
            || json!({"path": shown, "from": name, "to": name, "written": false, "conflicts": []});
        print::answer(self.common, document, |page| {
            page.line(format_args!("{shown}: already up to date, at {name}"));
        })
    }

    fn print_diff(&self, changes: &[FileChange], merged: &MergedUpgrade) -> Result<()> {
        let mut page = Page::new(self.common);
        for change in changes {
            let path = change.path();
            let [before, after] = [&self.package.contents, &merged.merged.contents]
                .map(|files| files.get(path).map(|bytes| (bytes.as_slice(), 0o644)));
            page.diff(&file_diff(path, before, after));
        }
        page.finish()
    }

    /// Writes the changes, except to files whose edits Git does not see.
    pub(crate) fn write(&self, changes: &[FileChange], merged: &MergedUpgrade) -> Result<()> {
        if !self.upgrade.force {
            let paths: Vec<&str> = changes.iter().map(FileChange::path).collect();
            worktree::refuse_unseen(self.package, &paths, &self.command_line())?;
        }
        self.package.write(changes)?;
        worktree::stage_versions(self.package, &merged.marked)
    }

    /// The report of an upgrade that was written or, in a dry run, tried.
    pub(crate) fn report<'m>(&'m self, merged: &'m MergedUpgrade) -> UpgradeReport<'m> {
        let (lock, merger) = (self.followed.lock, &merged.merger);
        UpgradeReport {
            package: self.package,
            from: locked_name(lock),
            step: self.step(&merger.path),
            moved: (merger.path != lock.directory).then_some([&*lock.directory, &*merger.path]),
            renamed: merger.new_file.as_deref(),
            notes: self.followed.notes(self.target, &merger.siblings),
            to: self.target,
            to_name: self.followed.shown_name(self.target),
            results: &merged.merged.results,
            changes: merged.changes(self.package),
            found: &merged.found,
            open: &merged.open,
            histories: ConflictHistories::of(self.followed, self.target, &merger.path),
            is_written: !self.upgrade.dry_run,
            taken: self.upgrade.take,
            has_markers: self.upgrade.markers,
            again: self.command_line(),
            review: merged.review.as_ref(),
            review_command: self.review_command(),
        }
    }
}

/// Writes markers into the files with undecided conflicts. Returns the files with the versions that Git's index gets, and
/// as they were without markers.
fn mark(
    merger: &Merger,
    local: &Contents,
    files: &mut Contents,
    open: &[ReportedConflict],
    label: &str,
) -> Result<(Vec<MarkedFile>, Contents)> {
    let original = contents(&merger.original)?;
    let upstream = contents(&merger.upstream)?;
    let (mut found, mut unmarked) = (Vec::new(), Contents::new());
    let paths: BTreeSet<&str> = open.iter().map(|conflict| conflict.file()).collect();
    for path in paths.into_iter().filter(|path| *path != KPTFILE) {
        let versions = [original.get(path), files.get(path), upstream.get(path)];
        if let Some(marked) = with_markers(path, versions, label)? {
            let versions = [original.get(path), local.get(path), upstream.get(path)];
            found.push(MarkedFile {
                path: path.to_owned(),
                versions: versions.map(Option::<&Vec<u8>>::cloned),
            });
            let before = files.insert(path.to_owned(), marked);
            unmarked.extend(before.map(|before| (path.to_owned(), before)));
        }
    }
    Ok((found, unmarked))
}

fn abort(package: &LocalPackage, common: &Common) -> Result<u8> {
    if package.tracking.open.is_none() {
        let message = format!("no upgrade of '{}' is open", package.name());
        return Err(Failure::new(message).hint(package.command(&["status"])));
    }
    let message = worktree::restore(package)?;
    let document = || json!({"path": package.name(), "aborted": true, "message": message});
    print::answer(common, document, |page| {
        page.wrapped(format_args!("{}: {message}", package.name()), 2);
        page.hint(&package.command(&["status"]));
    })
}
