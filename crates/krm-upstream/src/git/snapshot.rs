//! Reads a directory of a repository at a commit.

use gix::ObjectId;

use super::error::near;
use super::tree_source::{NamedFile, TreeFile, TreeSource};
use super::{GitError, Repository, Revision};
use crate::is_only_file;
use krm_package::{
    FileContent, LARGEST_FILE, LARGEST_PACKAGE, Package, PackageFile, SkipReason, Skipped,
    USUAL_MODE, file_name, is_krm_name, join, list_clonable,
};

/// The most folders that are searched. A few bytes can describe any number of folders, because trees can contain the
/// same tree many times.
const MOST_FOLDERS: usize = 1_000_000;
/// The beginning of a pointer file, which Git LFS stores in place of the real file.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";
/// The most bytes that a pointer file has.
const LONGEST_POINTER: usize = 1024;

/// A package at a commit.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The commit that was read.
    pub revision: Revision,
    /// The address of the clone's origin.
    pub address: String,
    pub package: Package,
}

fn is_lfs_pointer(bytes: &[u8]) -> bool {
    bytes.len() <= LONGEST_POINTER && bytes.starts_with(LFS_POINTER)
}

impl Repository {
    /// Reads a directory, or a file that is named like KRM, at a commit by the rules of
    /// [`read_package`](krm_package::read_package). Submodules and Git LFS pointers are skipped.
    ///
    /// # Errors
    /// [`GitError`]: no such directory; an object that is missing, damaged or too large.
    pub fn read(&self, directory: &str, revision: Revision) -> Result<Snapshot, GitError> {
        let root = self.root_of(&revision.commit)?;
        let source = TreeSource::new(self, root, directory)?;
        if source.is_none()
            && let Some((name, id)) = self.file_of(directory, &revision.commit)?
        {
            return self.read_file(&name, id, revision);
        }
        let source = source.ok_or_else(|| self.no_directory(root, directory, &revision.given))?;
        let listed = source.files()?;
        let mut package = self.package(listed.files, listed.skipped, PackageFile::read)?;
        package.ignored = listed.ignored;
        Ok(Snapshot {
            revision,
            address: self.address(),
            package,
        })
    }

    /// Reads these files into a package. Git LFS pointers are skipped as well.
    fn package(
        &self,
        files: impl IntoIterator<Item = NamedFile>,
        skipped: Vec<Skipped>,
        make: impl Fn(&str, Vec<u8>, Option<u32>) -> PackageFile,
    ) -> Result<Package, GitError> {
        let mut left = LARGEST_PACKAGE;
        let mut package = Package::default();
        package.skipped = skipped;
        for (path, TreeFile { id, mode }) in files {
            let bytes = self.bytes_within(id, &path, &mut left)?;
            if is_lfs_pointer(&bytes) {
                let reason = SkipReason::LfsPointer;
                package.skipped.push(Skipped { path, reason });
            } else {
                let file = make(&path, bytes, Some(mode));
                package.insert(path, file);
            }
        }
        package.skipped.sort();
        Ok(package)
    }

    /// The files that a clone of a directory at a commit contains in addition to those that are read.
    ///
    /// # Errors
    /// [`GitError`]: as [`read`](Self::read).
    pub(crate) fn clone_only_files(
        &self,
        directory: &str,
        commit: &str,
        is_read: impl Fn(&str) -> bool,
    ) -> Result<Package, GitError> {
        let root = self.root_of(commit)?;
        let source = TreeSource::new(self, root, directory)?;
        let source = source.ok_or_else(|| self.no_directory(root, directory, commit))?;
        let listed = list_clonable(&source).map_err(|error| source.listing_error(error))?;
        let files = listed.others.into_iter();
        let unread = files.filter(|(path, _)| !is_read(path));
        self.package(unread, listed.skipped, |_, bytes, mode| {
            PackageFile::new(FileContent::Other(bytes), mode)
        })
    }

    fn read_file(
        &self,
        name: &str,
        id: ObjectId,
        revision: Revision,
    ) -> Result<Snapshot, GitError> {
        let file = PackageFile::read(name, self.bytes(id, name)?, Some(USUAL_MODE));
        Ok(Snapshot {
            revision,
            address: self.address(),
            package: Package::of_one(name, file),
        })
    }

    /// The name and id of a file at a commit, if it is named like a KRM file; `None` if there is none.
    ///
    /// # Errors
    /// [`GitError`]: an object that is missing or damaged.
    pub(super) fn file_of(
        &self,
        path: &str,
        commit: &str,
    ) -> Result<Option<(String, ObjectId)>, GitError> {
        let name = file_name(path);
        if !is_krm_name(name) {
            return Ok(None);
        }
        let blob = self.blob_of(self.root_of(commit)?, path)?;
        Ok(blob.map(|id| (name.to_owned(), id)))
    }

    /// The id of a file's content in a tree; `None` if there is no such file.
    fn blob_of(&self, root: ObjectId, path: &str) -> Result<Option<ObjectId>, GitError> {
        let unreadable = |error: gix::Error| self.unreadable(format!("the file `{path}`"), &error);
        let tree = self.git.find_tree(root).map_err(unreadable)?;
        let entry = tree.lookup_entry(path.split('/')).map_err(unreadable)?;
        let blob = entry.filter(|entry| entry.mode().is_blob());
        Ok(blob.map(|blob| blob.object_id()))
    }

    /// The id of a directory's tree or of a file's content at a commit; `None` if it does not exist.
    ///
    /// # Errors
    /// [`GitError`]: an object that is missing or damaged.
    pub fn content_of(&self, path: &str, commit: &str) -> Result<Option<String>, GitError> {
        let tree = self.tree_of(path, commit)?;
        if tree.is_some() {
            return Ok(tree);
        }
        let file = self.file_of(path, commit)?;
        Ok(file.map(|(_, id)| id.to_string()))
    }

    /// The id of a directory's tree or of a file's content at a commit, whatever the file is named; `None` if it does not
    /// exist.
    ///
    /// # Errors
    /// [`GitError`]: an object that is missing or damaged.
    pub fn id_of_path(&self, path: &str, commit: &str) -> Result<Option<String>, GitError> {
        let tree = self.tree_of(path, commit)?;
        if tree.is_some() {
            return Ok(tree);
        }
        let blob = self.blob_of(self.root_of(commit)?, path)?;
        Ok(blob.map(|id| id.to_string()))
    }

    /// The id of a directory's tree at a commit; `None` if it does not exist.
    ///
    /// # Errors
    /// [`GitError`]: an object that is missing or damaged.
    pub fn tree_of(&self, directory: &str, commit: &str) -> Result<Option<String>, GitError> {
        let root = self.root_of(commit)?;
        let source = TreeSource::new(self, root, directory)?;
        Ok(source.map(|source| source.id().to_string()))
    }

    /// The content of a file at a commit; `None` if it does not exist.
    ///
    /// # Errors
    /// [`GitError`]: an object that is missing, damaged or too large.
    pub fn file_at(&self, commit: &str, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        let blob = self.blob_of(self.root_of(commit)?, path)?;
        blob.map(|id| self.bytes(id, path)).transpose()
    }

    /// The folders of a directory that contain a file of this name, as paths from the directory; none if the
    /// directory does not exist.
    ///
    /// # Errors
    /// [`GitError`]: an object that is missing or damaged; more folders than one run reads.
    pub fn folders_with(
        &self,
        file: &str,
        directory: &str,
        commit: &str,
    ) -> Result<Vec<String>, GitError> {
        let Some(root) = TreeSource::new(self, self.root_of(commit)?, directory)? else {
            return Ok(Vec::new());
        };
        let (mut found, mut folders) = (Vec::new(), 0);
        let mut pending = vec![(String::new(), root.id())];
        while let Some((folder, id)) = pending.pop() {
            folders += 1;
            if folders > MOST_FOLDERS {
                return Err(GitError::TooLarge {
                    what: format!("the tree of `{commit}`"),
                    limit: format!("{MOST_FOLDERS} folders"),
                    found: "more".to_owned(),
                });
            }
            let what = || format!("the folder `{folder}`");
            let tree = self.tree(id, what)?;
            let tree = tree.decode();
            for entry in tree
                .map_err(|error| self.unreadable(what(), &error))?
                .entries
            {
                let Ok(name) = std::str::from_utf8(entry.filename) else {
                    continue;
                };
                if entry.mode.is_tree() {
                    pending.push((join(&folder, name), entry.oid.to_owned()));
                } else if entry.mode.is_blob() && name == file {
                    found.push(folder.clone());
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// The names in a folder at a commit; none if the folder does not exist.
    ///
    /// # Errors
    /// [`GitError`]: an object that is missing or damaged.
    pub fn names_in(&self, folder: &str, commit: &str) -> Result<Vec<String>, GitError> {
        let Some(source) = TreeSource::new(self, self.root_of(commit)?, folder)? else {
            return Ok(Vec::new());
        };
        let what = || format!("the folder `{folder}`");
        let tree = self.tree(source.id(), what)?;
        let tree = tree.decode();
        let tree = tree.map_err(|error| self.unreadable(what(), &error))?;
        let names = tree.entries.iter();
        let names = names.filter_map(|entry| std::str::from_utf8(entry.filename).ok());
        Ok(names.map(str::to_owned).collect())
    }

    /// The id of a commit's tree.
    pub(super) fn root_of(&self, commit: &str) -> Result<ObjectId, GitError> {
        let what = || format!("the commit `{commit}`");
        let commit = self.object(self.id_of(commit)?, what)?.try_into_commit();
        let commit = commit.map_err(|error| self.unreadable(what(), &error))?;
        let tree = commit.tree_id();
        let tree = tree.map_err(|error| self.unreadable(what(), &error))?;
        Ok(tree.detach())
    }

    fn no_directory(&self, root: ObjectId, directory: &str, revision: &str) -> GitError {
        if let Ok(Some(_)) = self.blob_of(root, directory) {
            return GitError::NotADirectory {
                path: self.path.clone(),
                file: directory.to_owned(),
                revision: revision.to_owned(),
            };
        }
        let paths = TreeSource::paths_below(self, root, is_only_file(directory));
        GitError::DirectoryNotFound {
            path: self.path.clone(),
            directory: directory.to_owned(),
            revision: revision.to_owned(),
            near: near(directory, paths.iter().map(String::as_str)),
        }
    }

    pub(super) fn tree(
        &self,
        id: ObjectId,
        what: impl Fn() -> String,
    ) -> Result<gix::Tree<'_>, GitError> {
        let tree = self.object(id, &what)?.try_into_tree();
        tree.map_err(|error| self.unreadable(what(), &error))
    }

    pub(super) fn object(
        &self,
        id: ObjectId,
        what: impl Fn() -> String,
    ) -> Result<gix::Object<'_>, GitError> {
        let found = self.git.try_find_object(id);
        let found = found.map_err(|error| self.unreadable(what(), &error))?;
        found.ok_or_else(|| self.missing(what(), id))
    }

    /// The content of a file of at most [`LARGEST_FILE`] bytes.
    pub(super) fn bytes(&self, id: ObjectId, path: &str) -> Result<Vec<u8>, GitError> {
        self.bytes_within(id, path, &mut LARGEST_FILE.clone())
    }

    /// The content of a file. Its size is checked first, against the limit of a file and against `left`, the rest of
    /// the limit of the package.
    fn bytes_within(&self, id: ObjectId, path: &str, left: &mut u64) -> Result<Vec<u8>, GitError> {
        let what = || format!("the file `{path}`");
        let header = self.git.try_find_header(id);
        let header = header.map_err(|error| self.unreadable(what(), &error))?;
        let header = header.ok_or_else(|| self.missing(what(), id))?;
        let size = header.size();
        let megabytes = |bytes: u64| format!("{} MB", bytes >> 20);
        if size > LARGEST_FILE || size > *left {
            let (what, limit, found) = if size > LARGEST_FILE {
                (what(), LARGEST_FILE, megabytes(size))
            } else {
                ("the package".to_owned(), LARGEST_PACKAGE, "more".to_owned())
            };
            let limit = megabytes(limit);
            return Err(GitError::TooLarge { what, limit, found });
        }
        *left -= size;
        let object = self.object(id, what)?;
        if object.kind != gix::objs::Kind::Blob {
            let message = format!("expected a blob, found a {}", object.kind);
            return Err(self.cannot_read(what(), message));
        }
        let mut bytes = object.detach().data;
        // The buffer has room for what the content was made from.
        bytes.shrink_to_fit();
        Ok(bytes)
    }
}
