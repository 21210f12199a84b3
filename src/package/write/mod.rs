//! Writes changes back into a package directory: first it checks everything, then it replaces each file atomically.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::file::{Stamp, read_checked, read_regular};
use super::files::{FileContent, Package, PackageFile};
use super::journal::{Journal, JournaledFile, digest};
use super::path::{check_folders, check_place, folders_above, normalize_package_path};
use super::{PackageError, USUAL_MODE, mode_of, temporary};

/// A change to one file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// The file gets this content; it is created if the package has no file at that path.
    Write {
        /// The path relative to the package.
        path: String,
        /// The whole new content.
        bytes: Vec<u8>,
        /// The permission bits of a file that is created: those of the file that it was copied from; 0644 less the
        /// umask if `None`. A file that exists keeps its own bits.
        mode: Option<u32>,
    },
    /// The file is deleted. If its path is a link that was read as a file, both the link and its target are deleted.
    Delete {
        /// The path relative to the package.
        path: String,
    },
}

impl FileChange {
    /// A change that gives a file new content; if the file is created, it gets the usual permissions.
    pub fn write(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        FileChange::Write {
            path: path.into(),
            bytes: content.into(),
            mode: None,
        }
    }

    /// A change that deletes a file.
    pub fn delete(path: impl Into<String>) -> Self {
        FileChange::Delete { path: path.into() }
    }

    /// The content and permission bits of the file after the change; `None` if it is deleted. A file without
    /// permission bits in the change has the usual ones.
    pub(crate) fn after(&self) -> Option<(&[u8], u32)> {
        match self {
            FileChange::Write { bytes, mode, .. } => Some((bytes, mode.unwrap_or(USUAL_MODE))),
            FileChange::Delete { .. } => None,
        }
    }

    /// The path, relative to the package.
    pub fn path(&self) -> &str {
        match self {
            FileChange::Write { path, .. } | FileChange::Delete { path } => path,
        }
    }
}

impl Package {
    /// The text of a file after changes; `None` if the file is deleted, or is not changed and not KRM.
    pub(crate) fn text_after<'t>(
        &'t self,
        changes: &'t [FileChange],
        path: &str,
    ) -> Option<Cow<'t, str>> {
        match changes.iter().find(|change| change.path() == path) {
            Some(change) => change
                .after()
                .map(|(bytes, _)| String::from_utf8_lossy(bytes)),
            None => self.get(path)?.krm().map(|text| Cow::Borrowed(&**text)),
        }
    }
}

/// Applies changes to the package that was read as `files`.
///
/// Before anything is written, every path is checked for links and `.git`, and every file to be changed is compared
/// with what was read. Then all new contents are written to temporary files next to their targets, so that a full
/// disk or a missing permission is found before anything changes. Then the temporary files are renamed into place and
/// files are deleted (their folders remain), Kptfiles last; each file is compared once more immediately before. If
/// this is interrupted, each file has either its old or its new content, and no Kptfile claims that the update is
/// complete. Temporary files that a killed run left behind are removed.
///
/// A file is not written if its content is unchanged. If the package directory does not exist and `files` is
/// [empty](Package::empty), the directory is created. A package without files gets all files or none: if one cannot
/// be written, those already written are removed, and the next run completes what a killed run left. If a file has
/// several names (hard links), only this name gets the new content.
///
/// # Errors
/// A path leads out of the package; a file changed on disk after it was read; a new file already exists; there are
/// two changes for one file; the operating system refuses an operation. Temporary files and folders created for new
/// files are then removed.
pub fn write_package(files: &Package, changes: &[FileChange]) -> Result<(), PackageError> {
    write_watched(files, changes, files.is_empty(), &mut |_| ())
}

/// As [`write_package`], with a journal from which [`recover_package`](super::recover_package) completes what a
/// killed run left. Only for a package that no other process changes.
///
/// # Errors
/// As [`write_package`].
pub fn write_package_whole(files: &Package, changes: &[FileChange]) -> Result<(), PackageError> {
    write_watched(files, changes, true, &mut |_| ())
}

/// As [`write_package`]; calls `watch` with each path before its file is compared for the last time.
fn write_watched(
    files: &Package,
    changes: &[FileChange],
    is_journaled: bool,
    watch: &mut dyn FnMut(&str),
) -> Result<(), PackageError> {
    temporary::remove_left_behind(&files.temporaries);
    let mut changes = check_paths(changes)?;
    changes.retain(|(path, change)| match change {
        FileChange::Write { bytes, .. } => files
            .get(path)
            .and_then(PackageFile::krm)
            .is_none_or(|text| text.as_bytes() != bytes.as_slice()),
        FileChange::Delete { .. } => true,
    });
    if changes.is_empty() {
        return Ok(());
    }

    let mut made = Vec::new();
    let is_new = files.is_empty();
    if is_new
        && matches!(fs::symlink_metadata(&files.root), Err(error) if error.kind() == ErrorKind::NotFound)
    {
        make_folders(&files.root, &mut made)?;
    }
    let mut done = Vec::new();
    let result = find_root(files).and_then(|root| {
        let steps = plan(files, &root, &changes, is_journaled)?;
        let staged = stage_all(&steps, &mut made)?;
        let _journal = match steps.len() {
            0 | 1 => None,
            _ if is_journaled => Some(journal(&root, &steps, &staged)?),
            _ => None,
        };
        let mut commit = Commit {
            files,
            root: &root,
            done: &mut done,
        };
        commit.run(steps, staged, watch)
    });
    if result.is_err() {
        if is_new {
            // An incomplete package would look like a complete one.
            for file in &done {
                let _ = fs::remove_file(file);
            }
        }
        // `remove_dir` removes only empty folders, so files in place are kept.
        for folder in made.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
    result
}

/// The checks that do not need the disk. Returns the changes with normalized paths.
fn check_paths(changes: &[FileChange]) -> Result<Vec<(String, &FileChange)>, PackageError> {
    let mut checked = Vec::with_capacity(changes.len());
    let mut seen = BTreeSet::new();
    let mut written = BTreeSet::new();
    for change in changes {
        check_place(change.path())?;
        let path = normalize_package_path(change.path());
        if !seen.insert(path.clone()) {
            return Err(PackageError::Duplicate { path });
        }
        if matches!(change, FileChange::Write { .. }) {
            written.insert(path.clone());
        }
        checked.push((path, change));
    }
    for path in &written {
        let mut parents = folders_above(path);
        if let Some(parent) = parents.find(|parent| written.contains(*parent)) {
            return Err(PackageError::ParentIsFile {
                path: path.clone(),
                parent: parent.into(),
            });
        }
    }
    Ok(checked)
}

struct WriteStep<'a> {
    path: &'a str,
    /// The path on disk.
    target: PathBuf,
    /// Whether the file is created.
    is_new: bool,
    /// The new content; `None` if the file is deleted.
    bytes: Option<&'a [u8]>,
    mode: Option<u32>,
    /// The digest of the old content, for a journal; `None` for a new file or without a journal.
    old: Option<String>,
}

fn find_root(files: &Package) -> Result<PathBuf, PackageError> {
    match fs::canonicalize(&files.root) {
        Err(error) if error.kind() == ErrorKind::NotFound => Err(PackageError::Missing {
            path: files.root.clone(),
        }),
        other => other.map_err(PackageError::io("read", files.root.as_path())),
    }
}

/// The checks that read the disk; nothing is written here.
fn plan<'a>(
    files: &Package,
    root: &Path,
    changes: &'a [(String, &'a FileChange)],
    is_journaled: bool,
) -> Result<Vec<WriteStep<'a>>, PackageError> {
    let mut steps = Vec::with_capacity(changes.len());
    for (path, change) in changes {
        check_folders(root, path)?;
        let found = check_unchanged(files, root, path)?;
        let (bytes, mode) = match change {
            FileChange::Write { bytes, mode, .. } => (Some(bytes.as_slice()), *mode),
            FileChange::Delete { .. } => (None, None),
        };
        match (&found, bytes) {
            (Some(found), Some(bytes)) if found.bytes == bytes => continue,
            (Some(_), _) => {}
            (None, Some(_)) => check_absent(&root.join(path), path)?,
            (None, None) => return Err(PackageError::NotInPackage { path: path.clone() }),
        }
        let old = found.as_ref().filter(|_| is_journaled);
        steps.push(WriteStep {
            path,
            is_new: found.is_none(),
            bytes,
            mode: found
                .as_ref()
                .map_or(mode, |found| Some(mode_of(&found.metadata))),
            old: old.map(|found| digest(&found.bytes)),
            target: found.map_or_else(|| root.join(path), |found| found.target),
        });
    }
    Ok(steps)
}

/// A file that has not changed since it was read.
struct FoundFile {
    /// The file itself, or the target if the path is a link.
    target: PathBuf,
    bytes: Vec<u8>,
    metadata: Metadata,
}

/// Checks that a file has not changed since it was read; `None` if it was not read.
fn check_unchanged(
    files: &Package,
    root: &Path,
    path: &str,
) -> Result<Option<FoundFile>, PackageError> {
    let changed = || PackageError::Changed { path: path.into() };
    let on_disk = root.join(path);
    let Some(file) = files.get(path) else {
        return Ok(None);
    };
    let target = file.target.as_ref().unwrap_or(&on_disk);
    let (bytes, metadata) = match &file.target {
        Some(target) if fs::canonicalize(&on_disk).ok().as_ref() != Some(target) => {
            return Err(changed());
        }
        Some(target) => read_regular(target, path)?,
        None => {
            check_regular(&on_disk, path)?;
            read_checked(&on_disk, path)?
        }
    };
    let is_same = match &file.content {
        FileContent::Krm(text) => bytes == text.as_bytes(),
        FileContent::Other(other) => bytes == *other,
        FileContent::OnDisk(stamp) => Stamp::of(&metadata) == *stamp,
    };
    if !is_same {
        return Err(changed());
    }
    let target = target.clone();
    Ok(Some(FoundFile {
        target,
        bytes,
        metadata,
    }))
}

/// Checks that a file that was read still exists and was not replaced by a link or FIFO.
fn check_regular(file: &Path, path: &str) -> Result<(), PackageError> {
    match fs::symlink_metadata(file) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(PackageError::io("read", file)(error))
        }
        _ => Err(PackageError::Changed { path: path.into() }),
    }
}

fn check_absent(file: &Path, path: &str) -> Result<(), PackageError> {
    match fs::symlink_metadata(file) {
        Ok(_) => Err(PackageError::Exists { path: path.into() }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(PackageError::io("read", file)(error)),
    }
}

/// Writes the temporary files of all steps, in order; a deletion has none. A temporary file that is not renamed is
/// removed on drop.
fn stage_all(
    steps: &[WriteStep<'_>],
    made: &mut Vec<PathBuf>,
) -> Result<Vec<Option<TempPath>>, PackageError> {
    let stage_one = |step: &WriteStep<'_>| {
        let Some(bytes) = step.bytes else {
            return Ok(None);
        };
        if step.is_new {
            make_folders(parent(&step.target), made)?;
        }
        stage(&step.target, bytes, step.mode).map(Some)
    };
    steps.iter().map(stage_one).collect()
}

fn journal(
    root: &Path,
    steps: &[WriteStep<'_>],
    staged: &[Option<TempPath>],
) -> Result<Journal, PackageError> {
    let relative = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_path_buf();
    let steps = steps.iter().zip(staged);
    let files = steps.map(|(step, staged)| JournaledFile {
        target: relative(&step.target),
        staged: staged.as_deref().map(relative),
        old: step.old.clone(),
        new: step.bytes.map(digest),
    });
    Journal::write(root, files.collect())
}

/// The phase of a write that changes files.
struct Commit<'c> {
    files: &'c Package,
    root: &'c Path,
    /// The files changed so far.
    done: &'c mut Vec<PathBuf>,
}

impl Commit<'_> {
    /// Renames files, then deletes files, then renames Kptfiles, the root's last. A Kptfile records the revision of
    /// its package, so it must not record the new one if the run stops midway.
    fn run(
        &mut self,
        steps: Vec<WriteStep<'_>>,
        staged: Vec<Option<TempPath>>,
        watch: &mut dyn FnMut(&str),
    ) -> Result<(), PackageError> {
        let (mut doomed, mut kptfiles) = (Vec::new(), Vec::new());
        for (step, temporary) in steps.into_iter().zip(staged) {
            match temporary {
                None => doomed.push(step),
                Some(temporary) if is_kptfile(step.path) => kptfiles.push((step, temporary)),
                Some(temporary) => self.put(&step, temporary, watch)?,
            }
        }
        for step in doomed {
            self.delete(&step, watch)?;
        }
        kptfiles.sort_by_key(|(step, _)| std::cmp::Reverse(step.path.matches('/').count()));
        for (step, temporary) in kptfiles {
            self.put(&step, temporary, watch)?;
        }
        Ok(())
    }

    fn put(
        &mut self,
        step: &WriteStep<'_>,
        temporary: TempPath,
        watch: &mut dyn FnMut(&str),
    ) -> Result<(), PackageError> {
        watch(step.path);
        if step.is_new {
            put_new(temporary, step)?;
        } else {
            self.recheck(step)?;
            temporary.persist(&step.target).map_err(|error| {
                PackageError::io("rename a new version to", &step.target)(error.error)
            })?;
        }
        self.done.push(step.target.clone());
        Ok(())
    }

    fn delete(
        &mut self,
        step: &WriteStep<'_>,
        watch: &mut dyn FnMut(&str),
    ) -> Result<(), PackageError> {
        watch(step.path);
        self.recheck(step)?;
        let link = self.root.join(step.path);
        let link = Some(link).filter(|link| *link != step.target);
        for file in std::iter::once(&step.target).chain(&link) {
            fs::remove_file(file).map_err(PackageError::io("delete", file.as_path()))?;
        }
        self.done.push(step.target.clone());
        Ok(())
    }

    /// The file may have been saved while other files were written.
    fn recheck(&self, step: &WriteStep<'_>) -> Result<(), PackageError> {
        match check_unchanged(self.files, self.root, step.path) {
            Err(PackageError::Changed { path }) if !self.done.is_empty() => {
                let written = self.done.len();
                Err(PackageError::ChangedMeanwhile { path, written })
            }
            found => found.map(|_| ()),
        }
    }
}

fn is_kptfile(path: &str) -> bool {
    path.rsplit('/').next() == Some("Kptfile")
}

/// Renames a new file into place; a file that exists by now is kept.
fn put_new(temporary: TempPath, step: &WriteStep<'_>) -> Result<(), PackageError> {
    let (target, path) = (&step.target, step.path);
    let Err(error) = temporary.persist_noclobber(target) else {
        return Ok(());
    };
    check_absent(target, path)?;
    // Some file systems cannot rename without replacing in one step.
    error
        .path
        .persist(target)
        .map_err(|error| PackageError::io("rename a new version to", target)(error.error))
}

/// Writes a temporary file next to the target. Its handle is closed at once, because there may be thousands of files.
fn stage(target: &Path, bytes: &[u8], mode: Option<u32>) -> Result<TempPath, PackageError> {
    let failed = || PackageError::io("write a new version of", target);
    let mut temporary = temporary::make_in(parent(target)).map_err(failed())?;
    temporary.write_all(bytes).map_err(failed())?;
    #[cfg(unix)]
    if let Some(mode) = mode {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        temporary
            .as_file()
            .set_permissions(permissions)
            .map_err(failed())?;
    }
    #[cfg(not(unix))]
    let _ = mode;
    Ok(temporary.into_temp_path())
}

/// As `create_dir_all`; also adds the folders that it created to `made`.
pub(super) fn make_folders(folder: &Path, made: &mut Vec<PathBuf>) -> Result<(), PackageError> {
    let missing: Vec<_> = folder
        .ancestors()
        .take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.is_dir())
        .collect();
    for ancestor in missing.into_iter().rev() {
        fs::create_dir(ancestor).map_err(PackageError::io("create the folder", ancestor))?;
        made.push(ancestor.to_path_buf());
    }
    Ok(())
}

#[expect(
    clippy::expect_used,
    reason = "the path of a file is its folder's with a name"
)]
fn parent(file: &Path) -> &Path {
    file.parent().expect("a file of a package has a folder")
}

#[cfg(test)]
mod tests;
