//! The text of a value that a patch made: the text of its source, with the differences edited.

use std::sync::Arc;

use super::super::node::{Field, Fields, Node, Shape};
use super::{new_entry, write};
use krm_yaml::{
    Content, EditError, Editor, NodeRef, OwnedDocument, Value, content_text, node_text, value_text,
};

/// A value as the text of a document. Parts that were made from a text keep it, with the differences edited.
///
/// # Errors
/// The errors of the [`Editor`].
pub fn to_text(new: &Node<'_>) -> Result<String, EditError> {
    Ok(match content_of(new, node_text)? {
        Content::Node(node) => node_text(node),
        Content::Value(value) => krm_yaml::to_block_text(&value),
        Content::Text(text) => match text.root() {
            Some(root) => node_text(root),
            None => String::new(),
        },
        other @ (Content::Map(_) | Content::Quoted(_)) => content_text(&other),
    })
}

/// A copy of the text of a node, edited to have a value.
fn edited(text: String, source: NodeRef<'_>, new: &Node<'_>) -> Result<String, EditError> {
    OwnedDocument::edited(text, |root, editor| {
        write(root, source, new.clone(), editor).map(drop)
    })
}

/// A string of one line with a line break becomes a literal, as `kubectl get -o yaml` shows last-applied.
fn string(text: &str) -> Content<'static> {
    let literal = || {
        let lines = text.strip_suffix('\n')?;
        if lines.is_empty() || lines.contains(['\n', '\r']) {
            return None;
        }
        let owned = OwnedDocument::parse(format!("|\n  {lines}\n")).ok()?;
        let is_same = owned.root()?.scalar_text() == Some(text);
        is_same.then_some(owned)
    };
    match literal() {
        Some(owned) => Content::Text(Arc::new(owned)),
        None => Content::Value(Value::from(text)),
    }
}

/// The content for the value of an entry or item: the text that it was made from, with the differences edited.
pub(super) fn content<'f>(new: &Node<'f>) -> Result<Content<'f>, EditError> {
    content_of(new, value_text)
}

fn content_of<'f>(
    new: &Node<'f>,
    text_of: fn(NodeRef<'_>) -> String,
) -> Result<Content<'f>, EditError> {
    let source = match new {
        Node::Text(node) => return Ok(Content::Node(*node)),
        Node::Scalar(value) => {
            return Ok(match &**value {
                Value::String(text) => string(text),
                value => Content::Value(value.clone()),
            });
        }
        Node::List(list) => list.source,
        Node::Map(map) => map.source,
    };
    // An empty list has no elements whose format could be copied.
    let is_empty_list = |node: &Node<'_>| node.shape() == Shape::List && node.is_empty();
    let source =
        source.filter(|source| !is_empty_list(new) && !is_empty_list(&Node::Text(*source)));
    let Some(source) = source else {
        return match new {
            Node::Map(map) if !map.fields.is_empty() => made(&map.fields),
            _ => Ok(Content::Value(new.to_value())),
        };
    };
    let owned = OwnedDocument::parse_as(source.reading(), text_of(source));
    let owned = owned.map_err(EditError::Broken)?;
    if owned.root().is_none() {
        return Ok(Content::Value(new.to_value()));
    }
    let made = owned.edit(|root, editor| write(root, source, new.clone(), editor).map(drop));
    made.map(|made| Content::Text(Arc::new(made)))
}

/// The text of a resource, edited to have a value.
///
/// # Errors
/// The errors of the [`Editor`].
pub fn text_of<'f>(resource: NodeRef<'f>, new: Node<'f>) -> Result<String, EditError> {
    let own = resource.document_text();
    if own.is_some_and(|own| own.len() == resource.document.text.len()) {
        // A resource that is the whole text is edited in place, so that a large text is parsed once less.
        let mut editor = Editor::new(resource.document);
        write(resource, resource, new, &mut editor)?;
        return editor.finish();
    }
    let text = own.map_or_else(|| node_text(resource), str::to_owned);
    edited(text, resource, &new)
}

/// A map that was not made from a text. Its values may have a text, and its entries the key and comments of another
/// entry.
fn made<'f>(fields: &Fields<'f>) -> Result<Content<'f>, EditError> {
    let stands_nowhere = |at| fields.null_key(at).is_none() && fields.get(at).entry.is_none();
    if (0..fields.len()).all(stands_nowhere) {
        let entry = |field: Field<'f>| Ok((field.key.into_owned(), content(&field.value)?));
        return fields
            .iter()
            .map(entry)
            .collect::<Result<_, _>>()
            .map(Content::Map);
    }
    let empty = OwnedDocument::parse_resource("{}\n".to_owned()).map_err(EditError::Broken)?;
    let made = empty.edit(|root, editor| {
        editor.arrange(root, (0..fields.len()).map(|at| new_entry(fields, at)))
    });
    made.map(|made| Content::Text(Arc::new(made)))
}
