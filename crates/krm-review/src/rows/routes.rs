//! What an Ingress routes to where.

use std::collections::BTreeMap;

use crate::row::FieldChange;
use crate::walk::{items, text};
use krm_yaml::NodeRef;

/// All values in a backend, sorted. `v1beta1` has the same values as `v1`, in other fields.
fn values(backend: NodeRef<'_>) -> Vec<String> {
    let below = backend.entries().map(|entry| entry.value.resolved());
    let mut values: Vec<String> = below.flat_map(values).collect();
    values.extend(text(Some(backend)).map(str::to_owned));
    values.sort();
    values
}

/// The backends by host and path.
fn routes(rules: Option<NodeRef<'_>>) -> BTreeMap<String, Vec<String>> {
    let mut routes = BTreeMap::new();
    for rule in items(rules) {
        let host = text(rule.get("host")).unwrap_or("*");
        for path in items(rule.get_path(&["http", "paths"])) {
            let name = format!("{host}{}", text(path.get("path")).unwrap_or("/"));
            let backend = path.get("backend").map(values).unwrap_or_default();
            routes.insert(name, backend);
        }
    }
    routes
}

/// The routes of which something is true, and what is said of them.
fn of(
    change: &FieldChange<'_, '_>,
    message: &str,
    is: fn(&Vec<String>, Option<&Vec<String>>) -> bool,
) -> Option<String> {
    let after = routes(change.after());
    let before = routes(change.before()).into_iter();
    let found = before.filter(|(name, backend)| is(backend, after.get(name)));
    let found: Vec<String> = found.map(|(name, _)| name).collect();
    let is_found = change.object_remains && !found.is_empty();
    is_found.then(|| format!("{message}: {}", found.join(", ")))
}

pub(super) fn loses_routes(change: &FieldChange<'_, '_>) -> Option<String> {
    of(change, "the Ingress no longer has the route", |_, after| {
        after.is_none()
    })
}

pub(super) fn redirects_routes(change: &FieldChange<'_, '_>) -> Option<String> {
    of(
        change,
        "the route leads to another backend",
        |before, after| after.is_some_and(|after| after != before),
    )
}
