//! What became of one variant, for results and reports.

use crate::diff::FileDiff;
use crate::fleet::Shard;
use crate::resource::Resource;
use crate::results::{FunctionResult, Reason, Results, Severity};

use super::render::{Action, RenderedPackage};
use super::variants::FleetVariant;

/// What became of one variant, or of one package without an owner.
#[derive(Debug)]
pub struct VariantOutcome {
    /// `<namespace>/<name>` of the PackageVariant.
    pub owner: String,
    /// `<repository>/<package>`; empty if the PackageVariant does not say.
    pub package: String,
    /// What was done; `None` if nothing.
    pub action: Option<Action>,
    /// The revision that the package was based on.
    pub from: Option<String>,
    /// The revision that it is based on now.
    pub to: Option<String>,
    /// The branch of its draft, if it is one.
    pub draft: Option<String>,
    /// The names of its PackageRevisions that are not published, or of the latest one that is; with drafts only.
    pub targets: Vec<String>,
    /// How many conflicts wait to be looked at.
    pub conflicts: usize,
    /// Results, with paths from the fleet's directory.
    pub results: Vec<FunctionResult>,
    /// The diff of each file that changes, if diffs were asked for.
    pub diffs: Vec<FileDiff>,
}

impl VariantOutcome {
    /// The outcome of a variant whose package was rendered, with what the steps said.
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
            // If one step fails, all edits are discarded: results about them would be false.
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

    /// The outcome of a variant that cannot be worked on.
    pub(super) fn refused(variant: &FleetVariant, findings: &[FunctionResult]) -> Self {
        let mut said = Results::default();
        let findings = findings.iter();
        findings.for_each(|finding| said.push(finding.clone()));
        Self::of(variant, RenderedPackage::default(), &said, false)
    }

    /// The outcome of a package that stays as it is.
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

    /// The outcome of a package whose owner is gone.
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

    /// The result that says what was done.
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

    /// Whether the package is, or would be, other than it was.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.action.is_some_and(|action| action != Action::Failed)
    }

    pub(super) fn is_failed(&self) -> bool {
        self.action == Some(Action::Failed)
    }

    /// Whether there is anything to tell.
    #[must_use]
    pub fn is_worth_telling(&self) -> bool {
        self.action.is_some() || !self.results.is_empty()
    }

    /// Whether the owner is in a share of the fleet.
    pub(super) fn is_in(owner: &str, shard: Option<Shard>) -> bool {
        shard.is_none_or(|shard| shard.has(owner))
    }
}

/// A result with its path from the fleet's directory. One about the PackageVariant has the path of that.
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
