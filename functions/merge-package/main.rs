//! The binary of the function `merge-package`.

use std::process::ExitCode;

use krm_variants::{filter, functions::merge_package};

fn main() -> ExitCode {
    filter::main(&merge_package::FUNCTION)
}
