//! `krmv`: one program for a person with packages.

use std::process::ExitCode;

fn main() -> ExitCode {
    krmv::main()
}
