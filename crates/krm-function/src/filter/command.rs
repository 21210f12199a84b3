//! The command line of a function: its definition for clap, and what clap makes of the arguments.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command, CommandFactory, FromArgMatches, value_parser};

use super::arguments::{Arguments, ReportFormat};
use super::flags::{GIT, OTHER, PACKAGE, RESULTS, path_flag};
use super::keys::{no_pairs, not_a_pair, unknown_flag_hint, with_flags};
use crate::{Function, OnPackage};
use krm_core::config::{Keys, UsageError};
use krm_package::escaped::quoted;

/// Checks that clap cannot express.
pub(super) fn check(arguments: &Arguments, function: &Function) -> Result<(), UsageError> {
    if let (Keys::None, Some(argument)) = (function.keys, arguments.pairs.first()) {
        return Err(UsageError::of(no_pairs(function, argument)));
    }
    let is_pair = |pair: &&String| pair.split_once('=').is_some_and(|(key, _)| !key.is_empty());
    if let Some(argument) = arguments.pairs.iter().find(|pair| !is_pair(pair)) {
        return Err(UsageError::of(not_a_pair(function, argument)));
    }
    if arguments.prints_results() && arguments.format.is_some() {
        let message =
            "--results -: standard output is used for the review; --format json prints the results";
        return Err(UsageError::of(message));
    }
    if arguments.prints_results() && (arguments.package.is_none() || arguments.diff) {
        let taken = if arguments.diff {
            "the diff"
        } else {
            "the ResourceList; give --package DIR"
        };
        return Err(UsageError::of(format!(
            "--results -: standard output is used for {taken}"
        )));
    }
    Ok(())
}

const AFTER_HELP: &str = "\
Without --package, reads a ResourceList (config.kubernetes.io/v1) from standard input and writes \
one to standard output, as kpt and kustomize expect.

Exit codes:
  0  done
  1  an error result; ";

const AFTER_EXIT_CODE_1: &str = "
  2  wrong usage, config or input
  3  with --check: something would change";

pub(super) fn parse(
    function: &Function,
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Arguments, clap::Error> {
    // In a container, the binary has another name (`/function`); messages must name the function.
    let named = std::iter::once(OsString::from(function.name));
    let arguments: Vec<OsString> = named.chain(arguments.into_iter().skip(1)).collect();
    let words = arguments
        .iter()
        .map(|argument| quoted(&argument.to_string_lossy()));
    // The report of a fleet shows the command line.
    let is_of_fleet = matches!(function.on_package, OnPackage::Fleet(_));
    let command_line = is_of_fleet.then(|| words.collect::<Vec<_>>().join(" "));
    let matches = command(function)
        .try_get_matches_from_mut(arguments)
        .map_err(|mut error| {
            // Removes the hint "To pass it as a value, use `-- --flag`": no value begins with a dash.
            error.remove(ContextKind::Suggested);
            let unknown = error
                .get(ContextKind::InvalidArg)
                .filter(|_| error.kind() == ErrorKind::UnknownArgument);
            if let Some(advice) =
                unknown.and_then(|flag| unknown_flag_hint(function, &flag.to_string()))
            {
                let advice = ContextValue::StyledStrs(vec![advice.into()]);
                error.insert(ContextKind::Suggested, advice);
            }
            error
        })?;
    let mut arguments = Arguments::from_arg_matches(&matches)?;
    arguments.command = command_line.unwrap_or_default();
    for key in function.keys.known() {
        let value = matches.try_get_one::<String>(key.name).ok().flatten();
        arguments
            .pairs
            .extend(value.map(|value| [key.name, "=", value].concat()));
    }
    for role in function.roles {
        let paths = matches.get_many::<PathBuf>(role.as_str());
        let paths = paths.into_iter().flatten().cloned();
        arguments.supplied.extend(paths.map(|path| (*role, path)));
    }
    if function.uses_schema {
        arguments.openapi = matches.get_one::<PathBuf>(OPENAPI).cloned();
    }
    if function.merges() {
        arguments.conflicts = matches.get_one::<PathBuf>(CONFLICTS).cloned();
        arguments.exit_conflicts = matches.get_flag(EXIT_CONFLICTS);
    }
    match function.on_package {
        OnPackage::Fleet(fleet) => arguments.catalogs = fleet.catalogs(&matches)?,
        OnPackage::PrintsFiles => arguments.into = matches.get_one::<PathBuf>(INTO).cloned(),
        OnPackage::Reviews(_) => {
            arguments.format = matches.get_one::<ReportFormat>(FORMAT).copied();
        }
        OnPackage::Edits | OnPackage::EditsOrCreates | OnPackage::Prints => {}
    }
    if function.merge_driver.is_some() {
        let files = matches.get_many::<PathBuf>(MERGE_DRIVER);
        arguments
            .merged_files
            .extend(files.into_iter().flatten().cloned());
    }
    arguments.matches = matches;
    Ok(arguments)
}

/// The command line of a function, for its completions and manual page.
pub fn command(function: &Function) -> Command {
    let has_no_keys = matches!(function.keys, Keys::None);
    let mut command = Arguments::command()
        .name(function.name)
        .about(function.about)
        .after_help(format!("{}\n\n{SEE_MORE}", examples(function)))
        .after_long_help(after_long_help(function))
        .mut_arg("pairs", |pairs| {
            let (help, long_help) = (function.keys.summary(), function.keys.help());
            let pairs = pairs.help(help).long_help(long_help);
            pairs.hide(has_no_keys).next_line_help(true)
        });
    if !function.on_package.writes() {
        let help = "Read a package directory, not standard input; nothing is written to it";
        command = command.mut_arg("package", |package| package.help(help));
    }
    for role in function.roles {
        let action = if role.is_repeatable() {
            ArgAction::Append
        } else {
            ArgAction::Set
        };
        let flag = path_flag(role.as_str(), "PATH", role.help());
        command = command.arg(flag.action(action));
    }
    if function.uses_schema {
        let help = "Add the types of an OpenAPI v2 document (kubectl get --raw /openapi/v2)";
        command = command.arg(path_flag(OPENAPI, "FILE", help).hide_short_help(true));
    }
    if function.merges() {
        let help =
            "Decide conflicts by the rules and guards of an UpgradePolicy or a ConflictRules";
        command = command.arg(path_flag(CONFLICTS, "FILE", help));
        let help = "Exit with 4 if everything was written but conflicts are left to review";
        let flag = Arg::new(EXIT_CONFLICTS).long(EXIT_CONFLICTS).help(help);
        let flag = flag.action(ArgAction::SetTrue).requires("package");
        command = command.arg(flag.help_heading(PACKAGE).hide_short_help(true));
    }
    command = match function.on_package {
        OnPackage::Fleet(fleet) => fleet.with_flags(command),
        OnPackage::PrintsFiles => command.arg(into_flag()),
        OnPackage::Reviews(_) => command.arg(format_flag()),
        OnPackage::Edits | OnPackage::EditsOrCreates | OnPackage::Prints => command,
    };
    command = command.args(function.merge_driver.map(|_| driver_flag()));
    command = with_flags(function.keys, command);
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .help("Print a summary (-h) or everything (--help)");
    let version = Arg::new("version")
        .short('V')
        .long("version")
        .help("Print the version");
    command
        .arg(help.action(ArgAction::Help).help_heading(OTHER))
        .arg(version.action(ArgAction::Version).help_heading(OTHER))
}

fn driver_flag() -> Arg {
    let help =
        "Run as Git's merge driver: merge the file %B into %A; exit with 1 if conflicts are left";
    let flag = Arg::new(MERGE_DRIVER).long(MERGE_DRIVER).help(help);
    let flag = flag.value_names(["%O", "%A", "%B", "%P"]).num_args(4);
    let flag = flag.conflicts_with_all(["package", "diff", "check"]);
    let flag = flag.value_parser(value_parser!(PathBuf));
    flag.help_heading(GIT).hide_short_help(true)
}

fn format_flag() -> Arg {
    let help = "What to print: text, a comment for a pull request, or the results as JSON";
    let flag = Arg::new(FORMAT)
        .long(FORMAT)
        .value_name("FORMAT")
        .help(help);
    let flag = flag.value_parser(value_parser!(ReportFormat));
    let flag = flag.requires("package").conflicts_with("diff");
    flag.help_heading(RESULTS)
}

fn into_flag() -> Arg {
    let help = "Write the files into a directory that is empty or does not exist";
    let flag = path_flag(INTO, "DIR", help).help_heading(PACKAGE);
    flag.requires("package")
        .conflicts_with_all(["diff", "check"])
}

/// The last line of the output of `-h`.
const SEE_MORE: &str = "--help prints all flags, settings and exit codes.";

fn examples(function: &Function) -> String {
    format!("Examples:\n  {}", function.examples.join("\n  "))
}

/// The text after the flags in `--help`: the examples and exit codes of a function.
fn after_long_help(function: &Function) -> String {
    let conflicts = if function.merges() {
        "\n  4  with --exit-conflicts: done, with conflicts"
    } else {
        ""
    };
    let unchanged = if matches!(function.on_package, OnPackage::Fleet(_)) {
        "its package is unchanged, the others are written"
    } else {
        "nothing is changed"
    };
    let texts = [AFTER_HELP, unchanged, AFTER_EXIT_CODE_1, conflicts];
    format!("{}\n\n{}", examples(function), texts.concat())
}

const MERGE_DRIVER: &str = "git-merge-driver";
const CONFLICTS: &str = "conflicts";
const EXIT_CONFLICTS: &str = "exit-conflicts";
const FORMAT: &str = "format";
const INTO: &str = "into";
const OPENAPI: &str = "openapi";
