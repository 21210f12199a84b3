//! The text of a value that a patch made: that of what it was made from, with what differs.

use std::ops::Range;
use std::sync::Arc;

use super::super::fields::{Field, Fields};
use super::super::node::{Node, Shape};
use super::{insert, write};
use crate::yaml::{
    Content, EditError, Editor, NodeKind, NodeRef, OwnedDocument, ParseOptions, Value,
    content_text, may_keep_lines, node_text,
};

/// A value as the text of a document: that of what it was made of, as far as it is.
///
/// # Errors
/// Those of the [`Editor`].
pub fn to_text(new: &Node<'_>) -> Result<String, EditError> {
    if let Some(text) = cut_out(new)? {
        return Ok(text);
    }
    Ok(match content(new)? {
        Content::Node(node) => node_text(node),
        Content::Value(value) => crate::yaml::to_block_text(&value),
        Content::Text(text) => match text.root() {
            Some(root) => node_text(root),
            None => String::new(),
        },
        map @ Content::Map(_) => content_text(&map),
    })
}

/// Where a resource may be put.
const BEHIND_DASH: ParseOptions = ParseOptions { depth: 1 };
/// Above this size the text of a resource is not copied to write a part of it.
const LARGE: usize = 1 << 20;

/// A value made from a resource: the text of what it leaves out is cut from the document.
fn cut_out(new: &Node<'_>) -> Result<Option<String>, EditError> {
    let Node::Map(map) = new else {
        return Ok(None);
    };
    let Some(source) = map.source else {
        return Ok(None);
    };
    let document = source.document;
    let column = source.column();
    let is_item = source
        .parent()
        .is_some_and(|list| list.kind() == NodeKind::BlockSequence);
    if is_item || (source.document_range().is_some() && column == 0) {
        let text = edited_in_place(source, source.lines(), new);
        let text = text.and_then(|(text, _)| moved_left(text, column));
        if let Some(text) = text.filter(|text| is_mapping_alone(text)) {
            return Ok(Some(text));
        }
    }
    let length = source.range().len();
    if length < LARGE || length < document.text.len() / 2 {
        return Ok(None);
    }
    let is_source = |node: NodeRef<'_>| node.id == source.id;
    let index = (0..document.len()).find(|index| document.root(*index).is_some_and(is_source));
    let first = |node: NodeRef<'_>| node.items().next().is_some_and(is_source);
    if index.is_none() && !document.root(0).is_some_and(first) {
        return Ok(None);
    }
    let mut editor = Editor::new(document);
    write(source, source, new, &mut editor)?;
    let text = editor.splice()?.into_text(ParseOptions::default())?;
    let text = OwnedDocument::parse(text).map_err(EditError::Broken)?;
    let left = match index {
        Some(index) => text.document().root(index),
        None => text.document().root(0).and_then(|list| list.items().next()),
    };
    Ok(left.map(node_text))
}

/// The lines of a document with the edits that a value made of its root needs, and whether they are surely YAML. `None`
/// where the lines would read in another way as a text of their own, or an edit reaches out of them: those who get none
/// edit a copy.
fn edited_in_place<'f>(
    root: NodeRef<'f>,
    lines: Range<usize>,
    new: &Node<'f>,
) -> Option<(String, bool)> {
    let text = root.document.text.get(lines.clone())?;
    // What follows a scalar that keeps its line breaks is part of it.
    if !root.ends_its_document(lines.end) || may_keep_lines(text) {
        return None;
    }
    let mut editor = Editor::of_part(root)?;
    write(root, root, new, &mut editor).ok()?;
    editor.splice_part(lines, BEHIND_DASH).ok()
}

/// Lines of a collection behind a dash, the first from its first key, as those of a document. `None` if one of them begins
/// further left.
fn moved_left(text: String, column: usize) -> Option<String> {
    if column == 0 {
        return Some(text);
    }
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

/// What to write for a value: the text that it was made of, with what differs.
pub(super) fn content<'f>(new: &Node<'f>) -> Result<Content<'f>, EditError> {
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
    let owned = OwnedDocument::parse(node_text(source)).map_err(EditError::Broken)?;
    let Some(root) = owned.root() else {
        return Ok(Content::Value(new.to_value()));
    };
    let mut editor = Editor::new(owned.document());
    write(root, source, new, &mut editor)?;
    if editor.is_empty() {
        return Ok(Content::Text(Arc::new(owned)));
    }
    let text = editor.splice()?.into_text(ParseOptions::default())?;
    let text = OwnedDocument::parse(text).map_err(EditError::Broken)?;
    Ok(Content::Text(Arc::new(text)))
}

/// The text of a resource made to hold a value: its own text, with what differs. Whether it is surely YAML, also as an
/// item; if not, whoever writes it out has to parse it.
///
/// # Errors
/// Those of the [`Editor`].
pub fn text_of<'f>(resource: NodeRef<'f>, new: Node<'f>) -> Result<(String, bool), EditError> {
    let own = resource.document_text();
    if own.is_some_and(|own| own.len() == resource.document.text.len()) {
        // A text of its own is edited where it stands: large ones are parsed once less.
        let mut editor = Editor::new(resource.document);
        write(resource, resource, &new, &mut editor)?;
        drop(new);
        return editor.finish_unchecked(BEHIND_DASH);
    }
    let in_place = |lines| edited_in_place(resource, lines, &new);
    if let Some(text) = resource.document_range().and_then(in_place) {
        return Ok(text);
    }
    let text = own.map_or_else(|| node_text(resource), str::to_owned);
    let owned = OwnedDocument::parse(text).map_err(EditError::Broken)?;
    let Some(root) = owned.root() else {
        return Ok((to_text(&new)?, false));
    };
    let mut editor = Editor::new(owned.document());
    write(root, resource, &new, &mut editor)?;
    Ok((editor.splice()?.into_text(ParseOptions::default())?, false))
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
    let Some(root) = empty.root() else {
        return Ok(Content::Value(Value::Mapping(Vec::new())));
    };
    let mut editor = Editor::new(empty.document());
    for at in 0..fields.len() {
        insert(root, None, fields, at, &mut editor)?;
    }
    let text = editor.splice()?.into_text(ParseOptions::default())?;
    let text = OwnedDocument::parse(text).map_err(EditError::Broken)?;
    Ok(Content::Text(Arc::new(text)))
}
