//! One way in, one way out: flags, standard input and output, package directories, exit codes.
//!
//! A function is a [`Function`]: its name and its step. [`main`] does the rest, the same for all.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::Utf8Error;

use clap::{Arg, ArgAction, CommandFactory, FromArgMatches, Parser, value_parser};

use crate::config::{Config, UsageError};
use crate::diff::unified_diff;
use crate::input;
use crate::package::{FileChange, PackageError, PackageFiles, read_package, write_package};
use crate::report::Report;
use crate::resource_list::ResourceList;
use crate::results::{FunctionResult, Reason, Results, Severity, printable};
use crate::supplied::{Role, Supplied};
use crate::yaml::{Location, NodeRef, OwnedDocument, Value};

/// What a step works with.
#[derive(Debug)]
pub struct Run<'r> {
    /// The functionConfig, from wherever it came; `None` if it is absent, empty or `null`.
    pub config: Option<NodeRef<'r>>,
    /// The items; what the step changes.
    pub list: &'r mut ResourceList,
    /// Resources that are not part of the package, by role.
    pub supplied: &'r Supplied,
    /// What is said of it. Error results stand for "nothing shall be changed".
    pub results: &'r mut Results,
}

/// A step: changes the list, reports results.
pub type Step = fn(Run<'_>) -> Result<(), UsageError>;

/// A function: what its binary is called and does.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// Name of the binary.
    pub name: &'static str,
    /// One or two sentences for `--help`.
    pub about: &'static str,
    /// The supplied inputs that it takes, each by a flag, a field of its config, or an annotation.
    pub roles: &'static [Role],
    /// Whether it takes `--openapi`, since it works with the schemas of types.
    pub uses_schema: bool,
    /// What it does.
    pub step: Step,
}

/// Exit code: everything done; info and warning results are allowed.
const DONE: u8 = 0;
/// Exit code: at least one error result; the items are as they came.
const FAILED: u8 = 1;
/// Exit code: the function could not begin, or could not write.
const USAGE: u8 = 2;
/// Exit code of `--check`: something would change.
const WOULD_CHANGE: u8 = 3;

/// Flags of every function.
#[derive(Debug, Parser)]
#[command(version, after_help = AFTER_HELP)]
struct Arguments {
    /// Read the functionConfig from a file; it wins over the one in the ResourceList
    #[arg(long, value_name = "FILE", conflicts_with = "pairs")]
    config: Option<PathBuf>,
    /// Work on a package directory in place, instead of standard input and output
    #[arg(long, value_name = "DIR")]
    package: Option<PathBuf>,
    /// With --package: write nothing, print a unified diff
    #[arg(long, requires = "package")]
    diff: bool,
    /// With --package: write nothing, exit 3 if anything would change
    #[arg(long, requires = "package")]
    check: bool,
    /// Also write the results to a file, as a FunctionResultList
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// The functionConfig as the data of a ConfigMap
    #[arg(value_name = "KEY=VALUE")]
    pairs: Vec<String>,
    /// Files and directories for the function's roles.
    #[arg(skip)]
    supplied: Vec<(Role, PathBuf)>,
    /// An OpenAPI document with more types.
    #[arg(skip)]
    openapi: Option<PathBuf>,
    /// Whether the package directory is made if it is not there.
    #[arg(skip)]
    makes_package: bool,
}

const AFTER_HELP: &str = "\
Without --package a ResourceList (config.kubernetes.io/v1) is read on standard input and written to
standard output, as kpt and kustomize do it.

Exit codes: 0 done; 1 an error result, nothing is changed; 2 wrong usage, config or input;
3 only with --check: something would change.";

/// Runs a function with the arguments, standard input and output of this process.
#[must_use]
pub fn main(function: &Function) -> ExitCode {
    main_with(function, false)
}

/// As [`main`]; a directory that `--package` names is made if it is not there.
#[must_use]
pub fn main_making_package(function: &Function) -> ExitCode {
    main_with(function, true)
}

fn main_with(function: &Function, makes_package: bool) -> ExitCode {
    let arguments = match parse_arguments(function, std::env::args_os()) {
        Ok(arguments) => Arguments {
            makes_package,
            ..arguments
        },
        Err(error) => {
            let code = if error.use_stderr() { USAGE } else { DONE };
            let printed = error.print();
            return ExitCode::from(if printed.is_ok() { code } else { USAGE });
        }
    };
    let code = match &arguments.package {
        Some(directory) => on_package(function, &arguments, directory),
        None => on_stdin(function, &arguments),
    };
    ExitCode::from(code.unwrap_or_else(|error| {
        let mut stderr = io::stderr().lock();
        // Nothing can be said if standard error is closed.
        let message = printable(&error.to_string());
        let _ = writeln!(stderr, "{}: {message}", function.name);
        USAGE
    }))
}

fn parse_arguments(
    function: &Function,
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Arguments, clap::Error> {
    let mut command = Arguments::command()
        .name(function.name)
        .about(function.about);
    for role in function.roles {
        let action = match role.is_repeatable() {
            true => ArgAction::Append,
            false => ArgAction::Set,
        };
        let flag = Arg::new(role.as_str()).long(role.as_str());
        let flag = flag.value_name("PATH").help(role.help()).action(action);
        command = command.arg(flag.value_parser(value_parser!(PathBuf)));
    }
    if function.uses_schema {
        let help = "Add the types of an OpenAPI v2 document (kubectl get --raw /openapi/v2)";
        let flag = Arg::new(OPENAPI)
            .long(OPENAPI)
            .value_name("FILE")
            .help(help);
        command = command.arg(flag.value_parser(value_parser!(PathBuf)));
    }
    // A binary has another name in a container (`/function`): messages name the function.
    let named = std::iter::once(OsString::from(function.name));
    let arguments = named.chain(arguments.into_iter().skip(1));
    let matches = command.try_get_matches_from(arguments)?;
    let mut arguments = Arguments::from_arg_matches(&matches)?;
    for role in function.roles {
        let paths = matches.get_many::<PathBuf>(role.as_str());
        let paths = paths.into_iter().flatten().cloned();
        arguments.supplied.extend(paths.map(|path| (*role, path)));
    }
    if function.uses_schema {
        arguments.openapi = matches.get_one::<PathBuf>(OPENAPI).cloned();
    }
    Ok(arguments)
}

/// The flag for more types.
const OPENAPI: &str = "openapi";

/// The config from flags and arguments, else the one of the list.
fn read_config(arguments: &Arguments, list: &ResourceList) -> Result<Option<Config>, UsageError> {
    if let Some(path) = &arguments.config {
        let place = path.display().to_string();
        let text = read_text(path, &place)?;
        return Config::parse(text, &place).map(Some);
    }
    if !arguments.pairs.is_empty() {
        return Config::from_pairs(&arguments.pairs).map(Some);
    }
    list.function_config().map(Config::from_node).transpose()
}

fn read_text(path: &Path, place: &str) -> Result<String, UsageError> {
    let bytes =
        std::fs::read(path).map_err(|error| UsageError(format!("cannot read {place}: {error}")))?;
    utf8(Cow::Owned(bytes), place).map(Cow::into_owned)
}

fn utf8<'b>(bytes: Cow<'b, [u8]>, place: &str) -> Result<Cow<'b, str>, UsageError> {
    let text = match bytes {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes)
            .map(Cow::Borrowed)
            .map_err(|error| not_utf8(bytes, error, place)),
        Cow::Owned(bytes) => String::from_utf8(bytes)
            .map(Cow::Owned)
            .map_err(|error| not_utf8(error.as_bytes(), error.utf8_error(), place)),
    };
    text.map_err(UsageError)
}

fn not_utf8(bytes: &[u8], error: Utf8Error, place: &str) -> String {
    let at = error.valid_up_to();
    // All before `at` is UTF-8.
    let before = String::from_utf8_lossy(&bytes[..at]);
    let hint = match bytes {
        [0xfe, 0xff, ..] | [0xff, 0xfe, ..] => " (the text begins as UTF-16 does)",
        _ => "",
    };
    format!(
        "{place}: {}: expected UTF-8, found the byte 0x{:02x}{hint}",
        Location::of(&before, at),
        bytes[at]
    )
}

fn run(
    function: &Function,
    arguments: &Arguments,
    list: &mut ResourceList,
) -> Result<Results, UsageError> {
    let config = read_config(arguments, list)?;
    let mut results = Results::default();
    let config = config.as_ref().and_then(Config::node);
    let mut supplied = Supplied::read(
        function.roles,
        &arguments.supplied,
        config,
        list,
        &mut results,
    )?;
    if let Some(path) = &arguments.openapi {
        let place = path.display().to_string();
        let document = OwnedDocument::parse(read_text(path, &place)?);
        supplied.set_openapi(document.map_err(|error| UsageError(format!("{place}: {error}")))?);
    }
    if results.has_errors() {
        return Ok(results);
    }
    (function.step)(Run {
        config,
        list,
        supplied: &supplied,
        results: &mut results,
    })?;
    leave(supplied);
    Ok(results)
}

/// The process is about to end: what it holds goes back as a whole, which takes less time than
/// piece by piece.
fn leave<T>(value: T) {
    std::mem::forget(value);
}

fn on_stdin(function: &Function, arguments: &Arguments) -> Result<u8, UsageError> {
    if io::stdin().is_terminal() {
        let message = "expected a ResourceList on standard input, found a terminal; \
                       to work on a directory, give --package DIR";
        return Err(UsageError(message.to_owned()));
    }
    let bytes = input::read_stdin()
        .map_err(|error| UsageError(format!("cannot read standard input: {error}")))?;
    let text = utf8(bytes, "standard input")?;
    let mut list = ResourceList::parse(text).map_err(|error| UsageError(error.to_string()))?;
    let mut results = refuse_paths(&list);
    let refused = results.has_errors();
    for result in &run(function, arguments, &mut list)? {
        if !refused || result.severity == Severity::Error {
            results.push(result.clone());
        }
    }
    let failed = results.has_errors();
    write_results(function, arguments, &results)?;
    if failed {
        print_results(|report| report.errors(&results));
    }
    let texts = list
        .to_texts(&results, !failed)
        .map_err(|error| UsageError(error.to_string()))?;
    write_stdout(texts.iter().map(|text| &**text))?;
    leave((list, texts));
    Ok(if failed { FAILED } else { DONE })
}

/// Item paths come from data: none may leave the package.
fn refuse_paths(list: &ResourceList) -> Results {
    let mut results = Results::default();
    for (_, resource) in list.items() {
        for (name, path) in resource.origin.annotated_paths() {
            if let Err(error) = crate::package::check_package_path(path) {
                let field = crate::yaml::Path::fields(&["metadata", "annotations", name]);
                let result = FunctionResult::error(Reason::InvalidPath, error.to_string());
                results.push(result.about(resource).at(field));
            }
        }
    }
    results
}

fn on_package(
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
            let before = Some(&*before).filter(|before| !before.is_empty());
            unified_diff(&path, before, Some(after))
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

/// Writes the `--results` file, before anything else is written.
fn write_results(
    function: &Function,
    arguments: &Arguments,
    results: &Results,
) -> Result<(), UsageError> {
    let Some(path) = &arguments.results else {
        return Ok(());
    };
    let text = crate::yaml::to_block_text(&result_list(function, results));
    std::fs::write(path, text).map_err(|error| {
        UsageError(format!(
            "cannot write the results to {}: {error}",
            path.display()
        ))
    })
}

/// A `FunctionResultList` in kpt's form.
fn result_list(function: &Function, results: &Results) -> Value {
    let entry = |key: &str, value: Value| (Value::from(key), value);
    let code = Value::from(i64::from(results.has_errors()));
    let mut item = vec![
        entry("exec", Value::from(function.name)),
        entry("exitCode", code.clone()),
    ];
    if !results.is_empty() {
        let values = results.iter().map(FunctionResult::to_value).collect();
        item.push(entry("results", Value::Sequence(values)));
    }
    Value::Mapping(vec![
        entry("apiVersion", Value::from("kpt.dev/v1")),
        entry("kind", Value::from("FunctionResultList")),
        entry(
            "metadata",
            Value::Mapping(vec![entry("name", Value::from("fnresults"))]),
        ),
        entry("exitCode", code),
        entry("items", Value::Sequence(vec![Value::Mapping(item)])),
    ])
}

/// Prints results to standard error; a terminal gets colours.
fn print_results(text: impl FnOnce(Report) -> String) {
    let stderr = io::stderr();
    let colour = stderr.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let text = text(Report { colour });
    // Nothing can be said if standard error is closed.
    let _ = stderr.lock().write_all(text.as_bytes());
}

fn write_stdout(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Result<(), UsageError> {
    // Gathers short texts; long ones pass it by.
    let mut stdout = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    texts
        .into_iter()
        .try_for_each(|text| stdout.write_all(text.as_ref().as_bytes()))
        .and_then(|()| stdout.flush())
        .map_err(|error| UsageError(format!("cannot write to standard output: {error}")))
}
