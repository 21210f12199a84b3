//! The commands of `krmv`.
//!
//! `krmv NAME ...`, or a link called NAME, runs the function NAME. The other commands are for everyday work with one
//! package: they read it, call functions in memory, and write it. Only `git` accesses the network (`client`).
//!
//! Source: contract, krmv.

mod adopt;
mod blame;
mod blame_fields;
mod builtin;
mod cli;
mod client;
mod conflict;
mod diff;
mod exit;
mod failure;
mod get;
mod interactive;
mod kptfile;
mod merging;
mod overlay;
mod own_repository;
mod package;
mod print;
mod releases;
mod report;
mod resolution;
mod resolve;
mod review;
mod session;
mod source;
mod status;
mod upgrade;
mod upstream;
mod worktree;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use krm_variants::escaped::StandardStream;
use krm_variants::filter;
use krm_variants::functions::{ALL, Function};

use cli::{Cli, Command};
use failure::Result;

pub(crate) fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let name = arguments.first().map(Path::new).and_then(Path::file_stem);
    if let Some(function) = function(name.and_then(|name| name.to_str())) {
        return filter::main_with(function, arguments);
    }
    if let Some(function) = function(arguments.get(1).and_then(|word| word.to_str())) {
        return filter::main_with(function, arguments.into_iter().skip(1));
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

fn function(name: Option<&str>) -> Option<&'static Function> {
    ALL.into_iter().find(|function| Some(function.name) == name)
}

fn run(cli: Cli) -> Result<u8> {
    let common = cli.common;
    match cli.command {
        Command::Get(get) if get.adopt => adopt::run(&get, &common),
        Command::Get(get) => get::run(&get, &common),
        Command::Upgrade(upgrade) => upgrade::run(&upgrade, &common),
        Command::Resolve(resolve) => resolve::run(&resolve, &common),
        Command::Diff(diff) => diff::run(&diff, &common),
        Command::Status(status) => status::run(&status, &common),
        Command::Review(review) => review::run(&review, &common),
        Command::Blame(blame) => blame::run(&blame, &common),
        Command::Overlay(overlay) => overlay::run(&overlay, &common),
        Command::Functions => builtin::functions(&common),
        Command::Completion { shell } => builtin::completion(shell),
        Command::Man { directory } => builtin::manual(&directory),
        Command::Help { topic } => builtin::help(topic.as_deref()),
    }
}
