//! The program `inject-config`.

use std::process::ExitCode;

fn main() -> ExitCode {
    krm_function::filter::main(&inject_config::FUNCTION)
}
