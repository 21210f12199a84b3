//! The binary of the function `set-package-context`.

use std::process::ExitCode;

use krm_variants::{filter, functions::set_package_context};

fn main() -> ExitCode {
    filter::main(&set_package_context::FUNCTION)
}
