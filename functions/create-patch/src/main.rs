//! The program `create-patch`.

use std::process::ExitCode;

fn main() -> ExitCode {
    krm_function::filter::main(&create_patch::FUNCTION)
}
