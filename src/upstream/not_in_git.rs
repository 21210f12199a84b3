//! What archives and images have in common.

use std::fmt;
use std::path::PathBuf;

use super::unpacked::Unpacked;
use crate::config::UsageError;

/// A folder of an archive or image. It is displayed as a flag names it.
#[derive(Debug)]
pub(super) struct FolderOutsideGit {
    /// The archive or image, as a flag names it.
    pub(super) source: String,
    /// The folder in it; empty for all.
    pub(super) folder: String,
    /// Where the archive or the layout of the image is.
    pub(super) path: PathBuf,
    /// What a user calls it.
    pub(super) name: String,
    /// The digest of all that it is a folder of.
    pub(super) digest: String,
    /// The name of a Kptfile that is created for a package made from all of it.
    pub(super) package_name: String,
    /// Reads all that it is a folder of.
    pub(super) unpack: fn(&Self) -> Result<Unpacked, UsageError>,
    /// A flag for what another package was made from, by its record and its digest, if it is where this one is.
    pub(super) beside: fn(&Self, &str, &str) -> String,
}

impl fmt::Display for FolderOutsideGit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        if self.folder.is_empty() {
            return Ok(());
        }
        write!(f, "//{}", self.folder)
    }
}

/// The place of an archive and the folder in it, with the `//` before that.
pub(super) fn split_folder(source: &str) -> (&str, &str) {
    source.split_at(source.rfind("//").unwrap_or(source.len()))
}
