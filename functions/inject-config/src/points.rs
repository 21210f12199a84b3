//! Finds the injection points of a package.

use std::collections::HashMap;

use super::CONFIG_INJECTION_ANNOTATION;
use krm_core::kptfile::is_package_context;
use krm_core::resource::{Resource, namespace_of};
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Reason, with_article};
use krm_yaml::{EntryRef, NodeRef, Path};

/// A resource of the package that is an injection point.
pub(super) struct Point {
    pub(super) id: ItemId,
    pub(super) resource: Resource,
    pub(super) required: bool,
    /// `config.injection.<kind>.<name>`
    pub(super) condition: String,
}

/// The field that is injected into resources of this kind.
pub(super) fn field_of(resource: &Resource) -> &'static str {
    if resource.kind.as_ref() == "ConfigMap" && resource.group().is_empty() {
        "data"
    } else {
        "spec"
    }
}

/// The entry of the field in a resource to be injected; `None` if it is absent or null.
pub(super) fn source_entry<'a>(node: NodeRef<'a>, field: &str) -> Option<EntryRef<'a>> {
    node.resolved()
        .entry(field)
        .filter(|entry| !entry.value.is_null())
}

/// The injection points in the order of the items. Errors are added to the findings.
pub(super) fn points(list: &ResourceList, findings: &mut Vec<FunctionResult>) -> Vec<Point> {
    let path = ["metadata", "annotations", CONFIG_INJECTION_ANNOTATION];
    let mut points = Vec::new();
    for (id, resource) in list.items_that_may_contain(&["config-injection"]) {
        let Some(value) = list.node(id).get_path(&path) else {
            continue;
        };
        let required = match value.scalar_text() {
            Some("required") => true,
            Some("optional") => false,
            other => {
                let found =
                    other.map_or_else(|| with_article(value.kind_name()), |t| format!("`{t}`"));
                let message = format!("expected `required` or `optional`, found {found}");
                let result = FunctionResult::error(Reason::InvalidValue, message);
                let result = result.with_resource(resource);
                findings.push(result.with_field(Path::fields(&path)));
                false
            }
        };
        if is_package_context(resource) {
            let message = "expected no injection point, found one: an injection would replace the \
                           package's `name` and all other keys of its context";
            let result = FunctionResult::error(Reason::InvalidValue, message);
            let result = result.with_resource(resource);
            findings.push(result.with_field(Path::fields(&path)));
        }
        let mut missing = |field: Path, what: &str| {
            let message = format!("expected {what} of the injection point, found none");
            let result = FunctionResult::error(Reason::InvalidValue, message);
            findings.push(result.with_resource(resource).with_field(field));
        };
        if resource.api_version.is_empty() {
            missing(Path::fields(&["apiVersion"]), "the apiVersion");
        }
        if resource.kind.is_empty() {
            missing(Path::fields(&["kind"]), "the kind");
        }
        let name = resource.name.as_deref().filter(|name| !name.is_empty());
        if name.is_none() {
            missing(Path::fields(&["metadata", "name"]), "the name");
        }
        points.push(Point {
            id,
            resource: resource.clone(),
            required,
            condition: format!(
                "config.injection.{}.{}",
                resource.kind,
                name.unwrap_or_default()
            ),
        });
    }
    points
}

/// Errors for points that would share a condition.
pub(super) fn ambiguous_conditions(points: &[Point]) -> Vec<FunctionResult> {
    let mut first: HashMap<&str, &Point> = HashMap::new();
    let mut findings = Vec::new();
    for point in points.iter().filter(|point| point.resource.name.is_some()) {
        let other = *first.entry(&point.condition).or_insert(point);
        if other.id != point.id {
            let message = format!(
                "expected one injection point for the condition `{}`, found another in {}; rename one of them",
                point.condition,
                place_of(&other.resource)
            );
            let result = FunctionResult::error(Reason::AmbiguousCondition, message);
            let result = result.with_resource(&point.resource);
            findings.push(result.with_field("metadata.name"));
        }
    }
    findings
}

/// The place of a point, which distinguishes it from others of its kind and name in messages.
fn place_of(resource: &Resource) -> String {
    let namespace = namespace_of(resource.namespace.as_deref());
    let api_version = &resource.api_version;
    let place = format!("namespace `{namespace}`, apiVersion `{api_version}`");
    match &resource.origin.path {
        Some(path) => format!("`{path}` ({place})"),
        None => place,
    }
}
