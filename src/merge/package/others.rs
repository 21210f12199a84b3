//! The files that are not KRM, side by side.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::Source;
use crate::config::UsageError;
use crate::resource_list::ResourceList;

/// The files that are not KRM in original, local and upstream.
#[derive(Default)]
pub(super) struct Others<'s> {
    /// What original, local and upstream have at each path.
    pub(super) files: BTreeMap<String, [Option<Cow<'s, [u8]>>; 3]>,
    /// Permission bits of upstream's.
    pub(super) modes: BTreeMap<String, u32>,
}

impl<'s> Others<'s> {
    /// Reads them, if all three packages are made of files.
    pub(super) fn read(
        original: Source<'s>,
        local: &'s ResourceList,
        upstream: Source<'s>,
    ) -> Result<Self, UsageError> {
        let mut others = Self::default();
        let (Some(old), Some(new)) = (original.files(), upstream.files()) else {
            return Ok(others);
        };
        if !local.is_package() {
            return Ok(others);
        }
        for (side, package) in [(0, old), (2, new)] {
            let of_resources = package.list().items();
            let of_resources: BTreeSet<&str> = of_resources
                .filter_map(|(_, resource)| resource.origin.path.as_deref())
                .collect();
            for file in package.files() {
                if of_resources.contains(file.path.as_str()) {
                    continue;
                }
                let bytes = package.read_file(&file.path)?;
                others.files.entry(file.path.clone()).or_default()[side] = Some(bytes);
                if let Some(mode) = file.mode.filter(|_| side == 2) {
                    others.modes.insert(file.path.clone(), mode);
                }
            }
        }
        for path in local.paths_of_others() {
            let bytes = local.read_file(&path);
            let bytes = bytes.map_err(|error| UsageError(error.to_string()))?;
            others.files.entry(path).or_default()[1] = Some(bytes);
        }
        Ok(others)
    }

    /// The paths of those that one of original, local and upstream has.
    pub(super) fn paths(&self, side: usize) -> impl Iterator<Item = &str> {
        let files = self.files.iter();
        files.filter_map(move |(path, v)| v[side].is_some().then_some(path.as_str()))
    }

    /// The paths of those in which two of original, local and upstream differ.
    pub(super) fn differing(&self, [a, b]: [usize; 2]) -> impl Iterator<Item = &str> {
        let files = self.files.iter();
        files.filter_map(move |(path, v)| (v[a] != v[b]).then_some(path.as_str()))
    }
}
