//! The user's `git`, run as a process: the only way to the network, and to the history around a package.

use std::ffi::OsStr;
use std::io::{self, ErrorKind, IsTerminal};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::failure::{Failure, Result};

/// Variables by which `git` names the repository of a hook; ours are named by arguments.
const OF_A_HOOK: [&str; 5] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
];

/// Runs `git` in a directory, whatever its exit code.
pub(crate) fn output<S: AsRef<OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Result<Output> {
    let mut command = Command::new("git");
    command.current_dir(directory).args(arguments);
    OF_A_HOOK.iter().for_each(|name| {
        command.env_remove(name);
    });
    if !io::stdin().is_terminal() {
        // No one could answer.
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

/// What `git` prints; a failure with its message otherwise.
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

/// What `git` prints if it succeeds, without the line end.
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
    let told: Vec<&str> = lines
        .filter(|line| !line.starts_with("Cloning") && !line.starts_with("hint:"))
        .take(4)
        .collect();
    if told.is_empty() {
        return format!("git ended with {}", output.status);
    }
    format!("git: {}", told.join("; "))
}
