//! What a change of a package means for the cluster that it is applied to.
//!
//! ```yaml
//! kind: StatefulSet          # before        # after         # finding
//! spec:
//!   serviceName:               db              db-headless     blocking: the field is immutable
//!   replicas:                  3               0               dangerous: nothing runs
//! ```
//!
//! Review a change. The findings come with the worst first:
//!
//! ```
//! use krm_core::resource_list::ResourceList;
//! use krm_core::schema::Schema;
//! use krm_review::{Review, ReviewInput, Risk};
//!
//! let list = |service: &str| {
//!     let head = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\n";
//!     let text = format!("{head}spec: {{replicas: 3, serviceName: {service}}}\n");
//!     ResourceList::from_texts([("db.yaml".to_owned(), text)])
//! };
//! let (before, after) = (list("db")?, list("db-headless")?);
//!
//! let packages = ReviewInput { before: &before, after: &after, upstream: None };
//! let review = Review::of(packages, &Schema::builtin(), None).map_err(|_| "too many nodes")?;
//! assert_eq!(review.worst(), Some(Risk::Blocking));
//! assert!(review.findings[0].message.contains("immutable"), "{}", review.findings[0].message);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In reading order: `rules.txt` is the table of all rules, and `table` reads it. `row` defines a rule, and `rows` has
//! the conditions that are functions. `walk` finds the places in which two versions of a resource differ. `units` has
//! the resources that a cluster gets from a package. `author` finds out who made a change. `served` lists the API
//! versions that Kubernetes releases removed. `references`, `selectors` and `reload` look at the whole package.
//! [`report`] prints a review as text and as Markdown.
//! `fields` lists the fields of a package, and `package_changes` what two states of one differ in.
//!
//! # Invariants
//!
//! - No rule reports anything where nothing changed.
//! - Each rule has a source: a page of Kubernetes' documentation, or the code of its validation.
//! - A value of a Secret is not quoted.
//! - A review of two equal packages is empty, whatever is wrong in them.
//!
//! # Limitations
//!
//! - It is not a linter and not a validator: it looks at changes only. A bad setting that was there before is not
//!   reported.
//! - It knows the files and no cluster. What an admission webhook, a quota or a controller would say is not known.
//! - Kinds without a rule are reported as a number of other changes.
//! - What helm or a pipeline makes of the files is reviewed only if the input is their output.

mod author;
mod change;
mod compare;
pub mod fields;
mod find;
mod package_changes;
mod references;
mod reload;
pub mod report;
mod reviewed_pairs;
mod row;
mod rows;
mod selectors;
mod served;
mod size;
mod table;
mod units;
mod walk;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use krm_core::resource::Resource;
use krm_core::resource_list::{RefusedWalks, ResourceList};
use krm_core::results::{FunctionResult, LIMIT, Mark, Marks, Reason, ResultValue, Results};
use krm_core::schema::Schema;
use krm_core::word_enum;
use krm_yaml::{NodeRef, Path, Value};

pub use package_changes::{ChangeKind, ComparableResources, PackageChange, package_changes};
pub use reviewed_pairs::ReviewedPairs;
pub use served::Release;

word_enum! {
    /// How bad a change can be for the cluster.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Risk {
        /// Any other change.
        Routine = "routine",
        /// Worth a look.
        Notable = "notable",
        /// It can lose data, stop a service, or grant more.
        Dangerous = "dangerous",
        /// An API server refuses it, or something must be deleted first.
        Blocking = "blocking",
    }
}

impl Risk {
    /// All risks, the worst first.
    pub const WORST_FIRST: [Self; 4] = [
        Self::Blocking,
        Self::Dangerous,
        Self::Notable,
        Self::Routine,
    ];
}

word_enum! {
    /// Who made a change.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Author {
        /// Only the local package.
        Local = "local",
        /// Only the upstream package.
        Upstream = "upstream",
        /// Both. Upstream changed the place too, but the result is not upstream's value.
        Both = "both",
    }
}

/// A package before and after, and where the change comes from.
#[derive(Debug, Clone, Copy)]
pub struct ReviewInput<'l> {
    /// The package before the change.
    pub before: &'l ResourceList,
    /// The package after the change.
    pub after: &'l ResourceList,
    /// The upstream revisions that `before` and `after` were made from. `None` if the author of a change is not needed.
    pub upstream: Option<UpstreamChange<'l>>,
}

/// The upstream revisions before and after a change.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamChange<'l> {
    /// The revision that `before` was made from.
    pub original: &'l ResourceList,
    /// The revision that `after` was made from.
    pub upstream: &'l ResourceList,
}

/// A change that is worth reporting, or the count of routine changes.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewFinding {
    /// How bad it can be.
    pub risk: Risk,
    /// The class of the change.
    pub reason: Reason,
    /// Who made the change, if that is known.
    pub by: Option<Author>,
    /// The resource after the change, or before it if the resource was removed. `None` for the count of routine
    /// changes.
    pub resource: Option<Resource>,
    /// The field that changed. `None` if the finding is about the whole resource.
    pub field: Option<Path>,
    /// One sentence, lower case, without a full stop.
    pub message: String,
    /// The values of the field before and after. Long values are cut.
    pub values: [Option<ResultValue>; 2],
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

    /// Adds the values of the field. Values of Secrets are redacted. The finding is about the place in which the values
    /// differ; long texts are cut around the first difference.
    fn with_values(
        mut self,
        before: Option<NodeRef<'_>>,
        after: Option<NodeRef<'_>>,
        marks: &Marks,
    ) -> Self {
        // A part of a value does not show that the whole is one with a Secret.
        let mark = marks.within_any([before, after].into_iter().flatten());
        let (mut sides, mut way) = ([before, after], Vec::new());
        if mark == Mark::default()
            && let Some((before, after)) = before.zip(after)
            && let Some(found) = walk::difference(before, after)
        {
            (way, sides) = found;
        }
        self.field = self.field.map(|field| {
            way.into_iter()
                .rfold(field, |field, step| field.child(step))
        });
        // The values of a CustomResourceDefinition can be megabytes long.
        let values = sides.map(|node| node?.beginning(LIMIT + 1));
        let beginning = |value: &Option<Value>| value.as_ref().map(Value::to_json);
        let [old, new] = values.each_ref().map(beginning);
        let begin_alike = old
            .zip(new)
            .is_some_and(|(old, new)| old.bytes().take(LIMIT).eq(new.bytes().take(LIMIT)));
        let texts = if begin_alike && mark == Mark::default() {
            around_difference(sides)
        } else {
            None
        };
        let cut = |text: String| Some(ResultValue::of(mark, &text.as_str().into()));
        self.values = match texts {
            Some(texts) => texts.map(cut),
            None => values.map(|value| Some(ResultValue::of(mark, &value?))),
        };
        self
    }

    /// Converts the finding to a result. It is an error if the risk is `fail_on` or worse.
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
            result = result.with_resource(resource);
        }
        if let Some(field) = &self.field {
            let [before, after] = &self.values;
            result = result
                .with_field(field)
                .with_values(before.clone(), after.clone());
        }
        result = result.tag(RISK, self.risk.as_str());
        match self.by {
            Some(by) => result.tag(BY, by.as_str()),
            None => result,
        }
    }
}

/// Two long texts around the first place where they differ; `None` for other values.
fn around_difference([before, after]: [Option<NodeRef<'_>>; 2]) -> Option<[String; 2]> {
    let texts = [before?.as_str()?, after?.as_str()?];
    let [one, other] = texts.map(str::chars);
    let alike = one.zip(other).take_while(|(one, other)| one == other);
    let from = alike.count().saturating_sub(LIMIT / 4);
    let around = |text: &str| -> String {
        let shown = text.chars().skip(from).take(LIMIT / 2);
        std::iter::once('…').chain(shown).collect()
    };
    Some(texts.map(around))
}

/// The tag with the risk of a finding.
pub const RISK: &str = "risk";
/// The tag with the author of a change.
pub(crate) const BY: &str = "by";
/// The tag with the number of routine changes.
const COUNT: &str = "count";

/// All findings about a change, the worst first, and how many other changes there are.
#[derive(Debug, Default)]
pub struct Review {
    /// The findings, the worst first.
    pub findings: Vec<ReviewFinding>,
    /// The number of other changes, by author. The key is `None` if the author is unknown.
    pub routine: BTreeMap<Option<Author>, usize>,
}

impl Review {
    /// Reviews a change. With a release, also reports the resources that the release does not serve.
    ///
    /// # Errors
    /// An error result for each resource whose aliases and merge keys expand to too many nodes, or have no end.
    pub fn of(
        packages: ReviewInput<'_>,
        schema: &Schema,
        release: Option<Release>,
    ) -> Result<Self, Vec<FunctionResult>> {
        Self::of_known(packages, schema, release, None)
    }

    /// Like [`of`](Self::of), with what reviews before found in the same pairs of resources.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn of_known(
        packages: ReviewInput<'_>,
        schema: &Schema,
        release: Option<Release>,
        known: Option<&ReviewedPairs>,
    ) -> Result<Self, Vec<FunctionResult>> {
        let mut lists = vec![packages.before, packages.after];
        lists.extend(
            packages
                .upstream
                .iter()
                .flat_map(|of| [of.original, of.upstream]),
        );
        let refused = RefusedWalks::of(&lists).into_results();
        if !refused.is_empty() {
            return Err(refused);
        }
        Ok(compare::review(packages, schema, release, known))
    }

    /// The worst risk of all changes; `None` without a change.
    pub fn worst(&self) -> Option<Risk> {
        let worst = self.findings.first().map(|finding| finding.risk);
        worst.or_else(|| (!self.routine.is_empty()).then_some(Risk::Routine))
    }

    /// The number of findings of a risk, or of routine changes.
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
            let result = finding.to_result(fail_on);
            results.push(result.tag(COUNT, count.to_string()));
        }
    }
}

#[cfg(test)]
mod tests;
