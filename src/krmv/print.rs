//! Output: text for people, wrapped at the width of the terminal and with colours, or one JSON document for programs.

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use console::{Term, measure_text_width, truncate_str};
use krm_variants::filter::coloured_diff;
use krm_variants::results::printable;

use super::cli::Common;
use super::conflict::{ReportedConflict, VERSIONS};
use super::failure::{Failure, Result};
use super::worktree;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const RED: Style = AnsiColor::Red.on_default();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const CYAN: Style = AnsiColor::Cyan.on_default();

/// The width of output that does not go to a terminal.
const WIDTH: usize = 80;

/// A buffer for output text, with the width and the colour setting of standard output.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    text: String,
    width: usize,
    colour: bool,
}

impl Page {
    pub(crate) fn new(common: &Common) -> Self {
        let terminal = io::stdout().is_terminal();
        let columns = std::env::var("COLUMNS")
            .ok()
            .and_then(|text| text.parse().ok());
        let of_terminal = || usize::from(Term::stdout().size().1);
        let width = columns
            .or_else(|| terminal.then(of_terminal))
            .unwrap_or(WIDTH);
        Self {
            text: String::new(),
            width: width.clamp(40, 1000),
            colour: common.color.is_on(&io::stdout()),
        }
    }

    /// A text in a style, if colours are on.
    pub(crate) fn styled(&self, style: Style, text: impl fmt::Display) -> String {
        if self.colour {
            format!("{style}{text}{style:#}")
        } else {
            text.to_string()
        }
    }

    pub(crate) fn line(&mut self, line: impl fmt::Display) {
        // Writing to a String never fails.
        let _ = writeln!(self.text, "{line}");
    }

    /// Adds a unified diff.
    pub(crate) fn diff(&mut self, diff: &str) {
        if self.colour {
            self.text += &coloured_diff(diff);
        } else {
            self.text += diff;
        }
    }

    /// Adds a line, cut at the page's width.
    pub(crate) fn cut(&mut self, line: &str) {
        let line = truncate_str(line, self.width, "…").into_owned();
        self.line(line);
    }

    /// Adds a text, wrapped at the page's width. Lines after the first are indented.
    pub(crate) fn wrapped(&mut self, text: &str, indent: usize) {
        let words = text.trim_start_matches(' ');
        let mut line = " ".repeat(text.len() - words.len());
        for word in words.split(' ') {
            let is_full = measure_text_width(&line) + 1 + measure_text_width(word) > self.width;
            if !line.trim().is_empty() && is_full {
                let full = std::mem::replace(&mut line, " ".repeat(indent));
                self.line(full.trim_end());
            } else if !line.trim().is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        self.line(line.trim_end());
    }

    /// Adds a command that the user can run next.
    pub(crate) fn hint(&mut self, command: &str) {
        let hint = self.styled(CYAN, "hint:");
        self.line(format_args!("{hint} {command}"));
    }

    /// Adds groups of similar conflicts with their values. `work_tree` is the directory that the line numbers refer to;
    /// with it, the page also shows who last changed the local value.
    pub(crate) fn conflicts(
        &mut self,
        groups: &[Vec<&ReportedConflict>],
        work_tree: Option<&Path>,
        is_verbose: bool,
    ) {
        for group in groups {
            let Some(first) = group.first() else { continue };
            let shown = if is_verbose { group.len() } else { 3 };
            for conflict in group.iter().take(shown) {
                self.place(conflict);
            }
            if group.len() > shown {
                self.line(format_args!(
                    "  and {} more like it (-v lists them)",
                    group.len() - shown
                ));
            }
            self.wrapped(&format!("      {}", printable(first.what())), 6);
            self.values(first);
            if let Some(directory) = work_tree {
                self.changed_by(directory, first);
            }
        }
    }

    /// Adds who last changed your value in a conflict, and when, if Git knows.
    pub(crate) fn changed_by(&mut self, directory: &Path, conflict: &ReportedConflict) {
        if let Some(who) = worktree::changed_by(directory, conflict) {
            let who = self.styled(DIM, format!("      yours since {}", printable(&who)));
            self.cut(&who);
        }
    }

    /// Adds the place of a conflict: `path:line  Kind/name  field`.
    pub(crate) fn place(&mut self, conflict: &ReportedConflict) {
        let line = conflict
            .line()
            .map(|line| format!(":{line}"))
            .unwrap_or_default();
        let place = self.styled(BOLD, format!("{}{line}", printable(conflict.file())));
        let resource = conflict
            .resource_name()
            .map(|name| format!("  {}", printable(&name)));
        let field = conflict.path().map(|path| format!("  {}", printable(path)));
        let within = conflict
            .within()
            .map(|place| format!("  ({})", printable(place)));
        let parts = [resource, field, within].into_iter().flatten();
        let rest: String = parts.collect();
        self.wrapped(&format!("  {place}{rest}"), 6);
    }

    /// Adds the three versions of a conflict.
    pub(crate) fn values(&mut self, conflict: &ReportedConflict) {
        let styled = VERSIONS.into_iter().zip([DIM, GREEN, YELLOW]);
        for ((name, style), value) in styled.zip(conflict.values()) {
            let value = value.map_or_else(|| "none".to_owned(), printable);
            let name = self.styled(style, format!("{name:<9}"));
            self.cut(&format!("      {name} {value}"));
        }
    }

    /// Writes the page to standard output.
    pub(crate) fn finish(self) -> Result<()> {
        to_stdout(&self.text)
    }

    /// Takes the text so far, and leaves the page empty.
    pub(crate) fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }
}

/// Groups similar conflicts. The groups are in the order of their first conflicts.
pub(crate) fn grouped(conflicts: &[ReportedConflict]) -> Vec<Vec<&ReportedConflict>> {
    let mut groups: Vec<Vec<&ReportedConflict>> = Vec::new();
    for conflict in conflicts {
        let same = groups.iter_mut().find(|group| {
            group
                .first()
                .is_some_and(|first| first.group_key() == conflict.group_key())
        });
        match same {
            Some(group) => group.push(conflict),
            None => groups.push(vec![conflict]),
        }
    }
    groups
}

/// `1 conflict`, `2 conflicts`
pub(crate) fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

pub(crate) fn to_stdout(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    written.map_err(|error| Failure::new(format!("cannot write to standard output: {error}")))
}

/// Writes one JSON document to standard output.
pub(crate) fn json(document: &serde_json::Value) -> Result<()> {
    to_stdout(&format!("{document}\n"))
}

/// Reports a slow operation on standard error, if that is a terminal.
pub(crate) fn progress(what: fmt::Arguments<'_>) {
    let mut stderr = io::stderr().lock();
    if stderr.is_terminal() {
        let _ = writeln!(stderr, "{what} ...");
    }
}

/// Prints a warning, for example about something that a command leaves out.
pub(crate) fn warning(what: fmt::Arguments<'_>) {
    // A closed standard error cannot be reported.
    let _ = writeln!(
        io::stderr().lock(),
        "warning: {}",
        printable(&what.to_string())
    );
}

/// Prints a failure and what to do next.
pub(crate) fn failure(failure: &Failure, colour: bool) {
    let mut stderr = io::stderr().lock();
    let (red, cyan) = if colour {
        (RED, CYAN)
    } else {
        (Style::new(), Style::new())
    };
    // A closed standard error cannot be reported.
    let message = printable(&failure.message);
    let _ = writeln!(stderr, "{red}krmv:{red:#} {message}");
    for hint in &failure.hints {
        let _ = writeln!(stderr, "{cyan}hint:{cyan:#} {hint}");
    }
}
