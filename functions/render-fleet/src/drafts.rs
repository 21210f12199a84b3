//! Writes the package of a variant as a draft in its downstream repository.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::cannot_work::CannotWork;
use super::config::FleetSettings;
use super::directory::Mode;
use super::outcome::{VariantEntry, VariantOutcome};
use super::render::{WorkedPackage, Worker};
use super::variants::{Destination, FleetVariant};
use crate::fleet::{Downstreams, PackageRevisions, Unpublished};
use krm_core::config::UsageError;
use krm_core::resource::NamespacedName;
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results};
use krm_merge::package::Merge;
use krm_package::Package;
use krm_upstream::git::{DraftCommit, Revision, draft_note};
use krm_variant::naming::revision_name;
use render_variant::RepositoryFacts;

/// Selects the revision that a variant continues: its own draft or, if there is none, its own proposed revision; or
/// else one without owner if the variant adopts them; or (`None`) the published one. Also returns the other revisions
/// without owner.
pub(super) fn start<'r>(
    unpublished: &'r [Unpublished],
    owner: &str,
    adopts: bool,
) -> (Option<&'r Unpublished>, Vec<&'r Unpublished>) {
    let all = unpublished.iter();
    let own = all.clone().filter(|revision| revision.is_owned_by(owner));
    let start = own.min_by_key(|revision| revision.is_proposed);
    let without_owner = all.filter(|revision| revision.ownership.owner.is_none());
    let adopted = without_owner.clone().filter(|_| adopts);
    let start = start.or_else(|| adopted.min_by_key(|revision| revision.is_proposed));
    let is_other = |other: &&Unpublished| start.is_none_or(|start| start.branch != other.branch);
    (start, without_owner.filter(is_other).collect())
}

/// Writes the drafts of a fleet; each thread has one.
pub(super) struct Drafts<'f> {
    pub(super) downstreams: Downstreams<'f>,
    pub(super) repositories: &'f BTreeMap<NamespacedName, RepositoryFacts>,
    pub(super) settings: &'f FleetSettings,
    pub(super) mode: Mode,
}

impl<'f> Drafts<'f> {
    pub(super) fn new(
        fleet: &'f Path,
        repositories: &'f BTreeMap<NamespacedName, RepositoryFacts>,
        settings: &'f FleetSettings,
        mode: Mode,
    ) -> Self {
        Self {
            downstreams: Downstreams::new(fleet),
            repositories,
            settings,
            mode,
        }
    }

    /// Creates, updates or refreshes the package of a variant on a separate branch.
    pub(super) fn render(
        &mut self,
        worker: &mut Worker<'_>,
        variant: &FleetVariant,
        place: &Destination,
    ) -> VariantOutcome {
        let mut findings = Results::default();
        let done = self.run(worker, variant, place, &mut findings);
        let (done, withdrawn, finished) = done.unwrap_or_else(|error| {
            let result = FunctionResult::error(Reason::NotWritten, error.to_string());
            findings.push(result.with_resource(&variant.resource));
            Default::default()
        });
        let draft = done.entry.draft.clone();
        let changes = draft.is_some() || !withdrawn.is_empty();
        let mut outcome = VariantOutcome {
            targets: done.targets,
            diffs: done.diffs,
            ..VariantOutcome::of(variant, done.entry, &findings, changes)
        };
        if let Some(result) = outcome.results.first_mut() {
            if let Some(branch) = draft {
                result.message += &format!(", as the draft `{branch}`");
                result.tags.push(("draft".to_owned(), branch));
            }
            for branch in withdrawn {
                result.message +=
                    &format!("; its deletion is no longer proposed, `{branch}` is withdrawn");
            }
        }
        for branch in finished {
            let message = format!("deleted the local branch `{branch}`, which is published");
            let result = FunctionResult::info(message).with_resource(&variant.resource);
            outcome.results.push(result);
        }
        outcome
    }

    fn run(
        &mut self,
        worker: &mut Worker<'_>,
        variant: &FleetVariant,
        place: &Destination,
        findings: &mut Results,
    ) -> Result<(VariantOutcome, Vec<String>, Vec<String>), UsageError> {
        let namespace = variant.resource.namespace.as_deref();
        let revisions = self.open(&place.path, namespace)?;
        let (start, others) = start(&revisions.unpublished, &variant.owner, place.adopts);
        for other in others {
            let result = not_adopted(other, start, place);
            findings.push(result.with_resource(&variant.resource));
        }
        let draft = Draft {
            revisions: &revisions,
            start,
            owner: &variant.owner,
            settings: self.settings,
            mode: self.mode,
        };
        let work = |list: &mut ResourceList, is_new, results: &mut Results| {
            worker.render(variant, place, list, is_new, results)
        };
        let mut done = draft.run(work, findings)?;
        let mut withdrawn = Vec::new();
        if done.entry.action.is_some() && !findings.has_errors() {
            withdrawn = draft.keep(findings)?;
        }
        let branch = done.entry.draft.as_deref();
        done.targets = targets(&revisions, &variant.owner, branch);
        Ok((done, withdrawn, self.delete_finished(&revisions)))
    }

    /// Deletes the local branches of published drafts, which a push would bring back to the remote. One that cannot be
    /// deleted stays: a work tree may have it checked out.
    fn delete_finished(&self, revisions: &PackageRevisions) -> Vec<String> {
        let finished = revisions.finished.iter().filter(|_| self.mode.writes);
        let repository = revisions.downstream.repository();
        let deleted = finished.filter(|(branch, commit)| {
            let moved = repository.move_branch(branch, Some(commit), None, "published");
            moved.is_ok()
        });
        deleted.map(|(branch, _)| branch.clone()).collect()
    }
}

fn not_adopted(
    revision: &Unpublished,
    start: Option<&Unpublished>,
    place: &Destination,
) -> FunctionResult {
    let Unpublished { branch, .. } = revision;
    let next = match start.filter(|_| place.adopts) {
        Some(start) => format!(
            "the variant continues `{}`; merge the branch into that one, or delete it",
            start.branch
        ),
        None => "`spec.adoptionPolicy: adoptExisting` takes it over".to_owned(),
    };
    let message = format!(
        "the branch `{branch}` of the package `{}` has no owner; left unchanged, {next}",
        place.path
    );
    FunctionResult::warning(Reason::NotAdopted, message).with_field("spec.adoptionPolicy")
}

/// The names of the PackageRevisions that Porch lists for a variant: drafts and proposed revisions, or else the
/// latest published one.
fn targets(revisions: &PackageRevisions, owner: &str, written: Option<&str>) -> Vec<String> {
    let own = revisions.unpublished.iter().filter(|revision| {
        revision.is_owned_by(owner) || written == Some(revision.branch.as_str())
    });
    let mut workspaces: Vec<&str> = own.map(|revision| revision.workspace.as_str()).collect();
    let written = written.and_then(|branch| branch.rsplit('/').next());
    workspaces.extend(written);
    if workspaces.is_empty() {
        let latest = revisions.published.last();
        workspaces.extend(latest.map(|published| published.workspace.as_str()));
    }
    workspaces.sort_unstable();
    workspaces.dedup();
    let names = workspaces.into_iter();
    let place = revisions.place.as_str();
    let (repository, package) = place.split_once('/').unwrap_or((place, ""));
    names
        .map(|workspace| revision_name(repository, package, workspace))
        .collect()
}

/// The draft of one package.
pub(super) struct Draft<'d> {
    pub(super) revisions: &'d PackageRevisions,
    /// The draft or proposed revision that the variant continues; `None` to start from the published one.
    pub(super) start: Option<&'d Unpublished>,
    /// The PackageVariant that owns the package, `<namespace>/<name>`.
    pub(super) owner: &'d str,
    pub(super) settings: &'d FleetSettings,
    pub(super) mode: Mode,
}

impl Draft<'_> {
    pub(super) fn run(
        &self,
        work: impl FnOnce(&mut ResourceList, bool, &mut Results) -> Result<VariantEntry, UsageError>,
        findings: &mut Results,
    ) -> Result<VariantOutcome, UsageError> {
        if let Some(Unpublished { branch, .. }) = self.start.filter(|one| one.has_diverged) {
            let message = format!(
                "the branch `{branch}` and its remote-tracking branch each have commits that the other lacks; \
                 merge them first"
            );
            return Err(UsageError::of(message));
        }
        let base = self.revisions.downstream.base.as_ref();
        let base = base.map(|base| base.commit.as_str());
        let commit = self.start.map(|start| start.commit.as_str()).or(base);
        let found = commit.map_or(Ok(None), |commit| self.package(commit))?;
        let is_new = found.is_none();
        let behind = self.start.filter(|one| one.is_behind).zip(base);
        // The parents of a new commit.
        let parents: Vec<&str> = commit
            .into_iter()
            .chain(behind.map(|(_, base)| base))
            .collect();
        let mut steps = Results::default();
        let worked = WorkedPackage::new(
            Arc::new(found.unwrap_or_default()),
            &mut steps,
            |list, steps| {
                if let Some((draft, base)) = behind {
                    self.merge_published(draft, base, list, steps)?;
                }
                work(list, is_new, steps)
            },
        );
        let worked = match worked {
            Ok(worked) => worked,
            Err(CannotWork(result)) => {
                findings.push(*result);
                return Ok(VariantEntry::default().into());
            }
        };
        let is_changed = !worked.changes.is_empty();
        if let Some(pending) = self.start.filter(|one| one.is_proposed && is_changed) {
            findings.push(self.pending(pending, &worked.rendered));
            return Ok(worked.rendered.into());
        }
        let steps = steps.with_lines(|path| worked.files.text_after(&worked.changes, path));
        findings.append(steps);
        if !is_changed {
            return Ok(worked.rendered.into());
        }
        self.commit(worked, &parents)
    }

    /// Commits the changes to the branch of the draft.
    fn commit(
        &self,
        worked: WorkedPackage,
        parents: &[&str],
    ) -> Result<VariantOutcome, UsageError> {
        let branch = match self.start {
            Some(draft) => draft.branch.clone(),
            None => self.revisions.next_draft().map_err(UsageError::of)?,
        };
        let mut diffs = Vec::new();
        if self.mode.keeps_diffs {
            diffs = worked
                .diffs(&self.revisions.place)
                .map_err(UsageError::of)?;
        }
        if self.mode.writes {
            let commit = DraftCommit {
                branch: &branch,
                before: self.start.and_then(|draft| draft.local.as_deref()),
                parents,
                directory: &self.revisions.directory,
                changes: &worked.changes,
                package: &worked.files,
                message: &self.message(&worked.rendered, &branch),
            };
            let written = self.revisions.downstream.repository().write_draft(&commit);
            written.map_err(UsageError::of)?;
        }
        let mut done = VariantOutcome::from(worked.rendered);
        done.entry.draft = Some(branch);
        done.diffs = diffs;
        Ok(done)
    }

    /// The package at a commit; `None` if it does not exist there.
    fn package(&self, commit: &str) -> Result<Option<Package>, UsageError> {
        let directory = &self.revisions.directory;
        let repository = self.revisions.downstream.repository();
        if repository
            .tree_of(directory, commit)
            .map_err(UsageError::of)?
            .is_none()
        {
            return Ok(None);
        }
        let revision = Revision::named(commit, commit.to_owned());
        let read = repository
            .read(directory, revision)
            .map_err(UsageError::of)?;
        Ok(Some(read.package))
    }

    /// Merges what was published since the draft was created into the draft. Otherwise Porch's approval, which
    /// replaces the whole published package with the draft, would undo it.
    fn merge_published(
        &self,
        draft: &Unpublished,
        base: &str,
        list: &mut ResourceList,
        findings: &mut Results,
    ) -> Result<(), UsageError> {
        let package =
            |commit: Option<&str>| match commit.map_or(Ok(None), |commit| self.package(commit))? {
                Some(package) => ResourceList::from_package(package).map_err(UsageError::of),
                None => Ok(ResourceList::read_only()),
            };
        let original = package(draft.merge_base.as_deref())?;
        let upstream = package(Some(base))?;
        let defaults = &self.settings.defaults;
        let (options, rules) = (defaults.options, &defaults.rules);
        Merge::of_one_package(&original, &upstream, options, rules).run(list, findings)?;
        list.apply_insertions().map_err(UsageError::of)
    }

    fn pending(&self, pending: &Unpublished, rendered: &VariantEntry) -> FunctionResult {
        let message = format!(
            "`{}` waits for approval, so the package `{}` is not {}",
            pending.branch,
            &self.revisions.place,
            rendered.steps()
        );
        FunctionResult::warning(Reason::ProposalPending, message)
    }

    fn message(&self, rendered: &VariantEntry, branch: &str) -> String {
        let directory = &self.revisions.directory;
        let workspace = branch.rsplit('/').next().unwrap_or(branch);
        let note = draft_note(directory, workspace, rendered.upstream.as_deref());
        let (steps, owner) = (rendered.steps(), self.owner);
        format!("{directory}: {steps} for {owner}\n\n{note}")
    }

    /// Withdraws proposals to delete a package that its variant still targets; returns their branches.
    fn keep(&self, findings: &mut Results) -> Result<Vec<String>, UsageError> {
        let mut withdrawn = Vec::new();
        for (branch, at) in self.revisions.proposals() {
            if at.remote.is_some() {
                let message = format!(
                    "the deletion of the package `{}`, which its PackageVariant still describes, is proposed at the remote; \
                     `git push origin --delete {branch}` withdraws it",
                    &self.revisions.place
                );
                findings.push(FunctionResult::warning(Reason::ProposalPending, message));
            }
            if let Some(commit) = &at.local {
                if self.mode.writes {
                    let repository = self.revisions.downstream.repository();
                    let moved = repository.move_branch(&branch, Some(commit), None, "withdrawn");
                    moved.map_err(UsageError::of)?;
                }
                withdrawn.push(branch);
            }
        }
        Ok(withdrawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates revisions from texts such as `draft/own` and `proposed/none`: the kind of a revision, and its owner.
    fn revisions(written: &[&str]) -> Vec<Unpublished> {
        let one = |text: &&str| {
            let (kind, owner) = text.split_once('/').expect("KIND/OWNER");
            let mut revision = Unpublished {
                branch: (*text).to_owned(),
                is_proposed: kind == "proposed",
                ..Unpublished::default()
            };
            revision.ownership.owner = (owner != "none").then(|| owner.to_owned());
            revision
        };
        written.iter().map(one).collect()
    }

    #[test]
    fn a_variant_continues_its_own_revision_else_one_that_it_adopts() {
        const OWN: &str = "draft/own";
        const PENDING: &str = "proposed/own";
        const LOOSE: &str = "draft/none";
        const LOOSE_PENDING: &str = "proposed/none";
        const OTHER: &str = "draft/other";
        for (written, adopts, expected, left) in [
            (&[][..], false, "published", &[][..]),
            (&[OWN], false, OWN, &[]),
            (&[PENDING], false, PENDING, &[]),
            (&[PENDING, OWN], false, OWN, &[]),
            (&[LOOSE], false, "published", &[LOOSE]),
            (&[LOOSE], true, LOOSE, &[]),
            (&[LOOSE_PENDING], false, "published", &[LOOSE_PENDING]),
            (&[LOOSE_PENDING], true, LOOSE_PENDING, &[]),
            (&[LOOSE, OWN], false, OWN, &[LOOSE]),
            (&[LOOSE, OWN], true, OWN, &[LOOSE]),
            (&[LOOSE, PENDING], true, PENDING, &[LOOSE]),
            (&[LOOSE_PENDING, LOOSE], true, LOOSE, &[LOOSE_PENDING]),
            (&[OTHER], false, "published", &[]),
            (&[OTHER], true, "published", &[]),
        ] {
            let revisions = revisions(written);
            let (start, others) = start(&revisions, "own", adopts);
            let found = start.map_or("published", |found| found.branch.as_str());
            let others: Vec<&str> = others.iter().map(|other| other.branch.as_str()).collect();
            assert_eq!(
                (found, &others[..]),
                (expected, left),
                "{written:?} {adopts}"
            );
        }
    }
}
