//! Writing changes back into a package directory: all checks first, then each file atomically.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::file::{read_regular, read_seen};
use super::journal::{Journal, JournaledFile, digest};
use super::path::{check_place, components, normalize_package_path};
use super::read::{PackageFiles, Stamp};
use super::{PackageError, USUAL_MODE, is_git, mode_of, temporary};

/// What is to become of one file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// The file gets these bytes; it is made if the package has none of that path.
    Write {
        /// Relative to the package.
        path: String,
        /// The whole new content.
        bytes: Vec<u8>,
        /// The permission bits of a file that is made: those of the file it comes from, or else 0644 less the umask. A file
        /// that exists keeps its own.
        mode: Option<u32>,
    },
    /// The file is deleted. If its path is a link that was read as a file, both the link and its target are.
    Delete {
        /// Relative to the package.
        path: String,
    },
}

impl FileChange {
    /// A file gets new content; if it is made, then with the usual permissions.
    pub fn write(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        FileChange::Write {
            path: path.into(),
            bytes: content.into(),
            mode: None,
        }
    }

    /// A file is deleted.
    pub fn delete(path: impl Into<String>) -> Self {
        FileChange::Delete { path: path.into() }
    }

    /// The content and permission bits of the file after the change; `None` if it is deleted. A new file without
    /// bits of its own has the usual ones.
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

/// Applies changes to the package that was read as `files`.
///
/// Before anything is touched, every path is checked, links and `.git` on the way included, and every file that
/// is to change is compared with what was read. Then all new contents are written to temporary files
/// beside their targets, so that a full disk or a missing permission is found while nothing has changed.
/// Then these are renamed into place, and files are deleted (their folders stay), Kptfiles at last; each is compared once
/// more right before that. If that is cut short, each file is old or new, and no Kptfile says that all is done. Temporary files that a killed run left behind
/// are removed.
///
/// A file whose content stays the same is not written. If the package directory does not exist and `files` is
/// [empty](PackageFiles::empty), it is made. A file that has several names (hard links) is changed under this one only.
///
/// # Errors
/// A path that leads out of the package; a file changed underneath; a new file that exists; two changes for one
/// file; the operating system refuses. Temporary files and folders made for new files are removed then.
pub fn write_package(files: &PackageFiles, changes: &[FileChange]) -> Result<(), PackageError> {
    write_watched(files, changes, Journaled::No, &mut |_| ())
}

/// As [`write_package`], with a journal, by which [`recover_package`](super::recover_package) carries through
/// what a killed run left. Only for a package that nobody else works on.
///
/// # Errors
/// As [`write_package`].
pub(crate) fn write_package_whole(
    files: &PackageFiles,
    changes: &[FileChange],
) -> Result<(), PackageError> {
    write_watched(files, changes, Journaled::Yes, &mut |_| ())
}

/// Whether a write to several files leaves a journal while it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Journaled {
    Yes,
    No,
}

impl Journaled {
    fn digest(self, bytes: &[u8]) -> Option<String> {
        (self == Self::Yes).then(|| digest(bytes))
    }
}

/// As [`write_package`]; `watch` hears of each path before its file is looked at for the last time.
fn write_watched(
    files: &PackageFiles,
    changes: &[FileChange],
    journaled: Journaled,
    watch: &mut dyn FnMut(&str),
) -> Result<(), PackageError> {
    temporary::remove_left_behind(&files.temporaries);
    let mut changes = check_paths(changes)?;
    changes.retain(|(path, change)| match change {
        FileChange::Write { bytes, .. } => files
            .get(path)
            .is_none_or(|file| file.content.text.as_bytes() != bytes.as_slice()),
        FileChange::Delete { .. } => true,
    });
    if changes.is_empty() {
        return Ok(());
    }

    let mut made = Vec::new();
    let nothing_read = files.files.is_empty() && files.others.is_empty();
    if nothing_read
        && matches!(fs::symlink_metadata(&files.root), Err(error) if error.kind() == ErrorKind::NotFound)
    {
        make_folders(&files.root, &mut made)?;
    }
    let result = find_root(files).and_then(|root| {
        let steps = plan(files, &root, &changes, journaled)?;
        let staged = stage_all(&steps, &mut made)?;
        let _journal = match journaled {
            Journaled::Yes if steps.len() > 1 => Some(journal(&root, &steps, &staged)?),
            _ => None,
        };
        let mut commit = Commit {
            files,
            root: &root,
            done: 0,
        };
        commit.run(steps, staged, watch)
    });
    if result.is_err() {
        // Only the empty ones go: what is in place stays.
        for folder in made.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
    result
}

/// The rules that need no look at the disk. Gives the changes with normal paths.
fn check_paths(changes: &[FileChange]) -> Result<Vec<(String, &FileChange)>, PackageError> {
    let mut checked = Vec::with_capacity(changes.len());
    let mut seen = BTreeSet::new();
    let mut written = BTreeSet::new();
    for change in changes {
        check_place(change.path())?;
        let path = normalize_package_path(change.path());
        if components(&path).any(is_git) {
            return Err(PackageError::GitFolder { path });
        }
        if !seen.insert(path.clone()) {
            return Err(PackageError::Duplicate { path });
        }
        if matches!(change, FileChange::Write { .. }) {
            written.insert(path.clone());
        }
        checked.push((path, change));
    }
    for path in &written {
        let mut parents = path.match_indices('/').map(|(slash, _)| &path[..slash]);
        if let Some(parent) = parents.find(|parent| written.contains(*parent)) {
            return Err(PackageError::ParentIsFile {
                path: path.clone(),
                parent: parent.into(),
            });
        }
    }
    Ok(checked)
}

/// A change that was checked.
struct Step<'a> {
    path: &'a str,
    /// The file on disk.
    target: PathBuf,
    kind: StepKind<'a>,
}

enum StepKind<'a> {
    Replace {
        bytes: &'a [u8],
        mode: u32,
        /// The digest of the content before, for a journal.
        old: Option<String>,
    },
    Create {
        bytes: &'a [u8],
        mode: Option<u32>,
    },
    Delete {
        /// The digest of the content before, for a journal.
        old: Option<String>,
    },
}

fn find_root(files: &PackageFiles) -> Result<PathBuf, PackageError> {
    match fs::canonicalize(&files.root) {
        Err(error) if error.kind() == ErrorKind::NotFound => Err(PackageError::Missing {
            path: files.root.clone(),
        }),
        other => other.map_err(PackageError::io("read", files.root.as_path())),
    }
}

/// The rules that look at the disk; nothing is written here.
fn plan<'a>(
    files: &PackageFiles,
    root: &Path,
    changes: &'a [(String, &'a FileChange)],
    journaled: Journaled,
) -> Result<Vec<Step<'a>>, PackageError> {
    let mut steps = Vec::with_capacity(changes.len());
    // The files of a folder are neighbours.
    let mut checked = None;
    for (path, change) in changes {
        let folder = path.rsplit_once('/').map(|(folder, _)| folder);
        if checked != Some(folder) {
            check_parents(root, path)?;
            checked = Some(folder);
        }
        let found = look(files, root, path)?;
        let kind = match (change, &found) {
            (FileChange::Write { bytes, .. }, Some(found)) if found.bytes == *bytes => continue,
            (FileChange::Write { bytes, .. }, Some(found)) => StepKind::Replace {
                bytes,
                mode: mode_of(&found.metadata),
                old: journaled.digest(&found.bytes),
            },
            (FileChange::Write { bytes, mode, .. }, None) => {
                check_absent(&root.join(path), path)?;
                StepKind::Create { bytes, mode: *mode }
            }
            (FileChange::Delete { .. }, Some(found)) => StepKind::Delete {
                old: journaled.digest(&found.bytes),
            },
            (FileChange::Delete { .. }, None) => {
                return Err(PackageError::NotInPackage { path: path.clone() });
            }
        };
        let target = found.map_or_else(|| root.join(path), |found| found.target);
        steps.push(Step { path, target, kind });
    }
    Ok(steps)
}

/// A file that is as it was when it was read.
struct Found {
    /// The file itself, or the one that the link of this path leads to.
    target: PathBuf,
    bytes: Vec<u8>,
    metadata: Metadata,
}

/// Looks whether a file is as it was when it was read; `None` if it was not read.
fn look(files: &PackageFiles, root: &Path, path: &str) -> Result<Option<Found>, PackageError> {
    let changed = || PackageError::Changed { path: path.into() };
    let on_disk = root.join(path);
    let (target, (bytes, metadata)) = if let Some(file) = files.get(path) {
        let found = match &file.content.target {
            Some(target) if fs::canonicalize(&on_disk).ok().as_ref() != Some(target) => {
                return Err(changed());
            }
            Some(target) => (target.clone(), read_regular(target, path)?),
            None => {
                check_regular(&on_disk, path)?;
                let read = read_seen(&on_disk, path)?;
                (on_disk, read)
            }
        };
        if found.1.0 != file.content.text.as_bytes() {
            return Err(changed());
        }
        found
    } else if let Some(stamp) = files.other_stamps.get(path) {
        check_regular(&on_disk, path)?;
        let read = read_seen(&on_disk, path)?;
        if Stamp::of(&read.1) != *stamp {
            return Err(changed());
        }
        (on_disk, read)
    } else {
        return Ok(None);
    };
    Ok(Some(Found {
        target,
        bytes,
        metadata,
    }))
}

/// No folder on the way may be a link out of the package or into `.git`, and none may be a file.
fn check_parents(root: &Path, path: &str) -> Result<(), PackageError> {
    for (slash, _) in path.match_indices('/') {
        let parent = &path[..slash];
        let on_disk = root.join(parent);
        let metadata = match fs::symlink_metadata(&on_disk) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            other => other.map_err(PackageError::io("read", on_disk.as_path()))?,
        };
        if metadata.is_symlink() {
            let leaves = || PackageError::LeavesPackage {
                path: path.into(),
                link: parent.into(),
            };
            // A dangling link could come to lead anywhere.
            let target = fs::canonicalize(&on_disk).map_err(|_| leaves())?;
            let inside = target.strip_prefix(root).map_err(|_| leaves())?;
            if inside
                .iter()
                .any(|component| component.to_str().is_some_and(is_git))
            {
                return Err(PackageError::GitFolder { path: path.into() });
            }
        }
        if !on_disk.is_dir() {
            return Err(PackageError::ParentIsFile {
                path: path.into(),
                parent: parent.into(),
            });
        }
    }
    Ok(())
}

/// A file that was read must still be there, and no link or FIFO in its place.
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

/// Writes the temporary files of all steps, in order; a deletion has none. One that is not renamed is removed when it
/// is dropped.
fn stage_all(
    steps: &[Step<'_>],
    made: &mut Vec<PathBuf>,
) -> Result<Vec<Option<TempPath>>, PackageError> {
    let stage_one = |step: &Step<'_>| {
        Ok(match step.kind {
            StepKind::Replace { bytes, mode, .. } => Some(stage(&step.target, bytes, Some(mode))?),
            StepKind::Create { bytes, mode } => {
                make_folders(parent(&step.target), made)?;
                Some(stage(&step.target, bytes, mode)?)
            }
            StepKind::Delete { .. } => None,
        })
    };
    steps.iter().map(stage_one).collect()
}

/// Writes the journal of these steps.
fn journal(
    root: &Path,
    steps: &[Step<'_>],
    staged: &[Option<TempPath>],
) -> Result<Journal, PackageError> {
    let relative = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_path_buf();
    let files = steps.iter().zip(staged).map(|(step, staged)| {
        let (old, new) = match &step.kind {
            StepKind::Replace { bytes, old, .. } => (old.clone(), Some(digest(bytes))),
            StepKind::Create { bytes, .. } => (None, Some(digest(bytes))),
            StepKind::Delete { old } => (old.clone(), None),
        };
        JournaledFile {
            target: relative(&step.target),
            staged: staged.as_deref().map(relative),
            old,
            new,
        }
    });
    Journal::write(root, files.collect())
}

/// The part of a run that changes files.
struct Commit<'c> {
    files: &'c PackageFiles,
    root: &'c Path,
    /// How many files were changed.
    done: usize,
}

impl Commit<'_> {
    /// Renames, then deletions, then the renames of Kptfiles, the root's last: a Kptfile says which revision
    /// its package is at, so none says so of a run that was stopped midway.
    fn run(
        &mut self,
        steps: Vec<Step<'_>>,
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
        step: &Step<'_>,
        temporary: TempPath,
        watch: &mut dyn FnMut(&str),
    ) -> Result<(), PackageError> {
        watch(step.path);
        match step.kind {
            StepKind::Create { .. } => put_new(temporary, step)?,
            _ => {
                self.look_again(step)?;
                temporary.persist(&step.target).map_err(|error| {
                    PackageError::io("rename a new version to", &step.target)(error.error)
                })?;
            }
        }
        self.done += 1;
        Ok(())
    }

    fn delete(&mut self, step: &Step<'_>, watch: &mut dyn FnMut(&str)) -> Result<(), PackageError> {
        watch(step.path);
        self.look_again(step)?;
        let link = self.root.join(step.path);
        let link = Some(link).filter(|link| *link != step.target);
        for file in std::iter::once(&step.target).chain(&link) {
            fs::remove_file(file).map_err(PackageError::io("delete", file.as_path()))?;
        }
        self.done += 1;
        Ok(())
    }

    /// Somebody may have saved the file while others were written.
    fn look_again(&self, step: &Step<'_>) -> Result<(), PackageError> {
        match look(self.files, self.root, step.path) {
            Err(PackageError::Changed { path }) if self.done > 0 => {
                let written = self.done;
                Err(PackageError::ChangedMeanwhile { path, written })
            }
            found => found.map(|_| ()),
        }
    }
}

fn is_kptfile(path: &str) -> bool {
    path.rsplit('/').next() == Some("Kptfile")
}

/// Puts a new file in place; one that is there by now stays.
fn put_new(temporary: TempPath, step: &Step<'_>) -> Result<(), PackageError> {
    let (target, path) = (&step.target, step.path);
    let Err(error) = temporary.persist_noclobber(target) else {
        return Ok(());
    };
    check_absent(target, path)?;
    // Some file systems cannot do that in one step.
    error
        .path
        .persist(target)
        .map_err(|error| PackageError::io("rename a new version to", target)(error.error))
}

/// Writes a temporary file beside the target. Its handle is closed at once: there may be thousands.
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

/// As `create_dir_all`, and remembers which folders it made.
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
mod tests {
    use super::super::testing::{fifo, get, link, package, put};
    use super::super::{PackageError as E, read_package, recover_package};
    use super::*;

    fn write(files: &PackageFiles, path: &str, text: &str) -> Result<(), PackageError> {
        write_package(files, &[FileChange::write(path, text)])
    }

    /// Everything in a directory, links not followed.
    fn listing(dir: &Path) -> Vec<String> {
        let mut all = Vec::new();
        let mut pending = vec![dir.to_path_buf()];
        while let Some(folder) = pending.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let entry = entry.expect("an entry");
                if entry.file_type().expect("a type").is_dir() {
                    pending.push(entry.path());
                }
                let path = entry.path();
                all.push(
                    path.strip_prefix(dir)
                        .expect("below")
                        .to_string_lossy()
                        .into_owned(),
                );
            }
        }
        all.sort();
        all
    }

    #[cfg(unix)]
    fn mode(dir: &Path, path: &str) -> u32 {
        mode_of(&fs::metadata(dir.join(path)).expect("a file"))
    }

    #[cfg(unix)]
    fn set_mode(dir: &Path, path: &str, mode: u32) {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(dir.join(path), permissions).expect("permissions");
    }

    #[test]
    fn files_are_changed_made_and_deleted() {
        let dir = package(&[
            ("a.yaml", "a"),
            ("b/b.yaml", "b"),
            ("c.yaml", "c"),
            ("README.md", "r"),
        ]);
        let files = read_package(dir.path()).expect("a package");
        let changes = [
            FileChange::delete("b/b.yaml"),
            FileChange::write("a.yaml", "new"),
            FileChange::write("./d//e/f.yaml", "made"),
            FileChange::write("README.md", [0xff, 0]),
            FileChange::write("c.yaml", "c"),
        ];
        write_package(&files, &changes).expect("written");
        assert_eq!(
            listing(dir.path()),
            [
                "README.md",
                "a.yaml",
                "b",
                "c.yaml",
                "d",
                "d/e",
                "d/e/f.yaml"
            ]
        );
        assert_eq!(get(dir.path(), "a.yaml"), "new");
        assert_eq!(get(dir.path(), "d/e/f.yaml"), "made");
        assert_eq!(
            fs::read(dir.path().join("README.md")).expect("a file"),
            [0xff, 0]
        );
    }

    #[test]
    #[cfg(unix)]
    fn modes_are_kept_and_taken_over() {
        let dir = package(&[("a.yaml", "a"), ("s.sh", "s")]);
        set_mode(dir.path(), "a.yaml", 0o640);
        set_mode(dir.path(), "s.sh", 0o755);
        let files = read_package(dir.path()).expect("a package");
        assert_eq!(files.files[0].content.mode, 0o640);
        let mode_given = |path: &str, mode| FileChange::Write {
            path: path.into(),
            bytes: vec![],
            mode,
        };
        let changes = [
            mode_given("a.yaml", Some(0o777)),
            mode_given("s.sh", None),
            mode_given("new", Some(0o666)),
            mode_given("plain", None),
        ];
        write_package(&files, &changes).expect("written");
        put(dir.path(), "beside", "");
        assert_eq!(mode(dir.path(), "a.yaml"), 0o640);
        assert_eq!(mode(dir.path(), "s.sh"), 0o755);
        assert_eq!(mode(dir.path(), "new"), 0o666);
        // The test's umask, whatever it is.
        assert_eq!(
            mode(dir.path(), "plain"),
            mode(dir.path(), "beside") & 0o644
        );
    }

    #[test]
    fn an_unchanged_file_is_not_written() {
        let dir = package(&[("a.yaml", "a"), ("o.txt", "o")]);
        let files = read_package(dir.path()).expect("a package");
        let times = || {
            ["a.yaml", "o.txt"].map(|path| {
                use std::os::unix::fs::MetadataExt;
                fs::metadata(dir.path().join(path)).expect("a file").ino()
            })
        };
        let before = times();
        let changes = [
            FileChange::write("a.yaml", "a"),
            FileChange::write("o.txt", "o"),
        ];
        write_package(&files, &changes).expect("written");
        assert_eq!(times(), before);
        // And it does not matter then that somebody else changed it.
        put(dir.path(), "a.yaml", "other");
        write(&files, "a.yaml", "a").expect("nothing to do");
        assert_eq!(get(dir.path(), "a.yaml"), "other");
    }

    #[test]
    fn a_file_that_changed_underneath_stops_everything() {
        type Meddle = fn(&Path);
        let table: [(&str, Meddle); 5] = [
            ("a.yaml", |dir| put(dir, "a.yaml", "b")),
            ("a.yaml", |dir| {
                fs::remove_file(dir.join("a.yaml")).expect("removed")
            }),
            ("a.yaml", |dir| {
                fs::rename(dir.join("a.yaml"), dir.join("moved")).expect("renamed");
                link(dir, "moved", "a.yaml");
            }),
            ("a.yaml", |dir| {
                fs::remove_file(dir.join("a.yaml")).expect("removed");
                fifo(&dir.join("a.yaml"));
            }),
            ("o.txt", |dir| put(dir, "o.txt", "longer")),
        ];
        for (path, meddle) in table {
            for change in [FileChange::write(path, "new"), FileChange::delete(path)] {
                let dir = package(&[("a.yaml", "a"), ("o.txt", "o"), ("z.yaml", "z")]);
                let files = read_package(dir.path()).expect("a package");
                meddle(dir.path());
                let before = listing(dir.path());
                let changes = [
                    FileChange::write("z.yaml", "new"),
                    FileChange::write("n/n.yaml", ""),
                    change,
                ];
                let error = write_package(&files, &changes).expect_err("it changed");
                assert!(
                    matches!(&error, E::Changed { path: named } if named == path),
                    "{error}"
                );
                assert_eq!(get(dir.path(), "z.yaml"), "z");
                assert_eq!(listing(dir.path()), before);
            }
        }
    }

    #[test]
    fn a_file_that_is_saved_while_others_are_written_is_left_alone() {
        let dir = package(&[
            ("a.yaml", "a"),
            ("b.yaml", "b"),
            ("d.yaml", "d"),
            ("o.txt", "o"),
        ]);
        let changes = [
            FileChange::write("a.yaml", "new"),
            FileChange::write("b.yaml", "new"),
            FileChange::write("n.yaml", "new"),
            FileChange::write("o.txt", "new"),
            FileChange::delete("d.yaml"),
        ];
        for late in ["a.yaml", "b.yaml", "n.yaml", "o.txt", "d.yaml"] {
            for (path, text) in [
                ("a.yaml", "a"),
                ("b.yaml", "b"),
                ("d.yaml", "d"),
                ("o.txt", "o"),
            ] {
                put(dir.path(), path, text);
            }
            let _ = fs::remove_file(dir.path().join("n.yaml"));
            let files = read_package(dir.path()).expect("a package");
            let mut heard = 0;
            let mut watch = |path: &str| {
                heard += 1;
                if path == late {
                    put(dir.path(), path, "saved by somebody else");
                }
            };
            let error =
                write_watched(&files, &changes, Journaled::No, &mut watch).expect_err("it changed");
            match &error {
                E::Changed { path } => assert_eq!((path.as_str(), heard), (late, 1)),
                E::ChangedMeanwhile { path, written } => {
                    assert_eq!((path.as_str(), *written), (late, heard - 1));
                }
                E::Exists { path } => assert_eq!((path.as_str(), late), ("n.yaml", "n.yaml")),
                other => panic!("{other}"),
            }
            assert_eq!(get(dir.path(), late), "saved by somebody else");
            let left = listing(dir.path());
            assert!(!left.iter().any(|name| name.ends_with(".tmp")), "{left:?}");
        }
    }

    /// Else a run that was stopped midway would pass for a complete one: a lock of the new revision, and resources of
    /// the old.
    #[test]
    fn kptfiles_are_written_last() {
        let dir = package(&[
            ("Kptfile", "k"),
            ("a.yaml", "a"),
            ("d/Kptfile", "k"),
            ("z", "z"),
        ]);
        let files = read_package(dir.path()).expect("a package");
        let changes = [
            FileChange::write("Kptfile", "new"),
            FileChange::write("a.yaml", "new"),
            FileChange::write("d/Kptfile", "new"),
            FileChange::write("n.yaml", "new"),
            FileChange::delete("z"),
        ];
        let mut order = Vec::new();
        write_watched(&files, &changes, Journaled::No, &mut |path: &str| {
            order.push(path.to_owned());
        })
        .expect("written");
        assert_eq!(order, ["a.yaml", "n.yaml", "z", "d/Kptfile", "Kptfile"]);
    }

    #[test]
    fn what_a_killed_run_left_behind_goes_with_the_next() {
        let dir = package(&[("d/a.yaml", "a"), (".krm-variants-Ab3dEf.tmp", "")]);
        let left = dir.path().join(".krm-variants-Ab3dEf.tmp");
        let file = fs::File::options().write(true).open(left);
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(24 * 60 * 60);
        file.expect("a file").set_modified(old).expect("a time");
        put(dir.path(), "d/.krm-variants-Ab3dEf.tmp", "of a run at work");
        let files = read_package(dir.path()).expect("a package");
        assert_eq!(files.others, [""; 0]);
        // Even if there is nothing to write.
        write_package(&files, &[]).expect("nothing");
        assert_eq!(
            listing(dir.path()),
            ["d", "d/.krm-variants-Ab3dEf.tmp", "d/a.yaml"]
        );
    }

    #[test]
    fn a_new_file_must_not_be_there() {
        let dir = package(&[
            (".krmignore", "a.yaml\n"),
            ("a.yaml", "a"),
            ("d/x.yaml", ""),
        ]);
        let files = read_package(dir.path()).expect("a package");
        put(dir.path(), "late.yaml", "");
        link(dir.path(), "nowhere", "dangling");
        for path in ["a.yaml", "late.yaml", "dangling", "d"] {
            let error = write(&files, path, "new").expect_err("it is there");
            assert!(matches!(error, E::Exists { .. }), "{path}: {error}");
        }
        let error = write_package(&files, &[FileChange::delete("a.yaml")]).expect_err("not read");
        assert!(matches!(error, E::NotInPackage { .. }), "{error}");
    }

    #[test]
    fn no_way_leads_out_of_the_package() {
        let outside = package(&[("x.yaml", "x")]);
        let dir = package(&[("a.yaml", "a"), ("d/x.yaml", ""), (".git/config", "")]);
        link(dir.path(), outside.path(), "out");
        link(dir.path(), "nowhere", "dangling");
        link(dir.path(), ".git", "git");
        link(dir.path(), "d", "in");
        let files = read_package(dir.path()).expect("a package");
        for path in ["", ".", "../a", "a/../../b", "/etc/x", "a\0"] {
            assert!(
                matches!(write(&files, path, "new"), Err(E::Path(_))),
                "{path:?}"
            );
        }
        for path in [".git/x", "d/.git/hooks/x", ".GIT/x", ".git", "git/x"] {
            assert!(
                matches!(write(&files, path, "new"), Err(E::GitFolder { .. })),
                "{path}"
            );
        }
        for path in ["out/new.yaml", "out/d/new.yaml", "dangling/new.yaml"] {
            assert!(
                matches!(write(&files, path, "new"), Err(E::LeavesPackage { .. })),
                "{path}"
            );
        }
        assert_eq!(listing(outside.path()), ["x.yaml"]);
        write(&files, "in/new.yaml", "new").expect("a link inside");
        assert_eq!(get(dir.path(), "d/new.yaml"), "new");
    }

    #[test]
    fn a_folder_that_became_a_link_is_not_followed_out() {
        let outside = package(&[("a.yaml", "a")]);
        let dir = package(&[("d/a.yaml", "a")]);
        let files = read_package(dir.path()).expect("a package");
        fs::remove_dir_all(dir.path().join("d")).expect("removed");
        link(dir.path(), outside.path(), "d");
        for change in [
            FileChange::write("d/a.yaml", "new"),
            FileChange::delete("d/a.yaml"),
        ] {
            let error = write_package(&files, &[change]).expect_err("it leaves");
            assert!(matches!(error, E::LeavesPackage { .. }), "{error}");
        }
        assert_eq!(get(outside.path(), "a.yaml"), "a");
    }

    #[test]
    fn changes_must_not_contradict_each_other() {
        let dir = package(&[("a.yaml", "a")]);
        let files = read_package(dir.path()).expect("a package");
        let both = [
            FileChange::write("a.yaml", "b"),
            FileChange::delete("./a.yaml"),
        ];
        assert!(matches!(
            write_package(&files, &both),
            Err(E::Duplicate { .. })
        ));
        let nested = [FileChange::write("n/o", ""), FileChange::write("n", "")];
        assert!(matches!(
            write_package(&files, &nested),
            Err(E::ParentIsFile { .. })
        ));
        assert!(matches!(
            write(&files, "a.yaml/b", ""),
            Err(E::ParentIsFile { .. })
        ));
        assert_eq!(listing(dir.path()), ["a.yaml"]);
    }

    #[test]
    fn the_target_of_a_link_is_edited() {
        let dir = package(&[("d/shared.txt", "old")]);
        link(dir.path(), "d/shared.txt", "l.yaml");
        let files = read_package(dir.path()).expect("a package");
        write(&files, "l.yaml", "new").expect("written");
        assert!(
            fs::symlink_metadata(dir.path().join("l.yaml"))
                .expect("a link")
                .is_symlink()
        );
        assert_eq!(get(dir.path(), "d/shared.txt"), "new");

        let files = read_package(dir.path()).expect("a package");
        write_package(&files, &[FileChange::delete("l.yaml")]).expect("deleted");
        assert_eq!(listing(dir.path()), ["d"]);
    }

    #[test]
    fn a_link_that_leads_elsewhere_now_counts_as_changed() {
        let dir = package(&[("one.txt", "same"), ("two.txt", "same")]);
        link(dir.path(), "one.txt", "l.yaml");
        let files = read_package(dir.path()).expect("a package");
        fs::remove_file(dir.path().join("l.yaml")).expect("removed");
        link(dir.path(), "two.txt", "l.yaml");
        assert!(matches!(
            write(&files, "l.yaml", "new"),
            Err(E::Changed { .. })
        ));
        assert_eq!(get(dir.path(), "one.txt"), "same");
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        let dir = package(&[("a.yaml", "a")]);
        let files = read_package(dir.path()).expect("a package");
        let too_long = format!("new/{}/x.yaml", "x".repeat(300));
        let changes = [
            FileChange::write("a.yaml", "new"),
            FileChange::write("m/m", ""),
            FileChange::write(too_long, ""),
        ];
        let error = write_package(&files, &changes).expect_err("the name is too long");
        assert!(matches!(error, E::Io { .. }), "{error}");
        assert_eq!(listing(dir.path()), ["a.yaml"]);
        assert_eq!(get(dir.path(), "a.yaml"), "a");
    }

    #[test]
    fn an_empty_package_is_made() {
        let dir = package(&[]);
        let root = dir.path().join("new/package");
        let files = PackageFiles::empty(&root);
        write_package(&files, &[]).expect("nothing");
        assert_eq!(listing(dir.path()), [""; 0]);
        assert!(write(&files, "../a", "").is_err());
        assert!(write_package(&files, &[FileChange::delete("a")]).is_err());
        assert_eq!(listing(dir.path()), [""; 0]);
        write(&files, "Kptfile", "k").expect("written");
        assert_eq!(get(&root, "Kptfile"), "k");
    }

    #[test]
    fn a_vanished_package_is_not_made_again() {
        let dir = package(&[("p/a.yaml", "a")]);
        let files = read_package(&dir.path().join("p")).expect("a package");
        fs::remove_dir_all(dir.path().join("p")).expect("removed");
        assert!(matches!(
            write(&files, "b.yaml", ""),
            Err(E::Missing { .. })
        ));
        assert_eq!(listing(dir.path()), [""; 0]);
    }

    #[test]
    fn many_files_need_few_handles() {
        let dir = package(&[]);
        let files = read_package(dir.path()).expect("a package");
        let changes: Vec<_> = (0..3000)
            .map(|n| FileChange::write(format!("{n}.yaml"), "x"))
            .collect();
        write_package(&files, &changes).expect("written");
        assert_eq!(
            read_package(dir.path()).expect("a package").files.len(),
            3000
        );
    }

    /// Copies everything in a directory.
    fn copy(from: &Path, to: &Path) {
        for path in listing(from) {
            let (from, to) = (from.join(&path), to.join(&path));
            if from.is_dir() {
                fs::create_dir_all(to).expect("a folder");
            } else {
                fs::create_dir_all(parent(&to)).expect("a folder");
                fs::copy(from, to).expect("a file");
            }
        }
    }

    #[test]
    fn a_run_that_was_killed_anywhere_is_carried_through() {
        let before = [
            ("a.yaml", "a"),
            ("b.yaml", "b"),
            ("d/gone.yaml", "g"),
            ("e.txt", "e"),
        ];
        let changes = [
            FileChange::write("a.yaml", "new a"),
            FileChange::write("b.yaml", "new b"),
            FileChange::write("f/made.yaml", "made"),
            FileChange::delete("d/gone.yaml"),
            FileChange::delete("e.txt"),
        ];
        let dir = package(&before);
        let files = read_package(dir.path()).expect("a package");
        let mut killed = Vec::new();
        let mut watch = |_: &str| {
            let state = tempfile::tempdir().expect("a folder");
            copy(dir.path(), state.path());
            killed.push(state);
        };
        write_watched(&files, &changes, Journaled::Yes, &mut watch).expect("written");
        assert_eq!(killed.len(), changes.len());
        let expected = ["a.yaml", "b.yaml", "f/made.yaml"].map(|path| get(dir.path(), path));
        for state in killed {
            assert!(state.path().join(".krm-variants-journal.tmp").is_file());
            recover_package(state.path()).expect("carried through");
            let found = ["a.yaml", "b.yaml", "f/made.yaml"].map(|path| get(state.path(), path));
            assert_eq!(found, expected);
            assert_eq!(
                read_package(state.path()).expect("a package").others,
                Vec::<String>::new()
            );
            assert_eq!(listing(state.path()), listing(dir.path()));
        }
    }

    #[test]
    fn a_file_edited_after_the_kill_stays() {
        let dir = package(&[("a.yaml", "a"), ("b.yaml", "b")]);
        let files = read_package(dir.path()).expect("a package");
        let changes = ["a.yaml", "b.yaml"].map(|path| FileChange::write(path, "new"));
        let state = tempfile::tempdir().expect("a folder");
        let mut watch = |path: &str| {
            if path == "a.yaml" {
                copy(dir.path(), state.path());
            }
        };
        write_watched(&files, &changes, Journaled::Yes, &mut watch).expect("written");
        put(state.path(), "b.yaml", "mine");
        recover_package(state.path()).expect("carried through");
        assert_eq!(get(state.path(), "a.yaml"), "new");
        assert_eq!(get(state.path(), "b.yaml"), "mine");
    }

    #[test]
    fn a_journal_of_somebody_else_leads_nowhere() {
        let outside = package(&[("secret.yaml", "s")]);
        let dir = package(&[("a.yaml", "a")]);
        let path = outside.path().join("secret.yaml");
        for target in [path.to_str().expect("UTF-8"), "../x", ""] {
            let old = digest(b"s");
            let text = format!("{{\"files\":[{{\"target\":{target:?},\"old\":\"{old}\"}}]}}");
            put(dir.path(), ".krm-variants-journal.tmp", text);
            recover_package(dir.path()).expect("nothing to do");
            assert_eq!(listing(dir.path()), ["a.yaml"]);
        }
        put(dir.path(), ".krm-variants-journal.tmp", "not JSON");
        recover_package(dir.path()).expect("nothing to do");
        assert_eq!(listing(dir.path()), ["a.yaml"]);
        assert_eq!(get(outside.path(), "secret.yaml"), "s");
    }
}
