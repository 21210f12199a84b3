//! The outcome of one variant, for results and reports.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fleet::ClaimedPackage;
use krm_core::diff::FileDiff;
use krm_core::resource::Resource;
use krm_core::results::{FunctionResult, Reason, ResourceRef, Results, Severity};
use krm_core::word_enum;
use krm_review::Risk;

use super::variants::FleetVariant;

word_enum! {
    /// What was done with a package.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Action {
        /// The package was created.
        Created = "created",
        /// The package was updated to another upstream revision.
        Updated = "updated",
        /// The upstream revision is the same, but the variant or the cluster resources changed.
        Refreshed = "refreshed",
        /// The package existed without an owner, and now has one.
        Adopted = "adopted",
        /// The owner no longer exists, and the package is kept without one.
        Orphaned = "orphaned",
        /// The owner no longer exists, and the package was deleted.
        Deleted = "deleted",
        /// The package was left unchanged because of an error.
        Failed = "failed",
    }
}

/// A variant, or a package whose variant no longer exists, as a report lists it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariantEntry {
    /// `<namespace>/<name>` of the PackageVariant.
    pub name: String,
    /// `<repository>/<package>`; empty if the PackageVariant does not name a valid one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub package: String,
    /// What was done; `None` if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// The upstream revision that the package was at before; `None` for a new package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The upstream revision that the package is at now; `None` if nothing was rendered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The branch of the draft, if one was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<String>,
    /// The number of open conflicts, which need a decision.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub conflicts: u64,
    /// How many changes of the package have a risk for its cluster, by risk; routine changes are not counted. Only in
    /// reports.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub risks: BTreeMap<Risk, u64>,
    /// The name of the upstream PackageRevision, for the note in a draft's commit.
    #[serde(skip)]
    pub upstream: Option<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl VariantEntry {
    /// The action and the revisions, for a message.
    pub(super) fn steps(&self) -> String {
        let action = self.action.map_or("changed", Action::as_str);
        let to = self.to.as_deref().unwrap_or_default();
        match (&self.from, self.action) {
            (Some(from), _) => format!("{action} from {from} to {to}"),
            (None, Some(Action::Created)) => format!("{action} from {to}"),
            (None, Some(Action::Orphaned)) => action.to_owned(),
            (None, _) => format!("{action} at {to}"),
        }
    }
}

/// The outcome of one variant, or of one package whose owner no longer exists, with its results.
#[derive(Debug, Default)]
pub struct VariantOutcome {
    /// The outcome, as a report lists it.
    pub entry: VariantEntry,
    /// The names of the unpublished PackageRevisions or, if there are none, of the latest published one; only with
    /// drafts.
    pub targets: Vec<String>,
    /// Results, with paths from the fleet's directory.
    pub results: Vec<FunctionResult>,
    /// The diff of each changed file, if diffs are collected.
    pub diffs: Vec<FileDiff>,
}

impl From<VariantEntry> for VariantOutcome {
    fn from(entry: VariantEntry) -> Self {
        Self {
            entry,
            ..Self::default()
        }
    }
}

impl VariantOutcome {
    /// The outcome of a variant whose package was rendered, with the results of the steps.
    pub(super) fn of(
        variant: &FleetVariant,
        rendered: VariantEntry,
        found: &Results,
        changes: bool,
    ) -> Self {
        let package = variant.path().unwrap_or_default();
        let failed = found.has_errors();
        let action = match rendered.action.filter(|_| changes) {
            _ if failed => Some(Action::Failed),
            action => action,
        };
        let mut outcome = Self::from(VariantEntry {
            name: variant.owner.clone(),
            package: package.to_owned(),
            action,
            ..rendered
        });
        for result in found {
            let is_conflict = result.has_reason(Reason::MergeConflict);
            let is_about_upstream = result.has_reason(Reason::RunsSomewhere);
            // If one step fails, all edits are discarded, so results about them would be false.
            let is_reported = match result.severity {
                Severity::Error => true,
                Severity::Warning => !failed,
                Severity::Info => (is_conflict || is_about_upstream) && !failed,
            };
            if !is_reported {
                continue;
            }
            outcome.entry.conflicts += u64::from(is_conflict && result.severity > Severity::Info);
            outcome
                .results
                .push(placed(result.clone(), variant, package));
        }
        let of_itself = outcome.itself(&variant.resource);
        match action {
            Some(Action::Failed) => {
                if let Some(first) = outcome.results.first_mut() {
                    first.tags.extend(of_itself.tags);
                }
            }
            Some(_) => outcome.results.insert(0, of_itself),
            None => {}
        }
        outcome
    }

    /// The outcome of a variant that cannot be rendered.
    pub(super) fn refused(variant: &FleetVariant, findings: &[FunctionResult]) -> Self {
        let found = findings.iter().cloned().collect();
        Self::of(variant, VariantEntry::default(), &found, false)
    }

    /// The outcome of a package that is left unchanged.
    pub(super) fn unchanged(package: &str, owner: &str) -> Self {
        Self::from(VariantEntry {
            name: owner.to_owned(),
            package: package.to_owned(),
            ..VariantEntry::default()
        })
    }

    /// The outcome of a package that does not change, with a result about it.
    pub(super) fn with_result(package: &ClaimedPackage, result: FunctionResult) -> Self {
        let ClaimedPackage { path, owner, .. } = package;
        let mut outcome = Self::unchanged(path, owner);
        let result = result.in_file(format!("{path}/Kptfile"));
        outcome.results.push(result.tag("variant", owner.as_str()));
        outcome
    }

    /// The outcome of a package whose owner no longer exists.
    pub(super) fn of_package(package: &ClaimedPackage, action: Action) -> Self {
        let (word, owner) = (action.as_str(), &package.owner);
        let message = format!("{word}: its PackageVariant `{owner}` no longer exists");
        let result = FunctionResult::info(message).tag("action", word);
        let mut outcome = Self::with_result(package, result);
        outcome.entry.action = Some(action);
        outcome
    }

    /// The result that reports the action.
    fn itself(&self, resource: &Resource) -> FunctionResult {
        let (package, from, to) = (&self.entry.package, &self.entry.from, &self.entry.to);
        let action = self.entry.action.map_or("", Action::as_str);
        let message = match (from, to) {
            (Some(from), Some(to)) => format!("{action}: `{package}` from `{from}` to `{to}`"),
            (None, Some(to)) if self.entry.action == Some(Action::Created) => {
                format!("{action}: `{package}` from `{to}`")
            }
            _ => format!("{action}: `{package}`"),
        };
        let result = FunctionResult::info(message).with_resource(resource);
        let mut result = result.in_file(format!("{package}/Kptfile"));
        result = result.tag("action", action);
        for (name, revision) in [("from", from), ("to", to)] {
            if let Some(revision) = revision {
                result = result.tag(name, revision);
            }
        }
        result.tag("conflicts", self.entry.conflicts.to_string())
    }

    pub(super) fn is_failed(&self) -> bool {
        self.entry.action == Some(Action::Failed)
    }

    /// Whether there is an action or a result to report.
    pub fn is_reported(&self) -> bool {
        self.entry.action.is_some() || !self.results.is_empty()
    }
}

/// A result with its path from the fleet's directory. A result about the PackageVariant gets the path of the
/// PackageVariant.
fn placed(mut result: FunctionResult, variant: &FleetVariant, package: &str) -> FunctionResult {
    let own = ResourceRef::from(&variant.resource);
    let is_variant = result.resource.as_ref() == Some(&own);
    if is_variant || result.file.is_none() && result.resource.is_none() {
        return result.with_resource(&variant.resource);
    }
    if let Some((path, _)) = &mut result.file {
        *path = format!("{package}/{path}").into();
    }
    result
}
