//! Finds revisions in a catalog that is a directory.
//!
//! ```text
//! nginx/v1/Kptfile          <package>/<revision>/
//! web/web-1.2.0.tgz         an archive for each revision
//! db/index.json             an image layout, with a tag for each revision
//! ```

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::join;
use krm_address::latest::latest;
use krm_core::config::UsageError;
use krm_core::results::listed;
use krm_function::supplied::SuppliedPackage;
use krm_package::{Package, check_package_path};
use krm_upstream::{tags_of_layout, without_archive_end};
use krm_variant::revision_request::{Lookup, RevisionRequest, spellings};

/// The name of a requested revision, and the flag that opens it.
pub(super) fn revision_in(
    catalog: &Path,
    package: &str,
    request: &RevisionRequest,
) -> Result<(String, String), String> {
    let mut revisions = revisions(catalog, package)?;
    let is_there = |name: &&str| revisions.contains_key(*name);
    let found = match request.lookup() {
        Lookup::Latest => latest(revisions.keys(), |name| name).map(String::as_str),
        Lookup::Named(revision) => spellings(revision).find(is_there),
        Lookup::Workspace(workspace) => Some(workspace).filter(is_there),
    };
    // A directory records no workspaces. The name of another revision is not the workspace of this one.
    let other = request.workspace().filter(is_there);
    if let (Some(found), Some(workspace)) = (found, other)
        && found != workspace
    {
        request.check_workspace(found)?;
    }
    let found = found.map(str::to_owned);
    if let Some(found) = found.and_then(|found| revisions.remove_entry(&found)) {
        return Ok(found);
    }
    Err(format!(
        "the catalog '{}' has no {} of `{package}`; it has {}",
        catalog.display(),
        request.describe(),
        listed(revisions.keys())
    ))
}

/// The revisions of a package by name, each with the flag that opens it: folders, archives, or tags of an image
/// layout.
fn revisions(catalog: &Path, package: &str) -> Result<BTreeMap<String, String>, String> {
    check_package_path(package).map_err(|error| error.to_string())?;
    let folder = catalog.join(join("", package));
    let tags = tags_of_layout(&folder).map_err(|error| error.to_string())?;
    if let Some(tags) = tags {
        let flag = |tag: String| (tag.clone(), format!("oci:{}:{tag}", folder.display()));
        return Ok(tags.into_iter().map(flag).collect());
    }
    let entries = fs::read_dir(&folder)
        .map_err(|error| format!("the catalog has no package `{package}`: {error}"))?;
    let own = package.trim_end_matches('/').rsplit('/').next();
    let own = format!("{}-", own.unwrap_or_default());
    let mut found = BTreeMap::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let Some(name) = path.file_name().and_then(OsStr::to_str) else {
            continue;
        };
        let name = if path.is_dir() {
            Some(name)
        } else {
            // `helm package` and releases of projects use such names: `app-1.2.0.tgz`.
            let name = without_archive_end(name);
            name.map(|name| name.strip_prefix(&own).unwrap_or(name))
        };
        if let Some(name) = name {
            found.insert(name.to_owned(), path.display().to_string());
        }
    }
    Ok(found)
}

/// The SHA-256 of the paths and bytes of a package's files, in the order of the paths. Each part is preceded by its
/// length, so that different packages never have the same input.
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
