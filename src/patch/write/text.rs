//! The text of a value that a patch made: that of what it was made from, with what differs.

use std::sync::Arc;

use super::super::node::{Field, Fields, Node, Shape};
use super::{insert, write};
use crate::yaml::{
    Content, EditError, Editor, NodeKind, NodeRef, OwnedDocument, Value, content_text,
    may_keep_lines, node_text, value_text,
};

/// A value as the text of a document: that of what it was made of, as far as it is.
///
/// # Errors
/// Those of the [`Editor`].
pub fn to_text(new: &Node<'_>) -> Result<String, EditError> {
    if let Some(text) = cut_out(new)? {
        return Ok(text);
    }
    Ok(match content_of(new, node_text)? {
        Content::Node(node) => node_text(node),
        Content::Value(value) => crate::yaml::to_block_text(&value),
        Content::Text(text) => match text.root() {
            Some(root) => node_text(root),
            None => String::new(),
        },
        other @ (Content::Map(_) | Content::Quoted(_)) => content_text(&other),
    })
}

/// A value made from a whole document or item: its lines, with what differs. `None` where the lines would read in another
/// way as a text of their own.
fn cut_out(new: &Node<'_>) -> Result<Option<String>, EditError> {
    let source = match new {
        Node::Map(map) => map.source.filter(|source| stands_alone(*source)),
        _ => None,
    };
    let Some(source) = source else {
        return Ok(None);
    };
    let lines = source.lines();
    let text = &source.document.text[lines.clone()];
    // What follows a scalar that keeps its line breaks is part of it.
    if !source.ends_its_document(lines.end) || may_keep_lines(text) {
        return Ok(None);
    }
    let Some(text) = moved_left(text, source.column()) else {
        return Ok(None);
    };
    let text = edited(text, source, new)?;
    Ok(Some(text).filter(|text| is_mapping_alone(text)))
}

/// Whether the lines of a node are those of a document or of an item alone.
fn stands_alone(node: NodeRef<'_>) -> bool {
    let is_sequence = |list: NodeRef<'_>| list.kind() == NodeKind::BlockSequence;
    let is_item = node.parent().is_some_and(is_sequence);
    let is_document = node.document_range().is_some() && node.column() == 0;
    (is_item || is_document) && node.is_text_of_its_own()
}

/// A copy of the text of a node, made to hold a value.
fn edited(text: String, source: NodeRef<'_>, new: &Node<'_>) -> Result<String, EditError> {
    OwnedDocument::edited(text, |root, editor| {
        write(root, source, new, editor).map(drop)
    })
}

/// Lines of a collection after a dash, the first from its first key, as those of a document. `None` if one of them begins
/// further left.
fn moved_left(text: &str, column: usize) -> Option<String> {
    let mut moved = String::with_capacity(text.len());
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let is_blank = line[indent..].trim_end_matches('\n').is_empty();
        if number > 0 && indent < column && !is_blank {
            return None;
        }
        let gone = if number > 0 { indent.min(column) } else { 0 };
        moved.push_str(&line[gone..]);
    }
    Some(moved)
}

/// Whether a text certainly has one mapping, and neither comments nor blank lines around it.
fn is_mapping_alone(text: &str) -> bool {
    let last = text.trim_end_matches('\n').lines().next_back();
    let last = last
        .map(str::trim_start)
        .and_then(|line| line.bytes().next());
    text.bytes()
        .next()
        .is_some_and(|first| first.is_ascii_alphanumeric())
        && last.is_some_and(|last| last != b'#')
        && !text.ends_with("\n\n")
        && memchr::memchr(b'\r', text.as_bytes()).is_none()
}

/// Lines as a literal, as `kubectl get -o yaml` shows last-applied; else the value.
fn string(text: &str) -> Content<'static> {
    let literal = || {
        let lines = text.strip_suffix('\n')?;
        if lines.is_empty() || lines.contains(['\n', '\r']) {
            return None;
        }
        if let Some(literal) = OwnedDocument::literal(lines) {
            return Some(literal);
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

/// What to write for a value of an entry or item: the text that it was made of, with what differs.
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
    // An empty list has no elements to go by.
    let is_empty_list = |node: &Node<'_>| node.shape() == Shape::List && node.is_empty();
    let source =
        source.filter(|source| !is_empty_list(new) && !is_empty_list(&Node::Text(*source)));
    let Some(source) = source else {
        return match new {
            Node::Map(map) if !map.fields.is_empty() => made(&map.fields),
            _ => Ok(Content::Value(new.to_value())),
        };
    };
    let owned = OwnedDocument::parse(text_of(source)).map_err(EditError::Broken)?;
    if owned.root().is_none() {
        return Ok(Content::Value(new.to_value()));
    }
    let made = owned.edit(|root, editor| write(root, source, new, editor).map(drop));
    made.map(|made| Content::Text(Arc::new(made)))
}

/// The text of a resource made to hold a value: its own text, with what differs.
///
/// # Errors
/// Those of the [`Editor`].
pub fn text_of<'f>(resource: NodeRef<'f>, new: Node<'f>) -> Result<String, EditError> {
    let own = resource.document_text();
    if own.is_some_and(|own| own.len() == resource.document.text.len()) {
        // A text of its own is edited where it stands: large ones are parsed once less.
        let mut editor = Editor::new(resource.document);
        write(resource, resource, &new, &mut editor)?;
        drop(new);
        return editor.finish();
    }
    let text = own.map_or_else(|| node_text(resource), str::to_owned);
    edited(text, resource, &new)
}

/// A map made from nothing that has a text; its values may have one, and entries that of a key with its comments.
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
    let empty = OwnedDocument::parse("{}\n".to_owned()).map_err(EditError::Broken)?;
    let made = empty.edit(|root, editor| {
        (0..fields.len()).try_for_each(|at| insert(root, None, fields, at, editor))
    });
    made.map(|made| Content::Text(Arc::new(made)))
}
