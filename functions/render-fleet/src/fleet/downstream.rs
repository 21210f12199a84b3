//! Reads the revisions of packages in downstream repositories from Git, as Porch does.
//!
//! ```text
//! main                                    the published packages; drafts are based on it
//! drafts/site/web/packagevariant-2        a draft of the package site/web
//! proposed/site/web/packagevariant-3      a proposed revision, which waits for approval
//! tag site/web/v1                         a published revision
//! deletionProposed/site/web/v1            a proposal to delete v1, which waits for approval
//! ```
//!
//! `FLEET/<repository>` is a Git repository, or a folder in a Git repository that holds many downstream repositories.
//!
//! Source: contract, render-fleet, Drafts.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::ClaimedPackage;
use krm_core::kptfile::Ownership;
use krm_package::{PackageError, check_folders, is_git, is_temporary, join};
use krm_upstream::git::{
    Base, Branch, GitError, History, References, Repository, numbered_workspace, repository_around,
    workspace_number,
};
use render_variant::RepositoryFacts;

/// The downstream repositories of a fleet. The last one that was used stays open.
pub(crate) struct Downstreams<'f> {
    fleet: &'f Path,
    opened: Option<Rc<Opened>>,
}

/// An open Git repository with its branches and tags.
struct Opened {
    root: PathBuf,
    repository: Repository,
    references: References,
    /// Histories by the commit of the base branch.
    histories: RefCell<HashMap<String, Rc<History>>>,
}

#[derive(Clone)]
pub(crate) struct DownstreamRepository {
    /// The name of its folder in the fleet.
    name: String,
    opened: Rc<Opened>,
    /// The folder with its packages, from the root of the Git repository; empty for the root.
    directory: String,
    /// The branch that drafts are based on; `None` in a repository without commits.
    pub(crate) base: Option<Base>,
}

/// The revisions of a package.
pub(crate) struct PackageRevisions {
    pub(crate) downstream: DownstreamRepository,
    /// The package's directory from the root of the Git repository, as in the names of branches and tags.
    pub(crate) directory: String,
    /// The package's path in the fleet, `<repository>/<package>`.
    pub(crate) place: String,
    /// The drafts and proposed revisions that are not merged yet, the highest workspace number first.
    pub(crate) unpublished: Vec<Unpublished>,
    /// The published revisions, sorted by number.
    pub(crate) published: Vec<Published>,
    /// The local branches of drafts that are published and that the remote no longer has, with their commits.
    pub(crate) finished: Vec<(String, String)>,
    /// The highest workspace number in the names of branches and tags.
    highest_workspace: u64,
}

/// A draft or a proposed revision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Unpublished {
    /// The branch, without `refs/heads/`.
    pub(crate) branch: String,
    pub(crate) workspace: String,
    pub(crate) is_proposed: bool,
    /// Its newest commit, local or at the remote.
    pub(crate) commit: String,
    /// The commit of the local branch; `None` if there is no local branch.
    pub(crate) local: Option<String>,
    pub(crate) is_at_remote: bool,
    /// Whether the local branch and the branch at the remote each have commits that the other lacks.
    pub(crate) has_diverged: bool,
    /// Whether other changes of the package have been published since it branched off.
    pub(crate) is_behind: bool,
    /// The newest commit that it has in common with the base branch.
    pub(crate) merge_base: Option<String>,
    pub(crate) ownership: Ownership,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Published {
    pub(crate) number: u64,
    /// The part of its tag after the package: `v1`.
    pub(crate) name: String,
    pub(crate) commit: String,
    /// The workspace that it was created in, as recorded by Porch; its name if there is no record.
    pub(crate) workspace: String,
}

/// The steps that propose the deletion of a package.
#[derive(Debug, Default)]
pub(crate) struct Deletion {
    /// The drafts and proposed revisions to be deleted.
    pub(crate) withdrawn: Vec<Unpublished>,
    /// The branches to be created, which propose the deletion of published revisions, and their commits.
    pub(crate) proposed: Vec<(String, String)>,
    /// The branches of this kind that already exist.
    pub(crate) pending: Vec<String>,
}

impl Opened {
    /// The packages below a directory that have drafts or proposed revisions.
    fn drafted_in(&self, directory: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for kind in [DRAFTS, PROPOSED] {
            let prefix = match directory {
                "" => kind.to_owned(),
                directory => format!("{kind}{directory}/"),
            };
            let branches = self.references.branches_below(&prefix);
            let packages = branches.filter_map(|(name, _)| name.rsplit_once('/'));
            found.extend(packages.map(|(package, _)| package.to_owned()));
        }
        found
    }
}

impl<'f> Downstreams<'f> {
    pub(crate) fn new(fleet: &'f Path) -> Self {
        Self {
            fleet,
            opened: None,
        }
    }

    /// The names of the repositories and folders in the fleet that may be downstream repositories.
    ///
    /// # Errors
    /// [`GitError`]: the fleet, or the repository that contains it, cannot be read.
    pub(crate) fn names(&mut self) -> Result<BTreeSet<String>, GitError> {
        let mut names = BTreeSet::new();
        let refused = |error| PackageError::io("read", self.fleet)(error);
        let entries = match fs::read_dir(self.fleet) {
            // The first drafts create it.
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            entries => Some(entries.map_err(refused)?),
        };
        for entry in entries.into_iter().flatten() {
            let entry = entry.map_err(refused)?;
            let name = entry.file_name().into_string();
            let name = name
                .ok()
                .filter(|name| !is_git(name) && !is_temporary(name));
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            names.extend(name.filter(|_| is_folder));
        }
        // Folders that exist only in drafts.
        if let Some((root, path)) = repository_around(self.fleet) {
            let drafted = self.opened(root)?.drafted_in(&path);
            let folders = drafted.iter().filter_map(|place| place.split_once('/'));
            names.extend(folders.map(|(name, _)| name.to_owned()));
        }
        Ok(names)
    }

    /// Opens the downstream repository with this name.
    ///
    /// # Errors
    /// [`GitError`]: there is no repository, or it lacks the branch that the Repository object names.
    pub(crate) fn open(
        &mut self,
        name: &str,
        facts: Option<&RepositoryFacts>,
    ) -> Result<DownstreamRepository, GitError> {
        check_folders(self.fleet, &format!("{name}/"))?;
        let folder = self.fleet.join(name);
        let (root, path) = repository_around(&folder).unwrap_or((folder, String::new()));
        let opened = self.opened(root)?;
        let named = facts.and_then(|facts| facts.branch.as_deref());
        let base = opened.repository.base(&opened.references, named)?;
        let directory = facts.map_or("", |facts| facts.directory.as_str());
        Ok(DownstreamRepository {
            name: name.to_owned(),
            directory: join_once(&path, directory),
            base,
            opened,
        })
    }

    fn opened(&mut self, root: PathBuf) -> Result<Rc<Opened>, GitError> {
        if let Some(opened) = self.opened.as_ref().filter(|opened| opened.root == root) {
            return Ok(Rc::clone(opened));
        }
        let repository = Repository::open_for_drafts(&root)?;
        let opened = Rc::new(Opened {
            references: repository.read_references()?,
            root,
            repository,
            histories: RefCell::default(),
        });
        self.opened = Some(Rc::clone(&opened));
        Ok(opened)
    }
}

impl DownstreamRepository {
    pub(crate) fn repository(&self) -> &Repository {
        &self.opened.repository
    }

    /// The revisions of a package.
    ///
    /// # Errors
    /// [`GitError`]: an object that is missing or damaged.
    pub(crate) fn package(&self, package: &str) -> Result<PackageRevisions, GitError> {
        let directory = join(&self.directory, package);
        let place = join(&self.name, package);
        let published = self.published(&directory)?;
        let (mut unpublished, mut finished) = (Vec::new(), Vec::new());
        let references = &self.opened.references;
        let mut numbers: Vec<u64> = Vec::new();
        for published in &published {
            numbers.extend(workspace_number(&published.workspace));
        }
        for kind in [DRAFTS, PROPOSED, DELETION_PROPOSED] {
            let prefix = format!("{kind}{directory}/");
            for (workspace, branch) in references.branches_in(&prefix) {
                numbers.extend(workspace_number(workspace));
                if kind == DELETION_PROPOSED {
                    continue;
                }
                if let Some(commit) = self.finished(&directory, workspace, branch)? {
                    finished.push((format!("{prefix}{workspace}"), commit));
                    continue;
                }
                let found = self.unpublished(&directory, kind, workspace, branch)?;
                unpublished.extend(found.map(|mut found| {
                    if found.ownership.is_copied_to(&place) {
                        found.ownership = Ownership::default();
                    }
                    found
                }));
            }
        }
        unpublished.sort_by(|a, b| {
            let rank = |one: &Unpublished| (workspace_number(&one.workspace), one.branch.clone());
            rank(b).cmp(&rank(a))
        });
        Ok(PackageRevisions {
            downstream: self.clone(),
            directory,
            place,
            unpublished,
            published,
            finished,
            highest_workspace: numbers.into_iter().max().unwrap_or_default(),
        })
    }

    fn published(&self, directory: &str) -> Result<Vec<Published>, GitError> {
        let (repository, references) = (&self.opened.repository, &self.opened.references);
        let mut published = Vec::new();
        for (name, object) in references.tags_in(&format!("{directory}/")) {
            let number = name.strip_prefix('v').unwrap_or(name).parse();
            let Some((number, commit)) = number.ok().zip(repository.commit_with_id(object)) else {
                continue;
            };
            let workspace = repository.workspace_of(&commit, directory)?;
            published.push(Published {
                number,
                name: name.to_owned(),
                commit,
                workspace: workspace.unwrap_or_else(|| format!("v{number}")),
            });
        }
        published.sort_by_key(|published| published.number);
        Ok(published)
    }

    /// The commit of a local branch that Porch or this program wrote, if the base branch contains it, and the remote has
    /// the base branch but no such branch. A branch without a note of this workspace is the work of a person.
    fn finished(
        &self,
        directory: &str,
        workspace: &str,
        branch: &Branch,
    ) -> Result<Option<String>, GitError> {
        let Some(commit) = branch.local.as_ref().filter(|_| branch.remote.is_none()) else {
            return Ok(None);
        };
        let base = self.base.as_ref();
        let base = base.and_then(|base| self.opened.references.branch(&base.name));
        let is_pushed = base.is_some_and(|base| base.remote.is_some());
        if !is_pushed || !self.history()?.contains(commit) {
            return Ok(None);
        }
        let noted = self.repository().workspace_of(commit, directory)?;
        Ok((noted.as_deref() == Some(workspace)).then(|| commit.clone()))
    }

    /// A draft or a proposed revision; `None` if the base branch contains it, or if the branch does not contain the
    /// package.
    fn unpublished(
        &self,
        directory: &str,
        kind: &str,
        workspace: &str,
        branch: &Branch,
    ) -> Result<Option<Unpublished>, GitError> {
        let repository = self.repository();
        let newest = repository.newest_of(branch)?;
        let has_diverged = newest.is_none();
        let Some(commit) = newest.or_else(|| branch.local.clone()) else {
            return Ok(None);
        };
        let Some(tree) = repository.tree_of(directory, &commit)? else {
            return Ok(None);
        };
        let (mut merge_base, mut is_behind) = (None, false);
        if let Some(base) = &self.base {
            if self.history()?.contains(&commit) {
                return Ok(None);
            }
            merge_base = repository.merge_base(&commit, &base.commit)?;
            if merge_base.is_none() && repository.is_shallow() {
                return Err(repository.too_shallow(&commit));
            }
            let before = match &merge_base {
                Some(before) => repository.tree_of(directory, before)?,
                None => None,
            };
            let now = repository.tree_of(directory, &base.commit)?;
            is_behind = now.is_some() && now != before;
            let until = merge_base.as_deref();
            // A draft that was squashed or rebased counts as merged too.
            if is_behind && repository.had_tree(directory, &tree, &base.commit, until)? {
                return Ok(None);
            }
        }
        Ok(Some(Unpublished {
            branch: format!("{kind}{directory}/{workspace}"),
            workspace: workspace.to_owned(),
            is_proposed: kind == PROPOSED,
            ownership: self.ownership(directory, &commit)?,
            local: branch.local.clone(),
            is_at_remote: branch.remote.is_some(),
            commit,
            has_diverged,
            is_behind,
            merge_base,
        }))
    }

    /// The packages with owners in their Kptfiles, on the base branch and in drafts. A package is listed once for
    /// each owner, with the deletion policy of the owner's newest draft.
    ///
    /// # Errors
    /// [`GitError`]: an object that is missing or damaged.
    pub(crate) fn claimed(&self) -> Result<Vec<ClaimedPackage>, GitError> {
        let mut found = BTreeMap::new();
        let add = |found: &mut BTreeMap<_, _>, package: &str, ownership: Ownership| {
            let place = join(&self.name, package);
            if let Some(claimed) = ClaimedPackage::new(&place, ownership) {
                let owner = claimed.owner.clone();
                found.entry((place, owner)).or_insert(claimed);
            }
        };
        if let Some(Base { commit, .. }) = &self.base {
            let packages = self.repository();
            let packages = packages.folders_with("Kptfile", &self.directory, commit)?;
            for package in packages.iter().filter(|package| !package.is_empty()) {
                let directory = join(&self.directory, package);
                let ownership = self.ownership(&directory, commit)?;
                add(&mut found, package, ownership);
            }
        }
        for package in self.opened.drafted_in(&self.directory) {
            let revisions = self.package(&package)?.unpublished;
            // The newest comes first.
            let mut known = HashSet::new();
            for Unpublished { ownership, .. } in revisions {
                let Some(owner) = ownership.owner.clone() else {
                    continue;
                };
                if known.insert(owner.clone()) {
                    found.remove(&(join(&self.name, &package), owner));
                }
                add(&mut found, &package, ownership);
            }
        }
        Ok(found.into_values().collect())
    }

    /// The ownership in the Kptfile of a package at a commit. A Kptfile that is not YAML records none.
    fn ownership(&self, directory: &str, commit: &str) -> Result<Ownership, GitError> {
        let path = format!("{directory}/Kptfile");
        let bytes = self.repository().file_at(commit, &path)?;
        Ok(bytes.map(Ownership::of_bytes).unwrap_or_default())
    }

    fn history(&self) -> Result<Rc<History>, GitError> {
        let Some(base) = &self.base else {
            return Ok(Rc::default());
        };
        let mut histories = self.opened.histories.borrow_mut();
        if let Some(known) = histories.get(&base.commit) {
            return Ok(Rc::clone(known));
        }
        let history = Rc::new(self.repository().read_history(&base.commit)?);
        histories.insert(base.commit.clone(), Rc::clone(&history));
        Ok(history)
    }
}

impl PackageRevisions {
    /// The branch for the next draft of a package.
    ///
    /// # Errors
    /// [`GitError`]: an object that is missing or damaged.
    pub(crate) fn next_draft(&self) -> Result<String, GitError> {
        let history = self.downstream.history()?;
        let noted = history.highest_number(&self.directory);
        let highest = self.highest_workspace.max(noted.unwrap_or_default());
        let workspace = numbered_workspace(highest.saturating_add(1));
        Ok(format!("{DRAFTS}{}/{workspace}", self.directory))
    }

    /// The steps that propose the deletion of an owner's package.
    ///
    /// # Errors
    /// [`GitError`]: an object that is missing or damaged.
    pub(crate) fn deletion(&self, owner: &str) -> Result<Deletion, GitError> {
        let repository = &self.downstream;
        let mut deletion = Deletion::default();
        for draft in &self.unpublished {
            if draft.is_owned_by(owner) {
                deletion.withdrawn.push(draft.clone());
            }
        }
        let DownstreamRepository { base, opened, .. } = repository;
        let is_owned = |commit: &str| -> Result<bool, GitError> {
            let ownership = repository.ownership(&self.directory, commit)?;
            let is_copy = ownership.is_copied_to(&self.place);
            Ok(ownership.owner.as_deref() == Some(owner) && !is_copy)
        };
        let mut published = Vec::new();
        for Published { name, commit, .. } in &self.published {
            if is_owned(commit)? {
                published.push((name, commit));
            }
        }
        // Porch deletes the package on the base branch after all of its revisions.
        if let (true, Some(base)) = (published.is_empty(), base)
            && opened.references.branch(&base.name).is_some()
            && is_owned(&base.commit)?
        {
            published.push((&base.name, &base.commit));
        }
        for (revision, commit) in published {
            let branch = self.proposal(revision);
            match opened.references.branch(&branch) {
                Some(_) => deletion.pending.push(branch),
                None => deletion.proposed.push((branch, commit.clone())),
            }
        }
        Ok(deletion)
    }

    /// The existing branches that propose to delete the latest revision of a package, and the package on the base
    /// branch.
    pub(crate) fn proposals(&self) -> Vec<(String, &Branch)> {
        let latest = self.published.last();
        let base = self.downstream.base.as_ref().map(|base| base.name.as_str());
        let names = latest.map(|latest| latest.name.as_str()).into_iter();
        let branches = names.chain(base).filter_map(|name| {
            let branch = self.proposal(name);
            let found = self.downstream.opened.references.branch(&branch)?;
            Some((branch, found))
        });
        branches.collect()
    }

    /// The name of the branch that proposes the deletion of a revision.
    fn proposal(&self, revision: &str) -> String {
        format!("{DELETION_PROPOSED}{}/{revision}", self.directory)
    }
}

impl Unpublished {
    pub(crate) fn is_owned_by(&self, owner: &str) -> bool {
        self.ownership.owner.as_deref() == Some(owner)
    }
}

const DRAFTS: &str = "drafts/";
const PROPOSED: &str = "proposed/";
const DELETION_PROPOSED: &str = "deletionProposed/";

/// The directory of a Repository object, below the folder of the downstream repository. A directory that already
/// begins with that folder is relative to the root.
fn join_once(folder: &str, directory: &str) -> String {
    let is_from_root = directory
        .strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    match directory {
        "" => folder.to_owned(),
        _ if is_from_root => directory.to_owned(),
        _ => join(folder, directory),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_is_the_folder_counts_once() {
        for (folder, directory, expected) in [
            ("", "", ""),
            ("", "site", "site"),
            ("clusters/edge", "", "clusters/edge"),
            ("clusters/edge", "clusters/edge", "clusters/edge"),
            ("clusters/edge", "clusters/edge/site", "clusters/edge/site"),
            (
                "clusters/edge",
                "clusters/edge-2",
                "clusters/edge/clusters/edge-2",
            ),
            ("clusters/edge", "site", "clusters/edge/site"),
        ] {
            assert_eq!(
                join_once(folder, directory),
                expected,
                "{folder} {directory}"
            );
        }
    }
}
