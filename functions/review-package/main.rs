//! The binary of the function `review-package`.

use std::process::ExitCode;

use krm_variants::{filter, functions::review_package};

fn main() -> ExitCode {
    filter::main(&review_package::FUNCTION)
}
