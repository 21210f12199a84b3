//! A catalog that is a directory: `<package>/<revision>/`.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::join;
use super::latest::newest;
use crate::config::UsageError;
use crate::package::check_package_path;
use crate::supplied::SuppliedPackage;

/// The newest revision of a package.
pub(super) fn latest_in(catalog: &Path, package: &str) -> Result<String, String> {
    let revisions = revisions(catalog, package)?;
    newest(revisions.iter().map(String::as_str)).ok_or_else(|| {
        format!("expected a revision `v<number>` or a semantic version of `{package}`, found none")
    })
}

/// A revision of a package, by its name.
pub(super) fn revision_in(catalog: &Path, package: &str, revision: &str) -> Result<String, String> {
    let revisions = revisions(catalog, package)?;
    let is_there = |name: &str| revisions.iter().any(|other| other == name);
    if is_there(revision) {
        return Ok(revision.to_owned());
    }
    // Newer versions of Porch count revisions.
    let numbered = format!("v{revision}");
    if revision.bytes().all(|byte| byte.is_ascii_digit()) && is_there(&numbered) {
        return Ok(numbered);
    }
    let names: Vec<String> = revisions.iter().map(|name| format!("`{name}`")).collect();
    Err(format!(
        "the catalog '{}' has no revision `{revision}` of `{package}`; it has {}",
        catalog.display(),
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
    for file in package.files() {
        add(file.path.as_bytes());
        add(&package.read_file(&file.path)?);
    }
    let digest = hash.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}
