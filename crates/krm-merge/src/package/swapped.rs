//! Files that are folders on the other side.
//!
//! ```text
//! original: crds        upstream: crds/a.yaml     local left it as it was: the folder is taken
//!                                                 local changed it: a conflict of `crds`, and local's file stays
//! ```
//!
//! Source: contract, merge-package, Files that are not KRM.

use std::collections::BTreeSet;

use super::report::Report;
use crate::Versions;
use krm_core::config::UsageError;
use krm_core::resource_list::ResourceList;
use krm_package::folders_above;

/// The paths that are a file on one side and a folder on the other, and that both changed.
#[derive(Debug, Default)]
pub(super) struct SwappedPaths {
    /// Each path, and whether it is local's that is the folder.
    paths: Vec<(String, bool)>,
}

impl SwappedPaths {
    /// # Errors
    /// [`UsageError`]: a file that can no longer be read.
    pub(super) fn find(
        original: &ResourceList,
        local: &ResourceList,
        upstream: &ResourceList,
    ) -> Result<Self, UsageError> {
        let lists = [original, local, upstream];
        if !lists.iter().all(|list| list.is_package()) {
            return Ok(Self::default());
        }
        let files = lists.map(ResourceList::file_paths);
        let [_, local_files, upstream_files] = &files;
        let of_upstream = swapped(upstream_files, local_files).map(|path| (path, true));
        let of_local = swapped(local_files, upstream_files).map(|path| (path, false));
        let mut paths = Vec::new();
        for (path, is_folder) in of_upstream.chain(of_local) {
            let contents = [0, 1, 2].map(|at| content(lists[at], &files[at], path));
            let [original, local, upstream] = contents;
            let (original, local, upstream) = (original?, local?, upstream?);
            if original != local && original != upstream {
                paths.push((path.to_owned(), is_folder));
            }
        }
        Ok(Self { paths })
    }

    /// Whether a path is one of them, or below one.
    pub(super) fn has(&self, path: &str) -> bool {
        let mut places = folders_above(path).chain([path]);
        !self.paths.is_empty()
            && places.any(|place| self.paths.iter().any(|(path, _)| path == place))
    }

    /// Reports the conflicts. Local's version stays, whatever a rule says: nothing is lost with it.
    pub(super) fn report(&self, report: &mut Report<'_>) {
        for (path, is_folder) in &self.paths {
            let message = if *is_folder {
                "local and upstream both changed the path, which is a folder in local and a file in upstream"
            } else {
                "local and upstream both changed the path, which is a file in local and a folder in upstream"
            };
            report.kept_file(message, path, Versions::default());
        }
    }
}

/// The files of one side that are folders of the other.
fn swapped<'f>(
    files: &'f BTreeSet<String>,
    others: &'f BTreeSet<String>,
) -> impl Iterator<Item = &'f str> {
    let new = files.difference(others);
    let is_folder = |path: &&String| {
        let folder = format!("{path}/");
        let mut below = others.range(folder.clone()..);
        below.next().is_some_and(|next| next.starts_with(&folder))
    };
    new.filter(is_folder).map(String::as_str)
}

/// What a package has at a path: a file, or the files of a folder.
fn content(
    list: &ResourceList,
    files: &BTreeSet<String>,
    path: &str,
) -> Result<Vec<(String, Vec<u8>)>, UsageError> {
    let folder = format!("{path}/");
    let below = files.range(folder.clone()..);
    let below = below.take_while(|file| file.starts_with(&folder));
    let own = files.get(path).into_iter().chain(below);
    own.map(|file| {
        let bytes = list.read_file(file).map_err(UsageError::of)?;
        Ok((file.clone(), bytes.into_owned()))
    })
    .collect()
}
