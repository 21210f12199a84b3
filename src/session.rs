//! A package and the revisions of its upstream.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::OnceLock;

use krm_address::latest::is_older;
use krm_core::kptfile::UpstreamLock;
use krm_core::results::FunctionResult;
use krm_function::supplied::{Role, SuppliedPackage};
use krm_package::file_name;
use krm_remote::RemoteError;
use krm_render::RenderRequest;
use krm_upstream::git::Revision;
use krm_upstream::{SourceOutsideGit, older_revision};

use super::failure::{Failure, Hint, Result, command};
use super::followed::{CommitGraph, Followed, NewerRevision, PathAt, path_at};
use super::kptfile::{OpenUpgrade, PackageOrigin, locked_name, release_outside_git};
use super::merging::Merger;
use super::package::{Contents, KPTFILE, LocalPackage};
use super::policy::{self, CountedReleases};
use super::print::warning;
use super::releases::ListedReference;
use super::rendering::PackageRendering;
use super::shared::Listings;
use super::shared_releases::{ReleaseKey, SharedReleases};
use super::upstream::{FetchedRevision, UpstreamSource, contents, supplied, supplied_with_ignored};
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
            // `DIR@REV`, as `get` takes it, and what a person may take for the same.
            let parts = one.split_once("?ref=").or_else(|| one.split_once("?rev="));
            if let Some((directory, revision)) = parts.or_else(|| one.rsplit_once('@'))
                && Path::new(directory).join(KPTFILE).is_file()
                && !revision.is_empty()
            {
                return Ok((PathBuf::from(directory), Some(revision.to_owned())));
            }
            // Probably a mistyped directory.
            if !Path::new(KPTFILE).exists() {
                let message =
                    format!("'{one}' is not a package, and neither is the current directory");
                return Err(Failure::new(message).hint("krmv status ."));
            }
            Ok((PathBuf::from("."), Some(one.clone())))
        }
        [directory, revision] if !Path::new(revision).join(KPTFILE).is_file() => {
            Ok((PathBuf::from(directory), Some(revision.clone())))
        }
        several => {
            let message = "expected one package and a revision, found several packages";
            let all = ["krmv", "upgrade", "--all"].into_iter();
            let all = all.chain(several.iter().map(String::as_str));
            Err(Failure::new(message).hint(command(all)))
        }
    }
}

/// The name of a revision with the beginning of its commit, or of its digest: `main@1a2b3c4`.
pub(crate) fn name_at(name: &str, commit: &str) -> String {
    let id = commit.rsplit(':').next().unwrap_or(commit);
    format!("{name}@{}", id.get(..7).unwrap_or(id))
}

/// A package with the upstream that it follows.
pub(crate) struct FollowedPackage<'p> {
    pub(crate) package: &'p LocalPackage,
    pub(crate) lock: &'p UpstreamLock,
    pub(crate) upstream: UpstreamSource,
    /// How the package is rendered. `None` if its files are those of upstream.
    pub(crate) rendering: Option<PackageRendering>,
    /// Which releases count.
    counted: CountedReleases,
    /// What the lock names and what is newer, once it was asked for.
    model: OnceLock<Followed>,
    /// What it shares with the other packages of a run.
    pub(crate) shared: Arc<SharedReleases>,
}

impl<'p> FollowedPackage<'p> {
    /// Opens the upstream and lists its tags and branches. An archive or image that the user names is looked for where
    /// that name says, because the recorded place may be gone.
    pub(crate) fn open(
        package: &'p LocalPackage,
        request: Option<&str>,
        is_offline: bool,
    ) -> Result<Self> {
        Self::open_with(package, request, is_offline, &mut Listings::default())
    }

    /// Like [`Self::open`], but asks a repository only if no other package has.
    pub(crate) fn open_with(
        package: &'p LocalPackage,
        request: Option<&str>,
        is_offline: bool,
        listings: &mut Listings,
    ) -> Result<Self> {
        let named = request.and_then(SourceOutsideGit::parse);
        let mut this = Self::closed(package, named, is_offline)?;
        let address = &this.upstream.remote;
        this.shared = listings.upstreams.of(address, &this.lock.directory);
        let (lock, upstream) = (this.lock, &mut this.upstream);
        let next = this.rendering.as_ref().map(|rendering| &rendering.next);
        upstream.is_kustomized = next == Some(&RenderRequest::Kustomize);
        upstream.list_once(&lock.directory, listings)?;
        let compared = upstream.compare_locked(lock);
        compared.map_err(|failure| upstream.with_adopt_hint(failure, lock, &package.name()))?;
        this.leave_out();
        if request.is_none() {
            this.upstream.find_newest(locked_name(lock).as_deref())?;
        }
        Ok(this)
    }

    /// Before any release is listed; `named` are files to use in place of those that the lock names.
    fn closed(
        package: &'p LocalPackage,
        named: Option<SourceOutsideGit>,
        is_offline: bool,
    ) -> Result<Self> {
        let (lock, origin) = followed(package)?;
        let counted = CountedReleases::of(package)?;
        let rendering = PackageRendering::of(package)?;
        worktree::refuse_sparse(package)?;
        let named = named.filter(|_| matches!(origin, PackageOrigin::Files(_)));
        let named = named.map(|named| named.absolute()).transpose()?;
        let origin = named.map_or_else(|| origin.clone(), PackageOrigin::Files);
        Ok(Self {
            package,
            lock,
            upstream: UpstreamSource::open(origin, is_offline)?,
            rendering,
            counted,
            model: OnceLock::new(),
            shared: Arc::default(),
        })
    }

    /// Leaves out the releases that the lock does not follow, and those that the rules of the package refuse.
    fn leave_out(&mut self) {
        let releases = &mut self.upstream.releases;
        releases.follow(self.lock.reference.as_deref());
        releases.leave_out(|name| self.counted.refusal(name).is_some());
    }

    /// Opens the upstream without the network, for commands other than `get`, `status` and `upgrade`. The list of tags
    /// and branches may be missing.
    pub(crate) fn open_cached(package: &'p LocalPackage) -> Result<Self> {
        let mut this = Self::closed(package, None, true)?;
        // Commits can be read without the list.
        let _ = this.upstream.list(&this.lock.directory);
        this.leave_out();
        Ok(this)
    }

    /// Whether the locked revision would be rendered differently now.
    pub(crate) fn is_rendered_anew(&self) -> bool {
        let is_closed = self.package.tracking.open.is_none();
        let rendering = self.rendering.as_ref().filter(|_| is_closed);
        rendering.is_some_and(PackageRendering::is_changed)
    }

    /// What the locked revision was rendered with.
    fn locked_request(&self) -> Option<&RenderRequest> {
        self.rendering.as_ref().map(|rendering| &rendering.locked)
    }

    /// What another revision is rendered with.
    fn next_request(&self) -> Option<&RenderRequest> {
        self.rendering.as_ref().map(|rendering| &rendering.next)
    }

    /// A revision of the package, with the local values where it is random, or else the values of the original revision.
    fn fetch(
        &self,
        path: &str,
        revision: &Revision,
        request: Option<&RenderRequest>,
        original: Option<&SuppliedPackage>,
    ) -> Result<(FetchedRevision, Vec<FunctionResult>)> {
        let original = original.filter(|_| request.is_some());
        let original: Option<Contents> = original.map(contents).transpose()?;
        let known = [Some(&self.package.contents), original.as_ref()];
        let known: Vec<&Contents> = known.into_iter().flatten().collect();
        self.upstream.fetch_by(path, revision, request, &known)
    }

    /// What the lock names, and what is newer.
    pub(crate) fn model(&self) -> Result<&Followed> {
        if let Some(model) = self.model.get() {
            return Ok(model);
        }
        let model = Followed::of(self.lock, &self.upstream.releases, &self.upstream);
        let mut model = model.map_err(|failure| failure.or_hint(self.goes_on()))?;
        let counted = &self.counted;
        model
            .newer
            .retain(|newer| counted.refusal(&newer.name).is_none());
        if self.is_rendered_anew() {
            let locked = self.upstream.locked_revision(self.lock)?;
            model.newer.insert(0, NewerRevision::rendered_anew(&locked));
        }
        Ok(self.model.get_or_init(|| model))
    }

    /// The command that goes on where what is newer cannot be said: it names another revision if the locked one is gone.
    fn goes_on(&self) -> Hint {
        let releases = &self.upstream.releases;
        let locked = self.lock.reference.as_deref();
        let is_gone = locked.is_some_and(|name| releases.named(name).is_none());
        let other = releases.head().or_else(|| releases.newest());
        match other.filter(|_| is_gone) {
            Some(other) => self.package.command(&["upgrade", &other.short]),
            None => self.package.command(&["status"]),
        }
    }

    /// The requested revision. Without a request, the newest one, or the locked one if none is newer.
    pub(crate) fn target(&self, request: Option<&str>) -> Result<Revision> {
        let Some(request) = request else {
            return match self.model()?.newest() {
                Some(newest) => self.resolved(newest.revision()),
                None => self.upstream.locked_revision(self.lock),
            };
        };
        let found = self.upstream.requested(&self.lock.directory, request);
        let found = found.or_else(|error| {
            // A name that only `status` shows: `main@1a2b3c4`, the sibling of a path.
            let model = self.model().ok();
            let named = model.and_then(|model| model.named(request));
            named.map(NewerRevision::revision).ok_or(error)
        })?;
        let name = if self.upstream.is_git() {
            &found.upstream_ref
        } else {
            &found.lock_ref
        };
        if let Some(why) = self.counted.refusal(name) {
            warning(format_args!("{why}; you asked for {name}"));
        }
        self.resolved(found)
    }

    fn resolved(&self, revision: Revision) -> Result<Revision> {
        let (lock, name) = (self.lock, self.package.name());
        let resolved = self.upstream.kind.resolved(revision, Some(lock));
        resolved.map_err(|failure| match failure.cause() {
            Some(RemoteError::Replaced { .. }) => {
                self.upstream.with_adopt_hint(failure, lock, &name)
            }
            _ => failure,
        })
    }

    /// The name of a revision for a person. A branch, or a tag that moved, is named with its commit.
    pub(crate) fn shown_name(&self, revision: &Revision) -> String {
        let name = &revision.lock_ref;
        let is_moved = locked_name(self.lock).as_ref() == Some(name)
            && self.lock.commit.as_ref() != Some(&revision.commit);
        let known = self.upstream.releases.named(&revision.upstream_ref);
        let is_branch = known.is_some_and(ListedReference::is_branch);
        if is_moved || is_branch {
            return name_at(name, &revision.commit);
        }
        name.clone()
    }

    /// The path of the package in upstream at a revision.
    pub(crate) fn path_at(&self, target: &Revision) -> Result<PathAt> {
        let own = &self.lock.directory;
        let same = |path: &str| PathAt {
            path: path.to_owned(),
            unchanged_beside: Vec::new(),
        };
        let open = self.package.tracking.open.as_ref();
        if let Some(open) = open.filter(|open| open.to == target.commit) {
            // A Kptfile of an earlier version does not record a path that moved.
            if let Some(path) = &open.path {
                return Ok(same(path));
            }
        }
        let model = self.model.get();
        let newer = model.and_then(|model| model.named(&target.given));
        let newer = newer.filter(|newer| newer.reference.commit == target.commit);
        if let Some(path) = newer.and_then(|newer| newer.path.as_deref()) {
            return Ok(same(path));
        }
        let from = self.lock.commit.as_deref();
        let (Some(from), true) = (from, self.upstream.is_git()) else {
            return Ok(same(own));
        };
        let releases = &self.upstream.releases;
        let own_name = locked_name(self.lock).and_then(|name| releases.release_named(&name));
        let names = own_name.zip(releases.release_named(&target.lock_ref));
        let names = names.as_ref().map(|(own, target)| [own, target]);
        let found = path_at(own, [from, &target.commit], names, &self.upstream);
        found.map_err(|failure| {
            // A revision that cannot be read says nothing about the path.
            if !failure.hints.is_empty() {
                return failure;
            }
            Failure {
                message: format!("{} in {}", failure.message, target.lock_ref),
                ..failure
            }
            .hint(self.upstream.get_command(own, &target.upstream_ref))
        })
    }

    /// The new revision of an open upgrade, with its names in the Kptfile and the repository.
    pub(crate) fn open_target(&self, open: &OpenUpgrade) -> Revision {
        let wanted = self.package.tracking.requested.clone();
        let name = wanted.unwrap_or_else(|| open.to.clone());
        let known = self.upstream.releases.named(&name);
        let known = known.filter(|known| known.commit == open.to);
        let mut revision = Revision::named(&name, open.to.clone());
        let release = known.map(|known| known.name.clone());
        let release = release.or_else(|| release_outside_git(&name, &open.to));
        if let Some(release) = release {
            revision.lock_ref = release;
        }
        revision
    }

    /// The package at a revision of upstream, as the input for a role.
    pub(crate) fn supplied(&self, revision: &Revision, role: Role) -> Result<Arc<SuppliedPackage>> {
        self.supplied_by(revision, role, self.next_request())
    }

    /// Like [`Self::supplied`], rendered as a committed state of the package records it.
    pub(crate) fn supplied_by(
        &self,
        revision: &Revision,
        role: Role,
        request: Option<&RenderRequest>,
    ) -> Result<Arc<SuppliedPackage>> {
        let path = self.path_at(revision)?.path;
        let file = self.package.only_file()?;
        let file = file.as_deref();
        if self.rendering.is_some() {
            let (files, _) = self.fetch(&path, revision, request, None)?;
            return supplied(files.snapshot, role, file, &[]);
        }
        self.release(&path, revision, role, file, &[])
    }

    /// A release that is not rendered. Files that are also in `known` are not parsed again.
    fn release(
        &self,
        path: &str,
        revision: &Revision,
        role: Role,
        file: Option<&str>,
        known: &[&SuppliedPackage],
    ) -> Result<Arc<SuppliedPackage>> {
        let key = ReleaseKey::of(revision, path, role, file);
        self.shared.release(key, |others| {
            let others = others.iter().map(|other| &**other);
            let known: Vec<&SuppliedPackage> = known.iter().copied().chain(others).collect();
            let (files, _) = self.fetch(path, revision, None, None)?;
            supplied_with_ignored(files, role, file, &known)
        })
    }

    /// The upstream package at the locked revision.
    pub(crate) fn original(&self) -> Result<Arc<SuppliedPackage>> {
        self.original_named(self.package.only_file()?.as_deref())
    }

    /// Like [`Self::original`], with this name for the file of a single-file package.
    fn original_named(&self, file: Option<&str>) -> Result<Arc<SuppliedPackage>> {
        let revision = self.upstream.locked_revision(self.lock)?;
        let path = &self.lock.directory;
        let request = self.locked_request();
        let read = if self.rendering.is_some() {
            let files = self.fetch(path, &revision, request, None);
            files.and_then(|(files, _)| supplied_with_ignored(files, Role::Original, file, &[]))
        } else {
            self.release(path, &revision, Role::Original, file, &[])
        };
        read.map_err(|failure| {
            let name = self.package.name();
            let failure = self.upstream.with_adopt_hint(failure, self.lock, &name);
            failure.context(format_args!(
                "cannot read the original revision of '{name}'"
            ))
        })
    }

    /// A [`Merger`] of the package with a revision.
    pub(crate) fn merger(&self, target: &Revision) -> Result<Merger> {
        self.merger_from(self.original()?, target, &[])
    }

    /// Like [`Self::merger`], with an original package that was read before. Files that are also in `others` are not
    /// parsed again.
    pub(crate) fn merger_from(
        &self,
        original: Arc<SuppliedPackage>,
        target: &Revision,
        others: &[&SuppliedPackage],
    ) -> Result<Merger> {
        let file = self.package.only_file()?;
        let found = self.path_at(target)?;
        let (path, siblings) = (found.path, found.unchanged_beside);
        let (old, new) = (file_name(&self.lock.directory), file_name(&path));
        // The user may have given the file another name.
        let new_file = file.as_deref().filter(|file| *file == old && old != new);
        let new_file = new_file.map(|_| new.to_owned());
        let original = match &new_file {
            Some(new) => self.original_named(Some(new))?,
            None => original,
        };
        let name = new_file.as_deref().or(file.as_deref());
        let known: Vec<&SuppliedPackage> = std::iter::once(&*original)
            .chain(others.iter().copied())
            .collect();
        let mut kept = Vec::new();
        let upstream = if self.rendering.is_some() {
            let (files, random) =
                self.fetch(&path, target, self.next_request(), Some(&original))?;
            kept = random;
            supplied_with_ignored(files, Role::Upstream, name, &known)?
        } else {
            self.release(&path, target, Role::Upstream, name, &known)?
        };
        Ok(Merger {
            original,
            upstream,
            local: None,
            strategy: self.lock.update_strategy.clone(),
            rules: policy::rules(&self.package.contents)?,
            file,
            new_file,
            path,
            siblings,
            kept,
            rendering: self.rendering.clone(),
        })
    }

    /// What the user should know of a revision: that it is older than the lock, or leaves the files as they were.
    pub(crate) fn notes(&self, target: &Revision, siblings: &[String]) -> Vec<String> {
        let model = self.model.get();
        let mut notes: Vec<String> = model
            .iter()
            .flat_map(|model| model.notes.iter().map(ToString::to_string))
            .collect();
        if self.is_older(target) {
            let before = locked_name(self.lock).or(self.lock.commit.clone());
            let result = older_revision(&target.lock_ref, &before.unwrap_or_default());
            notes.push(result.to_string());
        }
        if !siblings.is_empty() {
            let path = &self.lock.directory;
            let siblings = siblings.join(", ");
            notes.push(format!(
                "{path} did not change in {}; upstream has newer versions next to it: {siblings}",
                target.lock_ref
            ));
        }
        notes
    }

    /// Whether the lock contains a revision, or is a later release than it.
    pub(crate) fn is_older(&self, target: &Revision) -> bool {
        let Some(from) = &self.lock.commit else {
            return false;
        };
        let name = locked_name(self.lock).unwrap_or_default();
        is_older(&target.lock_ref, &name)
            || *from != target.commit && !self.upstream.known_in(from, &[&target.commit]).is_empty()
    }
}
