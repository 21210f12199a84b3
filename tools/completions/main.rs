//! Writes the completions of each function for bash, zsh and fish; `krmv completion` prints its own.
//!
//! ```text
//! cargo run --example completions -- DIR     DIR/{bash,zsh,fish}/*
//! ```
//!
//! `tools/release.sh` puts them into the archives. No function has code for them.

use std::error::Error;
use std::fs::create_dir_all;
use std::path::PathBuf;

use clap_complete::Shell;
use krm_function::filter::{command, with_value_hint};
use krmv::FUNCTIONS;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os().nth(1).map(PathBuf::from);
    let directory = directory.ok_or("usage: completions DIR")?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let directory = directory.join(shell.to_string());
        create_dir_all(&directory)?;
        for function in FUNCTIONS {
            let mut command = command(function).mut_args(with_value_hint);
            clap_complete::generate_to(shell, &mut command, function.name, &directory)?;
        }
    }
    Ok(())
}
