//! The journal of a write to several files of a package. If a run is killed midway, the next run completes the write.
//!
//! ```text
//! krm-variants journal 1 311 9f86d081...           the length and the digest of the rest
//! {"package":4711,
//!  "files":[{"target":"app.yaml","staged":".krm-variants-….tmp","old":"6:2c26…","new":"7:fcde…"},
//!           {"target":"gone.yaml","old":"3:baa5…"}]}
//! ```
//!
//! The journal is written after all new contents are staged and before the first file is renamed into place, and is
//! removed after the last rename. A file that was edited since then is left unchanged. The run locks the journal
//! where the file system supports locks, so that no other run completes a write that is still in progress.
//!
//! A journal makes the next run rename and delete files, so only this user may write one. It lies outside of what Git
//! tracks and of what a package brings: in the private folder of the repository (`.git/krm-variants`, also where a
//! `.git` file names that folder) if the package is in a work tree, else next to the package. It is opened without
//! following links, and believed only if it is a regular file of this user, not too large, whole, and about the very
//! folder that it is used for: a copied or unpacked folder is another one. What it says applies beneath the package.
//! Where no such place can be written, the write has no journal.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::PackageError;
use super::beneath::Folder;
use super::path::check_package_path;
use super::temporary::{self, is_temporary};

/// The first words of a journal.
const HEADER: &str = "krm-variants journal 1";
/// The most bytes that a journal may have.
const LARGEST: u64 = 32 << 20;
/// The most bytes that a `.git` file may have.
const LARGEST_GIT_FILE: u64 = 8192;
/// The folder for journals in the private folder of a repository.
const FOLDER: &str = "krm-variants";

/// A journal on disk, which is removed on drop.
#[derive(Debug)]
pub(super) struct Journal {
    place: JournalPlace,
    /// Open, because closing the file releases its lock.
    _file: File,
}

/// Where the journal of a package lies.
#[derive(Debug)]
pub(super) struct JournalPlace {
    folder: Folder,
    name: PathBuf,
    /// For messages.
    pub(super) path: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalEntry {
    /// The inode of the package's folder.
    package: u64,
    files: Vec<JournaledFile>,
}

/// A file to be changed. Paths are relative to the package.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JournaledFile {
    pub(super) target: PathBuf,
    /// The temporary file with the new content; `None` for a deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) staged: Option<PathBuf>,
    /// The [`digest`] of the content before the change; `None` for a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) old: Option<String>,
    /// The [`digest`] of the new content; `None` for a deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) new: Option<String>,
}

/// The length and the SHA-256 of a content. A file of another length need not be read.
pub(super) fn digest(bytes: &[u8]) -> String {
    format!("{}:{}", bytes.len(), hex(&Sha256::digest(bytes)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl JournalPlace {
    /// The place for the journal of a package; `None` if there is no folder for it. `makes` it if it is missing.
    pub(super) fn find(root: &Path, makes: bool) -> io::Result<Option<Self>> {
        let root = fs::canonicalize(root)?;
        if let Some((top, private)) = work_tree(&root) {
            let within = root.strip_prefix(&top).unwrap_or(&root);
            let name = key(within);
            let path = private.join(FOLDER).join(&name);
            let private = Folder::open(&private)?;
            let folder = if makes {
                private.open_or_make(FOLDER)
            } else {
                private.open_in(FOLDER)
            };
            return match folder {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                folder => Ok(Some(Self {
                    folder: folder?,
                    name: name.into(),
                    path,
                })),
            };
        }
        let (Some(parent), Some(name)) = (root.parent(), root.file_name()) else {
            return Ok(None);
        };
        // Readers of packages leave out a temporary file.
        let name = temporary::name_of_journal(&key(Path::new(name)));
        Ok(Some(Self {
            folder: Folder::open(parent)?,
            path: parent.join(&name),
            name: name.into(),
        }))
    }
}

/// The name of the journal of a package at this path.
fn key(path: &Path) -> String {
    let digest = hex(&Sha256::digest(path.as_os_str().as_encoded_bytes()));
    digest[..32].to_owned()
}

/// The work tree that a folder is in, and the private folder of its repository.
fn work_tree(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    folder.ancestors().find_map(|top| {
        let git = top.join(".git");
        let kind = fs::metadata(&git).ok()?;
        let private = if kind.is_file() {
            let mut text = String::new();
            let file = File::open(&git).ok()?.take(LARGEST_GIT_FILE);
            io::BufReader::new(file).read_to_string(&mut text).ok()?;
            top.join(
                text.strip_prefix("gitdir: ")?
                    .trim_end_matches(['\n', '\r']),
            )
        } else {
            git
        };
        private
            .join("HEAD")
            .is_file()
            .then(|| (top.to_path_buf(), private))
    })
}

/// Whether there can be no journal for this reason, so that a write does without.
fn has_no_place(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::NotFound
    )
}

impl Journal {
    /// Writes the journal of a package. `None` if there is no place for one.
    pub(super) fn write(
        path: &Path,
        root: &Folder,
        files: Vec<JournaledFile>,
    ) -> Result<Option<Self>, PackageError> {
        let failed = PackageError::io("write the journal of", path);
        match Self::write_at(path, root, files) {
            Err(error) if has_no_place(&error) => Ok(None),
            written => written.map_err(failed),
        }
    }

    fn write_at(path: &Path, root: &Folder, files: Vec<JournaledFile>) -> io::Result<Option<Self>> {
        let package = root.inode()?;
        let bytes = serde_json::to_vec(&JournalEntry { package, files })?;
        if bytes.len() as u64 >= LARGEST {
            return Ok(None);
        }
        let Some(place) = JournalPlace::find(path, true)? else {
            return Ok(None);
        };
        let header = format!(
            "{HEADER} {} {}\n",
            bytes.len(),
            hex(&Sha256::digest(&bytes))
        );
        match place.folder.remove_file(&place.name) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // Not renamed into place: one that is cut off is not believed, and the next run removes it.
        let mut file = place.folder.create_private(&place.name)?;
        // Without locks, another run may complete this write. The result is the same.
        let _ = file.try_lock();
        let written = file.write_all(header.as_bytes());
        if let Err(error) = written.and_then(|()| file.write_all(&bytes)) {
            let _ = place.folder.remove_file(&place.name);
            return Err(error);
        }
        Ok(Some(Self { place, _file: file }))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // If the journal cannot be removed, the next run processes it and finds everything done.
        let _ = self.place.folder.remove_file(&self.place.name);
    }
}

/// Completes a write that a killed run began.
///
/// # Errors
/// The operating system refuses an operation.
pub fn recover_package(directory: &Path) -> Result<(), PackageError> {
    let failed = |error| PackageError::io("complete the journal of", directory)(error);
    let place = match JournalPlace::find(directory, false) {
        Err(error) if has_no_place(&error) => return Ok(()),
        place => place.map_err(failed)?,
    };
    let Some(place) = place else {
        return Ok(());
    };
    let file = match place.folder.open_regular(&place.name) {
        Err(error) if has_no_place(&error) => None,
        file => file.map_err(failed)?,
    };
    let Some(mut file) = file else {
        return Ok(());
    };
    if !is_own(&file).map_err(failed)? || matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return Ok(());
    }
    let root = Folder::open(directory).map_err(failed)?;
    let entry = read(&mut file).map_err(failed)?;
    let entry = entry.filter(|entry| root.inode().is_ok_and(|inode| inode == entry.package));
    for journaled in entry.map_or_else(Vec::new, |entry| entry.files) {
        if journaled.is_beneath() {
            let target = directory.join(&journaled.target);
            journaled
                .complete(&root)
                .map_err(PackageError::io("complete the write of", target))?;
        }
    }
    let removed = place.folder.remove_file(&place.name);
    removed.map_err(PackageError::io("delete", place.path))
}

/// Whether this user, and no other, can have written a file.
fn is_own(file: &File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
    Ok(is_own && metadata.mode() & 0o022 == 0)
}

/// Reads a journal; `None` if it is too large or not whole.
fn read(file: &mut File) -> io::Result<Option<JournalEntry>> {
    let mut bytes = Vec::new();
    let count = file.take(LARGEST + 256).read_to_end(&mut bytes)?;
    if count as u64 > LARGEST {
        return Ok(None);
    }
    Ok(parse(&bytes))
}

fn parse(bytes: &[u8]) -> Option<JournalEntry> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (header, body) = (std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + 1..]);
    let expected = format!("{HEADER} {} {}", body.len(), hex(&Sha256::digest(body)));
    if header != expected {
        return None;
    }
    serde_json::from_slice(body).ok()
}

impl JournaledFile {
    /// Whether this program can have written it: paths beneath the package, and a temporary file next to the target.
    fn is_beneath(&self) -> bool {
        let is_beneath = |path: &Path| {
            path.to_str()
                .is_some_and(|path| check_package_path(path).is_ok())
        };
        let is_staged = |staged: &PathBuf| {
            let name = staged.file_name().and_then(|name| name.to_str());
            staged.parent() == self.target.parent() && name.is_some_and(is_temporary)
        };
        is_beneath(&self.target) && self.staged.as_ref().is_none_or(is_staged)
    }

    fn complete(&self, root: &Folder) -> io::Result<()> {
        if !has_content(root, &self.target, self.old.as_deref())? {
            return Ok(());
        }
        match (&self.staged, &self.old, &self.new) {
            (None, Some(_), None) => root.remove_file(&self.target),
            (Some(staged), _, Some(new)) if has_content(root, staged, Some(new))? => {
                root.rename(staged, &self.target)
            }
            _ => Ok(()),
        }
    }
}

/// Whether a file has the content with this digest; for `None`, whether there is no file.
fn has_content(root: &Folder, path: &Path, expected: Option<&str>) -> io::Result<bool> {
    let Some(expected) = expected else {
        return match root.is_absent(path) {
            // A folder was replaced by a file or a link.
            Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(false),
            absent => absent,
        };
    };
    let Some(file) = root.open_regular(path)? else {
        return Ok(false);
    };
    let length = file.metadata()?.len();
    if !expected.starts_with(&format!("{length}:")) {
        return Ok(false);
    }
    let (mut file, mut digest) = (file.take(length), Sha256::new());
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        digest.update(&buffer[..count]);
    }
    Ok(expected == format!("{length}:{}", hex(&digest.finalize())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A package in its own folder.
    fn package() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("p");
        fs::create_dir(&root).expect("a folder");
        fs::write(root.join("a.yaml"), "s").expect("a file");
        (folder, root)
    }

    fn deletion_of(target: &str) -> JournaledFile {
        JournaledFile {
            target: target.into(),
            staged: None,
            old: Some(digest(b"s")),
            new: None,
        }
    }

    /// The bytes of a journal, whole, about a package.
    fn journal_of(root: &Path, files: Vec<JournaledFile>) -> Vec<u8> {
        let open = Folder::open(root).expect("a folder");
        let journal = Journal::write(root, &open, files).expect("written");
        let journal = journal.expect("a journal");
        fs::read(&journal.place.path).expect("a journal")
    }

    /// Puts a journal in its place, as a killed run leaves it.
    fn put(root: &Path, bytes: &[u8]) -> PathBuf {
        let place = JournalPlace::find(root, true).expect("read");
        let path = place.expect("a place").path;
        fs::write(&path, bytes).expect("a journal");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("a mode");
        path
    }

    #[test]
    fn a_journal_is_completed_and_removed() {
        let (_folder, root) = package();
        let bytes = journal_of(&root, vec![deletion_of("a.yaml")]);
        let path = put(&root, &bytes);
        recover_package(&root).expect("completed");
        assert!(!root.join("a.yaml").exists());
        assert!(!path.exists());
    }

    #[test]
    fn a_journal_in_progress_is_left_to_its_run() {
        let (_folder, root) = package();
        let open = Folder::open(&root).expect("a folder");
        let journal = Journal::write(&root, &open, vec![deletion_of("a.yaml")]);
        recover_package(&root).expect("nothing to do");
        assert!(root.join("a.yaml").exists());
        drop(journal);
        recover_package(&root).expect("nothing to do");
        assert!(root.join("a.yaml").exists());
    }

    #[test]
    fn a_journal_never_leads_outside_of_its_package() {
        let (folder, root) = package();
        let secret = folder.path().join("secret");
        fs::write(&secret, "s").expect("a file");
        symlink("..", root.join("d")).expect("a link");
        symlink("../secret", root.join("l")).expect("a link");
        fs::create_dir(root.join(".git")).expect("a folder");
        fs::write(root.join(".git/config"), "s").expect("a file");
        let absolute = secret.to_str().expect("UTF-8");
        for target in [
            "../secret",
            "d/secret",
            absolute,
            "l",
            ".git/config",
            "",
            ".",
        ] {
            let bytes = journal_of(&root, vec![deletion_of(target)]);
            put(&root, &bytes);
            recover_package(&root).expect("nothing to do");
            assert!(secret.exists() && root.join("l").exists(), "{target}");
            assert!(root.join(".git/config").exists(), "{target}");
        }
        // Only a temporary file next to the target is renamed.
        let rename = JournaledFile {
            target: "b.yaml".into(),
            staged: Some("a.yaml".into()),
            old: None,
            new: Some(digest(b"s")),
        };
        let bytes = journal_of(&root, vec![rename]);
        put(&root, &bytes);
        recover_package(&root).expect("nothing to do");
        assert!(root.join("a.yaml").exists());
    }

    #[test]
    fn an_incomplete_or_foreign_journal_is_ignored() {
        let (folder, root) = package();
        let whole = journal_of(&root, vec![deletion_of("a.yaml")]);
        for end in 0..whole.len() {
            put(&root, &whole[..end]);
            recover_package(&root).expect("nothing to do");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            put(&root, &changed);
            recover_package(&root).expect("nothing to do");
        }
        // About another folder, writable by others, too large.
        let other = folder.path().join("other");
        fs::create_dir(&other).expect("a folder");
        put(&root, &journal_of(&other, vec![deletion_of("a.yaml")]));
        recover_package(&root).expect("nothing to do");
        let path = put(&root, &whole);
        fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).expect("a mode");
        recover_package(&root).expect("nothing to do");
        let path = put(&root, b"");
        let file = fs::OpenOptions::new().write(true).open(&path);
        file.expect("a file").set_len(20 << 30).expect("a length");
        recover_package(&root).expect("nothing to do");
        assert!(root.join("a.yaml").exists());
    }

    #[test]
    fn links_and_fifos_in_place_of_a_journal_are_not_opened() {
        let (folder, root) = package();
        let whole = journal_of(&root, vec![deletion_of("a.yaml")]);
        let path = put(&root, &whole);
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(&path, &elsewhere).expect("renamed");
        symlink(&elsewhere, &path).expect("a link");
        recover_package(&root).expect("nothing to do");
        fs::remove_file(&path).expect("removed");
        symlink("/dev/zero", &path).expect("a link");
        recover_package(&root).expect("nothing to do");
        fs::remove_file(&path).expect("removed");
        if super::super::testing::fifo(&path) {
            recover_package(&root).expect("nothing to do");
        }
        assert!(root.join("a.yaml").exists());
    }

    #[test]
    fn a_file_replaced_after_the_kill_is_not_read() {
        let (_folder, root) = package();
        let bytes = journal_of(&root, vec![deletion_of("a.yaml")]);
        let target = root.join("a.yaml");
        fs::remove_file(&target).expect("removed");
        symlink("/dev/zero", &target).expect("a link");
        put(&root, &bytes);
        recover_package(&root).expect("nothing to do");
        fs::remove_file(&target).expect("removed");
        if super::super::testing::fifo(&target) {
            put(&root, &bytes);
            recover_package(&root).expect("nothing to do");
        }
        fs::remove_file(&target).expect("removed");
        // As long as a disk: only a file of the same length is read.
        let file = fs::File::create(&target).expect("a file");
        file.set_len(20 << 30).expect("a length");
        put(&root, &bytes);
        recover_package(&root).expect("nothing to do");
        assert!(target.exists());
    }

    #[test]
    fn the_journal_of_a_package_in_a_work_tree_is_in_the_private_folder() {
        let (folder, root) = package();
        let beside = |root: &Path| {
            let place = JournalPlace::find(root, true).expect("read");
            place.expect("a place").path
        };
        assert_eq!(
            beside(&root).parent(),
            root.canonicalize().expect("a path").parent()
        );
        assert!(is_temporary(
            beside(&root)
                .file_name()
                .and_then(|name| name.to_str())
                .expect("UTF-8")
        ));
        // A `.git` without a `HEAD` is not a repository.
        let git = folder.path().join(".git");
        fs::create_dir(&git).expect("a folder");
        assert!(!beside(&root).starts_with(&git));
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("a file");
        assert!(beside(&root).starts_with(git.canonicalize().expect("a path")));
        let journals = git.join(FOLDER);
        let mode = fs::metadata(journals)
            .expect("a folder")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700);
        // A second work tree.
        let tree = folder.path().join("tree");
        fs::create_dir_all(tree.join("q")).expect("a folder");
        let private = git.join("worktrees/tree");
        fs::create_dir_all(&private).expect("a folder");
        fs::write(private.join("HEAD"), "").expect("a file");
        let text = format!("gitdir: {}\n", private.display());
        fs::write(tree.join(".git"), text).expect("a file");
        assert!(beside(&tree.join("q")).starts_with(private));
    }

    #[test]
    fn a_write_without_a_place_for_a_journal_works_without_one() {
        let (folder, root) = package();
        let open = Folder::open(&root).expect("a folder");
        let git = folder.path().join(".git");
        fs::create_dir(&git).expect("a folder");
        fs::write(git.join("HEAD"), "").expect("a file");
        fs::set_permissions(&git, PermissionsExt::from_mode(0o555)).expect("a mode");
        let is_root = rustix::process::geteuid().is_root();
        let journal = Journal::write(&root, &open, Vec::new()).expect("written");
        assert_eq!(journal.is_some(), is_root);
        recover_package(&root).expect("nothing to do");
        fs::set_permissions(&git, PermissionsExt::from_mode(0o755)).expect("a mode");
    }
}
