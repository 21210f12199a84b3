//! Puts the reports of shards together.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::collector::references;
use super::finding::Said;
use super::words::Words;
use super::{Change, Collector, Entry, Report, Tally, json};
use crate::config::UsageError;
use crate::functions::render_fleet::Action;
use crate::yaml::{OwnedDocument, de};

/// The report of all shards, made of their reports or of the files of `--results`. A directory stands for the
/// `.json` files in it.
///
/// # Errors
/// [`UsageError`]: a file that cannot be read, or that is none of both; a directory without reports; two of them with
/// one variant; forecasts and reports of what was written.
pub fn join(paths: &[PathBuf]) -> Result<Report, UsageError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(reports_in(path)?);
        } else {
            files.push(path.clone());
        }
    }
    let mut shards = Vec::new();
    for path in &files {
        let wrong = |what: String| UsageError(format!("--join {}: {what}", path.display()));
        let text =
            fs::read_to_string(path).map_err(|error| wrong(format!("cannot read it: {error}")))?;
        shards.push(Shard::read(path, &text).map_err(wrong)?);
    }
    check(&shards)?;
    let mut collector = Collector::default();
    let mut counts = Tally::default();
    let written = shards.iter().all(|shard| shard.written != Some(false));
    for shard in &shards {
        counts.add(shard.counts.named());
        for told in &shard.told {
            let diffs = told.diffs.iter();
            let diffs = diffs.map(|(change, file)| shard.diff(&told.entry, *change, *file));
            let diffs: Vec<(String, String)> = diffs.collect();
            let diffs = diffs.iter();
            let diffs = diffs.map(|(path, diff)| (path.as_str(), diff.as_str()));
            collector.add_entry(told.entry.clone(), told.said.iter().cloned(), diffs);
        }
        let general = shard.general.iter().cloned();
        general.for_each(|said| collector.add_general(said));
    }
    Ok(collector.report(written, counts))
}

/// The `.json` files in a directory, in the order of their names.
fn reports_in(directory: &Path) -> Result<Vec<PathBuf>, UsageError> {
    let wrong = |what: String| UsageError(format!("--join {}: {what}", directory.display()));
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

/// One file.
struct Shard<'p> {
    path: &'p Path,
    /// `None` if the file does not say.
    written: Option<bool>,
    counts: Tally,
    told: Vec<Told>,
    general: Vec<Said>,
    changes: Vec<Change>,
}

/// What became of one variant.
struct Told {
    entry: Entry,
    said: Vec<Said>,
    /// The places of its changed files in `changes`.
    diffs: Vec<(usize, usize)>,
}

impl Told {
    fn of(entry: Entry) -> Self {
        Self {
            entry,
            said: Vec::new(),
            diffs: Vec::new(),
        }
    }
}

/// Refuses a variant that two files have, and forecasts beside what was written.
fn check(shards: &[Shard<'_>]) -> Result<(), UsageError> {
    let mut files: HashMap<&str, usize> = HashMap::new();
    for (number, shard) in shards.iter().enumerate() {
        for told in &shard.told {
            let name = &told.entry.name;
            let first = *files.entry(name).or_insert(number);
            if first != number {
                let first = shards[first].path;
                return Err(UsageError(format!(
                    "--join {}: expected other variants than in {}, found `{name}` in both",
                    shard.path.display(),
                    first.display()
                )));
            }
        }
    }
    let first = shards.iter().find(|shard| shard.written.is_some());
    let other = |shard: &&Shard<'_>| {
        let written = first.and_then(|first| first.written);
        shard.written.is_some() && shard.written != written
    };
    match (first, shards.iter().find(other)) {
        (Some(first), Some(other)) => Err(UsageError(format!(
            "--join {}: expected reports of one run, found a forecast and a report of what was written ({})",
            other.path.display(),
            first.path.display()
        ))),
        _ => Ok(()),
    }
}

impl<'p> Shard<'p> {
    fn read(path: &'p Path, text: &str) -> Result<Self, String> {
        if text.trim_start().starts_with('{') {
            Self::of_report(path, json::read(text)?)
        } else {
            Self::of_results(path, text)
        }
    }

    fn of_report(path: &'p Path, report: Report) -> Result<Self, String> {
        let references = references(&report.variants);
        let numbers = references.iter().enumerate();
        let numbers: HashMap<&str, usize> = numbers.map(|(at, name)| (name.as_str(), at)).collect();
        let number = |name: &String| {
            let number = numbers.get(name.as_str()).copied();
            number.ok_or_else(|| {
                format!("expected `{name}` among `variants`, found it in a list only")
            })
        };
        let mut told: Vec<Told> = report.variants.into_iter().map(Told::of).collect();
        let mut general = Vec::new();
        for finding in report.conflicts.into_iter().chain(report.results) {
            if finding.variants.is_empty() {
                general.push(finding.said);
                continue;
            }
            for name in &finding.variants {
                let told = &mut told[number(name)?];
                let mut said = finding.said.clone();
                if said.placeholders {
                    let words = Words::of(&told.entry);
                    said.each_text(|text| *text = words.show(text));
                    said.placeholders = false;
                }
                told.said.push(said);
            }
        }
        for (change, Change { variants, files }) in report.changes.iter().enumerate() {
            for name in variants {
                let told = &mut told[number(name)?];
                told.diffs
                    .extend((0..files.len()).map(|file| (change, file)));
            }
        }
        Ok(Self {
            path,
            written: Some(report.written),
            counts: report.counts,
            told,
            general,
            changes: report.changes,
        })
    }

    /// The path and the diff of a changed file of a variant.
    fn diff(&self, entry: &Entry, change: usize, file: usize) -> (String, String) {
        let file = &self.changes[change].files[file];
        let diff = if file.placeholders {
            Words::of(entry).show(&file.diff)
        } else {
            file.diff.clone()
        };
        (file.path.clone(), diff)
    }

    /// Results in the order of a run: first what a variant's result says, then what is about its package.
    fn of_results(path: &'p Path, text: &str) -> Result<Self, String> {
        let document = OwnedDocument::parse(text.to_owned()).map_err(|error| error.to_string())?;
        let value = document.root().and_then(|root| root.value());
        let value = value.ok_or("expected a FleetReport or a FunctionResultList, found nothing")?;
        let list: ResultList = de::from_value(&value).map_err(|error| {
            format!("expected a FleetReport or a FunctionResultList, found something else: {error}")
        })?;
        let mut shard = Self {
            path,
            written: None,
            counts: Tally::default(),
            told: Vec::new(),
            general: Vec::new(),
            changes: Vec::new(),
        };
        for said in list.items.into_iter().flat_map(|item| item.results) {
            shard.take(said);
        }
        Ok(shard)
    }

    fn take(&mut self, said: Said) {
        if said.tags.contains_key("variants") && said.tags.contains_key("unchanged") {
            let counts = said.tags.iter();
            let counts =
                counts.filter_map(|(name, count)| Some((name.as_str(), count.parse().ok()?)));
            self.counts.add(counts);
            return;
        }
        let owner = said.owner();
        let last = self.told.last();
        let is_new = match (&owner, last) {
            (Some(_), _) if said.tag("action").is_some() => true,
            (Some(owner), Some(last)) => last.entry.name != *owner,
            (owner, None) => owner.is_some(),
            (None, Some(_)) => false,
        };
        if let Some(owner) = owner.filter(|_| is_new) {
            let text = |name| said.tag(name).map(str::to_owned);
            let mut actions = Action::ALL.iter();
            let action = actions.find(|action| Some(action.as_str()) == said.tag("action"));
            let number = |name| said.tag(name).and_then(|count| count.parse().ok());
            let entry = Entry {
                name: owner,
                package: said.package().unwrap_or_default().to_owned(),
                action: action.copied(),
                from: text("from"),
                to: text("to"),
                draft: text("draft"),
                conflicts: number("conflicts").unwrap_or_default(),
            };
            self.told.push(Told::of(entry));
        } else if !self.is_about_last(&said) {
            return self.general.push(said);
        }
        if let Some(last) = self.told.last_mut() {
            last.said.push(said);
        }
    }

    /// Whether a result is about the variant that was named last, or its package.
    fn is_about_last(&self, said: &Said) -> bool {
        let Some(Told { entry, .. }) = self.told.last() else {
            return false;
        };
        let file = said.file.as_ref().map(|file| file.path.as_str());
        let below = file.and_then(|file| file.strip_prefix(entry.package.as_str()));
        let is_in_package =
            !entry.package.is_empty() && below.is_some_and(|below| below.starts_with('/'));
        is_in_package || said.owner().as_ref() == Some(&entry.name)
    }
}

/// What is read of a FunctionResultList.
#[derive(Debug, Deserialize)]
struct ResultList {
    items: Vec<ResultsOf>,
}

#[derive(Debug, Deserialize)]
struct ResultsOf {
    #[serde(default)]
    results: Vec<Said>,
}

impl Said {
    /// The variant that a result names.
    fn owner(&self) -> Option<String> {
        if let Some(owner) = self.tag("variant") {
            return Some(owner.to_owned());
        }
        let about = self.resource_ref.as_ref()?;
        let namespace = about.namespace.as_deref().unwrap_or("default");
        (about.kind == "PackageVariant").then(|| format!("{namespace}/{}", about.name))
    }

    /// The package whose Kptfile a result of a variant names.
    fn package(&self) -> Option<&str> {
        self.tag("action").filter(|action| *action != "failed")?;
        self.file.as_ref()?.path.strip_suffix("/Kptfile")
    }
}
