//! The binary of the function `create-patch`.

use std::process::ExitCode;

use krm_variants::{filter, functions::create_patch};

fn main() -> ExitCode {
    filter::main(&create_patch::FUNCTION)
}
