//! Writes a result into the text that it was made from: what did not change keeps its bytes, what
//! moved takes its text and comments along, what is new brings those of the patch.
//!
//! ```yaml
//! env:                    # before      # after, with A changed, B first and C from the patch
//! - name: A # the first                 - name: B
//!   value: one                          - name: A # the first
//! - name: B                               value: two
//!                                       - name: C # new
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use super::fields::{Field, Fields};
use super::node::{Item, Node, Shape, same_place};
use crate::yaml::{
    Content, EditError, Editor, EntryRef, NodeKind, NodeRef, OwnedDocument, Part, Value, node_text,
};

/// What writing did besides.
#[derive(Debug, Clone, Copy, Default)]
pub struct Written {
    /// Whether elements of a list with comments came, went or moved.
    pub moves_comments: bool,
}

/// Makes a node hold a value with the fewest edits.
///
/// `twin` is the node as the value knows it: `node` itself, or that which `node` is a copy of.
///
/// # Errors
/// Those of the [`Editor`].
pub fn write<'d, 'f>(
    node: NodeRef<'d>,
    twin: NodeRef<'f>,
    new: &Node<'f>,
    editor: &mut Editor<'d, 'f>,
) -> Result<Written, EditError> {
    let mut written = Written::default();
    Writer {
        written: &mut written,
    }
    .node(node, twin, new, editor)?;
    Ok(written)
}

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
    })
}

/// Resources of more bytes are not copied to make a value of a part of them.
const LARGE: usize = 1 << 20;

/// A value that was made of a large resource: what it leaves out is cut out where it stands.
fn cut_out(new: &Node<'_>) -> Result<Option<String>, EditError> {
    let Node::Map(map) = new else {
        return Ok(None);
    };
    let Some(source) = map.source else {
        return Ok(None);
    };
    let document = source.document;
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
    let text = OwnedDocument::parse(editor.finish()?).map_err(EditError::Broken)?;
    let left = match index {
        Some(index) => text.document().root(index),
        None => text.document().root(0).and_then(|list| list.items().next()),
    };
    Ok(left.map(node_text))
}

struct Writer<'w> {
    written: &'w mut Written,
}

impl Writer<'_> {
    fn node<'d, 'f>(
        &mut self,
        node: NodeRef<'d>,
        twin: NodeRef<'f>,
        new: &Node<'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<(), EditError> {
        let old = Node::Text(twin);
        if new.is(&old) || new.is(&Node::Text(twin.resolved())) {
            return Ok(());
        }
        let is_alias = node.kind() == NodeKind::Alias;
        match (old.shape(), new.shape()) {
            (Shape::Map, Shape::Map) if !is_alias => self.map(node, twin, new, editor),
            (Shape::List, Shape::List) if !is_alias && !new.is_empty() && !old.is_empty() => {
                self.list(node, twin, new, editor)
            }
            _ if new.equals(&old) => Ok(()),
            // A scalar keeps its style.
            (Shape::Scalar, Shape::Scalar) if !is_alias => {
                editor.replace(node, Content::Value(new.to_value()))
            }
            _ => editor.replace(node, content(new)?),
        }
    }

    fn map<'d, 'f>(
        &mut self,
        node: NodeRef<'d>,
        twin: NodeRef<'f>,
        new: &Node<'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<(), EditError> {
        let own;
        let fields: &Fields<'f> = match new {
            Node::Map(map) => &map.fields,
            _ => {
                own = new.fields();
                &own
            }
        };
        let old = Node::Text(twin);
        let mut places = Places::of(fields);
        // The fields that are there already.
        let mut known = vec![false; fields.len()];
        let (mut kept, mut count) = (Vec::new(), 0);
        for (index, (entry, field)) in node.resolved().entries().zip(old.each_field()).enumerate() {
            count += 1;
            let Some(at) = places.find(&field.key) else {
                continue;
            };
            known[at] = true;
            kept.push(index);
            let Some(twin) = field.entry else { continue };
            self.node(entry.value, twin.value, &fields.get(at).value, editor)?;
        }
        if kept.len() < count {
            editor.arrange(node, kept.iter().copied().map(Part::Kept).collect())?;
        }
        // The order that the new map has, as far as its keys are those of one that was made.
        let position = |at: usize| -> Option<usize> {
            let is_directive = fields.key(at).starts_with('$');
            is_directive.then_some(())?;
            let behind = (at + 1..fields.len()).find(|at| known[*at])?;
            let mut old = old.each_field();
            kept.iter().position({
                let mut next = 0;
                move |index| {
                    let field = old.nth(index - next);
                    next = index + 1;
                    field.is_some_and(|field| field.key == fields.key(behind))
                }
            })
        };
        let mut inserted = 0;
        for (at, field) in fields.iter().enumerate() {
            if known[at] {
                continue;
            }
            let position = position(at).map(|position| position + inserted);
            inserted += usize::from(position.is_some());
            insert(node, position, &field, editor)?;
        }
        Ok(())
    }

    fn list<'d, 'f>(
        &mut self,
        node: NodeRef<'d>,
        twin: NodeRef<'f>,
        new: &Node<'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<(), EditError> {
        let items = new.items();
        let old: Vec<NodeRef<'f>> = twin.resolved().items().collect();
        let mut used = vec![false; old.len()];
        let mut kept: Vec<Option<usize>> = Vec::with_capacity(items.len());
        for item in &items {
            let place = item.place.filter(|(index, place)| {
                let there = old.get(*index).is_some_and(|old| same_place(*old, *place));
                there && !used[*index]
            });
            place.into_iter().for_each(|(index, _)| used[index] = true);
            kept.push(place.map(|(index, _)| index));
        }
        // Elements of another list that are equal to one that is there: that one stays.
        if kept.iter().any(Option::is_none) && used.contains(&false) {
            let mut by_value: HashMap<String, Vec<usize>> = HashMap::new();
            for (index, node) in old.iter().enumerate().rev() {
                if !used[index] {
                    let text = sorted_json(&Node::Text(*node));
                    by_value.entry(text).or_default().push(index);
                }
            }
            for (item, kept) in items.iter().zip(&mut kept) {
                if kept.is_none() {
                    *kept = by_value
                        .get_mut(&sorted_json(&item.value))
                        .and_then(Vec::pop);
                }
            }
        }
        let own: Vec<NodeRef<'d>> = node.resolved().items().collect();
        let mut same = items.len() == old.len();
        for (at, (item, kept)) in items.iter().zip(&kept).enumerate() {
            same &= *kept == Some(at);
            if let Some(index) = kept
                && let (Some(own), Some(twin)) = (own.get(*index), old.get(*index))
            {
                let is_equal = item
                    .place
                    .is_none_or(|(_, place)| !same_place(place, *twin));
                if !is_equal {
                    self.node(*own, *twin, &item.value, editor)?;
                }
            }
        }
        if same {
            return Ok(());
        }
        self.written.moves_comments |= crate::kptfile::has_comments(node);
        let mut parts = Vec::new();
        let mut made: Vec<(usize, &Item<'f>)> = Vec::new();
        for (at, (item, kept)) in items.iter().zip(&kept).enumerate() {
            match (kept, item.place) {
                (Some(index), _) => parts.push(Part::Kept(*index)),
                (None, Some((_, place))) => parts.push(Part::Item(place, content(&item.value)?)),
                (None, None) => made.push((at, item)),
            }
        }
        editor.arrange(node, parts)?;
        for (at, item) in made {
            editor.insert_item(node, Some(at), content(&item.value)?)?;
        }
        Ok(())
    }
}

/// Finds fields by key, best in their own order.
struct Places<'p, 'f> {
    fields: &'p Fields<'f>,
    next: usize,
    by_key: Option<HashMap<&'p str, usize>>,
}

impl<'p, 'f> Places<'p, 'f> {
    fn of(fields: &'p Fields<'f>) -> Self {
        Self {
            fields,
            next: 0,
            by_key: None,
        }
    }

    fn find(&mut self, key: &str) -> Option<usize> {
        let is_next = self.next < self.fields.len() && self.fields.key(self.next) == key;
        let at = match is_next {
            true => self.next,
            false => {
                let fields = self.fields;
                let by_key = self.by_key.get_or_insert_with(|| {
                    let all = 0..fields.len();
                    all.map(|at| (fields.key(at), at)).collect()
                });
                *by_key.get(key)?
            }
        };
        self.next = at + 1;
        Some(at)
    }
}

fn insert<'d, 'f>(
    node: NodeRef<'d>,
    position: Option<usize>,
    field: &Field<'f>,
    editor: &mut Editor<'d, 'f>,
) -> Result<(), EditError> {
    let content = content(&field.value)?;
    match field.entry {
        Some(entry) if is_own_key(entry, &field.key) => {
            editor.insert_entry_like(node, position, entry, content)
        }
        _ => editor.insert_entry(node, position, &field.key, content),
    }
}

fn is_own_key(entry: EntryRef<'_>, key: &str) -> bool {
    entry.key.scalar_text() == Some(key)
}

/// A value by which equal elements find each other.
fn sorted_json(node: &Node<'_>) -> String {
    let mut value = node.to_value();
    sort(&mut value);
    value.to_json()
}

fn sort(value: &mut Value) {
    match value {
        Value::Mapping(entries) => {
            entries.iter_mut().for_each(|(_, value)| sort(value));
            entries.sort_by_cached_key(|(key, _)| key.to_json());
        }
        Value::Sequence(items) => items.iter_mut().for_each(sort),
        _ => {}
    }
}

/// Lines as a literal, as `kubectl get -o yaml` shows last-applied; else the value.
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

/// What to write for a value: the text that it was made of, with what differs.
fn content<'f>(new: &Node<'f>) -> Result<Content<'f>, EditError> {
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
    let text = OwnedDocument::parse(editor.finish()?).map_err(EditError::Broken)?;
    Ok(Content::Text(Arc::new(text)))
}

/// The text of a resource made to hold a value: its own text, with what differs. Whoever writes it
/// out has to parse it.
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
        return editor.splice()?.into_text();
    }
    let text = own.map_or_else(|| node_text(resource), str::to_owned);
    let owned = OwnedDocument::parse(text).map_err(EditError::Broken)?;
    let Some(root) = owned.root() else {
        return to_text(&new);
    };
    let mut editor = Editor::new(owned.document());
    write(root, resource, &new, &mut editor)?;
    editor.splice()?.into_text()
}

/// A map that was made of nothing that has a text; parts of it may have one.
fn made<'f>(fields: &Fields<'f>) -> Result<Content<'f>, EditError> {
    let empty = OwnedDocument::parse("{}\n".to_owned()).map_err(EditError::Broken)?;
    let Some(root) = empty.root() else {
        return Ok(Content::Value(Value::Mapping(Vec::new())));
    };
    let mut editor = Editor::new(empty.document());
    for field in fields.iter() {
        insert(root, None, &field, &mut editor)?;
    }
    let text = OwnedDocument::parse(editor.finish()?).map_err(EditError::Broken)?;
    Ok(Content::Text(Arc::new(text)))
}
