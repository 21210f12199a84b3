//! The binary of the function `apply-patch`.

use std::process::ExitCode;

use krm_variants::{filter, functions::apply_patch};

fn main() -> ExitCode {
    filter::main(&apply_patch::FUNCTION)
}
