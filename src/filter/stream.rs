//! A ResourceList on standard input, a ResourceList on standard output.

use std::io::{self, IsTerminal};
use std::time::Instant;

use super::arguments::{Arguments, Output};
use super::function::Function;
use super::print::{claim_no_success, print_results, say, write_results, write_stdout};
use super::read::utf8;
use super::step::{leave, run};
use super::{DONE, FAILED};
use crate::config::UsageError;
use crate::input;
use crate::report::Report;
use crate::resource_list::ResourceList;
use crate::results::{FunctionResult, Reason, Results, Severity};

pub(super) fn on_stdin(function: &Function, arguments: &Arguments) -> Result<u8, UsageError> {
    if io::stdin().is_terminal() {
        let message = "expected a ResourceList on standard input, found a terminal; \
                       to work on a directory, give --package DIR";
        return Err(UsageError(message.to_owned()));
    }
    let start = Instant::now();
    let bytes = input::read_stdin()
        .map_err(|error| UsageError(format!("cannot read standard input: {error}")))?;
    let text = utf8(bytes, "standard input")?;
    let mut list = ResourceList::parse(text).map_err(|error| UsageError(error.to_string()))?;
    say(arguments, start, || {
        format!("read {} items from standard input", list.items().count())
    });
    let mut results = refuse_paths(&list);
    let refused = results.has_errors();
    for result in &run(function, arguments, &mut list)? {
        if !refused || result.severity == Severity::Error {
            results.push(result.clone());
        }
    }
    let failed = results.has_errors();
    say(arguments, start, || {
        format!("{}: {} results", function.name, results.iter().count())
    });
    write_results(function, arguments, &results)?;
    if failed {
        print_results(function, arguments, &results, Report::errors);
    }
    let texts = list
        .to_texts(&results, !failed)
        .map_err(|error| UsageError(error.to_string()))?;
    write_stdout(texts.iter().map(|text| &**text))
        .map_err(|error| claim_no_success(function, arguments, error))?;
    say(arguments, start, || {
        let length: usize = texts.iter().map(|text| text.len()).sum();
        format!("wrote {length} bytes to standard output")
    });
    if !failed && arguments.output == Output::Json {
        print_results(function, arguments, &results, Report::errors);
    }
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
