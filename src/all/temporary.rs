//! A work tree for one run, so that the user's own stays as it is.
//!
//! It never has a branch, so that a run that is killed locks none: `git worktree prune` forgets such a work tree.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use krm_address::CommitId;
use krm_upstream::git::GitCommand;
use tempfile::TempDir;

use super::super::client::{self, Place};
use super::super::failure::{Failure, Result};
use super::super::own_repository::OwnRepository;

pub(super) struct TemporaryWorktree {
    repository: OwnRepository,
    root: PathBuf,
    own: OwnRepository,
    /// The directory that the user is in.
    before: RefCell<Option<PathBuf>>,
    _folder: TempDir,
}

/// The hooks of the user are for his own work tree.
const WITHOUT_HOOKS: [&str; 2] = ["-c", "core.hooksPath=/dev/null"];

impl TemporaryWorktree {
    /// Adds a work tree at a commit.
    pub(super) fn add(repository: &OwnRepository, head: &CommitId) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("krmv-").tempdir()?;
        // A package at the root is named after its directory.
        let name = repository.root().file_name().unwrap_or("package".as_ref());
        let root = folder.path().canonicalize()?.join(name);
        let add =
            GitCommand::new(&WITHOUT_HOOKS).words(&["worktree", "add", "--quiet", "--detach"]);
        let add = add.own_path("", &root).data().commit(head).done();
        client::text(Place::Own(repository), &add)?;
        let own = OwnRepository::around(&root)
            .filter(|own| own.root() == root)
            .ok_or_else(|| Failure::new("expected a new work tree of Git, found none"))?;
        Ok(Self {
            repository: repository.clone(),
            root,
            own,
            before: RefCell::new(None),
            _folder: folder,
        })
    }

    /// Goes to the place that the user is in, as the last commit has it, and returns these directories from there. So names
    /// and commands are those that the user can type.
    pub(super) fn enter(&self, directories: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let here = std::env::current_dir()?;
        let around = OwnRepository::around(&here);
        let around = around.filter(|around| around.root() == self.repository.root());
        let inside = around.map(|around| self.root.join(around.inner()));
        let is_as_given = inside.as_ref().is_some_and(|inside| inside.is_dir())
            && directories.iter().all(|directory| directory.is_relative());
        let target = inside
            .filter(|_| is_as_given)
            .unwrap_or_else(|| self.root.clone());
        let mut found = Vec::new();
        for directory in directories {
            let path = if is_as_given {
                directory.clone()
            } else {
                let inner = OwnRepository::around(directory).map(|one| one.inner());
                let inner = inner.filter(|inner| !inner.is_empty());
                PathBuf::from(inner.unwrap_or_else(|| ".".to_owned()))
            };
            if !target.join(&path).is_dir() {
                let message = format!(
                    "the last commit has no '{}', and --branch works on what is committed",
                    directory.display()
                );
                return Err(Failure::new(message).hint("git status"));
            }
            found.push(path);
        }
        std::env::set_current_dir(&target)?;
        self.before.replace(Some(here));
        Ok(found)
    }

    /// Brings all files to a commit.
    pub(super) fn check_out(&self, commit: &CommitId) -> Result<()> {
        let place = Place::Own(&self.own);
        let words = ["checkout", "--quiet", "--force", "--detach"];
        let check_out = GitCommand::new(&WITHOUT_HOOKS).words(&words);
        client::text(place, &check_out.own_commit("", commit))?;
        client::text(place, &GitCommand::new(&["clean", "-ffdxq"]))?;
        Ok(())
    }
}

impl Drop for TemporaryWorktree {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            // The directory may be gone meanwhile.
            let _ = std::env::set_current_dir(before);
        }
        let remove = GitCommand::new(&["worktree", "remove", "--force"]);
        let remove = remove.own_path("", Path::new(&self.root));
        // `git worktree prune` forgets the rest.
        let _ = client::text(Place::Own(&self.repository), &remove);
    }
}
