//! The outcome of one variant, for results and reports.

use crate::diff::FileDiff;
use crate::fleet::Shard;
use crate::resource::Resource;
use crate::results::{FunctionResult, Reason, Results, Severity};

use super::render::{Action, RenderedPackage};
use super::variants::FleetVariant;

/// The outcome of one variant, or of one package whose owner no longer exists.
#[derive(Debug)]
pub struct VariantOutcome {
    /// `<namespace>/<name>` of the PackageVariant.
    pub owner: String,
    /// `<repository>/<package>`; empty if the PackageVariant does not name a valid one.
    pub package: String,
    /// What was done; `None` if nothing changed.
    pub action: Option<Action>,
    /// The upstream revision that the package was at before; `None` for a new package.
    pub from: Option<String>,
    /// The upstream revision that the package is at now; `None` if nothing was rendered.
    pub to: Option<String>,
    /// The branch of the draft, if one was written.
    pub draft: Option<String>,
    /// The names of the unpublished PackageRevisions or, if there are none, of the latest published one; only with
    /// drafts.
    pub targets: Vec<String>,
    /// The number of open conflicts, which need a decision.
    pub conflicts: usize,
    /// Results, with paths from the fleet's directory.
    pub results: Vec<FunctionResult>,
    /// The diff of each changed file, if diffs are collected.
    pub diffs: Vec<FileDiff>,
}

impl VariantOutcome {
    /// The outcome of a variant whose package was rendered, with the results of the steps.
    pub(super) fn of(
        variant: &FleetVariant,
        rendered: RenderedPackage,
        said: &Results,
        changes: bool,
    ) -> Self {
        let package = variant.path().unwrap_or_default();
        let failed = said.has_errors();
        let mut outcome = Self {
            action: rendered.action.filter(|_| changes && !failed),
            from: rendered.from,
            to: rendered.to,
            ..Self::unchanged(package, &variant.owner)
        };
        if failed {
            outcome.action = Some(Action::Failed);
        }
        for result in said {
            let is_conflict = result.has_reason(Reason::MergeConflict);
            // If one step fails, all edits are discarded, so results about them would be false.
            let is_told = match result.severity {
                Severity::Error => true,
                Severity::Warning => !failed,
                Severity::Info => is_conflict && !failed,
            };
            if !is_told {
                continue;
            }
            outcome.conflicts += usize::from(is_conflict && result.severity > Severity::Info);
            outcome
                .results
                .push(placed(result.clone(), variant, package));
        }
        let of_itself = outcome.itself(&variant.resource);
        match outcome.action {
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
        let mut said = Results::default();
        let findings = findings.iter();
        findings.for_each(|finding| said.push(finding.clone()));
        Self::of(variant, RenderedPackage::default(), &said, false)
    }

    /// The outcome of a package that is left unchanged.
    pub(super) fn unchanged(package: &str, owner: &str) -> Self {
        Self {
            owner: owner.to_owned(),
            package: package.to_owned(),
            action: None,
            from: None,
            to: None,
            draft: None,
            targets: Vec::new(),
            conflicts: 0,
            results: Vec::new(),
            diffs: Vec::new(),
        }
    }

    /// The outcome of a package whose owner no longer exists.
    pub(super) fn of_package(package: &str, owner: &str, action: Action) -> Self {
        let mut outcome = Self::unchanged(package, owner);
        outcome.action = Some(action);
        let mut result = FunctionResult::info(format!(
            "{}: its PackageVariant `{owner}` no longer exists",
            action.as_str()
        ));
        result = result.in_file(format!("{package}/Kptfile"));
        let result = result.tag("action", action.as_str());
        outcome.results.push(result.tag("variant", owner));
        outcome
    }

    /// The result that reports the action.
    fn itself(&self, resource: &Resource) -> FunctionResult {
        let action = self.action.map_or("", Action::as_str);
        let message = match (&self.from, &self.to) {
            (Some(from), Some(to)) => {
                format!("{action}: `{}` from `{from}` to `{to}`", self.package)
            }
            (None, Some(to)) if self.action == Some(Action::Created) => {
                format!("{action}: `{}` from `{to}`", self.package)
            }
            _ => format!("{action}: `{}`", self.package),
        };
        let mut result = FunctionResult::info(message).about(resource);
        result = result.in_file(format!("{}/Kptfile", self.package));
        result = result.tag("action", action);
        if let Some(from) = &self.from {
            result = result.tag("from", from);
        }
        if let Some(to) = &self.to {
            result = result.tag("to", to);
        }
        result.tag("conflicts", self.conflicts.to_string())
    }

    /// Whether the package has changed, or would change.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.action.is_some_and(|action| action != Action::Failed)
    }

    pub(super) fn is_failed(&self) -> bool {
        self.action == Some(Action::Failed)
    }

    /// Whether there is an action or a result to report.
    #[must_use]
    pub fn is_worth_telling(&self) -> bool {
        self.action.is_some() || !self.results.is_empty()
    }

    /// Whether the owner belongs to a share of the fleet; without a share, every owner does.
    pub(super) fn is_in(owner: &str, shard: Option<Shard>) -> bool {
        shard.is_none_or(|shard| shard.has(owner))
    }
}

/// A result with its path from the fleet's directory. A result about the PackageVariant gets the path of the
/// PackageVariant.
fn placed(mut result: FunctionResult, variant: &FleetVariant, package: &str) -> FunctionResult {
    let is_variant = result.resource.as_ref().is_some_and(|resource| {
        resource.kind == variant.resource.kind
            && resource.api_version == variant.resource.api_version
            && Some(&*resource.name) == variant.resource.name.as_deref()
            && resource.namespace == variant.resource.namespace
    });
    if is_variant || result.file.is_none() && result.resource.is_none() {
        let field = result.field.take();
        let mut result = result.about(&variant.resource);
        result.field = field;
        return result;
    }
    if let Some((path, _)) = &mut result.file {
        *path = format!("{package}/{path}").into();
    }
    result
}
