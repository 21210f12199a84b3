use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;

use super::GitError;
use super::address::differs_from_all;
use super::error::one_line;
use krm_package::LARGEST_FILE;

/// Bytes of memory for the cache of objects from which deltas are resolved.
const CACHE: usize = 32 << 20;

/// A local clone, open for reading.
pub struct Repository {
    /// The path as given.
    pub(super) path: PathBuf,
    pub(super) git: gix::Repository,
}

impl std::fmt::Debug for Repository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Repository").field(&self.path).finish()
    }
}

impl Repository {
    /// Opens a clone: a work tree, a linked work tree or a bare repository. The user's and the system's configuration
    /// and the environment are ignored.
    ///
    /// # Errors
    /// [`GitError::NotARepository`]: there is no repository, or its format is not supported.
    pub fn open(path: &Path) -> Result<Self, GitError> {
        Self::open_with(path, gix::open::Options::isolated())
    }

    /// Opens a clone with these options.
    pub(super) fn open_with(path: &Path, options: gix::open::Options) -> Result<Self, GitError> {
        let refused = |message: String| GitError::NotARepository {
            path: path.to_path_buf(),
            message,
        };
        if !path.exists() {
            let message = "it does not exist; `git clone --mirror URL` makes a local clone";
            return Err(refused(message.to_owned()));
        }
        if let Some(file) = special_file(path) {
            let message = format!("'{}' is not a regular file", file.display());
            return Err(refused(message));
        }
        // This limits objects of any kind, including the bases of deltas.
        let limit = format!("gitoxide.objects.allocLimit={LARGEST_FILE}");
        let options = options.with(gix::sec::Trust::Full);
        let opened = options.config_overrides([limit]).open(path);
        let mut git = opened
            .map_err(|error| refused(one_line(&error) + &hint_around(path)))?
            .to_thread_local();
        if let Some(extension) = unknown_extension(&git) {
            let message = format!("its format is not supported, {extension}");
            return Err(refused(message));
        }
        git.object_cache_size_if_unset(CACHE);
        Ok(Self {
            path: path.to_path_buf(),
            git,
        })
    }

    /// The address of the clone's origin: the URL of the remote, without a password; the clone's own path if there is
    /// no remote.
    pub fn address(&self) -> String {
        let config = self.git.config_snapshot();
        let url = config.string("remote.origin.url");
        let url = url.and_then(|url| Some(without_password(url.to_str().ok()?)));
        url.unwrap_or_else(|| {
            let path = self.path.canonicalize();
            path.as_ref().unwrap_or(&self.path).display().to_string()
        })
    }

    /// The URLs of the clone's remotes if none of them has this address; `None` if one has it, or if that is unknown.
    pub(crate) fn other_remotes(&self, address: &str) -> Option<Vec<String>> {
        let urls = self.remotes();
        let path = address.strip_prefix("file://").unwrap_or(address);
        if !path.starts_with('/') {
            let is_other = differs_from_all(address, urls.iter().map(String::as_str))?;
            return is_other.then_some(urls);
        }
        if urls.is_empty() {
            return None;
        }
        let canonical = |path: &str| Path::new(path).canonicalize().ok();
        let named = canonical(path);
        let locals = urls.iter();
        let mut locals = locals.map(|url| url.strip_prefix("file://").unwrap_or(url));
        let is_named = named.is_some() && named == self.path.canonicalize().ok();
        if is_named
            || locals.any(|local| local == path || named.is_some() && canonical(local) == named)
        {
            return None;
        }
        // Both may be clones of one repository.
        let other = Self::open(Path::new(path)).ok();
        let origins = other.map(|other| other.remotes()).unwrap_or_default();
        let is_sibling = |origin: &String| {
            let own = urls.iter().map(String::as_str);
            urls.contains(origin) || differs_from_all(origin, own) == Some(false)
        };
        (!origins.iter().any(is_sibling)).then_some(urls)
    }

    /// The URLs of the clone's remotes, without passwords.
    fn remotes(&self) -> Vec<String> {
        let config = self.git.config_snapshot();
        let sections = config.plumbing().sections_by_name("remote");
        let urls = sections.into_iter().flatten().flat_map(|section| {
            let urls = section.values("url").into_iter();
            urls.filter_map(|url| Some(without_password(url.to_str().ok()?)))
                .collect::<Vec<_>>()
        });
        urls.collect()
    }

    /// Whether the clone is shallow.
    pub fn is_shallow(&self) -> bool {
        self.git.is_shallow().unwrap_or(false)
    }

    /// The short names of all tags and branches.
    pub(super) fn names_of_references(&self) -> Vec<String> {
        self.names_below("refs/")
    }

    /// The short names of all tags.
    pub fn names_of_tags(&self) -> Vec<String> {
        self.names_below("refs/tags/")
    }

    fn names_below(&self, prefix: &str) -> Vec<String> {
        let Ok(platform) = self.git.references() else {
            return Vec::new();
        };
        let Ok(references) = platform.prefixed(prefix) else {
            return Vec::new();
        };
        let names = references.filter_map(|reference| {
            let reference = reference.ok()?;
            Some(reference.name().shorten().to_str().ok()?.to_owned())
        });
        names.collect()
    }

    /// The error for something that cannot be read.
    pub(super) fn unreadable(&self, what: String, error: &dyn std::error::Error) -> GitError {
        self.cannot_read(what, one_line(error))
    }

    pub(super) fn cannot_read(&self, what: String, message: String) -> GitError {
        GitError::Unreadable {
            path: self.path.clone(),
            what,
            message,
        }
    }

    /// The error for an object that does not exist in the clone.
    pub(super) fn missing(&self, what: String, id: gix::ObjectId) -> GitError {
        let why = if self.is_shallow() {
            "the clone is shallow: `git fetch --unshallow`"
        } else {
            "a clone with `--filter` fetches such objects only when Git needs them: `git fetch --refetch --no-filter`"
        };
        self.cannot_read(what, format!("the object {id} is missing; {why}"))
    }
}

/// A pipe or a device in place of a file that is read on the way to an object: reading it could block forever. Git's
/// objects themselves are read only from regular files.
fn special_file(path: &Path) -> Option<PathBuf> {
    let inside = path.join(".git");
    let folder = if inside.is_dir() { &inside } else { path };
    let files = [
        "HEAD",
        "config",
        "commondir",
        "packed-refs",
        "shallow",
        "objects/info/alternates",
    ];
    let files = files.into_iter().map(|file| folder.join(file));
    let references = walk(&folder.join("refs"));
    let is_special = |file: &PathBuf| {
        let kind = std::fs::metadata(file);
        kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir())
    };
    files.chain(references).find(is_special)
}

/// The paths of all files below a folder.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(folder) = pending.pop() {
        let entries = std::fs::read_dir(folder);
        for entry in entries.into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push(entry.path()),
                _ => found.push(entry.path()),
            }
        }
    }
    found
}

/// Whether a folder is a repository, with or without a work tree.
pub fn is_repository(folder: &Path) -> bool {
    let is_bare = ["HEAD", "objects", "refs"]
        .iter()
        .all(|name| folder.join(name).exists());
    is_bare || folder.join(".git").symlink_metadata().is_ok()
}

/// The repository at a folder, or else the repository whose work tree contains the folder, and the folder's path in
/// it. The folder need not exist.
pub fn repository_around(folder: &Path) -> Option<(PathBuf, String)> {
    if is_repository(folder) {
        return Some((folder.to_path_buf(), String::new()));
    }
    let absolute = std::path::absolute(folder).ok()?;
    let existing = absolute.ancestors().find_map(|above| {
        let rest = absolute.strip_prefix(above).ok()?;
        Some(above.canonicalize().ok()?.join(rest))
    })?;
    let mut above = existing.ancestors().skip(1);
    let root = above.find(|folder| folder.join(".git").exists())?;
    let path = existing.strip_prefix(root).ok()?;
    let names = path.components().map(|name| name.as_os_str().to_str());
    let names: Option<Vec<&str>> = names.collect();
    Some((root.to_path_buf(), names?.join("/")))
}

/// The end of a message about a folder that is inside a work tree.
fn hint_around(path: &Path) -> String {
    match repository_around(path) {
        Some((root, directory)) if !directory.is_empty() => format!(
            "; it is a folder of a repository: `{}//{directory}`",
            root.display()
        ),
        _ => String::new(),
    }
}

/// The name of a repository extension that this program does not support; `None` if there is none.
fn unknown_extension(git: &gix::Repository) -> Option<String> {
    const KNOWN: [&str; 8] = [
        "noop",
        "noop-v1",
        "objectformat",
        "partialclone",
        "preciousobjects",
        "refstorage",
        "relativeworktrees",
        "worktreeconfig",
    ];
    let config = git.config_snapshot();
    let storage = config.string("extensions.refStorage");
    if let Some(storage) = storage.filter(|storage| storage.as_bytes() != b"files") {
        return Some(format!("extensions.refStorage = {storage}"));
    }
    // Git reads other extensions only in repositories of this version.
    if config.integer("core.repositoryFormatVersion") != Some(1) {
        return None;
    }
    let sections = config.plumbing().sections_by_name("extensions");
    let mut names = sections.into_iter().flatten().flat_map(|section| {
        let names = section.value_names();
        names.map(|name| name.to_string()).collect::<Vec<_>>()
    });
    let unknown = names.find(|name| !KNOWN.contains(&name.to_ascii_lowercase().as_str()))?;
    Some(format!("extensions.{unknown}"))
}

/// Removes the user and password of a URL. The user of an SSH address without a password stays.
pub fn without_password(url: &str) -> String {
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
