//! Selectors that no longer select anything in their package.

use std::sync::LazyLock;

use super::change::ResourceChange;
use super::find::each;
use super::references::path_below;
use super::row::{pod_path, segments};
use super::table::section;
use super::units::{ClusterObject, ObjectKey, Objects, may_be_one};
use super::walk::{given, text};
use super::{ReviewFinding, Risk};
use crate::results::{Marks, Reason};
use crate::yaml::NodeRef;

/// A field that selects other resources by their labels.
pub(super) struct LabelSelection {
    /// The kind that has the field, as `group/Kind`.
    pub(super) kind: &'static str,
    /// The path of the selector, as in a rule of the table.
    pub(super) path: &'static str,
    /// What it selects: `Pod` for the pods of any workload, otherwise `group/Kind`.
    pub(super) of: &'static str,
}

/// All selectors that are checked.
pub(super) static SELECTORS: LazyLock<Vec<LabelSelection>> = LazyLock::new(|| {
    let rows = section("Selectors").into_iter();
    rows.map(|[kind, path, of]| LabelSelection { kind, path, of })
        .collect()
});

fn is_workload(kind: &str) -> bool {
    pod_path(kind).is_some()
}

fn is_of_interest(kind: &str) -> bool {
    is_workload(kind) || SELECTORS.iter().any(|selector| selector.kind == kind)
}

/// The labels of a workload's pods, or of another resource.
struct Labelled<'l> {
    key: ObjectKey,
    labels: Option<NodeRef<'l>>,
    is_workload: bool,
    node: NodeRef<'l>,
}

fn labelled<'l>(unit: &ClusterObject<'l>) -> Option<Labelled<'l>> {
    let key = ObjectKey::of(unit.resource)?;
    let of_pod = pod_path(&key.group_kind()).and_then(|path| path.split_last());
    let (is_workload, owner) = match of_pod {
        Some((_, above)) => (true, unit.node.get_path(above)),
        None => (false, Some(unit.node)),
    };
    let labels = owner.and_then(|node| given(node.get_path(&["metadata", "labels"])));
    Some(Labelled {
        key,
        labels,
        is_workload,
        node: unit.node,
    })
}

/// Reports each selector that selected something before, and selects nothing now.
pub(super) fn find(
    pairs: &[ResourceChange<'_>],
    before: &Objects<'_>,
    after: &Objects<'_>,
    found: &mut Vec<ReviewFinding>,
) {
    let changes = |pair: &ResourceChange<'_>| {
        let key = pair.unit().and_then(|unit| ObjectKey::of(unit.resource));
        key.is_some_and(|key| is_of_interest(&key.group_kind()))
    };
    if !pairs.iter().any(changes) {
        return;
    }
    let [old, new] = [before, after].map(|objects| objects.of_kinds(is_of_interest));
    let [old_labels, new_labels] =
        [&old, &new].map(|units| units.iter().filter_map(labelled).collect::<Vec<_>>());
    for unit in &new {
        let Some(key) = ObjectKey::of(unit.resource) else {
            continue;
        };
        let kind = key.group_kind();
        for selector in SELECTORS.iter().filter(|selector| selector.kind == kind) {
            let was = old
                .iter()
                .find(|unit| ObjectKey::of(unit.resource).as_ref() == Some(&key));
            let Some(was) = was else { continue };
            let path = segments(selector.path, &kind).unwrap_or_default();
            let mut nodes = [None, None];
            for (unit, node) in [was, unit].into_iter().zip(&mut nodes) {
                each(unit.node, &path, &mut |found| *node = Some(found));
            }
            let [Some(old_node), Some(node)] = nodes else {
                continue;
            };
            let selected = [(old_node, &old_labels), (node, &new_labels)]
                .map(|(node, all)| selector.selected(&key, node, all));
            if kind == "Service" {
                lost_ports(unit, &selected, found);
            }
            if !selected[0].is_empty() && selected[1].is_empty() {
                let what = match selector.of {
                    "Pod" => "pod",
                    other => other,
                };
                let message = format!("the selector no longer matches a {what} of the package");
                let finding = ReviewFinding::new(
                    Risk::Dangerous,
                    Reason::SelectsNothing,
                    unit.resource,
                    message,
                );
                let finding = finding.at(path_below(node, unit.node));
                let marks = Marks::default();
                found.push(finding.with_values(Some(old_node), Some(node), &marks));
            }
        }
    }
}

/// Reports each port of a Service that leads to a port of its pods by a name that no pod has after the change.
fn lost_ports(
    service: &ClusterObject<'_>,
    [before, after]: &[Vec<&Labelled<'_>>; 2],
    found: &mut Vec<ReviewFinding>,
) {
    let has = |pods: &[&Labelled<'_>], name: &str| pods.iter().any(|pod| pod.has_port(name));
    let path = segments("spec.ports[].targetPort", "Service").unwrap_or_default();
    each(service.node, &path, &mut |target| {
        let name = text(Some(target)).unwrap_or_default();
        if has(before, name) && !after.is_empty() && !has(after, name) {
            let message =
                format!("the pods of the Service no longer have a port with the name {name}");
            let finding = ReviewFinding::new(
                Risk::Dangerous,
                Reason::DanglingReference,
                service.resource,
                message,
            );
            found.push(finding.at(path_below(target, service.node)));
        }
    });
}

impl Labelled<'_> {
    /// Whether a container of the pods has a port with this name.
    fn has_port(&self, name: &str) -> bool {
        let path = segments("{pod}.{containers}[].ports[].name", &self.key.group_kind());
        let mut has = false;
        each(self.node, &path.unwrap_or_default(), &mut |port| {
            has |= text(Some(port)) == Some(name);
        });
        has
    }
}

impl LabelSelection {
    /// The resources that a selector of an object matches.
    fn selected<'s, 'l>(
        &self,
        own: &ObjectKey,
        selector: NodeRef<'_>,
        all: &'s [Labelled<'l>],
    ) -> Vec<&'s Labelled<'l>> {
        let of = all
            .iter()
            .filter(|one| self.may_select(one, own) && matches(selector, one.labels));
        of.collect()
    }

    fn may_select(&self, one: &Labelled<'_>, own: &ObjectKey) -> bool {
        let is_kind = match self.of {
            "Pod" => one.is_workload,
            kind => one.key.group_kind() == kind,
        };
        // Selectors of other kinds, such as those of monitors, can select from other namespaces.
        let namespaces = (one.key.namespace.as_deref(), own.namespace.as_deref());
        is_kind && (self.of != "Pod" || may_be_one(namespaces.0, namespaces.1))
    }
}

/// Whether a selector matches labels: a mapping of labels, or one with `matchLabels` and `matchExpressions`.
pub(super) fn matches(selector: NodeRef<'_>, labels: Option<NodeRef<'_>>) -> bool {
    let label = |name: &str| text(labels?.get(name));
    let by_labels = selector.get("matchLabels");
    let by_expressions = selector.get("matchExpressions");
    let plain = match (by_labels, by_expressions) {
        (None, None) => Some(selector),
        (by_labels, _) => by_labels,
    };
    let mut all = plain.into_iter().flat_map(|plain| plain.entries());
    let mut expressions = by_expressions.into_iter().flat_map(|list| list.items());
    all.all(|entry| label(entry.key.field_name()) == text(Some(entry.value)))
        && expressions.all(|expression| {
            let found = text(expression.get("key")).and_then(label);
            let values = || {
                let values = given(expression.get("values")).into_iter();
                values.flat_map(|list| list.items())
            };
            let has = || values().any(|value| value.resolved().scalar_text() == found);
            match text(expression.get("operator")) {
                Some("In") => found.is_some() && has(),
                Some("NotIn") => found.is_none() || !has(),
                Some("Exists") => found.is_some(),
                Some("DoesNotExist") => found.is_none(),
                _ => true,
            }
        })
}
