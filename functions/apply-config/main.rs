//! The binary of the function `apply-config`.

use std::process::ExitCode;

use krm_variants::{filter, functions::apply_config};

fn main() -> ExitCode {
    filter::main(&apply_config::FUNCTION)
}
