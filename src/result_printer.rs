//! Results as people read them on a terminal.
//!
//! With `--package` they are grouped by file, one result a line, and what is about no file comes last:
//!
//! ```text
//! deployment.yaml
//!   [warning] Deployment/app: spec.replicas: local and upstream both changed the value ...
//!   [warning] Service/app: spec.type: local and upstream both changed the value ...
//! [info] merged: 2 changed, 0 added, 0 removed, 0 moved, 2 conflicts
//! ```

use std::collections::HashMap;
use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use crate::results::{FunctionResult, Results, Severity, printable};

/// Turns results into text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResultPrinter {
    /// Whether it goes to a terminal that shows colours.
    pub(crate) colour: bool,
}

// Not `anstream`: it would also strip the escapes that a package's files hold from a diff of them.
const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

impl ResultPrinter {
    /// Every error on a line that names its file.
    pub(crate) fn errors(self, results: &Results) -> String {
        let mut text = String::new();
        for result in results.iter().filter(|r| r.severity == Severity::Error) {
            self.line(&mut text, "", result.severity, &result.to_string());
        }
        text
    }

    /// All results under the names of their files, in the order in which each file is named first.
    pub(crate) fn by_file(self, results: &Results) -> String {
        let mut files: Vec<(&str, Vec<&FunctionResult>)> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for result in results {
            if let Some((path, _)) = &result.file {
                let at = *known.entry(path).or_insert(files.len());
                if at == files.len() {
                    files.push((path, Vec::new()));
                }
                files[at].1.push(result);
            }
        }
        let style = if self.colour { BOLD } else { PLAIN };
        let mut text = String::new();
        for (path, results) in files {
            // Writing to a String never fails.
            let _ = writeln!(text, "{style}{}{style:#}", printable(path));
            for result in results {
                let line = FunctionResult {
                    file: None,
                    ..result.clone()
                };
                self.line(&mut text, "  ", line.severity, &line.to_string());
            }
        }
        for result in results.iter().filter(|result| result.file.is_none()) {
            self.line(&mut text, "", result.severity, &result.to_string());
        }
        text
    }

    fn line(self, text: &mut String, indent: &str, severity: Severity, result: &str) {
        let style = match severity {
            _ if !self.colour => PLAIN,
            Severity::Error => RED,
            Severity::Warning => YELLOW,
            Severity::Info => GREEN,
        };
        let _ = writeln!(text, "{indent}{style}{result}{style:#}");
    }
}

/// A unified diff in the colours of `git diff`.
pub(crate) fn coloured_diff(diff: &str) -> String {
    let mut text = String::with_capacity(diff.len() + diff.len() / 4);
    for line in diff.split_inclusive('\n') {
        let style = match line.as_bytes() {
            [b'-', b'-', b'-', b' ', ..] | [b'+', b'+', b'+', b' ', ..] => BOLD,
            [b'@', ..] => CYAN,
            [b'-', ..] => RED,
            [b'+', ..] => GREEN,
            _ => PLAIN,
        };
        let content = line.trim_end_matches('\n');
        let end = &line[content.len()..];
        let _ = write!(text, "{style}{content}{style:#}{end}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Reason;

    fn results() -> Results {
        let mut results = Results::default();
        let warning = |message: &str| FunctionResult::warning(Reason::SkippedFile, message);
        results.push(warning("one").in_file("b.yaml"));
        results.push(FunctionResult::info("of all"));
        results.push(warning("two").in_file("a\u{1b}.yaml"));
        results.push(warning("three").in_file("b.yaml"));
        results
    }

    #[test]
    fn results_stand_under_their_files() {
        let printer = ResultPrinter { colour: false };
        assert_eq!(
            printer.by_file(&results()),
            "\
b.yaml
  [warning] one (SkippedFile)
  [warning] three (SkippedFile)
a\\u{1b}.yaml
  [warning] two (SkippedFile)
[info] of all
"
        );
        assert_eq!(printer.errors(&results()), "");
    }

    #[test]
    fn headings_and_severities_stand_out_on_a_terminal() {
        let text = ResultPrinter { colour: true }.by_file(&results());
        assert!(
            text.starts_with("\u{1b}[1mb.yaml\u{1b}[0m\n  \u{1b}[33m[warning] one"),
            "{text:?}"
        );
    }
}
