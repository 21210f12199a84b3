//! The states that a directory had in the history of a repository.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

use gix::ObjectId;
use serde::Serialize;

use super::tree_source::TreeSource;
use super::{GitError, Repository};
use krm_address::release_name::ReleaseName;

/// The content of a directory in one or more commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryState {
    /// The tag of the highest rank whose commit has this content; the id of a commit if no tag has it.
    pub name: String,
    /// All tags whose commit has this content.
    pub names: Vec<String>,
    /// The id of the commit that `name` refers to.
    pub commit: String,
    /// Whether the history of the upstream revision contains that commit.
    pub is_contained: bool,
    /// The time of the commit, in seconds.
    time: i64,
}

/// A commit that changes a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangingCommit {
    /// Its id.
    pub id: String,
    /// The ids of the commits that it was made from.
    pub parents: Vec<String>,
}

/// What a commit says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommitDescription {
    /// Its id.
    pub commit: String,
    /// The name of its author.
    pub author: String,
    /// The day on which the author wrote it, as `2026-01-31`.
    pub date: String,
    /// The first line of its message.
    pub summary: String,
}

impl Repository {
    /// The states of a directory in the tagged commits, or, if no tag has the directory, in the history of a commit.
    /// Each content is listed once, under its tag of the highest rank.
    ///
    /// # Errors
    /// [`GitError`]: an object that is damaged.
    pub fn states(&self, directory: &str, upstream: &str) -> Result<Vec<DirectoryState>, GitError> {
        // The newest commit first. The history of a shallow clone ends early.
        let history = self.walk(upstream, None)?.map_while(Result::ok);
        let history: Vec<ObjectId> = history.collect();
        let contained: HashSet<ObjectId> = history.iter().copied().collect();
        let mut states: HashMap<String, DirectoryState> = HashMap::new();
        let tags = self.tags().into_iter();
        let tags = tags.map(|(name, commit)| (Some(name), commit)).collect();
        // The newest commit first, so that a state that recurred is named after its last commit.
        let commits = history.into_iter().map(|commit| (None, commit)).collect();
        let candidates: [Vec<(Option<String>, ObjectId)>; 2] = [tags, commits];
        for candidates in candidates {
            if !states.is_empty() {
                break;
            }
            for (name, commit) in candidates {
                let id = commit.to_string();
                // Skip commits whose objects are missing from the clone.
                let Ok(Some(tree)) = self.content_of(directory, &id) else {
                    continue;
                };
                let state = DirectoryState {
                    names: name.iter().cloned().collect(),
                    name: name.unwrap_or_else(|| id.clone()),
                    time: self.time(commit),
                    is_contained: contained.contains(&commit),
                    commit: id,
                };
                match states.entry(tree) {
                    Entry::Vacant(free) => {
                        free.insert(state);
                    }
                    Entry::Occupied(mut known) if !state.names.is_empty() => {
                        let known = known.get_mut();
                        let mut names = std::mem::take(&mut known.names);
                        names.extend(state.names.clone());
                        if known.rank() < state.rank() {
                            *known = state;
                        }
                        known.names = names;
                    }
                    Entry::Occupied(_) => {}
                }
            }
        }
        let mut states: Vec<DirectoryState> = states.into_values().collect();
        states.sort_by(|a, b| b.rank().cmp(&a.rank()));
        Ok(states)
    }

    /// Which of the other commits a commit contains in its history, or is. The history of a shallow clone ends early.
    pub fn contained(&self, commit: &str, others: &[&str]) -> BTreeSet<String> {
        let Ok(commit) = self.id_of(commit) else {
            return BTreeSet::new();
        };
        let found = self.ancestors_among(commit, &self.known_ids(others));
        found.iter().map(ToString::to_string).collect()
    }

    /// Which of the other commits contain a commit in their history, or are it.
    #[must_use]
    pub fn containing(&self, commit: &str, others: &[&str]) -> BTreeSet<String> {
        let Ok(commit) = self.id_of(commit) else {
            return BTreeSet::new();
        };
        let found = self.descendants_among(commit, &self.known_ids(others));
        found.iter().map(ToString::to_string).collect()
    }

    /// The IDs of the commits that are here, each once.
    fn known_ids(&self, commits: &[&str]) -> Vec<ObjectId> {
        let ids = commits.iter().filter_map(|commit| self.id_of(commit).ok());
        let ids: BTreeSet<ObjectId> = ids.filter(|id| self.git.has_object(*id)).collect();
        ids.into_iter().collect()
    }

    /// The commits that `to` contains and `from` does not, and in which a path differs from all parents. Their order says
    /// nothing about the history.
    ///
    /// # Errors
    /// [`GitError`]: the history cannot be read.
    pub fn commits_that_change(
        &self,
        path: &str,
        from: &str,
        to: &str,
    ) -> Result<Vec<ChangingCommit>, GitError> {
        let content = |commit: &str| self.id_of_path(path, commit).ok().flatten();
        let mut found = Vec::new();
        for id in self.walk(to, Some(from))?.map_while(Result::ok) {
            let Ok(commit) = self.git.find_commit(id) else {
                continue;
            };
            let parents = commit.parent_ids().map(|id| id.to_string()).collect();
            let commit = ChangingCommit {
                id: id.to_string(),
                parents,
            };
            let own = content(&commit.id);
            if commit.parents.iter().all(|parent| content(parent) != own) {
                found.push(commit);
            }
        }
        Ok(found)
    }

    /// Who made a commit, when, and what its message says. `None` if it cannot be read.
    pub fn description_of(&self, commit: &str) -> Option<CommitDescription> {
        let id = ObjectId::from_hex(commit.as_bytes()).ok()?;
        let commit = self.git.find_commit(id).ok()?;
        let author = commit.author().ok()?;
        let date = author.time().ok()?;
        Some(CommitDescription {
            commit: id.to_string(),
            author: author.name.to_string(),
            date: date.format_or_unix(gix::date::time::format::SHORT),
            summary: commit.message().ok()?.summary().to_string(),
        })
    }

    /// The time of a commit, in seconds.
    pub fn time_of(&self, commit: &str) -> Option<i64> {
        Some(self.time(ObjectId::from_hex(commit.as_bytes()).ok()?))
    }

    fn tags(&self) -> Vec<(String, ObjectId)> {
        let names = self.names_of_tags();
        let commit = |name: &String| {
            let commit = self
                .commit_of_reference(&format!("refs/tags/{name}"))
                .ok()??;
            ObjectId::from_hex(commit.as_bytes()).ok()
        };
        let found = names
            .into_iter()
            .filter_map(|name| Some((commit(&name)?, name)));
        found.map(|(commit, name)| (name, commit)).collect()
    }

    fn time(&self, commit: ObjectId) -> i64 {
        let found = self.git.find_commit(commit);
        let time = found
            .ok()
            .and_then(|commit| Some(commit.time().ok()?.seconds));
        time.unwrap_or_default()
    }

    /// The paths of a directory's files at a commit, each with the id of its content.
    ///
    /// # Errors
    /// [`GitError`]: an object that is missing or damaged, or too many files.
    pub fn files_of(
        &self,
        directory: &str,
        commit: &str,
    ) -> Result<Vec<(String, String)>, GitError> {
        let root = self.root_of(commit)?;
        let Some(source) = TreeSource::new(self, root, directory)? else {
            let file = self.file_of(directory, commit)?.into_iter();
            return Ok(file.map(|(name, id)| (name, id.to_string())).collect());
        };
        let files = source.files()?.files.into_iter();
        let files = files.map(|(path, file)| (path, file.id.to_string()));
        Ok(files.collect())
    }

    /// The content with an id that [`files_of`](Self::files_of) returned.
    ///
    /// # Errors
    /// [`GitError`]: the content is missing, damaged or too large.
    pub fn content(&self, id: &str, path: &str) -> Result<Vec<u8>, GitError> {
        let id = ObjectId::from_hex(id.as_bytes());
        let id = id.map_err(|error| self.unreadable(format!("the file `{path}`"), &error))?;
        self.bytes(id, path)
    }
}

impl DirectoryState {
    /// Final releases rank highest, then other tags, then pre-releases. Within each, commits that the upstream
    /// revision contains rank higher, then newer ones.
    pub fn rank(&self) -> impl Ord {
        let release = self
            .names
            .first()
            .and_then(|_| ReleaseName::parse(&self.name));
        let version = release.and_then(|release| release.semver());
        let kind = match &version {
            Some(version) if version.pre.is_empty() => 2,
            None => 1,
            Some(_) => 0,
        };
        let name = self.name.clone();
        (kind, self.is_contained, self.time, version, name)
    }
}
