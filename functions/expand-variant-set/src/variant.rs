//! Creates new PackageVariants, and edits existing ones.

use std::collections::HashMap;

use super::check::ALLOW_EMPTY_ANNOTATION;
use super::fleet::OWNER_LABEL;
use krm_core::config::PACKAGE_VARIANT;
use krm_core::kptfile::ANNOTATIONS;
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
    let old = resource.entry("spec").map(|entry| entry.value);
    let value = old.and_then(|old| old.value());
    find_changes(
        &Path::fields(&["spec"]),
        value.as_ref(),
        Some(spec),
        &mut changes,
    );
    match old {
        Some(old) => editor.write(old, &spec).map(drop)?,
        None => editor.set(resource, "spec", Content::Value(spec.clone()))?,
    }
    Ok(changes)
}

fn annotate<'d>(
    resource: NodeRef<'d>,
    set: &Set,
    editor: &mut Editor<'d, '_>,
    changes: &mut Vec<SpecChange>,
) -> Result<(), EditError> {
    let path = Path::fields(&ANNOTATIONS);
    let old = resource.get_path(&ANNOTATIONS);
    for (name, value) in annotations_due(resource, set) {
        changes.push(SpecChange {
            path: path.field(name),
            current: old.and_then(|old| old.get(name)?.value()),
            proposed: Some(Value::from(value.as_str())),
        });
    }
    let due = annotations_due(resource, set);
    let due = due.map(|(name, value)| (&**name, Some(&**value)));
    editor.set_fields(resource, &ANNOTATIONS, due)
}

/// Finds the smallest parts of a value that change. Elements of lists are compared by position.
fn find_changes(
    path: &Path,
    old: Option<&Value>,
    new: Option<&Value>,
    changes: &mut Vec<SpecChange>,
) {
    match (old, new) {
        (old, new) if old == new => {}
        (Some(Value::Mapping(old)), Some(Value::Mapping(new))) => {
            let [olds, news] = [old, new].map(|entries| {
                let entries = entries.iter().map(|(key, value)| (key, value));
                entries.collect::<HashMap<_, _>>()
            });
            let removed = old.iter().filter(|(key, _)| !news.contains_key(key));
            for (key, _) in removed.chain(new) {
                let path = path.field(key.as_str().unwrap_or_default());
                let [old, new] = [&olds, &news].map(|entries| entries.get(key).copied());
                find_changes(&path, old, new, changes);
            }
        }
        (Some(Value::Sequence(old)), Some(Value::Sequence(new))) => {
            for at in 0..old.len().max(new.len()) {
                find_changes(&path.index(at), old.get(at), new.get(at), changes);
            }
        }
        (old, new) => changes.push(SpecChange {
            path: path.clone(),
            current: old.cloned(),
            proposed: new.cloned(),
        }),
    }
}
