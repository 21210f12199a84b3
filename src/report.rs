//! The report of an upgrade: what it changed, and what the user has to do next.

use std::collections::BTreeMap;

use krm_core::results::{FunctionResult, MergeDetail, Reason, Results, Severity};
use krm_package::escaped::ShownLine;
use krm_review::{PackageChange, Review, Risk};
use krm_upstream::git::Revision;
use serde_json::{Value, json};

use super::cli::{Common, Take};
use super::conflict::ReportedConflict;
use super::exit;
use super::failure::{Hint, Result};
use super::field_history::ConflictHistories;
use super::package::LocalPackage;
use super::print::{self, GREEN, Page, RED, YELLOW, counted, grouped};

/// How many changes an upgrade lists without `-v`.
const MOST_CHANGES: usize = 20;

/// An upgrade that was made, or tried by a dry run.
pub(crate) struct UpgradeReport<'r> {
    pub(crate) package: &'r LocalPackage,
    pub(crate) from: Option<String>,
    /// The revisions before and after, as they are shown.
    pub(crate) step: [Option<String>; 2],
    pub(crate) to: &'r Revision,
    /// Its name for a person.
    pub(crate) to_name: String,
    /// The old and the new path of the package in upstream. `None` if it did not move.
    pub(crate) moved: Option<[&'r str; 2]>,
    /// The new name of the file of a single-file package.
    pub(crate) renamed: Option<&'r str>,
    /// What the user should know of the revision.
    pub(crate) notes: Vec<String>,
    pub(crate) results: &'r Results,
    /// What it changes in the files.
    pub(crate) changes: Vec<PackageChange>,
    /// All conflicts of the merge, including decided ones.
    pub(crate) found: &'r [ReportedConflict],
    /// The undecided conflicts.
    pub(crate) open: &'r [ReportedConflict],
    pub(crate) histories: ConflictHistories<'r>,
    pub(crate) is_written: bool,
    pub(crate) taken: Option<Take>,
    pub(crate) has_markers: bool,
    /// The command that writes what a dry run shows.
    pub(crate) again: Hint,
    /// What the upgrade means for the cluster.
    pub(crate) review: Option<&'r Review>,
    /// The command that shows the review.
    pub(crate) review_command: Option<Hint>,
}

impl UpgradeReport<'_> {
    pub(crate) fn print(&self, common: &Common) -> Result<()> {
        if common.json {
            return print::json(&self.to_json());
        }
        let mut page = Page::new(common);
        self.write_to(&mut page, common)?;
        page.finish()
    }

    /// Adds the report to a page.
    pub(crate) fn write_to(&self, page: &mut Page, common: &Common) -> Result<()> {
        let name = self.package.name();
        let [from, to] = self.step.each_ref().map(Option::as_deref);
        let step: Vec<&str> = from.into_iter().chain(to).collect();
        page.line(format_args!("{name}: {}", step.join(" -> ")));
        if let Some([old, new]) = self.moved {
            page.wrapped(format_args!("  path in upstream: {old} -> {new}"), 4);
        }
        if let Some(summary) = summary(self.results) {
            let summary = if self.is_written {
                summary
            } else {
                summary.replacen("merged:", "would merge:", 1)
            };
            page.wrapped(format_args!("  {summary}"), 4);
        }
        self.print_changes(page, common);
        for line in combined(self.results, common.verbose) {
            page.wrapped(format_args!("  {line}"), 4);
        }
        for warning in self.notes.iter().cloned().chain(warnings(self.results)) {
            let warning = page.styled(YELLOW, warning);
            page.wrapped(ShownLine::of(&[&"  ", &warning]), 4);
        }
        let risks = self.risks();
        if !risks.is_empty() {
            let risks = page.styled(RED, risks.join(", "));
            page.line(ShownLine::of(&[&"  for the cluster: ", &risks]));
        }
        self.decisions(page, common)
    }

    /// What the upgrade changes, resource by resource.
    fn print_changes(&self, page: &mut Page, common: &Common) {
        let count = self.changes.len();
        let shown = if common.verbose { count } else { MOST_CHANGES };
        for change in self.changes.iter().take(shown) {
            page.wrapped(format_args!("  {change}"), 11);
        }
        if count > shown {
            page.line(format_args!("  and {} more (-v lists them)", count - shown));
        }
    }

    /// How many changes an API server refuses, or can do harm.
    fn risks(&self) -> Vec<String> {
        let risks = [Risk::Blocking, Risk::Dangerous].into_iter();
        let counts = risks.map(|risk| (risk, self.review.map_or(0, |review| review.count(risk))));
        let found = counts.filter(|(_, count)| *count > 0);
        found
            .map(|(risk, count)| format!("{count} {risk}"))
            .collect()
    }

    fn decisions(&self, page: &mut Page, common: &Common) -> Result<()> {
        let review = self.review_command.as_ref();
        // Files with markers cannot be read.
        let review = review.filter(|_| !self.risks().is_empty() && !self.has_markers);
        if self.open.is_empty() {
            let taken = self.taken.filter(|_| !self.found.is_empty());
            if let Some(side) = taken {
                let count = counted(self.found.len(), "conflict");
                page.line(format_args!("  {count} decided: {}", side.done()));
            }
            let none = if self.found.is_empty() {
                "No conflicts."
            } else {
                "All conflicts are decided."
            };
            let done = page.styled(GREEN, none);
            let hint = if self.is_written {
                let lock = format!(" The package is now at {}.", self.to_name);
                page.line(ShownLine::of(&[&done, &lock]));
                &self.commit_command()?
            } else {
                page.line(ShownLine::of(&[&done, &" Dry run: nothing was written."]));
                &self.again
            };
            for hint in review.into_iter().chain([hint]) {
                page.hint(hint);
            }
            return Ok(());
        }
        let kept = match (self.is_written, self.has_markers) {
            (false, true) => "the files would get conflict markers there",
            (false, false) => "the files would keep your value there",
            (true, true) => "the files have conflict markers there",
            (true, false) => "the files keep your value there",
        };
        let count = page.styled(
            RED,
            format!("{} undecided", counted(self.open.len(), "conflict")),
        );
        page.line(ShownLine::of(&[&count, &"; ", &kept]));
        // The line numbers differ from the files on disk after a dry run, and if there are markers.
        let has_lines = self.is_written && !self.has_markers;
        let history = |conflict: &ReportedConflict| {
            if has_lines {
                self.histories.of_conflict(conflict).lines()
            } else {
                Vec::new()
            }
        };
        page.conflicts(&grouped(self.open), history, common.verbose);
        let hints = if self.is_written {
            hints(self.package, self.open, self.has_markers)
        } else {
            vec![self.again.clone()]
        };
        for hint in hints.iter().chain(review) {
            page.hint(hint);
        }
        Ok(())
    }

    fn commit_command(&self) -> Result<Hint> {
        let [from, to] = &self.step;
        let rendered = self.to.lock_ref.as_str();
        if from.as_deref() == Some(rendered) && from != to {
            let message = format!("{}: render {rendered} again", self.package.label());
            return self.package.commit_command(&message, self.renamed, false);
        }
        commit_command(self.package, &self.to_name, self.renamed)
    }

    fn to_json(&self) -> Value {
        let open: Vec<Value> = self.open.iter().map(conflict_json).collect();
        json!({
            "path": self.package.name(),
            "from": self.from,
            "to": self.to.lock_ref,
            "commit": self.to.commit,
            "written": self.is_written,
            "conflicts": open,
            "risk": self.review.and_then(Review::worst),
            "decided": self.found.len() - self.open.len(),
            "notes": self.notes,
            "changes": self.changes,
            "results": self.results.iter().map(result_json).collect::<Vec<_>>(),
        })
    }
}

/// The command that commits the package when all conflicts are decided.
pub(crate) fn commit_command(
    package: &LocalPackage,
    to: &str,
    renamed: Option<&str>,
) -> Result<Hint> {
    let message = format!("{}: upgrade to {to}", package.label());
    package.commit_command(&message, renamed, false)
}

/// Commands that decide conflicts: the first conflict, or all of them one by one.
pub(crate) fn hints(
    package: &LocalPackage,
    open: &[ReportedConflict],
    has_markers: bool,
) -> Vec<Hint> {
    let Some(first) = open.first() else {
        return Vec::new();
    };
    if has_markers {
        return vec![package.command(&["resolve", "--take", "file"])];
    }
    let place = first.path().unwrap_or(first.file());
    vec![
        package.take_command("local", place),
        package.command(&["resolve"]),
    ]
}

/// A conflict for `--json`.
pub(crate) fn conflict_json(conflict: &ReportedConflict) -> Value {
    let [original, local, upstream] = conflict.values();
    json!({
        "file": conflict.file(),
        "line": conflict.line(),
        "resource": conflict.resource_name(),
        "field": conflict.0.field,
        "path": conflict.0.rule_path,
        "within": conflict.within(),
        "message": conflict.what(),
        "original": original,
        "local": local,
        "upstream": upstream,
    })
}

/// A result for `--json`.
pub(crate) fn result_json(result: &FunctionResult) -> Value {
    serde_json::from_str(&result.to_value().to_json()).unwrap_or_default()
}

/// The result in which a merge counts its changes.
pub(crate) fn summary(results: &Results) -> Option<String> {
    let is_it =
        |result: &&FunctionResult| matches!(result.merge.as_deref(), Some(MergeDetail::Summary));
    results
        .iter()
        .find(is_it)
        .map(|result| result.text().into_owned())
}

/// What the merge combined from both sides, what stays deleted, and what a rule decided. The lines are grouped and
/// counted unless `is_verbose`.
fn combined(results: &Results, is_verbose: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut kinds: BTreeMap<([String; 2], String), usize> = BTreeMap::new();
    for result in results {
        let mut sides = String::new();
        let what = match result.merge.as_deref() {
            Some(MergeDetail::Conflict(_)) if result.severity == Severity::Info => {
                ["decided by a rule"; 2].map(str::to_owned)
            }
            Some(MergeDetail::Combined {
                kind,
                local,
                upstream,
            }) => {
                if local.as_str().len() + upstream.as_str().len() < 40 {
                    sides = format!(" (yours: {local}, upstream's: {upstream})");
                }
                ["", "s"].map(|plural| format!("{kind}{plural} combined from both sides"))
            }
            _ if result.has_reason(Reason::RandomValue) => {
                ["random value kept", "random values kept"].map(str::to_owned)
            }
            _ if result.has_reason(Reason::StaysDeleted) => {
                ["stays deleted", "stay deleted"].map(str::to_owned)
            }
            _ => continue,
        };
        if is_verbose {
            lines.push(result.to_string());
            continue;
        }
        *kinds.entry((what, sides)).or_default() += 1;
    }
    lines.extend(kinds.into_iter().map(|(([one, many], sides), count)| {
        format!("{count} {}{sides}", if count == 1 { one } else { many })
    }));
    lines
}

/// Prints the errors of a run that wrote nothing. Returns its exit code.
pub(crate) fn print_errors(results: &Results, common: &Common) -> Result<u8> {
    if common.json {
        let results: Vec<Value> = results.iter().map(result_json).collect();
        print::json(&json!({"written": false, "results": results}))?;
        return Ok(exit::OPEN);
    }
    let mut page = Page::new(common);
    for result in results
        .iter()
        .filter(|result| result.severity == Severity::Error)
    {
        let line = page.styled(RED, result.to_string());
        page.wrapped(line, 2);
    }
    page.line("nothing was written");
    page.finish()?;
    Ok(exit::OPEN)
}

/// Infos that a person should see whatever the outcome is.
const NAMED: [Reason; 3] = [
    Reason::IgnoredFile,
    Reason::OwnUpstream,
    Reason::RunsSomewhere,
];

/// The warnings that are not conflicts.
pub(crate) fn warnings(results: &Results) -> impl Iterator<Item = String> {
    let other = results.iter().filter(|result| {
        let is_warning = result.severity == Severity::Warning;
        is_warning && !result.has_reason(Reason::MergeConflict)
            || NAMED.into_iter().any(|reason| result.has_reason(reason))
    });
    other.map(ToString::to_string)
}
