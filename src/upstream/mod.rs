//! Where upstream packages come from, and what the Kptfile of a derived package records about them.
//!
//! An [`UpstreamRevision`] is one revision of an upstream: it reads its files, finds the revision that a lock names,
//! and writes the lock. Each kind of source is a file in this module and an entry in [`SOURCES`]; the functions do
//! not depend on the kind.
//!
//! Source: contract, Upstreams from Git, Other sources.

mod archive;
mod checked_tar;
mod git_origin;
mod oci;
mod outside_git;
mod recorded;
mod releases;
mod unpacked;

pub use archive::is_archive;
pub(crate) use archive::without_end as without_archive_end;
pub use git_origin::GitOrigin;
pub(crate) use git_origin::{locked, older_revision};
pub(crate) use oci::tags as tags_of_layout;
pub use recorded::forget as forget_digest;
pub use recorded::{is_digest, record_digest, recorded_digest};
pub use releases::{SourceOutsideGit, find_recorded, open, package_name};

use crate::kptfile::UpstreamLock;
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason};
use crate::upstream_revision::Sources;

/// All kinds of sources.
pub const SOURCES: Sources = &[oci::open, archive::open, git_origin::open];

/// The lock of a Kptfile; an error result if it is not valid.
pub(crate) fn lock_of(
    local: &ResourceList,
    kptfile: ItemId,
) -> Result<Option<UpstreamLock>, Box<FunctionResult>> {
    local.read(kptfile, UpstreamLock::read).map_err(|error| {
        let message = format!("cannot find the original revision: {error}");
        let result = FunctionResult::error(Reason::OriginalNotFound, message);
        Box::new(
            result
                .with_resource(local.resource(kptfile))
                .with_field(error.path()),
        )
    })
}
