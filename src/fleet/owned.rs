//! The packages under a directory that a PackageVariant owns.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memchr::memmem;

use crate::kptfile::{OWNER_ANNOTATION, Ownership};
use crate::package::{PackageError, is_git, is_temporary, remove_folders_left_behind};
use crate::yaml::OwnedDocument;

/// A package with an owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnedPackage {
    /// From the fleet's directory: `<repository>/<package>`.
    pub(crate) path: String,
    /// The PackageVariant, `<namespace>/<name>`.
    pub(crate) owner: String,
    /// Whether the package stays without its owner.
    pub(crate) orphans: bool,
}

/// Finds the packages with an owner, sorted by path. What lies inside of one is part of it. A Kptfile
/// that is not YAML has no owner: nobody's package is never deleted.
///
/// Folders that a killed run left behind are removed, unless `reads_only`.
///
/// # Errors
/// A folder or a Kptfile cannot be read.
pub(crate) fn owned_packages(
    fleet: &Path,
    reads_only: bool,
) -> Result<Vec<OwnedPackage>, PackageError> {
    let mut found = Vec::new();
    let mut pending = vec![(fleet.to_path_buf(), String::new())];
    while let Some((folder, path)) = pending.pop() {
        let failed = PackageError::io("read", folder.as_path());
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.map_err(failed)?,
        };
        let mut below = Vec::new();
        let mut left_behind = Vec::new();
        let mut has_kptfile = false;
        for entry in entries {
            let entry = entry.map_err(PackageError::io("read", folder.as_path()))?;
            let kind = entry.file_type();
            let kind = kind.map_err(PackageError::io("read", entry.path()))?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if kind.is_dir() && !is_git(&name) {
                if is_temporary(&name) {
                    left_behind.push(entry.path());
                    continue;
                }
                below.push((entry.path(), name));
            }
            has_kptfile |= kind.is_file() && entry.file_name() == "Kptfile";
        }
        if !reads_only {
            remove_folders_left_behind(left_behind.iter().map(PathBuf::as_path));
        }
        if has_kptfile {
            let kptfile = folder.join("Kptfile");
            let bytes = fs::read(&kptfile).map_err(PackageError::io("read", kptfile))?;
            if let Some(package) = owned_package(bytes, &path) {
                found.push(package);
                continue;
            }
        }
        pending.extend(below.into_iter().map(|(folder, name)| {
            let path = if path.is_empty() {
                name
            } else {
                format!("{path}/{name}")
            };
            (folder, path)
        }));
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// The package with these bytes as its Kptfile, if it has an owner.
fn owned_package(kptfile: Vec<u8>, path: &str) -> Option<OwnedPackage> {
    memmem::find(&kptfile, OWNER_ANNOTATION.as_bytes())?;
    let document = OwnedDocument::parse(String::from_utf8(kptfile).ok()?).ok()?;
    let Ownership { owner, orphans, .. } = Ownership::read(document.root()?);
    Some(OwnedPackage {
        path: path.to_owned(),
        owner: owner?,
        orphans,
    })
}
