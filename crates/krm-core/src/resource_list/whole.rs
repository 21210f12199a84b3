//! Any other ResourceList: one text with wrapper and items.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::changes::{Changes, NewText};
use super::results::append_results;
use super::wrapper::{InputError, STDIN, check_results, check_wrapper};
use super::{Form, Item, ItemId, ResourceList};
use crate::resource::Resource;
use crate::results::{Results, with_article};
use crate::source_text::{Locator, SourceText};
use krm_package::text::Text;
use krm_yaml::{
    Content, Document, EditError, Editor, NodeRef, OwnedDocument, Value, document_as_content,
    most_documents,
};

/// Reads a ResourceList, or reports why it cannot be read.
pub(super) fn parse(text: Text) -> Result<ResourceList, InputError> {
    let limit = most_documents(&text);
    // If the input is something else altogether, the place of a syntax error would not help.
    let place = if text.contains("ResourceList") {
        STDIN.to_owned()
    } else {
        format!("{STDIN}: expected a ResourceList, found text that cannot be read")
    };
    let read = SourceText::read(text, |document| resources(document, limit));
    let (text, resources) = read.map_err(|error| InputError::Yaml { place, error })?;
    let items = resources?.into_iter().enumerate().map(item);
    Ok(ResourceList::new(Form::Whole, vec![text], items.collect()))
}

fn item((index, resource): (usize, Resource)) -> Item {
    Item::new(resource, 0, Locator::Item(index))
}

/// The items of a ResourceList.
fn resources(document: Document<'_>, limit: usize) -> Result<Vec<Resource>, InputError> {
    let shape = |message: String| InputError::Shape {
        place: STDIN.to_owned(),
        message,
    };
    let shape_at = |node: NodeRef<'_>, message: String| InputError::Shape {
        place: format!("{STDIN}, {}", node.location()),
        message,
    };
    if document.len() > 1 {
        let found = document.len();
        let message = format!("expected one ResourceList, found {found} documents");
        return Err(shape(message));
    }
    let root = document.root(0);
    let root = root.ok_or_else(|| {
        shape(
            "expected a ResourceList, found nothing; to work on a directory, give --package DIR"
                .to_owned(),
        )
    })?;
    check_wrapper(root)?;
    check_results(root)?;
    let Some(items) = root.get("items").filter(|items| !items.is_null()) else {
        return Ok(Vec::new());
    };
    if !items.kind().is_sequence() {
        let found = with_article(items.kind_name());
        let message = format!("`items`: expected a sequence of resources, found {found}");
        return Err(shape_at(items, message));
    }
    let count = items.items().count();
    if count > limit {
        let message = format!(
            "`items`: expected at most {limit} items in a text of this length, found {count}"
        );
        return Err(shape_at(items, message));
    }
    let resource = |(index, item): (usize, NodeRef<'_>)| {
        let item = item.resolved();
        if item.kind().is_mapping() {
            return Ok(Resource::read(item));
        }
        let found = with_article(item.kind_name());
        let message = format!("`items[{index}]`: expected a resource, found {found}");
        Err(shape_at(item, message))
    };
    items.items().enumerate().map(resource).collect()
}

/// The text of the list with its changes and results.
pub(super) fn emit(
    text: &mut SourceText,
    changes: &mut Changes,
    results: &Results,
    keep: bool,
) -> Result<Vec<Text>, EditError> {
    if !keep {
        *text = text.unedited();
    }
    apply(text, changes, results)?;
    Ok(vec![text.edited_text()])
}

/// Applies changes to the text and appends results, as one batch of edits.
fn apply(text: &mut SourceText, changes: &mut Changes, results: &Results) -> Result<(), EditError> {
    let changes = std::mem::take(changes);
    let removed: BTreeSet<usize> = changes.removed.iter().map(|id| id.0).collect();
    let is_more = !(changes.inserted.is_empty() && results.is_empty());
    // kpt does not recognize a ResourceList without `items`, and shows no results.
    if is_more && text.root().is_some_and(|root| root.get("items").is_none()) {
        text.edit(|document, editor| match document.root(0) {
            Some(root) => editor.set(root, "items", Content::Value(Value::Sequence(Vec::new()))),
            None => Ok(()),
        })?;
    }
    text.edit(|document, editor| {
        if let Some(items) = document.root(0).and_then(|root| root.get("items")) {
            insert_items(changes.inserted, items, editor)?;
            if !removed.is_empty() {
                editor.remove_parts(items, |index| removed.contains(&index));
            }
            if items.is_null() && !results.is_empty() && !editor.touches(items) {
                editor.replace(items, Content::Value(Value::Sequence(Vec::new())))?;
            }
        }
        append_results(document, editor, results)
    })
}

impl ResourceList {
    /// The items that cannot be kept without the removed ones: an alias reads an anchor of a removed item, and its
    /// value cannot be written out.
    pub fn refused_removals(&self) -> Vec<(ItemId, EditError)> {
        let (Form::Whole, [text]) = (&self.form, &self.texts[..]) else {
            return Vec::new();
        };
        let removed = &self.changes.removed;
        if removed.is_empty() || !text.text().contains('*') {
            return Vec::new();
        }
        let document = text.document();
        let Some(items) = document.root(0).and_then(|root| root.get("items")) else {
            return Vec::new();
        };
        let mut editor = Editor::new(document);
        editor.remove_parts(items, |at| removed.contains(&ItemId(at)));
        let items: Vec<NodeRef<'_>> = items.items().collect();
        let refused = editor.refusals_within(&items).into_iter();
        refused.map(|(at, error)| (ItemId(at), error)).collect()
    }

    /// Turns inserted resources into items, and drops the removed ones.
    pub(super) fn insert_whole_items(&mut self) -> Result<(), InputError> {
        if !self.changes.restructure() {
            return Ok(());
        }
        let applied = apply(&mut self.texts[0], &mut self.changes, &Results::default());
        applied.map_err(|error| InputError::Shape {
            place: STDIN.to_owned(),
            message: error.to_string(),
        })?;
        let nodes = self.texts[0].items().enumerate();
        let items = nodes.map(|(index, node)| item((index, Resource::read(node.resolved()))));
        self.items = items.collect();
        Ok(())
    }
}

/// Inserts documents into the `items` of a wrapper.
fn insert_items<'d>(
    texts: Vec<NewText>,
    items: NodeRef<'d>,
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    let mut by_position: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let count = items.items().count();
    for new in texts {
        let position = new.before.map_or(count, |id| id.0);
        by_position.entry(position).or_default().push(new.text);
    }
    // From the end, so that earlier positions remain valid.
    for (position, texts) in by_position.into_iter().rev() {
        for text in texts.into_iter().rev() {
            let text = OwnedDocument::parse_resource(text).map_err(EditError::Broken)?;
            let lines = text.root().and_then(document_as_content);
            let content = lines.unwrap_or_else(|| Content::Text(Arc::new(text)));
            editor.insert_item(items, Some(position), content)?;
        }
    }
    Ok(())
}
