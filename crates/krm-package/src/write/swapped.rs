//! Files that become folders, and folders that become files: what is in the way is deleted before anything is written.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::FileChange;
use crate::PackageError;
use crate::path::folders_above;

/// A change with its normalized path.
pub(super) type CheckedChange<'c> = (String, &'c FileChange);

/// The changes in two steps, of which the first deletes what is in the way of the second.
pub(super) struct Steps<'c> {
    pub(super) first: Vec<CheckedChange<'c>>,
    pub(super) then: Vec<CheckedChange<'c>>,
    /// The folders that become files.
    folders: Vec<String>,
}

/// The folder around a path that is in a set.
fn folder_in<'p>(set: &BTreeSet<&str>, path: &'p str) -> Option<&'p str> {
    folders_above(path).find(|folder| set.contains(*folder))
}

impl<'c> Steps<'c> {
    pub(super) fn of(changes: Vec<CheckedChange<'c>>) -> Self {
        let mut written: BTreeSet<&str> = BTreeSet::new();
        let mut deleted: BTreeSet<&str> = BTreeSet::new();
        for (path, change) in &changes {
            match change {
                FileChange::Write { .. } => written.insert(path),
                FileChange::Delete { .. } => deleted.insert(path),
            };
        }
        let files = written.iter().filter_map(|path| folder_in(&deleted, path));
        let files: BTreeSet<String> = files.map(str::to_owned).collect();
        let folders = deleted.iter().filter_map(|path| folder_in(&written, path));
        let folders: BTreeSet<String> = folders.map(str::to_owned).collect();
        let is_first = |(path, change): &CheckedChange<'_>| {
            let is_below = folders_above(path).any(|folder| folders.contains(folder));
            matches!(change, FileChange::Delete { .. }) && (files.contains(path) || is_below)
        };
        let (first, then) = changes.into_iter().partition(is_first);
        Self {
            first,
            then,
            folders: folders.into_iter().collect(),
        }
    }

    /// The changes of the second step that nothing is in the way of now.
    pub(super) fn unhindered(&self) -> Vec<CheckedChange<'c>> {
        let in_the_way: BTreeSet<&str> = self.first.iter().map(|(path, _)| path.as_str()).collect();
        let is_free = |(path, _): &&CheckedChange<'_>| {
            !self.folders.contains(path)
                && !folders_above(path).any(|folder| in_the_way.contains(folder))
        };
        self.then.iter().filter(is_free).cloned().collect()
    }

    /// Checks that a folder that becomes a file holds only what is deleted.
    pub(super) fn check_folders(&self, root: &Path) -> Result<(), PackageError> {
        let doomed: BTreeSet<_> = self.first.iter().map(|(path, _)| root.join(path)).collect();
        let mut pending: Vec<_> = self
            .folders
            .iter()
            .map(|folder| root.join(folder))
            .collect();
        while let Some(folder) = pending.pop() {
            let failed = || PackageError::io("read", folder.as_path());
            for entry in fs::read_dir(&folder).map_err(failed())? {
                let entry = entry.map_err(failed())?;
                if entry.file_type().map_err(failed())?.is_dir() {
                    pending.push(entry.path());
                } else if !doomed.contains(&entry.path()) {
                    let path = entry.path();
                    let path = path.strip_prefix(root).unwrap_or(&path);
                    return Err(PackageError::Exists {
                        path: path.to_string_lossy().into_owned(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Removes the folders that become files, once they are empty.
    pub(super) fn remove_folders(&self, root: &Path) -> Result<(), PackageError> {
        for folder in &self.folders {
            let mut all = vec![root.join(folder)];
            let mut at = 0;
            while let Some(folder) = all.get(at).cloned() {
                let failed = || PackageError::io("read", folder.as_path());
                for entry in fs::read_dir(&folder).map_err(failed())? {
                    all.push(entry.map_err(failed())?.path());
                }
                at += 1;
            }
            for folder in all.iter().rev() {
                // Fails for what is not an empty folder.
                fs::remove_dir(folder).map_err(PackageError::io("delete", folder.as_path()))?;
            }
        }
        Ok(())
    }
}
