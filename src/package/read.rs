//! Reading a package directory: which files belong to it, and what is in them.
//!
//! Where kpt reads `.git` folders, every `*.yaml` link wherever it leads, and fails on dangling ones and on
//! links to folders, the rules of [`read_package`] are ours.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, DirEntry, FileType, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use super::file::{below, read_regular};
use super::krmignore::Krmignore;
use super::temporary::is_temporary;
use super::{PackageError, is_git, mode_of};
use crate::parallel;

/// To open and read a file of unknown length takes as long as to scan so many bytes.
const FILE_WORK: usize = 1 << 14;

/// A package directory as it was read. [`write_package`](super::write_package) needs it to see whether a file changed since.
#[derive(Debug, Clone, Default)]
pub struct PackageFiles {
    /// The directory, as it was given.
    pub root: PathBuf,
    /// The KRM-named files, sorted by path, bytewise.
    pub files: Vec<PackageFile>,
    /// The paths of all other regular files, sorted; their contents are not read ([`PackageFiles::read_other`] does).
    pub others: Vec<String>,
    /// What `.krmignore` keeps out, sorted. A folder ends in `/` and stands for everything in it.
    pub ignored: Vec<String>,
    /// What was not read, and not because of `.krmignore`; sorted.
    pub skipped: Vec<Skipped>,
    /// How `others` looked when they were listed.
    pub(super) other_stamps: BTreeMap<String, Stamp>,
    /// Temporary files, of runs at work and of those that were killed.
    pub(super) temporaries: Vec<PathBuf>,
}

/// A KRM-named file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageFile {
    /// Relative to the package, with `/` between components.
    pub path: String,
    /// What was read.
    pub content: FileContent,
}

/// What is remembered of a file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    /// Everything in the file, a byte order mark and CRs included.
    pub text: String,
    /// The permission bits.
    pub mode: u32,
    /// If the path is a link to a file that is not listed itself: that file (canonical). It is the one that gets edited.
    pub target: Option<PathBuf>,
}

/// Something in the package directory that was not read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Relative to the package; a name that is not UTF-8 has replacement characters.
    pub path: String,
    /// Why.
    pub reason: SkipReason,
}

/// Why something was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// A link, named like a KRM file, to a file outside of the package.
    LinkOutOfPackage,
    /// A link, named like a KRM file, to something that is not there (or to itself).
    DanglingLink,
    /// A link to a folder, wherever that is.
    LinkToFolder,
    /// A link, named like a KRM file, into a `.git` folder.
    LinkIntoGit,
    /// A link to a file, not named like a KRM file. Matters only to those who copy or merge files that are not KRM.
    OtherLink,
    /// A FIFO, a socket, a device, or a link (named like a KRM file) to one. They are never opened.
    NotRegular,
    /// A file or folder whose name is not UTF-8.
    NameNotUtf8,
}

impl SkipReason {
    /// Should every function warn of it? Not of links which no function would read as KRM.
    pub fn is_warning(self) -> bool {
        self != SkipReason::OtherLink
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            SkipReason::LinkOutOfPackage => "link to a file outside of the package",
            SkipReason::DanglingLink => "link to a file that does not exist",
            SkipReason::LinkToFolder => "link to a folder; these are not followed",
            SkipReason::LinkIntoGit => "link into a .git folder",
            SkipReason::OtherLink => "link",
            SkipReason::NotRegular => "not a regular file (a FIFO, socket or device)",
            SkipReason::NameNotUtf8 => "its name is not valid UTF-8",
        })
    }
}

/// How a file looked that was listed and not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    mode: u32,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Stamp {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            mode: mode_of(metadata),
        }
    }
}

impl PackageFiles {
    /// A package without files, in a directory that need not exist yet.
    pub fn empty(root: impl Into<PathBuf>) -> Self {
        PackageFiles {
            root: root.into(),
            ..PackageFiles::default()
        }
    }

    /// The same package as far as its files that are not named like KRM go.
    pub(crate) fn without_krm(&self) -> Self {
        PackageFiles {
            root: self.root.clone(),
            others: self.others.clone(),
            other_stamps: self.other_stamps.clone(),
            ..PackageFiles::default()
        }
    }

    /// The KRM-named file of this path.
    pub fn get(&self, path: &str) -> Option<&PackageFile> {
        let found = self
            .files
            .binary_search_by(|file| file.path.as_bytes().cmp(path.as_bytes()));
        found.ok().map(|index| &self.files[index])
    }

    /// The permission bits of one of the [`others`](PackageFiles::others).
    #[must_use]
    pub fn mode_of_other(&self, path: &str) -> Option<u32> {
        self.other_stamps.get(path).map(|stamp| stamp.mode)
    }

    /// The bytes of one of the [`others`](PackageFiles::others).
    ///
    /// # Errors
    /// Not one of them, changed since it was listed, or unreadable.
    pub fn read_other(&self, path: &str) -> Result<Vec<u8>, PackageError> {
        let Some(stamp) = self.other_stamps.get(path) else {
            return Err(PackageError::NotInPackage { path: path.into() });
        };
        let file = self.root.join(path);
        let metadata =
            fs::symlink_metadata(&file).map_err(PackageError::io("read", file.as_path()))?;
        if !metadata.is_file() || Stamp::of(&metadata) != *stamp {
            return Err(PackageError::Changed { path: path.into() });
        }
        Ok(read_regular(&file, path)?.0)
    }
}

/// Is this the name (the last component) of a file that is read as KRM: `*.yaml`, `*.yml`, `*.json` or `Kptfile`?
pub fn is_krm_name(name: &str) -> bool {
    name == "Kptfile"
        || [".yaml", ".yml", ".json"]
            .iter()
            .any(|end| name.ends_with(end))
}

/// Reads all regular files `*.yaml`, `*.yml`, `*.json` and `Kptfile` (exact, as kpt has it: not `*.YAML`) of a directory,
/// those of sub-packages and hidden folders included, and lists the others.
///
/// `.krmignore` is honoured (see the top of this file). `.git`, file or folder, is left out without a word.
///
/// A link that is named like a KRM file is read if it leads to a regular file inside the package. If that one is listed by
/// itself, or read through another link before, the link adds nothing. Links to folders are not followed.
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
/// The directory is missing, none or unreadable; a folder or KRM-named file in it cannot be read; one is not UTF-8.
pub fn read_package(dir: &Path) -> Result<PackageFiles, PackageError> {
    let canonical_root = match fs::canonicalize(dir) {
        Ok(root) => root,
        Err(error) => {
            let path = dir.to_path_buf();
            return Err(match error.kind() {
                ErrorKind::NotFound => PackageError::Missing { path },
                ErrorKind::NotADirectory => PackageError::NotADirectory { path },
                _ => PackageError::io("read", path)(error),
            });
        }
    };
    if !canonical_root.is_dir() {
        return Err(PackageError::NotADirectory {
            path: dir.to_path_buf(),
        });
    }
    let mut listing = Listing::default();
    listing.walk(dir)?;
    let Listing {
        mut krm,
        mut others,
        links,
        mut ignored,
        mut skipped,
        temporaries,
    } = listing;

    // Links come after everything else is listed, in order of their paths, so that which one of several wins is fixed.
    let mut targets = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for link in links {
        match resolve(&dir.join(&link), &canonical_root) {
            Err(reason) => skipped.push(Skipped { path: link, reason }),
            Ok(target) => {
                let inside = target.strip_prefix(&canonical_root).ok().and_then(slashed);
                if inside.as_ref().is_some_and(|path| krm.contains(path))
                    || !seen.insert(target.clone())
                {
                    continue;
                }
                if let Some(path) = inside {
                    others.remove(&path);
                }
                targets.insert(link, target);
            }
        }
    }
    krm.extend(targets.keys().cloned());

    let krm: Vec<String> = krm.into_iter().collect();
    let read = |path: &String| -> Result<PackageFile, PackageError> {
        let target = targets.get(path).cloned();
        let file = target.clone().unwrap_or_else(|| dir.join(path));
        let (bytes, metadata) = read_regular(&file, path)?;
        let text = String::from_utf8(bytes).map_err(|error| PackageError::NotUtf8 {
            path: path.clone(),
            offset: error.utf8_error().valid_up_to(),
        })?;
        let content = FileContent {
            text,
            mode: mode_of(&metadata),
            target,
        };
        let path = path.clone();
        Ok(PackageFile { path, content })
    };
    let files = parallel::map(&krm, |_| FILE_WORK, read);
    let files = files.into_iter().collect::<Result<Vec<_>, _>>()?;
    ignored.sort();
    skipped.sort();
    Ok(PackageFiles {
        root: dir.to_path_buf(),
        files,
        others: others.keys().cloned().collect(),
        ignored,
        skipped,
        other_stamps: others,
        temporaries,
    })
}

/// Where a link that is named like a KRM file leads, if it may be read.
fn resolve(link: &Path, canonical_root: &Path) -> Result<PathBuf, SkipReason> {
    // Links in a circle and links through files lead nowhere either.
    let target = fs::canonicalize(link).map_err(|_| SkipReason::DanglingLink)?;
    let metadata = fs::metadata(&target).map_err(|_| SkipReason::DanglingLink)?;
    if metadata.is_dir() {
        return Err(SkipReason::LinkToFolder);
    }
    let inside = target
        .strip_prefix(canonical_root)
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
    Ok(target)
}

/// A relative path with `/` between components; none if it is not UTF-8.
fn slashed(path: &Path) -> Option<String> {
    path.iter()
        .map(|component| component.to_str())
        .collect::<Option<Vec<_>>>()
        .map(|all| all.join("/"))
}

/// What a walk through the directory finds; nothing is read but `.krmignore` files.
#[derive(Default)]
struct Listing {
    krm: BTreeSet<String>,
    others: BTreeMap<String, Stamp>,
    /// Links that are named like KRM files.
    links: BTreeSet<String>,
    ignored: Vec<String>,
    skipped: Vec<Skipped>,
    temporaries: Vec<PathBuf>,
}

impl Listing {
    /// Not recursive: folders may be nested as deep as the file system allows.
    fn walk(&mut self, dir: &Path) -> Result<(), PackageError> {
        let rules = Krmignore::read(dir, String::new())?;
        let mut pending = vec![(String::new(), Rc::new(rules))];
        while let Some((folder, rules)) = pending.pop() {
            let on_disk = dir.join(&folder);
            let entries =
                fs::read_dir(&on_disk).map_err(PackageError::io("read", on_disk.as_path()))?;
            for entry in entries {
                let entry = entry.map_err(PackageError::io("read", on_disk.as_path()))?;
                let name = entry.file_name();
                let Some(name) = name.to_str() else {
                    let path = below(&folder, &name.to_string_lossy());
                    self.skipped.push(Skipped {
                        path,
                        reason: SkipReason::NameNotUtf8,
                    });
                    continue;
                };
                if is_git(name) {
                    continue;
                }
                if is_temporary(name) {
                    self.temporaries.push(entry.path());
                    continue;
                }
                let path = below(&folder, name);
                let kind = entry
                    .file_type()
                    .map_err(PackageError::io("read", entry.path()))?;
                if rules.ignores(&path, kind.is_dir()) {
                    self.ignored
                        .push(if kind.is_dir() { path + "/" } else { path });
                } else if kind.is_dir() {
                    // Anything of that name makes a sub-package in kpt, even a folder.
                    let rules = if entry.path().join("Kptfile").exists() {
                        Rc::new(Krmignore::read(dir, path.clone())?)
                    } else {
                        Rc::clone(&rules)
                    };
                    pending.push((path, rules));
                } else {
                    self.add_file(path, name, &entry, kind)?;
                }
            }
        }
        Ok(())
    }

    fn add_file(
        &mut self,
        path: String,
        name: &str,
        entry: &DirEntry,
        kind: FileType,
    ) -> Result<(), PackageError> {
        if kind.is_symlink() {
            if is_krm_name(name) {
                self.links.insert(path);
            } else {
                let to_folder = fs::metadata(entry.path()).is_ok_and(|target| target.is_dir());
                let reason = if to_folder {
                    SkipReason::LinkToFolder
                } else {
                    SkipReason::OtherLink
                };
                self.skipped.push(Skipped { path, reason });
            }
        } else if !kind.is_file() {
            self.skipped.push(Skipped {
                path,
                reason: SkipReason::NotRegular,
            });
        } else if is_krm_name(name) {
            self.krm.insert(path);
        } else {
            let metadata = entry
                .metadata()
                .map_err(PackageError::io("read", entry.path()))?;
            self.others.insert(path, Stamp::of(&metadata));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
