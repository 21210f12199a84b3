//! `krmv upgrade --all`: upgrades every package below some directories, each for itself.
//!
//! ```text
//! apps/web     one merge; its files, or a commit, or a branch with a commit
//! apps/db      the next one, whatever came of the first
//! ```
//!
//! Packages in packages come first, so that the outer package is merged with what they became. One that fails or has
//! conflicts stops no other. In the work tree, a package needs to be committed, except for what this run wrote. With
//! `--branch`, only the last commit counts: every package is merged in a temporary work tree, which is removed at the
//! end.

mod branch;
mod commit;
mod outcome;
mod temporary;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use krm_core::results::Severity;
use krm_function::supplied::Role;
use krm_merge::Side;
use krm_merge::markers::has_markers;
use krm_package::FileChange;
use krm_package::escaped::Markdown;
use krm_review::report;
use krm_upstream::git::without_password;
use review_package::ReviewOptions;

use super::cli::{Common, UpgradeArguments};
use super::conflict::{conflicts, undecided};
use super::failure::{Failure, Hint, Result, command};
use super::kptfile::locked_name;
use super::kptfile::{self, OpenUpgrade};
use super::own_repository::OwnRepository;
use super::package::{Contents, KPTFILE, LocalPackage, collect_packages};
use super::print::Page;
use super::review::{review_of, reviewable};
use super::session::{FollowedPackage, followed};
use super::shared::Listings;
use super::status::{PackageAbove, subpackages};
use super::upgrade::{MergedUpgrade, Task, UpgradeAttempt};
use super::worktree;

use branch::Branches;
use commit::CommitMessage;
use outcome::{PackageOutcome, State};
use temporary::TemporaryWorktree;

pub(crate) fn run(upgrade: &UpgradeArguments, common: &Common) -> Result<u8> {
    let mut directories: Vec<PathBuf> = upgrade.arguments.iter().map(PathBuf::from).collect();
    if directories.is_empty() {
        directories.push(PathBuf::from("."));
    }
    for directory in &directories {
        if !directory.is_dir() {
            let message = format!("'{}' is not a directory", directory.display());
            return Err(Failure::new(message).hint("krmv upgrade --all ."));
        }
    }
    let each = UpgradeArguments {
        arguments: Vec::new(),
        ..upgrade.clone()
    };
    let mut run = Run {
        upgrade: &each,
        common,
        written: BTreeSet::new(),
        outcomes: Vec::new(),
        listings: RefCell::default(),
    };
    match &upgrade.branch {
        Some(prefix) => run.on_branches(prefix, &directories)?,
        None => run.in_place(&directories)?,
    }
    if run.outcomes.is_empty() {
        let named: Vec<_> = directories
            .iter()
            .map(|one| one.to_string_lossy())
            .collect();
        let message = format!(
            "found no package with an upstream below {}",
            named.join(", ")
        );
        return Err(Failure::new(message).hint("krmv help get"));
    }
    outcome::finish(&run.outcomes, upgrade.dry_run, common)
}

/// One run over many packages.
struct Run<'r> {
    /// The flags, without the directories.
    upgrade: &'r UpgradeArguments,
    common: &'r Common,
    /// The files that this run wrote and did not commit, by their paths from the root of the work tree.
    written: BTreeSet<String>,
    outcomes: Vec<PackageOutcome>,
    /// What the upstreams listed, once for all packages of one.
    listings: RefCell<Listings>,
}

impl Run<'_> {
    /// Upgrades the packages in the work tree.
    fn in_place(&mut self, directories: &[PathBuf]) -> Result<()> {
        let packages = self.packages(directories)?;
        self.each(&packages, |run, directory| run.one_in_place(directory));
        Ok(())
    }

    /// The packages below directories, inner packages first, each with whether its upstream's address is another
    /// upstream's choice.
    fn packages(&self, directories: &[PathBuf]) -> Result<Vec<(PathBuf, bool)>> {
        let mut found = Vec::new();
        for directory in directories {
            collect_packages(directory, 0, &mut found)?;
        }
        let mut known = BTreeSet::new();
        found.retain(|directory| known.insert(directory.clone()));
        let mut above: Vec<PackageAbove> = Vec::new();
        let mut packages = Vec::new();
        for directory in &found {
            let is_asked = self.upgrade.all_upstreams || directories.contains(directory);
            let is_brought = !is_asked && above.iter().any(|one| one.brought(directory));
            let own = directory.strip_prefix(".").unwrap_or(directory);
            let has_inner = found
                .iter()
                .any(|one| one != directory && one.starts_with(own));
            if has_inner && !self.upgrade.all_upstreams {
                above.extend(self.as_above(directory));
            }
            packages.push((directory.clone(), is_brought));
        }
        packages.reverse();
        let directories = packages.iter().map(|(directory, _)| directory);
        self.listings.borrow_mut().upstreams.expect(directories);
        Ok(packages)
    }

    /// What the upstream of a package brought below it. `None` if it has no upstream.
    fn as_above(&self, directory: &Path) -> Option<PackageAbove> {
        let above = |subpackages| PackageAbove {
            directory: directory.to_path_buf(),
            subpackages,
        };
        let Ok(package) = LocalPackage::open(directory) else {
            return Some(above(None));
        };
        package.tracking.lock.as_ref()?;
        let brought = || -> Result<BTreeSet<String>> {
            let followed = self.follow(&package)?;
            let mut revisions = vec![followed.original()?];
            if let Some(open) = &package.tracking.open {
                let target = followed.open_target(open);
                revisions.push(followed.supplied(&target, Role::Upstream)?);
            }
            let revisions: Vec<_> = revisions.iter().map(|one| &**one).collect();
            Ok(subpackages(&revisions))
        };
        Some(above(brought().ok()))
    }

    fn follow<'p>(&self, package: &'p LocalPackage) -> Result<FollowedPackage<'p>> {
        let mut listings = self.listings.borrow_mut();
        FollowedPackage::open_with(package, None, self.common.offline, &mut listings)
    }

    /// Upgrades packages one by one. A failure is the outcome of its package.
    fn each(
        &mut self,
        packages: &[(PathBuf, bool)],
        one: impl Fn(&mut Self, &Path) -> Result<Option<PackageOutcome>>,
    ) {
        let first = self.outcomes.len();
        for (directory, is_brought) in packages {
            let found = if *is_brought {
                not_contacted(directory)
            } else {
                one(self, directory)
            };
            self.listings.borrow_mut().upstreams.finish(directory);
            let path = directory.to_string_lossy().into_owned();
            let outcome =
                found.unwrap_or_else(|failure| Some(PackageOutcome::failed(path, failure)));
            self.outcomes.extend(outcome);
        }
        // Inner packages came first.
        if let Some(own) = self.outcomes.get_mut(first..) {
            own.reverse();
        }
    }

    fn one_in_place(&mut self, directory: &Path) -> Result<Option<PackageOutcome>> {
        let package = LocalPackage::open(directory)?;
        let Some(_) = &package.tracking.lock else {
            return Ok(None);
        };
        let followed = self.follow(&package)?;
        if let Some(open) = &package.tracking.open {
            return open_before(&followed, open).map(Some);
        }
        let target = followed.target(None)?;
        let task = Task {
            upgrade: self.upgrade,
            common: self.common,
            package: &package,
            followed: &followed,
            target: &target,
        };
        let is_dry = self.upgrade.dry_run;
        let attempt = task.attempt(|package, again| {
            if is_dry || self.upgrade.force {
                return Ok(());
            }
            worktree::refuse_uncommitted(package, again, &self.written)
        })?;
        let merged = match attempt {
            UpgradeAttempt::Merged(merged) => merged,
            other => return unmerged(&package, other).map(Some),
        };
        if self.upgrade.commit {
            commit::refuse_unfinished_merge(&package)?;
        }
        let mut outcome = PackageOutcome::merged(&task, &merged);
        let changes = package.changes(&merged.merged.contents, &merged.merged.modes);
        if !is_dry {
            task.write(&changes, &merged)?;
            self.note_written(&package, &changes);
        }
        if self.upgrade.commit || self.common.json {
            outcome.review = request(&package, &merged);
        }
        if self.upgrade.commit {
            let message = CommitMessage::of(&outcome, &package);
            let committed = commit::commit(&package, &changes, &merged.merged.contents, &message);
            let by_hand = package.commit_command(
                message.subject(),
                merged.merger.new_file.as_deref(),
                false,
            )?;
            let committed = committed.map_err(|error| error.hint(by_hand))?;
            outcome.commit = Some(committed.to_string());
        } else if !self.common.json {
            let mut page = Page::new(self.common);
            task.report(&merged).write_to(&mut page, self.common)?;
            page.finish()?;
        }
        Ok(Some(outcome))
    }

    fn note_written(&mut self, package: &LocalPackage, changes: &[FileChange]) {
        let Some(repository) = &package.repository else {
            return;
        };
        let paths = changes
            .iter()
            .map(|change| repository.path_below_root(change.path()));
        let paths = paths.map(|path| path.to_string_lossy().replace('\\', "/"));
        self.written.extend(paths);
    }

    /// Upgrades the packages of the last commit, each on a branch.
    fn on_branches(&mut self, prefix: &str, directories: &[PathBuf]) -> Result<()> {
        let mut repositories: Vec<(OwnRepository, Vec<PathBuf>)> = Vec::new();
        for directory in directories {
            let around = OwnRepository::around(directory).ok_or_else(|| {
                let message = format!("'{}' is not in a Git work tree", directory.display());
                Failure::new(message).hint("krmv upgrade --all")
            })?;
            let same = repositories
                .iter_mut()
                .find(|(one, _)| one.root() == around.root());
            match same {
                Some((_, directories)) => directories.push(directory.clone()),
                None => repositories.push((around, vec![directory.clone()])),
            }
        }
        for (repository, directories) in repositories {
            let branches = Branches::open(&repository, prefix, self.common.offline)?;
            let site = TemporaryWorktree::add(&repository, branches.head())?;
            let directories = site.enter(&directories)?;
            let packages = self.packages(&directories)?;
            let inner: BTreeSet<String> = packages
                .iter()
                .filter_map(|(directory, _)| Some(OwnRepository::around(directory)?.inner()))
                .collect();
            self.each(&packages, |run, directory| {
                run.one_on_branch(&site, &branches, &inner, directory)
            });
        }
        Ok(())
    }

    fn one_on_branch(
        &self,
        site: &TemporaryWorktree,
        branches: &Branches,
        packages: &BTreeSet<String>,
        directory: &Path,
    ) -> Result<Option<PackageOutcome>> {
        site.check_out(branches.head())?;
        if LocalPackage::open(directory)?.tracking.lock.is_none() {
            return Ok(None);
        }
        let inner = OwnRepository::around(directory).map(|one| one.inner());
        let branch = branches.of_package(&inner.unwrap_or_default(), packages)?;
        let base = branch.base(branches)?;
        site.check_out(&base)?;
        let package = LocalPackage::open(directory).map_err(|error| branch.not_there(error))?;
        let followed = self.follow(&package)?;
        // An outcome at HEAD needs no branch.
        let at_base = |outcome: PackageOutcome| {
            let is_head = base == *branches.head();
            Some(if is_head {
                outcome
            } else {
                outcome.on(branch.name())
            })
        };
        if let Some(open) = &package.tracking.open {
            return open_before(&followed, open).map(at_base);
        }
        let target = followed.target(None)?;
        let task = Task {
            upgrade: self.upgrade,
            common: self.common,
            package: &package,
            followed: &followed,
            target: &target,
        };
        let merged = match task.attempt(|_, _| Ok(()))? {
            UpgradeAttempt::Merged(merged) => merged,
            other => return unmerged(&package, other).map(at_base),
        };
        let mut outcome = PackageOutcome::merged(&task, &merged);
        if changes_nothing(&package, &merged.merged.contents)? {
            outcome.state = State::Unchanged;
            return Ok(Some(outcome));
        }
        outcome.review = request(&package, &merged);
        let changes = package.changes(&merged.merged.contents, &merged.merged.modes);
        package.write(&changes)?;
        let message = CommitMessage::of(&outcome, &package);
        let committed = commit::commit(&package, &changes, &merged.merged.contents, &message);
        committed.map_err(|error| error.hint(package.command(&["upgrade"])))?;
        let made = commit::seal(&package)?;
        let tip = branch.move_to(branches, &base, &made)?;
        outcome.is_as_before = branch.has(&tip);
        outcome.commit = Some(tip.to_string());
        Ok(Some(outcome.on(branch.name())))
    }
}

/// The outcome for a package that upstream brought, with its address.
fn not_contacted(directory: &Path) -> Result<Option<PackageOutcome>> {
    let package = LocalPackage::open(directory)?;
    let Ok((lock, origin)) = followed(&package) else {
        return Ok(None);
    };
    let address = without_password(origin.address());
    let mut outcome = PackageOutcome::new(package.name(), State::NotContacted);
    outcome.from = locked_name(lock);
    outcome.message = Some(format!(
        "upstream added this package, with the address {address}; it is upgraded with the package around it"
    ));
    outcome.hints = vec![command(["krmv", "upgrade", "--all", &package.name()])];
    Ok(Some(outcome))
}

/// The outcome for a package whose upgrade was open before.
fn open_before(followed: &FollowedPackage<'_>, open: &OpenUpgrade) -> Result<PackageOutcome> {
    let package = followed.package;
    let target = followed.open_target(open);
    let merged = followed
        .merger(&target)?
        .merge(&package.contents, Side::Local)?;
    let left = undecided(conflicts(&merged.results), &open.decided).len();
    let mut outcome = PackageOutcome::new(package.name(), State::Undecided);
    outcome.from = locked_name(followed.lock);
    outcome.to = Some(target.lock_ref);
    outcome.conflicts = left;
    outcome.is_as_before = true;
    outcome.hints = vec![package.command(&["resolve"])];
    let texts = package.contents.values();
    let mut texts = texts.filter_map(|bytes| std::str::from_utf8(bytes).ok());
    if texts.any(has_markers) {
        outcome.message = Some("the files have conflict markers".to_owned());
    }
    Ok(outcome)
}

/// The outcome of an attempt without a merged package.
fn unmerged(package: &LocalPackage, attempt: UpgradeAttempt) -> Result<PackageOutcome> {
    match attempt {
        UpgradeAttempt::UpToDate(name) => {
            let mut outcome = PackageOutcome::new(package.name(), State::UpToDate);
            outcome.from = Some(name);
            Ok(outcome)
        }
        UpgradeAttempt::Refused(results) => {
            let mut errors = results
                .iter()
                .filter(|result| result.severity == Severity::Error);
            let first = errors.next().map(ToString::to_string).unwrap_or_default();
            Err(Failure::new(first).hint(package.command(&["upgrade"])))
        }
        UpgradeAttempt::Merged(_) => Err(Failure::new("expected a package that is not merged")),
    }
}

/// Whether a release only moves the lock of a package.
fn changes_nothing(package: &LocalPackage, merged: &Contents) -> Result<bool> {
    let [own, new] =
        [&package.contents, merged].map(|files| files.iter().filter(|(path, _)| *path != KPTFILE));
    if own.ne(new) {
        return Ok(false);
    }
    let [old, new] = [&package.contents, merged].map(LocalPackage::kptfile);
    Ok(kptfile::with_lock_of(&new, &old)? == old)
}

/// The text of a request for an upgrade, in Markdown: the review, and what is undecided.
fn request(package: &LocalPackage, merged: &MergedUpgrade) -> String {
    let review = review(package, merged);
    let open = commit::undecided(&merged.open);
    let open = open.as_str();
    let between = if open.is_empty() { "" } else { "\n\n" };
    format!(
        "{}{between}{}\n",
        review.as_str().trim_end(),
        open.trim_end()
    )
}

/// What an upgrade means for the cluster, as Markdown.
fn review(package: &LocalPackage, merged: &MergedUpgrade) -> Markdown {
    let results = || {
        let before = reviewable(&package.own(&package.contents)?, &[])?;
        let merger = &merged.merger;
        let after = merger.own(&merged.merged.contents);
        let revisions = [&merger.original, &merger.upstream].map(Arc::clone);
        review_of(before, &after, Some(revisions), ReviewOptions::default())
    };
    match results() {
        Ok(results) => report::markdown(&results),
        Err(failure) => {
            Markdown::literal("The package cannot be reviewed: ")
                + Markdown::prose(&failure.message)
                + "\n"
        }
    }
}

/// The hint that continues an upgrade on a branch.
fn on_branch_hint(branch: &str, hint: &Hint) -> Hint {
    command(["git", "switch", branch]).then(hint)
}

/// The commit as Git prints it in short.
fn short(commit: &str) -> String {
    commit.chars().take(12).collect()
}
