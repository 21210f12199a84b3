//! What a package follows: what its lock names, what is newer, and why.
//!
//! ```text
//! lock               newer
//! tag v1.2.0         v1.3.0, v2.0.0                 the later releases with the same words
//! tag v1.2.0         v1.2.0@1a2b3c4                 the tag moved
//! branch main        main@1a2b3c4, 3 commits        what its commits changed in the package
//! branch main        task/clone/0.10                a sibling of the path task/clone/0.9
//! commit 1a2b3c4     v1.3.0                         the newest release that contains it
//! ```
//!
//! Nothing here reads a repository or the network: the list of references is an argument, and questions about commits
//! go to a [`CommitGraph`]. A revision that the lock contains is never newer.

mod graph;
mod path;

use std::collections::BTreeSet;

use krm_address::release_name::ReleaseName;
use krm_core::kptfile::UpstreamLock;
use krm_core::results::{FunctionResult, Reason};
use krm_upstream::git::Revision;

use super::failure::{Failure, Result};
use super::kptfile::locked_name;
use super::releases::{ListedReference, Releases};

pub(crate) use path::{PathAt, newer_siblings, path_at};

/// Questions about the commits of an upstream.
pub(crate) trait CommitGraph {
    /// Whether a commit is the other one, or contains it in its history. Fetches the history that the answer needs.
    fn contains(&self, commit: &str, other: &str) -> Result<bool>;

    /// Which of the other commits a commit contains, as far as that is known without the network.
    fn known_in(&self, commit: &str, others: &[&str]) -> BTreeSet<String>;

    /// Which of the other commits contain a commit. `None` if that is not known without the network.
    fn known_with(&self, commit: &str, others: &[&str]) -> Option<BTreeSet<String>>;

    /// What a path is at a commit. `None` if it does not exist.
    fn content(&self, path: &str, commit: &str) -> Result<Option<PathContent>>;

    /// The number of commits that `to` contains and `from` does not, and that change a path.
    fn commits_between(&self, from: &str, to: &str, path: &str) -> Result<usize>;

    /// The names in a folder at a commit.
    fn names(&self, folder: &str, commit: &str) -> Result<Vec<String>>;

    /// The path to which a path moved between two commits.
    fn moved(&self, path: &str, from: &str, to: &str) -> Option<String>;
}

/// A file or folder at a commit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PathContent {
    pub(crate) is_folder: bool,
    /// Equal for equal contents.
    pub(crate) id: String,
}

/// What a lock names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Following {
    /// The releases with the same words.
    Releases(ReleaseName),
    /// A tag whose name is not a release.
    Tag,
    Branch(String),
    Commit,
    /// A source without a list of revisions.
    Nothing,
}

impl Following {
    /// What a package follows that is made from a tag, branch or commit.
    pub(crate) fn of(name: &str, releases: &Releases) -> Self {
        match releases.named(name) {
            Some(known) if known.is_branch() => Self::Branch(known.short.clone()),
            Some(known) => known.release().map_or(Self::Tag, Self::Releases),
            None if releases.is_git() => Self::Commit,
            None => Self::Nothing,
        }
    }
}

impl std::fmt::Display for Following {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Releases(name) => match name.words() {
                ["", ""] => f.write_str("the releases"),
                // Numbers in the words count, too.
                words => {
                    let [before, after] = words.map(|word| word.replace('#', "N"));
                    write!(f, "the releases named {before}VERSION{after}")
                }
            },
            Self::Tag => f.write_str("this tag, which is not a release, when it moves"),
            Self::Branch(branch) => write!(f, "the branch {branch}"),
            Self::Commit => f.write_str("the next release that contains this commit"),
            Self::Nothing => f.write_str("nothing: this source has no list of releases"),
        }
    }
}

/// A revision that is newer than the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewerRevision {
    pub(crate) reference: ListedReference,
    /// Its name for the user, which `krmv upgrade` takes: `v1.3.0`, `main@1a2b3c4`, `task/clone/0.10`.
    pub(crate) name: String,
    /// The path of the package at this revision, if the revision is that path.
    pub(crate) path: Option<String>,
    /// The number of commits of a branch since the lock.
    pub(crate) commits: Option<usize>,
}

impl NewerRevision {
    fn release(reference: &ListedReference) -> Self {
        Self {
            name: reference.short.clone(),
            reference: reference.clone(),
            path: None,
            commits: None,
        }
    }

    /// The locked revision, which is rendered differently now.
    pub(crate) fn rendered_anew(locked: &Revision) -> Self {
        Self::release(&ListedReference {
            short: locked.lock_ref.clone(),
            name: locked.lock_ref.clone(),
            full_name: locked.upstream_ref.clone(),
            commit: locked.commit.clone(),
            tag_object: None,
        })
    }

    /// A tag or branch at the commit that it has now.
    fn at_commit(reference: &ListedReference, commits: Option<usize>) -> Self {
        let digits = reference.commit.trim_start_matches("sha256:");
        let digits = digits.get(..7).unwrap_or(digits);
        Self {
            name: format!("{}@{digits}", reference.short),
            commits,
            ..Self::release(reference)
        }
    }

    /// The revision with the names that a Kptfile records, given by this name.
    pub(crate) fn revision(&self) -> Revision {
        Revision {
            given: self.name.clone(),
            ..self.reference.revision()
        }
    }
}

/// What a person should know about the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FollowNote {
    TagMoved { tag: String, commit: String },
    BranchRenamed { from: String, to: String },
    BranchRewritten { branch: String },
}

impl std::fmt::Display for FollowNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TagMoved { tag, commit } => {
                let digits = commit.trim_start_matches("sha256:");
                let digits = digits.get(..12).unwrap_or(digits);
                let message = format!(
                    "upstream moved the tag {tag}: the package was made from its former content, {digits}"
                );
                write!(f, "{}", FunctionResult::warning(Reason::TagMoved, message))
            }
            Self::BranchRenamed { from, to } => {
                write!(f, "upstream renamed its default branch {from} to {to}")
            }
            Self::BranchRewritten { branch } => {
                write!(
                    f,
                    "upstream rewrote the branch {branch}: it no longer contains the locked commit"
                )
            }
        }
    }
}

/// The model of one package: what its lock names, and what is newer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Followed {
    pub(crate) following: Following,
    /// The newest last.
    pub(crate) newer: Vec<NewerRevision>,
    pub(crate) notes: Vec<FollowNote>,
}

/// Names of default branches, for a branch that no longer exists.
const DEFAULT_BRANCHES: [&str; 5] = ["master", "main", "trunk", "develop", "default"];

impl Followed {
    /// Finds what a lock names among the references of its upstream, and what is newer.
    ///
    /// # Errors
    /// The branch that the lock names no longer exists, or the history cannot be read.
    pub(crate) fn of(
        lock: &UpstreamLock,
        releases: &Releases,
        graph: &dyn CommitGraph,
    ) -> Result<Self> {
        let search = NewerSearch {
            lock,
            commit: lock.commit.as_deref().unwrap_or_default(),
            releases,
            graph,
        };
        search.followed()
    }

    /// The newest revision: what an upgrade without a revision goes to. `None` if nothing is newer.
    pub(crate) fn newest(&self) -> Option<&NewerRevision> {
        self.newer.last()
    }

    /// The newer revision with a name that `status` shows.
    pub(crate) fn named(&self, name: &str) -> Option<&NewerRevision> {
        self.newer.iter().find(|newer| newer.name == name)
    }
}

struct NewerSearch<'s> {
    lock: &'s UpstreamLock,
    commit: &'s str,
    releases: &'s Releases,
    graph: &'s dyn CommitGraph,
}

impl NewerSearch<'_> {
    fn followed(&self) -> Result<Followed> {
        let Some(name) = locked_name(self.lock) else {
            return self.newest_with_commit();
        };
        if let Some(known) = self.releases.named(&name) {
            return match Following::of(&name, self.releases) {
                Following::Branch(_) => self.branch(known, Vec::new()),
                Following::Releases(own) => Ok(self.releases_after(own, Some(known))),
                other => Ok(self.moved_tag(other, Some(known), Vec::new())),
            };
        }
        if is_commit(&name, self.commit) {
            return self.newest_with_commit();
        }
        if let Some(own) = ReleaseName::parse(&name)
            && (!self.releases.is_git() || !self.releases.with_words_of(&own).is_empty())
        {
            return Ok(self.releases_after(own, None));
        }
        self.gone(&name)
    }

    /// The releases with the same words, and the tag itself if it moved.
    fn releases_after(&self, own: ReleaseName, known: Option<&ListedReference>) -> Followed {
        let newer = self.releases.with_words_of(&own);
        let newer = newer.iter();
        let newer =
            newer.filter(|(other, one)| own.is_followed_by(other) && !one.is_at(self.commit));
        let after = newer.map(|(_, one)| one).collect();
        self.moved_tag(Following::Releases(own.clone()), known, after)
    }

    /// A tag, moved or not, and the releases after it.
    fn moved_tag(
        &self,
        following: Following,
        tag: Option<&ListedReference>,
        after: Vec<&ListedReference>,
    ) -> Followed {
        let is_moved = |tag: &&ListedReference| {
            let can_move = tag.is_tag() || tag.full_name.starts_with("oci:");
            can_move && !self.commit.is_empty() && !tag.is_at(self.commit)
        };
        let moved = tag.filter(is_moved);
        let all = moved.into_iter().chain(after.iter().copied());
        let all: Vec<&str> = all.map(|one| one.commit.as_str()).collect();
        let contained = if all.is_empty() {
            BTreeSet::new()
        } else {
            self.graph.known_in(self.commit, &all)
        };
        let is_new = |one: &&ListedReference| !contained.contains(&one.commit);
        let newer = moved.filter(is_new);
        let newer = newer.map(|tag| NewerRevision::at_commit(tag, None));
        let after = after.into_iter().filter(is_new);
        Followed {
            following,
            newer: newer
                .into_iter()
                .chain(after.map(NewerRevision::release))
                .collect(),
            notes: moved
                .map(|tag| FollowNote::TagMoved {
                    tag: tag.name.clone(),
                    commit: self.commit.to_owned(),
                })
                .into_iter()
                .collect(),
        }
    }

    /// The commits of a branch that changed the package, and the newer siblings of its path.
    fn branch(&self, branch: &ListedReference, mut notes: Vec<FollowNote>) -> Result<Followed> {
        let path = self.lock.directory.as_str();
        let mut newer = Vec::new();
        if !branch.is_at(self.commit) && self.is_changed(path, &branch.commit)? {
            let is_forward = self.graph.contains(&branch.commit, self.commit)?;
            let is_back = !is_forward && self.graph.contains(self.commit, &branch.commit)?;
            if !is_forward && !is_back {
                let branch = branch.short.clone();
                notes.push(FollowNote::BranchRewritten { branch });
            }
            if !is_back {
                let count = self
                    .graph
                    .commits_between(self.commit, &branch.commit, path)?;
                newer.push(NewerRevision::at_commit(branch, Some(count)));
            }
        }
        for sibling in newer_siblings(path, &branch.commit, self.graph)? {
            newer.push(NewerRevision {
                name: sibling.clone(),
                path: Some(sibling),
                ..NewerRevision::release(branch)
            });
        }
        Ok(Followed {
            following: Following::Branch(branch.short.clone()),
            newer,
            notes,
        })
    }

    fn is_changed(&self, path: &str, commit: &str) -> Result<bool> {
        Ok(self.graph.content(path, self.commit)? != self.graph.content(path, commit)?)
    }

    /// The newest release that contains a commit.
    fn newest_with_commit(&self) -> Result<Followed> {
        let mut followed = Followed {
            following: Following::Commit,
            newer: Vec::new(),
            notes: Vec::new(),
        };
        if self.commit.is_empty() {
            return Ok(followed);
        }
        let finals = self.releases.finals(|_| true).into_iter().rev();
        let later: Vec<&ListedReference> = finals
            .take_while(|release| !release.is_at(self.commit))
            .collect();
        let Some((newest, others)) = later.split_first() else {
            return Ok(followed);
        };
        if self.graph.contains(&newest.commit, self.commit)? {
            followed.newer.push(NewerRevision::release(newest));
            return Ok(followed);
        }
        // The first answer may have fetched the history. Then one walk answers for all others.
        let commits: Vec<&str> = others.iter().map(|one| one.commit.as_str()).collect();
        let known = self.graph.known_with(self.commit, &commits);
        for release in others {
            let contains = match &known {
                Some(known) => known.contains(&release.commit),
                None => self.graph.contains(&release.commit, self.commit)?,
            };
            if contains {
                followed.newer.push(NewerRevision::release(release));
                break;
            }
        }
        Ok(followed)
    }

    /// A name that upstream no longer has: of a default branch that it renamed, or an error.
    fn gone(&self, name: &str) -> Result<Followed> {
        if !self.releases.is_git() {
            return Ok(Followed {
                following: Following::Nothing,
                newer: Vec::new(),
                notes: Vec::new(),
            });
        }
        let default = self.releases.head().filter(|head| head.is_branch());
        let default = default.filter(|_| DEFAULT_BRANCHES.contains(&name));
        if let Some(default) = default
            && !self.commit.is_empty()
            && self.graph.contains(&default.commit, self.commit)?
        {
            let note = FollowNote::BranchRenamed {
                from: name.to_owned(),
                to: default.short.clone(),
            };
            return self.branch(default, vec![note]);
        }
        let message =
            format!("upstream no longer has a branch or tag `{name}`, although the lock names it");
        Err(Failure::new(message))
    }
}

/// Whether a name is this commit, or its beginning.
fn is_commit(name: &str, commit: &str) -> bool {
    name.len() >= 7 && commit.starts_with(name)
}

#[cfg(test)]
mod tests;
