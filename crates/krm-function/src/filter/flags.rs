//! Headings and helpers for the definitions of flags.

use std::path::PathBuf;

use clap::{Arg, ValueHint, value_parser};

pub const INPUTS: &str = "Inputs";
pub const PACKAGE: &str = "On a package directory";
pub const RESULTS: &str = "Results";
pub(super) const GIT: &str = "For Git";
pub(super) const OTHER: &str = "Other";

pub(super) fn path_flag(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    let flag = Arg::new(name).long(name).value_name(value).help(help);
    let flag = flag.help_heading(INPUTS);
    flag.value_parser(value_parser!(PathBuf))
}

/// Adds a hint about the value of a flag for completions. Without it, bash completes a directory as if the path ended
/// there.
pub fn with_value_hint(flag: Arg) -> Arg {
    let name = flag.get_value_names().and_then(|names| names.first());
    let hint = match name.map(|name| name.as_str()) {
        Some("DIR" | "DIRECTORY" | "DIRECTORIES") => ValueHint::DirPath,
        Some("FILE" | "PATH") => ValueHint::FilePath,
        _ => return flag,
    };
    flag.value_hint(hint)
}
