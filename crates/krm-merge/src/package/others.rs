//! The files that are not KRM, in all three packages.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::packages::Packages;
use crate::Versions;
use krm_core::config::UsageError;
use krm_core::resource_list::ResourceList;
use krm_package::{Package, is_revision_metadata};

/// The bytes of one file. `None` for a version that does not have it.
pub(super) type FileVersions<'s> = Versions<Option<Cow<'s, [u8]>>>;

/// The files that are not KRM in original, local and upstream.
#[derive(Default)]
pub(super) struct Others<'s> {
    /// What each package has at a path.
    pub(super) files: BTreeMap<String, FileVersions<'s>>,
    /// The files of upstream, with their permission bits.
    pub(super) upstream: Option<&'s Package>,
}

impl<'s> Others<'s> {
    /// Reads the files, if all three packages are made of files.
    pub(super) fn read(packages: &Packages<'s, 's>) -> Result<Self, UsageError> {
        let (local, upstream) = (packages.local.list, packages.upstream.list);
        let mut others = Self {
            upstream: upstream.files(),
            ..Self::default()
        };
        if !packages.are_files() {
            return Ok(others);
        }
        others.add(packages.original, packages.texts, |file| &mut file.base)?;
        others.add(local, packages.texts, |file| &mut file.local)?;
        others.add(upstream, packages.texts, |file| &mut file.upstream)?;
        others.files.retain(|path, _| !is_revision_metadata(path));
        Ok(others)
    }

    /// Adds the files of one version that contain no resources, and the files `texts`, whatever they contain.
    fn add(
        &mut self,
        package: &'s ResourceList,
        texts: &BTreeSet<String>,
        version: for<'f> fn(&'f mut FileVersions<'s>) -> &'f mut Option<Cow<'s, [u8]>>,
    ) -> Result<(), UsageError> {
        let mut paths = package.paths_of_others();
        let of_resources = package.paths_of_resources().into_iter();
        let of_resources = of_resources.filter(|path| texts.contains(*path));
        paths.extend(of_resources.map(str::to_owned));
        for path in paths {
            let bytes = package.read_file(&path);
            let bytes = bytes.map_err(UsageError::of)?;
            *version(self.files.entry(path).or_default()) = Some(bytes);
        }
        Ok(())
    }

    /// The paths of the files of each package.
    pub(super) fn paths(&self) -> Versions<Vec<&str>> {
        Versions {
            base: self.those(|file| file.base.is_some()).collect(),
            local: self.those(|file| file.local.is_some()).collect(),
            upstream: self.those(|file| file.upstream.is_some()).collect(),
        }
    }

    /// The paths of the files that local changed or deleted, or added.
    pub(super) fn changed_locally(&self) -> impl Iterator<Item = &str> {
        self.those(|file| file.base != file.local)
    }

    /// The paths of the files in which local and upstream differ.
    pub(super) fn differing(&self) -> impl Iterator<Item = &str> {
        self.those(|file| file.local != file.upstream)
    }

    fn those(&self, is_one: fn(&FileVersions<'s>) -> bool) -> impl Iterator<Item = &str> {
        let files = self.files.iter().filter(move |(_, file)| is_one(file));
        files.map(|(path, _)| path.as_str())
    }
}
