//! Runs a function on a ResourceList: reads it from standard input and writes the result to standard output.

use std::io::{self, IsTerminal, Read};
use std::time::Instant;

use super::arguments::{Arguments, ResultsFormat};
use super::print::{
    overwrite_results_with_failure, print_results, print_verbose, write_results, write_stdout,
};
use super::read::utf8;
use super::step::run;
use super::{DONE, FAILED};
use crate::Function;
use krm_core::config::UsageError;
use krm_core::resource_list::ResourceList;
use krm_core::result_printer::ResultPrinter;

pub(super) fn on_stdin(function: &Function, arguments: &Arguments) -> Result<u8, UsageError> {
    if io::stdin().is_terminal() {
        let message = "expected a ResourceList on standard input, found a terminal; \
                       to work on a directory, give --package DIR";
        return Err(UsageError::of(message));
    }
    let start = Instant::now();
    let mut bytes = Vec::new();
    (io::stdin().lock().read_to_end(&mut bytes))
        .map_err(|error| UsageError::cannot("read standard input", error))?;
    let text = utf8(bytes, "standard input")?;
    let mut list = ResourceList::parse(text).map_err(UsageError::of)?;
    print_verbose(arguments, start, || {
        format!("read {} items from standard input", list.items().count())
    });
    // The documents are ignored here: the step has already replaced the list's items with them.
    let (_, results) = run(function, arguments, &mut list)?;
    let failed = results.has_errors();
    print_verbose(arguments, start, || {
        format!("{}: {} results", function.name, results.iter().count())
    });
    write_results(function, arguments, &results)?;
    if failed {
        print_results(function, arguments, &results, ResultPrinter::errors);
    }
    let text = list.emit(&results, !failed).map_err(UsageError::of)?;
    let mut length = 0;
    let pieces = text.iter().map(|piece| &**piece);
    write_stdout(pieces.inspect(|piece: &&str| length += piece.len()))
        .map_err(|error| overwrite_results_with_failure(function, arguments, error))?;
    print_verbose(arguments, start, || {
        format!("wrote {length} bytes to standard output")
    });
    if !failed && arguments.output == ResultsFormat::Json {
        print_results(function, arguments, &results, ResultPrinter::errors);
    }
    Ok(if failed { FAILED } else { DONE })
}
