//! Reads and writes Porch's notes in commits. A note records the package and workspace that a commit belongs to.
//!
//! ```text
//! Approving package revision web/1
//!
//! kpt:{"package":"web","workspaceName":"packagevariant-1","revision":"1"}
//! ```
//!
//! Source: contract, render-fleet, Drafts.

use std::collections::{HashMap, HashSet};

use gix::ObjectId;
use memchr::memmem;
use serde::Deserialize;
use serde_json::json;

use super::{GitError, Repository};

/// The prefix that Porch gives to the names of variants' workspaces.
const WORKSPACE: &str = "packagevariant-";
/// The beginning of a line with a note.
const NOTE: &str = "kpt:";

/// The fields of a note that are read.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Note {
    package: String,
    workspace_name: String,
}

/// The commits that a branch contains, and the highest workspace numbers in their notes.
#[derive(Debug, Default)]
pub struct History {
    commits: HashSet<ObjectId>,
    /// The highest number of a variant's workspace, by package.
    numbers: HashMap<String, u64>,
}

impl History {
    pub fn contains(&self, commit: &str) -> bool {
        ObjectId::from_hex(commit.as_bytes()).is_ok_and(|id| self.commits.contains(&id))
    }

    /// The highest workspace number that a note names for a package.
    pub fn highest_number(&self, package: &str) -> Option<u64> {
        self.numbers.get(package).copied()
    }
}

pub fn numbered_workspace(number: u64) -> String {
    format!("{WORKSPACE}{number}")
}

/// The number of a variant's workspace; `None` if the workspace is not a variant's.
pub fn workspace_number(workspace: &str) -> Option<u64> {
    workspace.strip_prefix(WORKSPACE)?.parse().ok()
}

/// The note for the commit of a draft. Porch reads from it the draft's workspace, and from its task the
/// PackageRevision `upstream` that the package was made from.
pub fn draft_note(package: &str, workspace: &str, upstream: Option<&str>) -> String {
    let mut note = json!({
        "package": package,
        "workspaceName": workspace,
        "revision": "0",
    });
    if let Some(upstream) = upstream {
        let upstream = json!({"upstreamRef": {"upstreamRef": {"name": upstream}}});
        note["task"] = json!({"type": "clone", "clone": upstream});
    }
    format!("{NOTE}{note}\n")
}

impl Repository {
    /// Reads all commits that a commit contains, with their notes.
    ///
    /// # Errors
    /// [`GitError::Unreadable`].
    pub fn read_history(&self, commit: &str) -> Result<History, GitError> {
        let mut history = History::default();
        for id in self.walk(commit, None)? {
            let id = id?;
            history.commits.insert(id);
            for note in self.notes(id)? {
                if let Some(number) = workspace_number(&note.workspace_name) {
                    let highest = history.numbers.entry(note.package).or_default();
                    *highest = number.max(*highest);
                }
            }
        }
        Ok(history)
    }

    /// The workspace that the note of a commit records for a package; `None` if it records none.
    ///
    /// # Errors
    /// [`GitError::Unreadable`].
    pub fn workspace_of(&self, commit: &str, package: &str) -> Result<Option<String>, GitError> {
        let notes = self.notes(self.id_of(commit)?)?;
        let mut own = notes.into_iter().filter(|note| note.package == package);
        let named = own.find(|note| !note.workspace_name.is_empty());
        Ok(named.map(|note| note.workspace_name))
    }

    /// The notes in the message of a commit, as Porch reads them.
    fn notes(&self, id: ObjectId) -> Result<Vec<Note>, GitError> {
        let commit = self.object(id, || format!("the commit `{id}`"))?;
        if memmem::find(&commit.data, NOTE.as_bytes()).is_none() {
            return Ok(Vec::new());
        }
        let text = String::from_utf8_lossy(&commit.data);
        let (_, message) = text.split_once("\n\n").unwrap_or_default();
        let notes = message.lines().filter_map(|line| {
            let note = line.trim().strip_prefix(NOTE)?;
            serde_json::from_str(note).ok()
        });
        Ok(notes.collect())
    }

    /// The best common ancestor of two commits.
    ///
    /// # Errors
    /// [`GitError::Unreadable`].
    pub fn merge_base(&self, one: &str, other: &str) -> Result<Option<String>, GitError> {
        let found = self.git.merge_base(self.id_of(one)?, self.id_of(other)?);
        let what = || format!("the history of `{one}` and `{other}`");
        let found = found.map_err(|error| self.unreadable(what(), &error))?;
        Ok(found.map(|id| id.to_string()))
    }

    /// Whether a commit contains another one in its history.
    ///
    /// # Errors
    /// [`GitError::Unreadable`].
    pub fn contains(&self, commit: &str, other: &str) -> Result<bool, GitError> {
        Ok(self.merge_base(commit, other)?.as_deref() == Some(other))
    }

    /// Whether a directory had this tree in any commit that `from` contains and `until` does not.
    ///
    /// # Errors
    /// [`GitError::Unreadable`].
    pub fn had_tree(
        &self,
        directory: &str,
        tree: &str,
        from: &str,
        until: Option<&str>,
    ) -> Result<bool, GitError> {
        for id in self.walk(from, until)? {
            if self.tree_of(directory, &id?.to_string())?.as_deref() == Some(tree) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The commits that `from` contains and `until` does not, the newest first.
    pub(super) fn walk<'r>(
        &'r self,
        from: &'r str,
        until: Option<&str>,
    ) -> Result<impl Iterator<Item = Result<ObjectId, GitError>> + 'r, GitError> {
        let unreadable =
            move |error: gix::Error| self.unreadable(format!("the history of `{from}`"), &error);
        let until = until.map(|until| self.id_of(until)).transpose()?;
        let walk = self.git.rev_walk([self.id_of(from)?]).with_hidden(until);
        let newest = gix::traverse::commit::simple::CommitTimeOrder::NewestFirst;
        let walk = walk.sorting(gix::revision::walk::Sorting::ByCommitTime(newest));
        let walk = walk.all().map_err(unreadable)?;
        Ok(walk.map(move |info| Ok(info.map_err(unreadable)?.id)))
    }

    /// The error for a commit whose position in the history is unknown because the clone is shallow.
    pub fn too_shallow(&self, commit: &str) -> GitError {
        let message = "the clone is shallow: `git fetch --unshallow`";
        self.cannot_read(format!("the history of `{commit}`"), message.to_owned())
    }

    pub(super) fn id_of(&self, commit: &str) -> Result<ObjectId, GitError> {
        let id = ObjectId::from_hex(commit.as_bytes());
        id.map_err(|error| self.unreadable(format!("the commit `{commit}`"), &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_note_is_read_back() {
        let note = draft_note("site/web", "packagevariant-3", None);
        let json = note.strip_prefix(NOTE).expect("a note");
        let read: Note = serde_json::from_str(json).expect("JSON");
        assert_eq!(read.package, "site/web");
        assert_eq!(workspace_number(&read.workspace_name), Some(3));
    }

    #[test]
    fn only_a_variants_workspace_has_a_number() {
        for (workspace, number) in [
            ("packagevariant-12", Some(12)),
            ("packagevariant-", None),
            ("packagevariant-1a", None),
            ("v7", None),
            ("7", None),
        ] {
            assert_eq!(workspace_number(workspace), number, "{workspace}");
        }
    }
}
