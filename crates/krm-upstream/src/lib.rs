//! Where upstream packages come from, and what the Kptfile of a derived package records about them.
//!
//! An [`UpstreamRevision`](krm_core::upstream_revision::UpstreamRevision) is one revision of an upstream: it reads its
//! files, finds the revision that a lock names, and writes the lock. Each kind of source is a file in this crate and an
//! entry in [`SOURCES`]; the functions do not depend on the kind.
//!
//! ```text
//! ../catalog//web/nginx?ref=v2      a directory of a local clone, at a tag, branch or commit
//! nginx-1.2.0.tgz                   an archive; the releases next to it are its other releases
//! oci:layout:v2//manifests          a folder of an image in a layout on disk
//! ```
//!
//! ```
//! use krm_upstream::git::GitSource;
//!
//! let flag = std::path::Path::new("../catalog//web/nginx?ref=v2");
//! let source = GitSource::of_flag(flag)?.expect("a directory of a repository");
//! assert_eq!(source.directory, "web/nginx");
//! assert_eq!(source.revision, "v2");
//! assert_eq!(GitSource::of_flag("../catalog".as_ref())?, None);
//! # Ok::<(), krm_upstream::git::GitError>(())
//! ```
//!
//! # Invariants
//!
//! - The files of a revision are listed by the rules for package directories on disk.
//! - Repositories are read without a program, without a checkout, and without their configuration. Only the branches of
//!   drafts are written.
//! - A lock that was written by this crate is found again by it, and kpt can read it where kpt knows the source.
//! - An archive whose checksum or end is wrong is an error, and never a smaller package.
//!
//! # Limitations
//!
//! - No network: everything is on this machine. krmv fetches, with the user's own programs.
//! - Shallow and partial clones have only what was fetched; what is missing is an error.
//! - Of an image layout, one image is read. The form that `docker save` writes is not.
//! - Submodules and Git LFS pointers are skipped, with a warning.

mod addresses;
mod archive;
mod checked_tar;
mod digest;
pub mod git;
mod git_origin;
mod oci;
mod outside_git;
mod recorded;
mod releases;
mod unpacked;

pub use addresses::{BrowserAddress, ReleaseFile, is_only_file};
pub use archive::is_archive;
pub use archive::without_end as without_archive_end;
pub use digest::ContentDigest;
pub use git_origin::GitOrigin;
pub use git_origin::locked;
pub use git_origin::older_revision;
pub use oci::tags as tags_of_layout;
pub use recorded::forget as forget_digest;
pub use recorded::{is_digest, record_digest, recorded_digest};
pub use releases::{SourceOutsideGit, find_recorded, open, package_name, source_end};

use krm_core::kptfile::UpstreamLock;
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Reason};
use krm_core::upstream_revision::Sources;

/// All kinds of sources.
pub const SOURCES: Sources = &[oci::open, archive::open, git_origin::open];

/// The lock of a Kptfile; an error result if it is not valid.
pub fn lock_of(
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
