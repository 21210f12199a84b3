//! Reads a tree of a repository as the [`FileSource`] of a package.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use gix::ObjectId;
use gix::objs::tree::EntryKind;

use super::GitError;
use super::Repository;
use crate::is_only_file;
use krm_package::{
    FileSource, FoundEntry, Kind, PackageError, ResolvedLink, SkipReason, Skipped, follow, join,
    list,
};

/// The most bytes that a symbolic link may hold, as on Linux.
const LONGEST_LINK: u64 = 4096;
/// The most files and folders that a package in a tree may have. A few bytes can describe any number of files,
/// because trees can contain the same tree many times.
const ENTRIES: usize = 200_000;
/// The most bytes that a path may have, as on Linux.
const LONGEST_PATH: usize = 4096;
/// The most bytes that all paths may have: a few bytes can describe any number of long paths, too.
const PATHS: usize = 64 << 20;

/// A file in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TreeFile {
    pub(super) id: ObjectId,
    pub(super) mode: u32,
}

/// A file of a package: its path and its object.
pub(super) type NamedFile = (String, TreeFile);

/// The files of a package in a tree.
pub(super) struct TreeFiles {
    pub(super) files: Vec<NamedFile>,
    /// What `.krmignore` leaves out.
    pub(super) ignored: Vec<String>,
    pub(super) skipped: Vec<Skipped>,
}

#[derive(Debug, Clone)]
pub(super) struct TreeEntry {
    name: Result<String, String>,
    kind: EntryKind,
    id: ObjectId,
}

impl TreeEntry {
    fn file(&self) -> TreeFile {
        TreeFile {
            id: self.id,
            mode: match self.kind {
                EntryKind::BlobExecutable => 0o755,
                _ => 0o644,
            },
        }
    }
}

/// A directory of a repository at a commit.
pub(super) struct TreeSource<'r> {
    repository: &'r Repository,
    root: ObjectId,
    directory: &'r str,
    /// The trees that were read, by id.
    trees: RefCell<HashMap<ObjectId, Rc<Vec<TreeEntry>>>>,
    /// The folders found so far, by their path from the root.
    folders: RefCell<HashMap<String, ObjectId>>,
    /// The files found so far, by their path in the package.
    files: RefCell<HashMap<String, TreeFile>>,
    /// The bytes of all paths in the package so far.
    paths: Cell<usize>,
    /// The last error of reading an object. [`PackageError`] cannot hold it.
    failed: RefCell<Option<GitError>>,
}

impl<'r> TreeSource<'r> {
    /// `None` if there is no such directory.
    pub(super) fn new(
        repository: &'r Repository,
        root: ObjectId,
        directory: &'r str,
    ) -> Result<Option<Self>, GitError> {
        let source = Self {
            repository,
            root,
            directory,
            trees: RefCell::default(),
            folders: RefCell::default(),
            files: RefCell::default(),
            paths: Cell::default(),
            failed: RefCell::new(None),
        };
        let id = match source.entry(directory)? {
            _ if directory.is_empty() => root,
            Some(entry) if entry.kind == EntryKind::Tree => entry.id,
            _ => return Ok(None),
        };
        source.folders.borrow_mut().insert(directory.to_owned(), id);
        Ok(Some(source))
    }

    /// The files of the package by the rules of [`read_package`](krm_package::read_package).
    pub(super) fn files(&self) -> Result<TreeFiles, GitError> {
        let listed = list(self).map_err(|error| self.listing_error(error))?;
        let files = self.files.borrow();
        let krm = listed.krm.into_iter().filter_map(|path| {
            let target = listed.targets.get(&path).map(|(_, file)| file);
            let file = *target.or_else(|| files.get(&path))?;
            Some((path, file))
        });
        Ok(TreeFiles {
            files: krm.chain(listed.others).collect(),
            ignored: listed.ignored,
            skipped: listed.skipped,
        })
    }

    /// The id of the directory's tree.
    pub(super) fn id(&self) -> ObjectId {
        let folders = self.folders.borrow();
        folders.get(self.directory).copied().unwrap_or(self.root)
    }

    /// The error of reading an object that made a listing fail; otherwise the listing's own error.
    pub(super) fn listing_error(&self, error: PackageError) -> GitError {
        let failed = self.failed.borrow_mut().take();
        failed.unwrap_or(GitError::Package(error))
    }

    /// The paths of about the first 20,000 folders of a tree, to suggest names in messages; with `files`, also the paths of the
    /// files in them that may be a package.
    pub(super) fn paths_below(
        repository: &'r Repository,
        root: ObjectId,
        files: bool,
    ) -> Vec<String> {
        const ENOUGH: usize = 20_000;
        let Ok(Some(source)) = Self::new(repository, root, "") else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut pending = VecDeque::from([(String::new(), root)]);
        while let Some((folder, id)) = pending.pop_front() {
            let Ok(tree) = source.tree(id, &folder) else {
                continue;
            };
            for entry in tree.iter() {
                let Ok(name) = &entry.name else { continue };
                let path = join(&folder, name);
                if entry.kind != EntryKind::Tree {
                    if files && is_only_file(name) && found.len() < ENOUGH {
                        found.push(path);
                    }
                    continue;
                }
                if found.len() + pending.len() < ENOUGH && path.len() < LONGEST_PATH {
                    pending.push_back((path.clone(), entry.id));
                }
                found.push(path);
            }
        }
        found
    }

    fn tree(&self, id: ObjectId, path: &str) -> Result<Rc<Vec<TreeEntry>>, GitError> {
        if let Some(tree) = self.trees.borrow().get(&id) {
            return Ok(Rc::clone(tree));
        }
        let what = || match (path, self.directory) {
            ("", "") => "the root folder".to_owned(),
            ("", path) | (path, _) => format!("the folder `{path}`"),
        };
        let tree = self.repository.tree(id, what)?;
        let decoded = tree.decode();
        let decoded = decoded.map_err(|error| self.repository.unreadable(what(), &error))?;
        let mut names = HashSet::new();
        let mut entries = Vec::new();
        for entry in &decoded.entries {
            if !names.insert(entry.filename) || !is_name(entry.filename) {
                let message = format!("a name in it is not allowed, `{}`", entry.filename);
                return Err(self.repository.cannot_read(what(), message));
            }
            let name = std::str::from_utf8(entry.filename);
            entries.push(TreeEntry {
                name: name
                    .map(str::to_owned)
                    .map_err(|_| entry.filename.to_string()),
                kind: entry.mode.kind(),
                id: entry.oid.to_owned(),
            });
        }
        let entries = Rc::new(entries);
        self.trees.borrow_mut().insert(id, Rc::clone(&entries));
        Ok(entries)
    }

    /// The path from the root of a path in the package.
    fn place(&self, path: &str) -> String {
        match path {
            "" => self.directory.to_owned(),
            path => join(self.directory, path),
        }
    }

    /// The entry at a path from the root; `None` if there is none.
    fn entry(&self, path: &str) -> Result<Option<TreeEntry>, GitError> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let known = self.folders.borrow().get(folder).copied();
        let (mut folder, names) = match known {
            Some(id) => (id, name),
            None => (self.root, path),
        };
        let mut found: Option<TreeEntry> = None;
        for name in names.split('/').filter(|name| !name.is_empty()) {
            folder = match &found {
                None => folder,
                Some(entry) if entry.kind == EntryKind::Tree => entry.id,
                Some(_) => return Ok(None),
            };
            let tree = self.tree(folder, path)?;
            let entry = tree.iter().find(|entry| entry.name.as_deref() == Ok(name));
            let Some(entry) = entry else { return Ok(None) };
            found = Some(entry.clone());
        }
        Ok(found)
    }

    /// Follows links from a path of the package. Returns the resulting path from the root and its entry; `None` for
    /// the root.
    fn follow(&self, path: &str) -> Result<(String, Option<TreeEntry>), SkipReason> {
        let entry = |place: &str| self.entry(place).ok().flatten();
        let place = self.place(path);
        let folder = place.rsplit_once('/').map_or("", |(folder, _)| folder);
        // There is no link above what the walk through the folders has found.
        if !path.is_empty() && self.folders.borrow().contains_key(folder) {
            let found = entry(&place).ok_or(SkipReason::DanglingLink)?;
            if found.kind != EntryKind::Link {
                return Ok((place, Some(found)));
            }
        }
        let place = follow(&place, |place| {
            let entry = entry(place).ok_or(SkipReason::DanglingLink)?;
            match entry.kind {
                EntryKind::Tree => {
                    let mut folders = self.folders.borrow_mut();
                    folders.insert(place.to_owned(), entry.id);
                    Ok(FoundEntry::Folder)
                }
                EntryKind::Link => {
                    let target = self.link(entry.id).map(FoundEntry::Link);
                    target.ok_or(SkipReason::DanglingLink)
                }
                _ => Ok(FoundEntry::File),
            }
        })?;
        let found = entry(&place);
        Ok((place, found))
    }

    /// The target of a link; `None` if it cannot be read, is too long or is not UTF-8.
    fn link(&self, id: ObjectId) -> Option<String> {
        let header = self.repository.git.try_find_header(id).ok()??;
        if header.size() > LONGEST_LINK {
            return None;
        }
        let object = self.repository.git.find_object(id).ok()?;
        String::from_utf8(object.detach().data).ok()
    }

    /// Stores the error for [`why`](Self::why).
    fn store_error(&self, error: GitError) -> PackageError {
        let path = error.to_string();
        self.failed.borrow_mut().replace(error);
        PackageError::NotInPackage { path }
    }
}

/// Whether a name may occur in a tree. Further rules for names of folders and links matter only when they are
/// written, and are checked there.
fn is_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..") && !name.iter().any(|byte| matches!(byte, b'/' | b'\\' | 0))
}

impl FileSource for TreeSource<'_> {
    type Entry = TreeEntry;
    type Stamp = TreeFile;
    /// The path from the root, which identifies the file, and the file.
    type Target = (String, TreeFile);

    fn entries(&self, folder: &str) -> Result<Vec<Self::Entry>, PackageError> {
        let id = self.folders.borrow().get(&self.place(folder)).copied();
        let id = id.unwrap_or(self.root);
        let tree = self
            .tree(id, folder)
            .map_err(|error| self.store_error(error))?;
        let mut folders = self.folders.borrow_mut();
        let mut files = self.files.borrow_mut();
        let count = folders.len() + files.len() + tree.len();
        let paths = self.paths.get() + tree.len() * folder.len();
        self.paths.set(paths);
        if count > ENTRIES || folder.len() > LONGEST_PATH || paths > PATHS {
            return Err(self.store_error(GitError::TooLarge {
                what: "the package".to_owned(),
                limit: format!(
                    "{ENTRIES} files and folders, with paths of {LONGEST_PATH} bytes, and {} MB in all",
                    PATHS >> 20
                ),
                found: "more".to_owned(),
            }));
        }
        for entry in tree.iter() {
            let path = join(folder, entry.name.as_deref().unwrap_or_default());
            match entry.kind {
                EntryKind::Tree => folders.insert(self.place(&path), entry.id).is_some(),
                _ => files.insert(path, entry.file()).is_some(),
            };
        }
        Ok(tree.as_ref().clone())
    }

    fn name(&self, entry: &Self::Entry) -> Result<String, String> {
        entry.name.clone()
    }

    fn kind(&self, entry: &Self::Entry) -> Result<Kind, PackageError> {
        Ok(match entry.kind {
            EntryKind::Tree => Kind::Folder,
            EntryKind::Link => Kind::Link,
            EntryKind::Commit => Kind::Skipped(SkipReason::Submodule),
            EntryKind::Blob | EntryKind::BlobExecutable => Kind::File,
        })
    }

    fn stamp(&self, entry: &Self::Entry) -> Result<TreeFile, PackageError> {
        Ok(entry.file())
    }

    fn has(&self, path: &str) -> bool {
        self.follow(path).is_ok()
    }

    fn krmignore(&self, path: &str) -> Result<Option<Vec<u8>>, PackageError> {
        match self.follow(path) {
            Ok((_, Some(entry))) if !matches!(entry.kind, EntryKind::Tree | EntryKind::Commit) => {
                let bytes = self.repository.bytes(entry.id, path);
                Ok(Some(bytes.map_err(|error| self.store_error(error))?))
            }
            _ => Ok(None),
        }
    }

    fn leads_to_folder(&self, link: &str) -> bool {
        let found = self.follow(link);
        found.is_ok_and(|(_, entry)| entry.is_none_or(|entry| entry.kind == EntryKind::Tree))
    }

    fn resolve(&self, link: &str) -> Result<ResolvedLink<Self::Target>, SkipReason> {
        let (place, entry) = self.follow(link)?;
        let entry = entry.filter(|entry| entry.kind != EntryKind::Tree);
        let entry = entry.ok_or(SkipReason::LinkToFolder)?;
        if entry.kind == EntryKind::Commit {
            return Err(SkipReason::Submodule);
        }
        let inside = match self.directory {
            "" => Some(place.as_str()),
            directory => place
                .strip_prefix(directory)
                .and_then(|rest| rest.strip_prefix('/')),
        };
        Ok(ResolvedLink {
            inside: Some(inside.ok_or(SkipReason::LinkOutOfPackage)?.to_owned()),
            file: (place, entry.file()),
        })
    }
}
