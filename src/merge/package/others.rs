//! The files that are not KRM, side by side.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::MergeInput;
use crate::config::UsageError;
use crate::merge::Versions;
use crate::package::is_revision_metadata;
use crate::resource_list::ResourceList;
use crate::supplied::SuppliedPackage;

/// The bytes of one file, where a version has it.
type Texts<'s> = Versions<Option<Cow<'s, [u8]>>>;

/// The files that are not KRM in original, local and upstream.
#[derive(Default)]
pub(super) struct Others<'s> {
    /// What each package has at a path.
    pub(super) files: BTreeMap<String, Texts<'s>>,
    /// Permission bits of upstream's.
    pub(super) modes: BTreeMap<String, u32>,
}

impl<'s> Others<'s> {
    /// Reads them, if all three packages are made of files; `texts` are among them whatever they hold.
    pub(super) fn read(
        original: MergeInput<'s>,
        local: &'s ResourceList,
        upstream: MergeInput<'s>,
        texts: &BTreeSet<String>,
    ) -> Result<Self, UsageError> {
        let mut others = Self::default();
        let (Some(old), Some(new)) = (original.files(), upstream.files()) else {
            return Ok(others);
        };
        if !local.is_package() {
            return Ok(others);
        }
        for path in others_of(old, texts) {
            let bytes = Some(old.read_file(path)?);
            others.files.entry(path.to_owned()).or_default().base = bytes;
        }
        for path in others_of(new, texts) {
            let bytes = Some(new.read_file(path)?);
            others.files.entry(path.to_owned()).or_default().upstream = bytes;
            if let Some(mode) = new.mode(path) {
                others.modes.insert(path.to_owned(), mode);
            }
        }
        let mut own = local.paths_of_others();
        let of_resources = local.paths_of_resources().into_iter();
        own.extend(
            of_resources
                .filter(|path| texts.contains(*path))
                .map(str::to_owned),
        );
        for path in own {
            let bytes = local.read_file(&path);
            let bytes = bytes.map_err(|error| UsageError(error.to_string()))?;
            others.files.entry(path).or_default().local = Some(bytes);
        }
        others.files.retain(|path, _| !is_revision_metadata(path));
        Ok(others)
    }

    /// The paths of the files of each package.
    pub(super) fn paths(&self) -> Versions<Vec<&str>> {
        let mut paths = Versions::<Vec<&str>>::default();
        for (path, file) in &self.files {
            paths
                .base
                .extend(file.base.is_some().then_some(path.as_str()));
            paths
                .local
                .extend(file.local.is_some().then_some(path.as_str()));
            paths
                .upstream
                .extend(file.upstream.is_some().then_some(path.as_str()));
        }
        paths
    }

    /// The paths of the files that local changed or deleted, or added.
    pub(super) fn changed_locally(&self) -> impl Iterator<Item = &str> {
        self.those(|file| file.base != file.local)
    }

    /// The paths of the files in which local and upstream differ.
    pub(super) fn differing(&self) -> impl Iterator<Item = &str> {
        self.those(|file| file.local != file.upstream)
    }

    fn those(&self, is_one: fn(&Texts<'s>) -> bool) -> impl Iterator<Item = &str> {
        let files = self.files.iter().filter(move |(_, file)| is_one(file));
        files.map(|(path, _)| path.as_str())
    }
}

/// The files of a package that hold no resources.
fn others_of<'s>(
    package: &'s SuppliedPackage,
    texts: &BTreeSet<String>,
) -> impl Iterator<Item = &'s str> {
    let paths = package.list().items();
    let paths: BTreeSet<&str> = paths
        .filter_map(|(_, resource)| resource.origin.path.as_deref())
        .filter(|path| !texts.contains(*path))
        .collect();
    let files = package.files().files().map(|(path, _)| path);
    files.filter(move |path| !paths.contains(path))
}
