//! What a merge has to say, as results grouped by file.

use super::{MergeOptions, Strategy};
use crate::merge::{Findings, OnConflict, Side};
use crate::resource::Resource;
use crate::results::{FunctionResult, Reason, Results, Severity, shown};
use crate::yaml::{Path, Value};

/// How often what happened.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) updated: usize,
    pub(super) added: usize,
    pub(super) removed: usize,
    pub(super) moved: usize,
    conflicts: usize,
}

/// Original, local and upstream as they are shown; absent ones are none.
pub(super) type Shown = [Option<String>; 3];

const VERSIONS: [&str; 3] = ["original", "local", "upstream"];

/// How much of a value a message shows; the tags show more.
const SHORT: usize = 60;

/// The results of a merge so far.
pub(super) struct Report {
    options: MergeOptions,
    said: Vec<FunctionResult>,
    pub(super) counts: Counts,
}

impl Report {
    pub(super) fn new(options: MergeOptions) -> Self {
        Self {
            options,
            said: Vec::new(),
            counts: Counts::default(),
        }
    }

    pub(super) fn say(&mut self, result: FunctionResult) {
        self.said.push(result);
    }

    /// A conflict result that names nothing yet.
    fn conflict(&mut self, message: String, winner: Side, values: Shown) -> FunctionResult {
        self.counts.conflicts += 1;
        let (severity, winner, stands) = match self.options.on_conflict {
            OnConflict::Error => (Severity::Error, "none", "nothing is changed".to_owned()),
            _ => {
                let stands = format!("{}'s stands", winner.as_str());
                (Severity::Warning, winner.as_str(), stands)
            }
        };
        let mut result = FunctionResult::new(severity, format!("{message}: {stands}"));
        result = result.tag("reason", Reason::MergeConflict.as_str());
        for (name, value) in VERSIONS.into_iter().zip(values) {
            if let Some(value) = value {
                result = result.tag(name, value);
            }
        }
        result.tag("winner", winner)
    }

    /// A conflict over a whole resource.
    pub(super) fn resource(
        &mut self,
        message: &str,
        resource: &Resource,
        winner: Side,
        values: [Option<Value>; 3],
    ) {
        let shown = values.map(|v| v.map(|v| shown(resource, &Path::root(), &v)));
        let result = self.conflict(message.to_owned(), winner, shown);
        self.said.push(result.about(resource));
    }

    /// Both sides moved a resource.
    pub(super) fn moved(&mut self, resource: &Resource, paths: [Option<&str>; 3]) {
        let message = format!("local and upstream both moved the resource ({})", {
            listed(&paths.map(|path| path.map(str::to_owned)))
        });
        let values = paths.map(|path| path.map(|path| Value::from(path).to_json()));
        let result = self.conflict(message, Side::Local, values);
        self.said.push(result.about(resource));
    }

    /// A conflict over a file that is not KRM, or over a sub-package; local's stands.
    pub(super) fn file(&mut self, message: &str, path: &str, values: Shown) {
        let result = self.conflict(message.to_owned(), Side::Local, values);
        self.said.push(result.in_file(path));
    }

    /// What was found within a resource.
    pub(super) fn findings(&mut self, resource: &Resource, findings: &Findings) {
        for found in &findings.conflicts {
            let values = [&found.original, &found.local, &found.upstream];
            let values = values.map(|v| Some(shown(resource, &found.path, v.as_ref()?)));
            let what = if found.is_order {
                "the order of the elements"
            } else {
                "the value"
            };
            let within = found
                .element
                .as_ref()
                .map_or(String::new(), |name| format!(" within `{name}`"));
            let message = format!(
                "local and upstream both changed {what}{within} ({})",
                listed(&values)
            );
            let result = self.conflict(message, found.winner, values);
            self.said.push(result.about(resource).at(&found.path));
        }
        for path in &findings.duplicates {
            let message = "two elements have the same keys: they were matched by their position";
            let result = FunctionResult::warning(Reason::DuplicateKey, message);
            self.said.push(result.about(resource).at(path));
        }
    }

    /// A local change that the strategy overwrites.
    pub(super) fn overwritten(&mut self) -> FunctionResult {
        let strategy = match self.options.strategy {
            Strategy::CopyMerge => "copy-merge",
            _ => "force-delete-replace",
        };
        let message = format!("`{strategy}` overwrites local changes");
        FunctionResult::warning(Reason::LocalChanges, message)
    }

    /// The summary, if there is anything to sum up, behind all that was found, grouped by file.
    pub(super) fn finish(mut self, results: &mut Results) {
        let Counts {
            updated,
            added,
            removed,
            moved,
            conflicts,
        } = self.counts;
        self.said.sort_by(|a, b| {
            a.file
                .as_ref()
                .map(|f| &f.0)
                .cmp(&b.file.as_ref().map(|f| &f.0))
        });
        for result in self.said {
            results.push(result);
        }
        let counts = [updated, added, removed, moved, conflicts];
        if counts.iter().any(|count| *count > 0) {
            let conflicts = match conflicts {
                1 => "1 conflict".to_owned(),
                count => format!("{count} conflicts"),
            };
            results.push(FunctionResult::info(format!(
                "merged: {updated} changed, {added} added, {removed} removed, {moved} moved, {conflicts}"
            )));
        }
    }
}

/// `original 1, local 5, upstream none`
fn listed(values: &[Option<String>; 3]) -> String {
    let short = |value: &Option<String>| match value {
        None => "none".to_owned(),
        Some(text) if text.len() <= SHORT => text.clone(),
        Some(text) => {
            let end = (0..=SHORT).rev().find(|at| text.is_char_boundary(*at));
            format!("{}…", &text[..end.unwrap_or_default()])
        }
    };
    let pairs = VERSIONS.iter().zip(values);
    let pairs: Vec<String> = pairs
        .map(|(name, value)| format!("{name} {}", short(value)))
        .collect();
    pairs.join(", ")
}
