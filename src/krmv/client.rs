//! Runs the user's `git` as a process. It is the only way to the network.

use std::ffi::OsStr;
use std::io::{self, ErrorKind, IsTerminal};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::failure::{Failure, Result};

/// Variables that are removed. Git sets most of them for a hook, and they would redirect our commands to the hook's
/// repository; the last two do not go with `GIT_LITERAL_PATHSPECS`.
const REMOVED_VARIABLES: [&str; 12] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_SHALLOW_FILE",
    "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
];

/// Runs `git` in a directory. A nonzero exit code is not an error.
pub(crate) fn output<S: AsRef<OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Result<Output> {
    let mut command = Command::new("git");
    // Names are read and shown as UTF-8, whatever encoding the user prefers, and lines of `git log` as the format says.
    for setting in [
        "i18n.logOutputEncoding=UTF-8",
        "core.quotePath=false",
        "log.showSignature=false",
    ] {
        command.args(["-c", setting]);
    }
    command.current_dir(directory).args(arguments);
    REMOVED_VARIABLES.iter().for_each(|name| {
        command.env_remove(name);
    });
    // A path may hold characters that a pattern is made of.
    command.env("GIT_LITERAL_PATHSPECS", "1");
    if !io::stdin().is_terminal() {
        // Without a terminal, no user can answer a prompt.
        command.env("GIT_TERMINAL_PROMPT", "0");
    }
    command.stdin(Stdio::null());
    command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound if directory.is_dir() => Failure::new(
            "cannot find `git` on PATH; krmv uses it to reach repositories and to read your history",
        )
        .hint("git --version"),
        _ => Failure::new(format!("cannot run `git` in '{}': {error}", directory.display())),
    })
}

/// The standard output of `git`. If `git` fails, its message is the error.
pub(crate) fn text<S: AsRef<OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Result<String> {
    let output = output(directory, arguments)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(Failure::new(message(&output)))
}

/// The standard output of `git` without trailing whitespace. `None` if `git` fails or prints nothing.
pub(crate) fn line<S: AsRef<OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Option<String> {
    let text = text(directory, arguments).ok()?;
    let line = text.trim_end();
    (!line.is_empty()).then(|| line.to_owned())
}

/// The reason that `git` gives for a failure, as one line.
pub(crate) fn message(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let messages: Vec<&str> = lines
        .filter(|line| !line.starts_with("Cloning") && !line.starts_with("hint:"))
        .take(4)
        .collect();
    if messages.is_empty() {
        return format!("git ended with {}", output.status);
    }
    format!("git: {}", messages.join("; "))
}
