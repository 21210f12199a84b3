//! Problems in a patch, and their places.

use krm_core::resource::Resource;
use krm_core::results::{FunctionResult, Mark, QuotedValue, Reason, Results, Severity};
use krm_yaml::{NodeRef, Path, Trail};

/// A problem at a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The field, in the patch or the configuration.
    pub path: Path,
    /// Whether it is an error or a warning.
    pub severity: Severity,
    /// The reason, for programs.
    pub reason: Reason,
    /// The message, for people.
    pub message: String,
}

/// All problems found so far.
#[derive(Debug, Default)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    pub(super) fn error(&mut self, trail: &Trail<'_>, reason: Reason, message: impl Into<String>) {
        self.push(trail, Severity::Error, reason, message.into());
    }

    pub(super) fn warning(
        &mut self,
        trail: &Trail<'_>,
        reason: Reason,
        message: impl Into<String>,
    ) {
        self.push(trail, Severity::Warning, reason, message.into());
    }

    fn push(&mut self, trail: &Trail<'_>, severity: Severity, reason: Reason, message: String) {
        self.0.push(Finding {
            path: trail.to_path(),
            severity,
            reason,
            message,
        });
    }

    /// Whether there is an error, so that nothing may be changed.
    pub fn has_errors(&self) -> bool {
        self.0
            .iter()
            .any(|finding| finding.severity == Severity::Error)
    }

    /// Reports the findings about a resource; `patch` names the patch that they are in. `nodes` are the values that messages
    /// can quote: the resource, and what changes it.
    pub fn report(
        &self,
        resource: &Resource,
        nodes: &[NodeRef<'_>],
        patch: Option<&str>,
        results: &mut Results,
    ) {
        for finding in &self.0 {
            let marks = nodes.iter().map(|node| Mark::at_path(*node, &finding.path));
            let mark = marks.reduce(Mark::or).unwrap_or_default();
            let message = if mark.is_hidden() {
                format!("expected another value, found {}", QuotedValue::redacted())
            } else {
                finding.message.clone()
            };
            let result = match finding.severity {
                Severity::Error => FunctionResult::error(finding.reason, message),
                _ => FunctionResult::warning(finding.reason, message),
            };
            let result = result.with_resource(resource).with_field(&finding.path);
            results.push(match patch {
                Some(place) => result.tag("patch", place),
                None => result,
            });
        }
    }
}
