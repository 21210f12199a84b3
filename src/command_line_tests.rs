//! The command line against what describes it: `--help`, `docs/krmv.md`, completions, manual pages, and every command
//! line in a page.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory, Parser};
use clap_complete::Shell;
use krm_core::config::Keys;
use krm_function::filter;

use crate::builtin;
use crate::cli::Cli;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn commands() -> Vec<Command> {
    let mut cli = Cli::command();
    cli.build();
    cli.get_subcommands().cloned().collect()
}

fn flags(command: &Command) -> BTreeSet<String> {
    let flags = command.get_arguments();
    let flags = flags.filter_map(|argument| argument.get_long());
    flags.map(|flag| format!("--{flag}")).collect()
}

/// The flags of a command alone.
fn own_flags(command: &Command) -> BTreeSet<String> {
    let mut common = flags(&Cli::command());
    common.insert("--help".to_owned());
    flags(command).difference(&common).cloned().collect()
}

#[test]
fn the_page_of_krmv_has_every_command_with_every_flag() {
    let page = fs::read_to_string(format!("{ROOT}/docs/krmv.md")).expect("the page");
    let mut missing = Vec::new();
    for command in commands() {
        let name = command.get_name();
        let is_row = |line: &&str| {
            let cell = line
                .strip_prefix("| ")
                .and_then(|row| row.split(" | ").next());
            let cell = cell.filter(|cell| cell.contains("`krmv "));
            cell.is_some_and(|cell| cell.split(['`', ' ', ',', '[']).any(|word| word == name))
        };
        let rows: String = page.lines().filter(is_row).collect();
        if rows.is_empty() {
            missing.push(format!("krmv {name}"));
        }
        let flags = own_flags(&command).into_iter();
        let flags = flags.filter(|flag| !has_word(&rows, flag));
        missing.extend(flags.map(|flag| format!("krmv {name} {flag}")));
    }
    for flag in flags(&Cli::command()) {
        let flag = if flag == "--verbose" { "-v" } else { &flag };
        if !page.contains(&format!("`{flag}")) {
            missing.push(flag.to_owned());
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "missing from docs/krmv.md");
}

/// Whether a flag is in a text, and not only as the beginning of a longer one.
fn has_word(text: &str, flag: &str) -> bool {
    text.match_indices(flag).any(|(at, _)| {
        let next = text[at + flag.len()..].chars().next();
        next.is_none_or(|next| !next.is_alphanumeric() && next != '-')
    })
}

#[test]
fn every_command_says_what_it_does_and_has_examples_that_parse() {
    let mut without_example = Vec::new();
    for mut command in commands() {
        let name = command.get_name().to_owned();
        let about = command.get_about().map(ToString::to_string);
        assert!(about.is_some_and(|text| !text.ends_with('.')), "{name}");
        let usage = command.render_usage().to_string();
        assert!(usage.contains(&format!("krmv {name}")), "{usage}");
        for argument in command.get_arguments() {
            let help = argument.get_help().map(ToString::to_string);
            assert!(
                help.is_some_and(|text| !text.ends_with('.')),
                "{name}: {argument}"
            );
        }
        let examples = command.get_after_help().map(ToString::to_string);
        let examples = examples.unwrap_or_default();
        let examples: Vec<_> = examples
            .lines()
            .filter_map(|line| line.strip_prefix("  "))
            .collect();
        let takes_nothing =
            own_flags(&command).is_empty() && command.get_positionals().count() == 0;
        if !takes_nothing && examples.is_empty() {
            without_example.push(name.clone());
        }
        for example in examples {
            let words = words(example);
            assert!(
                words.starts_with(&["krmv".to_owned(), name.clone()]),
                "{example}"
            );
            if let Err(error) = Cli::try_parse_from(words) {
                panic!("{example}: {error}");
            }
        }
    }
    assert_eq!(without_example, Vec::<String>::new());
}

#[test]
fn every_command_has_completions_and_a_manual_page() {
    let directory = tempfile::tempdir().expect("a directory");
    builtin::manual(directory.path()).expect("manual pages");
    let shells = [Shell::Bash, Shell::Zsh, Shell::Fish].map(builtin::completion_text);
    for command in commands() {
        let name = command.get_name();
        let page = directory.path().join(format!("krmv-{name}.1"));
        let page = fs::read_to_string(page).expect("a page").replace('\\', "");
        for flag in own_flags(&command) {
            assert!(page.contains(&flag), "the manual page of {name}: {flag}");
            for text in &shells {
                // fish has flags without their dashes.
                let is_completed =
                    text.contains(&flag) || text.contains(&format!("-l {}", &flag[2..]));
                assert!(is_completed, "a completion of {name}: {flag}");
            }
        }
    }
}

/// A page that names a flag of yesterday is worse than none.
#[test]
fn every_command_line_of_a_page_exists() {
    let mut known: BTreeMap<String, BTreeSet<String>> = commands()
        .iter()
        .map(|command| (command.get_name().to_owned(), flags(command)))
        .collect();
    known.extend(crate::FUNCTIONS.map(|function| {
        let mut flags = flags(&filter::command(function));
        if let Keys::These(keys) = function.keys {
            flags.extend(keys.iter().map(|key| format!("--{}", kebab_case(key.name))));
        }
        (function.name.to_owned(), flags)
    }));
    let mut count = 0;
    for path in pages() {
        // What changed names commands of the past, too.
        if path.ends_with("CHANGELOG.md") {
            continue;
        }
        let page = fs::read_to_string(&path).expect("a page");
        for line in command_lines(&page) {
            let words = words(line);
            let is_krmv = words.first().is_some_and(|word| word == "krmv");
            let Some(name) = words.get(usize::from(is_krmv)).filter(|word| is_name(word)) else {
                continue;
            };
            let place = format!("{}: {line}", path.display());
            let Some(flags) = known.get(name) else {
                assert!(!is_krmv, "{place}: krmv has no command {name}");
                continue;
            };
            for word in words.iter().filter(|word| word.starts_with("--")) {
                let flag = word.split(['=', '[', ':', '.', ',']).next().unwrap_or(word);
                let is_known =
                    flags.contains(flag) || matches!(flag, "--help" | "--version" | "--");
                assert!(is_known, "{place}: {name} has no flag {flag}");
            }
            count += 1;
        }
    }
    assert!(count > 200, "found only {count} command lines");
}

/// `onConflict` as a flag.
fn kebab_case(key: &str) -> String {
    let words = key.chars().map(|letter| match letter {
        'A'..='Z' => format!("-{}", letter.to_ascii_lowercase()),
        letter => letter.to_string(),
    });
    words.collect()
}

/// The pages of the repository.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut directories = vec![PathBuf::from(ROOT)];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str());
            let is_hidden = name.is_some_and(|name| name.starts_with('.') || name == "target");
            if path.is_dir() && !is_hidden {
                directories.push(path);
            } else if path.extension() == Some("md".as_ref()) {
                pages.push(path);
            }
        }
    }
    assert!(
        pages
            .iter()
            .any(|page| page == &Path::new(ROOT).join("README.md"))
    );
    pages
}

/// The text between backquotes, and the lines of blocks of code.
fn command_lines(page: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if is_code {
            let line = line.trim_start();
            let line = ["$ ", "hint: "]
                .iter()
                .find_map(|prompt| line.strip_prefix(prompt))
                .unwrap_or(line);
            found.push(line);
        } else {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    found
}

/// Whether a word is the name of a command, and not a placeholder or a part of a sentence.
fn is_name(word: &str) -> bool {
    !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// The words of the first command of a line, without quotes.
fn words(line: &str) -> Vec<String> {
    let words = line.split_whitespace();
    let words = words
        .take_while(|word| !word.starts_with(['|', '>', '#', '&', ';', '<']) && *word != "2>&1");
    words
        .map(|word| word.replace(['\'', '"', '\\'], ""))
        .collect()
}
