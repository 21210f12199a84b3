//! Writes a result into the text that it was made from. Unchanged values keep their bytes, moved values keep their text
//! and comments, and new values have the text and comments of the patch.
//!
//! ```yaml
//! env:                    # before      # after, with A changed, B first and C from the patch
//! - name: A # the first                 - name: B
//!   value: one                          - name: A # the first
//! - name: B                               value: two
//!                                       - name: C # new
//! ```

mod elements;
mod text;

use super::node::{Fields, Finder, ListItem, Node, Shape, same_place};
use krm_yaml::{
    Children, Content, EditError, Editor, EntryRef, NewValue, NodeKind, NodeRef, Part, PartOrder,
    Value, ValueChange, kept_in_order,
};

use elements::kept;
use text::content;
pub use text::{text_of, to_text};

/// Edits a node so that it has a value, with the fewest edits. Returns whether elements of a list with comments were
/// added, removed or moved.
///
/// `twin` is the node that the value was made from: `node` itself, or the node that `node` is a copy of.
///
/// # Errors
/// The errors of the [`Editor`].
pub fn write<'d, 'f>(
    node: NodeRef<'d>,
    twin: NodeRef<'f>,
    new: Node<'f>,
    editor: &mut Editor<'d, 'f>,
) -> Result<bool, EditError> {
    editor.write(node, &Patched { twin, new })
}

/// A value, and the node that it was made from.
struct Patched<'f> {
    twin: NodeRef<'f>,
    new: Node<'f>,
}

/// The parts of a value, and those of the node that it was made from.
struct PatchedParts<'f> {
    old: Children<'f>,
    new: NewParts<'f>,
}

enum NewParts<'f> {
    Map(Fields<'f>),
    List(Vec<ListItem<'f>>),
}

impl<'d, 'f> NewValue<'d, 'f> for Patched<'f> {
    type Parts = PatchedParts<'f>;

    fn change(&self, node: NodeRef<'d>) -> Result<ValueChange<'f, Self::Parts>, EditError> {
        let Self { twin, new } = self;
        let old = Node::Text(*twin);
        if new.is(&old) || new.is(&Node::Text(twin.resolved())) {
            return Ok(ValueChange::None);
        }
        let is_alias = node.kind() == NodeKind::Alias;
        let children = || Children::of(twin.resolved());
        Ok(match (old.shape(), new.shape()) {
            (Shape::Map, Shape::Map) if !is_alias => {
                let finder = Finder::of(Some(new));
                let order = order_of(&old, &finder);
                let (old, new) = (children(), NewParts::Map(finder.fields));
                ValueChange::Parts(PatchedParts { old, new }, order)
            }
            (Shape::List, Shape::List) if !is_alias && !new.is_empty() && !old.is_empty() => {
                let old = children();
                let kept = kept(new, &old).into_iter().enumerate();
                let order = kept.map(|(at, kept)| (kept, at)).collect();
                let new = NewParts::List(new.placed_items().collect());
                ValueChange::Parts(PatchedParts { old, new }, order)
            }
            _ if new.equals(&old) => ValueChange::None,
            // A scalar keeps its style.
            (Shape::Scalar, Shape::Scalar) if !is_alias => {
                ValueChange::Replaced(Content::Value(new.to_value()), None)
            }
            _ => ValueChange::Replaced(content(new)?, new.source()),
        })
    }

    fn kept(&self, parts: &Self::Parts, at: usize, old: usize) -> Option<Self> {
        let owner = parts.old.owner(old);
        match &parts.new {
            NewParts::Map(fields) => Some(Self {
                twin: EntryRef::of_key(owner).value,
                new: fields.get(at).value,
            }),
            NewParts::List(items) => {
                let item = &items[at];
                let place = item.place.filter(|(_, place)| same_place(*place, owner));
                let new = || item.value.clone();
                place.map(|(_, twin)| Self { twin, new: new() })
            }
        }
    }

    fn new_part(&self, parts: &Self::Parts, at: usize) -> Result<Part<'f>, EditError> {
        match &parts.new {
            NewParts::Map(fields) => new_entry(fields, at),
            NewParts::List(items) => {
                let content = content(&items[at].value)?;
                Ok(match items[at].place {
                    Some((_, place)) => Part::Item(place, content),
                    None => Part::New(None, content),
                })
            }
        }
    }
}

/// Existing fields keep their order. A new directive goes before the existing field that follows it in the new map, other
/// new fields to the end.
fn order_of(old: &Node<'_>, new: &Finder<'_>) -> PartOrder {
    let fields = &new.fields;
    let places = old.each_field().map(|field| new.position(&field.key));
    let mut order = kept_in_order(places, fields.len());
    let kept = order.partition_point(|(old, _)| old.is_some());
    for place in kept..order.len() {
        let (_, at) = order[place];
        if !fields.key(at).starts_with('$') {
            continue;
        }
        let place_of = |after| {
            order
                .iter()
                .position(|(old, at)| old.is_some() && *at == after)
        };
        if let Some(before) = (at + 1..fields.len()).find_map(place_of) {
            order[before..=place].rotate_right(1);
        }
    }
    order
}

/// The entry of a new map at an index.
fn new_entry<'f>(fields: &Fields<'f>, at: usize) -> Result<Part<'f>, EditError> {
    if let Some(key) = fields.null_key(at) {
        return Ok(Part::Null(key));
    }
    let field = fields.get(at);
    let content = content(&field.value)?;
    Ok(match field.entry {
        Some(entry) if entry.key.key_text() == Some(&*field.key) => Part::Entry(entry, content),
        _ => Part::New(Some(Value::from(&*field.key)), content),
    })
}
