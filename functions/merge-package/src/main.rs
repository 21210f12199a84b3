//! The program `merge-package`.

use std::process::ExitCode;

fn main() -> ExitCode {
    krm_function::filter::main(&merge_package::FUNCTION)
}
