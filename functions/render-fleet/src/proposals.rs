//! Prunes packages in drafts: packages whose PackageVariant no longer exists or targets another package.
//!
//! ```text
//! drafts/web/packagevariant-2     is deleted
//! web/v1, a tag                   is kept; `deletionProposed/web/v1` waits for approval
//! ```
//!
//! Source: contract, render-fleet, Drafts.

use std::collections::{BTreeSet, HashSet};

use super::drafts::{Draft, Drafts, start};
use super::outcome::{Action, VariantOutcome};
use super::prune::{named, orphan};
use super::variants::FleetVariant;
use crate::fleet::{ClaimedPackage, Deletion, PackageRevisions, Unpublished};
use krm_core::config::UsageError;
use krm_core::resource::NamespacedName;
use krm_core::results::{FunctionResult, Reason, Results, Severity, listed};
use krm_upstream::git::{GitError, Repository};

impl Drafts<'_> {
    /// The packages of the downstream repositories with an owner in their Kptfile, on base branches and in drafts. If
    /// a repository cannot be read, adds a warning, unless variants target it, which then report the error.
    ///
    /// # Errors
    /// [`UsageError`]: the fleet, or the repository that contains it, cannot be read.
    pub(super) fn claimed(
        &mut self,
        variants: &[FleetVariant],
        results: &mut Results,
    ) -> Result<Vec<ClaimedPackage>, UsageError> {
        let places = variants.iter().filter_map(FleetVariant::path);
        let targets: BTreeSet<&str> = places.filter_map(|path| path.split('/').next()).collect();
        let mut names = self.downstreams.names().map_err(UsageError::of)?;
        names.extend(targets.iter().map(|name| (*name).to_owned()));
        let mut found = Vec::new();
        for name in names {
            match self.claimed_in(&name) {
                Ok(claimed) => found.extend(claimed),
                Err(GitError::NotARepository { .. }) => {}
                Err(error) if !targets.contains(name.as_str()) => {
                    let message =
                        format!("cannot find its packages without a PackageVariant: {error}");
                    results.push(
                        FunctionResult::warning(Reason::InvalidPackage, message).in_file(name),
                    );
                }
                Err(_) => {}
            }
        }
        Ok(found)
    }

    /// The packages in one folder with an owner in their Kptfile. Each Repository object of this name may give
    /// another directory for them.
    fn claimed_in(&mut self, name: &str) -> Result<Vec<ClaimedPackage>, GitError> {
        let repositories = self.repositories.iter();
        let named = repositories.filter(|(repository, _)| repository.name == name);
        let mut facts: Vec<_> = named.map(|(_, facts)| Some(facts)).collect();
        if facts.is_empty() {
            facts.push(None);
        }
        let (mut all, mut known) = (Vec::new(), HashSet::new());
        for facts in facts {
            let claimed = self.downstreams.open(name, facts)?.claimed()?.into_iter();
            all.extend(claimed.filter(|new| known.insert(new.clone())));
        }
        Ok(all)
    }

    /// Whether a run with `prune` proposes to delete a package, or withdraws its drafts.
    ///
    /// # Errors
    /// [`UsageError`]: the repository cannot be read.
    pub(super) fn deletes(&mut self, package: &ClaimedPackage) -> Result<bool, UsageError> {
        let revisions = self.open(&package.path, namespace_in(&package.owner))?;
        let deletion = revisions.deletion(&package.owner);
        Ok(!package.orphans && has_work(&deletion.map_err(UsageError::of)?))
    }

    /// Proposes to delete a package, or orphans it, according to its deletion policy. Without `prune`, or if its
    /// variant failed for another package, the package is only reported.
    pub(super) fn prune(
        &mut self,
        package: &ClaimedPackage,
        failed: &HashSet<String>,
    ) -> VariantOutcome {
        let mut findings = Results::default();
        let pruned = if package.orphans {
            self.orphan(package, failed, &mut findings)
        } else {
            self.propose(package, failed, &mut findings)
        };
        let mut outcome = pruned.unwrap_or_else(|error| {
            let mut outcome = VariantOutcome::unchanged(&package.path, &package.owner);
            outcome.entry.action = Some(Action::Failed);
            findings.push(FunctionResult::error(Reason::NotWritten, error.to_string()));
            outcome
        });
        if findings.has_errors() {
            outcome.entry.action = Some(Action::Failed);
        }
        for result in &findings {
            let mut result = result.clone();
            result = match &result.file {
                Some((path, _)) => {
                    let path = format!("{}/{path}", package.path);
                    result.in_file(path)
                }
                None => result.in_file(format!("{}/Kptfile", package.path)),
            };
            if result.severity == Severity::Error {
                result = result.tag("action", Action::Failed.as_str());
            }
            let result = result.tag("variant", package.owner.as_str());
            outcome.results.push(result);
        }
        outcome
    }

    fn propose(
        &mut self,
        package: &ClaimedPackage,
        failed: &HashSet<String>,
        findings: &mut Results,
    ) -> Result<VariantOutcome, UsageError> {
        let ClaimedPackage { path, owner, .. } = package;
        let revisions = self.open(path, namespace_in(owner))?;
        let deletion = revisions.deletion(owner).map_err(UsageError::of)?;
        if !self.settings.prunes || failed.contains(owner) {
            return Ok(named(package, self.settings.prunes, &would(&deletion)));
        }
        for branch in &deletion.pending {
            let message = format!("the proposal to delete it, `{branch}`, waits for approval");
            findings.push(FunctionResult::info(message));
        }
        for draft in deletion.withdrawn.iter().filter(|draft| draft.is_at_remote) {
            let Unpublished { branch, .. } = draft;
            let message = format!(
                "`{branch}` exists on the remote; `git push origin --delete {branch}` deletes it there"
            );
            findings.push(FunctionResult::info(message));
        }
        if !has_work(&deletion) {
            return Ok(VariantOutcome::unchanged(path, owner));
        }
        if self.mode.writes {
            write(revisions.downstream.repository(), &deletion).map_err(UsageError::of)?;
        }
        let mut outcome = VariantOutcome::of_package(package, Action::Deleted);
        let first = deletion.proposed.first();
        outcome.entry.draft = first.map(|(branch, _)| branch.clone());
        if let Some(result) = outcome.results.first_mut() {
            result.message = format!(
                "{}: its PackageVariant `{owner}` no longer exists or now targets another package",
                would(&deletion)
            )
            .into();
        }
        Ok(outcome)
    }

    /// Removes the owner from a package, in a draft.
    fn orphan(
        &mut self,
        package: &ClaimedPackage,
        failed: &HashSet<String>,
        findings: &mut Results,
    ) -> Result<VariantOutcome, UsageError> {
        let ClaimedPackage { path, owner, .. } = package;
        if !self.settings.prunes || failed.contains(owner) {
            return Ok(named(package, self.settings.prunes, "orphaned"));
        }
        let revisions = self.open(path, namespace_in(owner))?;
        let (start, without_owner) = start(&revisions.unpublished, owner, false);
        if let (None, [revision, ..]) = (start, &without_owner[..]) {
            let message = format!(
                "`{}`, which has no owner, waits for approval",
                revision.branch
            );
            findings.push(FunctionResult::info(message));
            return Ok(VariantOutcome::unchanged(path, owner));
        }
        let draft = Draft {
            revisions: &revisions,
            start,
            owner,
            settings: self.settings,
            mode: self.mode,
        };
        let done = draft.run(|list, _, findings| orphan(list, findings), findings)?;
        let Some(branch) = done.entry.draft else {
            return Ok(VariantOutcome::unchanged(path, owner));
        };
        let mut outcome = VariantOutcome::of_package(package, Action::Orphaned);
        outcome.diffs = done.diffs;
        if let Some(result) = outcome.results.first_mut() {
            result.message += &format!("; as the draft `{branch}`");
        }
        outcome.entry.draft = Some(branch);
        Ok(outcome)
    }

    /// Opens the repository of a package, with the settings of the Repository object in the namespace of the
    /// package's owner.
    pub(super) fn open(
        &mut self,
        path: &str,
        namespace: Option<&str>,
    ) -> Result<PackageRevisions, UsageError> {
        let (name, package) = path.split_once('/').unwrap_or((path, ""));
        let repository = NamespacedName::new(namespace, name);
        let facts = self.repositories.get(&repository);
        let downstream = self.downstreams.open(name, facts).map_err(UsageError::of)?;
        downstream.package(package).map_err(UsageError::of)
    }
}

/// The namespace of an owner, which has the form `<namespace>/<name>`.
fn namespace_in(owner: &str) -> Option<&str> {
    owner.split_once('/').map(|(namespace, _)| namespace)
}

/// Whether there is anything to do in the local repository.
fn has_work(deletion: &Deletion) -> bool {
    let is_here = |draft: &Unpublished| draft.local.is_some();
    !deletion.proposed.is_empty() || deletion.withdrawn.iter().any(is_here)
}

/// Describes what a run with `prune` does.
fn would(deletion: &Deletion) -> String {
    let mut steps = Vec::new();
    if !deletion.proposed.is_empty() {
        let proposed = listed(deletion.proposed.iter().map(|(branch, _)| branch));
        steps.push(format!("proposed for deletion as {proposed}"));
    }
    for Unpublished { branch, commit, .. } in &deletion.withdrawn {
        steps.push(format!("withdrawn: `{branch}` (at commit {commit})"));
    }
    match (&steps[..], &deletion.pending[..]) {
        ([], []) => "kept, because HEAD is not on a branch".to_owned(),
        ([], pending) => format!(
            "kept, because `{}` waits for approval",
            pending.join("`, `")
        ),
        (steps, _) => steps.join("; "),
    }
}

fn write(repository: &Repository, deletion: &Deletion) -> Result<(), GitError> {
    for (branch, commit) in &deletion.proposed {
        repository.move_branch(branch, None, Some(commit), "deletion proposed")?;
    }
    for Unpublished { branch, local, .. } in &deletion.withdrawn {
        if let Some(commit) = local {
            repository.move_branch(branch, Some(commit), None, "withdrawn")?;
        }
    }
    Ok(())
}
