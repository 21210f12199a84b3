//! The resources of a kustomize build.

use std::collections::HashMap;
use std::sync::Arc;

use super::OverlayError;
use krm_core::resource::Resource;
use krm_core::resource_key::ResourceKey;
use krm_core::resource_list::own_text;
use krm_core::scope::Scopes;
use krm_yaml::{NodeRef, OwnedDocument, Value, to_block_text};

/// A resource of a build.
#[derive(Debug, Clone)]
pub(super) struct BuiltObject<'p> {
    pub(super) value: Value,
    /// The node in the package that it was read from. `None` if a kustomization changed the resource.
    pub(super) node: Option<NodeRef<'p>>,
    pub(super) file: String,
}

/// The path of a field and its new value, as in a JSON patch.
pub(super) type FieldReplacement = (Vec<String>, Value);

impl BuiltObject<'_> {
    /// A resource without a node in the package.
    pub(super) fn made(value: Value, file: &str) -> Self {
        Self {
            value,
            node: None,
            file: file.to_owned(),
        }
    }

    pub(super) fn text(&self, path: &[&str]) -> &str {
        let value = self.value.get_path(path);
        value.and_then(Value::as_str).unwrap_or_default()
    }

    /// Applies changes. A changed resource has no node.
    ///
    /// # Errors
    /// [`OverlayError::Patch`]: a change is below a value that has no fields.
    pub(super) fn change(&mut self, changes: &[FieldReplacement]) -> Result<(), OverlayError> {
        for (path, new) in changes {
            set(&mut self.value, path, new)
                .map_err(|error| OverlayError::patch(self.shown(), error))?;
            self.node = None;
        }
        Ok(())
    }

    /// The texts of a map of the metadata, such as the labels.
    pub(super) fn metadata(&self, key: &str) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.value.get_path(&["metadata", key]);
        let entries = entries.map_or(&[][..], Value::entries).iter();
        entries.filter_map(|(key, value)| Some((key.as_str()?, value.as_str()?)))
    }

    pub(super) fn name(&self) -> &str {
        self.text(&["metadata", "name"])
    }

    pub(super) fn kind(&self) -> &str {
        self.text(&["kind"])
    }

    pub(super) fn group(&self) -> &str {
        let version = self.text(&["apiVersion"]);
        version.split_once('/').map_or("", |(group, _)| group)
    }

    pub(super) fn is_cluster_scoped(&self) -> bool {
        Scopes::default().is_cluster_scoped(self.group(), self.kind())
    }

    /// Who it is, which is unique in a build.
    pub(super) fn id(&self) -> ResourceKey {
        ResourceKey::in_build(&self.resource())
    }

    pub(super) fn resource(&self) -> Resource {
        let text = |path: &[&str]| -> Arc<str> { Arc::from(self.text(path)) };
        let given = |path: &[&str]| Some(text(path)).filter(|text| !text.is_empty());
        let mut resource = Resource {
            api_version: text(&["apiVersion"]),
            kind: text(&["kind"]),
            name: given(&["metadata", "name"]),
            namespace: given(&["metadata", "namespace"]),
            ..Resource::default()
        };
        resource.origin.path = Some(self.file.as_str().into());
        resource
    }

    /// `Deployment/app`.
    pub(super) fn shown(&self) -> String {
        format!("{}/{}", self.kind(), self.name())
    }

    /// Its text in the package, or if it has no node there, its value as YAML.
    pub(super) fn source(&self) -> String {
        match self.node {
            Some(node) => own_text(node),
            None => to_block_text(&self.value),
        }
    }

    pub(super) fn document(&self) -> Result<OwnedDocument, OverlayError> {
        OwnedDocument::parse_resource(self.source()).map_err(|error| OverlayError::NotYaml {
            file: self.file.clone(),
            error: error.to_string(),
        })
    }
}

/// The positions of the resources of a package by their IDs. Two resources with the same ID are an error, as in kustomize.
pub(super) fn by_id(
    objects: &[BuiltObject<'_>],
    package: &'static str,
) -> Result<HashMap<ResourceKey, usize>, OverlayError> {
    let mut found = HashMap::new();
    for (at, object) in objects.iter().enumerate() {
        if let Some(other) = found.insert(object.id(), at) {
            return Err(OverlayError::Duplicate {
                object: object.shown(),
                package,
                files: [objects[other].file.clone(), object.file.clone()],
            });
        }
    }
    Ok(found)
}

/// Removes the resources that are equal to an earlier one with the same ID. Returns them.
pub(super) fn remove_copies<'p>(objects: &mut Vec<BuiltObject<'p>>) -> Vec<BuiltObject<'p>> {
    let mut first: HashMap<ResourceKey, usize> = HashMap::new();
    let is_copy = |one: &BuiltObject<'_>, other: &BuiltObject<'_>| one.value == other.value;
    let (mut kept, mut copies) = (Vec::with_capacity(objects.len()), Vec::new());
    for object in objects.drain(..) {
        let known = *first.entry(object.id()).or_insert(kept.len());
        match kept.get(known) {
            Some(other) if is_copy(other, &object) => copies.push(object),
            _ => kept.push(object),
        }
    }
    *objects = kept;
    copies
}

/// The value at a path of keys and indexes.
pub(super) fn field_at<'v>(value: &'v Value, path: &[impl AsRef<str>]) -> Option<&'v Value> {
    let mut steps = path.iter().map(AsRef::as_ref);
    steps.try_fold(value, Value::part)
}

/// Sets the value at a path. Missing mappings are created.
fn set(mut value: &mut Value, path: &[String], new: &Value) -> Result<(), String> {
    for step in path {
        value = match value {
            Value::Mapping(_) | Value::Null => value.field_mut(step),
            _ => {
                let part = value.part_mut(step);
                part.ok_or_else(|| format!("`{step}` does not exist"))?
            }
        };
    }
    *value = new.clone();
    Ok(())
}
