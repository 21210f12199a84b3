//! The text of a resource that upstream added: upstream's, with what it needs in its new list.

use std::collections::HashMap;

use crate::merge::facts::UPSTREAM_IDENTIFIER;
use crate::merge::resources::Member;
use crate::resource::{
    INDEX_ANNOTATIONS, PACKAGE_PATH_ANNOTATION, PATH_ANNOTATIONS, is_pipeline_annotation,
};
use crate::resource_list::ResourceList;
use crate::yaml::{Content, EditError, Editor, NodeRef, OwnedDocument, Value, node_text};

/// The text of a resource that upstream added, with its comments.
pub(super) fn new_text(
    node: NodeRef<'_>,
    member: &Member,
    identifier: Option<String>,
    list: &ResourceList,
    indexes: &mut HashMap<String, usize>,
) -> Result<String, EditError> {
    let text = node
        .document_text()
        .map_or_else(|| node_text(node), str::to_owned);
    let owned = OwnedDocument::parse(text.clone()).map_err(EditError::Broken)?;
    let Some(root) = owned.root() else {
        return Ok(text);
    };
    let mut editor = Editor::new(owned.document());
    let mut set = Vec::new();
    if let Some(identifier) = identifier {
        set.push((UPSTREAM_IDENTIFIER, identifier));
    }
    if let Some(path) = member.path.as_deref().filter(|_| !list.is_package()) {
        let next = indexes.entry(path.to_owned()).or_default();
        let index = *next;
        *next += 1;
        for (path_name, index_name) in PATH_ANNOTATIONS.into_iter().zip(INDEX_ANNOTATIONS) {
            set.push((index_name, index.to_string()));
            set.push((path_name, path.to_owned()));
        }
        // The path is one from the root package.
        if let Some(package) = list.root_package_path() {
            set.push((PACKAGE_PATH_ANNOTATION, package.to_owned()));
        }
    }
    let metadata = root.entry("metadata").map(|entry| entry.value);
    let annotations = metadata
        .and_then(|m| m.entry("annotations"))
        .map(|entry| entry.value);
    if let Some(annotations) = annotations.filter(|node| node.kind().is_mapping()) {
        let gone = annotations.entries().filter_map(|entry| entry.key.as_str());
        let gone: Vec<&str> = gone.filter(|key| is_pipeline_annotation(key)).collect();
        for key in gone {
            if !set.iter().any(|(name, _)| *name == key) {
                editor.remove_entry(annotations, key)?;
            }
        }
        for (name, value) in set {
            editor.set(annotations, name, Content::Value(Value::from(value)))?;
        }
    } else if let Some(metadata) = metadata.filter(|_| !set.is_empty()) {
        let entries = set
            .into_iter()
            .map(|(name, value)| (Value::from(name), Value::from(value)));
        let value = Value::Mapping(entries.collect());
        editor.set(metadata, "annotations", Content::Value(value))?;
    }
    if editor.is_empty() {
        return Ok(text);
    }
    editor.finish()
}
