//! Prints results for people, for example on a terminal.
//!
//! One result per line. Results about the same file are together, and results about no file come last:
//!
//! ```text
//! [warning] deployment.yaml:12: Deployment/app: spec.replicas: local and upstream both changed the value ...
//! [info] merged: 2 changed, 0 added, 0 removed, 0 moved, 1 conflict
//! ```
//!
//! Equal decisions about fields share one line: the first one, with the number of the others. `--verbose` lists them
//! all.
//!
//! A terminal shows the values of a conflict below each other:
//!
//! ```text
//! [warning] deployment.yaml:12: Deployment/app: spec.replicas: local and upstream both changed the value (MergeConflict)
//!     original  1
//!     local     5
//!   > upstream  3
//! ```

use std::collections::HashMap;

use anstyle::{AnsiColor, Style};

use crate::diff::kept;
use crate::results::{FunctionResult, Message, Reason, Results, Severity};
use krm_package::escaped::{ShownLine, ShownText};
use krm_yaml::{Path, PathElement};

/// Turns results into text.
#[derive(Debug, Clone, Copy)]
pub struct ResultPrinter {
    /// Whether the output goes to a terminal that shows colours.
    pub colour: bool,
    /// Whether equal decisions are listed one by one.
    pub lists_all: bool,
}

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().bold();
const DIMMED: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

impl ResultPrinter {
    /// All errors, one per line.
    pub fn errors(self, results: &Results) -> ShownText {
        let mut text = ShownText::default();
        for result in results.iter().filter(|r| r.severity == Severity::Error) {
            self.line(&mut text, result.severity, &result.to_string());
        }
        text
    }

    /// All results. Results about one file are together, in the order in which the files are named first.
    pub fn by_file(self, results: &Results) -> ShownText {
        let grouped = Grouped::of(results, self.lists_all);
        let mut shown: Vec<_> = (results.iter())
            .filter(|result| grouped.is_first(result))
            .collect();
        let mut files: HashMap<&str, usize> = HashMap::new();
        for (path, _) in shown.iter().filter_map(|result| result.file.as_ref()) {
            let next = files.len();
            files.entry(path).or_insert(next);
        }
        let place = |result: &FunctionResult| match &result.file {
            Some((path, _)) => files[&**path],
            None => usize::MAX,
        };
        shown.sort_by_key(|result| place(result));
        let mut text = ShownText::default();
        for result in shown {
            let more = grouped.more(result);
            match ConflictVersions::of(result).filter(|_| self.colour) {
                Some(versions) => self.conflict(&mut text, result, &versions, &more),
                None => self.line(&mut text, result.severity, &(result.to_string() + &more)),
            }
        }
        text
    }

    /// A conflict with its values below each other. Words that differ are bold.
    fn conflict(
        self,
        text: &mut ShownText,
        result: &FunctionResult,
        versions: &ConflictVersions<'_>,
        more: &str,
    ) {
        let heading = FunctionResult {
            message: result.message.what.as_str().into(),
            ..result.clone()
        };
        let heading = heading.to_string() + more;
        self.line(text, result.severity, &heading);
        let mut parts = versions.parts().into_iter();
        for (name, value) in &versions.values {
            let mark = if *name == versions.winner { '>' } else { ' ' };
            let mut line = ShownLine::of(&[&format_args!("  {mark} {name:<9} ")]);
            match value.and_then(|_| parts.next()) {
                Some(parts) => {
                    for (part, differs) in parts {
                        let style = if differs { BOLD } else { PLAIN };
                        line.push(&ShownLine::styled(style, &part));
                    }
                }
                None => line.push(&ShownLine::styled(DIMMED, "none")),
            }
            text.line(&line);
        }
    }

    fn line(self, text: &mut ShownText, severity: Severity, result: &str) {
        let style = match severity {
            _ if !self.colour => PLAIN,
            Severity::Error => RED,
            Severity::Warning => YELLOW,
            Severity::Info => GREEN,
        };
        text.line(&ShownLine::styled(style, result));
    }
}

/// Results about fields, grouped by their decision.
#[derive(Default)]
struct Grouped<'r> {
    /// The first result of each group, and the size of the group.
    groups: HashMap<Decided<'r>, (&'r FunctionResult, usize)>,
}

/// A decision: severity, reason, the name of the field, and the message with the values.
type Decided<'r> = (Severity, &'r str, Option<PathElement>, &'r Message);

impl<'r> Grouped<'r> {
    fn of(results: &'r Results, lists_all: bool) -> Self {
        let mut grouped = Self::default();
        for result in results.iter().filter(|_| !lists_all) {
            if let Some(decided) = decided(result) {
                grouped.groups.entry(decided).or_insert((result, 0)).1 += 1;
            }
        }
        grouped
    }

    fn group(&self, result: &'r FunctionResult) -> Option<&(&'r FunctionResult, usize)> {
        self.groups.get(&decided(result)?)
    }

    fn is_first(&self, result: &'r FunctionResult) -> bool {
        self.group(result)
            .is_none_or(|(first, _)| std::ptr::eq(*first, result))
    }

    /// The text after a result that represents others, too.
    fn more(&self, result: &'r FunctionResult) -> String {
        match self.group(result) {
            Some((_, count)) if *count > 1 => {
                let more = count - 1;
                let places = if more == 1 { "place" } else { "places" };
                format!(", and the same in {more} more {places} (--verbose lists them)")
            }
            _ => String::new(),
        }
    }
}

fn decided(result: &FunctionResult) -> Option<Decided<'_>> {
    let reason = result.tag_value("reason").filter(|_| result.more == 0)?;
    let is_decision = [Reason::MergeConflict, Reason::Combined]
        .map(Reason::as_str)
        .contains(&reason);
    let path = Path::parse(result.field.as_deref()?)?;
    let name = path.elements().last().cloned();
    is_decision.then_some((result.severity, reason, name, &result.message))
}

/// The three versions of a conflict.
struct ConflictVersions<'r> {
    values: [(&'static str, Option<&'r str>); 3],
    winner: &'r str,
}

impl<'r> ConflictVersions<'r> {
    /// The versions of a conflict over a value; `None` for other results.
    fn of(result: &'r FunctionResult) -> Option<Self> {
        let values = ["original", "local", "upstream"].map(|name| (name, result.tag_value(name)));
        result.message.has_details().then_some(())?;
        Some(Self {
            values,
            winner: result.tag_value("winner")?,
        })
    }

    /// The existing values in parts, and whether each part differs: whether a version lacks its words.
    fn parts(&self) -> Vec<Vec<(String, bool)>> {
        let given: Vec<Vec<&str>> = (self.values.iter())
            .filter_map(|(_, value)| value.map(words))
            .collect();
        let Some(first) = given.first() else {
            return Vec::new();
        };
        // For each word of the other versions, the position of the equal word in the first one.
        let pairs: Vec<Vec<Option<usize>>> = (given[1..].iter())
            .map(|other| paired(first, other))
            .collect();
        let is_common = |word: usize| pairs.iter().all(|pairs| pairs.contains(&Some(word)));
        let differs = |version: usize, word: usize| match version {
            0 => !is_common(word),
            _ => !pairs[version - 1][word].is_some_and(is_common),
        };
        let parts = given.iter().enumerate().map(|(version, words)| {
            let mut parts: Vec<(String, bool)> = Vec::new();
            for (at, word) in words.iter().enumerate() {
                let differs = differs(version, at);
                match parts.last_mut() {
                    Some((part, before)) if *before == differs => part.push_str(word),
                    _ => parts.push(((*word).to_owned(), differs)),
                }
            }
            parts
        });
        parts.collect()
    }
}

/// Splits a text into words, and the single characters between them. A quantity has two words: `3` and `Gi`.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = |is_in: fn(char) -> bool| rest.find(|c| !is_in(c)).unwrap_or(rest.len());
        let word = length(char::is_alphanumeric);
        let number = length(|c| c.is_ascii_digit());
        let is_quantity = number > 0 && rest[number..word].chars().all(char::is_alphabetic);
        let length = if is_quantity {
            number
        } else {
            word.max(first.len_utf8())
        };
        let (word, behind) = rest.split_at(length);
        words.push(word);
        rest = behind;
    }
    words
}

/// For each word of `other`, the word of `first` that a diff of the two pairs it with.
fn paired(first: &[&str], other: &[&str]) -> Vec<Option<usize>> {
    let mut pairs = vec![None; other.len()];
    for (before, after) in kept(first, other) {
        pairs[after] = Some(before);
    }
    pairs
}

/// A unified diff in the colours of `git diff`.
pub fn coloured_diff(diff: &str) -> ShownText {
    let mut text = ShownText::default();
    for line in diff.split_terminator('\n') {
        let style = match line.as_bytes() {
            [b'-', b'-', b'-', b' ', ..] | [b'+', b'+', b'+', b' ', ..] => BOLD,
            [b'@', ..] => CYAN,
            [b'-', ..] => RED,
            [b'+', ..] => GREEN,
            _ => PLAIN,
        };
        text.line(&ShownLine::styled(style, &ShownLine::of_document(line)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::Resource;

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
    fn results_about_one_file_are_grouped() {
        let printer = ResultPrinter {
            colour: false,
            lists_all: false,
        };
        assert_eq!(
            printer.by_file(&results()).as_str(),
            "\
[warning] b.yaml: one (SkippedFile)
[warning] b.yaml: three (SkippedFile)
[warning] a\\u{1b}.yaml: two (SkippedFile)
[info] of all
"
        );
        assert_eq!(printer.errors(&results()).as_str(), "");
    }

    #[test]
    fn a_terminal_shows_the_values_of_a_conflict_below_each_other() {
        let message = Message::of_conflict(
            "both changed the value".to_owned(),
            "original \"3Gi\", local none, upstream \"45Gi\"",
            "kept upstream's value",
        );
        let text = message.to_string();
        let result = FunctionResult::warning(Reason::MergeConflict, message).in_file("a.yaml");
        let result = result
            .tag("original", "\"3Gi\"")
            .tag("upstream", "\"45Gi\"");
        let mut results = Results::default();
        results.push(result.tag("winner", "upstream"));
        let shown = ResultPrinter {
            colour: true,
            lists_all: false,
        }
        .by_file(&results);
        let expected = "[warning] a.yaml: both changed the value (MergeConflict)\n    \
             original  \"<3>Gi\"\n    local     none\n  > upstream  \"<45>Gi\"\n";
        let plain = shown
            .as_str()
            .replace("\u{1b}[1m", "<")
            .replace("\u{1b}[0m", ">");
        let plain = plain.replace("\u{1b}[33m", "").replace("\u{1b}[2m", "");
        let plain = plain
            .replace("(MergeConflict)>", "(MergeConflict)")
            .replace("none>", "none");
        assert_eq!(plain, expected);
        let plain = ResultPrinter {
            colour: false,
            lists_all: false,
        }
        .by_file(&results);
        let plain = plain.as_str();
        assert!(plain.contains(&text), "{plain}");
    }

    #[test]
    fn words_that_a_version_lacks_are_marked() {
        let marked = |values: [Option<&str>; 3]| -> Vec<String> {
            let [original, local, upstream] = values;
            let versions = ConflictVersions {
                values: [
                    ("original", original),
                    ("local", local),
                    ("upstream", upstream),
                ],
                winner: "local",
            };
            let marked = |(part, differs): (String, bool)| {
                if differs { format!("<{part}>") } else { part }
            };
            let versions = versions.parts().into_iter();
            versions
                .map(|parts| parts.into_iter().map(marked).collect())
                .collect()
        };
        assert_eq!(
            marked([Some("true"), Some("false"), None]),
            ["<true>", "<false>"]
        );
        assert_eq!(
            marked([
                Some("all of it, which is"),
                Some("all it, which is"),
                Some("all of it, that is now")
            ]),
            [
                "all <of >it, <which> is",
                "all it, <which> is",
                "all <of >it, <that> is< now>"
            ]
        );
        assert_eq!(
            marked([Some("3Gi"), Some("5Gi"), Some("45Gi")]),
            ["<3>Gi", "<5>Gi", "<45>Gi"]
        );
        assert_eq!(
            marked([Some("1a2b"), Some("1a3b"), Some("äöü")]),
            ["<1a2b>", "<1a3b>", "<äöü>"]
        );
        assert_eq!(marked([None, Some("a"), Some("a")]), ["a", "a"]);
    }

    #[test]
    fn equal_decisions_are_one_line() {
        let conflict = |file: &str, field: &str, name: &str, line: usize| {
            let resource = Resource {
                kind: "Deployment".into(),
                name: Some(name.into()),
                ..Resource::default()
            };
            let result = FunctionResult::warning(Reason::MergeConflict, "both changed it");
            let result = result.with_resource(&resource).in_file(file);
            let line = Some(line);
            FunctionResult {
                line,
                ..result.with_field(field)
            }
        };
        let mut results = Results::default();
        results.push(conflict("a.yaml", "metadata.labels.x", "a", 6));
        results.push(conflict(
            "a.yaml",
            "spec.template.metadata.labels.x",
            "a",
            16,
        ));
        results.push(conflict("a.yaml", "spec.y", "a", 20));
        results.push(conflict("b.yaml", "metadata.labels.x", "b", 6));
        let printer = |lists_all| ResultPrinter {
            colour: false,
            lists_all,
        };
        let text = printer(false).by_file(&results);
        assert_eq!(
            text.as_str(),
            "[warning] a.yaml:6: Deployment/a: metadata.labels.x: both changed it (MergeConflict), and the same in 2 more \
             places (--verbose lists them)\n\
             [warning] a.yaml:20: Deployment/a: spec.y: both changed it (MergeConflict)\n"
        );
        assert_eq!(printer(true).by_file(&results).lines().count(), 4);
    }

    #[test]
    fn severities_stand_out_on_a_terminal() {
        let text = ResultPrinter {
            colour: true,
            lists_all: false,
        }
        .by_file(&results());
        let text = text.as_str();
        assert!(
            text.starts_with("\u{1b}[33m[warning] b.yaml: one"),
            "{text:?}"
        );
    }
}
