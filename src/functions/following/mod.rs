//! A package with an upstream in a Git repository: the revision that it is based on, and its
//! `upstreamLock`.
//!
//! Source: contract, Upstreams from Git.

mod search;

pub(crate) use search::find_original;

use crate::config::UsageError;
use crate::git::{GitError, GitSource, Repository, Revision};
use crate::kptfile::{NewLock, UpstreamLock, root_kptfile};
use crate::resource::{INDEX_ANNOTATIONS, PATH_ANNOTATIONS};
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason, Results};
use crate::supplied::{GitOrigin, Role, SuppliedPackage};
use crate::yaml::{Path, Value, to_block_text};

/// The state of a package relative to the new revision of its upstream.
#[derive(Debug)]
pub(crate) enum Standing {
    /// The package is based on that commit.
    UpToDate,
    /// The package is based on this other revision.
    Behind(Box<Original>),
    /// The package has no Kptfile, or its Kptfile has no lock; with the error for a lock that no revision can be
    /// read from.
    Unlocked(Option<Box<FunctionResult>>),
    /// The repository lacks the revision in the Kptfile; an error result says so.
    NotFound,
}

/// The revision that a package is based on.
#[derive(Debug)]
pub(crate) struct Original {
    /// Its files.
    pub(crate) package: SuppliedPackage,
    /// The Kptfile's lock.
    pub(crate) lock: UpstreamLock,
}

/// The repository to write into a Kptfile.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Recorded<'a> {
    /// The one that the Kptfile names, or else the address of the clone.
    Kept,
    /// This one, since the package is new.
    New(&'a str),
}

/// Where the lock of a package points, relative to the new revision of its upstream.
#[derive(Debug)]
pub(crate) enum Locked {
    /// To the same commit and directory.
    Same,
    /// To another revision.
    Other(Box<OtherRevision>),
    /// Nowhere, as [`Standing::Unlocked`].
    Absent(Option<Box<FunctionResult>>),
    /// To a revision that the repository lacks; an error result says so.
    NotFound,
}

/// Another revision than the new one.
#[derive(Debug)]
pub(crate) struct OtherRevision {
    /// The directory that the package is based on.
    pub(crate) source: GitSource,
    /// The commit that it is based on.
    pub(crate) revision: Revision,
    /// The Kptfile's lock.
    pub(crate) lock: UpstreamLock,
}

/// Compares the `upstreamLock` of the root Kptfile with an upstream, and reads the revision that the
/// package is based on.
///
/// # Errors
/// [`UsageError`]: the repository cannot be read.
pub(crate) fn standing(
    local: &ResourceList,
    upstream: &GitOrigin,
    results: &mut Results,
) -> Result<Standing, UsageError> {
    let repository = Repository::open(&upstream.source.repository).map_err(failed)?;
    Ok(match locked(local, upstream, &repository, results)? {
        Locked::Same => Standing::UpToDate,
        Locked::Absent(error) => Standing::Unlocked(error),
        Locked::NotFound => Standing::NotFound,
        Locked::Other(other) => {
            let OtherRevision {
                source,
                revision,
                lock,
            } = *other;
            let snapshot = repository.read(&source.directory, revision);
            let mut snapshot = snapshot.map_err(failed)?;
            snapshot.package = snapshot.package.named_as(local.only_file());
            let package = SuppliedPackage::from_git(Role::Original, source, snapshot, results)?;
            Standing::Behind(Box::new(Original { package, lock }))
        }
    })
}

fn failed(error: GitError) -> UsageError {
    UsageError(format!("role `{}`: {error}", Role::Original))
}

/// Finds the revision that the lock of the root Kptfile names.
///
/// The lock's commit decides; if the repository lacks it, the tag in the lock. A branch does not: it
/// may have moved since, and the changes between would be lost.
///
/// # Errors
/// [`UsageError`]: the repository cannot be read.
pub(crate) fn locked(
    local: &ResourceList,
    upstream: &GitOrigin,
    repository: &Repository,
    results: &mut Results,
) -> Result<Locked, UsageError> {
    let Some(kptfile) = root_kptfile(local) else {
        return Ok(Locked::Absent(None));
    };
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
        contains.map_err(failed)?
    };
    if is_older {
        let before = lock.reference.as_deref().unwrap_or(&commit);
        let result = older_revision(&upstream.revision.lock_ref, before);
        let result = result.about(local.resource(kptfile));
        results.push(result.at(Path::fields(&COMMIT)));
    }
    if is_here && lock.directory == upstream.source.directory {
        return Ok(Locked::Same);
    }
    let tree = repository.content_of(&lock.directory, &commit);
    let directory = match tree.map_err(failed)? {
        Some(_) => lock.directory.clone(),
        // The lock names the directory of another clone.
        None => upstream.source.directory.clone(),
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
    let revision = Revision::named(&name, commit);
    Ok(Locked::Other(Box::new(OtherRevision {
        source,
        revision,
        lock,
    })))
}

const COMMIT: [&str; 3] = ["upstreamLock", "git", "commit"];

/// The commit that a lock names: its own, or else that of its tag. `None` after an error result.
fn commit_of(
    lock: &UpstreamLock,
    kptfile: ItemId,
    local: &ResourceList,
    upstream: &GitOrigin,
    repository: &Repository,
    results: &mut Results,
) -> Option<String> {
    let known = lock.commit.as_deref();
    // The usual case, without a look at the repository.
    if known == Some(&upstream.revision.commit) {
        return known.map(str::to_owned);
    }
    if let Some(commit) = known.and_then(|id| repository.commit_with_id(id)) {
        return Some(commit);
    }
    let mut report = |path: &[&str], result: FunctionResult| {
        results.push(result.about(local.resource(kptfile)).at(Path::fields(path)));
    };
    if let Some(said) = local.read(kptfile, UpstreamLock::repository)
        && let Some(remotes) = repository.other_remotes(&said)
    {
        let result = wrong_repository(&said, &upstream.source, &remotes);
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
            "the commit `{id}` is not in the repository '{}'; the tag `{tag}` was taken for it",
            upstream.source.repository.display()
        );
        report(
            &COMMIT,
            FunctionResult::warning(Reason::CommitNotFound, message),
        );
    }
    Some(commit)
}

/// The lock of a Kptfile; an error result if no revision can be read from it.
pub(crate) fn lock_of(
    local: &ResourceList,
    kptfile: ItemId,
) -> Result<Option<UpstreamLock>, Box<FunctionResult>> {
    local.read(kptfile, UpstreamLock::read).map_err(|error| {
        let message = format!("cannot find the original revision: {error}");
        let result = FunctionResult::error(Reason::OriginalNotFound, message);
        Box::new(result.about(local.resource(kptfile)).at(error.path()))
    })
}

/// The tag that a lock names, and its commit.
fn tag_of<'l>(repository: &Repository, lock: &'l UpstreamLock) -> Option<(&'l str, String)> {
    let name = lock.reference.as_deref()?;
    let tag = format!("refs/tags/{name}");
    let revision = repository.resolve(&lock.directory, &tag).ok()?;
    Some((name, revision.commit))
}

fn wrong_repository(said: &str, source: &GitSource, remotes: &[String]) -> FunctionResult {
    let message = format!(
        "expected a clone of the repository that the Kptfile names, `{said}`, found '{}', a clone of `{}`; \
         its commits do not include that of the lock",
        source.repository.display(),
        remotes.join("`, `")
    );
    FunctionResult::error(Reason::WrongRepository, message)
}

/// A warning about a downgrade.
pub(crate) fn older_revision(new: &str, before: &str) -> FunctionResult {
    let message = format!(
        "`{new}` is older than `{before}`, which the package is based on: the merge takes back what came since"
    );
    let result = FunctionResult::warning(Reason::OlderRevision, message);
    result
        .tag("from", before.to_owned())
        .tag("to", new.to_owned())
}

fn not_found(lock: &UpstreamLock, source: &GitSource, is_shallow: bool) -> FunctionResult {
    let path = source.repository.display();
    let commit = lock
        .commit
        .as_deref()
        .map(|commit| format!("the commit `{commit}`"));
    let tag = lock
        .reference
        .as_deref()
        .map(|name| format!("a tag `{name}`"));
    let named: Vec<String> = commit.into_iter().chain(tag).collect();
    let fetch = match (is_shallow, &lock.commit) {
        (true, _) => format!("git -C '{path}' fetch --unshallow --tags"),
        (false, Some(commit)) => format!("git -C '{path}' fetch origin {commit}"),
        (false, None) => format!("git -C '{path}' fetch --tags"),
    };
    let message = format!(
        "expected the revision that the package is based on in the repository '{path}', {}, \
         found none; to get it: {fetch}",
        named.join(" or ")
    );
    FunctionResult::error(Reason::OriginalNotFound, message)
}

/// Writes `upstream` and `upstreamLock` of the root Kptfile, for the next update, and reports an info
/// result. A missing Kptfile is a warning.
pub(crate) fn write_lock(
    local: &mut ResourceList,
    upstream: &GitOrigin,
    repository: Recorded<'_>,
    results: &mut Results,
) {
    let revision = &upstream.revision;
    let Some(kptfile) = root_kptfile(local) else {
        let message = format!(
            "there is no Kptfile to record the new revision in; give it as `--original \
             '{}//{}?ref={}'` next time",
            upstream.source.repository.display(),
            upstream.source.directory,
            revision.commit
        );
        results.push(FunctionResult::warning(Reason::KptfileNotFound, message));
        return;
    };
    let said = local.read(kptfile, UpstreamLock::repository);
    let repository = match (&said, repository) {
        (Some(said), Recorded::Kept) => said,
        (None, Recorded::Kept) => upstream.address.as_str(),
        (_, Recorded::New(address)) => address,
    };
    let directory = &upstream.source.directory;
    let lock = NewLock::of_commit(repository, directory, upstream.is_file, revision);
    let before = lock_of(local, kptfile).ok().flatten().unwrap_or_default();
    let written = local.edit(kptfile, |node, editor| lock.write(node, editor));
    let resource = local.resource(kptfile);
    let result = match written {
        Err(error) => FunctionResult::refused(&error),
        Ok(()) if before.commit.as_deref() == Some(&revision.commit) => return,
        Ok(()) => {
            let result = FunctionResult::info(format!(
                "the package is based on `{}` now, commit {}",
                revision.lock_ref, revision.commit
            ));
            let from = before.reference.map(|name| ("from", name));
            let tags = from.into_iter().chain([("to", revision.lock_ref.clone())]);
            tags.fold(result, |result, (name, value)| result.tag(name, value))
        }
    };
    let path = Path::fields(&["upstreamLock", "git"]);
    results.push(result.about(resource).at(path));
}

/// Creates a missing root Kptfile, named after upstream's directory.
///
/// # Errors
/// [`UsageError`]: the ResourceList cannot take it.
pub(crate) fn make_kptfile(
    local: &mut ResourceList,
    upstream: &GitOrigin,
) -> Result<(), UsageError> {
    if root_kptfile(local).is_some() {
        return Ok(());
    }
    let refused = |error: &dyn std::error::Error| UsageError(error.to_string());
    let directory = upstream.source.directory.rsplit('/').next();
    let repository = upstream.address.trim_end_matches('/').rsplit('/').next();
    let repository = repository.unwrap_or_default().trim_end_matches(".git");
    let directory = directory.map(|name| match name.rsplit_once('.') {
        Some((name, _)) if upstream.is_file => name,
        _ => name,
    });
    let name = directory
        .filter(|name| !name.is_empty())
        .unwrap_or(repository);
    let entry = |key: &str, value: Value| (Value::from(key), value);
    let mut metadata = vec![entry("name", Value::from(name))];
    if !local.is_package() {
        // kpt puts an item into its file by these.
        let places = INDEX_ANNOTATIONS
            .iter()
            .map(|name| entry(name, Value::from("0")));
        let paths = PATH_ANNOTATIONS
            .iter()
            .map(|name| entry(name, Value::from("Kptfile")));
        let annotations = Value::Mapping(places.chain(paths).collect());
        metadata.push(entry("annotations", annotations));
    }
    let text = to_block_text(&Value::Mapping(vec![
        entry("apiVersion", Value::from("kpt.dev/v1")),
        entry("kind", Value::from("Kptfile")),
        entry("metadata", Value::Mapping(metadata)),
    ]));
    let made = ResourceList::from_texts([("Kptfile".to_owned(), text)]);
    let made = made.map_err(|error| refused(&error))?;
    local.adopt(made).map_err(|error| refused(&error))
}
