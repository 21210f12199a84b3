//! The journal of a write to several files of a package: with it, a run that was killed midway is carried
//! through by the next one.
//!
//! ```json
//! {"files":[{"target":"app.yaml","staged":".krm-variants-….tmp","old":"2c26…","new":"fcde…"},
//!           {"target":"gone.yaml","old":"baa5…"}]}
//! ```
//!
//! It is written after all new contents are staged and before the first is renamed into place, and removed
//! after the last. A file that somebody edited in between is left as it is.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use siphasher::sip128::SipHasher13;
use tempfile::NamedTempFile;

use super::PackageError;
use super::path::{check_folders, check_package_path};

/// Its name. As of a temporary file, so that nobody takes it for a part of the package.
pub(super) const NAME: &str = ".krm-variants-journal.tmp";

/// A journal on disk, removed when it is dropped.
#[derive(Debug)]
pub(super) struct Journal(PathBuf);

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    pub(super) files: Vec<JournaledFile>,
}

impl Written {
    /// A temporary file in a package that holds this, to be renamed.
    pub(super) fn staged(&self, root: &Path) -> io::Result<NamedTempFile> {
        let mut staged = super::temporary::make_in(root)?;
        io::Write::write_all(&mut staged, serde_json::to_string(self)?.as_bytes())?;
        Ok(staged)
    }
}

/// A file that is to change. Paths are relative to the package, digests are SipHash-1-3 of 128 bits.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JournaledFile {
    pub(super) target: PathBuf,
    /// The temporary file with the new content; `None` for a deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) staged: Option<PathBuf>,
    /// The digest of the content before; `None` for a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) old: Option<String>,
    /// The digest of the new content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) new: Option<String>,
}

/// The digest of a content. It tells the content of this run from any other that comes to be there; nobody who makes them
/// alike gains by it.
pub(super) fn digest(bytes: &[u8]) -> String {
    let digest = SipHasher13::new().hash(bytes);
    format!("{:032x}", digest.as_u128())
}

impl Journal {
    /// Writes a journal into a package. It appears as a whole or not at all.
    pub(super) fn write(root: &Path, files: Vec<JournaledFile>) -> Result<Self, PackageError> {
        let path = root.join(NAME);
        let failed = |error: io::Error| PackageError::io("write", path.as_path())(error);
        Written { files }
            .staged(root)
            .map_err(failed)?
            .into_temp_path()
            .persist(&path)
            .map_err(|error| failed(error.error))?;
        Ok(Self(path))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // One that stays is carried through by the next run, which finds everything done.
        let _ = fs::remove_file(&self.0);
    }
}

/// Carries through what a killed run had begun to write. Nobody else may work on the package meanwhile.
///
/// # Errors
/// The operating system refuses.
pub(crate) fn recover_package(directory: &Path) -> Result<(), PackageError> {
    let journal = directory.join(NAME);
    let bytes = match fs::read(&journal) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        bytes => bytes.map_err(PackageError::io("read", journal.as_path()))?,
    };
    // Anybody can write such a file; one that is not ours says nothing.
    let written = serde_json::from_slice::<Written>(&bytes);
    for file in written.map_or_else(|_| Vec::new(), |written| written.files) {
        let is_inside = |path: &Path| is_inside(directory, path);
        if !(is_inside(&file.target) && file.staged.as_deref().is_none_or(is_inside)) {
            continue;
        }
        file.carry_through(directory)?;
    }
    fs::remove_file(&journal).map_err(PackageError::io("delete", journal.as_path()))
}

/// Whether a path stays in the package, and no link leads out of it.
pub(super) fn is_inside(directory: &Path, path: &Path) -> bool {
    let path = path.to_str();
    path.is_some_and(|path| {
        check_package_path(path).is_ok() && check_folders(directory, path).is_ok()
    })
}

impl JournaledFile {
    fn carry_through(&self, directory: &Path) -> Result<(), PackageError> {
        let target = directory.join(&self.target);
        let is_link = fs::symlink_metadata(&target).is_ok_and(|metadata| metadata.is_symlink());
        let found = digest_of(&target)?;
        let is_as_it_was = !is_link && found == self.old;
        let Some(staged) = &self.staged else {
            if is_as_it_was && found.is_some() {
                fs::remove_file(&target).map_err(PackageError::io("delete", target.as_path()))?;
            }
            return Ok(());
        };
        let staged = directory.join(staged);
        let content = digest_of(&staged)?;
        if content.is_some() && content == self.new && is_as_it_was {
            fs::rename(&staged, &target)
                .map_err(PackageError::io("rename a new version to", target))?;
        }
        Ok(())
    }
}

/// The digest of a file's bytes; `None` if there is no such file.
pub(super) fn digest_of(file: &Path) -> Result<Option<String>, PackageError> {
    match fs::read(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        bytes => bytes
            .map(|bytes| Some(digest(&bytes)))
            .map_err(PackageError::io("read", file)),
    }
}
