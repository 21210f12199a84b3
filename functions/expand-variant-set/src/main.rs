//! The program `expand-variant-set`.

use std::process::ExitCode;

fn main() -> ExitCode {
    krm_function::filter::main(&expand_variant_set::FUNCTION)
}
