//! Combines the reports of shards.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{fs, io};

use serde::Deserialize;

use super::finding::ReportedResult;
use super::words::show_common;
use super::{Collector, FleetReport, VariantEntry};
use crate::{Action, FleetCounts};
use krm_core::config::UsageError;
use krm_yaml::{OwnedDocument, de};

/// The report of all shards, from their reports or from the files of `--results`. A directory stands for the `.json`
/// files in it.
///
/// # Errors
/// [`UsageError`]: a file cannot be read, or is neither of these; a directory has no reports; two files have the same
/// variant; some files are forecasts and others report what was written.
pub fn join(paths: &[PathBuf]) -> Result<FleetReport, UsageError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(reports_in(path)?);
        } else {
            files.push(path.clone());
        }
    }
    let mut shards = Shards {
        files: &files,
        at: 0,
        collector: Collector::default(),
        counts: FleetCounts::default(),
        variants: HashMap::new(),
        written: None,
    };
    for (at, path) in files.iter().enumerate() {
        shards.at = at;
        let text = fs::read_to_string(path).map_err(|error| format!("cannot read it: {error}"));
        let read = text.and_then(|text| shards.read(&text));
        read.map_err(|what| UsageError::at(format_args!("--join {}", path.display()), what))?;
    }
    let written = shards.written.is_none_or(|(_, written)| written);
    Ok(shards.collector.report(written, shards.counts))
}

/// The `.json` files in a directory, in the order of their names.
fn reports_in(directory: &Path) -> Result<Vec<PathBuf>, UsageError> {
    let wrong = |what: String| UsageError::at(format_args!("--join {}", directory.display()), what);
    let unreadable = |error: io::Error| wrong(format!("cannot read it: {error}"));
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            files.push(path);
        }
    }
    if files.is_empty() {
        let message = "expected the reports of shards, found no file `*.json`";
        return Err(wrong(message.to_owned()));
    }
    files.sort();
    Ok(files)
}

/// The data from the files so far.
struct Shards<'p> {
    files: &'p [PathBuf],
    /// The index of the file that is being read.
    at: usize,
    collector: Collector,
    counts: FleetCounts,
    /// By the name of a variant, the index of the file that has it.
    variants: HashMap<String, usize>,
    /// The first file that records whether packages were written, and what it records.
    written: Option<(usize, bool)>,
}

impl Shards<'_> {
    fn read(&mut self, text: &str) -> Result<(), String> {
        if text.trim_start().starts_with('{') {
            self.add_report(FleetReport::read(text)?)
        } else {
            self.add_results(text)
        }
    }

    /// Adds a variant, and returns its name in the report; an error if another file has it too.
    fn add_entry(&mut self, entry: VariantEntry) -> Result<Rc<str>, String> {
        let first = *self.variants.entry(entry.name.clone()).or_insert(self.at);
        if first == self.at {
            return Ok(self.collector.add_entry(entry));
        }
        Err(format!(
            "expected other variants than in {}, found `{}` in both",
            self.files[first].display(),
            entry.name
        ))
    }

    fn add_counts<'n>(&mut self, counts: impl Iterator<Item = (&'n str, u64)>) {
        counts.for_each(|(name, count)| self.counts.add(name, count));
    }

    fn add_report(&mut self, report: FleetReport) -> Result<(), String> {
        let (first, written) = *self.written.get_or_insert((self.at, report.written));
        if written != report.written {
            return Err(format!(
                "expected reports of one run, found a forecast and a report of what was written ({})",
                self.files[first].display()
            ));
        }
        self.add_counts(report.counts.named());
        let mut names = HashSet::new();
        for entry in report.variants {
            names.insert(self.add_entry(entry)?);
        }
        let known = |name: &String| {
            names.get(name.as_str()).ok_or_else(|| {
                format!("expected `{name}` among `variants`, found it in a list only")
            })
        };
        for finding in report.conflicts.into_iter().chain(report.results) {
            if finding.variants.is_empty() {
                self.collector.add_general(finding.reported);
                continue;
            }
            for name in &finding.variants {
                let name = known(name)?;
                let mut reported = finding.reported.clone();
                if reported.placeholders {
                    let entry = self.collector.entry(name);
                    reported.each_text(|text| *text = show_common(text, &[entry]).0);
                    reported.placeholders = false;
                }
                self.collector.add_result(name, reported);
            }
        }
        for change in report.changes {
            for name in &change.variants {
                let name = known(name)?;
                for file in &change.files {
                    let entry = self.collector.entry(name);
                    let shown = file
                        .placeholders
                        .then(|| show_common(&file.diff, &[entry]).0);
                    let diff = shown.as_ref().unwrap_or(&file.diff);
                    self.collector.add_diff(name, &file.path, diff);
                }
            }
        }
        Ok(())
    }

    /// Adds results in the order of a run: first the result of a variant, then the results about its package.
    fn add_results(&mut self, text: &str) -> Result<(), String> {
        let document =
            OwnedDocument::parse_resource(text.to_owned()).map_err(|error| error.to_string())?;
        let value = document.root().and_then(|root| root.value());
        let value = value.ok_or("expected a FleetReport or a FunctionResultList, found nothing")?;
        let list: ResultList = de::from_value(&value).map_err(|error| {
            format!("expected a FleetReport or a FunctionResultList, found something else: {error}")
        })?;
        let mut last = None;
        for reported in list.items.into_iter().flat_map(|item| item.results) {
            self.take(reported, &mut last)?;
        }
        Ok(())
    }

    /// Adds a result, which belongs to the variant that was named last if it does not name another.
    fn take(&mut self, reported: ReportedResult, last: &mut Option<Rc<str>>) -> Result<(), String> {
        if reported.tags.contains_key("variants") && reported.tags.contains_key("unchanged") {
            let counts = reported.tags.iter();
            let counts = counts.filter_map(|(name, count)| Some((&**name, count.parse().ok()?)));
            self.add_counts(counts);
            return Ok(());
        }
        let owner = reported.owner();
        let before = last.as_ref().map(|last| self.collector.entry(last));
        let is_new = match (&owner, before) {
            (Some(_), _) if reported.tag("action").is_some() => true,
            (Some(owner), Some(before)) => before.name != *owner,
            (owner, None) => owner.is_some(),
            (None, Some(_)) => false,
        };
        let is_about_last = before.is_some_and(|before| reported.is_about(before));
        if let Some(owner) = owner.filter(|_| is_new) {
            let text = |name| reported.tag(name).map(str::to_owned);
            let mut actions = Action::ALL.iter();
            let action = actions.find(|action| Some(action.as_str()) == reported.tag("action"));
            let conflicts = reported
                .tag("conflicts")
                .and_then(|count| count.parse().ok());
            *last = Some(self.add_entry(VariantEntry {
                name: owner,
                package: reported.package().unwrap_or_default().to_owned(),
                action: action.copied(),
                from: text("from"),
                to: text("to"),
                draft: text("draft"),
                conflicts: conflicts.unwrap_or_default(),
                ..VariantEntry::default()
            })?);
        } else if !is_about_last {
            self.collector.add_general(reported);
            return Ok(());
        }
        if let Some(last) = last {
            self.collector.add_result(last, reported);
        }
        Ok(())
    }
}

/// The fields of a FunctionResultList that are read.
#[derive(Debug, Deserialize)]
struct ResultList {
    items: Vec<ResultsOf>,
}

#[derive(Debug, Deserialize)]
struct ResultsOf {
    #[serde(default)]
    results: Vec<ReportedResult>,
}

impl ReportedResult {
    /// Whether the result is about a variant or its package.
    fn is_about(&self, VariantEntry { name, package, .. }: &VariantEntry) -> bool {
        let file = self.file.as_ref().map(|file| file.path.as_str());
        let below = file.and_then(|file| file.strip_prefix(package.as_str()));
        let is_below = below.is_some_and(|below| below.starts_with('/'));
        !package.is_empty() && is_below || self.owner().as_ref() == Some(name)
    }

    /// The variant that the result is about; `None` if it does not name one.
    fn owner(&self) -> Option<String> {
        if let Some(owner) = self.tag("variant") {
            return Some(owner.to_owned());
        }
        let about = self.resource_ref.as_ref()?;
        let namespace = about.namespace.as_deref().unwrap_or("default");
        (about.kind.as_ref() == "PackageVariant").then(|| format!("{namespace}/{}", about.name))
    }

    /// The package whose Kptfile the result of a variant names.
    fn package(&self) -> Option<&str> {
        self.tag("action").filter(|action| *action != "failed")?;
        self.file.as_ref()?.path.strip_suffix("/Kptfile")
    }
}
