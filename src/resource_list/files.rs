//! The files of a package that hold no resources: a merge follows them too.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{InputError, Layout, ResourceList};
use crate::package::{
    FileChange, FileContent, PackageError, PackageFile, PackageFiles, is_krm_name, text_of,
};

/// The files that are not named like KRM.
#[derive(Debug)]
pub(super) struct OtherFiles {
    /// Those on disk, not read yet.
    on_disk: PackageFiles,
    /// Those that came in memory.
    held: BTreeMap<String, Vec<u8>>,
    /// Permission bits of the files that are named like KRM, where they are not the usual ones.
    modes: BTreeMap<String, u32>,
}

/// A file of the package as it was read.
#[derive(Debug)]
pub(crate) struct FileUnder {
    /// Its bytes if it holds no resources; empty for others, which the list has.
    pub(crate) bytes: Vec<u8>,
    pub(crate) mode: Option<u32>,
}

/// Permission bits of a file that nobody changed.
const USUAL_MODE: u32 = 0o644;

impl OtherFiles {
    pub(super) fn of(files: &PackageFiles) -> Self {
        Self {
            on_disk: files.without_krm(),
            held: BTreeMap::new(),
            modes: files
                .files
                .iter()
                .filter(|file| file.content.mode != USUAL_MODE)
                .map(|file| (file.path.clone(), file.content.mode))
                .collect(),
        }
    }

    pub(super) fn has(&self, path: &str) -> bool {
        let found = self
            .on_disk
            .others
            .binary_search_by(|other| other.as_str().cmp(path));
        found.is_ok() || self.held.contains_key(path)
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        let on_disk = self.on_disk.others.iter();
        on_disk.chain(self.held.keys()).map(String::as_str)
    }
}

impl ResourceList {
    /// Reads a package whose files came as texts.
    ///
    /// # Errors
    /// [`InputError::Yaml`] for a file that does not parse.
    pub(crate) fn from_texts(
        files: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, InputError> {
        let files = files.into_iter();
        Self::from_memory(files.map(|(path, text)| (path, text.into_bytes())))
    }

    /// Reads a package whose files are in memory.
    ///
    /// # Errors
    /// [`InputError`]: a file that is named like KRM is not UTF-8 or does not parse.
    pub fn from_memory(
        files: impl IntoIterator<Item = (String, Vec<u8>)>,
    ) -> Result<Self, InputError> {
        let mut package = PackageFiles::empty("");
        let mut held = BTreeMap::new();
        for (path, bytes) in files {
            if is_krm_name(path.rsplit('/').next().unwrap_or_default()) {
                let text = text_of(&path, bytes).map_err(|error| InputError::Shape {
                    place: path.clone(),
                    message: error.to_string(),
                })?;
                let content = FileContent {
                    text,
                    mode: 0o644,
                    target: None,
                };
                package.files.push(PackageFile { path, content });
            } else {
                held.insert(path, bytes);
            }
        }
        package.files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut list = Self::from_files(&package)?;
        if let Layout::Files { others, .. } = &mut list.layout {
            others.held = held;
        }
        Ok(list)
    }

    /// The paths of the files in which resources were read.
    #[must_use]
    pub(crate) fn paths_of_resources(&self) -> BTreeSet<&str> {
        let Layout::Files { paths, .. } = &self.layout else {
            return BTreeSet::new();
        };
        let chunks = self.items.iter().map(|item| item.chunk);
        chunks.map(|chunk| paths[chunk].as_str()).collect()
    }

    /// The files of a package that are not KRM, be they named so or not.
    #[must_use]
    pub(crate) fn paths_of_others(&self) -> Vec<String> {
        let Layout::Files { paths, others, .. } = &self.layout else {
            return Vec::new();
        };
        let of_resources = self.paths_of_resources();
        let named = paths.iter().map(String::as_str);
        let named = named.filter(|path| !of_resources.contains(path));
        named.chain(others.paths()).map(str::to_owned).collect()
    }

    /// The bytes of a file of the package.
    ///
    /// # Errors
    /// There is none, or it cannot be read any more.
    pub(crate) fn read_file(&self, path: &str) -> Result<Cow<'_, [u8]>, PackageError> {
        let missing = || PackageError::NotInPackage { path: path.into() };
        let Layout::Files { paths, others, .. } = &self.layout else {
            return Err(missing());
        };
        if let Ok(chunk) = paths.binary_search_by(|other| other.as_str().cmp(path)) {
            return Ok(Cow::Borrowed(self.chunks[chunk].text().as_bytes()));
        }
        match others.held.get(path) {
            Some(bytes) => Ok(Cow::Borrowed(bytes)),
            None => others.on_disk.read_other(path).map(Cow::Owned),
        }
    }

    /// The files under a directory, by their paths relative to it; none in a ResourceList.
    ///
    /// # Errors
    /// One cannot be read any more.
    pub(crate) fn files_under(
        &self,
        directory: &str,
    ) -> Result<BTreeMap<String, FileUnder>, PackageError> {
        let mut files = BTreeMap::new();
        let Layout::Files { others, .. } = &self.layout else {
            return Ok(files);
        };
        let below = |path: &str| {
            let path = path.strip_prefix(directory)?.strip_prefix('/')?;
            Some(path.to_owned())
        };
        for path in self.paths_of_resources() {
            if let Some(relative) = below(path) {
                let bytes = Vec::new();
                let mode = others.modes.get(path).copied();
                files.insert(relative, FileUnder { bytes, mode });
            }
        }
        for path in self.paths_of_others() {
            if let Some(relative) = below(&path) {
                let bytes = self.read_file(&path)?.into_owned();
                let mode = others.modes.get(&path).copied();
                let mode = mode.or_else(|| others.on_disk.mode_of_other(&path));
                files.insert(relative, FileUnder { bytes, mode });
            }
        }
        Ok(files)
    }

    /// The texts under a directory of a package that are named like KRM, by their paths relative to
    /// it.
    ///
    /// # Errors
    /// One cannot be read any more.
    pub(crate) fn krm_texts_under(
        &self,
        directory: &str,
    ) -> Result<BTreeMap<String, String>, PackageError> {
        let Layout::Files { paths, .. } = &self.layout else {
            return Ok(BTreeMap::new());
        };
        let mut texts = BTreeMap::new();
        for path in paths {
            let below = path.strip_prefix(directory);
            if let Some(name) = below.and_then(|path| path.strip_prefix('/')) {
                let text = String::from_utf8_lossy(&self.read_file(path)?).into_owned();
                texts.insert(name.to_owned(), text);
            }
        }
        Ok(texts)
    }

    /// The numbers of the texts that hold resources, by path, in a loose list.
    pub(crate) fn numbers_of_texts(&self) -> BTreeMap<&str, usize> {
        let items = self.items.iter();
        let numbers =
            items.filter_map(|item| Some((item.resource.origin.path.as_deref()?, item.chunk)));
        numbers.collect()
    }

    /// Deletes a file that is not KRM.
    pub(crate) fn delete_file(&mut self, path: &str) {
        if let Layout::Files { paths, copied, .. } = &mut self.layout {
            match paths.binary_search_by(|other| other.as_str().cmp(path)) {
                // New resources may come into it.
                Ok(chunk) => self.chunks[chunk].rewrite(String::new()),
                Err(_) => copied.push(FileChange::delete(path)),
            }
        }
    }
}
