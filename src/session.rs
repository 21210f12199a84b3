//! A package and the revisions of its upstream.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use krm_core::kptfile::UpstreamLock;
use krm_function::supplied::{Role, SuppliedPackage};
use krm_upstream::git::Revision;
use krm_upstream::{SourceOutsideGit, is_digest};
use krm_yaml::{OwnedDocument, Value};

use super::failure::{Failure, Result, command};
use super::kptfile::{OpenUpgrade, PackageOrigin};
use super::merging::Merger;
use super::package::{Contents, KPTFILE, LocalPackage, RULES};
use super::releases::ListedReference;
use super::upstream::{UpstreamSource, supplied};
use super::worktree;

/// The lock of a package and the address of its repository. An error if the Kptfile does not record them.
pub(crate) fn followed(package: &LocalPackage) -> Result<(&UpstreamLock, &PackageOrigin)> {
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

/// Splits the arguments into the directory and the revision. A single argument is the revision if it is not an existing
/// path, or if it is an archive or image.
pub(crate) fn arguments(arguments: &[String]) -> Result<(PathBuf, Option<String>)> {
    match arguments {
        [] => Ok((PathBuf::from("."), None)),
        [one] if Path::new(one).exists() && SourceOutsideGit::parse(one).is_none() => {
            Ok((PathBuf::from(one), None))
        }
        [one] => {
            // Probably a mistyped directory.
            if !Path::new(KPTFILE).exists() {
                let message =
                    format!("'{one}' is not a package, and neither is the current directory");
                return Err(Failure::new(message).hint("krmv status ."));
            }
            Ok((PathBuf::from("."), Some(one.clone())))
        }
        [directory, revision, ..] => Ok((PathBuf::from(directory), Some(revision.clone()))),
    }
}

/// A package with the upstream that it follows.
pub(crate) struct FollowedPackage<'p> {
    pub(crate) package: &'p LocalPackage,
    pub(crate) lock: &'p UpstreamLock,
    pub(crate) upstream: UpstreamSource,
}

impl<'p> FollowedPackage<'p> {
    /// Opens the upstream and lists its tags and branches. An archive or image that the user names is looked for where
    /// that name says, because the recorded place may be gone.
    pub(crate) fn open(
        package: &'p LocalPackage,
        request: Option<&str>,
        is_offline: bool,
    ) -> Result<Self> {
        let (lock, origin) = followed(package)?;
        worktree::refuse_sparse(package)?;
        let named = request.and_then(SourceOutsideGit::parse);
        let named = named.filter(|_| matches!(origin, PackageOrigin::Files(_)));
        let named = named.map(|named| named.absolute()).transpose()?;
        let origin = named.map_or_else(|| origin.clone(), PackageOrigin::Files);
        let mut upstream = UpstreamSource::open(origin, is_offline)?;
        upstream.list(&lock.directory)?;
        upstream.compare_locked(lock)?;
        upstream.releases.follow(lock.reference.as_deref());
        if request.is_none() {
            upstream.find_newest(locked_name(lock).as_deref())?;
        }
        Ok(Self {
            package,
            lock,
            upstream,
        })
    }

    /// Opens the upstream without the network, for commands other than `get`, `status` and `upgrade`. The list of tags
    /// and branches may be missing.
    pub(crate) fn open_cached(package: &'p LocalPackage) -> Result<Self> {
        let (lock, origin) = followed(package)?;
        worktree::refuse_sparse(package)?;
        let mut upstream = UpstreamSource::open(origin.clone(), true)?;
        // Commits can be read without the list.
        let _ = upstream.list(&lock.directory);
        upstream.releases.follow(lock.reference.as_deref());
        Ok(Self {
            package,
            lock,
            upstream,
        })
    }

    /// The revision that a lock names.
    pub(crate) fn locked_revision(&self, lock: &UpstreamLock) -> Result<Revision> {
        let named = lock.reference.as_deref();
        let known = named.and_then(|name| self.upstream.releases.named(name));
        let commit = lock
            .commit
            .clone()
            .or(known.map(|known| known.commit.clone()));
        let commit = commit.ok_or_else(|| {
            let message = "the lock has no commit, and the repository has no tag or branch named like its `ref`";
            Failure::new(message).hint("krmv help get")
        })?;
        let name = named.unwrap_or(&commit).to_owned();
        let mut revision = Revision::named(&name, commit);
        if let Some(name) = locked_name(lock) {
            revision.lock_ref = name;
        }
        Ok(revision)
    }

    /// The requested revision. Without a request, the newest final release.
    pub(crate) fn target(&self, request: Option<&str>) -> Result<Revision> {
        let upstream = &self.upstream;
        if let Some(request) = request {
            let requested = upstream.requested(&self.lock.directory, request)?;
            return upstream.resolved(requested, Some(self.lock));
        }
        let newest = upstream.releases.newest().map(ListedReference::revision);
        let newest = newest.ok_or_else(|| {
            let next = self.package.command(&["upgrade"]);
            upstream.releases.no_release(upstream.address(), &next)
        })?;
        upstream.resolved(newest, Some(self.lock))
    }

    /// The new revision of an open upgrade, with its names in the Kptfile and the repository.
    pub(crate) fn open_target(&self, open: &OpenUpgrade) -> Revision {
        let wanted = self.package.tracking.requested.clone();
        let name = wanted.unwrap_or_else(|| open.to.clone());
        let known = self.upstream.releases.named(&name);
        let known = known.filter(|known| known.commit == open.to);
        let mut revision = Revision::named(&name, open.to.clone());
        if let Some(known) = known {
            revision.lock_ref.clone_from(&known.name);
        }
        revision
    }

    /// The package at a revision of upstream, as the input for a role.
    pub(crate) fn supplied(&self, revision: &Revision, role: Role) -> Result<Arc<SuppliedPackage>> {
        let files = self.upstream.snapshot(&self.lock.directory, revision)?;
        supplied(files, role, self.package.only_file()?.as_deref(), &[])
    }

    /// The upstream package at the locked revision.
    pub(crate) fn original(&self) -> Result<Arc<SuppliedPackage>> {
        let revision = self.locked_revision(self.lock)?;
        let files = self.upstream.snapshot(&self.lock.directory, &revision);
        let files = files.map_err(|mut error| {
            let name = self.package.name();
            error.message = format!(
                "cannot read the original revision of '{name}': {}",
                error.message
            );
            let source = self.upstream.adopt_source(&self.lock.directory);
            error
                .hints
                .push(command(["krmv", "get", "--adopt", &source, &name]));
            error
        })?;
        supplied(
            files,
            Role::Original,
            self.package.only_file()?.as_deref(),
            &[],
        )
    }

    /// A [`Merger`] of the package with a revision.
    pub(crate) fn merger(&self, target: &Revision) -> Result<Merger> {
        self.merger_from(self.original()?, target)
    }

    /// Like [`Self::merger`], with an original package that was read before.
    pub(crate) fn merger_from(
        &self,
        original: Arc<SuppliedPackage>,
        target: &Revision,
    ) -> Result<Merger> {
        let file = self.package.only_file()?;
        let own_path = &self.lock.directory;
        let (files, path) = match &self.lock.commit {
            Some(from) => self.upstream.snapshot_since(own_path, from, target)?,
            None => (self.upstream.snapshot(own_path, target)?, own_path.clone()),
        };
        let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
        if file.is_some() && name(&path) != name(own_path) {
            let message =
                format!("upstream has the file of this package under another name, `{path}`");
            let address = self.upstream.address();
            let source = format!("{address}//{path}@{}", target.upstream_ref);
            return Err(Failure::new(message).hint(command(["krmv", "get", &source])));
        }
        let upstream = supplied(files, Role::Upstream, file.as_deref(), &[&original])?;
        Ok(Merger {
            original,
            upstream,
            local: None,
            strategy: self.lock.update_strategy.clone(),
            rules: remembered(&self.package.contents)?,
            file,
            path,
        })
    }
}

/// The name of the locked revision: the release of an archive or image, otherwise `ref`.
pub(crate) fn locked_name(lock: &UpstreamLock) -> Option<String> {
    let is_file = lock.commit.as_deref().is_some_and(is_digest);
    let files = lock.reference.as_deref().filter(|_| is_file);
    let release = files.and_then(|source| {
        let remote = super::sources::release_of(source);
        remote.or_else(|| SourceOutsideGit::parse(source)?.release)
    });
    release.or_else(|| lock.reference.clone())
}

/// The rules in `.krmv.yaml`. Empty if there is no such file.
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
