//! Drafts: branches on which a package waits for review, named as Porch names them.
//!
//! ```text
//! refs/heads/drafts/nginx/packagevariant-2     on top of the default branch
//! ```
//!
//! A draft is one commit; an update of it is a commit on top. Nothing is proposed, merged, tagged or pushed,
//! and no work tree is touched.
//!
//! Source: contract, render-fleet, Drafts.

use std::collections::BTreeMap;
use std::path::Path;

use gix::ObjectId;
use gix::bstr::BStr;
use gix::objs::Tree;
use gix::objs::tree::{Editor, EntryKind};
use gix::open::permissions::{Config, Environment};
use gix::sec::Permission;

use super::revision::one_line;
use super::{GitError, Repository};
use crate::package::{FileChange, check_package_path};

/// How Porch names the workspaces of variants.
const WORKSPACE: &str = "packagevariant-";

/// A draft of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    /// The branch, without `refs/heads/`.
    pub(crate) branch: String,
    /// The id of its commit.
    pub(crate) commit: String,
}

/// What a commit of a draft changes.
#[derive(Debug)]
pub(crate) struct DraftCommit<'d> {
    /// The branch, without `refs/heads/`.
    pub(crate) branch: &'d str,
    /// The commit that it stands on; `None` in a repository without commits.
    pub(crate) parent: Option<&'d str>,
    /// Whether the branch is there already, at the parent.
    pub(crate) continues: bool,
    /// The directory of the package.
    pub(crate) directory: &'d str,
    pub(crate) changes: &'d [FileChange],
    /// The permission bits of the files that are there.
    pub(crate) modes: &'d BTreeMap<String, u32>,
    pub(crate) message: &'d str,
}

impl Repository {
    /// Opens a repository to write drafts to. Author and committer are those of Git's own environment and
    /// configuration.
    ///
    /// # Errors
    /// As [`Repository::open`].
    pub(crate) fn open_for_drafts(path: &Path) -> Result<Self, GitError> {
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

    /// The commit of the default branch; `None` in a repository without commits.
    ///
    /// # Errors
    /// [`GitError::Unreadable`].
    pub(crate) fn default_commit(&self) -> Result<Option<String>, GitError> {
        let head = self.git.head();
        let head = head.map_err(|error| self.unreadable("`HEAD`".to_owned(), &error))?;
        if head.is_unborn() {
            return Ok(None);
        }
        self.commit_of_reference("HEAD")
    }

    /// The drafts of a package that were made for variants, the newest first.
    ///
    /// # Errors
    /// [`GitError::Unreadable`].
    pub(crate) fn drafts(&self, package: &str) -> Result<Vec<Draft>, GitError> {
        let names = self.names_of_references();
        let prefix = format!("drafts/{package}/");
        let mut numbered: Vec<(u64, &String)> = names
            .iter()
            .filter_map(|name| Some((number(name.strip_prefix(&prefix)?)?, name)))
            .collect();
        numbered.sort_by(|a, b| b.cmp(a));
        let mut drafts = Vec::new();
        for (_, name) in numbered {
            if let Some(commit) = self.commit_of_reference(&format!("refs/heads/{name}"))? {
                let branch = name.clone();
                drafts.push(Draft { branch, commit });
            }
        }
        Ok(drafts)
    }

    /// The branch for a new draft: one more than the highest among drafts, proposed revisions and tags.
    pub(crate) fn next_draft(&self, package: &str) -> String {
        let prefixes = ["drafts/", "proposed/", ""].map(|kind| format!("{kind}{package}/"));
        let names = self.names_of_references();
        let numbers = names.iter().filter_map(|name| {
            let mut prefixes = prefixes.iter();
            number(prefixes.find_map(|prefix| name.strip_prefix(prefix.as_str()))?)
        });
        let next = numbers.max().map_or(1, |highest| highest.saturating_add(1));
        format!("drafts/{package}/{WORKSPACE}{next}")
    }

    /// Writes a commit to the branch of a draft, if the branch is still where it was read; gives its id.
    ///
    /// # Errors
    /// [`GitError::Unwritable`]: nobody is named as author; the branch moved; the system refuses.
    pub(crate) fn write_draft(&self, draft: &DraftCommit<'_>) -> Result<String, GitError> {
        let failed = |error: &dyn std::error::Error| GitError::Unwritable {
            path: self.path.clone(),
            branch: draft.branch.to_owned(),
            message: one_line(error),
        };
        let who = |found: Option<gix::Result<gix::actor::SignatureRef<'_>>>| match found {
            Some(Ok(who)) => who.to_owned().map_err(|error| failed(&error)),
            Some(Err(error)) => Err(failed(&error)),
            None => Err(GitError::Unwritable {
                path: self.path.clone(),
                branch: draft.branch.to_owned(),
                message: "Git does not know who you are: set user.name and user.email".to_owned(),
            }),
        };
        let (author, committer) = (who(self.git.author())?, who(self.git.committer())?);
        let tree = self.tree_with(draft)?;
        let parent = draft
            .parent
            .map(|id| ObjectId::from_hex(id.as_bytes()))
            .transpose();
        let parent = parent.map_err(|error| failed(&error))?;
        let commit = gix::objs::Commit {
            message: draft.message.into(),
            tree,
            author,
            committer,
            encoding: None,
            parents: parent.into_iter().collect(),
            extra_headers: Vec::new(),
        };
        let id = self.git.write_object(&commit);
        let id = id.map_err(|error| failed(&error))?.detach();
        use gix::refs::transaction::PreviousValue;
        let before = match parent.filter(|_| draft.continues) {
            Some(parent) => PreviousValue::MustExistAndMatch(gix::refs::Target::Object(parent)),
            None => PreviousValue::MustNotExist,
        };
        let name = format!("refs/heads/{}", draft.branch);
        let written = self.git.reference(name, id, before, draft.message);
        written.map_err(|error| failed(&error))?;
        Ok(id.to_string())
    }

    /// The tree of the parent with the changes of a draft; its id.
    fn tree_with(&self, draft: &DraftCommit<'_>) -> Result<ObjectId, GitError> {
        let failed = |error: &dyn std::error::Error| GitError::Unwritable {
            path: self.path.clone(),
            branch: draft.branch.to_owned(),
            message: one_line(error),
        };
        let root = match draft.parent {
            None => Tree::empty(),
            Some(parent) => {
                let id = self.root_of(parent)?;
                let what = || format!("the tree of `{parent}`");
                let tree = self.object(id, what)?.try_into_tree();
                let tree = tree.map_err(|error| self.unreadable(what(), &error))?;
                let tree = tree.decode();
                let tree = tree.map_err(|error| self.unreadable(what(), &error))?;
                tree.into()
            }
        };
        let hash = self.git.object_hash();
        let mut editor = Editor::new(root, &self.git.objects, hash);
        for change in draft.changes {
            let path = format!("{}/{}", draft.directory, change.path());
            check_package_path(&path).map_err(|error| failed(&error))?;
            let components = path.split('/').map(<&BStr>::from);
            let edited = match change {
                FileChange::Delete { .. } => editor.remove(components).map(drop),
                FileChange::Write { path, bytes, mode } => {
                    let id = self.git.write_blob(bytes);
                    let id = id.map_err(|error| failed(&error))?.detach();
                    let mode = mode.or_else(|| draft.modes.get(path).copied());
                    let kind = match mode {
                        Some(mode) if mode & 0o100 != 0 => EntryKind::BlobExecutable,
                        _ => EntryKind::Blob,
                    };
                    editor.upsert(components, kind, id).map(drop)
                }
            };
            edited.map_err(|error| failed(&error))?;
        }
        let written = editor.write(|tree| self.git.write_object(tree).map(|id| id.detach()));
        written.map_err(|error| failed(&error))
    }
}

/// The number of a workspace of a variant.
fn number(name: &str) -> Option<u64> {
    name.strip_prefix(WORKSPACE)?.parse().ok()
}
