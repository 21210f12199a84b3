//! The package of a variant as a draft in its downstream repository.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::config::FleetSettings;
use super::directory::Mode;
use super::outcome::VariantOutcome;
use super::prune::without_owner;
use super::render::{Action, RenderedPackage, Worker};
use super::variants::{Destination, FleetVariant};
use crate::config::UsageError;
use crate::diff::{FileDiff, change_diffs};
use crate::fleet::{
    Downstream, Downstreams, PackageRevisions, RepositoryFacts, Unpublished, revision_name,
};
use crate::git::{DraftCommit, GitError, Revision, Snapshot, draft_note};
use crate::merge::package::Merge;
use crate::package::Package;
use crate::resource::NamespacedName;
use crate::resource_list::ResourceList;
use crate::results::{FunctionResult, Reason, Results};
use crate::schema::Schema;

/// Where the package of a variant is that is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start<'r> {
    /// On the base branch: changes become a new draft.
    Published,
    /// In a draft: changes become a commit on top.
    Draft(&'r Unpublished),
    /// In a proposed revision, which stays as it is.
    Proposed(&'r Unpublished),
}

/// Decides where a variant continues: in its newest draft, its newest proposed revision, one without owner if it adopts
/// them, or what is published. Gives those without owner that it leaves alone, too.
pub(super) fn start<'r>(
    unpublished: &'r [Unpublished],
    owner: &str,
    adopts: bool,
) -> (Start<'r>, Vec<&'r Unpublished>) {
    let find = |is_proposed, owner: Option<&str>| {
        unpublished.iter().find(|revision| {
            revision.is_proposed == is_proposed && revision.ownership.owner.as_deref() == owner
        })
    };
    let own = |owner| {
        let draft = find(false, owner).map(Start::Draft);
        draft.or_else(|| find(true, owner).map(Start::Proposed))
    };
    let start = own(Some(owner)).or_else(|| own(None).filter(|_| adopts));
    let others = unpublished.iter().filter(|revision| {
        let is_start =
            matches!(start, Some(Start::Draft(one) | Start::Proposed(one)) if one == *revision);
        revision.ownership.owner.is_none() && !is_start
    });
    let others = others.filter(|_| !adopts).collect();
    (start.unwrap_or(Start::Published), others)
}

/// The drafts of a fleet, as one thread writes them.
pub(super) struct Drafts<'f> {
    pub(super) downstreams: Downstreams<'f>,
    pub(super) repositories: &'f BTreeMap<NamespacedName, RepositoryFacts>,
    pub(super) settings: &'f FleetSettings,
    pub(super) mode: Mode,
}

/// The draft of a package.
#[derive(Default)]
pub(super) struct Done {
    rendered: RenderedPackage,
    pub(super) diffs: Vec<FileDiff>,
    /// The branch that was written, or would be.
    pub(super) branch: Option<String>,
    /// The branches that proposed the deletion of the package, and no longer do.
    withdrawn: Vec<String>,
    /// The names of its revisions that are not published, or of the latest one that is.
    targets: Vec<String>,
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

    /// Makes, updates or refreshes the package of a variant on a branch of its own.
    pub(super) fn render(
        &mut self,
        worker: &mut Worker<'_>,
        variant: &FleetVariant,
        place: &Destination,
    ) -> VariantOutcome {
        let mut said = Results::default();
        let done = self.run(worker, variant, place, &mut said);
        let done = done.unwrap_or_else(|error| {
            let result = FunctionResult::error(Reason::NotWritten, error.to_string());
            said.push(result.about(&variant.resource));
            Done::default()
        });
        let changes = done.branch.is_some() || !done.withdrawn.is_empty();
        let mut outcome = VariantOutcome::of(variant, &place.path, done.rendered, &said, changes);
        outcome.diffs = done.diffs;
        outcome.targets = done.targets;
        outcome.draft.clone_from(&done.branch);
        if let Some((branch, result)) = done.branch.zip(outcome.results.first_mut()) {
            result.message += &format!(", as the draft `{branch}`");
            result.tags.push(("draft".to_owned(), branch));
        }
        if let Some(result) = outcome.results.first_mut() {
            for branch in done.withdrawn {
                result.message +=
                    &format!("; its deletion is no longer proposed, `{branch}` is withdrawn");
            }
        }
        outcome
    }

    fn run(
        &mut self,
        worker: &mut Worker<'_>,
        variant: &FleetVariant,
        place: &Destination,
        said: &mut Results,
    ) -> Result<Done, UsageError> {
        let namespace = variant.resource.namespace.as_deref();
        let (downstream, revisions) = self.open(&place.path, namespace)?;
        let (start, others) = start(&revisions.unpublished, &variant.owner, place.adopts);
        for other in others {
            said.push(not_adopted(other, place).about(&variant.resource));
        }
        let draft = Draft {
            downstream: &downstream,
            revisions: &revisions,
            start,
            owner: &variant.owner,
            path: &place.path,
            settings: self.settings,
            mode: self.mode,
        };
        let work = DraftWork::Render {
            worker,
            variant,
            place,
        };
        let mut done = draft.run(work, said)?;
        if done.rendered.action.is_some() && !said.has_errors() {
            done.withdrawn = draft.keep(said)?;
        }
        let branch = done.branch.as_deref();
        done.targets = targets(&place.path, &revisions, &variant.owner, branch);
        Ok(done)
    }
}

pub(super) fn refused(error: GitError) -> UsageError {
    UsageError::of(error)
}

fn not_adopted(revision: &Unpublished, place: &Destination) -> FunctionResult {
    let Unpublished { branch, .. } = revision;
    let message = format!(
        "the branch `{branch}` of the package `{}` has no owner; left unchanged, \
         `spec.adoptionPolicy: adoptExisting` takes it over",
        place.path
    );
    FunctionResult::warning(Reason::NotAdopted, message).at("spec.adoptionPolicy")
}

/// The names of the PackageRevisions that Porch lists for a variant: drafts and proposed ones, else the latest published
/// one.
fn targets(
    path: &str,
    revisions: &PackageRevisions,
    owner: &str,
    written: Option<&str>,
) -> Vec<String> {
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
    let (repository, package) = path.split_once('/').unwrap_or((path, ""));
    names
        .map(|workspace| revision_name(repository, package, workspace))
        .collect()
}

/// The work on one package.
pub(super) struct Draft<'d> {
    pub(super) downstream: &'d Downstream,
    pub(super) revisions: &'d PackageRevisions,
    pub(super) start: Start<'d>,
    /// The PackageVariant that the package belongs to.
    pub(super) owner: &'d str,
    /// `<repository>/<package>`.
    pub(super) path: &'d str,
    pub(super) settings: &'d FleetSettings,
    pub(super) mode: Mode,
}

/// What is done to a package.
pub(super) enum DraftWork<'w, 'f> {
    /// It is rendered from its upstream.
    Render {
        worker: &'w mut Worker<'f>,
        variant: &'w FleetVariant,
        place: &'w Destination,
    },
    /// It no longer has an owner.
    Orphan,
}

impl DraftWork<'_, '_> {
    fn run(
        &mut self,
        list: &mut ResourceList,
        is_new: bool,
        results: &mut Results,
    ) -> Result<RenderedPackage, UsageError> {
        match self {
            Self::Render {
                worker,
                variant,
                place,
            } => worker.render(variant, place, list, is_new, results),
            Self::Orphan => {
                if let Err(error) = without_owner(list) {
                    results.push(*error);
                }
                Ok(RenderedPackage {
                    action: Some(Action::Orphaned),
                    ..RenderedPackage::default()
                })
            }
        }
    }

    /// The name of the PackageRevision that the package is made from.
    fn upstream(&mut self) -> Result<Option<String>, UsageError> {
        match self {
            Self::Render { worker, place, .. } => worker.package_revision(place).map(Some),
            Self::Orphan => Ok(None),
        }
    }
}

/// A package before the work on it.
struct Begun<'b> {
    list: ResourceList,
    found: Arc<Package>,
    is_new: bool,
    /// The commits that a new one is on top of.
    parents: Vec<&'b str>,
}

impl<'d> Draft<'d> {
    pub(super) fn run(
        &self,
        mut work: DraftWork<'_, '_>,
        said: &mut Results,
    ) -> Result<Done, UsageError> {
        let mut steps = Results::default();
        let Begun {
            mut list,
            found,
            is_new,
            parents,
        } = self.begin(&mut steps)?;
        let rendered = work.run(&mut list, is_new, &mut steps)?;
        let changes = match rendered.action {
            Some(_) if !steps.has_errors() => list.file_changes(),
            _ => Vec::new(),
        };
        let mut done = Done {
            rendered,
            ..Done::default()
        };
        if let (Start::Proposed(pending), false) = (self.start, changes.is_empty()) {
            said.push(self.pending(pending, &done.rendered));
            return Ok(done);
        }
        let steps = steps.with_lines(|path| found.text_after(&changes, path));
        steps.iter().for_each(|result| said.push(result.clone()));
        if changes.is_empty() {
            return Ok(done);
        }
        let draft = self.revision();
        let branch = match draft {
            Some(draft) => draft.branch.clone(),
            None => self
                .downstream
                .next_draft(self.revisions)
                .map_err(refused)?,
        };
        if self.mode.keeps_diffs {
            let diffs = changes.iter();
            let diffs = diffs.map(|change| change_diffs(&found, change, self.path));
            let diffs = diffs.collect::<Result<_, _>>();
            done.diffs = diffs.map_err(UsageError::of)?;
        }
        if self.mode.writes {
            let commit = DraftCommit {
                branch: &branch,
                before: draft.and_then(|draft| draft.local.as_deref()),
                parents: &parents,
                directory: &self.revisions.directory,
                changes: &changes,
                package: &found,
                message: &self.message(&done.rendered, &branch, work.upstream()?.as_deref()),
            };
            let written = self.downstream.repository().write_draft(&commit);
            written.map_err(refused)?;
        }
        done.branch = Some(branch);
        Ok(done)
    }

    /// The draft or proposed revision that the variant continues.
    fn revision(&self) -> Option<&'d Unpublished> {
        match self.start {
            Start::Published => None,
            Start::Draft(revision) | Start::Proposed(revision) => Some(revision),
        }
    }

    /// Reads the package where the variant continues.
    fn begin(&self, said: &mut Results) -> Result<Begun<'d>, UsageError> {
        let revision = self.revision();
        if let Some(Unpublished { branch, .. }) = revision.filter(|one| one.has_diverged) {
            let message = format!(
                "the branch `{branch}` and its remote-tracking branch each have commits that the other lacks; \
                 merge them first"
            );
            return Err(UsageError::Refused(message));
        }
        let base = self.downstream.base.as_ref();
        let base = base.map(|base| base.commit.as_str());
        let commit = revision.map(|revision| revision.commit.as_str()).or(base);
        let snapshot = commit.map_or(Ok(None), |commit| self.snapshot(commit))?;
        let is_new = snapshot.is_none();
        let found = Arc::new(snapshot.map(|found| found.package).unwrap_or_default());
        let list = ResourceList::from_package(Arc::clone(&found));
        let mut list = list.map_err(UsageError::of)?;
        let mut parents: Vec<&str> = commit.into_iter().collect();
        if let Some((revision, base)) = revision.filter(|one| one.is_behind).zip(base) {
            self.merge_published(revision, base, &mut list, said)?;
            parents.push(base);
        }
        Ok(Begun {
            list,
            found,
            is_new,
            parents,
        })
    }

    /// The package at a commit; `None` if it is not there.
    fn snapshot(&self, commit: &str) -> Result<Option<Snapshot>, UsageError> {
        let directory = &self.revisions.directory;
        let repository = self.downstream.repository();
        if repository
            .tree_of(directory, commit)
            .map_err(refused)?
            .is_none()
        {
            return Ok(None);
        }
        let revision = Revision::named(commit, commit.to_owned());
        repository
            .read(directory, revision)
            .map(Some)
            .map_err(refused)
    }

    /// Merges what was published since the draft was made into it: Porch's approval puts the whole package of the draft in
    /// the place of the published one.
    fn merge_published(
        &self,
        draft: &Unpublished,
        base: &str,
        list: &mut ResourceList,
        said: &mut Results,
    ) -> Result<(), UsageError> {
        let package = |commit: Option<&str>| match commit
            .map_or(Ok(None), |commit| self.snapshot(commit))?
        {
            Some(snapshot) => ResourceList::from_package(snapshot.package).map_err(UsageError::of),
            None => Ok(ResourceList::read_only()),
        };
        let original = package(draft.merge_base.as_deref())?;
        let upstream = package(Some(base))?;
        let defaults = &self.settings.defaults;
        let mut options = defaults.options;
        options.allow_empty = true;
        let merge = Merge {
            original: &original,
            upstream: &upstream,
            options,
            rules: &defaults.rules,
            schema: Schema::builtin(),
            is_overwritten: &|_, _, _| false,
            allow_empty_by: "",
            is_one_package: true,
        };
        merge.run(list, said)?;
        list.settle().map_err(UsageError::of)
    }

    fn pending(&self, pending: &Unpublished, rendered: &RenderedPackage) -> FunctionResult {
        let message = format!(
            "`{}` waits for approval, so the package `{}` is not {}",
            pending.branch,
            self.path,
            rendered.steps()
        );
        FunctionResult::warning(Reason::ProposalPending, message)
    }

    fn message(&self, rendered: &RenderedPackage, branch: &str, upstream: Option<&str>) -> String {
        let directory = &self.revisions.directory;
        let workspace = branch.rsplit('/').next().unwrap_or(branch);
        let note = draft_note(directory, workspace, upstream);
        let (steps, owner) = (rendered.steps(), self.owner);
        format!("{directory}: {steps} for {owner}\n\n{note}")
    }

    /// Withdraws the proposals to delete a package that its variant wants; gives their branches.
    fn keep(&self, said: &mut Results) -> Result<Vec<String>, UsageError> {
        let mut withdrawn = Vec::new();
        for (branch, at) in self.downstream.proposals(self.revisions) {
            if at.remote.is_some() {
                let message = format!(
                    "the deletion of the package `{}`, which its PackageVariant still describes, is proposed at the remote; \
                     `git push origin --delete {branch}` withdraws it",
                    self.path
                );
                said.push(FunctionResult::warning(Reason::ProposalPending, message));
            }
            if let Some(commit) = &at.local {
                if self.mode.writes {
                    let repository = self.downstream.repository();
                    let moved = repository.move_branch(&branch, Some(commit), None, "withdrawn");
                    moved.map_err(refused)?;
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

    /// `draft/own`, `proposed/none` and the like: the kind of a revision, and its owner.
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
            (&[LOOSE, OWN], true, OWN, &[]),
            (&[LOOSE, PENDING], true, PENDING, &[]),
            (&[LOOSE_PENDING, LOOSE], true, LOOSE, &[]),
            (&[OTHER], false, "published", &[]),
            (&[OTHER], true, "published", &[]),
        ] {
            let revisions = revisions(written);
            let (start, others) = start(&revisions, "own", adopts);
            let found = match start {
                Start::Published => "published",
                Start::Draft(found) | Start::Proposed(found) => &found.branch,
            };
            let others: Vec<&str> = others.iter().map(|other| other.branch.as_str()).collect();
            assert_eq!(
                (found, &others[..]),
                (expected, left),
                "{written:?} {adopts}"
            );
        }
    }
}
