//! The output of a step: edited items, or documents created from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::supplied::Supplied;
use krm_core::config::UsageError;
use krm_core::resource::{INDEX_ANNOTATIONS, PATH_ANNOTATIONS, Resource};
use krm_core::resource_list::{ItemId, NewText, ResourceList, annotate, own_text};
use krm_core::results::{FunctionResult, Results};
use krm_yaml::{
    Content, EditError, Editor, NodeRef, OwnedDocument, ParseOptions, Tree, Value, comments_above,
    document_as_content,
};

/// The output of a step.
#[derive(Debug, Default)]
pub enum Output {
    /// The items of the list were edited in place.
    #[default]
    Edited,
    /// Documents created from items, in the items' order. In a ResourceList they replace these items; created from a
    /// package they are printed, and the package's files are not changed.
    Documents(Vec<Document>),
}

/// A document created from an item.
#[derive(Debug)]
pub struct Document {
    /// The item that the document replaces in a ResourceList. `None` for further documents, which are added after the
    /// items.
    pub item: Option<ItemId>,
    /// The resource that the document is about.
    pub resource: Resource,
    /// The path, if the document is a file; such a file may contain several resources.
    pub path: Option<String>,
    /// The text that the document is compared with, such as the live resource; empty if there is none.
    pub before: String,
    /// The text of the document.
    pub text: String,
}

impl Document {
    /// Whether the text differs from the one before.
    pub(crate) fn is_changed(&self) -> bool {
        self.before != self.text
    }
}

impl Output {
    /// Replaces the items with their documents. If the documents are to be printed, because they were created from a
    /// package, checks and returns them.
    pub(super) fn place_documents(
        self,
        prints: bool,
        list: &mut ResourceList,
        supplied: &mut Supplied,
        results: &mut Results,
    ) -> Result<Self, UsageError> {
        let Self::Documents(documents) = self else {
            return Ok(self);
        };
        // The supplied inputs are no longer needed, and the tree of a large resource is large.
        supplied.drop_trees();
        if !prints {
            replace_items(documents, list, results).map_err(UsageError::of)?;
            return Ok(Self::Edited);
        }
        // The items' trees are no longer needed either.
        list.drop_trees();
        for document in &documents {
            Tree::check(&document.text, ParseOptions::of_resources(0))
                .map_err(EditError::Broken)
                .map_err(UsageError::of)?;
        }
        Ok(Self::Documents(documents))
    }
}

/// Replaces each item with its document. An item that cannot be replaced is kept, with an error result.
fn replace_items(
    documents: Vec<Document>,
    list: &mut ResourceList,
    results: &mut Results,
) -> Result<(), EditError> {
    let mut texts = Vec::new();
    for document in documents {
        let Some(item) = document.item else {
            for text in items_of(document.path.as_deref(), document.text)? {
                list.add_text(NewText {
                    path: None,
                    text,
                    before: None,
                });
            }
            continue;
        };
        texts.push((item, document.text));
    }
    put_texts(texts, list, results);
    Ok(())
}

/// Replaces each of these items with the text of its document. An item that cannot be replaced is kept, with an error
/// result.
pub fn put_texts(texts: Vec<(ItemId, String)>, list: &mut ResourceList, results: &mut Results) {
    let mut texts: BTreeMap<ItemId, String> = texts.into_iter().collect();
    let items: Vec<ItemId> = texts.keys().copied().collect();
    let refused = list.edit_items(items, |id, _, node, editor| match texts.remove(&id) {
        Some(text) => {
            let text = OwnedDocument::parse_resource(text).map_err(EditError::Broken)?;
            replace_item(node, &Arc::new(text), editor)
        }
        None => Ok(()),
    });
    for (id, error) in refused {
        results.push(FunctionResult::refused(&error).with_resource(list.resource(id)));
    }
}

/// The resources of a document that is a file, each annotated with the file's path.
fn items_of(path: Option<&str>, text: String) -> Result<Vec<String>, EditError> {
    let Some(path) = path else {
        return Ok(vec![text]);
    };
    let parsed = OwnedDocument::parse_resource(text).map_err(EditError::Broken)?;
    let annotated = parsed.roots().enumerate().map(|(index, root)| {
        let annotations = [
            (PATH_ANNOTATIONS[1], path.to_owned()),
            (INDEX_ANNOTATIONS[1], index.to_string()),
        ];
        OwnedDocument::edited(own_text(root), |root, editor| {
            if root.get("metadata").is_some() {
                return annotate(root, &annotations, false, editor);
            }
            let pairs = annotations.iter();
            let pairs = pairs.map(|(key, value)| Value::entry(*key, value.as_str()));
            let annotations = Value::Mapping(pairs.collect());
            editor.set_path(root, &["metadata", "annotations"], annotations.into())
        })
    });
    annotated.collect()
}

/// Replaces an item, which shares its text with other items, with a document. The document keeps its lines and
/// comments if the item is in block style.
fn replace_item<'d>(
    item: NodeRef<'d>,
    document: &Arc<OwnedDocument>,
    editor: &mut Editor<'d, 'static>,
) -> Result<(), EditError> {
    let Some(root) = document
        .root()
        .filter(|_| item.kind().is_block_collection())
    else {
        return editor.replace(item, Content::Text(Arc::clone(document)));
    };
    let content = document_as_content(root);
    let first = root.entries().next();
    if first.is_some_and(|first| !comments_above(first.key).is_empty()) {
        editor.set_comment_after(item, "");
    }
    editor.replace(
        item,
        content.unwrap_or_else(|| Content::Text(Arc::clone(document))),
    )
}
