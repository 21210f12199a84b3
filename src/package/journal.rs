//! The journal of a write to several files of a package. If a run is killed midway, the next run completes the write.
//!
//! ```json
//! {"files":[{"target":"app.yaml","staged":".krm-variants-….tmp","old":"2c26…","new":"fcde…"},
//!           {"target":"gone.yaml","old":"baa5…"}]}
//! ```
//!
//! The journal is written after all new contents are staged and before the first file is renamed into place, and is
//! removed after the last rename. A file that was edited since then is left unchanged. The run locks the journal
//! where the file system supports locks, so that no other run completes a write that is still in progress.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::PackageError;
use super::path::{check_folders, check_package_path};

/// The name of a temporary file, so that the journal is not read as part of the package.
pub(crate) const JOURNAL: &str = ".krm-variants-journal.tmp";

/// A journal on disk, which is removed on drop.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    /// Open, because closing the file releases its lock.
    _file: File,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalEntry {
    files: Vec<JournaledFile>,
}

/// A file to be changed. Paths are relative to the package; digests are SHA-256.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JournaledFile {
    pub(super) target: PathBuf,
    /// The temporary file with the new content; `None` for a deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) staged: Option<PathBuf>,
    /// The digest of the content before the change; `None` for a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) old: Option<String>,
    /// The digest of the new content; `None` for a deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) new: Option<String>,
}

/// The digest of a content, in hexadecimal.
pub(super) fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Journal {
    /// Writes a journal into a package, atomically.
    pub(super) fn write(root: &Path, files: Vec<JournaledFile>) -> Result<Self, PackageError> {
        let path = root.join(JOURNAL);
        let failed = |error: io::Error| PackageError::io("write", path.as_path())(error);
        let mut staged = super::temporary::make_in(root).map_err(failed)?;
        serde_json::to_writer(&mut staged, &JournalEntry { files })
            .map_err(|error| failed(error.into()))?;
        // Without locks, another run may complete this write. The result is the same.
        let _ = staged.as_file().try_lock();
        let file = staged.persist(&path).map_err(|error| failed(error.error))?;
        Ok(Self { path, _file: file })
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // If the journal cannot be removed, the next run processes it and finds everything done.
        let _ = fs::remove_file(&self.path);
    }
}

/// Completes a write that a killed run began.
///
/// # Errors
/// The operating system refuses an operation.
pub fn recover_package(directory: &Path) -> Result<(), PackageError> {
    let journal = directory.join(JOURNAL);
    // Opening a FIFO of that name would block.
    if !fs::symlink_metadata(&journal).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(());
    }
    let file = match File::open(&journal) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        file => file.map_err(PackageError::io("read", journal.as_path()))?,
    };
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return Ok(());
    }
    let bytes = fs::read(&journal).map_err(PackageError::io("read", journal.as_path()))?;
    // Anyone can write such a file; one that this program did not write is ignored.
    let written = serde_json::from_slice::<JournalEntry>(&bytes);
    for file in written.map_or_else(|_| Vec::new(), |written| written.files) {
        let is_inside = |path: &Path| is_inside(directory, path);
        if !(is_inside(&file.target) && file.staged.as_deref().is_none_or(is_inside)) {
            continue;
        }
        file.complete(directory)?;
    }
    fs::remove_file(&journal).map_err(PackageError::io("delete", journal.as_path()))
}

/// Whether a path is inside the package, with no link on the way.
fn is_inside(directory: &Path, path: &Path) -> bool {
    let path = path.to_str();
    path.is_some_and(|path| {
        check_package_path(path).is_ok() && check_folders(directory, path).is_ok()
    })
}

impl JournaledFile {
    fn complete(&self, directory: &Path) -> Result<(), PackageError> {
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
fn digest_of(file: &Path) -> Result<Option<String>, PackageError> {
    match fs::read(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        bytes => bytes
            .map(|bytes| Some(digest(&bytes)))
            .map_err(PackageError::io("read", file)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal_of(target: &str) -> String {
        let digest = digest(b"s");
        format!("{{\"files\":[{{\"target\":\"{target}\",\"old\":\"{digest}\"}}]}}")
    }

    #[test]
    fn a_journal_of_somebody_else_leads_nowhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("p");
        fs::create_dir(&root).expect("a folder");
        fs::write(folder.path().join("secret"), "s").expect("a file");
        for text in [journal_of("../secret").as_str(), "", "not JSON"] {
            fs::write(root.join(JOURNAL), text).expect("a journal");
            recover_package(&root).expect("nothing to do");
            assert_eq!(fs::read_dir(&root).expect("a folder").count(), 0);
        }
        assert!(folder.path().join("secret").exists());
    }

    #[cfg(unix)]
    #[test]
    fn no_link_leads_a_journal_out_of_the_package() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("p");
        fs::create_dir(&root).expect("a folder");
        fs::write(folder.path().join("secret"), "s").expect("a file");
        std::os::unix::fs::symlink("..", root.join("d")).expect("a link");
        fs::write(root.join(JOURNAL), journal_of("d/secret")).expect("a journal");
        recover_package(&root).expect("nothing to do");
        assert!(folder.path().join("secret").exists());
        assert!(!root.join(JOURNAL).exists());
    }

    #[test]
    fn what_a_run_is_still_at_is_left_to_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        fs::write(root.join("a.yaml"), "s").expect("a file");
        let doomed = JournaledFile {
            target: "a.yaml".into(),
            staged: None,
            old: Some(digest(b"s")),
            new: None,
        };
        let journal = Journal::write(root, vec![doomed]).expect("a journal");
        recover_package(root).expect("nothing to do");
        assert!(root.join("a.yaml").exists());
        let text = fs::read(root.join(JOURNAL)).expect("a journal");
        drop(journal);
        fs::write(root.join(JOURNAL), text).expect("a journal");
        recover_package(root).expect("carried through");
        assert!(!root.join("a.yaml").exists());
    }
}
