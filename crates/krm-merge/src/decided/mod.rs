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
//! A guard is a place that upstream may not change: local's value stays there, whoever changed it.
//!
//! Source: contract, merge-package, Conflicts decided beforehand; krmv, Policy.

mod pattern;
mod policy;

pub(crate) use pattern::Pattern;
pub use policy::{PolicyFile, UpgradePolicy, WrittenHelm, WrittenReleases, WrittenRender};

use serde::Deserialize;

use super::rule::{OnConflict, Side};
use super::trail::Trail;
use krm_core::config::enum_fields::{expected, word};
use krm_core::config::{typed_config, value_of};
use krm_core::glob::glob;
use krm_core::resource::Resource;
use krm_core::results::{FunctionResult, Reason, ResourceRef, Results};
use krm_yaml::{NodeRef, Path, de};
use pattern::matches;

/// The rules of a user, in order, and the places that upstream may not change.
#[derive(Debug, Clone, Default)]
pub struct ConflictRules {
    rules: Vec<ConflictRule>,
    guards: Vec<Guard>,
}

/// A place that upstream may not change.
#[derive(Debug, Clone)]
struct Guard {
    target: Option<RuleTarget>,
    path: Pattern,
    reason: Option<String>,
}

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
    pub(crate) fn by_default(side: Side) -> Self {
        Self { side, rule: None }
    }
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
        valid.then_some(Self {
            rules,
            guards: Vec::new(),
        })
    }

    /// Rules for conflicts over these fields, or without a path over whole resources, and then other rules.
    ///
    /// # Errors
    /// A message about a path that is not one.
    pub fn deciding<'c>(
        conflicts: impl IntoIterator<Item = (Option<&'c ResourceRef>, Option<&'c str>)>,
        take: OnConflict,
        others: &Self,
    ) -> Result<Self, String> {
        let text = |text: &str| Some(text.to_owned());
        let rule = |(resource, path): (Option<&ResourceRef>, Option<&str>)| {
            let path = path.map(Pattern::parse).transpose();
            Ok(ConflictRule {
                target: resource.map(|resource| RuleTarget {
                    group: text(resource.group()),
                    version: None,
                    kind: text(&resource.kind),
                    name: text(&resource.name),
                    namespace: resource.namespace.as_deref().and_then(text),
                }),
                path: path.map_err(|error| error.to_string())?,
                take: Some(take),
                combine: None,
            })
        };
        let first = conflicts.into_iter().map(rule);
        let all = first.chain(others.rules.iter().cloned().map(Ok));
        Ok(Self {
            rules: all.collect::<Result<_, String>>()?,
            guards: others.guards.clone(),
        })
    }

    /// The rules that can match in a resource, or in the resources of a List.
    pub fn of<'r>(&'r self, resource: &Resource) -> RulesOf<'r> {
        if resource.is_list() {
            return RulesOf {
                list: Some(resource.clone()),
                ..self.that(|_| true)
            };
        }
        self.that(|target| target.is_none_or(|target| target.fits(resource)))
    }

    /// The rules that can match a file that is not KRM: those without a target.
    pub fn of_files(&self) -> RulesOf<'_> {
        self.that(|target| target.is_none())
    }

    fn that(&self, is_meant: impl Fn(Option<&RuleTarget>) -> bool) -> RulesOf<'_> {
        let rules = self.rules.iter().enumerate();
        let guards = self.guards.iter().enumerate();
        RulesOf {
            rules: rules
                .filter(|(_, rule)| is_meant(rule.target.as_ref()))
                .collect(),
            guards: guards
                .filter(|(_, guard)| is_meant(guard.target.as_ref()))
                .collect(),
            list: None,
        }
    }
}

/// Rules for one resource or file, each with its place in the list.
#[derive(Debug, Clone, Default)]
pub struct RulesOf<'r> {
    rules: Vec<(usize, &'r ConflictRule)>,
    guards: Vec<(usize, &'r Guard)>,
    /// The List whose resources they are for. Their targets are compared in each of its resources.
    list: Option<Resource>,
}

/// A value as rules name it: by its resource and its path in there. A value in a List also has a path in the List.
struct NamedPlace<'t> {
    /// `None` if the rules are only those for the resource.
    resource: Option<Resource>,
    steps: Vec<&'t Trail<'t>>,
}

impl NamedPlace<'_> {
    fn is_in(&self, target: Option<&RuleTarget>) -> bool {
        let resource = self.resource.as_ref();
        target.is_none_or(|target| resource.is_none_or(|resource| target.fits(resource)))
    }
}

/// The guard of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GuardedBy {
    /// Its index in the list of guards.
    pub(crate) index: usize,
    pub(crate) reason: Option<String>,
}

impl RulesOf<'_> {
    /// Whether no rule decides conflicts.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether upstream may not change some place.
    pub(crate) fn has_guards(&self) -> bool {
        !self.guards.is_empty()
    }

    /// The first guard of a place.
    pub(crate) fn guard_of(&self, trail: &Trail<'_>) -> Option<GuardedBy> {
        if self.guards.is_empty() {
            return None;
        }
        let places = self.places(trail);
        let is_guard = |guard: &Guard| {
            let mut places = places.iter();
            places.any(|place| {
                place.is_in(guard.target.as_ref()) && matches(&guard.path, &place.steps)
            })
        };
        let mut guards = self.guards.iter();
        let (index, guard) = guards.find(|(_, guard)| is_guard(guard))?;
        Some(GuardedBy {
            index: *index,
            reason: guard.reason.clone(),
        })
    }

    /// Whether a place within a value may have a guard.
    pub(crate) fn guards_below(&self, trail: &Trail<'_>) -> bool {
        if self.guards.is_empty() {
            return false;
        }
        let places = self.places(trail);
        // Any resource may be below a List.
        let resource = places.last().and_then(|place| place.resource.as_ref());
        let may_be_below = |guard: &Guard| {
            let mut places = places.iter();
            places.any(|place| guard.path.reaches_below(&place.steps))
        };
        resource.is_some_and(Resource::is_list)
            || self.guards.iter().any(|(_, guard)| may_be_below(guard))
    }

    /// How rules name the value that a trail leads to.
    fn places<'t>(&self, trail: &'t Trail<'t>) -> Vec<NamedPlace<'t>> {
        let steps = trail.steps();
        let mut places = vec![NamedPlace {
            resource: self.list.clone(),
            steps,
        }];
        while let Some(NamedPlace {
            resource: Some(list),
            steps,
        }) = places.last()
            && list.is_list()
            && let [
                Trail::Field(_, "items"),
                Trail::Element(_, _, element),
                within @ ..,
            ] = steps.as_slice()
        {
            let mut resource = Resource::of_element(element.node.resolved(), list);
            resource.origin = list.origin.clone();
            let steps = within.to_vec();
            places.push(NamedPlace {
                resource: Some(resource),
                steps,
            });
        }
        places
    }

    /// The resource of a List that a value is in, and how many of the last steps to the value are in the resource.
    pub(crate) fn resource_in_list(&self, trail: &Trail<'_>) -> Option<(Resource, usize)> {
        self.list.as_ref()?;
        let mut places = self.places(trail);
        let NamedPlace { resource, steps } = places.pop().filter(|_| !places.is_empty())?;
        Some((resource?, steps.len()))
    }

    /// Decides a conflict over the whole resource or file.
    pub(crate) fn decide_whole(&self, otherwise: Side) -> Decision {
        let list = self.list.as_ref();
        self.first(otherwise, |rule| {
            let target = rule.target.as_ref();
            let is_for = |list| target.is_none_or(|target| target.fits(list));
            rule.path.is_none() && list.is_none_or(is_for)
        })
    }

    /// Decides a conflict over a field.
    pub(super) fn decide_field(&self, trail: &Trail<'_>, otherwise: Side) -> Decision {
        if self.is_empty() {
            return Decision::by_default(otherwise);
        }
        let places = self.places(trail);
        self.first(otherwise, |rule| rule.is_about(&places))
    }

    /// Whether a field may merge by its parts. The first matching rule that has `combine` decides.
    pub(super) fn combine_field(&self, trail: &Trail<'_>) -> bool {
        if self.is_empty() {
            return true;
        }
        let places = self.places(trail);
        let mut fitting = self.rules.iter().filter(|(_, rule)| rule.is_about(&places));
        fitting.find_map(|(_, rule)| rule.combine).unwrap_or(true)
    }

    /// Whether a file may merge by its parts.
    pub(super) fn combine_whole(&self) -> bool {
        let whole = self.rules.iter().filter(|(_, rule)| rule.path.is_none());
        let mut combine = whole.filter_map(|(_, rule)| rule.combine);
        combine.next().unwrap_or(true)
    }

    fn first(&self, otherwise: Side, fits: impl Fn(&ConflictRule) -> bool) -> Decision {
        let mut fitting = self.rules.iter().filter(|(_, rule)| fits(rule));
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
    fn is_about(&self, places: &[NamedPlace<'_>]) -> bool {
        places.iter().any(|place| {
            let path = self.path.as_ref();
            place.is_in(self.target.as_ref())
                && path.is_none_or(|pattern| matches(pattern, &place.steps))
        })
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
