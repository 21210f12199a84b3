//! A rule of the table: where it looks, when it fires, what it says.

use super::Risk;
use super::walk::{DifferingPlace, PathStep, given, has_parts, text};
use krm_core::results::Reason;
use krm_yaml::{NodeRef, PathElement};

/// A rule. To add a rule, add a line to `rules.txt`, which describes the columns.
pub(super) struct Row {
    /// As `group/Kind`. Empty for all kinds; `*` for kinds that the built-in schema lacks.
    pub(super) kinds: Vec<&'static str>,
    pub(super) path: &'static str,
    pub(super) when: FiresWhen,
    pub(super) risk: Risk,
    pub(super) reason: Reason,
    /// What happens. Empty if the condition gives the message.
    pub(super) message: &'static str,
    /// Where the rule comes from, for the documentation.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "a test writes it into docs/review.md")
    )]
    pub(super) source: &'static str,
}

/// When a rule fires, at a field that differs.
pub(super) enum FiresWhen {
    /// The object remains, and the field differs. An absent or empty field counts as this value. Without a value, empty
    /// and absent are the same.
    Changes(&'static str),
    /// The field is removed, and the resource or list element that holds it remains.
    Removed,
    /// The field is new, perhaps together with everything that holds it.
    Added,
    /// The field gets one of these values, and had none of them before. An absent field counts as the second string. The
    /// flag says that the object must remain.
    Becomes(Vec<&'static str>, &'static str, bool),
    /// The function returns true.
    Holds(fn(&FieldChange<'_, '_>) -> bool),
    /// The function returns a message.
    Says(fn(&FieldChange<'_, '_>) -> Option<String>),
    /// The function returns findings, each about a field at the place or below it.
    Finds(for<'n> fn(&FieldChange<'_, 'n>) -> Vec<PlaceFinding<'n>>),
}

/// What a rule says about a field at a place or below it.
#[derive(Debug, Default)]
pub(crate) struct PlaceFinding<'n> {
    /// The way from the place to the field.
    pub(super) below: Vec<PathElement>,
    pub(super) message: String,
    /// The values of the field; `None` if they would tell the reader less than the message does.
    pub(super) values: Option<[Option<NodeRef<'n>>; 2]>,
    /// Whether it shows all that changes at the place, so that nothing there is counted as another change.
    pub(super) is_whole: bool,
}

/// A place that differs, in a resource.
#[derive(Clone, Copy)]
pub(crate) struct FieldChange<'p, 'n> {
    /// The resource before and after.
    pub(super) roots: [Option<NodeRef<'n>>; 2],
    pub(super) place: &'p DifferingPlace<'p, 'n>,
    /// Whether the object remains: it has the same key before and after.
    pub(super) object_remains: bool,
}

impl<'n> FieldChange<'_, 'n> {
    pub(super) fn before(&self) -> Option<NodeRef<'n>> {
        self.place.before
    }

    pub(super) fn after(&self) -> Option<NodeRef<'n>> {
        self.place.after
    }

    /// The value before and after, if both exist.
    pub(super) fn both(&self) -> Option<(NodeRef<'n>, NodeRef<'n>)> {
        self.before().zip(self.after())
    }

    /// The name of the field that differs.
    pub(super) fn last_field(&self) -> &'n str {
        match self.place.steps.last() {
            Some(PathStep::Field(name)) => name,
            _ => "",
        }
    }

    /// A field of the resource, before and after.
    pub(super) fn of_root(&self, path: &[&str]) -> [Option<NodeRef<'n>>; 2] {
        self.roots.map(|root| given(root?.get_path(path)))
    }
}

impl Row {
    /// The path of a whole pod, of which a finding shows only a part.
    const POD: &str = "{pod}";
    /// The path of the schemas of a definition.
    const SCHEMAS: &str = "spec.versions";

    /// The findings of the rule at a place that differs.
    pub(super) fn findings<'n>(&self, change: &FieldChange<'_, 'n>) -> Vec<PlaceFinding<'n>> {
        if let FiresWhen::Finds(finds) = &self.when {
            return finds(change);
        }
        let is_shown = ![Self::POD, Self::SCHEMAS].contains(&self.path);
        let finding = self.fires(change).map(|message| PlaceFinding {
            below: Vec::new(),
            message,
            values: is_shown.then(|| [change.before(), change.after()]),
            is_whole: self.path != Self::POD,
        });
        Vec::from_iter(finding)
    }

    /// The message, if the rule fires.
    fn fires(&self, change: &FieldChange<'_, '_>) -> Option<String> {
        let (before, after) = (change.before(), change.after());
        let stays = change.object_remains;
        let fires = match &self.when {
            FiresWhen::Finds(_) => return None,
            FiresWhen::Says(says) => return says(change),
            FiresWhen::Changes(absent) => {
                let is_default = |node| is_empty(node) || text(node) == Some(*absent);
                stays && !(is_default(before) && is_default(after))
            }
            FiresWhen::Removed => after.is_none() && change.place.owner_remains,
            FiresWhen::Added => before.is_none(),
            FiresWhen::Holds(holds) => holds(change),
            FiresWhen::Becomes(values, absent, must_stay) => {
                let was = text(before).unwrap_or(absent);
                let is = text(after).unwrap_or(absent);
                // If the owner is removed as well, the field does not get a value.
                let is_there = after.is_some() || change.place.owner_remains;
                let is_there = is_there && (stays || !must_stay);
                is_there && values.contains(&is) && !values.contains(&was)
            }
        };
        fires.then(|| self.message.to_owned())
    }
}

/// Whether a field is absent, or has no fields, elements or characters: Kubernetes treats both alike.
fn is_empty(field: Option<NodeRef<'_>>) -> bool {
    field.is_none_or(|node| !has_parts(&node) && node.scalar_text().is_none_or(str::is_empty))
}

/// A part of a path of a [`Row`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Segment {
    Field(&'static str),
    AnyField,
    AnyDepth,
    Containers,
    Element,
}

/// The path to the pod spec in the kinds that hold a pod.
pub(super) fn pod_path(kind: &str) -> Option<&'static [&'static str]> {
    match kind {
        "Pod" => Some(&["spec"]),
        "PodTemplate" => Some(&["template", "spec"]),
        "apps/Deployment"
        | "apps/DaemonSet"
        | "apps/StatefulSet"
        | "apps/ReplicaSet"
        | "batch/Job"
        | "ReplicationController" => Some(&["spec", "template", "spec"]),
        "batch/CronJob" => Some(&["spec", "jobTemplate", "spec", "template", "spec"]),
        _ => None,
    }
}

/// The lists of containers in the spec of a pod.
pub(super) const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Parses a path of the table for a kind. `None` if the path begins in a pod, and the kind holds none.
pub(super) fn segments(path: &'static str, kind: &str) -> Option<Vec<Segment>> {
    let mut segments = Vec::new();
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let name = part.trim_end_matches("[]");
        match name {
            "{pod}" => segments.extend(pod_path(kind)?.iter().map(|name| Segment::Field(name))),
            "{containers}" => segments.push(Segment::Containers),
            "*" => segments.push(Segment::AnyField),
            "**" => segments.push(Segment::AnyDepth),
            name => segments.push(Segment::Field(name)),
        }
        let elements = (part.len() - name.len()) / 2;
        segments.extend((0..elements).map(|_| Segment::Element));
    }
    Some(segments)
}

/// Whether a path of the table leads to a place.
pub(super) fn leads_to(segments: &[Segment], steps: &[PathStep<'_>]) -> bool {
    match (segments.split_first(), steps.split_first()) {
        (None, None) => true,
        (Some((Segment::AnyDepth, rest)), step) => {
            leads_to(rest, steps) || step.is_some_and(|(_, steps)| leads_to(segments, steps))
        }
        (Some((segment, segments)), Some((step, steps))) => {
            is_of(*segment, step) && leads_to(segments, steps)
        }
        _ => false,
    }
}

fn is_of(segment: Segment, step: &PathStep<'_>) -> bool {
    match (segment, step) {
        (Segment::Field(name), PathStep::Field(field)) => name == *field,
        (Segment::AnyField, PathStep::Field(_)) => true,
        (Segment::Containers, PathStep::Field(field)) => CONTAINERS.contains(field),
        (Segment::Element, PathStep::Element { .. }) => true,
        _ => false,
    }
}
