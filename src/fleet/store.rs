//! Creates and deletes whole packages. Changes within one are [`write_package`](crate::package::write_package)'s.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::package::{
    FileChange, PackageError, USUAL_MODE, check_package_path, is_git, make_folder_in,
};

/// Creates a package in a directory that is empty: all of its files appear at once.
///
/// # Errors
/// A path leaves the package; the operating system refuses. Nothing is left behind then.
pub(crate) fn create_package(directory: &Path, files: &[FileChange]) -> Result<(), PackageError> {
    let parent = directory.parent().unwrap_or(directory);
    let folder = make_folder_in(parent).map_err(PackageError::io("write to", parent))?;
    let allowed = allowed_mode(folder.path()).map_err(PackageError::io("read", folder.path()))?;
    for file in files {
        let FileChange::Write { path, bytes, mode } = file else {
            continue;
        };
        check_package_path(path)?;
        let file = folder.path().join(path);
        write_new(&file, bytes, mode.unwrap_or(USUAL_MODE & allowed), allowed)
            .map_err(PackageError::io("write", file.as_path()))?;
    }
    fs::rename(folder.path(), directory).map_err(PackageError::io("create", directory))?;
    // It has another name now.
    let _ = folder.keep();
    Ok(())
}

/// The permission bits that the system does not take from a new file, as a new folder shows.
#[cfg(unix)]
fn allowed_mode(new_folder: &Path) -> io::Result<u32> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::metadata(new_folder)?.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn allowed_mode(_: &Path) -> io::Result<u32> {
    Ok(0o777)
}

/// Writes a new file with these permission bits.
fn write_new(file: &Path, bytes: &[u8], mode: u32, allowed: u32) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    let mut open = match options.open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            file.parent().map_or(Ok(()), fs::create_dir_all)?;
            options.open(file)?
        }
        open => open?,
    };
    open.write_all(bytes)?;
    #[cfg(unix)]
    if mode & allowed != mode {
        open.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    }
    #[cfg(not(unix))]
    let _ = (mode, allowed);
    Ok(())
}

/// Deletes a package with everything in its directory but the packages `below` it. Its Kptfile goes last, so that a later run finds
/// the owner of what a killed one left. Links are not followed; a package with a `.git` anywhere in it stays.
/// Folders above it that become empty go too.
///
/// # Errors
/// There is a `.git` in it; the operating system refuses.
pub(crate) fn delete_package(fleet: &Path, path: &str, below: &[&str]) -> Result<(), PackageError> {
    let directory = fleet.join(path);
    refuse_repositories(&directory)?;
    let kept: Vec<PathBuf> = below.iter().map(|package| fleet.join(package)).collect();
    let kptfile = directory.join("Kptfile");
    empty_folder(&directory, &kept, &kptfile)?;
    fs::remove_file(&kptfile).map_err(PackageError::io("delete", &*kptfile))?;
    remove_empty_folders(fleet, &directory);
    Ok(())
}

/// Removes everything from a folder but the `kept` folders and the file `last`.
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

/// The error for a folder with a `.git` in it, or in one below.
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

/// Removes a folder and those above it, up to the fleet's, as far as they are empty.
pub(crate) fn remove_empty_folders(fleet: &Path, folder: &Path) {
    let doomed = folder.ancestors().take_while(|folder| *folder != fleet);
    for folder in doomed {
        // A folder that is not empty stays.
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}
