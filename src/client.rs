//! Runs the user's `git` as a process. With `curl`, it is the only way to the network.
//!
//! The arguments are a [`GitCommand`], so that nothing that data names can be a flag. The current directory is the root
//! of the user's own work tree, or of the file system: never a folder that data named or filled.

use std::io::{self, ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use krm_address::Credentials;
use krm_upstream::git::GitCommand;

use super::failure::{Failure, Result};
use super::own_repository::OwnRepository;
use krm_process::running::{self, ProgramOutput, Watch};

/// Variables that are removed. Git sets most of them for a hook, and they would redirect our commands to the hook's
/// repository; the last two do not go with `GIT_LITERAL_PATHSPECS`.
const REMOVED_VARIABLES: [&str; 13] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_QUARANTINE_PATH",
    "GIT_SHALLOW_FILE",
    "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
];

/// Settings of every command. Names are read and shown as UTF-8, whatever encoding the user prefers, and lines of
/// `git log` as the format says. A folder that has the shape of a repository is none.
const SETTINGS: &[&str] = &[
    "-c",
    "i18n.logOutputEncoding=UTF-8",
    "-c",
    "core.quotePath=false",
    "-c",
    "log.showSignature=false",
    "-c",
    "safe.bareRepository=explicit",
    "--no-pager",
];

/// Settings of commands that reach other machines.
const REMOTE_SETTINGS: &[&str] = &[
    "-c",
    "http.lowSpeedLimit=1",
    "-c",
    "http.lowSpeedTime=30",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
];

/// The protocols that Git may use: no helper that an address chooses.
const PROTOCOLS: [&str; 5] = ["https", "http", "ssh", "git", "file"];

/// How long a remote command may go without a byte.
const PATIENCE: Duration = Duration::from_secs(30);

/// The same while a user may be asked for a password or passphrase.
const PATIENCE_WITH_USER: Duration = Duration::from_secs(300);

/// The repository that a command is about.
#[derive(Clone, Copy)]
pub(crate) enum Place<'p> {
    /// The user's own, with all of its configuration, hooks included.
    Own(&'p OwnRepository),
    /// The same for a commit: its hooks run in the environment that the user's own `git commit` gives them.
    Commit(&'p OwnRepository),
    /// A clone in the cache.
    Cache(&'p Path),
    /// None, but the configuration of the user's own repository counts for addresses.
    Elsewhere,
}

/// Runs `git`. A nonzero exit code is not an error.
pub(crate) fn output(place: Place<'_>, command: &GitCommand) -> Result<ProgramOutput> {
    watched(place, command, None, &[])
}

fn watched(
    place: Place<'_>,
    command: &GitCommand,
    credentials: Option<&Credentials>,
    input: &[u8],
) -> Result<ProgramOutput> {
    let mut git = prepared(place, command);
    if let Some(credentials) = credentials {
        let first = std::env::var("GIT_CONFIG_COUNT").ok();
        let first = first.and_then(|count| count.parse().ok()).unwrap_or(0);
        git.envs(credentials.variables(first));
    }
    let patience = is_remote(command).then(|| {
        // Each packet is a line of the trace: progress that Git does not print.
        git.env("GIT_TRACE_PACKET", "2");
        if io::stdin().is_terminal() {
            PATIENCE_WITH_USER
        } else {
            PATIENCE
        }
    });
    let watch = Watch {
        patience,
        input,
        ..Watch::default()
    };
    running::run(&mut git, &watch).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::new(
            "cannot find `git` on PATH; krmv uses it to reach repositories and to read your history",
        )
        .hint("git --version"),
        _ => Failure::from(error).context("cannot run `git`"),
    })
}

/// The process, with its arguments, environment and current directory.
fn prepared(place: Place<'_>, command: &GitCommand) -> Command {
    let mut git = Command::new("git");
    if let Place::Commit(repository) = place {
        git.args(command.arguments()).current_dir(repository.root());
        remove_variables(&mut git);
        return git;
    }
    git.args(SETTINGS);
    if let Place::Cache(clone) = place {
        let own = own_configuration();
        let own = GitCommand::new(&[]).own_setting("include.path=", own.as_deref());
        git.args(own.arguments()).args(["-c", "core.bare=true"]);
        git.args(
            GitCommand::new(&[])
                .own_path("--git-dir=", clone)
                .arguments(),
        );
    }
    if !matches!(place, Place::Own(_) | Place::Commit(_)) {
        git.args(REMOTE_SETTINGS);
    }
    git.args(command.arguments());
    let root = match place {
        Place::Own(repository) | Place::Commit(repository) => repository.root().to_path_buf(),
        Place::Cache(_) | Place::Elsewhere => current_root(),
    };
    if let Some(above) = root.parent() {
        git.env("GIT_CEILING_DIRECTORIES", above);
    }
    git.current_dir(root);
    guard(&mut git);
    git
}

/// Limits what a program may do that runs Git, or is Git.
pub(crate) fn guard(program: &mut Command) {
    remove_variables(program);
    // A path may hold characters that a pattern is made of.
    program.env("GIT_LITERAL_PATHSPECS", "1");
    program.env("GIT_ALLOW_PROTOCOL", protocols());
    if !io::stdin().is_terminal() {
        // Without a terminal, no user can answer a prompt.
        program.env("GIT_TERMINAL_PROMPT", "0");
    }
}

fn remove_variables(program: &mut Command) {
    REMOVED_VARIABLES.iter().for_each(|name| {
        program.env_remove(name);
    });
}

/// The protocols that the user also allows.
fn protocols() -> String {
    let user = std::env::var("GIT_ALLOW_PROTOCOL").ok();
    let is_allowed = |name: &&str| {
        let user = user.as_ref();
        user.is_none_or(|user| user.split(':').any(|allowed| allowed == *name))
    };
    let allowed: Vec<&str> = PROTOCOLS.into_iter().filter(is_allowed).collect();
    allowed.join(":")
}

/// The root of the work tree that the user is in, otherwise of the file system.
fn current_root() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    if let Some(repository) = OwnRepository::around(&here) {
        return repository.root().to_path_buf();
    }
    here.ancestors().last().unwrap_or(&here).to_path_buf()
}

/// The configuration file of the repository that the user is in: it may have credentials or another address for a URL.
fn own_configuration() -> Option<PathBuf> {
    let repository = OwnRepository::around(&std::env::current_dir().ok()?)?;
    let command = GitCommand::new(&[
        "rev-parse",
        "--path-format=absolute",
        "--git-path",
        "config",
    ]);
    line(Place::Own(&repository), &command)
        .ok()?
        .map(PathBuf::from)
}

fn is_remote(command: &GitCommand) -> bool {
    let first = command.options().first();
    first.is_some_and(|word| word == "fetch" || word == "ls-remote")
}

/// The standard output of `git`. If `git` fails, its message is the error.
pub(crate) fn text(place: Place<'_>, command: &GitCommand) -> Result<String> {
    text_with(place, command, None)
}

/// Like [`text`], with credentials that the user typed.
pub(crate) fn text_with(
    place: Place<'_>,
    command: &GitCommand,
    credentials: Option<&Credentials>,
) -> Result<String> {
    printed(watched(place, command, credentials, &[])?)
}

/// Runs `git` on the user's own repository with a text as its standard input.
pub(crate) fn with_input(
    repository: &OwnRepository,
    command: &GitCommand,
    input: &[u8],
) -> Result<String> {
    printed(watched(Place::Own(repository), command, None, input)?)
}

/// What `git` printed. If it failed, its message is the error.
fn printed(output: ProgramOutput) -> Result<String> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(Failure::new(message(&output)))
}

/// The standard output of `git` without trailing whitespace. `None` if `git` fails or prints nothing, an error if it cannot
/// run.
pub(crate) fn line(place: Place<'_>, command: &GitCommand) -> Result<Option<String>> {
    let Ok(text) = printed(output(place, command)?) else {
        return Ok(None);
    };
    let line = text.trim_end();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}

/// The message of a command that was ended because nothing happened.
pub(crate) const NO_ANSWER: &str = "gave up: received nothing for 30 seconds";

/// The reason that `git` gives for a failure, as one line.
pub(crate) fn message(output: &ProgramOutput) -> String {
    if output.stopped.is_some() {
        return NO_ANSWER.to_owned();
    }
    // A server may end its lines with zero bytes.
    let text = String::from_utf8_lossy(&output.stderr).replace('\0', "");
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_message = |line: &&str| {
        let others = ["Cloning", "hint:", "From ", "* [", "+ ", "- ["];
        !others.iter().any(|other| line.starts_with(other))
    };
    let messages: Vec<&str> = lines.filter(is_message).take(4).collect();
    if messages.is_empty() {
        return format!("git ended with {}", output.status);
    }
    format!("git: {}", messages.join("; "))
}
