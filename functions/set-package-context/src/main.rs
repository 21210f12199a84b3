//! The program `set-package-context`.

use std::process::ExitCode;

fn main() -> ExitCode {
    krm_function::filter::main(&set_package_context::FUNCTION)
}
