//! Selectors that no longer select anything in their package.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::change::ResourceChange;
use super::find::each;
use super::references::path_below;
use super::row::{pod_path, segments};
use super::table::section;
use super::units::{ClusterObject, Objects, may_be_one, object_key};
use super::walk::{given, text};
use super::{ReviewFinding, Risk};
use krm_core::resource_key::ResourceKey;
use krm_core::results::{Marks, Reason};
use krm_yaml::NodeRef;

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
    key: ResourceKey,
    labels: Option<NodeRef<'l>>,
    is_workload: bool,
    node: NodeRef<'l>,
}

fn labelled<'l>(unit: &ClusterObject<'l>) -> Option<Labelled<'l>> {
    let key = object_key(unit.resource)?;
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
        let key = pair.unit().and_then(|unit| object_key(unit.resource));
        key.is_some_and(|key| is_of_interest(&key.group_kind()))
    };
    if !pairs.iter().any(changes) {
        return;
    }
    let [old, new] = [before, after].map(|objects| objects.of_kinds(is_of_interest));
    let [old_labels, new_labels] =
        [&old, &new].map(|units| units.iter().filter_map(labelled).collect::<Vec<_>>());
    let indexes = [&old_labels, &new_labels].map(|all| LabelIndex::of(all));
    let mut of_old: HashMap<ResourceKey, &ClusterObject<'_>> = HashMap::new();
    for unit in &old {
        if let Some(key) = object_key(unit.resource) {
            of_old.entry(key).or_insert(unit);
        }
    }
    for unit in &new {
        let Some(key) = object_key(unit.resource) else {
            continue;
        };
        let kind = key.group_kind();
        for selector in SELECTORS.iter().filter(|selector| selector.kind == kind) {
            let Some(was) = of_old.get(&key).copied() else {
                continue;
            };
            let path = segments(selector.path, &kind).unwrap_or_default();
            let mut nodes = [None, None];
            for (unit, node) in [was, unit].into_iter().zip(&mut nodes) {
                each(unit.node, &path, &mut |found| *node = Some(found));
            }
            let [Some(old_node), Some(node)] = nodes else {
                continue;
            };
            let selected = [(old_node, &indexes[0]), (node, &indexes[1])]
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
                let finding = unit.finding(Risk::Dangerous, Reason::SelectsNothing, message);
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
    let names = |pods: &[&Labelled<'_>]| -> HashSet<String> {
        pods.iter().flat_map(|pod| pod.port_names()).collect()
    };
    let names = std::cell::LazyCell::new(|| [names(before), names(after)]);
    let path = segments("spec.ports[].targetPort", "Service").unwrap_or_default();
    each(service.node, &path, &mut |target| {
        let name = text(Some(target)).unwrap_or_default();
        if name.is_empty() || name.bytes().all(|byte| byte.is_ascii_digit()) {
            return;
        }
        if names[0].contains(name) && !after.is_empty() && !names[1].contains(name) {
            let message =
                format!("the pods of the Service no longer have a port with the name {name}");
            let finding = service.finding(Risk::Dangerous, Reason::DanglingReference, message);
            found.push(finding.at(path_below(target, service.node)));
        }
    });
}

impl Labelled<'_> {
    /// The names of the ports of the pods' containers.
    fn port_names(&self) -> Vec<String> {
        let path = segments("{pod}.{containers}[].ports[].name", &self.key.group_kind());
        let mut names = Vec::new();
        each(self.node, &path.unwrap_or_default(), &mut |port| {
            names.extend(text(Some(port)).map(str::to_owned));
        });
        names
    }
}

/// Resources by their labels, so that a selector is compared with few of them.
struct LabelIndex<'s, 'l> {
    all: &'s [Labelled<'l>],
    /// The positions of the resources that have a label with a value.
    with: HashMap<(&'l str, &'l str), Vec<usize>>,
}

impl<'s, 'l> LabelIndex<'s, 'l> {
    fn of(all: &'s [Labelled<'l>]) -> Self {
        let mut with: HashMap<_, Vec<usize>> = HashMap::new();
        for (at, one) in all.iter().enumerate() {
            for entry in one.labels.into_iter().flat_map(|labels| labels.entries()) {
                if let Some(value) = text(Some(entry.value.resolved())) {
                    let label = (entry.key.field_name(), value);
                    with.entry(label).or_default().push(at);
                }
            }
        }
        Self { all, with }
    }

    /// The resources that have the rarest of the labels that a selector asks for; all if it asks for none.
    fn candidates(&self, selector: NodeRef<'_>) -> Vec<&'s Labelled<'l>> {
        let labels = plain_labels(selector);
        let labels = labels.into_iter().flat_map(|labels| labels.entries());
        let asked = labels.filter_map(|entry| {
            let value = text(Some(entry.value))?;
            let found = self.with.get(&(entry.key.field_name(), value));
            Some(found.map_or(&[][..], Vec::as_slice))
        });
        match asked.min_by_key(|found| found.len()) {
            Some(rarest) => rarest.iter().map(|at| &self.all[*at]).collect(),
            None => self.all.iter().collect(),
        }
    }
}

/// The labels that a selector asks for.
fn plain_labels(selector: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let by_labels = selector.get("matchLabels");
    match (by_labels, selector.get("matchExpressions")) {
        (None, None) => Some(selector),
        (by_labels, _) => by_labels,
    }
}

impl LabelSelection {
    /// The resources that a selector of an object matches.
    fn selected<'s, 'l>(
        &self,
        own: &ResourceKey,
        selector: NodeRef<'_>,
        all: &LabelIndex<'s, 'l>,
    ) -> Vec<&'s Labelled<'l>> {
        let mut selected = all.candidates(selector);
        selected.retain(|one| self.may_select(one, own) && matches(selector, one.labels));
        selected
    }

    fn may_select(&self, one: &Labelled<'_>, own: &ResourceKey) -> bool {
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
    let by_expressions = selector.get("matchExpressions");
    let mut all = plain_labels(selector)
        .into_iter()
        .flat_map(|plain| plain.entries());
    let mut expressions = by_expressions.into_iter().flat_map(|list| list.items());
    all.all(|entry| label(entry.key.field_name()) == text(Some(entry.value)))
        && expressions.all(|expression| {
            let found = text(expression.get("key")).and_then(label);
            let values = || {
                let values = given(expression.get("values")).into_iter();
                values.flat_map(|list| list.items())
            };
            let has = || values().any(|value| value.resolved().value_text() == found);
            match text(expression.get("operator")) {
                Some("In") => found.is_some() && has(),
                Some("NotIn") => found.is_none() || !has(),
                Some("Exists") => found.is_some(),
                Some("DoesNotExist") => found.is_none(),
                _ => true,
            }
        })
}
