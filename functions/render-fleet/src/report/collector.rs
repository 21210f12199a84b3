//! Collects a report, variant by variant.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::finding::{OF_VARIANT, ReportedResult, SharedResult, json};
use super::words::{hide, show_common};
use super::{ChangedFile, FleetReport, KIND, ReportHead, SharedChange, VariantEntry};
use crate::{FleetCounts, VariantOutcome};
use krm_core::config::API_VERSION;
use krm_core::results::FunctionResult;

type EntriesByName = BTreeMap<Rc<str>, VariantEntry>;
type VariantNames = BTreeSet<Rc<str>>;

/// The outcomes of the variants so far. Each text is stored once.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    /// By the names that the rest of the report uses.
    entries: EntriesByName,
    /// The results, each with the names of its variants.
    reported: HashMap<ReportedResult, VariantNames>,
    diffs: HashMap<ChangedFile, VariantNames>,
    /// Results about the whole run.
    general: Vec<ReportedResult>,
}

impl Collector {
    /// Adds the outcome of a variant.
    pub(crate) fn add(&mut self, outcome: &VariantOutcome) {
        if !outcome.is_reported() {
            return;
        }
        let name = self.add_entry(outcome.entry.clone());
        for result in &outcome.results {
            self.add_result(&name, ReportedResult::from(result));
        }
        for diff in outcome.diffs.iter().filter(|diff| !diff.text.is_empty()) {
            self.add_diff(&name, &diff.path, diff.shown());
        }
    }

    /// Adds a variant, and returns its name in the rest of the report. It includes the package if a variant has a second
    /// entry, for a package that it left behind.
    pub(super) fn add_entry(&mut self, entry: VariantEntry) -> Rc<str> {
        let mut name = entry.name.clone();
        if self.entries.contains_key(name.as_str()) {
            name = format!("{name} {}", entry.package);
        }
        let name = Rc::from(name);
        self.entries.entry(Rc::clone(&name)).or_insert(entry);
        name
    }

    pub(super) fn entry(&self, name: &str) -> &VariantEntry {
        &self.entries[name]
    }

    /// Adds a result of a variant.
    pub(super) fn add_result(&mut self, name: &Rc<str>, mut reported: ReportedResult) {
        let action = reported.tag("action");
        if action.is_some_and(|action| action != "failed") {
            // The table of variants already shows the action.
            return;
        }
        reported.forget_place_of_variant();
        reported
            .tags
            .retain(|name, _| !OF_VARIANT.contains(&name.as_str()));
        let hidden = reported.hiding(&self.entries[name]);
        self.reported
            .entry(hidden)
            .or_default()
            .insert(Rc::clone(name));
    }

    /// Adds the diff of a file of a variant.
    pub(super) fn add_diff(&mut self, name: &Rc<str>, path: &str, diff: &str) {
        let hidden = hide(&self.entries[name], diff);
        let file = ChangedFile {
            path: path.to_owned(),
            placeholders: hidden.is_some(),
            diff: hidden.unwrap_or_else(|| diff.to_owned()),
        };
        self.diffs.entry(file).or_default().insert(Rc::clone(name));
    }

    pub(super) fn add_general(&mut self, reported: ReportedResult) {
        self.general.push(reported);
    }

    /// The report of a run, with its counts and the results about the whole run.
    #[must_use]
    pub(crate) fn finish<'r>(
        mut self,
        written: bool,
        counts: FleetCounts,
        results: impl IntoIterator<Item = &'r FunctionResult>,
    ) -> FleetReport {
        self.general
            .extend(results.into_iter().map(ReportedResult::from));
        self.report(written, counts)
    }

    pub(super) fn report(self, written: bool, counts: FleetCounts) -> FleetReport {
        let entries = self.entries;
        let (conflicts, results) = findings(self.reported, self.general, &entries);
        FleetReport {
            api_version: API_VERSION.to_owned(),
            kind: KIND.to_owned(),
            head: ReportHead::default(),
            written,
            counts,
            conflicts,
            results,
            changes: changes(self.diffs, &entries),
            variants: entries.into_values().collect(),
        }
    }
}

/// The name of each entry elsewhere in the report. It includes the package if a variant has a second entry, for a
/// package that it left behind.
pub(super) fn references(entries: &[VariantEntry]) -> Vec<String> {
    let mut names = HashSet::new();
    let reference = |entry: &VariantEntry| {
        if names.insert(entry.name.clone()) {
            entry.name.clone()
        } else {
            format!("{} {}", entry.name, entry.package)
        }
    };
    entries.iter().map(reference).collect()
}

fn texts(names: &VariantNames) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn entries_of<'e>(names: &VariantNames, entries: &'e EntriesByName) -> Vec<&'e VariantEntry> {
    names.iter().filter_map(|name| entries.get(name)).collect()
}

/// The conflicts, and the other results.
fn findings(
    results: HashMap<ReportedResult, VariantNames>,
    general: Vec<ReportedResult>,
    entries: &EntriesByName,
) -> (Vec<SharedResult>, Vec<SharedResult>) {
    let mut all: HashMap<ReportedResult, VariantNames> = HashMap::new();
    for (mut reported, names) in results {
        if reported.placeholders {
            let entries = entries_of(&names, entries);
            let mut is_left = false;
            reported.each_text(|text| {
                let (shown, left) = show_common(text, &entries);
                *text = shown;
                is_left |= left;
            });
            reported.placeholders = is_left;
        }
        all.entry(reported).or_default().extend(names);
    }
    for reported in general {
        all.entry(reported).or_default();
    }
    let mut all: Vec<(ReportedResult, VariantNames)> = all.into_iter().collect();
    all.sort_by_cached_key(|(reported, names)| {
        // Errors first, and conflicts that a rule decided last. The text makes the order independent of the order of
        // insertion.
        let text = serde_json::to_string(reported).unwrap_or_default();
        (Reverse(reported.severity), Reverse(names.len()), text)
    });
    let findings = all.into_iter().map(|(reported, names)| SharedResult {
        variants: texts(&names),
        rule: reported.rule(None).map(|rule| json(&rule)),
        reported,
    });
    findings.partition(|finding| finding.reported.is_conflict())
}

/// The diffs, grouped by the variants that have them.
fn changes(
    diffs: HashMap<ChangedFile, VariantNames>,
    entries: &EntriesByName,
) -> Vec<SharedChange> {
    let mut all: HashMap<ChangedFile, VariantNames> = HashMap::new();
    for (mut file, names) in diffs {
        if file.placeholders {
            let entries = entries_of(&names, entries);
            (file.diff, file.placeholders) = show_common(&file.diff, &entries);
        }
        all.entry(file).or_default().extend(names);
    }
    let mut sets: HashMap<VariantNames, Vec<ChangedFile>> = HashMap::new();
    for (file, names) in all {
        sets.entry(names).or_default().push(file);
    }
    let mut sets: Vec<_> = sets.into_iter().collect();
    sets.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    let change = |(names, mut files): (VariantNames, Vec<ChangedFile>)| {
        files.sort_by(|a, b| (&a.path, &a.diff).cmp(&(&b.path, &b.diff)));
        SharedChange {
            variants: texts(&names),
            files,
        }
    };
    sets.into_iter().map(change).collect()
}
