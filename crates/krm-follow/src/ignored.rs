//! Files that `.krmignore` leaves out of a merge, although upstream changed them.
//!
//! Source: contract, merge-package, Files that are not KRM.

use std::collections::BTreeMap;

use krm_core::config::UsageError;
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results, and_more, listed};
use krm_function::supplied::SuppliedPackage;
use krm_package::{Ignored, Package};

/// How many files the result names.
const MOST_NAMED: usize = 5;

/// Reports the files that a merge leaves out because one of the three versions ignores them, and that upstream changed,
/// added or removed.
///
/// # Errors
/// [`UsageError`]: a file that can no longer be read.
pub fn report_ignored(
    original: &SuppliedPackage,
    local: &ResourceList,
    upstream: &SuppliedPackage,
    results: &mut Results,
) -> Result<(), UsageError> {
    let versions = [original.files(), local.files(), upstream.files()];
    let ignored = Ignored::by(versions.into_iter().flatten()).map_err(UsageError::of)?;
    if ignored.is_empty() {
        return Ok(());
    }
    let [old, new] = [contents(original, &ignored)?, contents(upstream, &ignored)?];
    let paths = old
        .keys()
        .chain(new.keys().filter(|path| !old.contains_key(*path)));
    let mut changed: Vec<&str> = paths
        .filter(|path| old.get(*path) != new.get(*path))
        .map(String::as_str)
        .collect();
    if changed.is_empty() {
        return Ok(());
    }
    changed.sort_unstable();
    let first = &changed[..changed.len().min(MOST_NAMED)];
    let files = if changed.len() == 1 { "file" } else { "files" };
    let message = format!(
        "`.krmignore` leaves out {} {files} that upstream changed, added or removed: {}{}",
        changed.len(),
        listed(first),
        and_more(1 + changed.len() - first.len())
    );
    let result = FunctionResult::info(message).tag("reason", Reason::IgnoredFile.as_str());
    results.push(result.tag("count", changed.len().to_string()));
    Ok(())
}

/// The ignored files of a package, read or not.
fn contents(
    package: &SuppliedPackage,
    ignored: &Ignored,
) -> Result<BTreeMap<String, Vec<u8>>, UsageError> {
    let unread = package.clone_only_files()?;
    let mut contents = BTreeMap::new();
    for files in package.files().into_iter().chain([&unread]) {
        add(files, ignored, &mut contents)?;
    }
    Ok(contents)
}

fn add(
    files: &Package,
    ignored: &Ignored,
    contents: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), UsageError> {
    for (path, _) in files.files().filter(|(path, _)| ignored.has(path)) {
        let bytes = files.read(path).map_err(UsageError::of)?;
        contents.insert(path.to_owned(), bytes.into_owned());
    }
    Ok(())
}
