//! Writes the manual page of each function, and its completions for bash, zsh and fish.
//!
//! ```text
//! cargo run --example manual -- DIR     DIR/man/man1/*.1, DIR/completions/{bash,zsh,fish}/*
//! ```
//!
//! `tools/release.sh` puts them into the archives. No program has code for them.

use std::error::Error;
use std::fs::{create_dir_all, write};
use std::path::PathBuf;

use clap::{Arg, ValueHint};
use clap_complete::Shell;
use clap_mangen::Man;
use krm_variants::filter::command;
use krm_variants::functions::ALL;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os().nth(1).map(PathBuf::from);
    let directory = directory.ok_or("usage: manual DIR")?;
    let pages = directory.join("man/man1");
    create_dir_all(&pages)?;
    for function in ALL {
        let mut page = Vec::new();
        // A manual page joins lines that no empty one parts.
        let command_of_page = command(function).mut_arg("pairs", |pairs| {
            let help = pairs
                .get_help()
                .map(|help| help.to_string().replace('\n', "\n\n"));
            pairs.help(help.unwrap_or_default())
        });
        Man::new(command_of_page).render(&mut page)?;
        write(pages.join(format!("{}.1", function.name)), page)?;
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let directory = directory.join("completions").join(shell.to_string());
            create_dir_all(&directory)?;
            let mut command = command(function).mut_args(with_hint);
            clap_complete::generate_to(shell, &mut command, function.name, directory)?;
        }
    }
    Ok(())
}

/// Says what a flag's value is. Without it, bash completes a directory as if it were the whole path.
fn with_hint(flag: Arg) -> Arg {
    let name = flag.get_value_names().and_then(|names| names.first());
    let hint = match name.map(|name| name.as_str()) {
        Some("DIR") => ValueHint::DirPath,
        Some("FILE" | "PATH") => ValueHint::FilePath,
        _ => return flag,
    };
    flag.value_hint(hint)
}
