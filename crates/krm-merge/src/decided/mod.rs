//! Conflicts that a user decided beforehand. The first rule that matches a conflict decides which side wins. A rule can
//! also keep a value from merging by its parts.
//!
//! ```yaml
//! conflicts:
//! - target: {kind: Deployment, name: web-*}
//!   path: spec.template.spec.containers[name=app].image
//!   take: local
//! - path: metadata.labels.**
//!   take: upstream
//! ```
//!
//! Source: contract, merge-package, Conflicts decided beforehand.

mod pattern;

pub(crate) use pattern::Pattern;
pub use pattern::glob;

use serde::Deserialize;

use super::rule::{OnConflict, Side};
use super::trail::Trail;
use krm_core::config::enum_fields::{expected, word};
use krm_core::config::{API_VERSION, UsageError, kind_of, typed_config, unexpected_at, value_of};
use krm_core::resource::Resource;
use krm_core::results::{FunctionResult, Reason, Results};
use krm_yaml::{NodeRef, Path, PlaceIndex, de};
use pattern::matches;

/// The rules of a user, in order.
#[derive(Debug, Clone, Default)]
pub struct ConflictRules(Vec<ConflictRule>);

#[derive(Debug, Clone)]
struct ConflictRule {
    target: Option<RuleTarget>,
    path: Option<Pattern>,
    /// `take` has the same words as `onConflict`.
    take: Option<OnConflict>,
    /// Whether values merge by their parts.
    combine: Option<bool>,
}

/// A rule for conflicts.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [{"required": ["take"]}, {"required": ["combine"]}])))]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WrittenRule {
    /// The resources that the rule applies to; if absent, all.
    target: Option<RuleTarget>,
    /// The field, as results name it; `[*]` is any element, a trailing `**` everything below. If absent, any field.
    path: Option<String>,
    /// Which side's value is kept.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = OnConflict::WORDS.map(|(word, _)| word))))]
    take: Option<String>,
    /// Whether to merge a value that both sides changed part by part; `false` treats it as one value.
    combine: Option<bool>,
}

/// The resources that a rule is for; absent fields fit all, and `*` any text.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Target")
)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RuleTarget {
    /// API group; the core group is empty.
    group: Option<String>,
    /// API version without the group.
    version: Option<String>,
    /// Kind.
    kind: Option<String>,
    /// Name.
    name: Option<String>,
    /// Namespace.
    namespace: Option<String>,
}

typed_config! {
    /// A file of rules.
    #[derive(Debug, Deserialize)]
    pub struct RulesFile {
        /// The rules; the first rule that matches a conflict decides it.
        #[serde(default)]
        conflicts: Vec<WrittenRule>,
    }
}

/// The decision about a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The side that wins. It has no effect if the rule makes the conflict an error.
    pub side: Side,
    /// The rule that decided. `None` for the default.
    pub rule: Option<DecidedBy>,
}

/// The rule that decided a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecidedBy {
    /// Its index in the list of rules.
    pub index: usize,
    /// Whether it makes the conflict an error.
    pub is_error: bool,
}

impl Decision {
    /// The decision if no rule matches.
    #[must_use]
    pub(crate) fn by_default(side: Side) -> Self {
        Self { side, rule: None }
    }
}

/// Reads the rules of a file.
///
/// # Errors
/// [`UsageError`]: not a ConflictRules, or with an unknown or mistyped field.
pub fn written_in_file(node: NodeRef<'_>) -> Result<Vec<WrittenRule>, UsageError> {
    if kind_of(node) != (API_VERSION, "ConflictRules") {
        let expected = "a ConflictRules (fn.kpt.dev/v1alpha1)";
        return Err(unexpected_at("--conflicts", node, expected));
    }
    let file: Result<RulesFile, _> = de::from_value(&value_of(node)?);
    let file = file.map_err(|error| {
        let message = error.to_string();
        let path = message.split_once(": ").map(|(path, _)| path);
        let path = path.and_then(Path::parse).unwrap_or_default();
        let (at, _) = PlaceIndex::default().place(node, &path);
        let line = node.document.location(at).line;
        UsageError::at(
            format_args!("--conflicts, line {line} (ConflictRules)"),
            message,
        )
    })?;
    Ok(file.conflicts)
}

/// Reads rules that are a plain list, such as the text of an annotation.
///
/// # Errors
/// A message that says what is wrong with the rules.
pub fn written_in_text(node: NodeRef<'_>) -> Result<Vec<WrittenRule>, String> {
    let value = value_of(node).map_err(|error| error.to_string())?;
    de::from_value(&value).map_err(|error| error.to_string())
}

impl ConflictRules {
    /// Checks rules that a user wrote. `None`, with an error result at a field below `at`, if something is not allowed.
    pub fn read(written: Vec<WrittenRule>, at: &Path, results: &mut Results) -> Option<Self> {
        let mut rules = Vec::with_capacity(written.len());
        let mut valid = true;
        for (index, rule) in written.into_iter().enumerate() {
            let mut refuse = |field: &str, message: String| {
                valid = false;
                let result = FunctionResult::error(Reason::InvalidConfig, message);
                results.push(result.with_field(at.index(index).field(field)));
            };
            let take = match rule.take.as_deref() {
                None if rule.combine.is_some() => Ok(None),
                None => Err(format!(
                    "expected {}, found none",
                    expected(&OnConflict::WORDS)
                )),
                Some(found) => word(found, &OnConflict::WORDS).map(Some),
            };
            let take = take.unwrap_or_else(|message| {
                refuse("take", message);
                None
            });
            let path = match rule.path.as_deref().map(Pattern::parse).transpose() {
                Ok(path) => path,
                Err(error) => {
                    refuse("path", error.to_string());
                    None
                }
            };
            let target = rule.target;
            rules.push(ConflictRule {
                target,
                path,
                take,
                combine: rule.combine,
            });
        }
        valid.then_some(Self(rules))
    }

    /// The rules that can match in a resource.
    #[must_use]
    pub fn of<'r>(&'r self, resource: &Resource) -> RulesOf<'r> {
        let fits = |rule: &ConflictRule| match &rule.target {
            Some(target) => target.fits(resource),
            None => true,
        };
        let rules = self.0.iter().enumerate();
        RulesOf(rules.filter(|(_, rule)| fits(rule)).collect())
    }

    /// The rules that can match a file that is not KRM: those without a target.
    #[must_use]
    pub fn of_files(&self) -> RulesOf<'_> {
        let rules = self.0.iter().enumerate();
        RulesOf(rules.filter(|(_, rule)| rule.target.is_none()).collect())
    }
}

/// Rules for one resource or file, each with its place in the list.
#[derive(Debug, Clone, Default)]
pub struct RulesOf<'r>(Vec<(usize, &'r ConflictRule)>);

impl RulesOf<'_> {
    /// Whether there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Decides a conflict over the whole resource or file.
    #[must_use]
    pub(crate) fn decide_whole(&self, otherwise: Side) -> Decision {
        self.first(otherwise, |rule| rule.path.is_none())
    }

    /// Decides a conflict over a field.
    pub(super) fn decide_field(&self, trail: &Trail<'_>, otherwise: Side) -> Decision {
        self.first(otherwise, |rule| rule.is_about(trail))
    }

    /// Whether a field may merge by its parts. The first matching rule that has `combine` decides.
    pub(super) fn combine_field(&self, trail: &Trail<'_>) -> bool {
        let mut fitting = self.0.iter().filter(|(_, rule)| rule.is_about(trail));
        fitting.find_map(|(_, rule)| rule.combine).unwrap_or(true)
    }

    /// Whether a file may merge by its parts.
    pub(super) fn combine_whole(&self) -> bool {
        let whole = self.0.iter().filter(|(_, rule)| rule.path.is_none());
        let mut combine = whole.filter_map(|(_, rule)| rule.combine);
        combine.next().unwrap_or(true)
    }

    fn first(&self, otherwise: Side, fits: impl Fn(&ConflictRule) -> bool) -> Decision {
        let mut fitting = self.0.iter().filter(|(_, rule)| fits(rule));
        let found = fitting.find_map(|(index, rule)| Some((index, rule.take?)));
        let Some((index, take)) = found else {
            return Decision::by_default(otherwise);
        };
        Decision {
            side: take.side().unwrap_or(otherwise),
            rule: Some(DecidedBy {
                index: *index,
                is_error: take.side().is_none(),
            }),
        }
    }
}

impl ConflictRule {
    fn is_about(&self, trail: &Trail<'_>) -> bool {
        match &self.path {
            Some(pattern) => matches(pattern, trail),
            None => true,
        }
    }
}

impl RuleTarget {
    fn fits(&self, resource: &Resource) -> bool {
        let version = resource.api_version.rsplit('/').next().unwrap_or_default();
        let name = resource.name.as_deref().unwrap_or_default();
        let namespace = resource.namespace.as_deref().unwrap_or_default();
        let pairs = [
            (&self.group, resource.group()),
            (&self.version, version),
            (&self.kind, &*resource.kind),
            (&self.name, name),
            (&self.namespace, namespace),
        ];
        let fits = |(pattern, text): &(&Option<String>, &str)| match pattern {
            Some(pattern) => glob(pattern, text),
            None => true,
        };
        pairs.iter().all(fits)
    }
}
