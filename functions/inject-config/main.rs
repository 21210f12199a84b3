//! The binary of the function `inject-config`.

use std::process::ExitCode;

use krm_variants::{filter, functions::inject_config};

fn main() -> ExitCode {
    filter::main(&inject_config::FUNCTION)
}
