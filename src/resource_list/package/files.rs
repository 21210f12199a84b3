//! What steps ask about the files of a package, those without resources included.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::Package;
use crate::package::PackageError;
use crate::resource_list::ResourceList;

/// A file of the package as it was read.
#[derive(Debug)]
pub(crate) struct FileUnder {
    /// Its bytes if it holds no resources; empty for others, which the list has.
    pub(crate) bytes: Vec<u8>,
    pub(crate) mode: Option<u32>,
}

impl ResourceList {
    /// The files of a package.
    pub(crate) fn file_paths(&self) -> BTreeSet<String> {
        let packages = self.package().into_iter();
        let paths = packages.flat_map(|package| package.paths().chain(package.others.paths()));
        paths.map(str::to_owned).collect()
    }

    /// The files in which resources were read.
    #[must_use]
    pub(crate) fn paths_of_resources(&self) -> BTreeSet<&str> {
        let Some(package) = self.package() else {
            return BTreeSet::new();
        };
        let numbers = self.items.iter().map(|item| item.text);
        numbers
            .map(|number| package.paths[number].as_str())
            .collect()
    }

    /// The files of a package that hold no resources, whatever their names.
    #[must_use]
    pub(crate) fn paths_of_others(&self) -> Vec<String> {
        let Some(package) = self.package() else {
            return Vec::new();
        };
        let of_resources = self.paths_of_resources();
        let named = package.paths().filter(|path| !of_resources.contains(path));
        named
            .chain(package.others.paths())
            .map(str::to_owned)
            .collect()
    }

    /// The bytes of a file of the package.
    ///
    /// # Errors
    /// There is none, or it cannot be read any more.
    pub(crate) fn read_file(&self, path: &str) -> Result<Cow<'_, [u8]>, PackageError> {
        let missing = || PackageError::NotInPackage { path: path.into() };
        let package = self.package().ok_or_else(missing)?;
        if let Some(number) = package.number(path) {
            return Ok(Cow::Borrowed(self.texts[number].text().as_bytes()));
        }
        match package.others.held.get(path) {
            Some(bytes) => Ok(Cow::Borrowed(bytes)),
            None => package.others.on_disk.read_other(path).map(Cow::Owned),
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
        let Some(Package { others, .. }) = self.package() else {
            return Ok(files);
        };
        for path in self.paths_of_resources() {
            if let Some(relative) = relative_to(directory, path) {
                let bytes = Vec::new();
                let mode = others.modes.get(path).copied();
                files.insert(relative.to_owned(), FileUnder { bytes, mode });
            }
        }
        for path in self.paths_of_others() {
            if let Some(relative) = relative_to(directory, &path) {
                let bytes = self.read_file(&path)?.into_owned();
                let mode = others.modes.get(&path).copied();
                let mode = mode.or_else(|| others.on_disk.mode_of_other(&path));
                files.insert(relative.to_owned(), FileUnder { bytes, mode });
            }
        }
        Ok(files)
    }

    /// The texts of files under a directory that are named like KRM, by their paths relative to it.
    pub(crate) fn krm_texts_under(&self, directory: &str) -> BTreeMap<String, String> {
        let packages = self.package().into_iter();
        let files = packages.flat_map(|package| package.paths().zip(&self.texts));
        let below = files.filter_map(|(path, text)| Some((relative_to(directory, path)?, text)));
        let owned = below.map(|(path, text)| (path.to_owned(), text.text().to_owned()));
        owned.collect()
    }
}

/// The path of a file in a directory, relative to the directory.
pub(in crate::resource_list) fn relative_to<'p>(directory: &str, path: &'p str) -> Option<&'p str> {
    path.strip_prefix(directory)?.strip_prefix('/')
}
