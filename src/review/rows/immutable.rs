//! Fields that an API server refuses to change. `tests/review_api_server.py` checks each with a real API server.

use crate::review::row::FieldChange;
use crate::review::walk::text;
use crate::yaml::{NodeRef, Value};

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
    change.object_remains && text(before) == Some("true")
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
    let items = list.into_iter().flat_map(|list| list.items());
    let fields = items.map(|item| {
        let others = item.resolved().entries();
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
