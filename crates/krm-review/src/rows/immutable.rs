//! Fields that an API server refuses to change. `tests/review_api_server.py` checks each with a real API server.

use std::collections::BTreeMap;

use crate::row::FieldChange;
use crate::selectors::matches;
use crate::walk::{is_true, items, text};
use krm_yaml::{NodeRef, Value};

/// `completions` is immutable, except in an indexed Job in which it equals `parallelism` after the change.
pub(super) fn changes_completions(change: &FieldChange<'_, '_>) -> bool {
    let [_, parallelism] = change.of_root(&["spec", "parallelism"]);
    let [_, mode] = change.of_root(&["spec", "completionMode"]);
    let is_elastic = text(mode) == Some("Indexed") && text(parallelism) == text(change.after());
    change.object_remains && !is_elastic
}

/// If the field is left out, the server keeps the address that it allocated.
pub(super) fn changes_address(change: &FieldChange<'_, '_>) -> bool {
    let types = change.of_root(&["spec", "type"]);
    let is_name = types.iter().any(|kind| text(*kind) == Some("ExternalName"));
    let is_set = text(change.after()).is_some_and(|address| !address.is_empty());
    change.object_remains && is_set && !is_name
}

/// The families of a Service's addresses: only the second can come and go.
pub(super) fn changes_family(change: &FieldChange<'_, '_>) -> bool {
    let types = change.of_root(&["spec", "type"]);
    let is_name = types.iter().any(|kind| text(*kind) == Some("ExternalName"));
    let first = |list: NodeRef<'_>| list.items().next().and_then(|family| family.value());
    let both = change.both();
    let differs = both.is_some_and(|(before, after)| first(before) != first(after));
    change.object_remains && differs && !is_name
}

/// If the field is left out, the server keeps the port that it allocated.
pub(super) fn changes_health_port(change: &FieldChange<'_, '_>) -> bool {
    let policies = change.of_root(&["spec", "externalTrafficPolicy"]);
    let is_local = policies.iter().all(|policy| text(*policy) == Some("Local"));
    is_local && change.after().is_some() && changes_balancer(change)
}

/// A field that cannot change while a Service stays a load balancer.
pub(super) fn changes_balancer(change: &FieldChange<'_, '_>) -> bool {
    let types = change.of_root(&["spec", "type"]);
    let stays = types.iter().all(|kind| text(*kind) == Some("LoadBalancer"));
    change.object_remains && stays
}

/// A headless Service keeps its `clusterIP: None`, which only internal Services may have.
pub(super) fn exposes_headless(change: &FieldChange<'_, '_>) -> bool {
    let [address, _] = change.of_root(&["spec", "clusterIP"]);
    let is_exposed = matches!(text(change.after()), Some("LoadBalancer" | "NodePort"));
    change.object_remains && is_exposed && text(address) == Some("None")
}

/// A network can be added to the only one, not replaced or removed.
pub(super) fn changes_ranges(change: &FieldChange<'_, '_>) -> bool {
    let ranges = |list: Option<NodeRef<'_>>| -> Vec<_> {
        items(list).filter_map(|range| range.value()).collect()
    };
    let [before, after] = [change.before(), change.after()].map(ranges);
    change.object_remains && !(before.len() == 1 && after.starts_with(&before))
}

/// The server also refuses a new workload of which this is true.
pub(super) fn leaves_selector(change: &FieldChange<'_, '_>) -> bool {
    let [_, selector] = change.of_root(&["spec", "selector"]);
    selector.is_some_and(|selector| !matches(selector, change.after()))
}

pub(super) fn changes_templates(change: &FieldChange<'_, '_>) -> bool {
    let templates = |list| -> Vec<_> { items(list).map(claim).collect() };
    let [before, after] = [change.before(), change.after()].map(templates);
    change.object_remains && before != after
}

/// The scalars of a claim template as the server compares them: without version and kind, with the default of
/// `volumeMode`, and with quantities as numbers.
fn claim(template: NodeRef<'_>) -> BTreeMap<String, String> {
    fn add(node: NodeRef<'_>, path: &str, found: &mut BTreeMap<String, String>) {
        for entry in node.entries() {
            let path = format!("{path}.{}", entry.key.field_name());
            add(entry.value.resolved(), &path, found);
        }
        for (index, item) in node.items().enumerate() {
            add(item.resolved(), &format!("{path}[{index}]"), found);
        }
        if let Some(text) = text(Some(node)) {
            let number = quantity(text).filter(|_| path.starts_with(".spec.resources."));
            let value = number.map_or_else(|| text.to_owned(), |number| number.to_string());
            found.insert(path.to_owned(), value);
        }
    }
    let mut found = BTreeMap::from([(".spec.volumeMode".to_owned(), "Filesystem".to_owned())]);
    add(template.resolved(), "", &mut found);
    found.retain(|path, _| path != ".apiVersion" && path != ".kind");
    found
}

/// A claim can get another `volumeAttributesClassName`. Its `resources` have separate rules.
pub(super) fn changes_claim(change: &FieldChange<'_, '_>) -> bool {
    let (before, after) = (text(change.before()), text(change.after()));
    let is_mutable = match change.last_field() {
        "volumeAttributesClassName" | "resources" => true,
        // The server sets these fields if they are left out, so removing them changes nothing.
        "volumeName" | "storageClassName" => change.after().is_none(),
        "volumeMode" => {
            [before, after].contains(&Some("Filesystem")) && [before, after].contains(&None)
        }
        _ => false,
    };
    change.object_remains && !is_mutable
}

/// The size of a claim before and after. `None` if the claim does not remain.
fn sizes(change: &FieldChange<'_, '_>) -> Option<[Option<f64>; 2]> {
    let size =
        |node: Option<NodeRef<'_>>| quantity(text(node?.get_path(&["requests", "storage"]))?);
    change
        .object_remains
        .then(|| [change.before(), change.after()].map(size))
}

pub(super) fn drops_size(change: &FieldChange<'_, '_>) -> bool {
    matches!(sizes(change), Some([_, None]))
}

pub(super) fn shrinks(change: &FieldChange<'_, '_>) -> bool {
    matches!(sizes(change), Some([Some(before), Some(after)]) if after < before)
}

/// Whether a number or a quantity gets lower, but not 0.
pub(super) fn lowers(change: &FieldChange<'_, '_>) -> bool {
    let [before, after] = [change.before(), change.after()].map(|node| quantity(text(node)?));
    let is_lower = before.zip(after).is_some_and(|(was, is)| is < was);
    is_lower && after != Some(0.0)
}

/// Only these fields of a volume can change, not for example its source.
pub(super) fn changes_volume(change: &FieldChange<'_, '_>) -> bool {
    const MUTABLE: [&str; 7] = [
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
    ];
    change.object_remains && !MUTABLE.contains(&change.last_field())
}

pub(super) fn changes_frozen(change: &FieldChange<'_, '_>) -> bool {
    let [before, _] = change.of_root(&["immutable"]);
    change.object_remains && is_true(before)
}

/// Of a running pod, only the images and the deadline can change; it can get tolerations and lose scheduling gates.
pub(super) fn changes_pod(change: &FieldChange<'_, '_>) -> bool {
    let without = |key: &str| [change.before(), change.after()].map(|list| without(list, key));
    let is_mutable = match change.last_field() {
        "activeDeadlineSeconds" => true,
        "containers" | "initContainers" => {
            let [before, after] = without("image");
            before == after
        }
        "tolerations" => {
            let [before, after] = without("tolerationSeconds");
            before.iter().all(|toleration| after.contains(toleration))
        }
        "schedulingGates" => {
            let [before, after] = without("");
            after.iter().all(|gate| before.contains(gate))
        }
        _ => false,
    };
    change.object_remains && !is_mutable
}

/// The fields of each element of a list, without one of them.
fn without<'n>(list: Option<NodeRef<'n>>, key: &str) -> Vec<Vec<(&'n str, Option<Value>)>> {
    let fields = items(list).map(|item| {
        let others = item.entries();
        let others = others.filter(|entry| entry.key.as_str() != Some(key));
        others
            .map(|entry| (entry.key.field_name(), entry.value.value()))
            .collect()
    });
    fields.collect()
}

/// A quantity as a number: `10Gi`, `500m`, `1e3`.
fn quantity(text: &str) -> Option<f64> {
    const SUFFIXES: [(&str, f64); 13] = [
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("Pi", 1_125_899_906_842_624.0),
        ("Ei", 1_152_921_504_606_846_976.0),
        ("m", 0.001),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("P", 1e15),
        ("E", 1e18),
    ];
    let suffix = SUFFIXES.iter().find(|(suffix, _)| text.ends_with(suffix));
    let (suffix, factor) = suffix.unwrap_or(&("", 1.0));
    let number: f64 = text.strip_suffix(suffix)?.parse().ok()?;
    Some(number * factor)
}

#[cfg(test)]
mod tests {
    use super::quantity;

    #[test]
    fn quantities_are_numbers() {
        for (small, large) in [("10Gi", "11G"), ("900m", "1"), ("1e3", "2k"), ("1G", "1Gi")] {
            assert!(quantity(small) < quantity(large), "{small} {large}");
        }
        assert_eq!(quantity("much"), None);
    }
}
