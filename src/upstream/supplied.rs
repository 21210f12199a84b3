//! Revisions of an upstream as the inputs of functions.

use std::sync::Arc;

use krm_core::results::Results;
use krm_function::supplied::{Role, SuppliedPackage};
use krm_upstream::git::Snapshot;

use super::{FetchedRevision, UpstreamSource};
use crate::failure::Result;
use crate::package::{Contents, contents_of};

/// A revision as the upstream of a new package, including the files that merges leave out.
pub(crate) fn to_clone(
    fetched: FetchedRevision,
    upstream: &UpstreamSource,
    results: &mut Results,
) -> Result<SuppliedPackage> {
    let snapshot = fetched.snapshot;
    let Some(origin) = fetched.origin else {
        let place = format!("{} {}", upstream.address, snapshot.revision.lock_ref);
        let package = snapshot.package;
        let package =
            SuppliedPackage::from_package_like(Role::Upstream, place, package, &[], results);
        return Ok(package?);
    };
    let package = SuppliedPackage::from_upstream(Role::Upstream, snapshot.package, origin, results);
    Ok(package?)
}

/// Like [`supplied`], with the files that `.krmignore` excludes at hand.
pub(crate) fn supplied_with_ignored(
    fetched: FetchedRevision,
    role: Role,
    local_name: Option<&str>,
    others: &[&SuppliedPackage],
) -> Result<Arc<SuppliedPackage>> {
    let (snapshot, origin) = (fetched.snapshot, fetched.origin);
    let origin = origin.filter(|_| !snapshot.package.ignored.is_empty());
    let package = read_supplied(snapshot, role, local_name, others)?;
    Ok(Arc::new(match origin {
        Some(origin) => package.with_source(origin),
        None => package,
    }))
}

/// A revision as the input for a role. Files that are also in `others` are not parsed again. A single-file package gets
/// the local name of the file.
pub(crate) fn supplied(
    snapshot: Snapshot,
    role: Role,
    local_name: Option<&str>,
    others: &[&SuppliedPackage],
) -> Result<Arc<SuppliedPackage>> {
    read_supplied(snapshot, role, local_name, others).map(Arc::new)
}

fn read_supplied(
    snapshot: Snapshot,
    role: Role,
    local_name: Option<&str>,
    others: &[&SuppliedPackage],
) -> Result<SuppliedPackage> {
    let place = format!("{role} {}", snapshot.revision.lock_ref);
    let package = snapshot.package.named_as(local_name);
    let mut results = Results::default();
    let package = SuppliedPackage::from_package_like(role, place, package, others, &mut results);
    Ok(package?)
}

/// The files of a supplied package.
pub(crate) fn contents(package: &SuppliedPackage) -> Result<Contents> {
    package.files().map_or(Ok(Contents::new()), contents_of)
}
