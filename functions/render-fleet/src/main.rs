//! The program `render-fleet`.

use std::process::ExitCode;

fn main() -> ExitCode {
    krm_function::filter::main(&render_fleet::FUNCTION)
}
