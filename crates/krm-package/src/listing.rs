//! Determines which files belong to a package, whether it is a directory on disk or a tree of a Git repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;

use super::file::is_krm_name;
use super::krmignore::{KRMIGNORE, Krmignore};
use super::path::{is_git, join};
use super::temporary::is_temporary;
use super::{PackageError, is_revision_metadata};

/// A file, link or folder in the package directory that was not read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// The path relative to the package. A name that is not UTF-8 contains replacement characters.
    pub path: String,
    /// Why it was not read.
    pub reason: SkipReason,
}

/// Why a file, link or folder was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// A link, named like a KRM file, to a file outside the package.
    LinkOutOfPackage,
    /// A link, named like a KRM file, whose target does not exist (or is the link itself).
    DanglingLink,
    /// A link to a folder, inside or outside the package.
    LinkToFolder,
    /// A link, named like a KRM file, into a `.git` folder.
    LinkIntoGit,
    /// Another link to a file. It matters only when files are copied or merged; if it is named like a KRM file, a step
    /// reads the file that it leads to.
    OtherLink,
    /// A file or folder whose name some file system treats as `.git`.
    NamedLikeGit,
    /// A FIFO, a socket, a device, or a link (named like a KRM file) to one of these. They are never opened.
    NotRegular,
    /// A file or folder whose name is not UTF-8.
    NameNotUtf8,
    /// A submodule: its files are in another repository, and only this repository is read.
    Submodule,
    /// A pointer that Git LFS stores in place of a file.
    LfsPointer,
    /// A file of upstream with the decisions of a user about upstream's own copy.
    Decisions,
    /// A file of upstream that is named like a temporary file or a journal of this program.
    OwnTemporary,
    /// A file or folder of upstream that makes the folder around it a Git repository.
    RepositoryShape,
}

impl SkipReason {
    /// Whether every function warns of it. Links that no function would read as KRM are not worth a warning.
    pub fn is_warning(self) -> bool {
        self != SkipReason::OtherLink && !self.is_refusal()
    }

    /// Whether it is a symbolic link. For a merge, a link is a separate file: it is not the file that it leads to, and
    /// nothing is written over it.
    pub fn is_link(self) -> bool {
        matches!(
            self,
            SkipReason::LinkOutOfPackage
                | SkipReason::DanglingLink
                | SkipReason::LinkToFolder
                | SkipReason::LinkIntoGit
                | SkipReason::OtherLink
        )
    }

    /// Whether the file may be in a package, but upstream must not bring it. Clones and merges warn of it.
    pub fn is_refusal(self) -> bool {
        matches!(
            self,
            SkipReason::Decisions | SkipReason::OwnTemporary | SkipReason::RepositoryShape
        )
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            SkipReason::LinkOutOfPackage => "link to a file outside of the package",
            SkipReason::DanglingLink => "link to a file that does not exist",
            SkipReason::LinkToFolder => "link to a folder; these are not followed",
            SkipReason::LinkIntoGit => "link into a .git folder",
            SkipReason::OtherLink => "a symbolic link",
            SkipReason::NamedLikeGit => "a file system may take its name for '.git'",
            SkipReason::NotRegular => "not a regular file (a FIFO, socket or device)",
            SkipReason::NameNotUtf8 => "its name is not valid UTF-8",
            SkipReason::Submodule => "a submodule; its files are in another repository",
            SkipReason::LfsPointer => "a Git LFS pointer; the file itself is not in the repository",
            SkipReason::Decisions => "the decisions of upstream's own copy",
            SkipReason::OwnTemporary => "named like a temporary file of krm-variants",
            SkipReason::RepositoryShape => "it makes the folder a Git repository",
        })
    }
}

/// The storage of a package. Paths are relative to the package, with `/` between components; the empty path is its
/// root.
pub trait FileSource {
    /// A file, link or folder in a folder.
    type Entry;
    /// The data stored for a file that is only listed.
    type Stamp;
    /// The target of a link.
    type Target: Ord + Clone;

    fn entries(&self, folder: &str) -> Result<Vec<Self::Entry>, PackageError>;
    /// The name of an entry. If it is not UTF-8, the error is the name in a form that can be displayed.
    fn name(&self, entry: &Self::Entry) -> Result<String, String>;
    /// The kind of an entry; links are not followed.
    fn kind(&self, entry: &Self::Entry) -> Result<Kind, PackageError>;
    /// What to store for an entry that is a file.
    fn stamp(&self, entry: &Self::Entry) -> Result<Self::Stamp, PackageError>;
    /// Whether the path exists; links are followed.
    fn has(&self, path: &str) -> bool;
    /// The content of a `.krmignore` file; links are followed. `None` if there is none.
    fn krmignore(&self, path: &str) -> Result<Option<Vec<u8>>, PackageError>;
    /// Whether the target of a link is a folder.
    fn leads_to_folder(&self, link: &str) -> bool;
    /// The target of a link that is named like a KRM file, or the reason why it must not be read.
    fn resolve(&self, link: &str) -> Result<ResolvedLink<Self::Target>, SkipReason>;
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Folder,
    Link,
    /// Anything else, with the reason for skipping it.
    Skipped(SkipReason),
}

/// The file that a link leads to.
pub struct ResolvedLink<T> {
    /// The file's path in the package; `None` if it is not UTF-8.
    pub inside: Option<String>,
    pub file: T,
}

/// How many links may be followed in a row, as on Linux.
const MOST_LINKS: usize = 40;

/// What exists at a place; links are not followed.
pub enum FoundEntry {
    Folder,
    File,
    /// The target of the link, as it is stored.
    Link(String),
}

/// Follows the links in a path where the file system does not do so, and returns the resulting path.
pub fn follow(
    path: &str,
    at: impl Fn(&str) -> Result<FoundEntry, SkipReason>,
) -> Result<String, SkipReason> {
    let mut pending: Vec<String> = path.rsplit('/').map(str::to_owned).collect();
    let mut place = String::new();
    let mut links = 0;
    while let Some(name) = pending.pop() {
        match name.as_str() {
            "" | "." => continue,
            ".." if place.is_empty() => return Err(SkipReason::LinkOutOfPackage),
            ".." => {
                place.truncate(place.rfind('/').unwrap_or_default());
                continue;
            }
            _ => {}
        }
        let next = join(&place, &name);
        match at(&next)? {
            FoundEntry::Link(target) => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(SkipReason::DanglingLink);
                }
                if target.starts_with('/') {
                    return Err(SkipReason::LinkOutOfPackage);
                }
                pending.extend(target.rsplit('/').map(str::to_owned));
            }
            FoundEntry::File if !pending.is_empty() => return Err(SkipReason::DanglingLink),
            FoundEntry::File | FoundEntry::Folder => place = next,
        }
    }
    Ok(place)
}

pub struct Listed<T, S> {
    /// The paths of the files that are read as KRM.
    pub krm: BTreeSet<String>,
    /// The targets of the paths in `krm` that are links.
    pub targets: BTreeMap<String, T>,
    /// The other regular files.
    pub others: BTreeMap<String, S>,
    /// As in [`Package`](super::Package).
    pub ignored: Vec<String>,
    /// As in [`Package`](super::Package).
    pub skipped: Vec<Skipped>,
    /// Temporary files of other runs, both of those still running and of those that were killed.
    pub(crate) temporaries: Vec<String>,
}

/// Lists the files of a package by the rules of [`read_package`](super::read_package).
pub fn list<S: FileSource>(source: &S) -> Result<Listed<S::Target, S::Stamp>, PackageError> {
    let mut walk = Walk::new(source, Purpose::Read);
    walk.all()?;
    let Walk {
        links, mut listed, ..
    } = walk;
    // Links come last, in the order of their paths, so that the choice between links to the same file is
    // deterministic.
    let mut seen = BTreeSet::new();
    for link in links {
        match source.resolve(&link) {
            Err(reason) => listed.skipped.push(Skipped { path: link, reason }),
            Ok(ResolvedLink { inside, file }) => {
                let listed_itself = inside
                    .as_ref()
                    .is_some_and(|path| listed.krm.contains(path));
                let reason = SkipReason::OtherLink;
                let path = link.clone();
                listed.skipped.push(Skipped { path, reason });
                if !listed_itself && seen.insert(file.clone()) {
                    listed.targets.insert(link, file);
                }
            }
        }
    }
    listed.krm.extend(listed.targets.keys().cloned());
    listed.ignored.sort();
    listed.skipped.sort();
    Ok(listed)
}

/// Lists the files that a clone of a package contains, as `kpt pkg get` does: `others` are all its regular files,
/// including those that `.krmignore` excludes, and `skipped` is what a clone leaves out, including symbolic links.
pub fn list_clonable<S: FileSource>(
    source: &S,
) -> Result<Listed<S::Target, S::Stamp>, PackageError> {
    let mut walk = Walk::new(source, Purpose::Clone);
    walk.all()?;
    walk.listed.skipped.sort();
    Ok(walk.listed)
}

/// Why a package is listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Read,
    Clone,
}

/// A walk through the folders that reads only `.krmignore` files.
struct Walk<'s, S: FileSource> {
    source: &'s S,
    purpose: Purpose,
    /// Links that are named like KRM files.
    links: BTreeSet<String>,
    listed: Listed<S::Target, S::Stamp>,
}

impl<'s, S: FileSource> Walk<'s, S> {
    fn new(source: &'s S, purpose: Purpose) -> Self {
        Self {
            source,
            purpose,
            links: BTreeSet::new(),
            listed: Listed {
                krm: BTreeSet::new(),
                targets: BTreeMap::new(),
                others: BTreeMap::new(),
                ignored: Vec::new(),
                skipped: Vec::new(),
                temporaries: Vec::new(),
            },
        }
    }

    fn rules(&self, folder: &str) -> Result<Rc<Krmignore>, PackageError> {
        if self.purpose == Purpose::Clone {
            return Ok(Rc::new(Krmignore::parse(folder.to_owned(), "")));
        }
        let text = self.source.krmignore(&join(folder, KRMIGNORE))?;
        // Patterns with invalid UTF-8 cannot match names that are UTF-8.
        let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = text.unwrap_or_default();
        Ok(Rc::new(Krmignore::parse(folder.to_owned(), &text)))
    }

    /// Iterative, because folders may be nested as deep as the file system allows.
    fn all(&mut self) -> Result<(), PackageError> {
        let mut pending = vec![(String::new(), self.rules("")?)];
        while let Some((folder, rules)) = pending.pop() {
            for entry in self.source.entries(&folder)? {
                let name = match self.source.name(&entry) {
                    Ok(name) => name,
                    Err(shown) => {
                        self.skip(join(&folder, &shown), SkipReason::NameNotUtf8);
                        continue;
                    }
                };
                let path = join(&folder, &name);
                if is_revision_metadata(&name) {
                    continue;
                }
                if is_git(&name) {
                    if !name.eq_ignore_ascii_case(".git") {
                        self.skip(path, SkipReason::NamedLikeGit);
                    }
                    continue;
                }
                if is_temporary(&name) {
                    self.listed.temporaries.push(path);
                    continue;
                }
                let kind = self.source.kind(&entry)?;
                let is_folder = kind == Kind::Folder;
                if rules.ignores(&path, is_folder) {
                    let end = if is_folder { "/" } else { "" };
                    self.listed.ignored.push(path + end);
                } else if is_folder {
                    // In kpt, anything of that name makes a sub-package, even a folder.
                    let rules = if self.source.has(&join(&path, "Kptfile")) {
                        self.rules(&path)?
                    } else {
                        Rc::clone(&rules)
                    };
                    pending.push((path, rules));
                } else {
                    self.add(path, &name, &entry, kind)?;
                }
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        path: String,
        name: &str,
        entry: &S::Entry,
        kind: Kind,
    ) -> Result<(), PackageError> {
        let is_cloned = self.purpose == Purpose::Clone;
        match kind {
            Kind::Skipped(reason) => self.skip(path, reason),
            Kind::Link if is_cloned => self.skip(path, SkipReason::OtherLink),
            Kind::Link if is_krm_name(name) => {
                self.links.insert(path);
            }
            Kind::Link => {
                let reason = if self.source.leads_to_folder(&path) {
                    SkipReason::LinkToFolder
                } else {
                    SkipReason::OtherLink
                };
                self.skip(path, reason);
            }
            Kind::File if !is_cloned && is_krm_name(name) => {
                self.listed.krm.insert(path);
            }
            Kind::File | Kind::Folder => {
                let stamp = self.source.stamp(entry)?;
                self.listed.others.insert(path, stamp);
            }
        }
        Ok(())
    }

    fn skip(&mut self, path: String, reason: SkipReason) {
        self.listed.skipped.push(Skipped { path, reason });
    }
}
