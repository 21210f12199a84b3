//! Release files, charts and images on another machine as upstreams.

use krm_address::{Address, Credentials};
use krm_core::kptfile::UpstreamLock;
use krm_remote::{Client, Fetched, RemoteRelease, RemoteUpstream};
use krm_upstream::ContentDigest;
use krm_upstream::git::{GitCommand, Revision, Snapshot};

use super::{FetchedRevision, UpstreamKind};
use crate::client::{self, Place};
use crate::failure::Result;
use crate::kptfile::locked_name;
use crate::progress::progress;
use crate::releases::{ListedReference, Releases};
use crate::shared::Listings;
use crate::source::unreadable;

/// What krmv does for a source: it shows progress, and runs the user's `git`.
#[derive(Debug)]
pub(super) struct KrmvClient;

impl Client for KrmvClient {
    fn says(&self, what: &str) {
        progress(format_args!("{what}"));
    }

    fn list_references(
        &self,
        repository: &Address,
        credentials: Option<&Credentials>,
    ) -> std::result::Result<String, String> {
        let list = GitCommand::list_references(repository);
        client::text_with(Place::Elsewhere, &list, credentials).map_err(|error| error.message)
    }
}

fn fetched(upstream: &RemoteUpstream, revision: &Revision) -> krm_remote::Result<Fetched> {
    let name = &revision.lock_ref;
    match ContentDigest::parse(&revision.commit) {
        Some(digest) => upstream.with_digest(name, &digest),
        None => upstream
            .fetch_release(name, false)?
            .ok_or_else(|| upstream.missing(name)),
    }
}

impl UpstreamKind for RemoteUpstream {
    fn releases(&self, directory: &str, _: &mut Listings) -> Result<Releases> {
        let releases = self.listed(directory)?;
        Ok(Releases::of(
            releases.into_iter().map(listed_release).collect(),
        ))
    }

    fn fetch(
        &self,
        path: &str,
        revision: &Revision,
        _: Option<&ListedReference>,
    ) -> Result<FetchedRevision> {
        let fetched = fetched(self, revision)?;
        let (package, origin) = if self.source.is_only_file(path) {
            (fetched.only_file(&self.source, path)?, None)
        } else {
            let origin = fetched.open(path)?;
            (origin.read().map_err(unreadable)?, Some(origin))
        };
        Ok(FetchedRevision {
            snapshot: Snapshot {
                revision: Revision {
                    commit: fetched.digest.as_str().to_owned(),
                    ..revision.clone()
                },
                address: self.source.address(),
                package,
            },
            origin,
            place: self.place_of(&fetched, path)?,
        })
    }

    /// A digest, or a source as a lock names it.
    fn by_other_name(
        &self,
        directory: &str,
        name: &str,
        _: Option<&ListedReference>,
    ) -> Option<Revision> {
        let (release, source) = self.other(directory, name)?;
        let mut revision = Revision::named(&source, String::new());
        revision.lock_ref = release;
        Some(revision)
    }

    /// With its digest: the release is fetched for it.
    fn resolved(&self, revision: Revision, locked: Option<&UpstreamLock>) -> Result<Revision> {
        let name = &revision.lock_ref;
        let found = self
            .fetch_release(name, true)?
            .ok_or_else(|| self.missing(name))?;
        if let Some(locked) = locked
            && !self.can_move()
            && locked_name(locked).as_ref() == Some(name)
            && let Some(expected) = locked.commit.as_deref().and_then(ContentDigest::parse)
            && expected != found.digest
        {
            return Err(self.replaced(name, &expected, Some(&found.digest)).into());
        }
        Ok(Revision {
            commit: found.digest.as_str().to_owned(),
            ..revision
        })
    }

    /// An image's tag may have moved; other releases must not.
    fn current(&self, lock: &UpstreamLock) -> Result<Option<(String, String)>> {
        let digest = lock.commit.as_deref().and_then(ContentDigest::parse);
        let Some((name, digest)) = locked_name(lock).zip(digest) else {
            return Ok(None);
        };
        let current = self.digest_now(&name)?;
        if let (Some(found), false) = (&current, self.can_move())
            && *found != digest
        {
            return Err(self.replaced(&name, &digest, Some(found)).into());
        }
        let current = current.unwrap_or(digest);
        Ok(Some((name, current.as_str().to_owned())))
    }

    fn has(&self, release: &ListedReference) -> Result<bool> {
        if !release.commit.is_empty() {
            return Ok(true);
        }
        Ok(self.fetch_release(&release.name, false)?.is_some())
    }

    fn lacks(&self, release: &str) -> bool {
        self.is_missing(release)
    }

    fn known_commit(&self, release: &ListedReference) -> Option<String> {
        if release.commit.is_empty() {
            return self.known(&release.name);
        }
        Some(release.commit.clone())
    }

    fn arguments(&self, _: &str, path: &str, revision: Option<&str>) -> Vec<String> {
        self.source.arguments(path, revision)
    }

    fn note(&self, release: &str) -> Option<String> {
        let is_deprecated = self.is_deprecated(release);
        is_deprecated.then(|| format!("{release} is deprecated, as {} says", self.source.address()))
    }

    fn is_only_file(&self, path: &str) -> bool {
        self.source.is_only_file(path)
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
