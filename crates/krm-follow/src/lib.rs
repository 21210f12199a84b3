//! A package and the upstream that it follows: its original revision, and the lock in its Kptfile.
//!
//! ```yaml
//! # Kptfile before                     # after an update to v2
//! upstream:                            upstream:
//!   git: {ref: v1}                       git: {ref: v2}
//! upstreamLock:                        upstreamLock:
//!   git: {ref: v1, commit: 5f0c...}      git: {ref: v2, commit: 91ab...}
//! ```
//!
//! [`locked`] compares the lock with an upstream, [`read_original`] reads the revision that it names, and
//! [`write_lock`] records a new one. Without a lock, [`find_original`] finds the revision that a package was copied
//! from, by comparing contents.
//!
//! # Invariants
//!
//! - The lock names the revision that the files were made from. While an upgrade of `krmv` is open, [`locked`] refuses.
//! - An original that is uncertain is an error, never a guess.
//! - Equal values of a Kptfile keep their bytes.
//!
//! # Limitations
//!
//! - The search for an original looks at Git repositories only. It compares contents, so the original of a package in
//!   which nearly everything was edited is not found.
//! - A package has one upstream. A subpackage with another one has its own Kptfile.

mod ignored;
mod range;
mod search;

pub use ignored::report_ignored;
pub use range::range;
pub use search::outside_git;
pub use search::{FoundOriginal, find_original};

use std::sync::Arc;

use krm_core::config::UsageError;
use krm_core::kptfile::{has_open_upgrade, root_kptfile};
use krm_core::resource_list::{NewResource, ResourceList};
use krm_core::results::{FunctionResult, Reason, Results};
use krm_core::upstream_revision::{Locked, UpstreamRevision};
use krm_function::supplied::{Role, SuppliedPackage};
use krm_yaml::Value;

/// Compares the lock of the root Kptfile with an upstream.
///
/// # Errors
/// [`UsageError`]: the original revision cannot be read; an upgrade is open, so that the files are of two revisions.
pub fn locked(
    local: &ResourceList,
    upstream: &dyn UpstreamRevision,
    results: &mut Results,
) -> Result<Locked, UsageError> {
    let Some(kptfile) = root_kptfile(local) else {
        return Ok(Locked::Absent(None));
    };
    if local.read(kptfile, has_open_upgrade) {
        let message = "Kptfile: an upgrade by `krmv` has undecided conflicts: decide them with \
                       `krmv resolve`, or go back with `krmv upgrade --abort`";
        return Err(UsageError::of(message));
    }
    upstream.locked(local, kptfile, results).map_err(failed)
}

/// Reads the original revision of a package.
///
/// # Errors
/// As [`locked`].
pub fn read_original(
    local: &ResourceList,
    original: Arc<dyn UpstreamRevision>,
    results: &mut Results,
) -> Result<SuppliedPackage, UsageError> {
    let package = original.read().map_err(failed)?;
    let package = package.named_as(local.only_file());
    SuppliedPackage::from_upstream(Role::Original, package, original, results)
}

fn failed(error: UsageError) -> UsageError {
    UsageError::at(format_args!("role `{}`", Role::Original), error)
}

/// Writes the lock of the root Kptfile for the next update, and reports it as an info result. A missing Kptfile is a
/// warning.
pub fn write_lock(
    local: &mut ResourceList,
    upstream: &dyn UpstreamRevision,
    repository: Option<&str>,
    results: &mut Results,
) {
    let Some(kptfile) = root_kptfile(local) else {
        let message = format!(
            "found no Kptfile to record the new revision in; next time, give it as `--original '{}'`",
            upstream.flag()
        );
        results.push(FunctionResult::warning(Reason::KptfileNotFound, message));
        return;
    };
    let (name, id) = local.read(kptfile, |node| upstream.recorded(node));
    let written = local.edit(kptfile, |node, editor| {
        upstream.record(repository, node, editor)
    });
    let resource = local.resource(kptfile);
    let result = match written {
        Err(error) => FunctionResult::refused(&error),
        Ok(()) if id.as_deref() == Some(&*upstream.id()) => return,
        Ok(()) => {
            let to = upstream.name();
            let message = format!("the package is now based on `{to}`, {}", upstream.id());
            let tags = name.map(|name| ("from", name)).into_iter();
            let tags = tags.chain([("to", to.to_owned())]);
            tags.fold(FunctionResult::info(message), |result, (name, value)| {
                result.tag(name, value)
            })
        }
    };
    results.push(result.with_resource(resource).with_field(upstream.place()));
}

/// Creates a missing root Kptfile, named after upstream.
///
/// # Errors
/// [`UsageError`]: the Kptfile cannot be added to the ResourceList.
pub fn make_kptfile(
    local: &mut ResourceList,
    upstream: &dyn UpstreamRevision,
) -> Result<(), UsageError> {
    if root_kptfile(local).is_some() {
        return Ok(());
    }
    let value = Value::Mapping(vec![
        Value::entry("apiVersion", "kpt.dev/v1"),
        Value::entry("kind", "Kptfile"),
        Value::entry(
            "metadata",
            Value::Mapping(vec![Value::entry("name", upstream.package_name())]),
        ),
    ]);
    let kptfile = local.write(NewResource {
        path: Some("Kptfile".to_owned()),
        package_path: None,
        value,
    });
    local.add_text(kptfile);
    local.apply_insertions().map_err(UsageError::of)
}
