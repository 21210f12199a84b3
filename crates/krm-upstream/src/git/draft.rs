//! Commits on the branches of drafts, and branches that propose a deletion.
//!
//! ```text
//! refs/heads/drafts/nginx/packagevariant-2     on top of the base branch
//! refs/heads/deletionProposed/nginx/v1
//! ```
//!
//! A draft begins as one commit; each update adds a commit on top. This module does not merge, tag or push anything,
//! and touches no work tree.
//!
//! Source: contract, render-fleet, Drafts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::actor::Signature;
use gix::bstr::BStr;
use gix::objs::Tree;
use gix::objs::tree::{Editor, EntryKind};
use gix::open::permissions::{Config, Environment};
use gix::refs::transaction::{Change, LogChange, PreviousValue, RefEdit, RefLog};
use gix::refs::{FullName, Target};
use gix::sec::Permission;

use super::error::one_line;
use super::{GitError, Repository};
use krm_package::{FileChange, Package, check_package_path, folders_above};

/// A commit on the branch of a draft.
#[derive(Debug)]
pub struct DraftCommit<'d> {
    /// The branch, without `refs/heads/`.
    pub branch: &'d str,
    /// The commit that the branch must still point to; `None` if the branch is to be created.
    pub before: Option<&'d str>,
    /// The package's files come from the first parent, everything else from the last. Empty in a repository without
    /// commits.
    pub parents: &'d [&'d str],
    /// The directory of the package, from the repository's root.
    pub directory: &'d str,
    pub changes: &'d [FileChange],
    /// The package before the changes. Its files keep their permission bits.
    pub package: &'d Package,
    pub message: &'d str,
}

impl Repository {
    /// Opens a repository to write drafts to. Git's own environment and configuration determine author and committer.
    ///
    /// # Errors
    /// As [`Repository::open`].
    pub fn open_for_drafts(path: &Path) -> Result<Self, GitError> {
        let mut permissions = gix::open::Permissions::isolated();
        permissions.env = Environment {
            identity: Permission::Allow,
            home: Permission::Allow,
            xdg_config_home: Permission::Allow,
            git_prefix: Permission::Allow,
            ..permissions.env
        };
        permissions.config = Config {
            system: true,
            git: true,
            user: true,
            includes: true,
            ..permissions.config
        };
        Self::open_with(path, gix::open::Options::default().permissions(permissions))
    }

    /// Writes a commit to the branch of a draft, if the branch still points to the commit that was read.
    ///
    /// # Errors
    /// [`GitError::Unwritable`]: Git does not know the author; the branch moved or is checked out; the file system
    /// refuses.
    pub fn write_draft(&self, draft: &DraftCommit<'_>) -> Result<(), GitError> {
        let failed = |error: &dyn std::error::Error| self.unwritable(draft.branch, one_line(error));
        let (author, committer) = self.identities(draft.branch)?;
        let tree = self.tree_with(draft)?;
        let parents = draft.parents.iter().map(|id| self.id_of(id));
        let commit = gix::objs::Commit {
            message: draft.message.into(),
            tree,
            author,
            committer,
            encoding: None,
            parents: parents.collect::<Result<_, _>>()?,
            extra_headers: Vec::new(),
        };
        let id = self.git.write_object(&commit);
        let id = id.map_err(|error| failed(&error))?.to_string();
        let subject = draft.message.lines().next().unwrap_or_default();
        self.move_branch(draft.branch, draft.before, Some(&id), subject)
    }

    /// Moves a branch from one commit to another. Creates the branch if `before` is `None`; deletes it if `after` is
    /// `None`.
    ///
    /// # Errors
    /// As [`Repository::write_draft`].
    pub fn move_branch(
        &self,
        branch: &str,
        before: Option<&str>,
        after: Option<&str>,
        why: &str,
    ) -> Result<(), GitError> {
        let failed = |error: &dyn std::error::Error| self.unwritable(branch, one_line(error));
        let name = FullName::try_from(format!("refs/heads/{branch}"));
        let name = name.map_err(|error| failed(&error))?;
        if let Some(folder) = self.checked_out(&name) {
            let message = format!(
                "it is checked out in '{}'; switch that work tree to another branch",
                folder.display()
            );
            return Err(self.unwritable(branch, message));
        }
        let expected = match before {
            Some(before) => PreviousValue::MustExistAndMatch(Target::Object(self.id_of(before)?)),
            None => PreviousValue::MustNotExist,
        };
        let change = match after {
            Some(after) => Change::Update {
                log: LogChange {
                    mode: RefLog::AndReference,
                    force_create_reflog: false,
                    message: why.into(),
                },
                expected,
                new: Target::Object(self.id_of(after)?),
            },
            None => Change::Delete {
                expected,
                log: RefLog::AndReference,
            },
        };
        let edited = self.git.edit_reference(RefEdit {
            change,
            name,
            deref: false,
        });
        edited.map(drop).map_err(|error| failed(&error))
    }

    fn identities(&self, branch: &str) -> Result<(Signature, Signature), GitError> {
        let read = |found: Option<gix::Result<gix::actor::SignatureRef<'_>>>| {
            let unknown = "Git does not know who you are; set user.name and user.email";
            let found = found.ok_or_else(|| self.unwritable(branch, unknown.to_owned()))?;
            let failed = |error: &dyn std::error::Error| self.unwritable(branch, one_line(error));
            let found = found.map_err(|error| failed(&error))?;
            found.to_owned().map_err(|error| failed(&error))
        };
        Ok((read(self.git.author())?, read(self.git.committer())?))
    }

    /// The work tree in which a branch is checked out.
    fn checked_out(&self, branch: &FullName) -> Option<PathBuf> {
        let all = self.git.worktrees_including_main().ok()?;
        let mut folders = all.filter_map(|git| {
            let git = git.ok()?;
            let folder = git.workdir()?.to_path_buf();
            let head = git.head_name().ok()??;
            (head == *branch).then_some(folder)
        });
        folders.next()
    }

    /// Writes the tree of the last parent with the package of the first parent and the changes, and returns its id.
    fn tree_with(&self, draft: &DraftCommit<'_>) -> Result<ObjectId, GitError> {
        let failed = |error: &dyn std::error::Error| self.unwritable(draft.branch, one_line(error));
        let mut root = match draft.parents.last() {
            None => ObjectId::empty_tree(self.git.object_hash()),
            Some(parent) => self.root_of(parent)?,
        };
        let write = |editor: &mut Editor<'_>| {
            let written = editor.write(|tree| self.git.write_object(tree).map(gix::Id::detach));
            written.map_err(|error| failed(&error))
        };
        if let [first, _, ..] = draft.parents {
            let mut editor = self.tree_editor(root)?;
            let own = self.tree_of(draft.directory, first)?;
            let edited = match own {
                Some(tree) => {
                    let tree = self.id_of(&tree)?;
                    editor.upsert(components(draft.directory), EntryKind::Tree, tree)
                }
                None => editor.remove(components(draft.directory)),
            };
            edited.map_err(|error| failed(&error))?;
            root = write(&mut editor)?;
        }
        self.check_folders(draft, root)?;
        let mut editor = self.tree_editor(root)?;
        for change in draft.changes {
            let path = format!("{}/{}", draft.directory, change.path());
            let edited = match change {
                FileChange::Delete { .. } => editor.remove(components(&path)).map(drop),
                FileChange::Write {
                    path: file,
                    bytes,
                    mode,
                } => {
                    let id = self.git.write_blob(bytes);
                    let id = id.map_err(|error| failed(&error))?.detach();
                    let mode = mode.or_else(|| draft.package.mode(file));
                    let kind = match mode {
                        Some(mode) if mode & 0o100 != 0 => EntryKind::BlobExecutable,
                        _ => EntryKind::Blob,
                    };
                    editor.upsert(components(&path), kind, id).map(drop)
                }
            };
            edited.map_err(|error| failed(&error))?;
        }
        write(&mut editor)
    }

    fn tree_editor(&self, id: ObjectId) -> Result<Editor<'_>, GitError> {
        let what = || format!("the tree `{id}`");
        let tree = if id.is_empty_tree() {
            Tree::empty()
        } else {
            let tree = self.tree(id, what)?;
            let tree = tree.decode();
            tree.map_err(|error| self.unreadable(what(), &error))?
                .into()
        };
        Ok(Editor::new(tree, &self.git.objects, self.git.object_hash()))
    }

    /// Refuses files below a submodule or a link of this tree, because the editor would replace it with a folder.
    fn check_folders(&self, draft: &DraftCommit<'_>, root: ObjectId) -> Result<(), GitError> {
        let path_of = |change: &FileChange| format!("{}/{}", draft.directory, change.path());
        let removed = draft.changes.iter().filter_map(|change| match change {
            FileChange::Delete { .. } => Some(path_of(change)),
            FileChange::Write { .. } => None,
        });
        let mut known: BTreeSet<String> = removed.collect();
        let unreadable =
            |path: &str, error: gix::Error| self.unreadable(format!("the folder `{path}`"), &error);
        for change in draft.changes {
            let path = path_of(change);
            let checked = check_package_path(&path);
            checked.map_err(|error| self.unwritable(draft.branch, error.to_string()))?;
            for folder in folders_above(&path) {
                if !known.insert(folder.to_owned()) || root.is_empty_tree() {
                    continue;
                }
                let tree = self.git.find_tree(root);
                let tree = tree.map_err(|error| unreadable(folder, error))?;
                let entry = tree.lookup_entry(folder.split('/'));
                let entry = entry.map_err(|error| unreadable(folder, error))?;
                if let Some(entry) = entry.filter(|entry| !entry.mode().is_tree()) {
                    let found = entry.mode().as_str();
                    let message = format!("expected a folder `{folder}`, found a {found}");
                    return Err(self.unwritable(draft.branch, message));
                }
            }
        }
        Ok(())
    }

    fn unwritable(&self, branch: &str, message: String) -> GitError {
        GitError::Unwritable {
            path: self.path.clone(),
            branch: branch.to_owned(),
            message,
        }
    }
}

/// The components of a path, in the form that the tree editor takes.
fn components(path: &str) -> impl Iterator<Item = &BStr> {
    path.split('/').map(<&BStr>::from)
}
