//! What the functions know of the source of an upstream package: one revision, and the lock that names it.
//!
//! Each kind of source implements [`UpstreamRevision`] in the module for upstreams; nothing here depends on a kind.
//!
//! Source: contract, Upstreams from Git, Other sources.

use std::any::Any;
use std::fmt;
use std::path::Path as FilePath;
use std::sync::Arc;

use crate::config::UsageError;
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason, Results};
use krm_package::Package;
use krm_yaml::{EditError, Editor, NodeRef, Path};

/// The kinds of sources that a function supports. The code of the others is not linked.
pub type Sources = &'static [Source];

/// Opens the revision that a flag names; `None` if the flag is of another kind. A flag that no source opens is a
/// path.
pub type Source = fn(&FilePath) -> Result<Option<Arc<dyn UpstreamRevision>>, UsageError>;

/// A revision of an upstream. `Display` prints the flag that names it.
pub trait UpstreamRevision: Any + fmt::Debug + fmt::Display + Send + Sync {
    /// The name by which a user knows it, such as a tag.
    fn name(&self) -> &str;
    /// Its exact identity, such as `commit 5f0c...`.
    fn id(&self) -> String;
    /// A flag that names exactly this revision, even if the tag moves.
    fn flag(&self) -> String;
    /// The name for the Kptfile that is created for a package made from this revision.
    fn package_name(&self) -> &str;
    /// A warning about how the revision was found.
    fn warning(&self) -> Option<(Reason, String)> {
        None
    }

    /// The files of the revision.
    ///
    /// # Errors
    /// [`UsageError`]: the files cannot be read.
    fn read(&self) -> Result<Package, UsageError>;
    /// The files that a clone of the revision contains in addition to those that are read.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn clone_only_files(&self, is_read: &dyn Fn(&str) -> bool) -> Result<Package, UsageError>;

    /// The revision that the lock of a Kptfile names, compared with this one.
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
    /// Records this revision in a Kptfile. The Kptfile gets the given repository, or else keeps the one that it
    /// names, or else gets the address of the clone. Equal values keep their bytes.
    ///
    /// # Errors
    /// As [`Editor::set`].
    fn record<'d>(
        &self,
        repository: Option<&str>,
        kptfile: NodeRef<'d>,
        editor: &mut Editor<'d, '_>,
    ) -> Result<(), EditError>;
    /// The field of a Kptfile that records the revision.
    fn place(&self) -> Path;
}

/// The revision that the lock of a package names, relative to the new revision of its upstream.
#[derive(Debug)]
pub enum Locked {
    /// The same revision.
    Same,
    /// Another revision.
    Other(Arc<dyn UpstreamRevision>),
    /// There is no lock, or, with an error, no revision can be read from it.
    Absent(Option<Box<FunctionResult>>),
    /// The revision does not exist; an error result reports it.
    NotFound,
}
