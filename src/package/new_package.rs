//! The note on a package that is being made, locked as long as the run lives. Half of a package would pass for one:
//! what a run that failed made of it is taken back at once, and what a killed run left by the next one.
//!
//! ```json
//! {"files":[{"target":"Kptfile","new":"fcde…"},{"target":"app.yaml","new":"2c26…"}]}
//! ```
//!
//! A file that somebody edited in between is left as it is.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::journal::{JournaledFile, Written, digest, digest_of, is_inside};
use super::read::PackageFiles;
use super::write::{FileChange, make_folders, write_package};
use super::{PackageError, normalize_package_path};

/// Its name. As of a temporary file, so that nobody takes it for a part of the package.
const NAME: &str = ".krm-variants-new.tmp";

const KPTFILE: &str = "Kptfile";

/// As [`write_package`]; of an empty package, or one that is not there, all files come to be or none. What
/// a killed run leaves [`undo_new_package`] takes back.
///
/// # Errors
/// As [`write_package`].
pub(crate) fn write_new_package(
    files: &PackageFiles,
    changes: &[FileChange],
) -> Result<(), PackageError> {
    let is_empty = files.files.is_empty() && files.others.is_empty();
    let is_package = changes.iter().any(|change| change.path() == KPTFILE);
    if !is_empty || !is_package || changes.len() < 2 {
        return write_package(files, changes);
    }
    let mut made = Vec::new();
    if matches!(fs::symlink_metadata(&files.root), Err(error) if error.kind() == ErrorKind::NotFound)
    {
        make_folders(&files.root, &mut made)?;
    }
    let note = Note::write(&files.root, changes);
    let result = match &note {
        Ok(_) => write_package(files, changes),
        Err(_) => Ok(()),
    };
    let result = result.and_then(|()| note.map(|note| note.finish()));
    if result.is_err() {
        for folder in made.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
    result
}

/// The note on a package that is being made. Dropped before all is done, it takes back what there is.
struct Note {
    path: PathBuf,
    files: Vec<JournaledFile>,
    /// Locked where the file system has locks.
    file: File,
}

impl Note {
    fn write(root: &Path, changes: &[FileChange]) -> Result<Self, PackageError> {
        let path = root.join(NAME);
        let failed = |error: io::Error| PackageError::io("write", path.as_path())(error);
        let files: Vec<JournaledFile> = changes.iter().filter_map(new_file).collect();
        let written = Written { files };
        let staged = written.staged(root).map_err(failed)?;
        // Without a lock nobody takes anything back.
        let _ = staged.as_file().try_lock();
        let (file, staged) = staged.into_parts();
        staged.persist(&path).map_err(|error| failed(error.error))?;
        Ok(Self {
            path,
            files: written.files,
            file,
        })
    }

    fn finish(mut self) {
        self.files.clear();
        // If it cannot be removed it says nothing.
        let _ = self.file.set_len(0);
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let root = self.path.parent().unwrap_or(Path::new(""));
        if take_back(root, &self.files).is_ok() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Takes back what a killed run had made of a new package, as far as nobody edited it. A run that is still at
/// work is left alone.
///
/// # Errors
/// The operating system refuses.
pub(crate) fn undo_new_package(directory: &Path) -> Result<(), PackageError> {
    let note = directory.join(NAME);
    // A FIFO of that name would be waited for.
    if !fs::symlink_metadata(&note).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(());
    }
    let file = File::open(&note).map_err(PackageError::io("read", note.as_path()))?;
    if file.try_lock().is_err() {
        return Ok(());
    }
    let bytes = fs::read(&note).map_err(PackageError::io("read", note.as_path()))?;
    // Anybody can write such a file; one that is not ours says nothing.
    if let Ok(written) = serde_json::from_slice::<Written>(&bytes) {
        take_back(directory, &written.files)?;
    }
    fs::remove_file(&note).map_err(PackageError::io("delete", note.as_path()))
}

/// The root's Kptfile comes last: with it a package is whole.
fn take_back(directory: &Path, files: &[JournaledFile]) -> Result<(), PackageError> {
    if fs::symlink_metadata(directory.join(KPTFILE)).is_ok() {
        return Ok(());
    }
    for file in files
        .iter()
        .filter(|file| is_inside(directory, &file.target))
    {
        let target = directory.join(&file.target);
        let is_link = fs::symlink_metadata(&target).is_ok_and(|metadata| metadata.is_symlink());
        let is_own = || digest_of(&target).is_ok_and(|found| found == file.new);
        if !is_link && file.new.is_some() && is_own() {
            fs::remove_file(&target).map_err(PackageError::io("delete", target.as_path()))?;
        }
    }
    Ok(())
}

/// A file that is not there yet; `None` for a deletion.
fn new_file(change: &FileChange) -> Option<JournaledFile> {
    let (bytes, _) = change.after()?;
    Some(JournaledFile {
        target: normalize_package_path(change.path()).into(),
        staged: None,
        old: None,
        new: Some(digest(bytes)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::{journal, read_package, recover_package};

    fn get(root: &Path, path: &str) -> Option<String> {
        fs::read_to_string(root.join(path)).ok()
    }

    fn changes() -> [FileChange; 3] {
        ["a.yaml", "d/b.yaml", "Kptfile"].map(|path| FileChange::write(path, path))
    }

    /// What a run leaves that was killed before it wrote the Kptfile.
    fn killed(root: &Path) {
        let note = Note::write(root, &changes()).expect("a note");
        let text = get(root, NAME).expect("a note");
        fs::write(root.join("a.yaml"), "a.yaml").expect("a file");
        // It is at work: nobody takes anything back.
        undo_new_package(root).expect("nothing to do");
        assert_eq!(get(root, "a.yaml").as_deref(), Some("a.yaml"));
        drop(note);
        assert_eq!(get(root, "a.yaml"), None);
        fs::write(root.join(NAME), text).expect("a note");
        fs::write(root.join("a.yaml"), "a.yaml").expect("a file");
    }

    #[test]
    fn half_of_a_new_package_is_taken_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        killed(root);
        fs::write(root.join("mine.yaml"), "mine").expect("a file");
        undo_new_package(root).expect("taken back");
        let left = ["a.yaml", NAME, "mine.yaml"].map(|path| get(root, path).is_some());
        assert_eq!(left, [false, false, true]);
    }

    #[test]
    fn an_edited_file_and_a_whole_package_stay() {
        for (path, text) in [("a.yaml", "mine"), (KPTFILE, KPTFILE)] {
            let folder = tempfile::tempdir().expect("a folder");
            let root = folder.path();
            killed(root);
            fs::write(root.join(path), text).expect("a file");
            undo_new_package(root).expect("nothing to do");
            assert!(get(root, "a.yaml").is_some(), "{path}");
            assert_eq!(get(root, NAME), None);
        }
    }

    #[test]
    fn a_new_package_is_written_with_its_folders() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("x/y");
        let files = PackageFiles::empty(&root);
        write_new_package(&files, &changes()).expect("written");
        assert_eq!(get(&root, "d/b.yaml").as_deref(), Some("d/b.yaml"));
        assert_eq!(fs::read_dir(&root).expect("a folder").count(), 3);
        let files = read_package(&root).expect("a package");
        write_new_package(&files, &[FileChange::write("a.yaml", "new")]).expect("written");
        // What cannot be written leaves nothing.
        let other = folder.path().join("z");
        let files = PackageFiles::empty(&other);
        let long = "n".repeat(300);
        let changes = [
            FileChange::write("a.yaml", "a"),
            FileChange::write(long, "b"),
            FileChange::write(KPTFILE, "k"),
        ];
        assert!(write_new_package(&files, &changes).is_err());
        assert!(!other.exists());
    }

    #[test]
    fn a_note_of_somebody_else_leads_nowhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("p");
        fs::create_dir(&root).expect("a folder");
        fs::write(folder.path().join("secret"), "s").expect("a file");
        let text = format!(
            "{{\"files\":[{{\"target\":\"../secret\",\"new\":\"{}\"}}]}}",
            digest(b"s")
        );
        for text in [text.as_str(), "", "not JSON"] {
            fs::write(root.join(NAME), text).expect("a note");
            undo_new_package(&root).expect("nothing to do");
            assert_eq!(fs::read_dir(&root).expect("a folder").count(), 0);
        }
        assert!(folder.path().join("secret").exists());
    }

    #[cfg(unix)]
    #[test]
    fn no_link_leads_a_note_or_a_journal_out_of_the_package() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("p");
        fs::create_dir(&root).expect("a folder");
        fs::write(folder.path().join("secret"), "s").expect("a file");
        std::os::unix::fs::symlink("..", root.join("d")).expect("a link");
        for (name, field) in [(NAME, "new"), (journal::NAME, "old")] {
            let text = format!(
                "{{\"files\":[{{\"target\":\"d/secret\",\"{field}\":\"{}\"}}]}}",
                digest(b"s")
            );
            fs::write(root.join(name), text).expect("a note");
            undo_new_package(&root).expect("nothing to do");
            recover_package(&root).expect("nothing to do");
            assert!(folder.path().join("secret").exists(), "{name}");
            assert!(!root.join(name).exists());
        }
    }
}
