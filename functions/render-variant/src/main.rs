//! The program `render-variant`.

use std::process::ExitCode;

fn main() -> ExitCode {
    krm_function::filter::main(&render_variant::FUNCTION)
}
