//! Which commit a revision is, and what it is called in a Kptfile.

use gix::bstr::BStr;

use super::nearest::nearest;
use super::{GitError, Repository};

/// A commit, and the names by which a Kptfile refers to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// As it was given.
    pub given: String,
    /// The commit's id, in hexadecimal.
    pub commit: String,
    /// For `upstream.git.ref`: the tag or branch without the package's name before it, or the
    /// commit's id where neither was given.
    pub upstream_ref: String,
    /// For `upstreamLock.git.ref`: the same with the package's name.
    pub lock_ref: String,
    /// Whether a tag and a branch of that name are two commits. Here the tag stands for both, as in
    /// Git; kpt takes the branch.
    pub is_ambiguous: bool,
}

impl Repository {
    /// Finds the commit of a revision. As in kpt, a tag `DIRECTORY/REVISION` goes before
    /// `REVISION`, and so does one of a folder around the directory.
    ///
    /// # Errors
    /// [`GitError::RevisionNotFound`]: there is none, there are several, or it is not a commit.
    pub fn resolve(&self, directory: &str, revision: &str) -> Result<Revision, GitError> {
        let mut folder = directory;
        while !folder.is_empty() {
            let tag = format!("{folder}/{revision}");
            if let Some(commit) = self.commit_of_reference(&format!("refs/tags/{tag}"))? {
                return Ok(Revision {
                    given: revision.to_owned(),
                    commit,
                    upstream_ref: revision.to_owned(),
                    lock_ref: tag,
                    is_ambiguous: false,
                });
            }
            folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
        }
        let commit = self.rev_parse(directory, revision)?;
        let tag = self.commit_of_reference(&format!("refs/tags/{revision}"))?;
        let branch = self.commit_of_reference(&format!("refs/heads/{revision}"))?;
        let name = match (&tag, &branch) {
            (None, None) => self.name_in_remote(revision)?.unwrap_or(&commit),
            _ => revision,
        };
        Ok(Revision {
            given: revision.to_owned(),
            upstream_ref: name.to_owned(),
            lock_ref: name.to_owned(),
            is_ambiguous: tag.is_some() && branch.is_some() && tag != branch,
            commit,
        })
    }

    /// Finds the commit with an id, or the one that an annotated tag with that id stands for.
    /// `None` if the repository has no such commit.
    #[must_use]
    pub fn commit_with_id(&self, id: &str) -> Option<String> {
        let id = gix::ObjectId::from_hex(id.as_bytes()).ok()?;
        let object = self.git.try_find_object(id).ok()??;
        let commit = object.peel_to_commit().ok()?;
        Some(commit.id.to_string())
    }

    /// The branch of which `origin/main` and the like are copies.
    fn name_in_remote<'n>(&self, revision: &'n str) -> Result<Option<&'n str>, GitError> {
        let reference = format!("refs/remotes/{revision}");
        if self.commit_of_reference(&reference)?.is_none() {
            return Ok(None);
        }
        Ok(revision.split_once('/').map(|(_, branch)| branch))
    }

    /// The commit of a reference with this full name, if there is one.
    pub(super) fn commit_of_reference(&self, name: &str) -> Result<Option<String>, GitError> {
        let Ok(name) = gix::refs::FullName::try_from(name) else {
            return Ok(None);
        };
        let unreadable = |error: gix::Error| self.unreadable(format!("`{name}`"), &error);
        let found = self.git.try_find_reference(name.as_ref().as_partial_name());
        // A name that is no path of a reference is one that is not there.
        let Ok(Some(mut reference)) = found else {
            return Ok(None);
        };
        if reference.name() != name.as_ref() {
            return Ok(None);
        }
        let id = reference.peel_to_id().map_err(unreadable)?;
        Ok(self.commit_with_id(&id.to_string()))
    }

    fn rev_parse(&self, directory: &str, revision: &str) -> Result<String, GitError> {
        let not_found = |message: String| GitError::RevisionNotFound {
            path: self.path.clone(),
            revision: revision.to_owned(),
            message,
            near: self.near_revisions(directory, revision),
        };
        let spec: &BStr = revision.into();
        let parsed = self.git.rev_parse(spec);
        let parsed = parsed.map_err(|error| not_found(cause(&error)))?;
        let Some(id) = parsed.single() else {
            return Err(not_found("it stands for several commits".to_owned()));
        };
        let object = id.object();
        let object = object.map_err(|error| self.unreadable(format!("`{id}`"), &error))?;
        let kind = object.kind;
        let commit = object.peel_to_commit();
        let commit = commit.map_err(|_| not_found(format!("expected a commit, found a {kind}")))?;
        Ok(commit.id.to_string())
    }

    fn near_revisions(&self, directory: &str, revision: &str) -> Vec<String> {
        let names = self.names_of_references();
        let own = format!("{directory}/");
        let names = names
            .iter()
            .map(|name| name.strip_prefix(&own).unwrap_or(name));
        nearest(revision, names)
    }
}

/// What is wrong with a revision that cannot be resolved.
fn cause(error: &gix::Error) -> String {
    let texts = texts(error);
    match texts.last() {
        Some(text) if !text.contains("could not be found") => text.clone(),
        _ => "no tag, branch or commit has that name".to_owned(),
    }
}

/// An error of several causes, for a message.
pub(super) fn one_line(error: &dyn std::error::Error) -> String {
    texts(error).join(": ")
}

/// The texts of an error and of its causes, without the words by which they are classified.
fn texts(error: &dyn std::error::Error) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.contains(' ') && !texts.contains(&text) {
            texts.push(text);
        }
        next = error.source();
    }
    texts
}
