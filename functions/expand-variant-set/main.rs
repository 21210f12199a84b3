//! The binary of the function `expand-variant-set`.

use std::process::ExitCode;

use krm_variants::{filter, functions::expand_variant_set};

fn main() -> ExitCode {
    filter::main(&expand_variant_set::FUNCTION)
}
