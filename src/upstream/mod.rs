//! Where upstream packages come from, and what the Kptfile of a package made from one records.
//!
//! An [`UpstreamRevision`] is one revision of an upstream: it reads its files, finds the revision that a lock names, and
//! writes the lock. Each kind of source is a file here and a line in [`SOURCES`]; the functions know no kind.
//!
//! Source: contract, Upstreams from Git, Other sources.

mod archive;
mod git;
mod not_in_git;
mod oci;
mod recorded;
mod releases;
mod unpacked;

pub use archive::is_archive;
pub(crate) use archive::without_end as without_archive_end;
pub use git::GitOrigin;
pub(crate) use git::{locked, older_revision};
pub(crate) use oci::tags as tags_of_layout;
pub use recorded::forget as forget_digest;
pub use recorded::{is_digest, record_digest, recorded_digest};
pub use releases::{FileSource, name_of as package_name, open, recorded};

use std::fmt;
use std::path::Path as FilePath;
use std::sync::Arc;

use crate::config::UsageError;
use crate::kptfile::UpstreamLock;
use crate::package::Package;
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason, Results};
use crate::yaml::{EditError, Editor, NodeRef, Path};

/// All kinds of sources.
pub const SOURCES: Sources = &[oci::open, archive::open, git::open];

/// The kinds of sources that a function takes. A function without any is linked without their code.
pub type Sources = &'static [Source];

/// Finds the revision that a flag names; `None` if it is of another kind. What is of no kind is a path.
pub type Source = fn(&FilePath) -> Result<Option<Arc<dyn UpstreamRevision>>, UsageError>;

/// A revision of an upstream. It is displayed as a flag names it.
pub trait UpstreamRevision: fmt::Debug + fmt::Display + Send + Sync {
    /// What a user calls it.
    fn name(&self) -> &str;
    /// What it is exactly: `commit 5f0c...`.
    fn id(&self) -> String;
    /// A flag that names exactly this one.
    fn flag(&self) -> String;
    /// The name of a Kptfile that is created for a package made from it.
    fn package_name(&self) -> &str;
    /// What a user should know of how it was found.
    fn warning(&self) -> Option<(Reason, String)> {
        None
    }

    /// Its files.
    ///
    /// # Errors
    /// [`UsageError`]: they cannot be read.
    fn read(&self) -> Result<Package, UsageError>;
    /// What a clone takes of it apart from the files that are read.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn unread(&self, is_read: &dyn Fn(&str) -> bool) -> Result<Package, UsageError>;

    /// The revision that a Kptfile names, compared with this one.
    ///
    /// # Errors
    /// [`UsageError`]: the source cannot be read.
    fn locked(
        &self,
        local: &ResourceList,
        kptfile: ItemId,
        results: &mut Results,
    ) -> Result<Locked, UsageError>;
    /// The name and the id of the revision that a Kptfile records.
    fn recorded(&self, kptfile: NodeRef<'_>) -> (Option<String>, Option<String>);
    /// Records this revision in a Kptfile, of a new package with this repository; else with the one that it names, or the
    /// address of the clone. Equal values keep their bytes.
    ///
    /// # Errors
    /// As [`Editor::set`].
    fn record<'d>(
        &self,
        repository: Option<&str>,
        kptfile: NodeRef<'d>,
        editor: &mut Editor<'d, '_>,
    ) -> Result<(), EditError>;
    /// The field of a Kptfile that records it.
    fn place(&self) -> Path;

    /// The directory of a repository that it is.
    fn git(&self) -> Option<&GitOrigin> {
        None
    }
}

/// Where the lock of a package points, relative to the new revision of its upstream.
#[derive(Debug)]
pub enum Locked {
    /// To the same revision.
    Same,
    /// To another revision.
    Other(Arc<dyn UpstreamRevision>),
    /// Nowhere; with the error for a lock that no revision can be read from.
    Absent(Option<Box<FunctionResult>>),
    /// To a revision that is not there; an error result says so.
    NotFound,
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
