//! Collects a report, variant by variant.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::finding::{OF_VARIANT, Said, SharedResult, json};
use super::words::{hide, show_common};
use super::{ChangedFile, FleetReport, KIND, ReportHead, SharedChange, VariantEntry};
use crate::config::API_VERSION;
use crate::functions::render_fleet::{FleetCounts, VariantOutcome};
use crate::results::FunctionResult;

/// The outcomes of the variants so far. Each text is stored once.
#[derive(Debug, Default)]
pub struct Collector {
    entries: Vec<VariantEntry>,
    /// The results, each with the numbers of its variants.
    said: HashMap<Said, Vec<usize>>,
    diffs: HashMap<ChangedFile, Vec<usize>>,
    /// Results about the whole run.
    general: Vec<Said>,
}

impl Collector {
    /// Adds the outcome of a variant.
    pub fn add(&mut self, outcome: &VariantOutcome) {
        if !outcome.is_worth_telling() {
            return;
        }
        let number = self.add_entry(outcome.entry.clone());
        for result in &outcome.results {
            self.add_result(number, Said::from(result));
        }
        for diff in outcome.diffs.iter().filter(|diff| !diff.text.is_empty()) {
            self.add_diff(number, &diff.path, diff.shown());
        }
    }

    /// Adds a variant, and returns its number.
    pub(super) fn add_entry(&mut self, entry: VariantEntry) -> usize {
        self.entries.push(entry);
        self.entries.len() - 1
    }

    pub(super) fn entry(&self, number: usize) -> &VariantEntry {
        &self.entries[number]
    }

    /// Adds a result of a variant.
    pub(super) fn add_result(&mut self, number: usize, mut said: Said) {
        let action = said.tag("action");
        if action.is_some_and(|action| action != "failed") {
            // The table of variants already shows the action.
            return;
        }
        said.forget_place_of_variant();
        said.tags
            .retain(|name, _| !OF_VARIANT.contains(&name.as_str()));
        let hidden = said.hiding(&self.entries[number]);
        self.said.entry(hidden).or_default().push(number);
    }

    /// Adds the diff of a file of a variant.
    pub(super) fn add_diff(&mut self, number: usize, path: &str, diff: &str) {
        let hidden = hide(&self.entries[number], diff);
        let file = ChangedFile {
            path: path.to_owned(),
            placeholders: hidden.is_some(),
            diff: hidden.unwrap_or_else(|| diff.to_owned()),
        };
        self.diffs.entry(file).or_default().push(number);
    }

    pub(super) fn add_general(&mut self, said: Said) {
        self.general.push(said);
    }

    /// The report of a run, with its counts and the results about the whole run.
    #[must_use]
    pub fn finish<'r>(
        mut self,
        written: bool,
        counts: FleetCounts,
        results: impl IntoIterator<Item = &'r FunctionResult>,
    ) -> FleetReport {
        self.general.extend(results.into_iter().map(Said::from));
        self.report(written, counts)
    }

    pub(super) fn report(self, written: bool, counts: FleetCounts) -> FleetReport {
        let Self {
            entries,
            said,
            diffs,
            general,
        } = self;
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by(|a, b| entries[*a].name.cmp(&entries[*b].name));
        let variants: Vec<VariantEntry> = order.iter().map(|at| entries[*at].clone()).collect();
        let mut places = vec![0; order.len()];
        for (place, number) in order.into_iter().enumerate() {
            places[number] = place;
        }
        let named = Named {
            references: references(&variants),
            variants: &variants,
        };
        let (conflicts, results) = named.findings(said, general, &places);
        let changes = named.changes(diffs, &places);
        FleetReport {
            api_version: API_VERSION.to_owned(),
            kind: KIND.to_owned(),
            head: ReportHead::default(),
            written,
            counts,
            conflicts,
            results,
            changes,
            variants,
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

/// The entries in their order, and their names.
struct Named<'v> {
    variants: &'v [VariantEntry],
    references: Vec<String>,
}

impl Named<'_> {
    fn names(&self, places: &BTreeSet<usize>) -> Vec<String> {
        let names = places.iter().map(|place| self.references[*place].clone());
        names.collect()
    }

    fn entries(&self, places: &BTreeSet<usize>) -> Vec<&VariantEntry> {
        places.iter().map(|place| &self.variants[*place]).collect()
    }

    /// The conflicts, and the other results.
    fn findings(
        &self,
        said: HashMap<Said, Vec<usize>>,
        general: Vec<Said>,
        places: &[usize],
    ) -> (Vec<SharedResult>, Vec<SharedResult>) {
        let mut all: HashMap<Said, BTreeSet<usize>> = HashMap::new();
        for (mut said, numbers) in said {
            let own: BTreeSet<usize> = numbers.iter().map(|number| places[*number]).collect();
            let entries = self.entries(&own);
            if said.placeholders {
                said.placeholders = false;
                let mut is_left = false;
                said.each_text(|text| {
                    let (shown, left) = show_common(text, &entries);
                    *text = shown;
                    is_left |= left;
                });
                said.placeholders = is_left;
            }
            all.entry(said).or_default().extend(own);
        }
        for said in general {
            all.entry(said).or_default();
        }
        let mut all: Vec<(Said, BTreeSet<usize>)> = all.into_iter().collect();
        all.sort_by_cached_key(|(said, places)| {
            // Errors first, and conflicts that a rule decided last. The text makes the order independent of the order
            // of insertion.
            let text = serde_json::to_string(said).unwrap_or_default();
            (Reverse(said.severity), Reverse(places.len()), text)
        });
        let findings = all.into_iter().map(|(said, places)| SharedResult {
            variants: self.names(&places),
            rule: said.rule(None).map(|rule| json(&rule)),
            said,
        });
        findings.partition(|finding| finding.said.is_conflict())
    }

    /// The diffs, grouped by the variants that have them.
    fn changes(
        &self,
        diffs: HashMap<ChangedFile, Vec<usize>>,
        places: &[usize],
    ) -> Vec<SharedChange> {
        let mut all: HashMap<ChangedFile, BTreeSet<usize>> = HashMap::new();
        for (mut file, numbers) in diffs {
            let own: BTreeSet<usize> = numbers.iter().map(|number| places[*number]).collect();
            if file.placeholders {
                (file.diff, file.placeholders) = show_common(&file.diff, &self.entries(&own));
            }
            all.entry(file).or_default().extend(own);
        }
        let mut sets: HashMap<BTreeSet<usize>, Vec<ChangedFile>> = HashMap::new();
        for (file, own) in all {
            sets.entry(own).or_default().push(file);
        }
        let mut sets: Vec<_> = sets.into_iter().collect();
        sets.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        let change = |(own, mut files): (BTreeSet<usize>, Vec<ChangedFile>)| {
            files.sort_by(|a, b| (&a.path, &a.diff).cmp(&(&b.path, &b.diff)));
            SharedChange {
                variants: self.names(&own),
                files,
            }
        };
        sets.into_iter().map(change).collect()
    }
}
