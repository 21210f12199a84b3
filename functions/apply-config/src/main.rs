//! The program `apply-config`.

use std::process::ExitCode;

fn main() -> ExitCode {
    krm_function::filter::main(&apply_config::FUNCTION)
}
