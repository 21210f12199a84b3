//! A package directory, edited in place.

use std::path::Path;
use std::time::Instant;

use super::arguments::Arguments;
use super::function::Function;
use super::print::{
    claim_no_success, print_result_list, print_results, say, write_diff, write_results,
    write_stdout,
};
use super::step::{leave, run};
use super::{CONFLICTS, DONE, FAILED, WOULD_CHANGE};
use crate::config::UsageError;
use crate::diff::{file_diff, unified_diff};
use crate::mask::masked;
use crate::package::{FileChange, PackageError, PackageFiles, read_package, write_package};
use crate::report::Report;
use crate::resource_list::ResourceList;
use crate::results::{FunctionResult, Reason, Results};

pub(super) fn on_package(
    function: &Function,
    arguments: &Arguments,
    directory: &Path,
) -> Result<u8, UsageError> {
    let start = Instant::now();
    let usage = |error: &dyn std::error::Error| UsageError(error.to_string());
    let files = match read_package(directory) {
        Err(PackageError::Missing { path }) if arguments.makes_package => PackageFiles::empty(path),
        files => files.map_err(|error| usage(&error))?,
    };
    let mut list = ResourceList::from_files(&files).map_err(|error| usage(&error))?;
    say(arguments, start, || {
        let items = list.items().count();
        format!("read {} files, {items} resources", files.files.len())
    });
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
    say(arguments, start, || {
        let count = results.iter().count();
        format!(
            "{}: {count} results, {} files change",
            function.name,
            changes.len()
        )
    });
    if arguments.prints_results() && list.printed().is_some() {
        let message = "--results -: standard output takes what the function prints";
        return Err(UsageError(message.to_owned()));
    }
    write_results(function, arguments, &results)?;
    let code = match failed {
        true => FAILED,
        false => put_out(arguments, &list, &files, &changes)
            .map_err(|error| claim_no_success(function, arguments, error))?,
    };
    let is_written = code == DONE && !arguments.diff && !arguments.check;
    let has_conflicts = arguments.exit_conflicts && results.has_open_conflicts();
    let code = match is_written && has_conflicts {
        true => CONFLICTS,
        false => code,
    };
    say(arguments, start, || "done".to_owned());
    // Nobody is told of a change that is not on disk yet.
    print_results(function, arguments, &results, Report::by_file);
    print_result_list(function, arguments, &results)?;
    leave((list, files, changes));
    Ok(code)
}

/// Writes the package, or prints what is asked for instead.
fn put_out(
    arguments: &Arguments,
    list: &ResourceList,
    files: &PackageFiles,
    changes: &[FileChange],
) -> Result<u8, UsageError> {
    if list.printed().is_some() {
        return print_documents(arguments, list);
    }
    let refused = |error: PackageError| UsageError(error.to_string());
    if arguments.diff {
        let diffs = changes.iter().map(|change| diff(files, change));
        let diffs: Vec<String> = diffs.collect::<Result<_, _>>().map_err(refused)?;
        write_diff(arguments, diffs)?;
    }
    if !arguments.diff && !arguments.check {
        write_package(files, changes).map_err(refused)?;
    }
    let would_change = arguments.check && !changes.is_empty();
    Ok(if would_change { WOULD_CHANGE } else { DONE })
}

/// Prints what a function gives that never writes into the package.
fn print_documents(arguments: &Arguments, list: &ResourceList) -> Result<u8, UsageError> {
    let documents = || list.printed().into_iter().flatten();
    let mut changes = documents().filter(|(_, before, after)| &**before != *after);
    if arguments.diff {
        let changes = documents().filter(|(_, before, after)| &**before != *after);
        let diffs = changes.map(|(resource, before, after)| {
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
        });
        write_diff(arguments, diffs)?;
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

fn diff(files: &PackageFiles, change: &FileChange) -> Result<String, PackageError> {
    const USUAL_MODE: u32 = 0o644;
    let path = change.path();
    let other;
    let before = match (files.get(path), files.mode_of_other(path)) {
        (Some(file), _) => Some((file.content.text.as_bytes(), file.content.mode)),
        (None, Some(mode)) => {
            other = files.read_other(path)?;
            Some((&other[..], mode))
        }
        (None, None) => None,
    };
    let after = match change {
        FileChange::Write { bytes, mode, .. } => Some((&bytes[..], mode.unwrap_or(USUAL_MODE))),
        FileChange::Delete { .. } => None,
    };
    Ok(file_diff(path, before, after))
}
