//! Objects that an API server refuses because of their size.
//!
//! Source: `MaxSecretSize` (1 MiB, for ConfigMaps too) and `TotalAnnotationSizeLimitB` (256 KiB) of Kubernetes'
//! validation, and etcd's `--max-request-bytes` (1.5 MiB).

use super::walk::text;
use super::{ReviewFinding, Risk};
use krm_core::resource::Resource;
use krm_core::results::Reason;
use krm_yaml::{NodeRef, Path, Value};

/// A size with its limit.
struct SizeLimit {
    /// The field that is measured; empty for the whole object.
    path: &'static [&'static str],
    what: &'static str,
    most: usize,
    measure: fn(NodeRef<'_>) -> usize,
}

const ANNOTATIONS: SizeLimit = SizeLimit {
    path: &["metadata", "annotations"],
    what: "the annotations have",
    most: 262_144,
    measure: |node| entries(node.get_path(ANNOTATIONS.path), true),
};
const DATA: SizeLimit = SizeLimit {
    path: &["data"],
    what: "the data has",
    most: 1_048_576,
    measure: |node| {
        let fields = ["data", "stringData", "binaryData"].into_iter();
        fields.map(|field| entries(node.get(field), false)).sum()
    },
};
const OBJECT: SizeLimit = SizeLimit {
    path: &[],
    what: "the object has",
    most: 1_572_864,
    measure: length_as_json,
};

/// The bytes of a value as JSON, without the escapes in its strings.
fn length_as_json(node: NodeRef<'_>) -> usize {
    let node = node.resolved();
    let has_own_keys = node
        .entries()
        .all(|entry| entry.key.scalar_text() != Some("<<"));
    if node.kind().is_mapping() && has_own_keys {
        let entries = node.entries();
        let entries = entries.map(|entry| {
            entry.key.field_name().len() + r#""":,"#.len() + length_as_json(entry.value)
        });
        return entries.sum::<usize>() + 1;
    }
    if node.kind().is_sequence() {
        return node
            .items()
            .map(|item| length_as_json(item) + 1)
            .sum::<usize>()
            + 1;
    }
    match node.as_str() {
        Some(text) => text.len() + 2,
        None => node.value().map_or(0, |value| length_of_value(&value)),
    }
}

/// The same for a value that merge keys are part of.
fn length_of_value(value: &Value) -> usize {
    match value {
        Value::Mapping(entries) => {
            let parts = entries.iter();
            let parts = parts.map(|(key, value)| {
                key.plain_text().len() + r#""":,"#.len() + length_of_value(value)
            });
            parts.sum::<usize>() + 1
        }
        Value::Sequence(items) => {
            let items = items.iter();
            items.map(|item| length_of_value(item) + 1).sum::<usize>() + 1
        }
        Value::String(text) => text.len() + 2,
        other => other.plain_text().len(),
    }
}

/// The bytes of the values of a mapping, perhaps with the keys.
fn entries(map: Option<NodeRef<'_>>, with_keys: bool) -> usize {
    let entries = map.into_iter().flat_map(|map| map.entries());
    let sizes = entries.map(|entry| {
        let key = entry.key.field_name().len();
        let value = text(Some(entry.value.resolved())).map_or(0, str::len);
        if with_keys { key + value } else { value }
    });
    sizes.sum()
}

/// A finding if an object becomes too large.
pub(super) fn too_large(
    resource: &Resource,
    before: Option<NodeRef<'_>>,
    after: NodeRef<'_>,
) -> Option<ReviewFinding> {
    // Most objects are small, and are not measured.
    if after.source().len() < ANNOTATIONS.most / 2 {
        return None;
    }
    let has_data = resource.group().is_empty() && matches!(&*resource.kind, "ConfigMap" | "Secret");
    let limits = [ANNOTATIONS, DATA, OBJECT].into_iter();
    let mut limits = limits.filter(|limit| has_data || limit.path != DATA.path);
    limits.find_map(|limit| {
        let found = (limit.measure)(after);
        let is_above = |node: NodeRef<'_>| (limit.measure)(node) > limit.most;
        if found <= limit.most || before.is_some_and(is_above) {
            return None;
        }
        let (what, most) = (limit.what, limit.most);
        let message = format!("{what} {found} bytes, and an API server accepts at most {most}");
        let finding = ReviewFinding::new(Risk::Blocking, Reason::ObjectTooLarge, resource, message);
        Some(match limit.path {
            [] => finding,
            path => finding.at(Path::fields(path)),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::OwnedDocument;

    #[test]
    fn an_object_is_measured_as_json() {
        for text in [
            "a: {b: [1, true, null, '2', \"\\u00e9\"], c: }\nd: |\n  e\n  f\n53: 0644\n",
            "a: &a {b: [1, x]}\nc: *a\nd:\n  <<: *a\n  e: yes\nf: [*a, {<<: *a}]\n",
            "[]\n",
        ] {
            let document = OwnedDocument::parse_resource(text.to_owned()).expect("YAML");
            let root = document.root().expect("a root");
            let value = root.value().expect("a value");
            assert_eq!(length_as_json(root), length_of_value(&value), "{text}");
        }
    }
}
