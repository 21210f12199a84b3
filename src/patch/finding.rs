//! What is wrong with a patch, and where.

use std::borrow::Cow;

use crate::results::{Reason, Severity};
use crate::yaml::{Path, PathElement};

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

/// The way to a place, made into a [`Path`] only when there is something to say.
pub(super) enum Trail<'t> {
    Root,
    Field(&'t Trail<'t>, Cow<'t, str>),
    Index(&'t Trail<'t>, usize),
}

impl<'t> Trail<'t> {
    pub(super) fn field(&'t self, name: &'t str) -> Self {
        Self::Field(self, Cow::Borrowed(name))
    }

    pub(super) fn to_path(&self) -> Path {
        // From the root down, without a call a level.
        let mut elements = Vec::new();
        let mut at = self;
        loop {
            at = match at {
                Self::Root => break,
                Self::Field(parent, name) => {
                    elements.push(PathElement::Field(name.to_string()));
                    parent
                }
                Self::Index(parent, index) => {
                    elements.push(PathElement::Index(*index));
                    parent
                }
            };
        }
        let path = elements.into_iter().rev();
        path.fold(Path::root(), |path, element| path.child(element))
    }
}
