//! The program `review-package`.

use std::process::ExitCode;

fn main() -> ExitCode {
    krm_function::filter::main(&review_package::FUNCTION)
}
