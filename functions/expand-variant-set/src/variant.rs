//! Creates new PackageVariants, and edits existing ones.

use std::collections::{HashMap, HashSet};

use super::check::ALLOW_EMPTY_ANNOTATION;
use super::fleet::OWNER_LABEL;
use krm_core::config::PACKAGE_VARIANT;
use krm_core::kptfile::set_metadata;
use krm_core::results::{Mark, ResultValue};
use krm_variant::fan_out::Set;
use krm_variant::naming::label_value;
use krm_variant::package_variant_set::{API_VERSION, KIND};
use krm_yaml::{Content, EditError, Editor, NodeRef, Path, Value};

pub(super) fn new_resource(set: &Set, name: &str, spec: Value) -> Value {
    let owner_label = label_value(set.uid.as_deref().unwrap_or(&set.name));
    let labels = vec![Value::entry(OWNER_LABEL, owner_label)];
    let mut metadata = Vec::with_capacity(5);
    metadata.push(Value::entry("name", name));
    let namespace = set.namespace.as_deref();
    metadata.extend(namespace.map(|namespace| Value::entry("namespace", namespace)));
    metadata.push(Value::entry("labels", Value::Mapping(labels)));
    let annotations =
        for_variants(set).map(|(name, value)| Value::entry(name.as_str(), value.as_str()));
    let annotations: Vec<_> = annotations.collect();
    if !annotations.is_empty() {
        metadata.push(Value::entry("annotations", Value::Mapping(annotations)));
    }
    // API servers refuse an owner reference without a uid.
    if let Some(uid) = &set.uid {
        let reference = vec![
            Value::entry("apiVersion", API_VERSION),
            Value::entry("kind", KIND),
            Value::entry("name", set.name.as_str()),
            Value::entry("uid", uid.as_str()),
            Value::entry("controller", Value::from(true)),
        ];
        let references = Value::Sequence(vec![Value::Mapping(reference)]);
        metadata.push(Value::entry("ownerReferences", references));
    }
    Value::Mapping(vec![
        Value::entry("apiVersion", PACKAGE_VARIANT.0),
        Value::entry("kind", PACKAGE_VARIANT.1),
        Value::entry("metadata", Value::Mapping(metadata)),
        Value::entry("spec", spec),
    ])
}

/// The annotations of the set that the variant lacks or has with another value.
pub(super) fn annotations_due<'s>(
    variant: NodeRef<'_>,
    set: &'s Set,
) -> impl Iterator<Item = &'s (String, String)> {
    let annotations = variant.get_path(&["metadata", "annotations"]);
    for_variants(set).filter(move |(name, value)| {
        let old = annotations.and_then(|annotations| annotations.get(name));
        old.and_then(|old| old.scalar_text()) != Some(value)
    })
}

/// The annotations that variants get from their set: all but the one that is about the set itself.
fn for_variants(set: &Set) -> impl Iterator<Item = &(String, String)> {
    set.annotations
        .iter()
        .filter(|(name, _)| name != ALLOW_EMPTY_ANNOTATION)
}

/// A changed field.
pub(super) struct SpecChange {
    pub(super) path: Path,
    /// The old value; `None` for a new field.
    pub(super) current: Option<Value>,
    /// The new value; `None` for a removed field.
    pub(super) proposed: Option<Value>,
}

impl SpecChange {
    /// The change as the message of a result.
    pub(super) fn message(&self) -> String {
        let json = |value: &Value| ResultValue::of(Mark::default(), value).to_json();
        match (&self.current, &self.proposed) {
            (Some(current), Some(proposed)) => {
                format!("updated: `{}` becomes `{}`", json(current), json(proposed))
            }
            (Some(current), None) => format!("updated: removed `{}`", json(current)),
            (None, Some(proposed)) => format!("updated: added `{}`", json(proposed)),
            (None, None) => "updated".to_owned(),
        }
    }
}

/// Updates the annotations and `spec` of a PackageVariant, and returns the changes.
pub(super) fn update<'d>(
    resource: NodeRef<'d>,
    set: &Set,
    spec: &Value,
    editor: &mut Editor<'d, '_>,
) -> Result<Vec<SpecChange>, EditError> {
    let mut changes = Vec::new();
    annotate(resource, set, editor, &mut changes)?;
    let path = Path::fields(&["spec"]);
    match resource.entry("spec") {
        Some(old) => update_value(old.value, spec, &path, editor, &mut changes)?,
        None => {
            editor.set(resource, "spec", Content::Value(spec.clone()))?;
            changes.push(SpecChange {
                path,
                current: None,
                proposed: Some(spec.clone()),
            });
        }
    }
    Ok(changes)
}

fn annotate<'d>(
    resource: NodeRef<'d>,
    set: &Set,
    editor: &mut Editor<'d, '_>,
    changes: &mut Vec<SpecChange>,
) -> Result<(), EditError> {
    let path = Path::fields(&["metadata", "annotations"]);
    let old = resource.get_path(&["metadata", "annotations"]);
    let mut due = Vec::new();
    for (name, value) in annotations_due(resource, set) {
        changes.push(SpecChange {
            path: path.field(name),
            current: old.and_then(|old| old.get(name)?.value()),
            proposed: Some(Value::from(value.as_str())),
        });
        due.push((name.as_str(), value.as_str()));
    }
    set_metadata(resource, "annotations", &due, editor)
}

/// Edits only what differs, so that the rest keeps its format and comments.
fn update_value<'d>(
    old: NodeRef<'d>,
    new: &Value,
    path: &Path,
    editor: &mut Editor<'d, '_>,
    changes: &mut Vec<SpecChange>,
) -> Result<(), EditError> {
    let current = old.value();
    if current.as_ref() == Some(new) {
        return Ok(());
    }
    match new {
        Value::Mapping(fields) if old.kind().is_mapping() => {
            update_fields(old, fields, path, editor, changes)
        }
        Value::Sequence(elements) if old.kind().is_sequence() => {
            update_elements(old, elements, path, editor, changes)
        }
        other => {
            changes.push(SpecChange {
                path: path.clone(),
                current,
                proposed: Some(other.clone()),
            });
            editor.replace(old, Content::Value(other.clone()))
        }
    }
}

fn update_fields<'d>(
    old: NodeRef<'d>,
    fields: &[(Value, Value)],
    path: &Path,
    editor: &mut Editor<'d, '_>,
    changes: &mut Vec<SpecChange>,
) -> Result<(), EditError> {
    let names: HashSet<&str> = fields.iter().filter_map(|(key, _)| key.as_str()).collect();
    let mut there: HashMap<&str, NodeRef<'d>> = HashMap::new();
    for entry in old.entries() {
        let key = entry.key.key_text().unwrap_or_default();
        if names.contains(key) {
            there.entry(key).or_insert(entry.value);
            continue;
        }
        changes.push(SpecChange {
            path: path.field(key),
            current: entry.value.value(),
            proposed: None,
        });
        editor.remove_entry(old, key);
    }
    for (key, value) in fields {
        let key = key.as_str().unwrap_or_default();
        let path = path.field(key);
        if let Some(old) = there.get(key) {
            update_value(*old, value, &path, editor, changes)?;
            continue;
        }
        changes.push(SpecChange {
            path,
            current: None,
            proposed: Some(value.clone()),
        });
        editor.insert_entry(old, None, key, Content::Value(value.clone()))?;
    }
    Ok(())
}

fn update_elements<'d>(
    old: NodeRef<'d>,
    elements: &[Value],
    path: &Path,
    editor: &mut Editor<'d, '_>,
    changes: &mut Vec<SpecChange>,
) -> Result<(), EditError> {
    let mut count = 0;
    for (index, item) in old.items().enumerate() {
        count += 1;
        match elements.get(index) {
            Some(element) => update_value(item, element, &path.index(index), editor, changes)?,
            None => changes.push(SpecChange {
                path: path.index(index),
                current: item.value(),
                proposed: None,
            }),
        }
    }
    if count > elements.len() {
        editor.remove_parts(old, |index| index >= elements.len());
    }
    for (index, element) in elements.iter().enumerate().skip(count) {
        changes.push(SpecChange {
            path: path.index(index),
            current: None,
            proposed: Some(element.clone()),
        });
        editor.insert_item(old, None, Content::Value(element.clone()))?;
    }
    Ok(())
}
