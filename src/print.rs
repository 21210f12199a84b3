//! Output: text for people, wrapped at the width of the terminal and with colours, or one JSON document for programs.

use std::fmt;
use std::io;

use anstyle::{AnsiColor, Style};
use krm_core::results::cut_to_differences;
use krm_function::filter::coloured_diff;
use krm_package::escaped::{Piece, ShownLine, ShownText, StandardStream};

use super::cli::Common;
use super::conflict::{ReportedConflict, VERSIONS};
use super::exit;
use super::failure::{Failure, Hint, Result};

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const RED: Style = AnsiColor::Red.on_default();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const CYAN: Style = AnsiColor::Cyan.on_default();

const STDOUT: StandardStream = StandardStream::Output;
const STDERR: StandardStream = StandardStream::Error;

/// The width of output that does not go to a terminal.
const WIDTH: usize = 80;

/// A buffer for output text, with the width and the colour setting of standard output.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    /// Texts, each with the document after it.
    finished: Vec<(ShownText, String)>,
    text: ShownText,
    width: usize,
    colour: bool,
}

impl Page {
    pub(crate) fn new(common: &Common) -> Self {
        let columns = std::env::var("COLUMNS")
            .ok()
            .and_then(|text| text.parse().ok());
        let width = columns
            .or_else(|| STDOUT.is_terminal().then(|| STDOUT.columns()))
            .unwrap_or(WIDTH);
        Self {
            finished: Vec::new(),
            text: ShownText::default(),
            width: width.clamp(40, 1000),
            colour: common.color.is_on(STDOUT),
        }
    }

    /// A text in a style, if colours are on.
    pub(crate) fn styled(&self, style: Style, text: impl Piece) -> ShownLine {
        let style = if self.colour { style } else { Style::new() };
        ShownLine::styled(style, &text)
    }

    pub(crate) fn line(&mut self, line: impl Piece) {
        self.text.line(&line);
    }

    /// Adds the lines of a document. In a pipe or file, they are the bytes of the document.
    pub(crate) fn document(&mut self, document: &str) {
        let text = self.take();
        self.finished.push((text, document.to_owned()));
    }

    /// Adds a unified diff.
    pub(crate) fn diff(&mut self, diff: &str) {
        if self.colour {
            self.text.append(&coloured_diff(diff));
        } else {
            self.document(diff);
        }
    }

    /// Adds a line, cut at the page's width.
    pub(crate) fn cut(&mut self, line: impl Piece) {
        let line = ShownLine::of(&[&line]).cut(self.width);
        self.line(line);
    }

    /// Adds a text, wrapped at the page's width. Lines after the first are indented.
    pub(crate) fn wrapped(&mut self, text: impl Piece, indent: usize) {
        let lines = ShownLine::of(&[&text]).wrapped(self.width, indent);
        self.text.append(&lines);
    }

    /// Adds a command that the user can run next.
    pub(crate) fn hint(&mut self, command: &Hint) {
        let hint = self.styled(CYAN, "hint:");
        self.line(ShownLine::of(&[&hint, &" ", command]));
    }

    /// Adds groups of similar conflicts with their values, and the lines about who last changed these.
    pub(crate) fn conflicts(
        &mut self,
        groups: &[Vec<&ReportedConflict>],
        history: impl Fn(&ReportedConflict) -> Vec<String>,
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
            self.wrapped(format_args!("      {}", first.what()), 6);
            self.values(first);
            self.history(&history(first));
        }
    }

    /// Adds who last changed the values of a conflict, and when.
    pub(crate) fn history(&mut self, lines: &[String]) {
        for line in lines {
            let line = self.styled(DIM, format_args!("      {line}"));
            self.wrapped(line, 6);
        }
    }

    /// Adds the place of a conflict: `path:line  Kind/name  field`.
    pub(crate) fn place(&mut self, conflict: &ReportedConflict) {
        let line = conflict
            .line()
            .map(|line| format!(":{line}"))
            .unwrap_or_default();
        let place = self.styled(BOLD, format_args!("{}{line}", conflict.file()));
        let resource = conflict.resource_name().map(|name| format!("  {name}"));
        let field = conflict.path().map(|path| format!("  {path}"));
        let within = conflict.within().map(|place| format!("  ({place})"));
        let parts = [resource, field, within].into_iter().flatten();
        let rest: String = parts.collect();
        self.wrapped(ShownLine::of(&[&"  ", &place, &rest]), 6);
    }

    /// Adds the three versions of a conflict.
    pub(crate) fn values(&mut self, conflict: &ReportedConflict) {
        // A cut must not leave three texts that look the same: the indentation, the name, and three ellipses.
        let limit = self.width.saturating_sub(6 + 9 + 1 + 3);
        let values = cut_to_differences(conflict.values(), limit);
        let styled = VERSIONS.into_iter().zip([DIM, GREEN, YELLOW]);
        for ((name, style), value) in styled.zip(values) {
            let name = self.styled(style, format_args!("{name:<9}"));
            let value = value.as_deref().unwrap_or("none");
            self.cut(ShownLine::of(&[&"      ", &name, &" ", &value]));
        }
    }

    /// Writes the page to standard output.
    pub(crate) fn finish(self) -> Result<()> {
        for (text, document) in &self.finished {
            STDOUT.print(text).map_err(cannot_write)?;
            to_stdout(document)?;
        }
        STDOUT.print(&self.text).map_err(cannot_write)
    }

    /// Takes the text so far, and leaves the page empty.
    pub(crate) fn take(&mut self) -> ShownText {
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
    STDOUT.document([text]).map_err(cannot_write)
}

fn cannot_write(error: io::Error) -> Failure {
    Failure::from(error).context("cannot write to standard output")
}

/// Writes one JSON document to standard output.
pub(crate) fn json(document: &serde_json::Value) -> Result<()> {
    STDOUT.json(&document.to_string()).map_err(cannot_write)
}

/// Prints a warning, for example about something that a command leaves out.
/// Answers a command that is done: by a JSON document, or by the page that is written here.
pub(crate) fn answer(
    common: &Common,
    document: impl FnOnce() -> serde_json::Value,
    write: impl FnOnce(&mut Page),
) -> Result<u8> {
    if common.json {
        json(&document())?;
    } else {
        let mut page = Page::new(common);
        write(&mut page);
        page.finish()?;
    }
    Ok(exit::DONE)
}

/// Prints a warning, for example about something that a command leaves out.
pub(crate) fn warning(what: fmt::Arguments<'_>) {
    // A closed standard error cannot be reported.
    let _ = STDERR.print_line(&ShownLine::of(&[&"warning: ", &what]));
}

/// Prints a failure and what to do next.
pub(crate) fn failure(failure: &Failure, colour: bool) {
    let (red, cyan) = if colour {
        (RED, CYAN)
    } else {
        (Style::new(), Style::new())
    };
    let mut text = ShownText::default();
    let [program, hint] =
        [(red, "krmv:"), (cyan, "hint:")].map(|(style, word)| ShownLine::styled(style, word));
    text.line(&ShownLine::of(&[&program, &" ", &failure.message]));
    for command in &failure.hints {
        text.line(&ShownLine::of(&[&hint, &" ", command]));
    }
    // A closed standard error cannot be reported.
    let _ = STDERR.print(&text);
}
