//! Finds the packages in a directory that have an owner in their Kptfile.

use std::path::Path;
use std::{fs, io};

use krm_core::kptfile::Ownership;
use krm_package::{PackageError, is_git, is_temporary, recover_package};

/// A package with an owner in its Kptfile. Whether it really has that owner depends on its path, or on the target of
/// the PackageVariant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ClaimedPackage {
    /// The path from the fleet's directory: `<repository>/<package>`.
    pub(crate) path: String,
    /// The PackageVariant, `<namespace>/<name>`.
    pub(crate) owner: String,
    /// Whether the package is orphaned, rather than deleted, when its owner no longer exists.
    pub(crate) orphans: bool,
    /// The path that the Kptfile records; `None` in packages of earlier versions.
    pub(crate) downstream: Option<String>,
}

impl ClaimedPackage {
    /// The package at this path; `None` if its Kptfile does not name an owner.
    pub(crate) fn new(path: &str, ownership: Ownership) -> Option<Self> {
        Some(Self {
            path: path.to_owned(),
            owner: ownership.owner?,
            orphans: ownership.orphans,
            downstream: ownership.downstream,
        })
    }

    /// Whether the package really has the owner in its Kptfile, rather than being a copy. `targets` returns whether
    /// the PackageVariant with this name targets this path.
    pub(crate) fn has_owner(&self, targets: impl Fn(&str, &str) -> bool) -> bool {
        match &self.downstream {
            Some(downstream) => *downstream == self.path,
            None => targets(&self.owner, &self.path),
        }
    }
}

/// Finds the packages with an owner in their Kptfile, sorted by path, including packages inside others. A Kptfile
/// that is not YAML counts as having no owner.
///
/// Writes that a killed run left incomplete are completed first, unless `reads_only` is set.
///
/// # Errors
/// A folder or a Kptfile cannot be read.
pub(crate) fn claimed_packages(
    fleet: &Path,
    reads_only: bool,
) -> Result<Vec<ClaimedPackage>, PackageError> {
    let mut found = Vec::new();
    let mut pending = vec![(fleet.to_path_buf(), String::new())];
    while let Some((folder, path)) = pending.pop() {
        let failed = PackageError::io("read", folder.as_path());
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.map_err(failed)?,
        };
        let mut below = Vec::new();
        let (mut has_kptfile, mut has_temporary) = (false, false);
        for entry in entries {
            let entry = entry.map_err(PackageError::io("read", folder.as_path()))?;
            let kind = entry.file_type();
            let kind = kind.map_err(PackageError::io("read", entry.path()))?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            has_kptfile |= kind.is_file() && name == "Kptfile";
            has_temporary |= is_temporary(&name);
            if kind.is_dir() && !is_git(&name) {
                below.push((entry.path(), name));
            }
        }
        let kptfile = folder.join("Kptfile");
        // A killed run left a temporary file, or deletions that are not done.
        if (has_temporary || has_kptfile) && !reads_only {
            recover_package(&folder)?;
            has_kptfile = kptfile.is_file();
        }
        if has_kptfile {
            let bytes = fs::read(&kptfile).map_err(PackageError::io("read", kptfile))?;
            found.extend(ClaimedPackage::new(&path, Ownership::of_bytes(bytes)));
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
