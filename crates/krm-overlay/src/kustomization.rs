//! Reads a kustomization file, and applies its patches to resources.

use std::collections::HashSet;

use super::built::BuiltObject;
use super::patched::PatchedObjects;
use super::selection::PatchSelection;
use super::transformations::Transformations;
use super::{OverlayError, PackageTexts};
use krm_core::schema::Schema;
use krm_patch::kustomize::{merge, operate, with_keys_as_read};
use krm_patch::node::Node;
use krm_yaml::{OwnedDocument, Value};

#[derive(Debug, Clone)]
pub(super) struct Kustomization {
    pub(super) directory: String,
    pub(super) file: String,
    pub(super) value: Value,
}

/// An entry of `patches` or of one of its older forms.
#[derive(Debug, Clone)]
pub(super) struct PatchEntry {
    /// Its file, or its place in the kustomization, for messages.
    pub(super) place: String,
    target: Option<Value>,
    /// The documents of its text.
    pub(super) patches: Vec<Value>,
}

#[derive(Debug, Default)]
pub(super) struct PatchOutcome<'p> {
    /// The number of resources that it was applied to.
    pub(super) hits: usize,
    /// The resources that it changed or removed, as they were before, each with its position.
    pub(super) changed: Vec<(usize, BuiltObject<'p>)>,
}

/// The fields that are evaluated here, or that have no effect on resources.
const KNOWN: [&str; 13] = [
    "apiVersion",
    "kind",
    "metadata",
    "resources",
    "bases",
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "namespace",
    "labels",
    "images",
    "replicas",
    "sortOptions",
];

impl Kustomization {
    fn items(&self, key: &str) -> &[Value] {
        self.value.get(key).map_or(&[], Value::items)
    }

    /// The names of its resources and bases.
    pub(super) fn resources(&self) -> Vec<String> {
        let names = self.items("resources").iter().chain(self.items("bases"));
        names
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect()
    }

    /// Resolves a path relative to the kustomization to a path in the package. `None` for a URL, or a path that leads
    /// out of the package.
    pub(super) fn path_of(&self, name: &str) -> Option<String> {
        if name.contains("://") || name.starts_with('/') || name.contains('?') {
            return None;
        }
        let mut parts: Vec<&str> = self
            .directory
            .split('/')
            .filter(|part| !part.is_empty())
            .collect();
        for part in name.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        Some(parts.join("/"))
    }

    /// The fields that are set but not evaluated here.
    pub(super) fn unknown_fields(&self) -> Vec<String> {
        let is_empty = |value: &Value| match value {
            Value::Null => true,
            Value::Sequence(items) => items.is_empty(),
            Value::Mapping(fields) => fields.is_empty(),
            Value::String(text) => text.is_empty(),
            _ => false,
        };
        let fields = self.value.entries().iter();
        let given = fields.filter(|(_, value)| !is_empty(value));
        let names = given.map(|(key, _)| key.plain_text());
        let mut names: Vec<String> = names.filter(|name| !KNOWN.contains(&&**name)).collect();
        let extended = self.items("labels").iter().any(|label| {
            let is_set = |key: &str| label.get(key) == Some(&Value::Bool(true));
            is_set("includeSelectors")
                || is_set("includeTemplates")
                || label.get("fields").is_some()
        });
        names.extend(extended.then(|| "labels.includeSelectors".to_owned()));
        names
    }

    pub(super) fn refuse_unknown_fields(&self) -> Result<(), OverlayError> {
        match self.unknown_fields().into_iter().next() {
            Some(field) => Err(OverlayError::Unsupported {
                file: self.file.clone(),
                field,
            }),
            None => Ok(()),
        }
    }

    /// Its patches, in the order in which kustomize applies them.
    pub(super) fn patches(&self, texts: &PackageTexts) -> Result<Vec<PatchEntry>, OverlayError> {
        let mut found = Vec::new();
        for (at, entry) in self.items("patchesStrategicMerge").iter().enumerate() {
            let text = entry.as_str().unwrap_or_default();
            let place = format!("{}: patchesStrategicMerge[{at}]", self.file);
            found.push(if text.contains('\n') {
                self.inline(place, text, None)?
            } else {
                self.of_file(text, None, texts)?
            });
        }
        for key in ["patches", "patchesJson6902"] {
            for (at, entry) in self.items(key).iter().enumerate() {
                let place = format!("{}: {key}[{at}]", self.file);
                let target = entry.get("target").cloned();
                let text = |key: &str| entry.get(key).and_then(Value::as_str);
                found.push(match (text("path"), text("patch")) {
                    (Some(path), _) => self.of_file(path, target, texts)?,
                    (None, Some(patch)) => self.inline(place, patch, target)?,
                    (None, None) => {
                        let error = "expected `path` or `patch`, found neither";
                        return Err(OverlayError::patch(place, error));
                    }
                });
            }
        }
        Ok(found)
    }

    fn of_file(
        &self,
        name: &str,
        target: Option<Value>,
        texts: &PackageTexts,
    ) -> Result<PatchEntry, OverlayError> {
        let missing = || OverlayError::missing(&self.file, name);
        let path = self.path_of(name).ok_or_else(missing)?;
        let document = texts.document(&path)?.ok_or_else(missing)?;
        Ok(PatchEntry {
            place: path,
            target,
            patches: values(document),
        })
    }

    fn inline(
        &self,
        place: String,
        text: &str,
        target: Option<Value>,
    ) -> Result<PatchEntry, OverlayError> {
        let parsed = OwnedDocument::parse_resource(text.to_owned());
        let parsed = parsed.map_err(|error| OverlayError::patch(&place, error))?;
        Ok(PatchEntry {
            place,
            target,
            patches: values(&parsed),
        })
    }

    /// Applies the patches and then the other fields to the resources.
    pub(super) fn apply(
        &self,
        objects: &mut Vec<BuiltObject<'_>>,
        texts: &PackageTexts,
        schema: &Schema,
    ) -> Result<(), OverlayError> {
        let mut patched = PatchedObjects::of(std::mem::take(objects));
        for entry in self.patches(texts)? {
            let outcome = entry.apply(&mut patched, schema)?;
            if outcome.hits == 0 {
                let error = "the patch names no resource";
                return Err(OverlayError::patch(entry.place, error));
            }
        }
        *objects = patched.into_objects();
        Transformations::read(&self.value).apply(objects)
    }
}

fn values(document: &OwnedDocument) -> Vec<Value> {
    document
        .roots()
        .map(|root| with_keys_as_read(&Node::Text(root)).to_value())
        .filter(|value| *value != Value::Null)
        .collect()
}

impl PatchEntry {
    /// Applies the patch to the resources that it selects. After an error, the resources are as they were.
    pub(super) fn apply<'p>(
        &self,
        objects: &mut PatchedObjects<'p>,
        schema: &Schema,
    ) -> Result<PatchOutcome<'p>, OverlayError> {
        let mut outcome = PatchOutcome::default();
        match self.apply_documents(objects, schema, &mut outcome) {
            Ok(()) => Ok(outcome),
            Err(error) => {
                for (at, before) in outcome.changed.into_iter().rev() {
                    objects.set(at, Some(before));
                }
                Err(OverlayError::patch(&self.place, error))
            }
        }
    }

    fn apply_documents<'p>(
        &self,
        objects: &mut PatchedObjects<'p>,
        schema: &Schema,
        outcome: &mut PatchOutcome<'p>,
    ) -> Result<(), String> {
        let selection = PatchSelection::read(self.target.as_ref())?;
        // Another document of the patch may change a resource that one removes.
        let mut removed = HashSet::new();
        for patch in &self.patches {
            for at in selection.candidates(objects, patch) {
                let object = objects.get(at);
                let Some(object) = object.filter(|object| selection.selects(object, patch)) else {
                    continue;
                };
                outcome.hits += 1;
                match patched(patch, &object.value, schema)? {
                    Some(new) if new == object.value => {}
                    Some(value) => {
                        let new = BuiltObject {
                            value,
                            node: None,
                            file: object.file.clone(),
                        };
                        let before = objects.set(at, Some(new));
                        outcome.changed.extend(before.map(|before| (at, before)));
                    }
                    None => {
                        removed.insert(at);
                    }
                }
            }
        }
        for at in removed {
            let before = objects.set(at, None);
            outcome.changed.extend(before.map(|before| (at, before)));
        }
        Ok(())
    }
}

/// What a patch makes of a resource; `None` if it removes it.
fn patched(patch: &Value, object: &Value, schema: &Schema) -> Result<Option<Value>, String> {
    if !matches!(patch, Value::Sequence(_)) {
        return Ok(merge(object, &with_identity(patch, object), schema));
    }
    let mut value = object.clone();
    operate(&mut value, patch)?;
    Ok(Some(value))
}

/// The patch with the identity of the resource that its target selected, because kustomize ignores the patch's own.
fn with_identity(patch: &Value, object: &Value) -> Value {
    let mut patch = patch.clone();
    for key in ["apiVersion", "kind"] {
        if let (Some(own), Some(value)) = (patch.get_mut(key), object.get(key)) {
            *own = value.clone();
        }
    }
    for key in ["name", "namespace"] {
        let own = patch
            .get_mut("metadata")
            .and_then(|metadata| metadata.get_mut(key));
        if let (Some(own), Some(value)) = (own, object.get_path(&["metadata", key])) {
            *own = value.clone();
        }
    }
    patch
}
