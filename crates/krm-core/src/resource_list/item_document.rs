//! An item of a ResourceList as a document of a file, without the annotations that name the file.

use super::{ItemId, ResourceList};
use crate::resource::is_pipeline_annotation;
use krm_yaml::{
    Content, EditError, Editor, NodeKind, NodeRef, OwnedDocument, Value, node_text,
    with_comments_above,
};

impl ResourceList {
    /// Items as the text of the file that they come from.
    ///
    /// # Errors
    /// An error if the annotations of the pipeline cannot be removed.
    pub fn file_text(&self, ids: &[ItemId]) -> Result<String, EditError> {
        let text = |id: &ItemId| {
            let text = self.read(*id, own_text);
            OwnedDocument::edited(text, |node, editor| annotate(node, &[], true, editor))
        };
        let texts: Vec<String> = ids.iter().map(text).collect::<Result<_, EditError>>()?;
        Ok(texts.join("---\n"))
    }
}

/// The text of a resource with its comments.
pub fn own_text(node: NodeRef<'_>) -> String {
    if let Some(text) = node.document_text() {
        return if text.ends_with('\n') {
            text.to_owned()
        } else {
            format!("{text}\n")
        };
    }
    with_comments_above(node, &node_text(node))
}

/// Sets annotations. `strip` removes the annotations by which kpt identified the item. New ones are in the quotes that
/// kpt writes, because kpt compares the resources that it deletes as text.
pub fn annotate<'d>(
    node: NodeRef<'d>,
    annotations: &[(&str, String)],
    strip: bool,
    editor: &mut Editor<'d, 'static>,
) -> Result<(), EditError> {
    let Some(metadata) = node.entry("metadata").map(|entry| entry.value) else {
        return Ok(());
    };
    let old = metadata.entry("annotations").map(|entry| entry.value);
    let old = old.filter(|old| old.kind().is_mapping() || old.kind() == NodeKind::Alias);
    let Some(old) = old else {
        if annotations.is_empty() {
            return Ok(());
        }
        let pairs = annotations.iter();
        let pairs = pairs.map(|(key, value)| ((*key).to_owned(), Content::Quoted(value.clone())));
        return editor.set(metadata, "annotations", Content::Map(pairs.collect()));
    };
    let is_set = |key: &str| annotations.iter().any(|(name, _)| *name == key);
    if strip {
        let names = old.entries().filter_map(|entry| entry.key.as_str());
        let (removed, kept): (Vec<&str>, Vec<&str>) =
            names.partition(|name| is_pipeline_annotation(name) && !is_set(name));
        if kept.is_empty() && annotations.is_empty() && !removed.is_empty() {
            editor.remove_entry(metadata, "annotations");
            return Ok(());
        }
        for name in removed {
            editor.remove_entry(old, name);
        }
    }
    for (key, value) in annotations {
        match old.get(key) {
            Some(old) if old.as_str() == Some(value) => {}
            Some(_) => editor.set(old, key, Content::Value(Value::from(value.as_str())))?,
            None => editor.insert_entry(old, None, key, Content::Quoted(value.clone()))?,
        }
    }
    Ok(())
}
