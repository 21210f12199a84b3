//! Upstream packages in Git: a directory or file of a repository at a revision.

use std::any::Any;
use std::fmt;
use std::path::Path as FilePath;
use std::sync::Arc;

use super::{lock_of, recorded};
use crate::git::{GitSource, Repository, Revision, Snapshot, without_password};
use krm_core::config::UsageError;
use krm_core::kptfile::{NewLock, UpstreamLock};
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Reason, Results};
use krm_core::upstream_revision::{Locked, UpstreamRevision};
use krm_package::Package;
use krm_yaml::{EditError, Editor, NodeRef, Path};

/// A directory or file of a repository at a commit.
#[derive(Debug, Clone)]
pub struct GitOrigin {
    /// The directory or file, as requested.
    pub source: GitSource,
    /// The revision that the request resolved to.
    pub revision: Revision,
    /// Whether it is a file rather than a directory.
    pub is_file: bool,
    /// The address that the clone was made from, for a Kptfile that does not name one yet.
    pub address: String,
}

impl GitOrigin {
    /// The origin of a snapshot that was read.
    pub fn of(source: GitSource, snapshot: &Snapshot) -> Self {
        Self {
            revision: snapshot.revision.clone(),
            is_file: snapshot.package.only_file.is_some(),
            address: snapshot.address.clone(),
            source,
        }
    }

    /// The directory in Git that a revision is; `None` for one of another source.
    pub fn of_revision(revision: &dyn UpstreamRevision) -> Option<&Self> {
        let revision: &dyn Any = revision;
        revision.downcast_ref()
    }

    fn repository(&self) -> Result<Repository, UsageError> {
        Repository::open(&self.source.repository).map_err(UsageError::of)
    }
}

pub(super) fn open(flag: &FilePath) -> Result<Option<Arc<dyn UpstreamRevision>>, UsageError> {
    let Some(source) = GitSource::of_flag(flag).map_err(UsageError::of)? else {
        return Ok(None);
    };
    let repository = Repository::open(&source.repository).map_err(UsageError::of)?;
    let revision = repository.resolve(&source.directory, &source.revision);
    let revision = revision.map_err(UsageError::of)?;
    let tree = repository.tree_of(&source.directory, &revision.commit);
    Ok(Some(Arc::new(GitOrigin {
        is_file: tree.map_err(UsageError::of)?.is_none(),
        address: repository.address(),
        source,
        revision,
    })))
}

impl fmt::Display for GitOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl UpstreamRevision for GitOrigin {
    fn name(&self) -> &str {
        &self.revision.lock_ref
    }

    fn id(&self) -> String {
        format!("commit {}", self.revision.commit)
    }

    fn flag(&self) -> String {
        let source = GitSource {
            revision: self.revision.commit.clone(),
            ..self.source.clone()
        };
        source.to_string()
    }

    fn package_name(&self) -> &str {
        let name = self.source.directory.rsplit('/').next();
        let name = name.map(|name| match name.rsplit_once('.') {
            Some((name, _)) if self.is_file => name,
            _ => name,
        });
        let repository = self.address.trim_end_matches('/').rsplit('/').next();
        let repository = repository.unwrap_or_default().trim_end_matches(".git");
        name.filter(|name| !name.is_empty()).unwrap_or(repository)
    }

    fn warning(&self) -> Option<(Reason, String)> {
        self.revision.is_ambiguous.then(|| {
            let message = format!(
                "`{}` is both a tag and a branch in the repository '{}'; used the tag (kpt uses the branch)",
                self.revision.given,
                self.source.repository.display()
            );
            (Reason::AmbiguousRevision, message)
        })
    }

    fn read(&self) -> Result<Package, UsageError> {
        let repository = self.repository()?;
        let read = repository.read(&self.source.directory, self.revision.clone());
        Ok(read.map_err(UsageError::of)?.package)
    }

    fn clone_only_files(&self, is_read: &dyn Fn(&str) -> bool) -> Result<Package, UsageError> {
        if self.is_file {
            return Ok(Package::default());
        }
        let (directory, commit) = (&self.source.directory, &self.revision.commit);
        let unread = self
            .repository()?
            .clone_only_files(directory, commit, is_read);
        unread.map_err(UsageError::of)
    }

    fn locked(
        &self,
        local: &ResourceList,
        kptfile: ItemId,
        results: &mut Results,
    ) -> Result<Locked, UsageError> {
        locked(local, kptfile, self, &self.repository()?, results)
    }

    fn recorded(&self, kptfile: NodeRef<'_>) -> (Option<String>, Option<String>) {
        let lock = UpstreamLock::read(kptfile).ok().flatten();
        let lock = lock.unwrap_or_default();
        let id = lock.commit.map(|commit| format!("commit {commit}"));
        (lock.reference, id)
    }

    fn record<'d>(
        &self,
        repository: Option<&str>,
        kptfile: NodeRef<'d>,
        editor: &mut Editor<'d, '_>,
    ) -> Result<(), EditError> {
        let named = UpstreamLock::repository(kptfile);
        recorded::forget(kptfile, editor);
        let repository = repository.or(named.as_deref()).unwrap_or(&self.address);
        let directory = &self.source.directory;
        NewLock::of_commit(repository, directory, self.is_file, &self.revision)
            .write(kptfile, editor)
    }

    fn place(&self) -> Path {
        Path::fields(&["upstreamLock", "git"])
    }
}

/// Finds the revision that the lock of a Kptfile names.
///
/// The lock's commit decides; if the repository does not have it, the tag in the lock does. A branch does not: it may
/// have moved since, and then the changes in between would be lost.
///
/// # Errors
/// [`UsageError`]: the repository cannot be read.
pub fn locked(
    local: &ResourceList,
    kptfile: ItemId,
    upstream: &GitOrigin,
    repository: &Repository,
    results: &mut Results,
) -> Result<Locked, UsageError> {
    let lock = match lock_of(local, kptfile) {
        Ok(Some(lock)) => lock,
        Ok(None) => return Ok(Locked::Absent(None)),
        Err(error) => return Ok(Locked::Absent(Some(error))),
    };
    let Some(commit) = commit_of(&lock, kptfile, local, upstream, repository, results) else {
        return Ok(Locked::NotFound);
    };
    let is_here = commit == upstream.revision.commit;
    let is_older = !is_here && {
        let contains = repository.contains(&commit, &upstream.revision.commit);
        contains.map_err(UsageError::of)?
    };
    if is_older {
        let before = lock.reference.as_deref().unwrap_or(&commit);
        let result = older_revision(&upstream.revision.lock_ref, before);
        let result = result.with_resource(local.resource(kptfile));
        results.push(result.with_field(Path::fields(&COMMIT)));
    }
    if is_here && lock.directory == upstream.source.directory {
        return Ok(Locked::Same);
    }
    let tree = repository.content_of(&lock.directory, &commit);
    let (directory, is_file) = match tree.map_err(UsageError::of)? {
        Some(_) => (lock.directory.clone(), lock.is_file),
        // The lock names the directory of another repository.
        None => (upstream.source.directory.clone(), upstream.is_file),
    };
    if is_here && directory == upstream.source.directory {
        return Ok(Locked::Same);
    }
    let name = lock.reference.clone().unwrap_or_else(|| commit.clone());
    let source = GitSource {
        repository: upstream.source.repository.clone(),
        directory,
        revision: name.clone(),
    };
    Ok(Locked::Other(Arc::new(GitOrigin {
        source,
        revision: Revision::named(&name, commit),
        is_file,
        address: upstream.address.clone(),
    })))
}

const COMMIT: [&str; 3] = ["upstreamLock", "git", "commit"];

/// The commit that a lock names, or else the commit of its tag. `None` after an error result.
fn commit_of(
    lock: &UpstreamLock,
    kptfile: ItemId,
    local: &ResourceList,
    upstream: &GitOrigin,
    repository: &Repository,
    results: &mut Results,
) -> Option<String> {
    let known = lock.commit.as_deref();
    // The usual case, which needs no access to the repository.
    if known == Some(&upstream.revision.commit) {
        return known.map(str::to_owned);
    }
    if let Some(commit) = known.and_then(|id| repository.commit_with_id(id)) {
        return Some(commit);
    }
    let mut report = |path: &[&str], result: FunctionResult| {
        let result = result.with_resource(local.resource(kptfile));
        results.push(result.with_field(Path::fields(path)));
    };
    if let Some(named) = local.read(kptfile, UpstreamLock::repository)
        && let Some(remotes) = repository.other_remotes(&named)
    {
        let result = wrong_repository(&named, &upstream.source, &remotes);
        report(&["upstream", "git", "repo"], result);
        return None;
    }
    let Some((tag, commit)) = tag_of(repository, lock) else {
        let result = not_found(lock, &upstream.source, repository.is_shallow());
        report(&COMMIT, result);
        return None;
    };
    if let Some(id) = known {
        let message = format!(
            "the commit `{id}` is not in the repository '{}'; the tag `{tag}` was used instead",
            upstream.source.repository.display()
        );
        report(
            &COMMIT,
            FunctionResult::warning(Reason::CommitNotFound, message),
        );
    }
    Some(commit)
}

/// The tag that a lock names, and the tag's commit.
fn tag_of<'l>(repository: &Repository, lock: &'l UpstreamLock) -> Option<(&'l str, String)> {
    let name = lock.reference.as_deref()?;
    let tag = format!("refs/tags/{name}");
    let revision = repository.resolve(&lock.directory, &tag).ok()?;
    Some((name, revision.commit))
}

fn wrong_repository(named: &str, source: &GitSource, remotes: &[String]) -> FunctionResult {
    let named = without_password(named);
    let message = format!(
        "expected a clone of the repository that the Kptfile names, `{named}`, found '{}', a clone of `{}`; it does not contain the commit in the lock",
        source.repository.display(),
        remotes.join("`, `")
    );
    FunctionResult::error(Reason::WrongRepository, message)
}

/// The warning about a downgrade.
pub fn older_revision(new: &str, before: &str) -> FunctionResult {
    let message = format!(
        "`{new}` is older than `{before}`, the original revision: the merge undoes the changes in between"
    );
    let result = FunctionResult::warning(Reason::OlderRevision, message);
    result
        .tag("from", before.to_owned())
        .tag("to", new.to_owned())
}

fn not_found(lock: &UpstreamLock, source: &GitSource, is_shallow: bool) -> FunctionResult {
    let path = source.repository.display();
    let commit = lock.commit.iter();
    let commit = commit.map(|commit| format!("the commit `{commit}`"));
    let tag = lock.reference.iter().map(|name| format!("a tag `{name}`"));
    let named: Vec<String> = commit.chain(tag).collect();
    let fetch = match (is_shallow, &lock.commit) {
        (true, _) => format!("git -C '{path}' fetch --unshallow --tags"),
        (false, Some(commit)) => format!("git -C '{path}' fetch origin {commit}"),
        (false, None) => format!("git -C '{path}' fetch --tags"),
    };
    let message = format!(
        "expected the original revision in the repository '{path}', {}, \
         found none; to get it: {fetch}",
        named.join(" or ")
    );
    FunctionResult::error(Reason::OriginalNotFound, message)
}
