//! The binary of the function `create-overlay`.

use std::process::ExitCode;

use krm_variants::{filter, functions::create_overlay};

fn main() -> ExitCode {
    filter::main(&create_overlay::FUNCTION)
}
