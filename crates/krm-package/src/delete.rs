//! Deletes whole packages. [`write_package`](crate::write_package) makes changes within one.

use std::fs;
use std::path::{Path, PathBuf};

use super::{PackageError, is_git};

/// Deletes a package with everything in its directory except the packages `below` it. The Kptfile is deleted last, so
/// that a later run can still find the owner of what a killed run left. Links are not followed. Folders above the
/// package that become empty are removed too.
///
/// # Errors
/// [`PackageError::HoldsGit`]: the directory contains a `.git` somewhere; the operating system refuses an operation.
pub fn delete_package(fleet: &Path, path: &str, below: &[&str]) -> Result<(), PackageError> {
    let directory = fleet.join(path);
    refuse_repositories(&directory)?;
    let kept: Vec<PathBuf> = below.iter().map(|package| fleet.join(package)).collect();
    let kptfile = directory.join("Kptfile");
    empty_folder(&directory, &kept, &kptfile)?;
    fs::remove_file(&kptfile).map_err(PackageError::io("delete", &*kptfile))?;
    remove_empty_folders(fleet, &directory);
    Ok(())
}

/// Removes everything from a folder except the `kept` folders and the file `last`.
fn empty_folder(folder: &Path, kept: &[PathBuf], last: &Path) -> Result<(), PackageError> {
    for entry in fs::read_dir(folder).map_err(PackageError::io("read", folder))? {
        let entry = entry.map_err(PackageError::io("read", folder))?;
        let path = entry.path();
        if path == last || kept.contains(&path) {
            continue;
        }
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && kept.iter().any(|kept| kept.starts_with(&path)) {
            empty_folder(&path, kept, last)?;
            continue;
        }
        let removed = if is_folder {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        removed.map_err(PackageError::io("delete", &*path))?;
    }
    Ok(())
}

/// The error for a folder that contains a `.git` at any depth.
fn refuse_repositories(directory: &Path) -> Result<(), PackageError> {
    let mut pending = vec![directory.to_path_buf()];
    while let Some(folder) = pending.pop() {
        let failed = || PackageError::io("read", folder.as_path());
        for entry in fs::read_dir(&folder).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            if entry.file_name().to_str().is_some_and(is_git) {
                let path = folder.display().to_string();
                return Err(PackageError::HoldsGit { path });
            }
            if entry.file_type().map_err(failed())?.is_dir() {
                pending.push(entry.path());
            }
        }
    }
    Ok(())
}

/// Removes a folder and its parents below the fleet's folder, as long as they are empty.
pub fn remove_empty_folders(fleet: &Path, folder: &Path) {
    let doomed = folder.ancestors().take_while(|folder| *folder != fleet);
    for folder in doomed {
        // `remove_dir` fails for a folder that is not empty.
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}
