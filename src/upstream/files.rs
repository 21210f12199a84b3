//! Archives and image layouts on this machine as upstreams. The revisions of an archive are the archives next to it; those of
//! an image layout are its tags.

use std::sync::Arc;

use krm_core::upstream_revision::UpstreamRevision;
use krm_upstream::git::{Revision, Snapshot};
use krm_upstream::{self as upstream, SourceOutsideGit};

use super::{FetchedRevision, UpstreamKind};
use crate::failure::{Failure, Result};
use crate::releases::{ListedReference, Releases};
use crate::shared::Listings;
use crate::source::unreadable;

/// Archives, or the images of a layout.
pub(super) struct FilesUpstream(pub(super) SourceOutsideGit);

impl FilesUpstream {
    /// Finds the archive or image that has the digest of a revision.
    fn file(&self, folder: &str, revision: &Revision) -> Result<Arc<dyn UpstreamRevision>> {
        let digest = &revision.commit;
        let known = SourceOutsideGit::parse(&revision.upstream_ref);
        let known = known.map(|known| known.with_folder(folder));
        let flags = known.into_iter().chain([self.0.with_folder(folder)]);
        let mut found = flags.filter_map(|flag| upstream::find_recorded(&flag, digest));
        found.next().ok_or_else(|| {
            let place = &revision.upstream_ref;
            let message = format!("expected '{place}' with the digest {digest}, found none");
            Failure::new(message).hint("krmv help get")
        })
    }
}

impl UpstreamKind for FilesUpstream {
    fn releases(&self, directory: &str, _: &mut Listings) -> Result<Releases> {
        Releases::of_files(&self.0, directory)
    }

    fn fetch(
        &self,
        path: &str,
        revision: &Revision,
        _: Option<&ListedReference>,
    ) -> Result<FetchedRevision> {
        let origin = self.file(path, revision)?;
        let snapshot = Snapshot {
            revision: revision.clone(),
            address: self.0.address.clone(),
            package: origin.read().map_err(unreadable)?,
        };
        Ok(FetchedRevision {
            snapshot,
            origin: Some(origin),
            place: revision.upstream_ref.clone(),
        })
    }

    /// Another archive, or a digest.
    fn by_other_name(
        &self,
        directory: &str,
        name: &str,
        _: Option<&ListedReference>,
    ) -> Option<Revision> {
        let flag = self.0.with_folder(directory);
        let found = match SourceOutsideGit::parse(name) {
            Some(other) => upstream::open(&other.absolute().ok()?.with_folder(directory)).ok()?,
            None => upstream::find_recorded(&flag, name),
        };
        found.map(|found| of_file(&*found))
    }
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
