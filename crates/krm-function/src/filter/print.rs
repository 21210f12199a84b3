//! Prints results and diffs, and writes the `--results` file.

use std::ffi::OsString;
use std::io;
use std::time::Instant;

use super::arguments::{Arguments, ReportFormat, ResultsFormat};
use super::{DONE, USAGE};
use crate::{Function, OnPackage};
use krm_core::config::UsageError;
use krm_core::result_printer::{self, ResultPrinter};
use krm_core::results::{FunctionResult, Reason, Results, Severity, rule_for};
use krm_package::escaped::{Piece, ShownLine, ShownText, StandardStream, printable};
use krm_yaml::{Value, to_block_text};

/// Writes the `--results` file; called before any other output is written.
pub fn write_results(
    function: &Function,
    arguments: &Arguments,
    results: &Results,
) -> Result<(), UsageError> {
    let Some(path) = arguments
        .results
        .as_ref()
        .filter(|_| !arguments.prints_results())
    else {
        return Ok(());
    };
    let text = krm_yaml::to_block_text(&result_list(function, results));
    std::fs::write(path, text).map_err(|error| {
        UsageError::cannot(
            format_args!("write the results to {}", path.display()),
            error,
        )
    })
}

/// Prints the results to standard output, for `--results -`.
pub fn print_result_list(
    function: &Function,
    arguments: &Arguments,
    results: &Results,
) -> Result<(), UsageError> {
    if arguments.prints_results() {
        write_stdout([krm_yaml::to_block_text(&result_list(function, results))])
    } else {
        Ok(())
    }
}

/// Prints a review to standard output, unless standard output is used for results. Returns the results that are not
/// part of it.
pub(super) fn print_review(
    function: &Function,
    arguments: &Arguments,
    results: Results,
) -> Result<Results, UsageError> {
    let OnPackage::Reviews(formats) = function.on_package else {
        return Ok(results);
    };
    let other = |result: &&FunctionResult| !(formats.is_finding)(result);
    let failed = results
        .iter()
        .filter(other)
        .any(|result| result.severity == Severity::Error);
    if arguments.prints_results() || arguments.diff || failed {
        return Ok(results);
    }
    let stdout = StandardStream::Output;
    let written = match arguments.format {
        Some(ReportFormat::Markdown) => stdout.document([(formats.markdown)(&results).as_str()]),
        Some(ReportFormat::Json) => stdout.json(&result_list(function, &results).to_json()),
        Some(ReportFormat::Text) | None => stdout.print(&(formats.text)(&results)),
    };
    written.map_err(cannot_write)?;
    if arguments.output == ResultsFormat::Json {
        return Ok(results);
    }
    Ok(results.iter().filter(other).cloned().collect())
}

/// Overwrites the `--results` file with an error after the output could not be written, because the results would be
/// false.
pub(super) fn overwrite_results_with_failure(
    function: &Function,
    arguments: &Arguments,
    error: UsageError,
) -> UsageError {
    let mut results = Results::default();
    results.push(FunctionResult::error(Reason::NotWritten, error.to_string()));
    let written = write_results(function, arguments, &results);
    if let (Err(_), Some(path)) = (written, &arguments.results)
        && path.is_file()
    {
        // A missing file is better than a false one.
        let _ = std::fs::remove_file(path);
    }
    error
}

/// The results as a `FunctionResultList`, in kpt's form.
fn result_list(function: &Function, results: &Results) -> Value {
    let code = i64::from(results.has_errors());
    let mut item = vec![
        Value::entry("exec", function.name),
        Value::entry("exitCode", code),
    ];
    if !results.is_empty() {
        let values = results.iter().map(FunctionResult::to_value).collect();
        item.push(Value::entry("results", Value::Sequence(values)));
    }
    let name = Value::Mapping(vec![Value::entry("name", "fnresults")]);
    let items = Value::Sequence(vec![Value::Mapping(item)]);
    Value::Mapping(vec![
        Value::entry("apiVersion", "kpt.dev/v1"),
        Value::entry("kind", "FunctionResultList"),
        Value::entry("metadata", name),
        Value::entry("exitCode", code),
        Value::entry("items", items),
    ])
}

/// Prints results to standard error, as text or as JSON.
pub fn print_results(
    function: &Function,
    arguments: &Arguments,
    results: &Results,
    text: impl FnOnce(ResultPrinter, &Results) -> ShownText,
) {
    let grave: Results;
    let shown = if arguments.quiet {
        let is_grave = |result: &&FunctionResult| result.severity != Severity::Info;
        grave = results.iter().filter(is_grave).cloned().collect();
        &grave
    } else {
        results
    };
    let stderr = StandardStream::Error;
    // An error of writing to standard error cannot be reported.
    let _ = match arguments.output {
        ResultsFormat::Text => {
            let colour = arguments.color.is_on(stderr);
            let lists_all = arguments.verbose;
            stderr.print(&text(ResultPrinter { colour, lists_all }, shown))
        }
        ResultsFormat::Json => stderr.json(&result_list(function, shown).to_json()),
    };
}

/// Suggests a conflict rule for the first conflict in which upstream's value replaced a local one.
pub(super) fn print_rule(arguments: &Arguments, results: &Results) {
    let lost = results.iter().find(|result| {
        let is_upstream = result.tag_value("winner") == Some("upstream");
        is_upstream && result.is_open_conflict() && result.resource.is_some()
    });
    let is_shown = arguments.output == ResultsFormat::Text && !arguments.quiet;
    let Some(lost) = lost.filter(|_| is_shown) else {
        return;
    };
    let rule = rule_for(
        lost.resource.as_ref(),
        lost.rule_path.as_deref(),
        Some("local"),
    );
    let rules = Value::Mapping(vec![Value::entry("conflicts", Value::Sequence(vec![rule]))]);
    let mut text = ShownText::default();
    text.line("hint: in a file for --conflicts, this keeps your value in the next merge:");
    for line in to_block_text(&rules).lines() {
        text.line(&format_args!("  {line}"));
    }
    // An error of writing to standard error cannot be reported.
    let _ = StandardStream::Error.print(&text);
}

/// Prints "already up to date", unless there are warnings or errors.
pub fn print_up_to_date(arguments: &Arguments, results: &Results) {
    let has_more = results
        .iter()
        .any(|result| result.severity != Severity::Info);
    if !has_more && !arguments.quiet && arguments.output == ResultsFormat::Text {
        print_line(&"already up to date");
    }
}

/// With `--verbose`: prints a message, with the time since the start.
pub fn print_verbose(arguments: &Arguments, start: Instant, message: impl FnOnce() -> String) {
    if arguments.verbose && arguments.output == ResultsFormat::Text {
        let time = start.elapsed().as_secs_f64() * 1000.0;
        print_line(&format_args!("{time:9.1} ms  {}", message()));
    }
}

/// Prints a line to standard error.
pub(super) fn print_line(line: &dyn Piece) {
    // An error of writing to standard error cannot be reported.
    let _ = StandardStream::Error.print_line(&ShownLine::of(&[line]));
}

/// Parses a command line. If that fails, or is a request for help, prints what clap says and returns the exit code.
///
/// # Errors
/// The exit code.
pub fn parse_or_print<T>(
    arguments: Vec<OsString>,
    parse: impl Fn(Vec<OsString>) -> Result<T, clap::Error>,
) -> Result<T, u8> {
    // The message quotes arguments in many ways. It quotes none as it is if the arguments are escaped before.
    let escaped = arguments.iter().map(|argument| {
        let argument = argument.to_string_lossy();
        OsString::from(printable(&argument).into_owned())
    });
    let escaped = escaped.collect();
    let error = match parse(arguments) {
        Ok(parsed) => return Ok(parsed),
        Err(error) => error,
    };
    let text = match parse(escaped) {
        Err(same) if same.kind() == error.kind() => {
            ShownText::of_document(&same.render().to_string())
        }
        _ => {
            let mut line = ShownText::default();
            line.line(&error.render());
            line
        }
    };
    let (stream, code) = if error.use_stderr() {
        (StandardStream::Error, USAGE)
    } else {
        (StandardStream::Output, DONE)
    };
    Err(stream.print(&text).map_or(USAGE, |()| code))
}

/// Writes diffs to standard output: in colours and escaped where colours are enabled, otherwise their bytes.
pub fn write_diff(
    arguments: &Arguments,
    diffs: impl IntoIterator<Item = String>,
) -> Result<(), UsageError> {
    let stdout = StandardStream::Output;
    if !arguments.color.is_on(stdout) {
        return write_stdout(diffs);
    }
    let mut diffs = diffs.into_iter();
    let written = diffs.try_for_each(|diff| stdout.print(&result_printer::coloured_diff(&diff)));
    written.map_err(cannot_write)
}

pub(super) fn write_stdout(
    texts: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<(), UsageError> {
    StandardStream::Output.document(texts).map_err(cannot_write)
}

fn cannot_write(error: io::Error) -> UsageError {
    UsageError::cannot("write to standard output", error)
}
