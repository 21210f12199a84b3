//! A catalog that is a directory: `<package>/<revision>/`.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::join;
use crate::config::UsageError;
use crate::latest::latest;
use crate::package::{Package, check_package_path};
use crate::supplied::SuppliedPackage;
use crate::variant::revision_request::{Lookup, RevisionRequest, spellings};

/// The name of a requested revision.
pub(super) fn revision_in(
    catalog: &Path,
    package: &str,
    request: &RevisionRequest,
) -> Result<String, String> {
    let revisions = revisions(catalog, package)?;
    let is_there = |name: &&str| revisions.iter().any(|other| other == name);
    let found = match request.lookup() {
        Lookup::Latest => latest(revisions.iter(), |name| name).map(String::as_str),
        Lookup::Named(revision) => spellings(revision).find(is_there),
        Lookup::Workspace(workspace) => Some(workspace).filter(is_there),
    };
    if let Some(found) = found {
        return Ok(found.to_owned());
    }
    let names: Vec<String> = revisions.iter().map(|name| format!("`{name}`")).collect();
    Err(format!(
        "the catalog '{}' has no {} of `{package}`; it has {}",
        catalog.display(),
        request.describe(),
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        }
    ))
}

/// The names of a package's revisions, sorted.
fn revisions(catalog: &Path, package: &str) -> Result<Vec<String>, String> {
    check_package_path(package).map_err(|error| error.to_string())?;
    let folder = catalog.join(join("", package));
    let entries = fs::read_dir(&folder)
        .map_err(|error| format!("the catalog has no package `{package}`: {error}"))?;
    let folders = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let is_folder = entry.path().is_dir();
        is_folder.then(|| entry.file_name().into_string().ok())?
    });
    let mut names: Vec<String> = folders.collect();
    names.sort();
    Ok(names)
}

/// The SHA-256 over the paths and bytes of a package's files, in the order of the paths. Each is preceded by
/// its length, so that no two packages run together.
pub(super) fn digest(package: &SuppliedPackage) -> Result<String, UsageError> {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    for (path, _) in package.files().into_iter().flat_map(Package::files) {
        add(path.as_bytes());
        add(&package.read_file(path)?);
    }
    let digest = hash.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}
