//! Runs a function as a program: arguments, standard input and output, package directories, exit codes.
//!
//! [`main`] reads the arguments. Then `stream` or `package_directory` reads the items, runs the step and
//! writes its output.

mod arguments;
mod command;
mod driver;
mod flags;
mod keys;
mod package_directory;
mod print;
mod progress;
mod read;
mod step;
mod stream;

pub use arguments::{Arguments, Color, ReportFormat};
pub use command::command;
pub use flags::{INPUTS, PACKAGE, RESULTS, with_value_hint};
pub use krm_core::result_printer::coloured_diff;
pub use package_directory::write_documents;
pub use print::{
    parse_or_print, print_result_list, print_results, print_up_to_date, print_verbose, write_diff,
    write_results,
};
pub use progress::{ProgressLine, search_progress, shows_progress};
pub use read::config_of_arguments;
pub use step::read_rules;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::{Function, OnPackage};

/// Exit code: everything was done; info and warning results are allowed.
pub const DONE: u8 = 0;
/// Exit code: there is at least one error result; nothing was changed.
pub const FAILED: u8 = 1;
/// Exit code: the function could not start or could not write its output.
pub const USAGE: u8 = 2;
/// Exit code of `--check`: something would change.
pub const WOULD_CHANGE: u8 = 3;
/// Exit code of `--exit-conflicts`: everything was written, and there were conflicts.
pub const CONFLICTS: u8 = 4;

/// Runs a function with the arguments, standard input and output of this process.
pub fn main(function: &Function) -> ExitCode {
    main_with(function, std::env::args_os())
}

/// As [`main`], with these arguments; the first is the program's name.
pub fn main_with(function: &Function, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = arguments.into_iter().collect();
    let arguments = match parse_or_print(arguments, |all| command::parse(function, all)) {
        Ok(arguments) => arguments,
        Err(code) => return ExitCode::from(code),
    };
    let code = command::check(&arguments, function).and_then(|()| {
        if let OnPackage::Fleet(fleet) = function.on_package
            && let Some(code) = fleet.run(function, &arguments)?
        {
            return Ok(code);
        }
        match (&arguments.package, function.merge_driver) {
            (_, Some(driver)) if !arguments.merged_files.is_empty() => {
                driver::on_files(function, &arguments, driver)
            }
            (Some(directory), _) => package_directory::on_package(function, &arguments, directory),
            (None, _) => stream::on_stdin(function, &arguments),
        }
    });
    ExitCode::from(code.unwrap_or_else(|error| {
        print::print_line(&format_args!("{}: {error}", function.name));
        USAGE
    }))
}
