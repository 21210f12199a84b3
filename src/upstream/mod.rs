//! The upstream that a package comes from: its revisions, and the files of a revision.
//!
//! ```text
//! UpstreamKind    releases()   the names of its revisions          a repository, archives and layouts on this machine,
//!                 fetch()      one of them, on this machine        files, charts and images on another one
//! UpstreamSource  what every command asks, whatever the kind is
//! ```
//!
//! A new kind of source is one more implementation of [`UpstreamKind`]. Only what is about commits asks for the
//! [history](UpstreamSource::history).

mod files;
mod remote;
mod repository;
mod supplied;

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use krm_address::{Credentials, Surroundings};
use krm_core::kptfile::UpstreamLock;
use krm_core::results::FunctionResult;
use krm_core::upstream_revision::UpstreamRevision;
use krm_remote::{RemoteError, RemoteUpstream};
use krm_render::{KnownValues, RenderRequest, RenderedPackage};
use krm_upstream::git::{Repository, Revision, Snapshot, without_password};
use krm_upstream::source_end;

use super::failure::{Failure, Hint, Result, command};
use super::kptfile::{PackageOrigin, locked_name};
use super::own_repository::OwnRepository;
use super::package::Contents;
use super::releases::{ListedReference, Releases};
use super::rendering::render;
use super::shared::{Histories, Listings, cache};
use super::source::SourceArgument;

use files::FilesUpstream;
use remote::KrmvClient;
use repository::GitUpstream;

pub(crate) use supplied::{contents, supplied, supplied_with_ignored, to_clone};

/// A kind of source.
pub(crate) trait UpstreamKind: Send + Sync {
    /// Its releases, for a directory.
    fn releases(&self, directory: &str, listings: &mut Listings) -> Result<Releases>;

    /// Brings a revision onto this machine. `listed` is a reference to it, if one is known.
    fn fetch(
        &self,
        path: &str,
        revision: &Revision,
        listed: Option<&ListedReference>,
    ) -> Result<FetchedRevision>;

    /// A revision by a name that no list has.
    fn by_other_name(
        &self,
        directory: &str,
        name: &str,
        listed: Option<&ListedReference>,
    ) -> Option<Revision>;

    /// Whether a revision with a name that no list has may be one of this source.
    fn may_have(&self, _request: &str) -> bool {
        true
    }

    /// A revision with its exact commit or digest. `locked` is what the package records.
    fn resolved(&self, revision: Revision, _locked: Option<&UpstreamLock>) -> Result<Revision> {
        Ok(revision)
    }

    /// The locked release, and its commit or digest now. `None` if the list of releases says it.
    fn current(&self, _lock: &UpstreamLock) -> Result<Option<(String, String)>> {
        Ok(None)
    }

    /// Whether a listed release has the package.
    fn has(&self, _release: &ListedReference) -> Result<bool> {
        Ok(true)
    }

    /// Whether a listed release is known not to have the package.
    fn lacks(&self, _release: &str) -> bool {
        false
    }

    /// The commit or digest of a release, as far as it is known without the network.
    fn known_commit(&self, release: &ListedReference) -> Option<String> {
        Some(release.commit.clone())
    }

    /// What the user should know of a release.
    fn note(&self, _release: &str) -> Option<String> {
        None
    }

    /// Whether a path in it is a package of one file.
    fn is_only_file(&self, path: &str) -> bool {
        krm_upstream::is_only_file(path)
    }

    /// What names a part of it at a revision, for a command line. `address` is its name for the user.
    fn arguments(&self, address: &str, path: &str, revision: Option<&str>) -> Vec<String> {
        let revision = revision.map(|revision| format!("@{revision}"));
        let end = source_end(path) + &revision.unwrap_or_default();
        vec![format!("{address}{end}")]
    }

    /// A command that lists its releases.
    fn list_command(&self) -> Hint {
        command(["krmv", "help", "get"])
    }

    /// The repository, if it has a history.
    fn history(&self) -> Option<&GitUpstream> {
        None
    }
}

/// A revision on this machine.
pub(crate) struct FetchedRevision {
    /// The files, and the revision with its exact commit or digest.
    pub(crate) snapshot: Snapshot,
    /// What reads more of it. `None` for a single file, and for what was rendered.
    origin: Option<Arc<dyn UpstreamRevision>>,
    /// Where it lies, as a role of a function takes it: a path, or a repository and a commit.
    pub(crate) place: String,
}

/// An upstream of any kind.
pub(crate) struct UpstreamSource {
    /// As a Kptfile names it.
    pub(crate) remote: String,
    /// The address without a user, for the user.
    pub(crate) address: String,
    pub(crate) kind: Box<dyn UpstreamKind>,
    /// Its tags and branches, once they are [listed](Self::list).
    pub(crate) releases: Releases,
    /// Whether a package is a kustomization, and so has files outside of its folder.
    pub(crate) is_kustomized: bool,
    pub(crate) histories: Arc<Histories>,
    /// What was rendered: a command reads some revisions more than once.
    rendered: Mutex<HashMap<RenderedKey, Arc<RenderedPackage>>>,
}

/// A folder at a commit or digest, and what it was rendered with.
type RenderedKey = (String, String, RenderRequest);

/// The most releases without the file that are asked for in a row.
const MOST_MISSING: usize = 50;

impl UpstreamSource {
    /// Opens what a Kptfile names.
    pub(crate) fn open(origin: PackageOrigin, is_offline: bool) -> Result<Self> {
        Self::with_credentials(origin, None, is_offline)
    }

    /// Opens what the user named.
    pub(crate) fn typed(source: &SourceArgument, is_offline: bool) -> Result<Self> {
        let (origin, credentials) = source.origin()?;
        Self::with_credentials(origin, credentials, is_offline)
    }

    /// Opens what the user named and lists its revisions. They say where the revision ends in an address of a browser.
    pub(crate) fn opened(source: &mut SourceArgument, is_offline: bool) -> Result<Self> {
        let mut upstream = Self::typed(source, is_offline)?;
        let mut listings = Listings::default();
        if source.is_of_browser() {
            upstream.list_once("", &mut listings)?;
            source.split_by(upstream.releases.names())?;
        }
        upstream.list_once(&source.path, &mut listings)?;
        if source.revision.is_none() {
            upstream.find_newest(None)?;
        }
        Ok(upstream)
    }

    fn with_credentials(
        origin: PackageOrigin,
        credentials: Option<Credentials>,
        is_offline: bool,
    ) -> Result<Self> {
        let address = without_password(origin.address());
        let name = origin.address().to_owned();
        let kind: Box<dyn UpstreamKind> = match origin {
            PackageOrigin::Git(origin) => Box::new(GitUpstream::open(
                origin,
                &address,
                credentials,
                is_offline,
            )?),
            PackageOrigin::Files(files) => Box::new(FilesUpstream(files)),
            PackageOrigin::Remote(remote) => Box::new(RemoteUpstream::new(
                remote.source,
                cache()?,
                credentials,
                is_offline,
                &KrmvClient,
            )),
        };
        Ok(Self {
            remote: name,
            address,
            kind,
            releases: Releases::default(),
            histories: Arc::default(),
            is_kustomized: false,
            rendered: Mutex::default(),
        })
    }

    /// Whether it has a history, and its revisions are commits and not digests.
    pub(crate) fn is_git(&self) -> bool {
        self.kind.history().is_some()
    }

    /// Refuses a repository in the work tree of a package: later commands would not read what a Kptfile names there.
    pub(crate) fn refuse_inside(&self, directory: &Path) -> Result<()> {
        let absolute = std::path::absolute(directory)?;
        let own = absolute.ancestors().find(|above| above.is_dir());
        let own = own.and_then(OwnRepository::around);
        let surroundings = Surroundings::of(&absolute, own.as_ref().map(OwnRepository::root));
        let local = self.kind.history().filter(|git| !git.is_remote());
        if let Some(git) = local
            && surroundings.contain(git.path())
        {
            let message = format!(
                "expected a repository outside of the work tree that holds '{}', found '{}'",
                directory.display(),
                git.path().display()
            );
            return Err(Failure::new(message).hint("krmv help get"));
        }
        Ok(())
    }

    /// Whether it is a Git repository on another machine.
    pub(crate) fn is_remote(&self) -> bool {
        self.kind.history().is_some_and(GitUpstream::is_remote)
    }

    /// Whether only its clone in the cache may be read.
    pub(crate) fn is_only_cached(&self) -> bool {
        self.kind.history().is_some_and(GitUpstream::is_only_cached)
    }

    /// Reads its tags and branches, for a directory.
    pub(crate) fn list(&mut self, directory: &str) -> Result<()> {
        self.list_once(directory, &mut Listings::default())
    }

    /// Like [`Self::list`], but asks a repository only if no other package has.
    pub(crate) fn list_once(&mut self, directory: &str, listings: &mut Listings) -> Result<()> {
        self.histories = Arc::clone(&listings.histories);
        self.releases = self.kind.releases(directory, listings)?;
        Ok(())
    }

    /// Leaves out the newest releases that have no such file, and so finds the newest one that has. `locked` is the
    /// release that the package is at: older ones are not asked for.
    pub(crate) fn find_newest(&mut self, locked: Option<&str>) -> Result<()> {
        for _ in 0..MOST_MISSING {
            let Some(newest) = self.releases.newest() else {
                return Ok(());
            };
            if locked == Some(&newest.name) || self.kind.has(newest)? {
                return Ok(());
            }
            let name = newest.name.clone();
            self.releases.forget(&name);
        }
        let message = format!(
            "the newest {MOST_MISSING} releases of {} have no such file",
            self.address
        );
        Err(Failure::new(message).hint("krmv help get"))
    }

    /// Compares the locked release with what it is now: an image's tag may have moved; other releases must not.
    pub(crate) fn compare_locked(&mut self, lock: &UpstreamLock) -> Result<()> {
        if let Some((name, current)) = self.kind.current(lock)? {
            self.releases.set_digest(&name, &current);
        }
        Ok(())
    }

    /// The command that records which revision a copy was made from.
    pub(crate) fn adopt_command(&self, path: &str, revision: Option<&str>, name: &str) -> Hint {
        let source = self.kind.arguments(&self.address, path, revision);
        command(["krmv", "get", "--adopt"])
            .and(&source)
            .and(&[name])
    }

    /// Adds how to go on if the locked revision is gone, or was replaced. One that was not fetched is not lost.
    pub(crate) fn with_adopt_hint(
        &self,
        failure: Failure,
        lock: &UpstreamLock,
        name: &str,
    ) -> Failure {
        let revision = match failure.cause() {
            Some(RemoteError::Replaced { release, .. }) => Some(release.clone()),
            Some(
                RemoteError::Missing { .. }
                | RemoteError::MissingRelease { .. }
                | RemoteError::NoFile { .. },
            ) => None,
            Some(_) => return failure,
            None if self.is_only_cached() => return failure,
            None => None,
        };
        let adopt = self.adopt_command(&lock.directory, revision.as_deref(), name);
        failure.hint(adopt)
    }

    /// The command that makes a new package from a revision.
    pub(crate) fn get_command(&self, path: &str, revision: &str) -> Hint {
        let source = self.kind.arguments(&self.address, path, Some(revision));
        command(["krmv", "get"]).and(&source)
    }

    /// The revision that a request names.
    pub(crate) fn requested(&self, directory: &str, request: &str) -> Result<Revision> {
        let listed = self
            .releases
            .requested(request)
            .map(ListedReference::revision);
        let is_other = self.kind.may_have(request);
        let other = || is_other.then(|| self.by_other_name(directory, request));
        let found = listed.or_else(|| other().flatten());
        found.ok_or_else(|| self.not_found(request))
    }

    /// The error for a revision that does not exist. Git lists only what its repositories have.
    pub(crate) fn not_found(&self, request: &str) -> Failure {
        let address = self.address.as_str();
        if self.releases.is_empty() {
            let message = format!("{address} has no release");
            return Failure::new(message).hint("krmv help get");
        }
        let next = self.kind.list_command();
        self.releases.not_found(request, address).hint(next)
    }

    /// Finds a revision by any name that only the source itself knows: a commit, `HEAD~1`, a digest.
    pub(crate) fn by_other_name(&self, directory: &str, name: &str) -> Option<Revision> {
        self.kind
            .by_other_name(directory, name, self.releases.at(name))
    }

    /// The repository. An error for a source without a history.
    pub(crate) fn repository(&self) -> Result<&GitUpstream> {
        self.kind.history().ok_or_else(|| {
            let message = format!("expected a Git repository, found {}", self.address);
            Failure::new(message).hint("krmv help get")
        })
    }

    /// Makes a commit available.
    pub(crate) fn fetch_commit(&self, commit: &str) -> Result<(Rc<Repository>, String)> {
        self.repository()?
            .fetch_commit(commit, self.releases.at(commit))
    }

    /// Makes the commits of several revisions available at once.
    pub(crate) fn fetch_several(&self, references: &[&ListedReference]) -> Result<()> {
        match self.kind.history() {
            Some(git) => git.fetch_several(references),
            None => Ok(()),
        }
    }

    /// The revision that a lock names.
    pub(crate) fn locked_revision(&self, lock: &UpstreamLock) -> Result<Revision> {
        let named = lock.reference.as_deref();
        let known = named.and_then(|name| self.releases.named(name));
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

    /// An error if what a lock names is gone, or was replaced.
    pub(crate) fn check_locked(&self, lock: &UpstreamLock) -> Result<()> {
        let revision = self.locked_revision(lock)?;
        if self.is_git() {
            self.fetch_commit(&revision.commit)?;
        } else {
            self.fetch(&lock.directory, &revision)?;
        }
        Ok(())
    }

    /// A command that brings a commit into the cache. `None` for what is on this machine.
    pub(crate) fn fetch_command(&self, commit: &str) -> Option<Hint> {
        self.kind.history()?.fetch_command(commit)
    }

    /// Brings a directory at a revision onto this machine.
    pub(crate) fn fetch(&self, path: &str, revision: &Revision) -> Result<FetchedRevision> {
        let listed = self.releases.at(&revision.commit);
        let fetched = self.kind.fetch(path, revision, listed)?;
        // What upstream must not bring is left out.
        let snapshot = Snapshot {
            package: fetched.snapshot.package.without_refused(),
            ..fetched.snapshot
        };
        Ok(FetchedRevision {
            snapshot,
            ..fetched
        })
    }

    /// Fetches a directory at a revision or, with a request, what it renders to. Random places have the value of the
    /// first of the `known` packages that has the place; results say where that is the first one.
    pub(crate) fn fetch_by(
        &self,
        path: &str,
        revision: &Revision,
        request: Option<&RenderRequest>,
        known: &[&Contents],
    ) -> Result<(FetchedRevision, Vec<FunctionResult>)> {
        let Some(request) = request else {
            return Ok((self.fetch(path, revision)?, Vec::new()));
        };
        let rendered = self.rendered(path, revision, request)?;
        let known: Vec<KnownValues> = if rendered.is_random() {
            known
                .iter()
                .map(|contents| KnownValues::of(contents))
                .collect()
        } else {
            Vec::new()
        };
        let (package, kept) = rendered.package(&known.iter().collect::<Vec<_>>())?;
        if package.is_empty() {
            let message = format!(
                "`{}` prints no resource for {} of {}",
                request.program(),
                revision.lock_ref,
                self.address
            );
            return Err(Failure::new(message).hint("krmv help get"));
        }
        let snapshot = Snapshot {
            revision: revision.clone(),
            address: self.address.clone(),
            package,
        };
        let fetched = FetchedRevision {
            snapshot,
            origin: None,
            place: String::new(),
        };
        Ok((fetched, kept))
    }

    fn rendered(
        &self,
        path: &str,
        revision: &Revision,
        request: &RenderRequest,
    ) -> Result<Arc<RenderedPackage>> {
        if let Some(known) = self.known_rendering(path, revision, request) {
            return Ok(known);
        }
        let name = format!("{} of {}", revision.lock_ref, self.address);
        if !path.is_empty() && self.kind.is_only_file(path) {
            let message = format!("expected a folder to render, found the file '{path}'");
            return Err(Failure::new(message).hint("krmv help get"));
        }
        // A kustomization may name folders around it.
        let (folder, inner) = match request {
            RenderRequest::Helm(_) => (path, ""),
            RenderRequest::Kustomize => ("", path),
        };
        let source = self.fetch(folder, revision)?.snapshot;
        let rendered = Arc::new(render(&source.package, inner, request, &name)?);
        if let Ok(mut known) = self.rendered.lock() {
            let key = (revision.commit.clone(), path.to_owned(), request.clone());
            known.insert(key, Arc::clone(&rendered));
        }
        Ok(rendered)
    }

    /// What a revision renders to, if that was asked for before.
    pub(crate) fn known_rendering(
        &self,
        path: &str,
        revision: &Revision,
        request: &RenderRequest,
    ) -> Option<Arc<RenderedPackage>> {
        let key = (revision.commit.clone(), path.to_owned(), request.clone());
        self.rendered.lock().ok()?.get(&key).cloned()
    }
}
