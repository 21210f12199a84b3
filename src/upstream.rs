//! The repository that a package comes from: its revisions, and the files of a revision. The revisions of an archive
//! are the archives next to it; those of an image layout are its tags.
//!
//! A local repository is read in place. Any other repository has a bare clone in the cache. Single commits are fetched
//! into the clone, and the whole history only if nothing less is enough.

use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use krm_address::{Address, CommitId, Credentials, RefName, Surroundings};
use krm_core::kptfile::UpstreamLock;
use krm_core::results::{FunctionResult, Results};
use krm_core::upstream_revision::UpstreamRevision;
use krm_function::supplied::{Role, SuppliedPackage};
use krm_render::{KnownValues, RenderRequest, RenderedPackage};
use krm_upstream::git::{GitCommand, GitSource, Repository, Revision, Snapshot, without_password};
use krm_upstream::{self as upstream, GitOrigin, SourceOutsideGit};

use super::client::{self, Place};
use super::failure::{Failure, Hint, Result, command};
use super::kptfile::{PackageOrigin, locked_name};
use super::own_repository::OwnRepository;
use super::package::{Contents, contents_of};
use super::progress::progress;
use super::releases::{ListedReference, Releases};
use super::rendering::render;
use super::shared::{Histories, Listings, cache, close, folder_of, opened};
use super::source::{SourceArgument, existing, unreadable};
use super::sources::{ContentDigest, Fetched, RemoteRelease, RemoteUpstream};

/// A repository, or archives or images.
pub(crate) struct UpstreamSource {
    origin: PackageOrigin,
    /// The address without a user, for the user.
    address: String,
    /// What the user typed in front of the host.
    credentials: Option<Credentials>,
    /// The local repository, or its clone in the cache. Empty for archives and images.
    path: PathBuf,
    is_offline: bool,
    /// A file, chart or image on another machine.
    remote: Option<RemoteUpstream>,
    /// The names of deprecated releases.
    deprecated: BTreeSet<String>,
    /// Its tags and branches, once they are [listed](Self::list).
    pub(crate) releases: Releases,
    pub(crate) histories: Arc<Histories>,
    /// What was rendered: a command reads some revisions more than once.
    rendered: Mutex<HashMap<RenderedKey, Arc<RenderedPackage>>>,
}

/// A folder at a commit or digest, and what it was rendered with.
type RenderedKey = (String, String, RenderRequest);

/// The most releases without the file that are asked for in a row.
const MOST_MISSING: usize = 50;

/// The file in the clone for the list of references that was read last.
const REFERENCES: &str = "krmv-references";

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
        let remote = match &origin {
            PackageOrigin::Remote(remote) => {
                let (source, credentials) = (remote.source.clone(), credentials.clone());
                let remote = RemoteUpstream::new(source, cache()?, credentials, is_offline);
                Some(remote)
            }
            _ => None,
        };
        let path = match &origin {
            PackageOrigin::Files(_) | PackageOrigin::Remote(_) => PathBuf::new(),
            PackageOrigin::Git(git) => match git.local() {
                Some(local) => existing(local).ok_or_else(|| {
                    let local = local.to_string_lossy();
                    let message =
                        format!("'{local}', where the package comes from, is not a Git repository");
                    Failure::new(message).hint(command(["git", "clone", "URL", &local]))
                })?,
                None => cache()?.join(folder_of(&address)),
            },
        };
        Ok(Self {
            origin,
            address,
            credentials,
            path,
            is_offline,
            remote,
            deprecated: BTreeSet::new(),
            releases: Releases::default(),
            histories: Arc::default(),
            rendered: Mutex::default(),
        })
    }

    /// The repository on another machine.
    fn remote_repository(&self) -> Option<&Address> {
        match &self.origin {
            PackageOrigin::Git(address) if address.local().is_none() => Some(address),
            _ => None,
        }
    }

    fn files(&self) -> Option<&SourceOutsideGit> {
        match &self.origin {
            PackageOrigin::Files(files) => Some(files),
            PackageOrigin::Git(_) | PackageOrigin::Remote(_) => None,
        }
    }

    /// Refuses a repository in the work tree of a package: later commands would not read what a Kptfile names there.
    pub(crate) fn refuse_inside(&self, directory: &Path) -> Result<()> {
        let absolute = std::path::absolute(directory)?;
        let own = absolute.ancestors().find(|above| above.is_dir());
        let own = own.and_then(OwnRepository::around);
        let surroundings = Surroundings::of(&absolute, own.as_ref().map(OwnRepository::root));
        if self.is_git() && !self.is_remote() && surroundings.contain(&self.path) {
            let message = format!(
                "expected a repository outside of the work tree that holds '{}', found '{}'",
                directory.display(),
                self.path.display()
            );
            return Err(Failure::new(message).hint("krmv help get"));
        }
        Ok(())
    }

    /// Whether it is a Git repository on another machine.
    pub(crate) fn is_remote(&self) -> bool {
        self.remote_repository().is_some()
    }

    /// Whether only its clone in the cache may be read.
    pub(crate) fn is_only_cached(&self) -> bool {
        self.is_offline && self.is_remote()
    }

    /// As a Kptfile names it, for the Kptfile.
    pub(crate) fn remote(&self) -> &str {
        self.origin.address()
    }

    /// Its name for the user.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Whether it is a Git repository, and not a source whose revisions have digests.
    pub(crate) fn is_git(&self) -> bool {
        matches!(self.origin, PackageOrigin::Git(_))
    }

    /// Reads its tags and branches, for a directory.
    pub(crate) fn list(&mut self, directory: &str) -> Result<()> {
        self.list_once(directory, &mut Listings::default())
    }

    /// Like [`Self::list`], but asks a repository only if no other package has.
    pub(crate) fn list_once(&mut self, directory: &str, listings: &mut Listings) -> Result<()> {
        if let Some(files) = self.files() {
            self.releases = Releases::of_files(files, directory)?;
            return Ok(());
        }
        if let Some(remote) = &self.remote {
            let releases = remote.releases(directory)?;
            let deprecated = releases.iter().filter(|release| release.is_deprecated);
            self.deprecated = deprecated.map(|release| release.name.clone()).collect();
            self.releases = Releases::of(releases.into_iter().map(listed_release).collect());
            return Ok(());
        }
        self.histories = Arc::clone(&listings.histories);
        let known = listings.references.entry(self.origin.address().to_owned());
        let listed = known.or_insert_with(|| self.ask()).clone()?;
        self.releases = Releases::read(&listed, directory);
        if self.releases.is_empty() {
            let message = format!("the repository {} is empty: it has no commit", self.address);
            return Err(Failure::new(message).hint(command(["git", "ls-remote", &self.address])));
        }
        Ok(())
    }

    /// The output of `git ls-remote`.
    fn ask(&self) -> Result<String> {
        match self.remote_repository() {
            None => Ok(Repository::open(&self.path)?.listed_references()?),
            Some(_) if self.is_offline => {
                let file = self.path.join(REFERENCES);
                let listed = std::fs::read_to_string(file);
                listed.map_err(|_| self.not_cached("its list of revisions"))
            }
            Some(address) => {
                progress(format_args!("Asking {} for its revisions", self.address));
                let list = GitCommand::list_references(address);
                let credentials = self.credentials.as_ref();
                let listed = client::text_with(Place::Elsewhere, &list, credentials);
                let listed = listed.map_err(|error| self.unreachable(error))?;
                self.prepare(&listed)?;
                // If the cache is not writable, the next fetch into it fails with an error.
                let _ = std::fs::write(self.path.join(REFERENCES), &listed);
                Ok(listed)
            }
        }
    }

    /// Leaves out the newest releases that have no such file, and so finds the newest one that has. `locked` is the
    /// release that the package is at: older ones are not asked for.
    pub(crate) fn find_newest(&mut self, locked: Option<&str>) -> Result<()> {
        let Some(remote) = &self.remote else {
            return Ok(());
        };
        for _ in 0..MOST_MISSING {
            let Some(newest) = self.releases.newest() else {
                return Ok(());
            };
            let name = newest.name.clone();
            if locked == Some(&name)
                || !newest.commit.is_empty()
                || remote.fetch(&name, false)?.is_some()
            {
                return Ok(());
            }
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
        let locked = locked_name(lock).zip(lock.commit.as_deref().and_then(ContentDigest::parse));
        let (Some(remote), Some((name, digest))) = (&self.remote, locked) else {
            return Ok(());
        };
        let current = remote.current(&name)?;
        if let (Some(found), false) = (&current, remote.can_move())
            && *found != digest
        {
            return Err(remote.replaced(&name, &digest, Some(found)));
        }
        let current = current.unwrap_or(digest);
        self.releases.set_digest(&name, current.as_str());
        Ok(())
    }

    /// The commit or digest of a release, as far as it is known without the network.
    pub(crate) fn known_commit(&self, release: &ListedReference) -> Option<String> {
        match &self.remote {
            Some(remote) if release.commit.is_empty() => remote.known(&release.name),
            _ => Some(release.commit.clone()),
        }
    }

    /// Whether it is a file, chart or image on another machine.
    pub(crate) fn is_fetched(&self) -> bool {
        self.remote.is_some()
    }

    /// Whether a release that is listed has no such file.
    pub(crate) fn lacks(&self, release: &str) -> bool {
        self.remote
            .as_ref()
            .is_some_and(|remote| remote.lacks(release))
    }

    /// What the user should know of a release.
    pub(crate) fn release_note(&self, release: &str) -> Option<String> {
        let is_deprecated = self.deprecated.contains(release);
        is_deprecated.then(|| format!("{release} is deprecated, as {} says", self.address))
    }

    /// A revision with its digest: a release on another machine is fetched for it. `locked` is what the package records.
    pub(crate) fn resolved(
        &self,
        revision: Revision,
        locked: Option<&UpstreamLock>,
    ) -> Result<Revision> {
        let Some(remote) = &self.remote else {
            return Ok(revision);
        };
        let name = &revision.lock_ref;
        let found = remote
            .fetch(name, true)?
            .ok_or_else(|| remote.missing(name))?;
        if let Some(locked) = locked
            && !remote.can_move()
            && locked_name(locked).as_ref() == Some(name)
            && let Some(expected) = locked.commit.as_deref().and_then(ContentDigest::parse)
            && expected != found.digest
        {
            return Err(remote.replaced(name, &expected, Some(&found.digest)));
        }
        Ok(Revision {
            commit: found.digest.as_str().to_owned(),
            ..revision
        })
    }

    /// A command that records another revision of this source.
    pub(crate) fn adopt_source(&self, path: &str) -> String {
        if self.is_git() {
            return format!("{}//{path}", self.address);
        }
        self.address.clone()
    }

    /// Where a revision lies, as a role of a function takes it.
    pub(crate) fn place_of(&self, path: &str, revision: &Revision) -> Result<String> {
        if let Some(remote) = &self.remote {
            let fetched = self.fetched(remote, revision)?;
            return remote.place_of(&fetched, path);
        }
        if self.files().is_some() {
            return Ok(revision.upstream_ref.clone());
        }
        let (_, commit) = self.fetch_commit(&revision.commit)?;
        Ok(format!("{}//{path}?ref={commit}", self.path.display()))
    }

    fn fetched(&self, remote: &RemoteUpstream, revision: &Revision) -> Result<Fetched> {
        let name = &revision.lock_ref;
        match ContentDigest::parse(&revision.commit) {
            Some(digest) => remote.with_digest(name, &digest),
            None => remote
                .fetch(name, false)?
                .ok_or_else(|| remote.missing(name)),
        }
    }

    /// The revision that a request names.
    pub(crate) fn requested(&self, directory: &str, request: &str) -> Result<Revision> {
        let listed = self
            .releases
            .requested(request)
            .map(ListedReference::revision);
        // A clone may still have tags and branches that upstream deleted.
        let is_other = !self.is_remote() || is_commit(request);
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
        let next = if self.is_git() {
            command(["git", "ls-remote", "--tags", address])
        } else {
            command(["krmv", "help", "get"])
        };
        self.releases.not_found(request, address).hint(next)
    }

    /// Finds a revision by any name that only the repository itself knows: a commit, `HEAD~1`.
    pub(crate) fn by_other_name(&self, directory: &str, name: &str) -> Option<Revision> {
        if let Some(remote) = &self.remote {
            let (release, source) = remote.other(directory, name)?;
            let mut revision = Revision::named(&source, String::new());
            revision.lock_ref = release;
            return Some(revision);
        }
        if let Some(files) = self.files() {
            let flag = files.with_folder(directory);
            let found = match SourceOutsideGit::parse(name) {
                Some(other) => {
                    upstream::open(&other.absolute().ok()?.with_folder(directory)).ok()?
                }
                None => upstream::find_recorded(&flag, name),
            };
            return found.map(|found| of_file(&*found));
        }
        if self.is_remote() && is_commit(name) && name.len() >= 40 {
            self.fetch_commit(name).ok()?;
        }
        let repository = opened(&self.path).ok()?;
        repository.resolve(directory, name).ok()
    }

    /// Makes a commit available. It is fetched by its tag or branch first, for servers that do not serve single
    /// commits.
    pub(crate) fn fetch_commit(&self, commit: &str) -> Result<(Rc<Repository>, String)> {
        let has = |path: &Path| {
            let repository = opened(path).ok()?;
            // kpt records the ID of an annotated tag, not of the commit.
            let commit = repository.commit_with_id(commit)?;
            // After an interrupted fetch, a clone may have the commit without its files.
            repository.tree_of("", &commit).ok()?;
            Some((repository, commit))
        };
        if let Some(found) = has(&self.path) {
            return Ok(found);
        }
        let reference = self.releases.at(commit);
        let name = reference.map_or(commit, |reference| reference.name.as_str());
        let Some(remote) = self.remote_repository() else {
            let message = format!(
                "the commit {commit} is not in the repository {}",
                self.address
            );
            let path = self.path.to_string_lossy();
            return Err(
                Failure::new(message).hint(command(["git", "-C", &path, "fetch", "--tags"]))
            );
        };
        if self.is_offline {
            return Err(self.not_cached(&format!("the revision {name}")));
        }
        let id = CommitId::parse(commit)?;
        progress(format_args!("Fetching {name} from {}", self.address));
        let address = self.address.as_str();
        let mut attempts = Vec::new();
        if let Some(name) =
            reference.and_then(|reference| RefName::parse(&reference.full_name).ok())
        {
            attempts.push(GitCommand::fetch(remote, &[name], &[]));
        }
        attempts.push(GitCommand::fetch(remote, &[], &[id]));
        // The last resort: everything.
        attempts.push(GitCommand::fetch_all(remote, false));
        let mut last = None;
        for attempt in attempts {
            if let Err(error) = self.fetch(&attempt) {
                if error.message == client::NO_ANSWER {
                    return Err(self.unreachable(error));
                }
                last = Some(error);
            }
            if let Some(found) = has(&self.path) {
                return Ok(found);
            }
        }
        Err(match last {
            Some(error) => self.unreachable(error),
            None => Failure::new(format!(
                "the commit {commit} is no longer in the repository {address}"
            ))
            .hint(command(["git", "ls-remote", address])),
        })
    }

    /// Makes the commits of several revisions available at once.
    pub(crate) fn fetch_several(&self, references: &[&ListedReference]) -> Result<()> {
        let repository = opened(&self.path).ok();
        let is_here = |reference: &&&ListedReference| {
            let found = repository
                .as_ref()
                .map(|one| one.commit_with_id(&reference.commit));
            found.flatten().is_some()
        };
        let missing: Vec<&&ListedReference> =
            references.iter().filter(|one| !is_here(one)).collect();
        let remote = self.remote_repository().filter(|_| !self.is_offline);
        let Some(remote) = remote.filter(|_| missing.len() > 1) else {
            return Ok(());
        };
        let count = missing.len();
        progress(format_args!(
            "Fetching {count} revisions from {}",
            self.address
        ));
        let names = missing.iter();
        let names = names.filter_map(|reference| RefName::parse(&reference.full_name).ok());
        let names: Vec<RefName> = names.collect();
        self.fetch(&GitCommand::fetch(remote, &names, &[]))
            .map_err(|error| self.unreachable(error))
    }

    /// Fetches all tags and branches with their histories.
    pub(crate) fn fetch_all(&self) -> Result<()> {
        let Some(remote) = self.remote_repository() else {
            return Ok(());
        };
        if self.is_offline {
            return Err(self.not_cached("its history"));
        }
        progress(format_args!("Fetching the history of {}", self.address));
        let is_shallow = self.path.join("shallow").exists();
        self.fetch(&GitCommand::fetch_all(remote, is_shallow))
            .map_err(|error| self.unreachable(error))
    }

    /// Fetches a part of the history of a repository on another machine.
    pub(crate) fn fetch_history(&self, fetch: impl Fn(&Address) -> GitCommand) -> Result<()> {
        match self.remote_repository() {
            Some(_) if self.is_offline => Err(self.not_cached("its history")),
            Some(address) => {
                progress(format_args!("Fetching the history of {}", self.address));
                self.fetch(&fetch(address))
                    .map_err(|error| self.unreachable(error))
            }
            None => Ok(()),
        }
    }

    /// A command that brings a commit into the cache. `None` for a local repository.
    pub(crate) fn fetch_command(&self, commit: &str) -> Option<Hint> {
        let path = self.path.to_string_lossy();
        let words = [
            "git",
            "-C",
            &path,
            "fetch",
            "--depth=1",
            "--",
            &self.address,
            commit,
        ];
        self.is_remote().then(|| command(words))
    }

    fn fetch(&self, fetch: &GitCommand) -> Result<()> {
        let credentials = self.credentials.as_ref();
        let fetched = client::text_with(Place::Cache(&self.path), fetch, credentials);
        close();
        fetched.map(drop)
    }

    /// The local repository, or the clone in the cache.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Finds the archive or image that has the digest of a revision.
    fn file(
        &self,
        files: &SourceOutsideGit,
        folder: &str,
        revision: &Revision,
    ) -> Result<Arc<dyn UpstreamRevision>> {
        let digest = &revision.commit;
        let known = SourceOutsideGit::parse(&revision.upstream_ref);
        let known = known.map(|known| known.with_folder(folder));
        let flags = known.into_iter().chain([files.with_folder(folder)]);
        let mut found = flags.filter_map(|flag| upstream::find_recorded(&flag, digest));
        found.next().ok_or_else(|| {
            let place = &revision.upstream_ref;
            let message = format!("expected '{place}' with the digest {digest}, found none");
            Failure::new(message).hint("krmv help get")
        })
    }

    /// Reads a directory at a revision, without what upstream must not bring.
    pub(crate) fn snapshot(&self, path: &str, revision: &Revision) -> Result<Snapshot> {
        let snapshot = self.whole_snapshot(path, revision)?;
        Ok(Snapshot {
            package: snapshot.package.without_refused(),
            ..snapshot
        })
    }

    /// Reads a directory at a revision or, with a request, what it renders to. Random places have the value of the
    /// first of the `known` packages that has the place; results say where that is the first one.
    pub(crate) fn snapshot_by(
        &self,
        path: &str,
        revision: &Revision,
        request: Option<&RenderRequest>,
        known: &[&Contents],
    ) -> Result<(Snapshot, Vec<FunctionResult>)> {
        let Some(request) = request else {
            return Ok((self.snapshot(path, revision)?, Vec::new()));
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
        Ok((snapshot, kept))
    }

    fn rendered(
        &self,
        path: &str,
        revision: &Revision,
        request: &RenderRequest,
    ) -> Result<Arc<RenderedPackage>> {
        let name = format!("{} of {}", revision.lock_ref, self.address);
        if !path.is_empty() && self.is_only_file(path) {
            let message = format!("expected a folder to render, found the file '{path}'");
            return Err(Failure::new(message).hint("krmv help get"));
        }
        let key = (revision.commit.clone(), path.to_owned(), request.clone());
        let known = self
            .rendered
            .lock()
            .ok()
            .and_then(|known| known.get(&key).cloned());
        if let Some(known) = known {
            return Ok(known);
        }
        // A kustomization may name folders around it.
        let (folder, inner) = match request {
            RenderRequest::Helm(_) => (path, ""),
            RenderRequest::Kustomize => ("", path),
        };
        let source = self.snapshot(folder, revision)?;
        let rendered = Arc::new(render(&source.package, inner, request, &name)?);
        if let Ok(mut known) = self.rendered.lock() {
            known.insert(key, Arc::clone(&rendered));
        }
        Ok(rendered)
    }

    fn is_only_file(&self, path: &str) -> bool {
        match &self.remote {
            Some(remote) => remote.source.is_only_file(path),
            None => krm_upstream::is_only_file(path),
        }
    }

    fn whole_snapshot(&self, path: &str, revision: &Revision) -> Result<Snapshot> {
        if let Some(remote) = &self.remote {
            let fetched = self.fetched(remote, revision)?;
            let package = if remote.source.is_only_file(path) {
                fetched.only_file(&remote.source, path)?
            } else {
                fetched.open(path)?.read().map_err(unreadable)?
            };
            return Ok(Snapshot {
                revision: Revision {
                    commit: fetched.digest.as_str().to_owned(),
                    ..revision.clone()
                },
                address: self.address.clone(),
                package,
            });
        }
        if let Some(files) = self.files() {
            let package = self.file(files, path, revision)?.read();
            return Ok(Snapshot {
                revision: revision.clone(),
                address: self.address.clone(),
                package: package.map_err(unreadable)?,
            });
        }
        let (repository, commit) = self.fetch_commit(&revision.commit)?;
        let revision = &Revision {
            commit,
            ..revision.clone()
        };
        repository.read(path, revision.clone()).map_err(|error| {
            // A reader knows the address, and not the folder in the cache.
            let folder = self.path.to_string_lossy();
            let message = error.to_string().replace(&*folder, &self.address);
            Failure::new(message).hint(command([
                "git",
                "-C",
                &folder,
                "ls-tree",
                "-r",
                "--name-only",
                &revision.commit,
            ]))
        })
    }

    /// Makes the clone in the cache, with the object format of the listed references.
    fn prepare(&self, listed: &str) -> Result<()> {
        if self.path.join("HEAD").is_file() {
            return Ok(());
        }
        let refused = |error: std::io::Error| {
            let message = format!(
                "cannot write to the cache '{}': {error}",
                self.path.display()
            );
            Failure::new(message).hint("export XDG_CACHE_HOME=\"$(mktemp -d)\"")
        };
        // The cache of a private repository is for its owner alone.
        let mut folder = std::fs::DirBuilder::new();
        let folder = folder.recursive(true).mode(0o700);
        folder.create(&self.path).map_err(refused)?;
        let is_sha256 = listed.find('\t') == Some(64);
        let format = if is_sha256 { "sha256" } else { "sha1" };
        let init = GitCommand::new(&["init", "--quiet", "--bare", "--object-format", format]);
        client::text(Place::Elsewhere, &init.paths([&self.path]))?;
        Ok(())
    }

    fn unreachable(&self, error: Failure) -> Failure {
        if !error.hints.is_empty() {
            return error;
        }
        // Git prints a user without a password, and a token may be the user.
        let credentials = self.credentials.as_ref();
        let reason = credentials.map(|one| one.removed_from(&error.message));
        let reason = reason.unwrap_or(error.message);
        let whole = self.origin.address();
        let start = whole.find("://").map_or(0, |at| at + 3);
        let user = whole.get(start..start + whole.len() - self.address.len());
        let reason = reason.replace(user.unwrap_or_default(), "");
        let message = format!("cannot read {}: {reason}", self.address);
        Failure::new(message).hint(command(["git", "ls-remote", &self.address]))
    }

    fn not_cached(&self, what: &str) -> Failure {
        let message = format!(
            "{what} of {} is not in the cache '{}', and this command does not use the network",
            self.address,
            self.path.display()
        );
        Failure::new(message).hint("krmv status")
    }
}

/// A release of a file, chart or image as a reference. Its digest may not be known yet.
fn listed_release(release: RemoteRelease) -> ListedReference {
    let digest = release.digest.as_ref().map(ContentDigest::as_str);
    ListedReference {
        short: release.name.clone(),
        name: release.name,
        commit: digest.unwrap_or_default().to_owned(),
        full_name: release.source,
        tag_object: None,
    }
}

/// Whether a name is the ID of a commit, or its beginning.
fn is_commit(name: &str) -> bool {
    name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A revision as the upstream of a new package, including the files that merges leave out.
pub(crate) fn to_clone(
    snapshot: Snapshot,
    upstream: &UpstreamSource,
    path: &str,
    results: &mut Results,
) -> Result<SuppliedPackage> {
    if let Some(remote) = &upstream.remote
        && remote.source.is_only_file(path)
    {
        return rendered_to_clone(snapshot, upstream, results);
    }
    let source = source_of(&snapshot, upstream, path)?;
    Ok(SuppliedPackage::from_upstream(
        Role::Upstream,
        snapshot.package,
        source,
        results,
    )?)
}

/// What a revision renders to, as the upstream of a new package.
pub(crate) fn rendered_to_clone(
    snapshot: Snapshot,
    upstream: &UpstreamSource,
    results: &mut Results,
) -> Result<SuppliedPackage> {
    let place = format!("{} {}", upstream.address, snapshot.revision.lock_ref);
    let package = snapshot.package;
    let package = SuppliedPackage::from_package_like(Role::Upstream, place, package, &[], results);
    Ok(package?)
}

/// Where a revision was read from.
fn source_of(
    snapshot: &Snapshot,
    upstream: &UpstreamSource,
    path: &str,
) -> Result<Arc<dyn UpstreamRevision>> {
    if let Some(remote) = &upstream.remote {
        return upstream.fetched(remote, &snapshot.revision)?.open(path);
    }
    if let Some(files) = upstream.files() {
        return upstream.file(files, path, &snapshot.revision);
    }
    let source = GitSource {
        repository: upstream.path.clone(),
        directory: path.to_owned(),
        revision: snapshot.revision.commit.clone(),
    };
    Ok(Arc::new(GitOrigin::of(source, snapshot)))
}

/// Like [`supplied`], with the files that `.krmignore` excludes at hand.
pub(crate) fn supplied_with_ignored(
    snapshot: Snapshot,
    (upstream, path): (&UpstreamSource, &str),
    role: Role,
    local_name: Option<&str>,
    others: &[&SuppliedPackage],
) -> Result<Arc<SuppliedPackage>> {
    if snapshot.package.ignored.is_empty() {
        return supplied(snapshot, role, local_name, others);
    }
    let source = source_of(&snapshot, upstream, path)?;
    let package = read_supplied(snapshot, role, local_name, others)?;
    Ok(Arc::new(package.with_source(source)))
}

/// The revision of an archive or image: its flag for the Kptfile, its release and its digest.
fn of_file(found: &dyn UpstreamRevision) -> Revision {
    let flag = found.flag();
    let id = found.id();
    let release = SourceOutsideGit::parse(&flag).and_then(|source| source.release);
    let mut revision = Revision::named(&flag, id.trim_start_matches("digest ").to_owned());
    revision.lock_ref = release.unwrap_or(flag);
    revision
}

/// A revision as the input for a role. Files that are also in `others` are not parsed again. A single-file package gets
/// the local name of the file.
pub(crate) fn supplied(
    snapshot: Snapshot,
    role: Role,
    local_name: Option<&str>,
    others: &[&SuppliedPackage],
) -> Result<Arc<SuppliedPackage>> {
    read_supplied(snapshot, role, local_name, others).map(Arc::new)
}

fn read_supplied(
    snapshot: Snapshot,
    role: Role,
    local_name: Option<&str>,
    others: &[&SuppliedPackage],
) -> Result<SuppliedPackage> {
    let place = format!("{role} {}", snapshot.revision.lock_ref);
    let package = snapshot.package.named_as(local_name);
    let mut results = Results::default();
    let package = SuppliedPackage::from_package_like(role, place, package, others, &mut results);
    Ok(package?)
}

/// The files of a supplied package.
pub(crate) fn contents(package: &SuppliedPackage) -> Result<Contents> {
    package.files().map_or(Ok(Contents::new()), contents_of)
}
