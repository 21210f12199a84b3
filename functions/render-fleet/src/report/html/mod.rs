//! The report as one page, which needs no network and is usable without scripts.
//!
//! The page stays small for a fleet of any size: a diff that many variants share appears once, a set of variants is
//! listed once, and beyond a limit the rarest diffs are left out.

mod affected;
mod diff;

use std::collections::{HashMap, HashSet};

use askama::Template;

use super::finding::{ReportedResult, SharedResult};
use super::{FleetReport, ReportHead, VariantEntry};
use crate::{Action, FleetCounts};
use affected::AffectedVariants;
use diff::{FileView, view};
use krm_core::config::UsageError;
use krm_core::results::Severity;
use krm_yaml::{Value, to_block_text};

/// The most bytes of diffs on a page.
const DIFFS: usize = 2 << 20;
/// Rows in one chunk of a table, which browsers lay out together.
const CHUNK: usize = 100;
/// Tables of up to this many rows are initially open.
const OPEN: usize = 30;

#[derive(Template)]
#[template(path = "page.html")]
struct ReportPage<'r> {
    is_forecast: bool,
    head: &'r ReportHead,
    summary: String,
    tiles: Vec<Tile>,
    failures: Vec<Card<'r>>,
    conflicts: Vec<Card<'r>>,
    /// All rules in one text, if there are several; otherwise empty.
    rules: String,
    decided: Vec<Card<'r>>,
    notes: Vec<Card<'r>>,
    states: Vec<VariantState<'r>>,
    changes: Vec<ChangeSet<'r>>,
    left_out: String,
}

/// A count, with a link to the part of the page about it.
struct Tile {
    label: String,
    count: String,
    word: &'static str,
    target: &'static str,
    is_zero: bool,
}

/// A result, and the variants that have it.
struct Card<'r> {
    affected: AffectedVariants<'r>,
    reported: &'r ReportedResult,
    place: String,
    /// The message, split at backticks: every second part is a name.
    what: Vec<String>,
    rule: String,
}

impl Card<'_> {
    fn tag(&self, name: &str) -> &str {
        self.reported.tag(name).unwrap_or_default()
    }

    /// Whether the file has the value of a side.
    fn wins(&self, side: &str) -> bool {
        self.tag("winner") == side && self.tag("merged").is_empty()
    }
}

/// The variants with the same action.
struct VariantState<'r> {
    word: &'static str,
    label: &'static str,
    count: String,
    is_open: bool,
    /// The rows in chunks, each with its number.
    chunks: Vec<Vec<(usize, &'r VariantEntry)>>,
}

impl VariantEntry {
    fn revisions(&self) -> String {
        match (&self.from, &self.to) {
            (Some(from), Some(to)) if from != to => format!("{from} → {to}"),
            (from, to) => to.as_ref().or(from.as_ref()).cloned().unwrap_or_default(),
        }
    }

    /// The risks of the changes, the worst first: `1 blocking, 2 dangerous`.
    fn risks(&self) -> String {
        let risks = self.risks.iter().rev();
        let risks = risks.map(|(risk, count)| format!("{count} {}", risk.as_str()));
        risks.collect::<Vec<_>>().join(", ")
    }
}

/// Files that change in the same way in several variants.
struct ChangeSet<'r> {
    affected: AffectedVariants<'r>,
    files: Vec<FileView<'r>>,
}

/// Creates the page of a report.
///
/// # Errors
/// [`UsageError`]: the template fails.
pub(super) fn page(report: &FleetReport) -> Result<String, UsageError> {
    let mut fleet = FleetPage::of(report);
    let (failed, noted): (Vec<_>, Vec<_>) = report
        .results
        .iter()
        .partition(|finding| finding.reported.severity == Severity::Error);
    let (open, decided): (Vec<_>, Vec<_>) = report
        .conflicts
        .iter()
        .partition(|finding| finding.reported.severity > Severity::Info);
    // In the order of the page, because a set of variants is listed at its first occurrence.
    let failures = fleet.cards(&failed);
    let conflicts = fleet.cards(&open);
    let (changes, left_out) = fleet.changes();
    let decided = fleet.cards(&decided);
    let notes = fleet.cards(&noted);
    let rules: Vec<&str> = conflicts.iter().map(|card| card.rule.as_str()).collect();
    let rules: Vec<&str> = rules.into_iter().filter(|rule| !rule.is_empty()).collect();
    let rules = distinct(&rules);
    let page = ReportPage {
        is_forecast: !report.written,
        head: &report.head,
        summary: summary(&report.counts),
        tiles: tiles(&report.counts, report.written),
        failures,
        rules: if rules.len() > 1 {
            format!("conflicts:\n{}", rules.concat())
        } else {
            String::new()
        },
        conflicts,
        decided,
        notes,
        states: fleet.states(),
        changes,
        left_out,
    };
    page.render()
        .map_err(|error| UsageError::cannot("make the report", error))
}

fn distinct<'t>(texts: &[&'t str]) -> Vec<&'t str> {
    let mut known = HashSet::new();
    let texts = texts.iter().filter(|text| known.insert(**text));
    texts.copied().collect()
}

/// The counts as a sentence: `10,000 variants: 9,990 updated, 10 failed`.
fn summary(counts: &FleetCounts) -> String {
    let is_part = |name: &str| name != "variants" && name != "conflicts";
    let parts = counts.named();
    let parts = parts.filter(|(name, count)| *count > 0 && is_part(name));
    let parts: Vec<String> = parts
        .map(|(name, count)| format!("{} {name}", thousands(count)))
        .collect();
    let variants = counts.named().map(|(_, count)| count).next();
    let variants = variants.unwrap_or_default();
    let noun = if variants == 1 { "variant" } else { "variants" };
    let variants = thousands(variants);
    if parts.is_empty() {
        format!("{variants} {noun}")
    } else {
        format!("{variants} {noun}: {}", parts.join(", "))
    }
}

fn tiles(counts: &FleetCounts, written: bool) -> Vec<Tile> {
    let tile = |(word, count): (&'static str, u64)| {
        let label = match word {
            "variants" | "conflicts" | "unchanged" => word.to_owned(),
            "failed" if written => "failed".to_owned(),
            "failed" => "would fail".to_owned(),
            _ if written => word.to_owned(),
            _ => format!("to be {word}"),
        };
        Tile {
            label,
            count: thousands(count),
            word,
            target: match word {
                "variants" => "variants",
                "failed" => "failures",
                "unchanged" => "",
                word => word,
            },
            is_zero: count == 0,
        }
    };
    let shown = counts.named();
    // These counts are shown even if they are zero.
    let always = ["variants", "unchanged", "failed", "conflicts"];
    let shown = shown.filter(|(word, count)| *count > 0 || always.contains(word));
    shown.map(tile).collect()
}

/// The data for creating the page of a report.
struct FleetPage<'r> {
    report: &'r FleetReport,
    rows: HashMap<String, usize>,
    /// The number of each set of variants that has already been listed, by its rows.
    known: HashMap<String, usize>,
}

impl<'r> FleetPage<'r> {
    fn of(report: &'r FleetReport) -> Self {
        let references = super::collector::references(&report.variants);
        let rows = references.into_iter().enumerate();
        Self {
            report,
            rows: rows.map(|(row, name)| (name, row)).collect(),
            known: HashMap::new(),
        }
    }

    fn cards(&mut self, findings: &[&'r SharedResult]) -> Vec<Card<'r>> {
        findings.iter().map(|finding| self.card(finding)).collect()
    }

    fn card(&mut self, finding: &'r SharedResult) -> Card<'r> {
        let reported = &finding.reported;
        // Either side can be right. Suggest the side that has won, so that adding the rule changes nothing.
        let (take, other) = match reported.tag("winner") {
            Some("local") => ("local", "upstream"),
            _ => ("upstream", "local"),
        };
        let rule = reported.rule(Some(take)).map(|rule| {
            let rules = to_block_text(&Value::Sequence(vec![rule]));
            format!("{}   # or {other}\n", rules.trim_end())
        });
        // In a conflict over a field, the page shows the values below the message.
        let what = if reported.is_conflict() && reported.field.is_some() {
            reported.message.what.clone()
        } else {
            reported.message.to_string()
        };
        Card {
            affected: self.affected(&finding.variants),
            reported,
            place: place(reported),
            what: what.split('`').map(str::to_owned).collect(),
            rule: rule.unwrap_or_default(),
        }
    }

    /// The table of variants, grouped by action; failures first.
    fn states(&self) -> Vec<VariantState<'r>> {
        let mut order: Vec<_> = Action::ALL.into_iter().map(Some).chain([None]).collect();
        order.sort_by_key(|action| *action != Some(Action::Failed));
        let states = order.into_iter().filter_map(|action| {
            let rows = self.report.variants.iter().enumerate();
            let rows: Vec<_> = rows.filter(|(_, entry)| entry.action == action).collect();
            (!rows.is_empty()).then(|| VariantState {
                word: action.map_or("unchanged", Action::as_str),
                label: word(action),
                count: thousands(rows.len() as u64),
                is_open: rows.len() <= OPEN,
                chunks: rows.chunks(CHUNK).map(<[_]>::to_vec).collect(),
            })
        });
        states.collect()
    }

    /// The changes that fit on the page, and a text about the others.
    fn changes(&mut self) -> (Vec<ChangeSet<'r>>, String) {
        let report = self.report;
        let mut room = DIFFS;
        let mut sets = Vec::new();
        let mut left_out = 0;
        for change in &report.changes {
            let length: usize = change.files.iter().map(|file| file.diff.len()).sum();
            if length > room {
                left_out += change.files.len();
                continue;
            }
            room -= length;
            sets.push(ChangeSet {
                affected: self.affected(&change.variants),
                files: change.files.iter().map(view).collect(),
            });
        }
        let left_out = match left_out {
            0 => String::new(),
            1 => "1 more diff is".to_owned(),
            count => format!("{} more diffs are", thousands(count as u64)),
        };
        (sets, left_out)
    }
}

/// The name of an action in headings and sentences.
fn word(action: Option<Action>) -> &'static str {
    action.map_or("left as they were", Action::as_str)
}

/// The place of a result: `Deployment/web in deployment.yaml`.
fn place(reported: &ReportedResult) -> String {
    let file = reported.file.as_ref().map(|file| {
        let path = file.path.as_str();
        path.strip_prefix("‹path›/").unwrap_or(path)
    });
    let resource = reported.resource_ref.as_ref();
    let resource = resource.map(ToString::to_string);
    match (resource, file) {
        // The variants are already named next to the result.
        _ if reported.is_about_variant() => String::new(),
        (Some(resource), Some(file)) => format!("{resource} in {file}"),
        (Some(resource), None) => resource,
        (None, file) => file.unwrap_or_default().to_owned(),
    }
}

/// A number with separators: `10,000`.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_thousands() {
        assert_eq!(
            ["0", "999", "1,000", "1,234,567"],
            [0, 999, 1000, 1_234_567].map(thousands)[..]
        );
    }
}
