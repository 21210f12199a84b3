//! The branches and tags of a repository, read once.
//!
//! ```text
//! refs/heads/drafts/web/packagevariant-2            the branch, as it is here
//! refs/remotes/origin/drafts/web/packagevariant-2   the same branch, as it is at origin
//! refs/tags/web/v1
//! ```

use std::collections::BTreeMap;

use gix::bstr::ByteSlice;
use gix::refs::TargetRef;
use gix::remote::Direction;

use super::error::near;
use super::{GitError, Repository};

/// A branch: its commits in this repository and at the remote, as last fetched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Branch {
    pub local: Option<String>,
    pub remote: Option<String>,
}

#[derive(Debug, Default)]
pub struct References {
    /// The branches by name, without `refs/heads/` and `refs/remotes/<remote>/`.
    branches: BTreeMap<String, Branch>,
    /// The ids of the objects that tags point to, by the tag's name without `refs/tags/`.
    tags: BTreeMap<String, String>,
    /// The default branch of the remote.
    remote_default: Option<String>,
}

/// The branch that drafts are based on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The branch's name; the commit's id if HEAD is detached.
    pub name: String,
    pub commit: String,
}

impl References {
    /// The branches `<prefix><name>`, by `<name>`, unless `<name>` contains a `/`.
    pub fn branches_in<'r>(
        &'r self,
        prefix: &'r str,
    ) -> impl Iterator<Item = (&'r str, &'r Branch)> {
        self.branches_below(prefix)
            .filter(|(name, _)| !name.contains('/'))
    }

    /// The branches `<prefix><name>`, by `<name>`.
    pub fn branches_below<'r>(
        &'r self,
        prefix: &'r str,
    ) -> impl Iterator<Item = (&'r str, &'r Branch)> {
        below(&self.branches, prefix)
    }

    /// The tags `<prefix><name>`, by `<name>`, with the ids of the objects that they point to.
    pub fn tags_in<'r>(&'r self, prefix: &'r str) -> impl Iterator<Item = (&'r str, &'r str)> {
        let tags = below(&self.tags, prefix).filter(|(name, _)| !name.contains('/'));
        tags.map(|(name, object)| (name, object.as_str()))
    }

    pub fn branch(&self, name: &str) -> Option<&Branch> {
        self.branches.get(name)
    }

    fn add(&mut self, remote: &str, name: &str, id: String) {
        let branches = &mut self.branches;
        if let Some(name) = name.strip_prefix("refs/heads/") {
            branches.entry(name.to_owned()).or_default().local = Some(id);
        } else if let Some(name) = name.strip_prefix(remote) {
            branches.entry(name.to_owned()).or_default().remote = Some(id);
        } else if let Some(name) = name.strip_prefix("refs/tags/") {
            self.tags.insert(name.to_owned(), id);
        }
    }
}

/// The entries whose keys begin with a prefix, by the rest of the key.
fn below<'m, T>(
    map: &'m BTreeMap<String, T>,
    prefix: &'m str,
) -> impl Iterator<Item = (&'m str, &'m T)> {
    let found = map.range(prefix.to_owned()..);
    found.map_while(move |(name, value)| Some((name.strip_prefix(prefix)?, value)))
}

impl Repository {
    /// Reads the branches, the remote-tracking branches of the default remote (`origin` or the only one) and the
    /// tags.
    ///
    /// # Errors
    /// [`GitError::Unreadable`].
    pub fn read_references(&self) -> Result<References, GitError> {
        let unreadable = |error: &dyn std::error::Error| {
            self.unreadable("its branches and tags".to_owned(), error)
        };
        let remote = self.git.remote_default_name(Direction::Fetch);
        let remote = remote.map_or_else(|| "origin".to_owned(), |name| name.to_string());
        let remote = format!("refs/remotes/{remote}/");
        let mut found = References::default();
        let mut symbolic = Vec::new();
        let platform = self.git.references();
        let platform = platform.map_err(|error| unreadable(&error))?;
        for reference in platform.all().map_err(|error| unreadable(&error))? {
            let reference = reference.map_err(|error| unreadable(&error))?;
            let Ok(name) = reference.name().as_bstr().to_str() else {
                continue;
            };
            match reference.target() {
                TargetRef::Object(id) => found.add(&remote, name, id.to_string()),
                TargetRef::Symbolic(target) if name.strip_prefix(&remote) == Some("HEAD") => {
                    let target = target.as_bstr().to_str().unwrap_or_default();
                    found.remote_default = target.strip_prefix(&remote).map(str::to_owned);
                }
                TargetRef::Symbolic(_) => symbolic.push(name.to_owned()),
            }
        }
        for name in symbolic {
            if let Some(commit) = self.commit_of_reference(&name)? {
                found.add(&remote, &name, commit);
            }
        }
        Ok(found)
    }

    /// The branch that drafts are based on: the named one; otherwise the remote's default branch, `main`, or the
    /// branch of HEAD. The remote-tracking branch takes precedence over the local one. `None` in a repository without
    /// commits.
    ///
    /// # Errors
    /// [`GitError::RevisionNotFound`]: no branch has that name.
    pub fn base(
        &self,
        references: &References,
        named: Option<&str>,
    ) -> Result<Option<Base>, GitError> {
        let base = |name: &str| {
            let branch = references.branch(name)?;
            let commit = branch.remote.as_ref().or(branch.local.as_ref())?;
            Some(Base {
                name: name.to_owned(),
                commit: commit.clone(),
            })
        };
        if let Some(named) = named {
            if let Some(found) = base(named) {
                return Ok(Some(found));
            }
            if references.branches.is_empty() {
                return Ok(None);
            }
            return Err(GitError::RevisionNotFound {
                path: self.path.clone(),
                revision: named.to_owned(),
                message: "the Repository object names this branch in `spec.git.branch`".to_owned(),
                near: near(named, references.branches.keys().map(String::as_str)),
            });
        }
        let default = references.remote_default.as_deref();
        if let Some(found) = default.and_then(base).or_else(|| base("main")) {
            return Ok(Some(found));
        }
        let unreadable = |error: gix::Error| self.unreadable("`HEAD`".to_owned(), &error);
        let head = self.git.head().map_err(unreadable)?;
        if let Some(found) = head.referent_name().and_then(|name| {
            let name = name.shorten().to_str().ok()?;
            base(name)
        }) {
            return Ok(Some(found));
        }
        if head.is_unborn() {
            return Ok(None);
        }
        let commit = self.commit_of_reference("HEAD")?;
        Ok(commit.map(|commit| Base {
            name: commit.clone(),
            commit,
        }))
    }

    /// The newest commit of a branch among its local and remote-tracking commits; `None` if the two have diverged.
    ///
    /// # Errors
    /// [`GitError::Unreadable`].
    pub fn newest_of(&self, branch: &Branch) -> Result<Option<String>, GitError> {
        let (local, remote) = match (&branch.local, &branch.remote) {
            (Some(local), Some(remote)) if local != remote => (local, remote),
            (one, other) => return Ok(one.as_ref().or(other.as_ref()).cloned()),
        };
        let common = self.merge_base(local, remote)?;
        Ok(match common {
            Some(common) if common == *local => Some(remote.clone()),
            Some(common) if common == *remote => Some(local.clone()),
            _ => None,
        })
    }
}
