//! Merges the fields of one resource: the result is the local text with splices.
//!
//! ```yaml
//! spec:          # base          # local              # upstream           # merged
//!   replicas: 1                    replicas: 5          replicas: 1          replicas: 5
//!   image: a:1                     image: a:1 # mine    image: a:2           image: a:2 # mine
//!                                                       paused: true         paused: true
//! ```
//!
//! Maps merge by key, lists as their schema says, everything else is one value. Changes are
//! recorded into one [`Editor`] over the local document; values from upstream keep upstream's
//! text. An absent map or list counts as an empty one while its other two versions merge.
//!
//! Source: contract, merge-package (Fields, Order, Comments).

mod align;
mod child;
mod collection;
mod comments;
mod document;
mod entries;
mod groups;
mod kustomized;
mod list;
mod order;
pub(crate) mod parts;
mod removed_map;
mod renamed_entries;
mod take;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::combine::{Combine, PartsOf};
use super::decided::{DecidedBy, Decision, GuardedBy, RulesOf};
use super::merge_schema::MergeSchema;
use super::rule::{self, Outcome, Side};
use super::text::MOST_LINES;
use super::trail::{Trail, element_name, rule_path};
use super::versions::Versions;
use krm_core::resource::Resource;
use krm_core::results::{MOST_LISTED, Mark, Marks, QuotedValue};
use krm_yaml::{EditError, Editor, NodeRef, OwnedDocument, Path, Value};

use child::{Child, ChildVersions, nodes};
pub(super) use document::{MergedDocument, merge_documents};
pub(super) use parts::IMAGE_LINES;
use take::{has_flow_comments_to_take, take, take_inner_comments};

/// A value that both sides changed differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The resource, where it is part of a List.
    pub resource: Option<Resource>,
    /// The path of the value.
    pub path: Path,
    /// The same path with elements by their keys, as in a rule that decides the conflict.
    pub rule_path: Path,
    /// The name of the nearest list element around it.
    pub element: Option<String>,
    /// The value in each version.
    pub values: Versions<Option<Value>>,
    /// The side that wins.
    pub winner: Side,
    /// The rule that decided, if any.
    pub rule: Option<DecidedBy>,
    /// What the conflict is about.
    pub kind: ConflictKind,
    /// The merged value, if it is not the winner's: its other parts can be from the other side.
    pub merged: Option<Value>,
    /// Whether the values may be quoted.
    pub mark: Mark,
}

impl Conflict {
    /// The side that wins, and the rule that decided.
    pub(super) fn decision(&self) -> Decision {
        Decision {
            side: self.winner,
            rule: self.rule,
        }
    }
}

/// A value that has the changes of both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Combined {
    /// The resource, where it is part of a List.
    pub resource: Option<Resource>,
    /// The path of the value.
    pub path: Path,
    /// What its parts are.
    pub kind: PartsOf,
    pub local: Value,
    pub upstream: Value,
    /// Whether the values may be quoted.
    pub mark: Mark,
    /// How many more combined values are not listed. Only in the last value of a list.
    pub more: usize,
}

/// A change of upstream that a guard kept out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guarded {
    /// The resource, where it is part of a List.
    pub resource: Option<Resource>,
    /// The path of the value.
    pub path: Path,
    /// The value in each version.
    pub values: Versions<Option<Value>>,
    /// The guard.
    pub(crate) by: GuardedBy,
    /// Whether the values may be quoted.
    pub mark: Mark,
    /// How many more are not listed. Only in the last value of a list.
    pub more: usize,
}

/// What a conflict is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConflictKind {
    /// The value of a field.
    Value,
    /// An element of a list, with its keys.
    Element,
    /// The functions of a pipeline that cannot be distinguished.
    Functions,
    /// The order of the elements; the values are their keys then.
    Order,
    /// A part of a value. The text is its place within the value.
    Part(String),
}

impl ConflictKind {
    /// The kind of a conflict over a whole value.
    fn at(trail: &Trail<'_>) -> Self {
        match trail {
            Trail::Element(..) => Self::Element,
            Trail::Root | Trail::Field(..) => Self::Value,
        }
    }
}

/// How conflicts are decided, and the limits of a merge.
#[derive(Debug, Clone)]
pub struct Policy<'r> {
    /// The side that wins if no rule matches.
    pub winner: Side,
    /// Whether the winner also decides about a part that one side added to a collection that the other side removed.
    pub decides_all: bool,
    /// The rules of the user for this resource.
    pub rules: RulesOf<'r>,
    /// The values that merge by their parts if both sides changed them.
    pub combine: Combine,
    /// The maximum number of conflicts that are listed.
    pub most: usize,
    /// How many more lines of texts may be compared.
    pub lines_left: usize,
}

impl From<Side> for Policy<'_> {
    fn from(winner: Side) -> Self {
        Self {
            winner,
            decides_all: false,
            rules: RulesOf::default(),
            combine: Combine::default(),
            most: MOST_LISTED,
            lines_left: MOST_LINES,
        }
    }
}

/// What a merge reports.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The conflicts, up to the limit of the [`Policy`].
    pub conflicts: Vec<Conflict>,
    /// Conflicts beyond the limit: the first with each decision, and how many more have the same decision.
    pub others: Vec<(Conflict, usize)>,
    /// Values with the changes of both sides, up to the same limit.
    pub combined: Vec<Combined>,
    /// Changes of upstream that guards kept out, up to the same limit.
    pub guarded: Vec<Guarded>,
    /// Lists in which two elements have the same keys.
    pub duplicates: Vec<Path>,
    /// Whether a list with comments got, lost or moved elements.
    pub moves_comments: bool,
    /// How many lines of the limit in the [`Policy`] are left.
    pub lines_left: usize,
}

impl Findings {
    /// Whether upstream's changes are all in the result: nothing was decided against one.
    pub(crate) fn take_all_of_upstream(&self) -> bool {
        self.conflicts.is_empty() && self.others.is_empty() && self.guarded.is_empty()
    }
}

/// Whether two resources have the same text, with aliases that contain themselves. The values of such resources cannot
/// be compared.
fn is_endless_twice(local: NodeRef<'_>, upstream: NodeRef<'_>) -> bool {
    let are_alone = local.parent().is_none() && upstream.parent().is_none();
    let are_alike = are_alone && local.source() == upstream.source();
    are_alike && local.is_complex() && local.value().is_none()
}

/// Merges a resource that local and upstream have. `base` is absent if both added it.
///
/// # Errors
/// An error of the [`Editor`]. The changes recorded so far must be discarded then.
pub fn merge_resource<'d, 'f, 'r>(
    base: Option<NodeRef<'f>>,
    local: NodeRef<'d>,
    upstream: NodeRef<'f>,
    schema: MergeSchema<'_>,
    policy: impl Into<Policy<'r>>,
    editor: &mut Editor<'d, 'f>,
) -> Result<Findings, EditError> {
    let policy = policy.into();
    if is_endless_twice(local, upstream) {
        return Ok(Findings {
            lines_left: policy.lines_left,
            ..Findings::default()
        });
    }
    let mut merge = FieldMerger {
        policy,
        findings: Findings::default(),
        marks: Marks::default(),
        removed_by: None,
    };
    let versions = Versions::new(
        base.map(Child::of),
        Some(Child::of(local)),
        Some(Child::of(upstream)),
    );
    let schema = schema.or_encrypted(local).or_encrypted(upstream);
    merge.child(&Trail::Root, schema, Elementwise::Yes, versions, editor)?;
    merge.findings.lines_left = merge.policy.lines_left;
    Ok(merge.findings)
}

/// What a merge does with an entry or element.
enum FieldAction {
    /// Local's value is kept, perhaps with changes within.
    Local,
    /// Upstream's value, in a new entry.
    Upstream,
    /// The merge of base and upstream without a local version, in a new entry.
    Merged(Arc<OwnedDocument>),
    Removed,
}

/// How an absent version of a collection is treated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elementwise {
    /// As an empty one.
    Yes,
    /// The collection is one value, like an element of a list.
    IfPresent,
}

struct FieldMerger<'r> {
    policy: Policy<'r>,
    findings: Findings,
    marks: Marks,
    /// The side that removed the map around, if it won the conflict over the map: it wins all that is below.
    removed_by: Option<Side>,
}

impl FieldMerger<'_> {
    /// Merges one entry, element or root.
    fn child<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        elementwise: Elementwise,
        mut versions: ChildVersions<'d, 'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<FieldAction, EditError> {
        let local = versions.local.map(|local| local.value);
        let holds_local_fields = local.is_some_and(|local| schema.holds_local_fields(local));
        if holds_local_fields {
            // `annotations:` without a value counts as absent. Local keeps the annotations of tools.
            let is_null = |child: &Child<'_>| child.value.resolved().is_null();
            versions.base = versions.base.filter(|child| !is_null(child));
            versions.upstream = versions.upstream.filter(|child| !is_null(child));
        }
        if let (Some(base), Some(_), Some(upstream)) =
            (versions.base, versions.local, versions.upstream)
            && base.value.is_written_like(upstream.value)
        {
            // Upstream changed nothing in it.
            return Ok(FieldAction::Local);
        }
        if let Some(action) = self.guarded(trail, versions) {
            return Ok(action);
        }
        if let (Some(base), Some(local), Some(upstream)) =
            (versions.base, versions.local, versions.upstream)
            && !holds_local_fields
            && has_flow_comments_to_take(base, local, upstream)
        {
            self.findings.moves_comments |= take(Some(base), local, upstream, editor)?;
            return Ok(FieldAction::Local);
        }
        if let Some(action) = self.removed_map(trail, schema, elementwise, versions, editor)? {
            return Ok(action);
        }
        let present = versions.local.is_some() && versions.upstream.is_some();
        if present || elementwise == Elementwise::Yes {
            match (versions.local, versions.upstream) {
                (Some(local), _) => {
                    if let Some(collection) =
                        self.collection(trail, schema, versions, local.value, present)
                    {
                        return self.entries(trail, schema, &collection, editor);
                    }
                }
                (None, Some(upstream)) => {
                    let base = versions.base;
                    if let Some(action) = self.without_local(trail, schema, base, upstream)? {
                        return Ok(action);
                    }
                }
                (None, None) => return Ok(FieldAction::Removed),
            }
        }
        self.single(trail, true, versions, editor)
    }

    /// Keeps what local has in a place with a guard, if upstream would change it.
    fn guarded(
        &mut self,
        trail: &Trail<'_>,
        versions: ChildVersions<'_, '_>,
    ) -> Option<FieldAction> {
        let by = self.policy.rules.guard_of(trail)?;
        let nodes = nodes(versions);
        // A conflict, or a change of upstream alone.
        let outcome = rule::merge(nodes, |a, b| a.equals(b));
        if outcome == Outcome::Wins(Side::Local) {
            return None;
        }
        let is_full = self.findings.guarded.len() >= self.policy.most.max(1);
        let (resource, path) = self.place_of(trail, trail.to_path());
        match self.findings.guarded.last_mut().filter(|_| is_full) {
            Some(last) => last.more += 1,
            None => self.findings.guarded.push(Guarded {
                resource,
                path,
                values: nodes.map(|node| node.and_then(|node| node.value())),
                by,
                mark: self.marks.at_any(nodes.into_iter().flatten()),
                more: 0,
            }),
        }
        Some(match nodes.local {
            Some(_) => FieldAction::Local,
            None => FieldAction::Removed,
        })
    }

    /// Merges a value as one. If both sides changed it and `has_parts`, tries to merge it by its parts.
    fn single<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        has_parts: bool,
        versions: ChildVersions<'d, 'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<FieldAction, EditError> {
        let (base, local, upstream) = (versions.base, versions.local, versions.upstream);
        let values = nodes(versions);
        let outcome = rule::merge(values, |a, b| a.equals(b));
        let side = match outcome {
            Outcome::Wins(side) => side,
            Outcome::Conflict => {
                if has_parts && let Some(action) = self.combine(trail, versions, editor)? {
                    return Ok(action);
                }
                self.conflict(trail, values)
            }
        };
        if let (Side::Local, Some(local), Some(upstream)) = (side, local, upstream)
            && outcome != Outcome::Conflict
        {
            take_inner_comments(base, local, upstream, editor)?;
        }
        self.take_side(side, versions, editor)
    }

    /// Takes the version of a side.
    fn take_side<'d, 'f>(
        &mut self,
        side: Side,
        versions: ChildVersions<'d, 'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<FieldAction, EditError> {
        match (side, versions.local, versions.upstream) {
            (Side::Local, Some(_), _) => Ok(FieldAction::Local),
            (Side::Upstream, Some(local), Some(upstream)) => {
                self.findings.moves_comments |= take(versions.base, local, upstream, editor)?;
                Ok(FieldAction::Local)
            }
            (Side::Upstream, None, Some(_)) => Ok(FieldAction::Upstream),
            (Side::Local, None, _) | (Side::Upstream, _, None) => Ok(FieldAction::Removed),
        }
    }

    /// Decides a conflict. `otherwise` wins if no rule matches.
    fn decide(&self, trail: &Trail<'_>, otherwise: Side) -> Decision {
        if self.policy.rules.is_empty() {
            Decision::by_default(otherwise)
        } else {
            self.policy.rules.decide_field(trail, otherwise)
        }
    }

    /// Reports a conflict over a value. Returns the side that wins.
    fn conflict(&mut self, trail: &Trail<'_>, nodes: Versions<Option<NodeRef<'_>>>) -> Side {
        if let Some(side) = self.removed_by {
            return side;
        }
        let values = nodes.map(|node| node.and_then(|node| node.value()));
        let decision = self.decide(trail, self.policy.winner);
        let kind = ConflictKind::at(trail);
        self.report(trail, kind, values, decision, |marks| {
            marks.at_any(nodes.into_iter().flatten())
        })
    }

    /// Names a place within a resource of a List by the resource and the path in it.
    fn place_of(&self, trail: &Trail<'_>, path: Path) -> (Option<Resource>, Path) {
        let found = self.policy.rules.resource_in_list(trail);
        let Some((resource, count)) = found.filter(|(_, count)| *count > 0) else {
            return (None, path);
        };
        let within = path.elements().iter().rev().take(count).rev();
        let within = within.fold(Path::root(), |path, step| path.child(step.clone()));
        (Some(resource), within)
    }

    /// Reports a conflict with its decision. `mark` is asked about the values only if they are listed. Returns the side that
    /// wins.
    fn report(
        &mut self,
        trail: &Trail<'_>,
        kind: ConflictKind,
        values: Versions<Option<Value>>,
        decision: Decision,
        mark: impl FnOnce(&Marks) -> Mark,
    ) -> Side {
        let is_listed = self.findings.conflicts.len() < self.policy.most;
        let mut others = self.findings.others.iter_mut();
        let alike = others.find(|(first, _)| first.decision() == decision);
        if let Some((_, more)) = alike {
            *more += 1;
            return decision.side;
        }
        let (mark, path) = (mark(&self.marks), trail.to_path());
        let (_, rule_path) = self.place_of(trail, mark.path(&rule_path(trail), &path));
        let (resource, path) = self.place_of(trail, path);
        let name = element_name(trail, path.elements().len());
        let conflict = Conflict {
            resource,
            rule_path,
            path,
            element: name.map(|name| QuotedValue::name(mark, &name).to_string()),
            values,
            winner: decision.side,
            rule: decision.rule,
            kind,
            merged: None,
            mark,
        };
        if is_listed {
            self.findings.conflicts.push(conflict);
        } else {
            self.findings.others.push((conflict, 0));
        }
        decision.side
    }
}
