//! Runs a function on a package directory, in place.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::arguments::Arguments;
use super::print::{
    overwrite_results_with_failure, print_result_list, print_results, print_review, print_rule,
    print_up_to_date, print_verbose, write_diff, write_results, write_stdout,
};
use super::step::run;
use super::{CONFLICTS, DONE, FAILED, WOULD_CHANGE};
use crate::supplied::only_package;
use crate::{Document, Function, OnPackage, Output};
use krm_core::config::UsageError;
use krm_core::diff::{change_diff, unified_diff};
use krm_core::kptfile::upstream_file;
use krm_core::mask::{masked, masked_file};
use krm_core::resource_list::ResourceList;
use krm_core::result_printer::ResultPrinter;
use krm_core::results::{FunctionResult, Reason, Results};
use krm_package::{
    FileChange, Package, PackageError, read_only_file, read_package, recover_package, write_package,
};
use krm_yaml::OwnedDocument;

pub(super) fn on_package(
    function: &Function,
    arguments: &Arguments,
    directory: &Path,
) -> Result<u8, UsageError> {
    let start = Instant::now();
    let creates = matches!(function.on_package, OnPackage::EditsOrCreates);
    if creates && !arguments.diff && !arguments.check {
        recover_package(directory).map_err(UsageError::of)?;
    }
    let (files, mut list) = read_local(function, directory)?;
    print_verbose(arguments, start, || {
        let items = list.items().count();
        format!("read {} files, {items} resources", files.krm().count())
    });
    let mut results = skipped(&files);
    let (output, step_results) = run(function, arguments, &mut list)?;
    results.append(step_results);
    let failed = results.has_errors();
    let (changes, documents) = match output {
        _ if failed => (Vec::new(), None),
        Output::Edited => (list.file_changes(), None),
        Output::Documents(documents) => (Vec::new(), Some(documents)),
    };
    let results = results.with_lines(|path| files.text_after(&changes, path));
    print_verbose(arguments, start, || {
        let count = results.iter().count();
        format!(
            "{}: {count} results, {} files change",
            function.name,
            changes.len()
        )
    });
    if arguments.prints_results() && documents.is_some() {
        let message = "--results -: standard output is used for the output of the function";
        return Err(UsageError::of(message));
    }
    write_results(function, arguments, &results)?;
    let is_unchanged = match &documents {
        Some(documents) => documents.iter().all(|document| !document.is_changed()),
        None => changes.is_empty(),
    };
    let written = match &documents {
        _ if failed => Ok(FAILED),
        Some(documents) => match &arguments.into {
            Some(directory) => write_documents(directory, documents).map(|()| DONE),
            None => print_documents(arguments, documents),
        },
        None => write_changes(arguments, &files, &changes),
    };
    let code =
        written.map_err(|error| overwrite_results_with_failure(function, arguments, error))?;
    let is_written = code == DONE && !arguments.diff && !arguments.check;
    let has_conflicts = arguments.exit_conflicts && results.has_open_conflicts();
    let code = if is_written && has_conflicts {
        CONFLICTS
    } else {
        code
    };
    print_verbose(arguments, start, || "done".to_owned());
    // Results are printed only after the changes are on disk.
    print_result_list(function, arguments, &results)?;
    let results = print_review(function, arguments, results)?;
    print_results(function, arguments, &results, ResultPrinter::by_file);
    print_rule(arguments, &results);
    let is_review = matches!(function.on_package, OnPackage::Reviews(_));
    if is_unchanged && code == DONE && !is_review {
        print_up_to_date(arguments, &results);
    }
    Ok(code)
}

/// Reads the local package: a directory or, if the function accepts it, one file. The directory may be missing if the
/// function creates it.
fn read_local(
    function: &Function,
    path: &Path,
) -> Result<(Arc<Package>, ResourceList), UsageError> {
    let files = match read_package(path) {
        Err(PackageError::Missing { path })
            if matches!(function.on_package, OnPackage::EditsOrCreates) =>
        {
            Package::empty(path)
        }
        Err(PackageError::NotADirectory { .. }) if path.is_file() => {
            read_one_file(path).map_err(UsageError::of)?
        }
        files => files.map_err(UsageError::of)?,
    };
    let listed = |files: Package| {
        let files = Arc::new(files);
        let takes_texts = function.takes_texts();
        let list = ResourceList::from_package_like(Arc::clone(&files), takes_texts, &[]);
        Ok((files, list.map_err(UsageError::of)?))
    };
    let (files, list) = listed(files)?;
    if files.only_file.is_none() {
        return Ok((files, list));
    }
    // A file with a PackageRevisionResources is a package, whatever its name.
    if only_package(&list).is_some() {
        let mut package = Package::clone(&files);
        package.only_file = None;
        return listed(package);
    }
    if !function.takes_file(path) {
        let path = path.to_path_buf();
        return Err(UsageError::of(PackageError::NotADirectory { path }));
    }
    Ok((files, list))
}

/// Reads a file as a package, with the Kptfile that records its upstream.
fn read_one_file(file: &Path) -> Result<Package, PackageError> {
    let mut files = read_only_file(file)?;
    files.add_kptfile(|text| {
        let kptfile = OwnedDocument::parse_resource(text.to_owned()).ok();
        let root = kptfile.as_ref().and_then(OwnedDocument::root);
        root.is_some_and(|root| upstream_file(root).is_some())
    })?;
    Ok(files)
}

/// Writes the changes, unless `--diff` or `--check` is set; with `--diff`, prints the diff.
fn write_changes(
    arguments: &Arguments,
    files: &Package,
    changes: &[FileChange],
) -> Result<u8, UsageError> {
    if arguments.diff {
        let text = |change| Ok(change_diff(files, change, "")?.text);
        let diffs: Result<Vec<String>, PackageError> = changes.iter().map(text).collect();
        let diffs = diffs.map_err(UsageError::of)?;
        write_diff(arguments, diffs)?;
    }
    if !arguments.diff && !arguments.check {
        write_package(files, changes).map_err(UsageError::of)?;
    }
    let would_change = arguments.check && !changes.is_empty();
    Ok(if would_change { WOULD_CHANGE } else { DONE })
}

/// Writes documents as files into an empty or missing directory, for `--into`.
///
/// # Errors
/// [`UsageError`]: the directory contains files, or cannot be written.
pub fn write_documents(directory: &Path, documents: &[Document]) -> Result<(), UsageError> {
    let files = match read_package(directory) {
        Err(PackageError::Missing { path }) => Package::empty(path),
        files => files.map_err(UsageError::of)?,
    };
    if let Some((path, _)) = files.files().next() {
        return Err(UsageError::expected(
            "--into",
            "an empty or missing directory",
            format_args!("`{path}` in '{}'", directory.display()),
        ));
    }
    let changes = documents.iter().filter_map(|document| {
        Some(FileChange::Write {
            path: document.path.clone()?,
            bytes: document.text.clone().into_bytes(),
            mode: None,
        })
    });
    write_package(&files, &changes.collect::<Vec<_>>()).map_err(UsageError::of)
}

/// Prints the documents that a function creates from a package; the package's files are not changed.
fn print_documents(arguments: &Arguments, documents: &[Document]) -> Result<u8, UsageError> {
    if arguments.diff {
        let changed = documents.iter().filter(|document| document.is_changed());
        write_diff(arguments, changed.map(document_diff))?;
    }
    if arguments.check && documents.iter().any(Document::is_changed) {
        return Ok(WOULD_CHANGE);
    }
    if !arguments.diff && !arguments.check {
        let texts = documents.iter().enumerate().map(|(number, document)| {
            let path = document.path.as_ref().map(|path| format!("# {path}\n"));
            let text = path.unwrap_or_default() + &document.text;
            let separator = if number > 0 { "---\n" } else { "" };
            let end = if text.ends_with('\n') { "" } else { "\n" };
            format!("{separator}{text}{end}")
        });
        write_stdout(texts)?;
    }
    Ok(DONE)
}

/// The diff of a document, under the file name that `kubectl diff` gives it.
fn document_diff(document: &Document) -> String {
    let (resource, before, text) = (&document.resource, &document.before, &document.text);
    let group = match resource.api_version.split_once('/') {
        Some((group, version)) => format!("{group}.{version}"),
        None => resource.api_version.to_string(),
    };
    let namespace = resource.namespace.as_deref().unwrap_or_default();
    let name = resource.name.as_deref().unwrap_or_default();
    let path = format!("{group}.{}.{namespace}.{name}", resource.kind);
    let is_there = !before.is_empty();
    let hidden = match resource.kind.as_ref() {
        "Secret" => Some(masked(before, text)),
        _ => masked_file(before, text),
    };
    let (before, text) = match &hidden {
        Some((before, text)) => (before, text),
        None => (before, text),
    };
    unified_diff(
        &path,
        Some(before.as_str()).filter(|_| is_there),
        Some(text),
    )
}

/// A warning for each file that was skipped.
fn skipped(files: &Package) -> Results {
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
