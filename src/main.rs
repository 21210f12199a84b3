//! `krmv`: one program for a person with a package. It uses the library as any other program would.
// The comments of arguments are the text of `--help`, whose brackets are not links.
#![allow(rustdoc::broken_intra_doc_links)]
// Bad input must be an error, never a panic. Each exception states why it cannot happen.
#![cfg_attr(
    not(test),
    warn(clippy::expect_used, clippy::panic, clippy::unreachable)
)]

mod krmv;

use std::process::ExitCode;

fn main() -> ExitCode {
    krmv::main()
}
