//! Writes changes back into a package directory: first it checks everything, then it replaces each file atomically.

mod swapped;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::beneath::Folder;
use super::file::{Stamp, read_checked, read_regular};
use super::files::{FileContent, Package, PackageFile};
use super::journal::{Journal, JournaledFile, digest};
use super::path::{check_folders, check_place, folders_above, normalize_package_path};
use super::{PackageError, USUAL_MODE, file_name, mode_of, temporary};
use swapped::Steps;

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
        /// umask if `None`. A file that exists becomes executable, or no longer is, as these bits say, and otherwise
        /// keeps its own bits.
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

    /// The new permission bits of a file that has others and exists; `None` if they do not change.
    pub fn new_mode(&self, old: u32) -> Option<u32> {
        match self {
            FileChange::Write { mode, .. } => {
                let mode = with_executable_bits(old, (*mode)?);
                (mode != old).then_some(mode)
            }
            FileChange::Delete { .. } => None,
        }
    }

    /// The content and permission bits of the file after the change; `None` if it is deleted. A file without
    /// permission bits in the change has the usual ones.
    pub fn after(&self) -> Option<(&[u8], u32)> {
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
    pub fn text_after<'t>(&'t self, changes: &'t [FileChange], path: &str) -> Option<Cow<'t, str>> {
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
    temporary::remove_left_behind(&files.root, &files.temporaries);
    let mut changes = check_paths(changes)?;
    changes.retain(|(path, change)| match change {
        FileChange::Write { bytes, .. } => {
            let mode = files.mode(path).and_then(|mode| change.new_mode(mode));
            let old = files.get(path).and_then(PackageFile::krm);
            mode.is_some() || old.is_none_or(|text| text.as_bytes() != bytes.as_slice())
        }
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
    let result = find_root(files).and_then(|root| {
        let mut writer = PackageWriter {
            files,
            root: &root,
            done: Vec::new(),
            made: Vec::new(),
        };
        let result = writer.write_in_steps(changes, is_journaled, watch);
        if result.is_err() {
            writer.undo(is_new);
        }
        result
    });
    if result.is_err() {
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
    /// The file itself, beneath the root: the path, or where it leads if it is a link.
    target: PathBuf,
    /// Whether the file is created.
    is_new: bool,
    /// The new content; `None` if the file is deleted.
    bytes: Option<&'a [u8]>,
    /// The final permission bits.
    mode: u32,
    /// The digest of the old content, for a journal; `None` for a new file or without a journal.
    old: Option<String>,
}

/// The directory of a package, which stays open while it is written.
struct Root {
    path: PathBuf,
    folder: Folder,
}

impl Root {
    /// For `map_err`: `action` failed for a file beneath the root.
    fn failed(
        &self,
        action: &'static str,
        target: &Path,
    ) -> impl FnOnce(io::Error) -> PackageError + use<'_> {
        let target = target.to_path_buf();
        move |error| {
            // Another process may have swapped a folder for a link by now.
            let through_link = target.to_str().map(|path| check_folders(&self.path, path));
            match through_link {
                Some(Err(error)) => error,
                _ => PackageError::io(action, self.path.join(target))(error),
            }
        }
    }
}

fn find_root(files: &Package) -> Result<Root, PackageError> {
    let path = match fs::canonicalize(&files.root) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(PackageError::Missing {
                path: files.root.clone(),
            });
        }
        path => path.map_err(PackageError::io("read", files.root.as_path()))?,
    };
    let folder = Folder::open(&path).map_err(PackageError::io("read", path.as_path()))?;
    Ok(Root { path, folder })
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
        let beneath = |target: &Path| match target.strip_prefix(root) {
            Ok(target) => Ok(target.to_path_buf()),
            Err(_) => Err(PackageError::Changed { path: path.clone() }),
        };
        let found = check_unchanged(files, root, path)?;
        let (bytes, mode) = match change {
            FileChange::Write { bytes, mode, .. } => (Some(bytes.as_slice()), *mode),
            FileChange::Delete { .. } => (None, None),
        };
        let new_mode = |found: &FoundFile| change.new_mode(mode_of(&found.metadata));
        match (&found, bytes) {
            (Some(found), Some(bytes)) if found.bytes == bytes && new_mode(found).is_none() => {
                continue;
            }
            (Some(_), _) => {}
            (None, Some(_)) => check_absent(&root.join(path), path)?,
            (None, None) => return Err(PackageError::NotInPackage { path: path.clone() }),
        }
        let old = found.as_ref().filter(|_| is_journaled);
        steps.push(WriteStep {
            path,
            is_new: found.is_none(),
            bytes,
            mode: match &found {
                Some(found) => new_mode(found).unwrap_or(mode_of(&found.metadata)),
                None => temporary::mode_of_new(mode),
            },
            old: old.map(|found| digest(&found.bytes)),
            target: match &found {
                Some(found) => beneath(&found.target)?,
                None => path.into(),
            },
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

/// A temporary file with new content, which is removed on drop unless it was renamed.
struct Staged<'r> {
    root: &'r Folder,
    path: PathBuf,
    is_renamed: bool,
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.is_renamed {
            let _ = self.root.remove_file(&self.path);
        }
    }
}

/// A write to a package that was checked.
struct PackageWriter<'w> {
    files: &'w Package,
    root: &'w Root,
    /// The files changed so far, beneath the root.
    done: Vec<PathBuf>,
    /// The folders created so far, beneath the root.
    made: Vec<PathBuf>,
}

impl<'w> PackageWriter<'w> {
    /// Writes the changes; what is in the way of some of them is deleted first. All that can be checked before is.
    fn write_in_steps(
        &mut self,
        changes: Vec<(String, &FileChange)>,
        is_journaled: bool,
        watch: &mut dyn FnMut(&str),
    ) -> Result<(), PackageError> {
        let steps = Steps::of(changes);
        if steps.first.is_empty() {
            return self.write(&steps.then, is_journaled, watch);
        }
        let root = &self.root.path;
        steps.check_folders(root)?;
        plan(self.files, root, &steps.unhindered(), false)?;
        self.write(&steps.first, is_journaled, watch)?;
        steps.remove_folders(&self.root.path)?;
        self.write(&steps.then, is_journaled, watch)
    }

    fn write(
        &mut self,
        changes: &[(String, &FileChange)],
        is_journaled: bool,
        watch: &mut dyn FnMut(&str),
    ) -> Result<(), PackageError> {
        let steps = plan(self.files, &self.root.path, changes, is_journaled)?;
        // The files of the root come first: by a temporary file there, the next run knows what a killed run left.
        let mut order: Vec<usize> = (0..steps.len()).collect();
        order.sort_by_key(|at| steps[*at].path.contains('/'));
        let mut staged: Vec<Option<Staged<'_>>> = steps.iter().map(|_| None).collect();
        for at in order {
            staged[at] = self.stage(&steps[at])?;
        }
        let _journal = match steps.len() {
            0 | 1 => None,
            _ if is_journaled => self.journal(&steps, &staged)?,
            _ => None,
        };
        self.commit(steps, staged, watch)
    }

    /// Removes what an incomplete write left: new folders, and the files of a new package, which would look like a
    /// complete one.
    fn undo(&self, is_new: bool) {
        let folder = &self.root.folder;
        for file in self.done.iter().filter(|_| is_new) {
            let _ = folder.remove_file(file);
        }
        // Only empty folders are removed, so files in place are kept.
        for made in self.made.iter().rev() {
            let _ = folder.remove_folder(made);
        }
    }

    /// Writes a temporary file next to the target; a deletion has none. Its handle is closed at once, because there may
    /// be thousands of files.
    fn stage(&mut self, step: &WriteStep<'_>) -> Result<Option<Staged<'w>>, PackageError> {
        let Some(bytes) = step.bytes else {
            return Ok(None);
        };
        let (root, target) = (self.root, step.target.as_path());
        if step.is_new {
            let made = root.folder.make_folders(target, &mut self.made);
            let folder = parent(target);
            made.map_err(root.failed("create the folder", folder))?;
        }
        let failed = || root.failed("write a new version of", target);
        let made = temporary::make_in(&root.folder, parent(target));
        let (path, mut file) = made.map_err(failed())?;
        let staged = Staged {
            root: &root.folder,
            path,
            is_renamed: false,
        };
        file.write_all(bytes).map_err(failed())?;
        let permissions = fs::Permissions::from_mode(step.mode);
        file.set_permissions(permissions).map_err(failed())?;
        Ok(Some(staged))
    }

    fn journal(
        &self,
        steps: &[WriteStep<'_>],
        staged: &[Option<Staged<'_>>],
    ) -> Result<Option<Journal>, PackageError> {
        let steps = steps.iter().zip(staged);
        let files = steps.map(|(step, staged)| JournaledFile {
            target: step.target.clone(),
            staged: staged.as_ref().map(|staged| staged.path.clone()),
            old: step.old.clone(),
            new: step.bytes.map(digest),
        });
        Journal::write(&self.root.path, &self.root.folder, files.collect())
    }

    /// Renames files, then deletes files, then renames Kptfiles, the root's last. A Kptfile records the revision of
    /// its package, so it must not record the new one if the run stops midway.
    fn commit(
        &mut self,
        steps: Vec<WriteStep<'_>>,
        staged: Vec<Option<Staged<'_>>>,
        watch: &mut dyn FnMut(&str),
    ) -> Result<(), PackageError> {
        let (mut doomed, mut kptfiles) = (Vec::new(), Vec::new());
        for (step, temporary) in steps.into_iter().zip(staged) {
            match temporary {
                None => doomed.push(step),
                Some(temporary) if file_name(step.path) == "Kptfile" => {
                    kptfiles.push((step, temporary))
                }
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
        mut temporary: Staged<'_>,
        watch: &mut dyn FnMut(&str),
    ) -> Result<(), PackageError> {
        watch(step.path);
        let (root, target) = (self.root, &step.target);
        let renamed = if step.is_new {
            root.folder.rename_new(&temporary.path, target)
        } else {
            self.recheck(step)?;
            root.folder.rename(&temporary.path, target)
        };
        match renamed {
            Err(error) if step.is_new && error.kind() == ErrorKind::AlreadyExists => {
                return Err(PackageError::Exists {
                    path: step.path.to_owned(),
                });
            }
            renamed => renamed.map_err(root.failed("rename a new version to", target))?,
        }
        temporary.is_renamed = true;
        self.done.push(target.clone());
        Ok(())
    }

    fn delete(
        &mut self,
        step: &WriteStep<'_>,
        watch: &mut dyn FnMut(&str),
    ) -> Result<(), PackageError> {
        watch(step.path);
        self.recheck(step)?;
        let link = Path::new(step.path);
        let link = Some(link).filter(|link| *link != step.target);
        for file in std::iter::once(step.target.as_path()).chain(link) {
            let removed = self.root.folder.remove_file(file);
            removed.map_err(self.root.failed("delete", file))?;
        }
        self.done.push(step.target.clone());
        Ok(())
    }

    /// The file may have been saved while other files were written.
    fn recheck(&self, step: &WriteStep<'_>) -> Result<(), PackageError> {
        match check_unchanged(self.files, &self.root.path, step.path) {
            Err(PackageError::Changed { path }) if !self.done.is_empty() => {
                let written = self.done.len();
                Err(PackageError::ChangedMeanwhile { path, written })
            }
            found => found.map(|_| ()),
        }
    }
}

/// Permission bits that are executable as `wanted` is: for everyone who may read the file, or for no one.
fn with_executable_bits(mode: u32, wanted: u32) -> u32 {
    const EXECUTABLE: u32 = 0o111;
    let is_executable = |mode: u32| mode & 0o100 != 0;
    match (is_executable(mode), is_executable(wanted)) {
        (true, false) => mode & !EXECUTABLE,
        (false, true) => mode | (mode >> 2 & EXECUTABLE),
        (true, true) | (false, false) => mode,
    }
}

/// As `create_dir_all`; also adds the folders that it created to `made`.
fn make_folders(folder: &Path, made: &mut Vec<PathBuf>) -> Result<(), PackageError> {
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
