//! What a step leaves behind: edited items, or documents made of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::UsageError;
use crate::resource::{INDEX_ANNOTATIONS, PATH_ANNOTATIONS, Resource};
use crate::resource_list::{ItemId, NewText, ResourceList, annotate, own_text};
use crate::results::{FunctionResult, Results};
use crate::supplied::Supplied;
use crate::yaml::{
    Content, EditError, Editor, NodeRef, OwnedDocument, ParseOptions, Tree, Value, comments_above,
    document_as_content,
};

/// What a step leaves behind.
#[derive(Debug, Default)]
pub enum Output {
    /// The items of the list as the step edited them.
    #[default]
    Edited,
    /// Documents made of items, in their order. In a ResourceList they take the places of these
    /// items; made of a package they are printed, and its files stay as they are.
    Documents(Vec<Document>),
}

/// A document made of an item.
#[derive(Debug)]
pub struct Document {
    /// The item that it takes the place of in a ResourceList, if it is the first one for that item. Others follow the items.
    pub item: Option<ItemId>,
    /// The resource that it is about.
    pub resource: Resource,
    /// The path of the file that it is, for functions whose documents are files; such a file may have several resources.
    pub path: Option<String>,
    /// The text that it replaces, such as the live resource; empty for none.
    pub before: String,
    /// Its text.
    pub text: String,
}

impl Document {
    /// Whether its text is another one than before.
    pub(crate) fn is_changed(&self) -> bool {
        self.before != self.text
    }
}

impl Output {
    /// Puts documents into the places of their items, unless they are to be printed: those that are made of a
    /// package remain documents.
    pub(super) fn settle(
        self,
        prints: bool,
        list: &mut ResourceList,
        supplied: &mut Supplied,
        results: &mut Results,
    ) -> Result<Self, UsageError> {
        let Self::Documents(documents) = self else {
            return Ok(self);
        };
        let broken = |error: EditError| UsageError::of(error);
        // What is supplied is read no more, and a large resource has a large tree.
        supplied.drop_trees();
        if !prints {
            replace_items(documents, list, results).map_err(broken)?;
            return Ok(Self::Edited);
        }
        // Neither are the items.
        list.drop_trees();
        for document in &documents {
            Tree::check(&document.text, ParseOptions::default())
                .map_err(EditError::Broken)
                .map_err(broken)?;
        }
        Ok(Self::Documents(documents))
    }
}

/// Puts each document into the place of its item. An item that cannot be replaced stays, with an
/// error result.
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

/// Puts the text of a document into the place of each of these items. One that cannot be replaced stays, with an error
/// result.
pub(super) fn put_texts(
    texts: Vec<(ItemId, String)>,
    list: &mut ResourceList,
    results: &mut Results,
) {
    let mut texts: BTreeMap<ItemId, String> = texts.into_iter().collect();
    let items: Vec<ItemId> = texts.keys().copied().collect();
    let mut refused = Vec::new();
    list.edit_items(
        items,
        |id, _, node, editor| match texts.remove(&id) {
            Some(text) => {
                let text = OwnedDocument::parse(text).map_err(EditError::Broken)?;
                replace_item(node, &Arc::new(text), editor)
            }
            None => Ok(()),
        },
        |id, error| refused.push((id, error)),
    );
    for (id, error) in refused {
        results.push(FunctionResult::refused(&error).about(list.resource(id)));
    }
}

/// The resources of a document that is a file, annotated with its path.
fn items_of(path: Option<&str>, text: String) -> Result<Vec<String>, EditError> {
    let Some(path) = path else {
        return Ok(vec![text]);
    };
    let parsed = OwnedDocument::parse(text).map_err(EditError::Broken)?;
    let document = parsed.document();
    let roots = (0..document.len()).filter_map(|at| document.root(at));
    let annotated = roots.enumerate().map(|(index, root)| {
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
            let metadata = vec![Value::entry("annotations", Value::Mapping(pairs.collect()))];
            editor.set(root, "metadata", Content::Value(Value::Mapping(metadata)))
        })
    });
    annotated.collect()
}

/// Puts a document into the place of an item that shares its text with others: with its lines and its
/// comments, where an item has lines.
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
        editor.set_comment_behind(item, "");
    }
    editor.replace(
        item,
        content.unwrap_or_else(|| Content::Text(Arc::clone(document))),
    )
}
