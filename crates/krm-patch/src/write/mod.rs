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
use krm_yaml::{Children, Content, EditError, Editor, EntryRef, NodeKind, NodeRef, Part};

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
    new: &Node<'f>,
    editor: &mut Editor<'d, 'f>,
) -> Result<bool, EditError> {
    let mut writer = Writer::default();
    writer.node(node, twin, new, editor)?;
    Ok(writer.moves_comments)
}

#[derive(Default)]
struct Writer {
    moves_comments: bool,
}

impl Writer {
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
            _ => {
                if let Some(source) = new.source() {
                    editor.bring_value_comments(node, source);
                }
                editor.replace(node, content(new)?)
            }
        }
    }

    fn map<'d, 'f>(
        &mut self,
        node: NodeRef<'d>,
        twin: NodeRef<'f>,
        new: &Node<'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<(), EditError> {
        let old = Node::Text(twin);
        let finder = Finder::of(Some(new));
        let fields = &finder.fields;
        // Which fields of the new map exist already, and which entries of the old map stay.
        let mut known = vec![false; fields.len()];
        let mut stays = Vec::new();
        for (entry, field) in node.resolved().entries().zip(old.each_field()) {
            let place = finder.position(&field.key);
            stays.push(place.is_some());
            let Some(at) = place else { continue };
            known[at] = true;
            let Some(twin) = field.entry else { continue };
            self.node(entry.value, twin.value, &fields.get(at).value, editor)?;
        }
        if stays.contains(&false) {
            editor.remove_parts(node, |index| !stays[index]);
        }
        // A new directive goes before the existing field that follows it in the new map. Other new fields go to the
        // end.
        let position = |at: usize| -> Option<usize> {
            let is_directive = fields.key(at).starts_with('$');
            is_directive.then_some(())?;
            let after = (at + 1..fields.len()).find(|at| known[*at])?;
            let mut kept = old.each_field().zip(&stays).filter(|(_, stays)| **stays);
            kept.position(|(field, _)| field.key == fields.key(after))
        };
        let mut inserted = 0;
        for at in (0..fields.len()).filter(|at| !known[*at]) {
            let position = position(at).map(|position| position + inserted);
            inserted += usize::from(position.is_some());
            insert(node, position, fields, at, editor)?;
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
        let old = Children::of(twin.resolved());
        let kept = kept(new, &old);
        let own = Children::of(node);
        let mut same = kept.len() == old.count();
        for (at, (item, kept)) in new.placed_items().zip(&kept).enumerate() {
            same &= *kept == Some(at);
            if let (Some(index), Some((_, place))) = (*kept, item.place)
                && same_place(place, old.owner(index))
            {
                self.node(own.owner(index), place, &item.value, editor)?;
            }
        }
        if same {
            return Ok(());
        }
        self.moves_comments |= krm_core::kptfile::has_comments(node);
        let mut made: Vec<(usize, ListItem<'f>)> = Vec::new();
        let mut failure = None;
        let parts = new.placed_items().zip(&kept).enumerate();
        let parts = parts.filter_map(|(at, (item, kept))| match (kept, item.place) {
            (Some(index), _) => Some(Part::Kept(*index)),
            (None, Some((_, place))) => {
                let content = content(&item.value).map_err(|error| failure = Some(error));
                Some(Part::Item(place, content.ok()?))
            }
            (None, None) => {
                made.push((at, item));
                None
            }
        });
        editor.arrange(node, parts)?;
        failure.map_or(Ok(()), Err)?;
        for (at, item) in made {
            editor.insert_item(node, Some(at), content(&item.value)?)?;
        }
        Ok(())
    }
}

fn insert<'d, 'f>(
    node: NodeRef<'d>,
    position: Option<usize>,
    fields: &Fields<'f>,
    at: usize,
    editor: &mut Editor<'d, 'f>,
) -> Result<(), EditError> {
    if let Some(key) = fields.null_key(at) {
        return editor.insert_null(node, position, key);
    }
    let field = fields.get(at);
    let content = content(&field.value)?;
    match field.entry {
        Some(entry) if is_own_key(entry, &field.key) => {
            editor.insert_entry_like(node, position, entry, content)
        }
        _ => editor.insert_entry(node, position, &field.key, content),
    }
}

fn is_own_key(entry: EntryRef<'_>, key: &str) -> bool {
    entry.key.key_text() == Some(key)
}
