//! What a change of a package means for the cluster that it is applied to.
//!
//! ```yaml
//! kind: StatefulSet          # before        # after         # finding
//! spec:
//!   serviceName:               db              db-headless     blocking: the field is immutable
//!   replicas:                  3               0               dangerous: nothing runs
//! ```
//!
//! In reading order: `rules.txt`, the table of all rules, with `table`, which reads it; `rows`, its conditions, with `row`, what a rule is; `walk`, which finds the places in which
//! two versions of a resource differ; `units`, the resources that a cluster gets from a package; `author`, who made a change;
//! `served`, which Kubernetes releases serve a version; `references`, `selectors` and `reload`, which look at the package as
//! one; [`report`], a review as text and as Markdown.
//!
//! Source: contract, review-package.

mod author;
mod change;
mod compare;
mod find;
mod references;
mod reload;
pub mod report;
mod row;
mod rows;
mod selectors;
mod served;
mod table;
mod units;
mod walk;

use std::collections::BTreeMap;
use std::fmt;

use crate::resource::Resource;
use crate::resource_list::ResourceList;
use crate::results::{FunctionResult, LIMIT, REDACTED, Reason, Results, is_secret};
use crate::schema::Schema;
use crate::yaml::{NodeRef, Path, Value};

pub use served::Release;

/// How bad a change can be for the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// Anything else.
    Routine,
    /// Worth a look.
    Notable,
    /// It can lose data, stop a service, or grant more.
    Dangerous,
    /// An API server refuses it, or something must be deleted first.
    Blocking,
}

impl Risk {
    /// All of them, the worst first.
    pub const ALL: [Self; 4] = [
        Self::Blocking,
        Self::Dangerous,
        Self::Notable,
        Self::Routine,
    ];

    /// The word in results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Routine => "routine",
            Self::Notable => "notable",
            Self::Dangerous => "dangerous",
            Self::Blocking => "blocking",
        }
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who made a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Author {
    /// The local package alone.
    Local,
    /// The upstream package alone.
    Upstream,
    /// Both, and the result is neither's.
    Both,
}

impl Author {
    /// The word in results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Upstream => "upstream",
            Self::Both => "both",
        }
    }
}

/// A package before and after, and where the change comes from.
#[derive(Debug, Clone, Copy)]
pub struct ReviewInput<'l> {
    /// The package as it was.
    pub before: &'l ResourceList,
    /// The package as it is.
    pub after: &'l ResourceList,
    /// The upstream revisions that the package was and is made from.
    pub upstream: Option<UpstreamChange<'l>>,
}

/// Two upstream revisions.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamChange<'l> {
    /// The one that `before` was made from.
    pub original: &'l ResourceList,
    /// The one that `after` was made from.
    pub upstream: &'l ResourceList,
}

/// A change that matters.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewFinding {
    /// How bad it can be.
    pub risk: Risk,
    /// Its class.
    pub reason: Reason,
    /// Who made the change, if that is known.
    pub by: Option<Author>,
    /// The resource, as it is; as it was, if it was removed. `None` for the count of routine changes.
    pub resource: Option<Resource>,
    /// The field.
    pub field: Option<Path>,
    /// One sentence, lower case, without a full stop.
    pub message: String,
    /// The field's values before and after; of long ones the beginning.
    pub values: [Option<Value>; 2],
}

impl ReviewFinding {
    fn new(risk: Risk, reason: Reason, resource: &Resource, message: impl Into<String>) -> Self {
        Self {
            risk,
            reason,
            by: None,
            resource: Some(resource.clone()),
            field: None,
            message: message.into(),
            values: [None, None],
        }
    }

    fn at(mut self, field: Path) -> Self {
        self.field = Some(field);
        self
    }

    fn by(mut self, by: Option<Author>) -> Self {
        self.by = by;
        self
    }

    /// Shows the values of the field; those of Secrets are redacted.
    fn with_values(mut self, before: Option<NodeRef<'_>>, after: Option<NodeRef<'_>>) -> Self {
        let is_hidden = match (&self.resource, &self.field) {
            (Some(resource), Some(path)) => is_secret(resource, path),
            _ => false,
        };
        self.values = [before, after].map(|node| {
            // A definition has megabytes of them.
            let value = node?.beginning(LIMIT + 1)?;
            Some(if is_hidden { REDACTED.into() } else { value })
        });
        self
    }

    /// As a result: an error from the risk `fail_on` up.
    #[must_use]
    pub fn to_result(&self, fail_on: Option<Risk>) -> FunctionResult {
        let mut result = match self.risk {
            risk if fail_on.is_some_and(|least| risk >= least) => {
                FunctionResult::error(self.reason, self.message.clone())
            }
            Risk::Blocking | Risk::Dangerous => {
                FunctionResult::warning(self.reason, self.message.clone())
            }
            Risk::Notable | Risk::Routine => {
                FunctionResult::info(self.message.clone()).tag("reason", self.reason.as_str())
            }
        };
        if let Some(resource) = &self.resource {
            result = result.about(resource);
        }
        if let Some(field) = &self.field {
            let [before, after] = &self.values;
            result = result.at(field).changes(before.as_ref(), after.as_ref());
        }
        result = result.tag(RISK, self.risk.as_str());
        match self.by {
            Some(by) => result.tag(BY, by.as_str()),
            None => result,
        }
    }
}

/// The tag with the risk of a finding.
pub(crate) const RISK: &str = "risk";
/// The tag with the author of a change.
pub(crate) const BY: &str = "by";

/// All findings about a change, the worst first, and how many other changes there are.
#[derive(Debug, Default)]
pub struct Review {
    /// What matters, the worst first.
    pub findings: Vec<ReviewFinding>,
    /// The other changes, by who made them.
    pub routine: BTreeMap<Option<Author>, usize>,
}

impl Review {
    /// Reviews a change. With a release, also says what that release does not serve.
    #[must_use]
    pub fn of(packages: ReviewInput<'_>, schema: &Schema, release: Option<Release>) -> Self {
        compare::review(packages, schema, release)
    }

    /// The worst risk of all changes; `None` without a change.
    #[must_use]
    pub fn worst(&self) -> Option<Risk> {
        let worst = self.findings.first().map(|finding| finding.risk);
        worst.or_else(|| (!self.routine.is_empty()).then_some(Risk::Routine))
    }

    /// How many findings there are of a risk; routine changes are counted each.
    #[must_use]
    pub fn count(&self, risk: Risk) -> usize {
        if risk == Risk::Routine {
            return self.routine.values().sum();
        }
        let findings = self.findings.iter();
        findings.filter(|finding| finding.risk == risk).count()
    }

    /// Reports everything: findings from the risk `fail_on` up are errors.
    pub fn report(&self, fail_on: Option<Risk>, results: &mut Results) {
        for finding in &self.findings {
            results.push(finding.to_result(fail_on));
        }
        for (by, count) in &self.routine {
            let message = match count {
                1 => "1 other change".to_owned(),
                count => format!("{count} other changes"),
            };
            let finding = ReviewFinding {
                risk: Risk::Routine,
                reason: Reason::OtherChanges,
                by: *by,
                resource: None,
                field: None,
                message,
                values: [None, None],
            };
            results.push(finding.to_result(fail_on));
        }
    }
}

#[cfg(test)]
mod tests;
