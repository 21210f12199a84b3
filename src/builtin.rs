//! Commands that need no package: the list of functions, completions, manual pages and help topics.

use std::fs::{create_dir_all, write};
use std::path::Path;

use crate::functions::FUNCTIONS;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use krm_function::filter::{command, with_value_hint};
use serde_json::json;

use super::cli::{Cli, Common};
use super::failure::{Failure, Result};
use super::print::{self, to_stdout};
use super::{exit, failure};

pub(crate) fn functions(common: &Common) -> Result<u8> {
    let document = || {
        let list =
            FUNCTIONS.map(|function| json!({"name": function.name, "about": function.about}));
        json!({ "functions": list })
    };
    print::answer(common, document, |page| {
        for function in FUNCTIONS {
            page.line(function.name);
            page.wrapped(format_args!("    {}", function.about), 4);
        }
        page.hint(&"krmv help merge-package".into());
    })
}

/// The command line with all commands, including the functions.
fn whole() -> Command {
    let functions = FUNCTIONS.iter().map(|function| command(function));
    let whole = Cli::command().subcommands(functions);
    whole.mut_subcommands(|sub| sub.mut_args(with_value_hint))
}

pub(crate) fn completion(shell: Shell) -> Result<u8> {
    to_stdout(&completion_text(shell))?;
    Ok(exit::DONE)
}

pub(crate) fn completion_text(shell: Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut whole(), "krmv", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Writes a manual page for the program and one for each command.
pub(crate) fn manual(directory: &Path) -> Result<u8> {
    create_dir_all(directory)?;
    let own = Cli::command();
    let own_commands = own.get_subcommands().cloned();
    let functions = FUNCTIONS.iter().map(|function| {
        // A manual page joins lines unless an empty line separates them.
        command(function).mut_arg("pairs", |pairs| {
            let help = pairs
                .get_long_help()
                .map(|help| help.to_string().replace('\n', "\n\n"));
            pairs.long_help(help.unwrap_or_default())
        })
    });
    let name = |page: &Command| page.get_name().to_owned();
    let own_pages = own_commands.map(|page| (format!("krmv-{}", name(&page)), page));
    let functions = functions.map(|page| (name(&page), page));
    let whole = std::iter::once(("krmv".to_owned(), own.clone()));
    for (name, page) in whole.chain(own_pages).chain(functions) {
        let file = directory.join(format!("{name}.1"));
        let mut text = Vec::new();
        Man::new(page).title(&name).render(&mut text)?;
        write(&file, text).map_err(|error| {
            Failure::from(error).context(format_args!("cannot write '{}'", file.display()))
        })?;
    }
    Ok(exit::DONE)
}

const CONFLICTS: &str = include_str!("topics/conflicts.txt");
const STATE: &str = include_str!("topics/state.txt");

/// Prints the version, as `--version` does.
pub(crate) fn version(common: &Common) -> Result<u8> {
    let version = env!("CARGO_PKG_VERSION");
    let document = || json!({ "version": version });
    print::answer(common, document, |page| {
        page.line(format_args!("krmv {version}"))
    })
}

/// Explains a command, a function or a topic.
pub(crate) fn help(topic: Option<&str>) -> Result<u8> {
    let mut all = whole();
    let text = match topic {
        None => Cli::command().render_long_help().to_string(),
        Some("conflicts") => CONFLICTS.to_owned(),
        Some("state") => STATE.to_owned(),
        Some(topic) => {
            all.build();
            let Some(found) = all.find_subcommand_mut(topic) else {
                let message = format!("no command, function or topic is called `{topic}`");
                return Err(Failure::new(message).hint(failure::command(["krmv", "help"])));
            };
            found.render_long_help().to_string()
        }
    };
    to_stdout(&text)?;
    Ok(exit::DONE)
}
