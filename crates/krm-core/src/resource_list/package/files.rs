//! Queries about the files of a package, including files without resources.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::resource::Resource;
use crate::resource_list::{InputError, ItemId, ResourceList};
use krm_package::{FileContent, Package, PackageError, PackageFile, normalize_package_path};

impl ResourceList {
    /// The files of a package as they were read.
    pub fn files(&self) -> Option<&Package> {
        self.package().map(|package| &*package.read)
    }

    /// The package without some of its files; `None` if it has none of them.
    ///
    /// # Errors
    /// None that reading the package did not have.
    pub fn without_files(
        &self,
        is_left_out: impl Fn(&str) -> bool,
    ) -> Result<Option<Self>, InputError> {
        let some = |files: &&Package| files.files().any(|(path, _)| is_left_out(path));
        let Some(files) = self.files().filter(some) else {
            return Ok(None);
        };
        let files = files.clone().without(&is_left_out);
        Self::from_package_like(files, self.not_yaml().is_some(), &[self]).map(Some)
    }

    /// The items without those at some paths; `None` if there are none of these.
    pub fn without_items_at(&self, is_left_out: impl Fn(&str) -> bool) -> Option<Self> {
        let is_kept = |resource: &Resource| {
            let path = resource.origin.path.as_deref();
            !path.is_some_and(|path| is_left_out(&normalize_package_path(path)))
        };
        let kept: Vec<ItemId> = self
            .items()
            .filter(|(_, resource)| is_kept(resource))
            .map(|(id, _)| id)
            .collect();
        (kept.len() < self.items().count()).then(|| self.copies_of(&kept))
    }

    /// The package as it was read.
    ///
    /// # Errors
    /// None that reading the package did not have.
    pub fn copied(&self) -> Result<Self, InputError> {
        let files = self.files().cloned().unwrap_or_default();
        Self::from_package_like(files, self.not_yaml().is_some(), &[self])
    }

    /// The paths of all files of a package.
    pub fn file_paths(&self) -> BTreeSet<String> {
        let packages = self.package().into_iter();
        let paths = packages.flat_map(|package| package.paths().chain(package.others()));
        paths.map(str::to_owned).collect()
    }

    /// The path of the only file, if the package is a single file.
    pub fn only_file(&self) -> Option<&str> {
        self.package()?.read.only_file.as_deref()
    }

    /// The paths of the files in which resources were found.
    pub fn paths_of_resources(&self) -> BTreeSet<&str> {
        let Some(package) = self.package() else {
            return BTreeSet::new();
        };
        let numbers = self.items.iter().map(|item| item.text);
        numbers
            .map(|number| package.paths[number].as_str())
            .collect()
    }

    /// The paths of the files without resources, whatever their names.
    pub fn paths_of_others(&self) -> Vec<String> {
        let Some(package) = self.package() else {
            return Vec::new();
        };
        let of_resources = self.paths_of_resources();
        let named = package.paths().filter(|path| !of_resources.contains(path));
        named.chain(package.others()).map(str::to_owned).collect()
    }

    /// The bytes of a file of the package.
    ///
    /// # Errors
    /// An error if there is no such file, or it can no longer be read.
    pub fn read_file(&self, path: &str) -> Result<Cow<'_, [u8]>, PackageError> {
        let missing = || PackageError::NotInPackage { path: path.into() };
        let package = self.package().ok_or_else(missing)?;
        if let Some(number) = package.number(path) {
            return Ok(Cow::Borrowed(self.texts[number].text().as_bytes()));
        }
        package.read.read(path)
    }

    /// The original files in a directory, by their paths relative to it; none in a ResourceList.
    ///
    /// # Errors
    /// An error if a file can no longer be read.
    pub(crate) fn files_under(&self, directory: &str) -> Result<Package, PackageError> {
        let mut found = Package::default();
        let packages = self.package().into_iter();
        for (path, file) in packages.flat_map(|package| package.read.files()) {
            let Some(relative) = relative_to(directory, path) else {
                continue;
            };
            let content = match file.krm() {
                Some(text) => FileContent::Krm(text.clone()),
                None => FileContent::Other(self.read_file(path)?.into_owned()),
            };
            found.insert(relative, PackageFile::new(content, file.mode));
        }
        Ok(found)
    }
}

/// The path of a file in a directory, relative to the directory; `None` if the file is elsewhere.
pub(in crate::resource_list) fn relative_to<'p>(directory: &str, path: &'p str) -> Option<&'p str> {
    path.strip_prefix(directory)?.strip_prefix('/')
}
