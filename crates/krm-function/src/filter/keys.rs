//! The `KEY=VALUE` arguments of a function: their flags, help and error messages.

use clap::{Arg, Command};

use crate::Function;
use krm_core::config::{Key, Keys};

/// Adds a flag for each key to a command, except for keys that are already flags.
pub(super) fn with_flags(keys: Keys, mut command: Command) -> Command {
    for key in keys.known() {
        let is_flag = command
            .get_arguments()
            .any(|flag| flag.get_id() == key.name);
        if !is_flag {
            command = command.arg(flag(key));
        }
    }
    command
}

/// The key as a flag, `--on-conflict VALUE`. A flag without a value means `true` if the key allows that.
fn flag(key: &Key) -> Arg {
    let mut name = String::new();
    for letter in key.name.chars() {
        if letter.is_ascii_uppercase() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    let flag = Arg::new(key.name).long(name).alias(key.name).hide(true);
    if key.words.contains(&"true") {
        return flag
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true");
    }
    flag
}

/// A hint for a flag that does not exist.
pub(super) fn unknown_flag_hint(function: &Function, flag: &str) -> Option<String> {
    let name = flag.trim_start_matches('-');
    let name = name.split('=').next().unwrap_or(name);
    match name {
        "dry-run" => Some("--diff prints what would change and writes nothing".to_owned()),
        "in-place" | "inplace" | "i" | "p" | "d" | "directory" => {
            let what = if function.on_package.writes() {
                "works on a directory in place"
            } else {
                "reads a directory; nothing is written to it"
            };
            Some(format!("--package DIR {what}"))
        }
        "before" | "original" | "upstream" | "live" | "patches" | "resources" => Some(format!(
            "give the inputs of {} with {}",
            function.name,
            flags(function)
        )),
        _ => None,
    }
}

/// The error for a `KEY=VALUE` argument of a function whose config has structure.
pub(super) fn no_pairs(function: &Function, argument: &str) -> String {
    let name = function.name;
    let flags = flags(function);
    format!(
        "expected no arguments but flags, found `{argument}`: give the functionConfig of {name} with --config FILE, \
         files and directories with {flags}"
    )
}

/// The flags that name files and directories, as a list for messages.
fn flags(function: &Function) -> String {
    let roles = function.roles.iter().map(|role| format!(", --{role} PATH"));
    roles.fold("--package DIR".to_owned(), |flags, role| flags + &role)
}

/// The error for an argument that is not `KEY=VALUE`; it names the flags for files and directories.
pub(super) fn not_a_pair(function: &Function, argument: &str) -> String {
    let expected = format!("expected KEY=VALUE, found `{argument}`");
    if argument == "help" {
        return format!("{expected}; --help explains the arguments");
    }
    if let Some((key, value)) = argument.split_once(':')
        && function.keys.known().iter().any(|known| known.name == key)
    {
        return format!("{expected}; write `{key}={}`", value.trim());
    }
    format!(
        "{expected}; give files and directories with flags: {}",
        flags(function)
    )
}
