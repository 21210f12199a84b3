//! The report of a run: what became of the variants, as data and as a page.
//!
//! ```text
//! cluster-01/web  updated, v1 to v2  --+    conflicts: one entry for the same conflict in 300 variants
//! cluster-02/web  updated, v1 to v2  --+--> results:   the same
//! ...                                  |    changes:   one diff for a file that changes alike in 9,000
//! ```
//!
//! A [`Collector`] takes one variant after the other and keeps each text once; `words` makes texts alike that
//! differ in the names of the variant only. `json` is the report as data, `html` a page made of it,
//! `join` puts the reports of shards together.
//!
//! Source: contract, render-fleet.

mod collector;
mod finding;
mod html;
mod join;
mod json;
mod words;

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::FleetCounts;
use super::render::Action;
use crate::config::UsageError;

pub use collector::Collector;
pub use finding::SharedResult;
pub use join::join;

/// What became of the variants of a run. Variants that are as they were are only counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetReport {
    api_version: String,
    kind: String,
    /// What the run was.
    #[serde(default)]
    pub head: ReportHead,
    /// Whether packages were written; a forecast wrote nothing.
    written: bool,
    counts: FleetCounts,
    variants: Vec<VariantEntry>,
    /// Conflicts of merges, those that wait for a decision first.
    conflicts: Vec<SharedResult>,
    /// All other results, errors first.
    results: Vec<SharedResult>,
    changes: Vec<SharedChange>,
}

/// Which run a report is about. The date is the user's to say: a run with the same input has the same output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReportHead {
    /// From `--report-title`, such as a date and a revision of the fleet.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The command line.
    pub command: String,
    /// The version of the program.
    pub version: String,
}

/// One variant, or one package without a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct VariantEntry {
    /// `<namespace>/<name>` of the PackageVariant.
    name: String,
    /// `<repository>/<package>`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    package: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    action: Option<Action>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    /// The branch of its draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    draft: Option<String>,
    /// Those that no rule decided.
    #[serde(default, skip_serializing_if = "is_zero")]
    conflicts: u64,
}

/// Files that change alike in some variants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SharedChange {
    variants: Vec<String>,
    files: Vec<ChangedFile>,
}

/// The diff of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct ChangedFile {
    /// In the package.
    path: String,
    /// Without the values of Secrets.
    diff: String,
    /// Whether words such as `‹name›` stand for those of each variant.
    #[serde(default, skip_serializing_if = "is_false")]
    placeholders: bool,
}

const KIND: &str = "FleetReport";

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_false(is_true: &bool) -> bool {
    !is_true
}

/// What a report file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportForm {
    /// A page for people.
    Html,
    /// Data for programs.
    Json,
}

impl ReportForm {
    /// The form that a file name asks for.
    ///
    /// # Errors
    /// [`UsageError`]: another ending.
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
    /// The report as text.
    ///
    /// # Errors
    /// [`UsageError`]: it cannot be written.
    pub fn text(&self, form: ReportForm) -> Result<String, UsageError> {
        match form {
            ReportForm::Html => html::page(self),
            ReportForm::Json => json::write(self),
        }
    }
}
