//! The package of a variant as a draft in its downstream repository.

use std::collections::BTreeMap;
use std::path::Path;

use super::outcome::VariantOutcome;
use super::render::{Rendered, Worker};
use super::variants::{FleetVariant, Place};
use crate::config::UsageError;
use crate::diff::FileDiff;
use crate::git::{Draft, DraftCommit, GitError, Repository, Revision};
use crate::kptfile::{Ownership, root_kptfile};
use crate::package::{FileChange, USUAL_MODE, check_folders};
use crate::resource_list::ResourceList;
use crate::results::{FunctionResult, Reason, Results};

use super::directory::Mode;

/// Makes, updates or refreshes the package of a variant on a branch of its own.
pub(super) fn on_draft(
    worker: &mut Worker<'_>,
    fleet: &Path,
    variant: &FleetVariant,
    place: &Place,
    mode: Mode,
) -> VariantOutcome {
    let mut said = Results::default();
    let done = run(worker, fleet, variant, place, mode, &mut said);
    let (rendered, diffs, branch) = done.unwrap_or_else(|error| {
        let result = FunctionResult::error(Reason::NotWritten, error.to_string());
        said.push(result.about(&variant.resource));
        (Rendered::default(), Vec::new(), None)
    });
    let changes = branch.is_some();
    let mut outcome = VariantOutcome::of(variant, &place.path, rendered, &said, changes);
    outcome.diffs = diffs;
    outcome.draft.clone_from(&branch);
    if let Some((branch, result)) = branch.zip(outcome.results.first_mut()) {
        result.message += &format!(", as the draft `{branch}`");
        result.tags.push(("draft".to_owned(), branch));
    }
    outcome
}

/// A package at a commit.
struct Found {
    files: BTreeMap<String, Vec<u8>>,
    modes: BTreeMap<String, u32>,
}

type Done = (Rendered, Vec<FileDiff>, Option<String>);

fn run(
    worker: &mut Worker<'_>,
    fleet: &Path,
    variant: &FleetVariant,
    place: &Place,
    mode: Mode,
    said: &mut Results,
) -> Result<Done, UsageError> {
    let refused = |error: GitError| UsageError(error.to_string());
    let (repository, directory) = place.path.split_once('/').unwrap_or((&place.path, ""));
    let linked = check_folders(fleet, &format!("{repository}/"));
    linked.map_err(|error| UsageError(error.to_string()))?;
    let repository = Repository::open_for_drafts(&fleet.join(repository)).map_err(refused)?;
    let draft = own_draft(&repository, &place.path, directory, variant)?;
    let parent = match &draft {
        Some(draft) => Some(draft.commit.clone()),
        None => repository.default_commit().map_err(refused)?,
    };
    let found = match &parent {
        Some(commit) => read(&repository, directory, commit)?,
        None => None,
    };
    let is_new = found.is_none();
    let Found { files, modes } = found.unwrap_or(Found {
        files: BTreeMap::new(),
        modes: BTreeMap::new(),
    });
    let list = ResourceList::from_memory(files.clone());
    let mut list = list.map_err(|error| UsageError(error.to_string()))?;
    let rendered = worker.render(variant, place, &mut list, is_new, said)?;
    if said.has_errors() || rendered.action.is_none() {
        return Ok((rendered, Vec::new(), None));
    }
    let changes = list.file_changes();
    if changes.is_empty() {
        return Ok((rendered, Vec::new(), None));
    }
    let mut diffs = Vec::new();
    if mode.keeps_diffs {
        diffs.extend(
            changes
                .iter()
                .map(|change| diff(&files, change, &place.path)),
        );
    }
    let continues = draft.is_some();
    let branch = draft.map_or_else(|| repository.next_draft(directory), |draft| draft.branch);
    if mode.writes {
        let action = rendered.action.map_or("", super::Action::as_str);
        let to = rendered.to.as_deref().unwrap_or_default();
        let message = format!("{directory}: {action} from {to} for {}\n", variant.owner);
        let commit = DraftCommit {
            branch: &branch,
            parent: parent.as_deref(),
            continues,
            directory,
            changes: &changes,
            modes: &modes,
            message: &message,
        };
        repository.write_draft(&commit).map_err(refused)?;
    }
    Ok((rendered, diffs, Some(branch)))
}

/// The newest draft of the package that was made for this variant.
fn own_draft(
    repository: &Repository,
    path: &str,
    directory: &str,
    variant: &FleetVariant,
) -> Result<Option<Draft>, UsageError> {
    let refused = |error: GitError| UsageError(error.to_string());
    for draft in repository.drafts(directory).map_err(refused)? {
        let Some(found) = read(repository, directory, &draft.commit)? else {
            continue;
        };
        let kptfile = found.files.get_key_value("Kptfile");
        let kptfile = kptfile.map(|(path, bytes)| (path.clone(), bytes.clone()));
        let kptfile: BTreeMap<_, _> = kptfile.into_iter().collect();
        let list = ResourceList::from_memory(kptfile);
        let list = list.map_err(|error| UsageError(error.to_string()))?;
        let owner = root_kptfile(&list).map(|id| list.read(id, Ownership::read));
        let is_own = |found: &Ownership| {
            found.owner.as_ref() == Some(&variant.owner) && !found.is_copied_to(path)
        };
        if owner.is_some_and(|owner| is_own(&owner)) {
            return Ok(Some(draft));
        }
    }
    Ok(None)
}

/// The package at a commit; `None` if it is not there.
fn read(
    repository: &Repository,
    directory: &str,
    commit: &str,
) -> Result<Option<Found>, UsageError> {
    let refused = |error: GitError| UsageError(error.to_string());
    let tree = repository.tree_of(directory, commit).map_err(refused)?;
    if tree.is_none() {
        return Ok(None);
    }
    let revision = Revision {
        given: commit.to_owned(),
        commit: commit.to_owned(),
        upstream_ref: commit.to_owned(),
        lock_ref: commit.to_owned(),
        is_ambiguous: false,
    };
    let snapshot = repository.read(directory, revision).map_err(refused)?;
    let mut found = Found {
        files: BTreeMap::new(),
        modes: BTreeMap::new(),
    };
    for file in snapshot.files {
        found.modes.insert(file.path.clone(), file.content.mode);
        found
            .files
            .insert(file.path, file.content.text.as_bytes().to_vec());
    }
    for file in snapshot.others {
        found.modes.insert(file.path.clone(), file.mode);
        found.files.insert(file.path, file.bytes);
    }
    Ok(Some(found))
}

fn diff(files: &BTreeMap<String, Vec<u8>>, change: &FileChange, folder: &str) -> FileDiff {
    let path = change.path();
    let before = files.get(path).map(|bytes| (bytes.as_slice(), USUAL_MODE));
    FileDiff::new(path, &format!("{folder}/{path}"), before, change.after())
}
