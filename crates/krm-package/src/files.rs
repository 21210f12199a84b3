//! The files of a package, wherever they are: in a directory, in a repository, in memory.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use super::PackageError;
use super::file::{Stamp, is_krm_name, read_regular};
use super::listing::Skipped;
use crate::text::Text;

/// The files of a package by path. Paths are relative to the package, with `/` between components.
///
/// [`write_package`](super::write_package) takes the package as it was read, to detect files that changed since.
#[derive(Debug, Clone, Default)]
pub struct Package {
    /// The directory as given; empty for a package that is not on disk.
    pub root: PathBuf,
    files: BTreeMap<String, PackageFile>,
    /// The file that is the whole package, if the package is one file. A Kptfile next to it may record its upstream.
    pub only_file: Option<String>,
    /// The paths that `.krmignore` excludes, sorted. A path that ends in `/` is a folder with everything in it.
    pub ignored: Vec<String>,
    /// What was not read for reasons other than `.krmignore`, and all links, sorted.
    pub skipped: Vec<Skipped>,
    /// Temporary files of other runs, both of those still running and of those that were killed.
    pub(super) temporaries: Vec<PathBuf>,
}

/// A file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageFile {
    pub(super) content: FileContent,
    /// The permission bits; `None` if the package has none, for example in memory.
    pub mode: Option<u32>,
    /// The canonical path of the file that is edited, if the path is a link to a file that is not listed itself.
    pub target: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContent {
    /// The whole content of a file that is named like KRM, including a byte order mark and CRs.
    Krm(Text),
    /// The content of any other file, and of one that is named like KRM and is not UTF-8.
    Other(Vec<u8>),
    /// Any other file, which is read from disk when it is needed.
    OnDisk(Stamp),
}

impl FileContent {
    /// The content of a file that is named like KRM.
    pub(super) fn of_krm(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Krm(Text::from(text)),
            Err(error) => Self::Other(error.into_bytes()),
        }
    }
}

impl PackageFile {
    pub fn new(content: FileContent, mode: Option<u32>) -> Self {
        Self {
            content,
            mode,
            target: None,
        }
    }

    /// A file with this content: text if it is named like KRM and is UTF-8.
    pub fn read(path: &str, bytes: Vec<u8>, mode: Option<u32>) -> Self {
        let content = if is_krm_name(path) {
            FileContent::of_krm(bytes)
        } else {
            FileContent::Other(bytes)
        };
        Self::new(content, mode)
    }

    /// As [`PackageFile::read`], from a text and without permission bits.
    pub fn of_text(path: &str, text: String) -> Self {
        let content = if is_krm_name(path) {
            FileContent::Krm(Text::from(text))
        } else {
            FileContent::Other(text.into_bytes())
        };
        Self::new(content, None)
    }

    /// The text of a file that is named like KRM; `None` for other files.
    pub fn krm(&self) -> Option<&Text> {
        match &self.content {
            FileContent::Krm(text) => Some(text),
            FileContent::Other(_) | FileContent::OnDisk(_) => None,
        }
    }
}

impl Package {
    /// Whether another package has the same files, with the same bytes.
    pub fn has_files_of(&self, other: &Self) -> bool {
        let is_same = |path: &String| match (self.read(path), other.read(path)) {
            (Ok(one), Ok(other)) => one == other,
            _ => false,
        };
        self.files.keys().eq(other.files.keys()) && self.files.keys().all(is_same)
    }

    /// A package without files, in a directory that need not exist yet.
    pub fn empty(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            ..Self::default()
        }
    }

    /// A package in memory.
    pub fn of_files(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        let mut package = Self::default();
        for (path, bytes) in files {
            let file = PackageFile::read(&path, bytes, None);
            package.insert(path, file);
        }
        package
    }

    /// A package in memory. A text that one of the others has at the same path is shared, and not copied.
    pub fn of_files_like<'f>(
        files: impl IntoIterator<Item = (&'f String, &'f Vec<u8>)>,
        others: &[&Self],
    ) -> Self {
        let mut package = Self::default();
        for (path, bytes) in files {
            let known = others.iter().find_map(|other| other.file_like(path, bytes));
            let file = known.unwrap_or_else(|| PackageFile::read(path, bytes.clone(), None));
            package.insert(path, file);
        }
        package
    }

    /// A file that is named like KRM, without permission bits, if it has these bytes. It shares the text.
    pub fn file_like(&self, path: &str, bytes: &[u8]) -> Option<PackageFile> {
        let text = self.get(path)?.krm()?;
        let is_same = text.as_bytes() == bytes;
        is_same.then(|| PackageFile::new(FileContent::Krm(text.clone()), None))
    }

    pub fn insert(&mut self, path: impl Into<String>, file: PackageFile) {
        self.files.insert(path.into(), file);
    }

    /// All files, sorted by path, bytewise.
    pub fn files(&self) -> impl Iterator<Item = (&str, &PackageFile)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// The package reduced to one of its files.
    pub fn only(self, path: &str) -> Self {
        self.without(|other| other != path)
    }

    /// The package without some of its files.
    #[must_use]
    pub fn without(mut self, is_left_out: impl Fn(&str) -> bool) -> Self {
        self.files.retain(|path, _| !is_left_out(path));
        self
    }

    /// The files that are read as KRM and are not UTF-8.
    pub fn not_utf8(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let is_read = |path: &str| is_krm_name(path) || self.only_file.as_deref() == Some(path);
        let files = self.files().filter(move |(path, _)| is_read(path));
        files.filter_map(|(path, file)| match &file.content {
            FileContent::Other(bytes) => Some((path, bytes.as_slice())),
            FileContent::Krm(_) | FileContent::OnDisk(_) => None,
        })
    }

    /// The files that are named like KRM.
    pub fn krm(&self) -> impl Iterator<Item = (&str, &Text)> {
        self.files()
            .filter_map(|(path, file)| Some((path, file.krm()?)))
    }

    /// The paths of the files that are not named like KRM.
    pub fn others(&self) -> impl Iterator<Item = &str> {
        let others = self.files().filter(|(_, file)| file.krm().is_none());
        others.map(|(path, _)| path)
    }

    /// The file at a path.
    pub fn get(&self, path: &str) -> Option<&PackageFile> {
        self.files.get(path)
    }

    /// Whether the package has no files.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether the package has a directory on disk.
    pub fn is_on_disk(&self) -> bool {
        !self.root.as_os_str().is_empty()
    }

    /// The permission bits of a file; `None` if the package has none for it.
    pub fn mode(&self, path: &str) -> Option<u32> {
        self.get(path)?.mode
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// The package has no such file; the file changed on disk after it was listed, or cannot be read.
    pub fn read(&self, path: &str) -> Result<Cow<'_, [u8]>, PackageError> {
        let missing = || PackageError::NotInPackage { path: path.into() };
        let stamp = match &self.get(path).ok_or_else(missing)?.content {
            FileContent::Krm(text) => return Ok(Cow::Borrowed(text.as_bytes())),
            FileContent::Other(bytes) => return Ok(Cow::Borrowed(bytes)),
            FileContent::OnDisk(stamp) => stamp,
        };
        let file = self.root.join(path);
        let metadata =
            fs::symlink_metadata(&file).map_err(PackageError::io("read", file.as_path()))?;
        if !metadata.is_file() || Stamp::of(&metadata) != *stamp {
            return Err(PackageError::Changed { path: path.into() });
        }
        Ok(Cow::Owned(read_regular(&file, path)?.0))
    }

    /// A package that consists of one file.
    pub fn of_one(path: impl Into<String>, file: PackageFile) -> Self {
        let path = path.into();
        Self {
            only_file: Some(path.clone()),
            files: BTreeMap::from([(path, file)]),
            ..Self::default()
        }
    }

    /// The same package. If it is one file, and `local` is the file name of a local package that is one file too, the
    /// file gets that name.
    #[must_use]
    pub fn named_as(mut self, local: Option<&str>) -> Self {
        if let (Some(name), Some(path)) = (local, &mut self.only_file)
            && let Some(file) = self.files.remove(path)
        {
            name.clone_into(path);
            self.files.insert(name.to_owned(), file);
        }
        self
    }
}

/// Files in memory: those that are named like KRM are text.
impl FromIterator<(String, String)> for Package {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(files: I) -> Self {
        let mut package = Self::default();
        for (path, text) in files {
            let file = PackageFile::of_text(&path, text);
            package.insert(path, file);
        }
        package
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_another_package_share_their_texts() {
        let files = |all: &[(&str, &str)]| -> BTreeMap<String, Vec<u8>> {
            let all = all.iter();
            all.map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
                .collect()
        };
        let other = Package::of_files(files(&[
            ("a.yaml", "a: 1\n"),
            ("b.yaml", "b: 1\n"),
            ("c", "c"),
        ]));
        let own = files(&[
            ("a.yaml", "a: 1\n"),
            ("b.yaml", "b: 2\n"),
            ("c", "c"),
            ("d.yaml", "a: 1\n"),
        ]);
        let package = Package::of_files_like(&own, &[&other]);
        let alone = Package::of_files(own);
        assert!(package.files().eq(alone.files()));
        let buffer =
            |package: &Package, path: &str| package.get(path)?.krm().map(|text| text.as_ptr());
        for (path, is_shared) in [("a.yaml", true), ("b.yaml", false)] {
            assert_eq!(
                buffer(&package, path) == buffer(&other, path),
                is_shared,
                "{path}"
            );
        }
    }
}
