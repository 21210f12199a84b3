//! Reports what upstream must not bring into a package, and what it brings that runs somewhere.
//!
//! [`Incoming`] decides it, for merges and clones alike.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use krm_core::config::UsageError;
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results, and_more, listed};
use krm_package::{Incoming, Package, RefusedPath, RunBy, Skipped, normalize_package_path};

/// The most files of a kind that the result about what runs names.
const MOST_NAMED: usize = 20;

/// The files of a package; of a list that has none, the paths of its items, as empty files.
pub fn files_of(list: &ResourceList) -> Cow<'_, Package> {
    if let Some(files) = list.files() {
        return Cow::Borrowed(files);
    }
    let paths = list.items().filter_map(|(_, resource)| {
        let path = resource.origin.path.as_deref()?;
        Some((normalize_package_path(path), String::new()))
    });
    Cow::Owned(paths.collect())
}

/// Decides what upstream may bring into a package, and reports what it must not bring and what runs somewhere. What
/// the original had already is not reported again.
///
/// # Errors
/// [`UsageError`]: a file that can no longer be read.
pub fn decide_incoming(
    original: Option<&Package>,
    local: &Package,
    upstream: &Package,
    results: &mut Results,
) -> Result<Incoming, UsageError> {
    let incoming = Incoming::of(local.known_paths().chain(upstream.known_paths()));
    let files = upstream.files();
    let mut refused: BTreeSet<RefusedPath> = files
        .filter_map(|(path, _)| incoming.refusal(path))
        .collect();
    let skipped = upstream.skipped.iter().cloned();
    let skipped = skipped.filter(|skipped| skipped.reason.is_refusal());
    refused.extend(skipped.map(|Skipped { path, reason }| RefusedPath { path, reason }));
    for RefusedPath { path, reason } in refused {
        if original.is_some_and(|original| has(original, &path)) {
            continue;
        }
        let message = format!("not taken from upstream: {reason}");
        results.push(FunctionResult::warning(Reason::RefusedFile, message).in_file(path));
    }
    let running = running_files(original, upstream, &incoming)?;
    if !running.is_empty() {
        let message = format!(
            "upstream brings files that run somewhere: {}",
            named(&running)
        );
        let reason = Reason::RunsSomewhere.as_str();
        results.push(FunctionResult::info(message).tag("reason", reason));
    }
    Ok(incoming)
}

/// Whether a package has a file or folder, read or not.
fn has(package: &Package, path: &str) -> bool {
    let mut rests = package
        .known_paths()
        .filter_map(|known| known.strip_prefix(path));
    rests.any(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The new and changed files of upstream that run somewhere.
fn running_files<'u>(
    original: Option<&Package>,
    upstream: &'u Package,
    incoming: &Incoming,
) -> Result<BTreeMap<RunBy, Vec<&'u str>>, UsageError> {
    let mut running: BTreeMap<RunBy, Vec<&str>> = BTreeMap::new();
    for (path, file) in upstream.files() {
        let Some(by) = RunBy::of(path, file.mode) else {
            continue;
        };
        if incoming.refusal(path).is_some() {
            continue;
        }
        if let Some(original) = original
            && let Some(old) = original.get(path)
            && RunBy::of(path, old.mode) == Some(by)
            && original.read(path).map_err(UsageError::of)?
                == upstream.read(path).map_err(UsageError::of)?
        {
            continue;
        }
        running.entry(by).or_default().push(path);
    }
    Ok(running)
}

/// `` executables `a`, `b`; settings of Git `c` ``.
fn named(running: &BTreeMap<RunBy, Vec<&str>>) -> String {
    let groups = running.iter().map(|(by, paths)| {
        let first = &paths[..paths.len().min(MOST_NAMED)];
        let more = and_more(1 + paths.len() - first.len());
        format!("{by} {}{more}", listed(first))
    });
    groups.collect::<Vec<_>>().join("; ")
}
