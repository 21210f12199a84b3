//! The binary of the function `render-variant`.

use std::process::ExitCode;

use krm_variants::{filter, functions::render_variant};

fn main() -> ExitCode {
    filter::main(&render_variant::FUNCTION)
}
