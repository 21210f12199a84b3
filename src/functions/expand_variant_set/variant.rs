//! The text of a PackageVariant: a new one, and what changes in one that is there.

use std::collections::HashSet;

use super::fleet::{OWNER_LABEL, PACKAGE_VARIANT};
use crate::variant::fan_out::Set;
use crate::variant::naming::label_value;
use crate::variant::package_variant_set::{API_VERSION, KIND};
use crate::yaml::{Content, EditError, Editor, NodeRef, Value};

/// A new one.
pub(super) fn resource_value(set: &Set, name: &str, spec: Value) -> Value {
    let entry = |key: &str, value: Value| (Value::from(key), value);
    let owner = set.uid.as_deref().unwrap_or(&set.name);
    let labels = vec![entry(OWNER_LABEL, Value::from(label_value(owner)))];
    let mut metadata = vec![entry("name", Value::from(name))];
    if let Some(namespace) = &set.namespace {
        metadata.push(entry("namespace", Value::from(namespace.as_str())));
    }
    metadata.push(entry("labels", Value::Mapping(labels)));
    // API servers refuse a reference without uid.
    if let Some(uid) = &set.uid {
        let reference = vec![
            entry("apiVersion", Value::from(API_VERSION)),
            entry("kind", Value::from(KIND)),
            entry("name", Value::from(set.name.as_str())),
            entry("uid", Value::from(uid.as_str())),
            entry("controller", Value::from(true)),
        ];
        let references = Value::Sequence(vec![Value::Mapping(reference)]);
        metadata.push(entry("ownerReferences", references));
    }
    Value::Mapping(vec![
        entry("apiVersion", Value::from(PACKAGE_VARIANT.0)),
        entry("kind", Value::from(PACKAGE_VARIANT.1)),
        entry("metadata", Value::Mapping(metadata)),
        entry("spec", spec),
    ])
}

/// Makes `spec` of a PackageVariant what it shall be.
pub(super) fn update<'d>(
    resource: NodeRef<'d>,
    spec: &Value,
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    match resource.entry("spec") {
        Some(old) => assimilate(old.value, spec, editor),
        None => editor.set(resource, "spec", Content::Value(spec.clone())),
    }
}

/// Changes only what differs.
fn assimilate<'d>(
    old: NodeRef<'d>,
    new: &Value,
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    if old.value().as_ref() == Some(new) {
        return Ok(());
    }
    match new {
        Value::Mapping(fields) if old.kind().is_mapping() => {
            let names: HashSet<&str> = fields.iter().filter_map(|(key, _)| key.as_str()).collect();
            for entry in old.entries() {
                let key = entry.key.scalar_text().unwrap_or_default();
                if !names.contains(key) {
                    editor.remove_entry(old, key)?;
                }
            }
            for (key, value) in fields {
                let key = key.as_str().unwrap_or_default();
                match old.entry(key) {
                    Some(entry) => assimilate(entry.value, value, editor)?,
                    None => editor.set(old, key, Content::Value(value.clone()))?,
                }
            }
            Ok(())
        }
        Value::Sequence(elements) if old.kind().is_sequence() => {
            let mut count = 0;
            for (item, element) in old.items().zip(elements) {
                assimilate(item, element, editor)?;
                count += 1;
            }
            if old.items().count() > elements.len() {
                editor.remove_items(old, |index| index >= elements.len())?;
            }
            for element in &elements[count..] {
                editor.insert_item(old, None, Content::Value(element.clone()))?;
            }
            Ok(())
        }
        other => editor.replace(old, Content::Value(other.clone())),
    }
}
