//! The program `apply-patch`.

use std::process::ExitCode;

fn main() -> ExitCode {
    krm_function::filter::main(&apply_patch::FUNCTION)
}
