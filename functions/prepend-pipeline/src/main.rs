//! The program `prepend-pipeline`.

use std::process::ExitCode;

fn main() -> ExitCode {
    krm_function::filter::main(&prepend_pipeline::FUNCTION)
}
