//! Reads a package directory.
//!
//! kpt reads `.git` folders and every `*.yaml` link whatever its target, and fails on dangling links and on links to
//! folders. The rules of [`read_package`] differ in these cases.

use std::fs::{self, DirEntry};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::file::{Stamp, read_regular};
use super::files::{FileContent, Package, PackageFile};
use super::listing::{FileSource, Kind, ResolvedLink, SkipReason, list, list_clonable};
use super::path::is_git;
use super::{PackageError, mode_of};
use crate::parallel;

/// The cost of opening and reading a file of unknown length, as the number of bytes that could be scanned in that
/// time.
const FILE_WORK: usize = 1 << 14;

/// Reads one file as a package, regardless of the other files in its directory.
///
/// # Errors
/// As [`read_package`].
pub fn read_only_file(file: &Path) -> Result<Package, PackageError> {
    let file = fs::canonicalize(file).map_err(PackageError::io("read", file))?;
    let not_found = || PackageError::Missing { path: file.clone() };
    let root = file.parent().ok_or_else(not_found)?;
    let name = file.file_name().ok_or_else(not_found)?.to_string_lossy();
    let mut package = Package::of_one(name.clone(), read_krm(&file, &name, None)?);
    package.root = root.to_path_buf();
    Ok(package)
}

impl Package {
    /// The files that a clone of the directory contains in addition to those that are read: the files that
    /// `.krmignore` excludes, and the targets of links that are read. `skipped` is what a clone leaves out, as in
    /// kpt.
    pub fn clone_only_files(&self) -> Result<Self, PackageError> {
        let mut unread = Self::default();
        let listed = list_clonable(&Disk::open(&self.root)?)?;
        unread.skipped = listed.skipped;
        for path in listed
            .others
            .into_keys()
            .filter(|path| self.get(path).is_none())
        {
            let (bytes, metadata) = read_regular(&self.root.join(&path), &path)?;
            let file = PackageFile::new(FileContent::Other(bytes), Some(mode_of(&metadata)));
            unread.insert(path, file);
        }
        Ok(unread)
    }

    /// Adds the Kptfile next to the only file, if it records the upstream of that file.
    ///
    /// # Errors
    /// As [`read_package`].
    pub fn add_kptfile(&mut self, records: impl Fn(&str) -> bool) -> Result<(), PackageError> {
        const NAME: &str = "Kptfile";
        let file = self.root.join(NAME);
        if !fs::symlink_metadata(&file).is_ok_and(|kind| kind.is_file()) {
            return Ok(());
        }
        let kptfile = read_krm(&file, NAME, None)?;
        if kptfile.krm().is_some_and(|text| records(text)) {
            self.insert(NAME, kptfile);
        }
        Ok(())
    }
}

/// Reads a file that is named like KRM, or the file that such a link leads to.
fn read_krm(file: &Path, path: &str, target: Option<PathBuf>) -> Result<PackageFile, PackageError> {
    let (bytes, metadata) = read_regular(file, path)?;
    Ok(PackageFile {
        content: FileContent::of_krm(bytes),
        mode: Some(mode_of(&metadata)),
        target,
    })
}

/// Reads all regular files of a directory named `*.yaml`, `*.yml`, `*.json` and `Kptfile` (case-sensitive, as in kpt:
/// not `*.YAML`), including those in sub-packages and hidden folders, and lists the other files.
///
/// `.krmignore` is honoured. `.git`, whether file or folder, is left out, and no result mentions it.
///
/// A link that is named like a KRM file is read if its target is a regular file inside the package. If the target is
/// read as a file of its own or through an earlier link, the link is ignored. Links to folders are not followed.
///
/// ```text
/// Kptfile                  read
/// db/statefulset.yaml      read
/// db.yaml -> db/statefulset.yaml    nothing: read already
/// shared.yaml -> shared.txt         read as `shared.yaml`; edits go to shared.txt
/// base.yaml -> ../base.yaml         skipped, with a warning
/// README.md                listed in `others`
/// ```
///
/// # Errors
/// The path does not exist, is not a directory or cannot be read; a folder or KRM-named file in it cannot be read.
pub fn read_package(dir: &Path) -> Result<Package, PackageError> {
    let disk = Disk::open(dir)?;
    let listed = list(&disk)?;
    let krm: Vec<String> = listed.krm.into_iter().collect();
    let read = parallel::map(
        &krm,
        |_| FILE_WORK,
        |path| {
            let target = listed.targets.get(path).cloned();
            let file = target.clone().unwrap_or_else(|| dir.join(path));
            read_krm(&file, path, target)
        },
    );
    let mut package = Package::empty(dir);
    package.ignored = listed.ignored;
    package.skipped = listed.skipped;
    let temporaries = listed.temporaries.iter();
    package.temporaries = temporaries.map(|path| dir.join(path)).collect();
    for (path, file) in krm.into_iter().zip(read) {
        package.insert(path, file?);
    }
    for (path, stamp) in listed.others {
        let mode = Some(stamp.mode);
        let content = FileContent::OnDisk(stamp);
        package.insert(path, PackageFile::new(content, mode));
    }
    Ok(package)
}

/// Reads a directory on disk as the [`FileSource`] of a package.
pub(super) struct Disk<'d> {
    /// The path as given.
    dir: &'d Path,
    canonical_root: PathBuf,
}

impl<'d> Disk<'d> {
    pub(super) fn open(dir: &'d Path) -> Result<Self, PackageError> {
        let path = || dir.to_path_buf();
        let canonical_root = fs::canonicalize(dir).map_err(|error| match error.kind() {
            ErrorKind::NotFound => PackageError::Missing { path: path() },
            ErrorKind::NotADirectory => PackageError::NotADirectory { path: path() },
            _ => PackageError::io("read", path())(error),
        })?;
        if !canonical_root.is_dir() {
            return Err(PackageError::NotADirectory { path: path() });
        }
        Ok(Self {
            dir,
            canonical_root,
        })
    }
}

impl FileSource for Disk<'_> {
    type Entry = DirEntry;
    type Stamp = Stamp;
    type Target = PathBuf;

    fn entries(&self, folder: &str) -> Result<Vec<Self::Entry>, PackageError> {
        let on_disk = self.dir.join(folder);
        let failed = || PackageError::io("read", on_disk.as_path());
        let entries = fs::read_dir(&on_disk).map_err(failed())?;
        entries.map(|entry| entry.map_err(failed())).collect()
    }

    fn name(&self, entry: &Self::Entry) -> Result<String, String> {
        let name = entry.file_name().into_string();
        name.map_err(|name| name.to_string_lossy().into_owned())
    }

    fn kind(&self, entry: &Self::Entry) -> Result<Kind, PackageError> {
        let kind = entry
            .file_type()
            .map_err(PackageError::io("read", entry.path()))?;
        Ok(match () {
            () if kind.is_symlink() => Kind::Link,
            () if kind.is_dir() => Kind::Folder,
            () if kind.is_file() => Kind::File,
            () => Kind::Skipped(SkipReason::NotRegular),
        })
    }

    fn stamp(&self, entry: &Self::Entry) -> Result<Stamp, PackageError> {
        let metadata = entry.metadata();
        let metadata = metadata.map_err(PackageError::io("read", entry.path()))?;
        Ok(Stamp::of(&metadata))
    }

    fn has(&self, path: &str) -> bool {
        self.dir.join(path).exists()
    }

    fn krmignore(&self, path: &str) -> Result<Option<Vec<u8>>, PackageError> {
        let file = self.dir.join(path);
        match fs::metadata(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(PackageError::io("read", file)(error)),
            // A folder named `.krmignore` is an ordinary folder.
            Ok(metadata) if metadata.is_dir() => Ok(None),
            Ok(_) => Ok(Some(read_regular(&file, path)?.0)),
        }
    }

    fn leads_to_folder(&self, link: &str) -> bool {
        fs::metadata(self.dir.join(link)).is_ok_and(|target| target.is_dir())
    }

    fn resolve(&self, link: &str) -> Result<ResolvedLink<PathBuf>, SkipReason> {
        // Circular links and links through files are dangling as well.
        let file = fs::canonicalize(self.dir.join(link)).map_err(|_| SkipReason::DanglingLink)?;
        let metadata = fs::metadata(&file).map_err(|_| SkipReason::DanglingLink)?;
        if metadata.is_dir() {
            return Err(SkipReason::LinkToFolder);
        }
        let inside = file
            .strip_prefix(&self.canonical_root)
            .map_err(|_| SkipReason::LinkOutOfPackage)?;
        if inside
            .iter()
            .any(|component| component.to_str().is_some_and(is_git))
        {
            return Err(SkipReason::LinkIntoGit);
        }
        if !metadata.is_file() {
            return Err(SkipReason::NotRegular);
        }
        Ok(ResolvedLink {
            inside: slashed(inside),
            file,
        })
    }
}

/// A relative path with `/` between components; `None` if it is not UTF-8.
fn slashed(path: &Path) -> Option<String> {
    path.iter()
        .map(|component| component.to_str())
        .collect::<Option<Vec<_>>>()
        .map(|all| all.join("/"))
}

#[cfg(test)]
mod tests;
