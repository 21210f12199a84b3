//! A package directory, edited in place.

use std::path::Path;

use super::arguments::Arguments;
use super::function::Function;
use super::print::{print_results, write_results, write_stdout};
use super::step::{leave, run};
use super::{DONE, FAILED, WOULD_CHANGE};
use crate::config::UsageError;
use crate::diff::unified_diff;
use crate::mask::masked;
use crate::package::{FileChange, PackageError, PackageFiles, read_package, write_package};
use crate::resource_list::ResourceList;
use crate::results::{FunctionResult, Reason, Results};

pub(super) fn on_package(
    function: &Function,
    arguments: &Arguments,
    directory: &Path,
) -> Result<u8, UsageError> {
    let usage = |error: &dyn std::error::Error| UsageError(error.to_string());
    let files = match read_package(directory) {
        Err(PackageError::Missing { path }) if arguments.makes_package => PackageFiles::empty(path),
        files => files.map_err(|error| usage(&error))?,
    };
    let mut list = ResourceList::from_files(&files).map_err(|error| usage(&error))?;
    let mut results = skipped(&files);
    for result in &run(function, arguments, &mut list)? {
        results.push(result.clone());
    }
    let failed = results.has_errors();
    let changes = if failed {
        Vec::new()
    } else {
        list.file_changes()
    };
    write_results(function, arguments, &results)?;
    print_results(|report| report.by_file(&results));
    if failed {
        return Ok(FAILED);
    }
    if list.printed().is_some() {
        return print_documents(arguments, &list);
    }
    if arguments.diff {
        write_stdout(changes.iter().map(|change| diff(&files, change)))?;
    }
    let would_change = arguments.check && !changes.is_empty();
    if !arguments.diff && !arguments.check {
        write_package(&files, &changes).map_err(|error| usage(&error))?;
    }
    leave((list, files, changes));
    Ok(if would_change { WOULD_CHANGE } else { DONE })
}

/// Prints what a function gives that never writes into the package.
fn print_documents(arguments: &Arguments, list: &ResourceList) -> Result<u8, UsageError> {
    let documents = || list.printed().into_iter().flatten();
    let mut changes = documents().filter(|(_, before, after)| &**before != *after);
    if arguments.diff {
        let changes = documents().filter(|(_, before, after)| &**before != *after);
        write_stdout(changes.map(|(resource, before, after)| {
            // As `kubectl diff` names its files.
            let group = match resource.api_version.split_once('/') {
                Some((group, version)) => format!("{group}.{version}"),
                None => resource.api_version.clone(),
            };
            let namespace = resource.namespace.as_deref().unwrap_or_default();
            let name = resource.name.as_deref().unwrap_or_default();
            let path = format!("{group}.{}.{namespace}.{name}", resource.kind);
            let is_there = !before.is_empty();
            if resource.kind == "Secret" {
                let (before, after) = masked(&before, after);
                let before = Some(&*before).filter(|_| is_there);
                return unified_diff(&path, before, Some(&after));
            }
            unified_diff(&path, Some(&*before).filter(|_| is_there), Some(after))
        }))?;
    }
    if arguments.check && changes.next().is_some() {
        return Ok(WOULD_CHANGE);
    }
    if !arguments.diff && !arguments.check {
        let texts = documents().enumerate().map(|(number, (_, _, after))| {
            let separator = if number > 0 { "---\n" } else { "" };
            let end = if after.ends_with('\n') { "" } else { "\n" };
            format!("{separator}{after}{end}")
        });
        write_stdout(texts)?;
    }
    Ok(DONE)
}

/// A warning for each file that was not read and should have been.
fn skipped(files: &PackageFiles) -> Results {
    let mut results = Results::default();
    for skipped in files
        .skipped
        .iter()
        .filter(|skipped| skipped.reason.is_warning())
    {
        let message = format!("skipped: {}", skipped.reason);
        results.push(
            FunctionResult::warning(Reason::SkippedFile, message).in_file(skipped.path.clone()),
        );
    }
    results
}

fn diff(files: &PackageFiles, change: &FileChange) -> String {
    let before = files
        .get(change.path())
        .map(|file| file.content.text.as_str());
    match change {
        FileChange::Write { path, bytes, .. } => {
            unified_diff(path, before, Some(&String::from_utf8_lossy(bytes)))
        }
        FileChange::Delete { path } => unified_diff(path, before, None),
    }
}
