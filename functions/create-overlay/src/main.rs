//! The program `create-overlay`.

use std::process::ExitCode;

fn main() -> ExitCode {
    krm_function::filter::main(&create_overlay::FUNCTION)
}
