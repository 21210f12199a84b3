//! The binary of the function `prepend-pipeline`.

use std::process::ExitCode;

use krm_variants::{filter, functions::prepend_pipeline};

fn main() -> ExitCode {
    filter::main(&prepend_pipeline::FUNCTION)
}
