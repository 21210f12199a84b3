//! The binary of the function `render-fleet`.

use std::process::ExitCode;

use krm_variants::{filter, functions::render_fleet};

fn main() -> ExitCode {
    filter::main(&render_fleet::FUNCTION)
}
