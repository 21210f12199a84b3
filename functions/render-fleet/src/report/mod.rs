//! The report of a run: the outcomes of its variants, as data and as a page.
//!
//! ```text
//! cluster-01/web  updated, v1 to v2  --+    conflicts: one entry for the same conflict in 300 variants
//! cluster-02/web  updated, v1 to v2  --+--> results:   one entry for the same result in several variants
//! ...                                  |    changes:   one diff for a file that changes the same way in 9,000
//! ```
//!
//! A `Collector` takes the outcomes one by one and stores each text once; `words` replaces the names of variants in
//! texts, so that texts that differ only in these names become equal. `html` is the
//! page, and `join` combines the reports of shards.
//!
//! Source: contract, render-fleet.

mod collector;
mod escaper;
mod finding;
mod html;
mod join;
mod words;

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{FleetCounts, VariantEntry};
use krm_core::config::{API_VERSION, UsageError};

pub(crate) use collector::Collector;
pub use escaper::Html;
pub(crate) use finding::SharedResult;
pub use join::join;

/// The outcomes of the variants of a run. Unchanged variants are only counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetReport {
    api_version: String,
    kind: String,
    /// The run that the report is about.
    #[serde(default)]
    pub head: ReportHead,
    /// Whether changes were written; false for a forecast.
    written: bool,
    counts: FleetCounts,
    variants: Vec<VariantEntry>,
    /// Conflicts of merges, with open conflicts first.
    conflicts: Vec<SharedResult>,
    /// All other results, errors first.
    results: Vec<SharedResult>,
    changes: Vec<SharedChange>,
}

/// Identifies the run of a report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReportHead {
    /// When the report was made, in UTC: `2026-11-28T20:15:00Z`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub date: String,
    /// The text of `--report-title`, such as a revision of the fleet.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The command line of the run.
    pub command: String,
    /// The version of the program that ran.
    pub version: String,
}

/// Files that change in the same way in several variants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SharedChange {
    variants: Vec<String>,
    files: Vec<ChangedFile>,
}

/// The diff of a changed file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct ChangedFile {
    /// The path in the package.
    path: String,
    /// The diff, without the values of Secrets.
    diff: String,
    /// Whether placeholders such as `‹name›` stand for the names of each variant.
    #[serde(default, skip_serializing_if = "is_false")]
    placeholders: bool,
}

const KIND: &str = "FleetReport";

fn is_false(is_true: &bool) -> bool {
    !is_true
}

/// The format of a report file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportForm {
    /// A page for people.
    Html,
    /// Data for programs.
    Json,
}

impl ReportForm {
    /// The format for a file name.
    ///
    /// # Errors
    /// [`UsageError`]: the file name has another extension.
    pub fn of_file(path: &Path) -> Result<Self, UsageError> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("html" | "htm") => Ok(Self::Html),
            Some("json") => Ok(Self::Json),
            _ => Err(UsageError::expected(
                "--report",
                "a file that ends with `.html` or `.json`",
                format_args!("`{}`", path.display()),
            )),
        }
    }
}

impl FleetReport {
    /// The report as text in a format.
    ///
    /// # Errors
    /// [`UsageError`]: the text cannot be created.
    pub fn text(&self, form: ReportForm) -> Result<String, UsageError> {
        match form {
            ReportForm::Html => html::page(self),
            ReportForm::Json => match serde_json::to_string_pretty(self) {
                Ok(text) => Ok(text + "\n"),
                Err(error) => Err(UsageError::cannot("write the report", error)),
            },
        }
    }

    /// Reads a report that is JSON.
    ///
    /// # Errors
    /// A message about what is wrong with the report.
    fn read(text: &str) -> Result<Self, String> {
        let report: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if (report.api_version.as_str(), report.kind.as_str()) != (API_VERSION, KIND) {
            let found = format!("{} ({})", report.kind, report.api_version);
            return Err(format!("expected a {KIND} ({API_VERSION}), found {found}"));
        }
        Ok(report)
    }
}
