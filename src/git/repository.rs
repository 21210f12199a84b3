//! A repository, open for reading.

use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;

use super::GitError;
use super::revision::one_line;

/// Memory for objects that others are deltas of.
const CACHE: usize = 32 << 20;

/// A local clone, open for reading.
pub struct Repository {
    /// As it was given.
    pub(super) path: PathBuf,
    pub(super) git: gix::Repository,
}

impl std::fmt::Debug for Repository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Repository").field(&self.path).finish()
    }
}

impl Repository {
    /// Opens a clone: a work tree, a linked one, a bare repository. The user's and the system's
    /// configuration and the environment have no part in it.
    ///
    /// # Errors
    /// [`GitError::NotARepository`]: there is none, or one of a form that is not known.
    pub fn open(path: &Path) -> Result<Self, GitError> {
        let refused = |message: String| GitError::NotARepository {
            path: path.to_path_buf(),
            message,
        };
        if !path.exists() {
            let message = "it does not exist; `git clone --mirror URL` makes a local clone";
            return Err(refused(message.to_owned()));
        }
        let options = gix::open::Options::isolated().with(gix::sec::Trust::Full);
        let opened = options.open(path);
        let mut git = opened
            .map_err(|error| refused(one_line(&error)))?
            .to_thread_local();
        let storage = git.config_snapshot().string("extensions.refStorage");
        if let Some(storage) = storage.filter(|storage| storage.as_bytes() != b"files") {
            let message = format!("its references are kept in a form that is not known, {storage}");
            return Err(refused(message));
        }
        git.object_cache_size_if_unset(CACHE);
        Ok(Self {
            path: path.to_path_buf(),
            git,
        })
    }

    /// Where the clone comes from: the URL of its remote, without a password; else its own path.
    #[must_use]
    pub fn address(&self) -> String {
        let config = self.git.config_snapshot();
        let url = config.string("remote.origin.url");
        let url = url.and_then(|url| Some(without_password(url.to_str().ok()?)));
        url.unwrap_or_else(|| {
            let path = self.path.canonicalize();
            path.as_ref().unwrap_or(&self.path).display().to_string()
        })
    }

    /// Whether its history is cut off.
    #[must_use]
    pub fn is_shallow(&self) -> bool {
        self.git.is_shallow().unwrap_or(false)
    }

    /// The short names of all tags and branches.
    pub(super) fn names_of_references(&self) -> Vec<String> {
        let Ok(platform) = self.git.references() else {
            return Vec::new();
        };
        let Ok(references) = platform.all() else {
            return Vec::new();
        };
        let names = references.filter_map(|reference| {
            let reference = reference.ok()?;
            Some(reference.name().shorten().to_str().ok()?.to_owned())
        });
        names.collect()
    }

    /// The short names of all tags.
    pub(super) fn names_of_tags(&self) -> Vec<String> {
        let Ok(platform) = self.git.references() else {
            return Vec::new();
        };
        let Ok(references) = platform.tags() else {
            return Vec::new();
        };
        let names = references.filter_map(|reference| {
            let reference = reference.ok()?;
            Some(reference.name().shorten().to_str().ok()?.to_owned())
        });
        names.collect()
    }

    /// The error for something that is not to be read.
    pub(super) fn unreadable(&self, what: String, error: &dyn std::error::Error) -> GitError {
        GitError::Unreadable {
            path: self.path.clone(),
            what,
            message: one_line(error),
        }
    }

    /// The error for an object that is not there.
    pub(super) fn missing(&self, what: String, id: gix::ObjectId) -> GitError {
        let why = match self.is_shallow() {
            true => "the clone is shallow: `git fetch --unshallow`",
            false => {
                "a clone with `--filter` fetches such objects only when Git needs them: `git fetch --refetch`"
            }
        };
        GitError::Unreadable {
            path: self.path.clone(),
            what,
            message: format!("the object {id} is not there; {why}"),
        }
    }
}

/// A URL without the password that may stand in it.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    match authority.rsplit_once('@') {
        Some((user, host)) if scheme != "ssh" || user.contains(':') => {
            format!("{scheme}://{host}{path}")
        }
        _ => url.to_owned(),
    }
}
