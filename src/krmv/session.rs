//! A package and the revisions of its upstream.

use std::sync::Arc;

use krm_variants::git::Revision;
use krm_variants::kptfile::UpstreamLock;
use krm_variants::supplied::{Role, SuppliedPackage};
use krm_variants::upstream::{FileSource, is_digest};
use krm_variants::yaml::{OwnedDocument, Value};

use super::failure::{Failure, Result, command};
use super::kptfile::OpenUpgrade;
use super::merging::Merger;
use super::package::{Contents, LocalPackage};
use super::releases::{ListedReference, Releases};
use super::upstream::{UpstreamSource, supplied, supplied_like};

/// The file that remembered decisions are in.
pub(crate) const RULES: &str = ".krmv.yaml";

/// The lock and the repository of a package that follows one.
pub(crate) fn followed(package: &LocalPackage) -> Result<(&UpstreamLock, &str)> {
    let name = package.name();
    let tracking = &package.tracking;
    match (&tracking.lock, &tracking.repository) {
        (Some(lock), Some(repository)) => Ok((lock, repository)),
        _ => {
            let message = format!(
                "the Kptfile of '{name}' records no revision of an upstream (`upstreamLock`); \
                 `krmv get --adopt SOURCE {name}` finds it by the content"
            );
            Err(Failure::new(message).hint("krmv help get"))
        }
    }
}

/// The revision that the lock names.
pub(crate) fn locked_revision(
    lock: &UpstreamLock,
    releases: Option<&Releases>,
) -> Result<Revision> {
    let named = lock.reference.as_deref();
    let known = named.and_then(|name| releases?.named(name));
    let commit = lock
        .commit
        .clone()
        .or(known.map(|known| known.commit.clone()));
    let commit = commit.ok_or_else(|| {
        let message =
            "the lock has no commit, and the repository has no tag or branch named like its `ref`";
        Failure::new(message).hint("krmv help get")
    })?;
    let name = named.unwrap_or(&commit).to_owned();
    let mut revision = Revision::named(&name, commit);
    if let Some(name) = locked_name(lock) {
        revision.lock_ref = name;
    }
    Ok(revision)
}

/// What a person calls the revision of a lock.
pub(crate) fn locked_name(lock: &UpstreamLock) -> Option<String> {
    let is_file = lock.commit.as_deref().is_some_and(is_digest);
    let files = lock.reference.as_deref().filter(|_| is_file);
    let release = files.and_then(|source| FileSource::parse(source)?.release);
    release.or_else(|| lock.reference.clone())
}

/// The package at the lock's revision.
pub(crate) fn original(
    package: &LocalPackage,
    upstream: &UpstreamSource,
    releases: Option<&Releases>,
) -> Result<Arc<SuppliedPackage>> {
    let (lock, address) = followed(package)?;
    let revision = locked_revision(lock, releases)?;
    // A tag that was moved is another commit.
    let reference = lock
        .reference
        .as_deref()
        .and_then(|name| releases?.named(name));
    let reference = reference.filter(|found| Some(&found.commit) == lock.commit.as_ref());
    let files = upstream.snapshot(&package.tracking.path(), &revision, reference);
    let files = files.map_err(|mut error| {
        let name = package.name();
        error.message = format!(
            "cannot read the original revision of '{name}': {}",
            error.message
        );
        let source = format!("{address}//{}", package.tracking.path());
        error
            .hints
            .push(command(["krmv", "get", "--adopt", &source, &name]));
        error
    })?;
    supplied(files, Role::Original, package.only_file()?.as_deref())
}

/// What merges a package with a revision.
pub(crate) fn merger(
    package: &LocalPackage,
    upstream: &UpstreamSource,
    releases: Option<&Releases>,
    target: &Revision,
    reference: Option<&ListedReference>,
) -> Result<Merger> {
    let original = original(package, upstream, releases)?;
    merger_from(original, package, upstream, target, reference)
}

/// The same, with the original revision read before.
pub(crate) fn merger_from(
    original: Arc<SuppliedPackage>,
    package: &LocalPackage,
    upstream: &UpstreamSource,
    target: &Revision,
    reference: Option<&ListedReference>,
) -> Result<Merger> {
    let file = package.only_file()?;
    let path = package.tracking.path();
    let lock = package.tracking.lock.as_ref();
    let from = lock.and_then(|lock| lock.commit.as_deref());
    let (files, path) = match from {
        Some(from) => upstream.snapshot_since(&path, from, target, reference)?,
        None => (upstream.snapshot(&path, target, reference)?, path),
    };
    let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
    if file.is_some() && name(&path) != name(&package.tracking.path()) {
        let message = format!("upstream has the file of this package under another name, `{path}`");
        let source = format!("{}//{path}@{}", upstream.address(), target.upstream_ref);
        return Err(Failure::new(message).hint(command(["krmv", "get", &source])));
    }
    let name = file.as_deref();
    let upstream = supplied_like(files, Role::Upstream, name, &[&original])?;
    Ok(Merger {
        original,
        upstream,
        local: None,
        strategy: lock.and_then(|lock| lock.update_strategy.clone()),
        rules: remembered(&package.contents)?,
        file,
        path,
    })
}

/// The decisions that a package remembers.
pub(crate) fn remembered(contents: &Contents) -> Result<Vec<Value>> {
    let Some(bytes) = contents.get(RULES) else {
        return Ok(Vec::new());
    };
    let text = String::from_utf8_lossy(bytes).into_owned();
    let wrong = |what: &str| {
        let message =
            format!("{RULES}: expected a ConflictRules (fn.kpt.dev/v1alpha1), found {what}");
        Failure::new(message).hint("krmv help conflicts")
    };
    let document =
        OwnedDocument::parse(text).map_err(|error| Failure::new(format!("{RULES}: {error}")))?;
    let root = document.root().ok_or_else(|| wrong("nothing"))?;
    if root.get("kind").and_then(|kind| kind.as_str()) != Some("ConflictRules") {
        return Err(wrong("another kind"));
    }
    match root
        .value()
        .as_ref()
        .and_then(|value| value.get("conflicts"))
    {
        Some(Value::Sequence(rules)) => Ok(rules.clone()),
        None => Ok(Vec::new()),
        Some(other) => Err(wrong(other.kind())),
    }
}

/// The revision that an open upgrade goes to, with the names that the Kptfile and the repository have for it.
pub(crate) fn open_target(
    package: &LocalPackage,
    open: &OpenUpgrade,
    releases: Option<&Releases>,
) -> Revision {
    let wanted = package.tracking.wanted.clone();
    let name = wanted.unwrap_or_else(|| open.to.clone());
    let known = releases.and_then(|releases| releases.named(&name));
    let known = known.filter(|known| known.commit == open.to);
    let mut revision = Revision::named(&name, open.to.clone());
    if let Some(known) = known {
        revision.lock_ref.clone_from(&known.name);
    }
    revision
}
