//! What kpt and other tools write on resources. It does not count when resources are compared.
//!
//! Source: contract, merge-package, Identity and Kptfile.

use krm_core::kptfile::without_bookkeeping;
use krm_core::resource::is_pipeline_annotation;
use krm_core::upstream_identifier::UPSTREAM_IDENTIFIER;
use krm_yaml::Value;

/// Removes the annotations and the bookkeeping of tools.
pub(crate) fn without_bookkeeping_of_tools(value: &mut Value, is_kptfile: bool) {
    remove_annotations(value, |key| {
        key == UPSTREAM_IDENTIFIER || is_pipeline_annotation(key)
    });
    if is_kptfile {
        without_bookkeeping(value);
    }
}

/// Removes annotations, and then an empty `annotations`: a tool that added its annotations may have replaced a null.
pub(super) fn remove_annotations(resource: &mut Value, is_removed: impl Fn(&str) -> bool) {
    let Some(metadata) = resource.get_mut("metadata") else {
        return;
    };
    if let Some(Value::Mapping(annotations)) = metadata.get_mut("annotations") {
        annotations.retain(|(key, _)| !key.as_str().is_some_and(&is_removed));
    }
    let empty = |value: &Value| match value {
        Value::Mapping(entries) => entries.is_empty(),
        value => *value == Value::Null,
    };
    if let Value::Mapping(entries) = metadata {
        entries.retain(|(key, value)| !(key.as_str() == Some("annotations") && empty(value)));
    }
}
