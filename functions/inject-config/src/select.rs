//! Selects the resource that is injected into the points of an apiVersion and kind.
//!
//! The selection does not depend on the name of a point, so there is one for each apiVersion and kind. Each candidate
//! is read once. Selectors have one of eight shapes, depending on which of group, version and kind they set.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::config::Injectors;
use super::points::{Point, field_of, source_entry};
use krm_core::resource::{Resource, namespace_of};
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Reason};
use krm_core::scope::{DEFINITION, Scopes, is_definition};
use krm_function::supplied::{Supplied, SuppliedPackage};
use krm_yaml::NodeRef;

/// A resource that a selector may select.
#[derive(Debug, Clone, Copy)]
struct InjectionCandidate<'a> {
    list: &'a ResourceList,
    id: ItemId,
    /// The input that it comes from; `None` for the package's own resources.
    package: Option<&'a SuppliedPackage>,
}

impl<'a> InjectionCandidate<'a> {
    fn resource(&self) -> &'a Resource {
        self.list.resource(self.id)
    }

    /// Where it is, for messages.
    fn place(&self) -> String {
        match self.package {
            Some(package) => package.place_of(self.resource()),
            None => {
                let path = self.resource().origin.path.as_deref();
                path.map_or_else(|| "the package".to_owned(), str::to_owned)
            }
        }
    }
}

/// The selection for an apiVersion and kind that has candidates.
#[derive(Debug, Default)]
pub(super) struct Selection<'a> {
    /// The index of the first selector that matches a candidate.
    rank: Option<usize>,
    /// The name of the selected resource.
    pub(super) name: Arc<str>,
    /// The selected resource; several if candidates with the same identity come from different places.
    candidates: Vec<InjectionCandidate<'a>>,
}

impl<'a> Selection<'a> {
    /// Whether a resource was selected.
    pub(super) fn is_found(&self) -> bool {
        !self.candidates.is_empty()
    }

    /// The selected resource; `None` if no selector matched.
    pub(super) fn source(&self) -> Option<NodeRef<'a>> {
        let InjectionCandidate { list, id, .. } = self.candidates.first()?;
        Some(list.node(*id))
    }
}

/// Copies the resources of a package that have the kind of an injection point but are not one.
pub(super) fn copies(list: &ResourceList, points: &[Point]) -> ResourceList {
    let ids: HashSet<ItemId> = points.iter().map(|point| point.id).collect();
    let kinds: HashSet<&str> = points.iter().map(|point| &*point.resource.kind).collect();
    let others = list
        .items()
        .filter(|(id, resource)| kinds.contains(&*resource.kind) && !ids.contains(id));
    let others: Vec<ItemId> = others.map(|(id, _)| id).collect();
    list.copies_of(&others)
}

/// A selector: group, version and kind where it sets them, and the name.
type SelectorShape<'a> = (Option<&'a str>, Option<&'a str>, Option<&'a str>, &'a str);

/// The index of the first selector of each shape.
fn by_shape(injectors: &Injectors) -> HashMap<SelectorShape<'_>, usize> {
    let mut shapes = HashMap::new();
    for (index, injector) in injectors.selectors.iter().enumerate() {
        let [group, version, kind] =
            [&injector.group, &injector.version, &injector.kind].map(Option::as_deref);
        if let Some(name) = injector.name.as_deref() {
            shapes.entry((group, version, kind, name)).or_insert(index);
        }
    }
    shapes
}

/// The index of the first selector that matches a resource of this name.
fn rank(
    shapes: &HashMap<SelectorShape<'_>, usize>,
    resource: &Resource,
    name: &str,
) -> Option<usize> {
    let group = resource.group();
    let version = match resource.api_version.split_once('/') {
        Some((_, version)) => version,
        None => &resource.api_version,
    };
    (0..8_u8)
        .filter_map(|given| {
            let field = |bit: u8, text| (given & bit != 0).then_some(text);
            let shape = (
                field(1, group),
                field(2, version),
                field(4, &*resource.kind),
                name,
            );
            shapes.get(&shape).copied()
        })
        .min()
}

/// The key of the selection for a point.
pub(super) fn key_of(point: &Point) -> (&str, &str) {
    (&point.resource.api_version, &point.resource.kind)
}

/// The selection for each apiVersion and kind.
pub(super) type Selections<'p, 'a> = HashMap<(&'p str, &'p str), Selection<'a>>;

/// Selects a resource for each apiVersion and kind of the points that has candidates, from the package's `own`
/// resources and the supplied ones.
pub(super) fn select<'p, 'a>(
    injectors: &Injectors,
    points: &'p [Point],
    list: &ResourceList,
    own: &'a ResourceList,
    supplied: &'a Supplied,
    findings: &mut Vec<FunctionResult>,
) -> Selections<'p, 'a> {
    if points.is_empty() {
        return HashMap::new();
    }
    let mut scopes = Scopes::default();
    for (id, resource) in list.items().filter(|(_, r)| is_definition(r)) {
        scopes.learn(resource, list.node(id));
    }
    for package in supplied.resources() {
        let list = package.list();
        let ids = package.of_kind(DEFINITION).iter();
        ids.for_each(|id| scopes.learn(list.resource(*id), list.node(*id)));
    }
    let wanted: HashMap<(&str, &str), &'p Point> =
        points.iter().map(|point| (key_of(point), point)).collect();
    let kinds: BTreeSet<&str> = wanted.keys().map(|(_, kind)| *kind).collect();
    let shapes = by_shape(injectors);
    let mut selections = Selections::new();
    let mut offer = |list: &'a ResourceList, id, package| {
        let candidate = InjectionCandidate { list, id, package };
        let resource = list.resource(id);
        let key = (&*resource.api_version, &*resource.kind);
        let (Some(point), Some(name)) = (wanted.get(&key), &resource.name) else {
            return;
        };
        let key = key_of(point);
        let namespace = namespace_of(resource.namespace.as_deref());
        if namespace != injectors.namespace
            && !scopes.is_cluster_scoped(resource.group(), &resource.kind)
        {
            return;
        }
        let selection = selections.entry(key).or_default();
        let Some(rank) = rank(&shapes, resource, name) else {
            return;
        };
        if selection.rank.is_none_or(|best| rank < best) {
            selection.rank = Some(rank);
            selection.name.clone_from(name);
            selection.candidates = vec![candidate];
        } else if selection.rank == Some(rank) {
            selection.candidates.push(candidate);
        }
    };
    for (id, _) in own.items() {
        offer(own, id, None);
    }
    for package in supplied.resources() {
        for id in kinds.iter().flat_map(|kind| package.of_kind(kind)) {
            offer(package.list(), *id, Some(package));
        }
    }
    let mut reported: HashSet<(&str, &str)> = HashSet::new();
    for point in points {
        let key = key_of(point);
        if let Some(selection) = selections.get(&key).filter(|_| reported.insert(key)) {
            findings.extend(differing(selection, field_of(&point.resource)));
        }
    }
    selections
}

/// An error for each candidate with the selected identity whose field differs from the first candidate's field.
fn differing(selection: &Selection<'_>, field: &str) -> Vec<FunctionResult> {
    let Some((first, others)) = selection.candidates.split_first() else {
        return Vec::new();
    };
    let value = source_entry(first.list.node(first.id), field).map(|entry| entry.value);
    let mut findings = Vec::new();
    for candidate in others {
        let node = candidate.list.node(candidate.id);
        let other = source_entry(node, field).map(|entry| entry.value);
        if !NodeRef::same(value, other) {
            let (place, other_place) = (first.place(), candidate.place());
            let message = format!(
                "expected one resource to inject, found two of this identity whose `{field}` differs, \
                 in {place} and in {other_place}"
            );
            let result = FunctionResult::error(Reason::Ambiguous, message);
            let result = result.with_resource(candidate.resource()).with_field(field);
            // The user does not see paths within the input.
            let is_path = |path: &str| other_place.ends_with(path);
            findings.push(match &result.file {
                Some((path, _)) if is_path(path) => result.in_file(other_place),
                _ => result,
            });
        }
    }
    findings
}
