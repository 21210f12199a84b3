//! Lets the user decide conflicts one by one on a terminal, in the style of `git add -p`. Files are written only at the
//! end.

use std::collections::BTreeMap;
use std::process::Command;

use console::Key;
use krm_core::results::Mark;
use krm_merge::markers::has_markers;
use krm_package::escaped::{ShownText, StandardStream};
use krm_package::is_krm_name;
use krm_yaml::{ParseOptions, Tree};

use super::cli::{Common, Take};
use super::conflict::ReportedConflict;
use super::failure::{Failure, Result};
use super::merging::with_markers;
use super::print::{BOLD, CYAN, Page};
use super::resolution::{Resolution, UserDecision};
use super::upstream::contents;

const HELP: &str = "\
  l  local: keep your value
  u  upstream: take upstream's value
  e  edit the file at this line, then keep the result
  s  skip: leave it undecided
  b  back: undo the last decision
  q  quit: write the decisions made so far
  ?  this help
  Ctrl-C writes nothing
";

const TERMINAL: StandardStream = StandardStream::Output;

/// The number of lines that are shown before and after the line of a conflict.
const CONTEXT: usize = 2;

/// What the user decides about a conflict, and the text of its file after an edit.
#[derive(Default)]
struct Answer {
    take: Option<Take>,
    edited: Option<String>,
}

impl Answer {
    fn take(take: Take) -> Self {
        Self {
            take: Some(take),
            edited: None,
        }
    }
}

/// The last texts of the edited files, by path.
fn edited(conflicts: &[ReportedConflict], answers: &[Answer]) -> BTreeMap<String, String> {
    let answers = conflicts.iter().zip(answers);
    let texts = answers.filter_map(|(conflict, answer)| {
        Some((conflict.file().to_owned(), answer.edited.clone()?))
    });
    texts.collect()
}

/// Asks about each conflict. Returns the decisions, and the texts of the files that the user edited, by path.
pub(crate) fn ask(
    resolution: &Resolution<'_>,
    conflicts: &[ReportedConflict],
    common: &Common,
) -> Result<(Vec<UserDecision>, BTreeMap<String, String>)> {
    let mut answers: Vec<Answer> = Vec::new();
    'asking: while let Some(conflict) = conflicts.get(answers.len()) {
        let mut page = Page::new(common);
        show(
            &mut page,
            resolution,
            conflict,
            answers.len(),
            conflicts.len(),
        );
        TERMINAL.print(&page.take())?;
        loop {
            let prompt = page.styled(CYAN, "decide [l,u,e,s,b,q,?] ");
            TERMINAL.prompt(&prompt)?;
            let key = TERMINAL.read_key()?;
            if let Key::Char(c) = key {
                print(&c.to_string())?;
            }
            match key {
                Key::Char('l') => answers.push(Answer::take(Take::Local)),
                Key::Char('u') => answers.push(Answer::take(Take::Upstream)),
                Key::Char('s') => answers.push(Answer::default()),
                Key::Char('b') if answers.pop().is_some() => {}
                Key::Char('e') => match edit(resolution, conflict, &edited(conflicts, &answers))? {
                    Ok(text) => answers.push(Answer {
                        take: Some(Take::File),
                        edited: Some(text),
                    }),
                    Err(why) => {
                        print(&why)?;
                        continue;
                    }
                },
                Key::Char('q') => break 'asking,
                Key::CtrlC | Key::Escape => {
                    return Err(Failure::new("nothing was decided, nothing was written")
                        .hint(resolution.package.command(&["resolve"])));
                }
                _ => {
                    print(HELP)?;
                    continue;
                }
            }
            break;
        }
    }
    let edited = edited(conflicts, &answers);
    let decisions = conflicts.iter().zip(answers);
    let decisions = decisions.filter_map(|(conflict, answer)| {
        let conflict = conflict.clone();
        let take = answer.take?;
        Some(UserDecision { conflict, take })
    });
    Ok((decisions.collect(), edited))
}

/// Prints lines on the terminal.
fn print(text: &str) -> Result<()> {
    let mut lines = ShownText::default();
    text.lines().for_each(|line| lines.line(line));
    Ok(TERMINAL.print(&lines)?)
}

fn show(
    page: &mut Page,
    resolution: &Resolution<'_>,
    conflict: &ReportedConflict,
    at: usize,
    count: usize,
) {
    let title = page.styled(BOLD, format!("({}/{count})", at + 1));
    page.line(title);
    page.place(conflict);
    page.wrapped(format_args!("      {}", conflict.what()), 6);
    page.values(conflict);
    let Some(line) = conflict.line() else { return };
    page.history(&resolution.histories.of_conflict(conflict).lines());
    let bytes = resolution.contents.get(conflict.file());
    // Values of Secrets are redacted above, and not shown here.
    let text = bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let text = text.filter(|text| !Mark::within_texts([text.as_str()]).is_hidden());
    let text = text.unwrap_or_default();
    let first = line.saturating_sub(CONTEXT + 1);
    for (number, text) in text.lines().enumerate().skip(first).take(2 * CONTEXT + 1) {
        let mark = if number + 1 == line { '>' } else { ' ' };
        page.cut(format_args!("    {mark} {:>5} {text}", number + 1));
    }
}

/// Opens the file, with conflict markers, in the user's editor. The inner error is a message for the user, who is then
/// asked again: for example, if the edited text is not valid.
fn edit(
    resolution: &Resolution<'_>,
    conflict: &ReportedConflict,
    edited: &BTreeMap<String, String>,
) -> Result<std::result::Result<String, String>> {
    let path = conflict.file();
    let of = |name: &str| {
        std::env::var(name)
            .ok()
            .filter(|value| !value.trim().is_empty())
    };
    let Some(editor) = of("VISUAL").or_else(|| of("EDITOR")) else {
        return Ok(Err(
            "set EDITOR to edit files, for example: export EDITOR=vi".to_owned(),
        ));
    };
    let before = edited.get(path).map(|text| text.clone().into_bytes());
    let before = before.or_else(|| resolution.contents.get(path).cloned());
    let original = contents(&resolution.merger.original)?;
    let upstream = contents(&resolution.merger.upstream)?;
    let versions = [original.get(path), before.as_ref(), upstream.get(path)];
    let marked = with_markers(path, versions, &resolution.revision.upstream_ref)?;
    let folder = tempfile::tempdir()?;
    let name = path.rsplit('/').next().unwrap_or(path);
    let file = folder.path().join(name);
    std::fs::write(&file, marked.or(before).unwrap_or_default())?;
    // As in Git, the variable is a command line for the shell.
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$@\""))
        .arg("editor")
        .arg(&file)
        .status()?;
    if !status.success() {
        return Ok(Err(format!("the editor ended with {status}")));
    }
    Ok(match std::fs::read_to_string(&file) {
        Ok(text) if text.trim().is_empty() => {
            Err("the editor left an empty file; nothing is decided".to_owned())
        }
        Ok(text) => check(name, text),
        Err(error) => Err(format!(
            "cannot read the file after the edit: {error}; nothing is decided"
        )),
    })
}

/// Refuses a text with markers, or one that is not YAML.
fn check(name: &str, text: String) -> std::result::Result<String, String> {
    if has_markers(&text) {
        return Err("the file still has conflict markers".to_owned());
    }
    if is_krm_name(name) {
        let parsed = Tree::parse(&text, ParseOptions::default());
        parsed.map_err(|error| format!("the file is not valid YAML: {error}"))?;
    }
    Ok(text)
}
