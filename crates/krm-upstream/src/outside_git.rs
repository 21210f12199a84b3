//! The part that archives and images have in common.

use std::fmt;
use std::path::PathBuf;

use super::unpacked::Unpacked;
use krm_core::config::UsageError;

/// A folder of an archive or image. `Display` prints the flag that names it.
#[derive(Debug)]
pub(super) struct FolderOutsideGit {
    /// The archive or image, as in the flag.
    pub(super) source: String,
    /// The folder in the archive or image; empty for all files.
    pub(super) folder: String,
    /// The path of the archive, or of the image layout.
    pub(super) path: PathBuf,
    /// The name by which a user knows it.
    pub(super) name: String,
    /// The digest of the archive or image.
    pub(super) digest: String,
    /// The name for the Kptfile that is created for a package made from the whole archive or image.
    pub(super) package_name: String,
    /// Unpacks the whole archive or image.
    pub(super) unpack: fn(&Self) -> Result<Unpacked, UsageError>,
    /// From the recorded source and digest of another revision, makes a flag that looks for it next to this archive, or in
    /// this image layout.
    pub(super) sibling_flag: fn(&Self, &str, &str) -> String,
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

/// Splits a source into the archive or image and the folder in it, which keeps the `//` in front.
pub(super) fn split_folder(source: &str) -> (&str, &str) {
    source.split_at(source.rfind("//").unwrap_or(source.len()))
}
