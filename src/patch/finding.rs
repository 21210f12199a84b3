//! What is wrong with a patch, and where.

use crate::results::{Reason, Severity};
use crate::yaml::{Path, Trail};

/// Something to say of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where, in the patch or the configuration.
    pub path: Path,
    /// How much it matters.
    pub severity: Severity,
    /// Why, for programs.
    pub reason: Reason,
    /// Why, for people.
    pub message: String,
}

/// All that is to be said.
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

    /// Whether nothing may be changed.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.0
            .iter()
            .any(|finding| finding.severity == Severity::Error)
    }
}
