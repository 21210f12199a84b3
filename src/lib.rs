//! krmv makes variants of configuration packages and keeps them up to date, without losing local edits.
//!
//! `krmv NAME ...`, or a link called NAME, runs the function NAME ([`FUNCTIONS`]). The other commands are for everyday
//! work with one package: they read it, call functions in memory, and write it.
//!
//! ```text
//! $ krmv get https://example.com/catalog.git//web@v1      a package, and a lock
//! $ krmv status                                          newer revisions, and what they would bring
//! $ krmv upgrade                                         the next revision, with your edits
//! $ krmv resolve                                         what you and upstream changed differently
//! ```
//!
//! # Invariants
//!
//! - The Kptfile is the only state of a package. There is no database.
//! - Only the user's own `git` and `curl` access the network. Arguments are literals of the program, paths of the user's
//!   own, and types for what data names; `curl` gets addresses and secrets by standard input.
//! - A command computes everything before it writes.
//! - A decision about a conflict changes the place that it is about, and no other.
//!
//! # Limitations
//!
//! - This library is for the program and its tests. Its interface is the command line; the crates `krm-*` are for other
//!   programs.
//! - Upstreams on other machines need `git` on PATH, and `curl` if they are not repositories.

// The comments of arguments are the text of `--help`, whose brackets are not links.
#![allow(rustdoc::broken_intra_doc_links)]

mod adopt;
mod all;
mod blame;
mod blame_file;
mod blame_notes;
mod blame_states;
mod builtin;
mod cli;
mod client;
#[cfg(test)]
mod command_line_tests;
mod conflict;
mod counted;
mod diff;
mod exit;
mod failure;
mod fetch;
mod field_history;
mod followed;
mod functions;
mod get;
mod interactive;
mod kptfile;
mod merging;
mod mistyped;
mod overlay;
mod own_repository;
mod package;
mod policy;
mod print;
mod progress;
mod releases;
mod rendering;
mod report;
mod resolution;
mod resolve;
mod review;
#[cfg(test)]
mod schemas;
mod session;
mod shared;
mod shared_releases;
mod source;
mod status;
mod upgrade;
mod upstream;
mod worktree;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use krm_function::Function;
use krm_function::filter::{self, Color};
use krm_package::escaped::StandardStream;

pub use functions::FUNCTIONS;

use cli::{Cli, Command};
use failure::Result;

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let name = arguments.first().map(Path::new).and_then(Path::file_stem);
    if let Some(function) = function(name.and_then(|name| name.to_str())) {
        return filter::main_with(function, arguments);
    }
    if let Some(function) = function(arguments.get(1).and_then(|word| word.to_str())) {
        return filter::main_with(function, arguments.into_iter().skip(1));
    }
    if let Some(failure) = mistyped::meant(&arguments) {
        print::failure(&failure, Color::Auto.is_on(StandardStream::Error));
        return ExitCode::from(failure.code);
    }
    let cli = match filter::parse_or_print(arguments, Cli::try_parse_from) {
        Ok(cli) => cli,
        Err(code) => return ExitCode::from(code),
    };
    let colour = cli.common.color.is_on(StandardStream::Error);
    let code = run(cli).unwrap_or_else(|failure| {
        print::failure(&failure, colour);
        failure.code
    });
    ExitCode::from(code)
}

/// Whether the program accepts these arguments, its name first: for the tests of what messages name.
pub fn accepts(arguments: &[String]) -> bool {
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    let is_function = function(arguments.get(1).and_then(|word| word.to_str())).is_some();
    is_function || (mistyped::meant(&arguments).is_none() && Cli::try_parse_from(arguments).is_ok())
}

fn function(name: Option<&str>) -> Option<&'static Function> {
    FUNCTIONS
        .into_iter()
        .find(|function| Some(function.name) == name)
}

fn run(cli: Cli) -> Result<u8> {
    let common = cli.common;
    match cli.command {
        Command::Get(get) if get.adopt => adopt::run(&get, &common),
        Command::Get(get) => get::run(&get, &common),
        Command::Fetch(fetch) => fetch::run(&fetch, &common),
        Command::Upgrade(upgrade) if upgrade.all => all::run(&upgrade, &common),
        Command::Upgrade(upgrade) => upgrade::run(&upgrade, &common),
        Command::Skip(skip) => counted::skip(&skip, &common),
        Command::Allow(allow) => counted::allow(&allow, &common),
        Command::Resolve(resolve) => resolve::run(&resolve, &common),
        Command::Diff(diff) => diff::run(&diff, &common),
        Command::Status(status) => status::run(&status, &common),
        Command::Review(review) => review::run(&review, &common),
        Command::Blame(blame) => blame::run(&blame, &common),
        Command::Overlay(overlay) => overlay::run(&overlay, &common),
        Command::Version => builtin::version(&common),
        Command::Functions => builtin::functions(&common),
        Command::Completion { shell } => builtin::completion(shell),
        Command::Man { directory } => builtin::manual(&directory),
        Command::Help { topic } => builtin::help(topic.as_deref()),
    }
}
