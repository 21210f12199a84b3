//! Turns changes of nodes into replacements in the source.
//!
//! An [`Editor`] collects the entries or items that each collection has after the edit, in order: kept ones (by their
//! old index) and new ones. [`Editor::finish`] turns them into disjoint replacements. The order in which changes are
//! requested therefore does not matter, and a moved entry keeps its bytes, comments and inner changes.
//!
//! ```
//! use krm_yaml::{Document, Editor, ParseOptions, Tree, Value};
//! let text = "data:\n  # the region\n  region: us # old\n  zone: a\n";
//! let tree = Tree::parse(text, ParseOptions::default()).unwrap();
//! let document = Document::new(text, &tree);
//! let data = document.root(0).unwrap().get("data").unwrap();
//! let mut editor = Editor::new(document);
//! editor.set(data, "region", Value::from("eu").into()).unwrap();
//! editor.remove_entry(data, "zone");
//! editor.set(data, "flag", Value::from("yes").into()).unwrap();
//! let after = "data:\n  # the region\n  region: eu # old\n  flag: \"yes\"\n";
//! assert_eq!(editor.finish().unwrap(), after);
//! ```

mod alias_write_back;
mod aliases;
mod block;
mod change;
mod finish;
mod flow;
mod format;
pub(crate) mod keys;
mod lines;
mod nodes;
mod owned;
mod place;
mod refuse;
mod slot;
mod slots;
mod units;
mod write;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use change::Change;
use keys::KeyIndexes;
pub(super) use lines::body_indent;
use refuse::readable;
use slot::Slot;
pub use write::{NewValue, PartOrder, ValueChange, kept_in_order};

use super::comments::{ValueComments, value_of};
use super::content::Content;
use super::document::Document;
use super::error::EditError;
use super::node::{EntryRef, NodeRef};
use super::tree::NodeId;
use super::value::Value;

/// An entry or item of a collection after the edit.
#[derive(Debug, Clone)]
pub enum Part<'f> {
    /// The entry or item of this index in the source.
    Kept(usize),
    /// A copy of another document's entry, with the comments above and after it.
    Entry(EntryRef<'f>, Content<'f>),
    /// A copy of another document's item, with the comments above and after it.
    Item(NodeRef<'f>, Content<'f>),
    /// A new entry with this key, or a new item without one.
    New(Option<Value>, Content<'f>),
    /// A copy of a scalar key of another document, with `null` as its value.
    Null(NodeRef<'f>),
}

/// New comments of an entry or item.
#[derive(Debug, Clone, Default)]
struct Comments {
    /// Lines directly above, each from its `#`.
    above: Option<Vec<String>>,
    value: Around,
}

/// Which comments a value has around it after the edit.
#[derive(Debug, Clone, Default)]
enum Around {
    /// The existing comments; if there are none, those of the new content.
    #[default]
    OwnElseBrought,
    /// The existing comments.
    Own,
    These(ValueComments<'static>),
}

/// Collects changes to the nodes of one document.
#[derive(Debug)]
pub struct Editor<'d, 'f> {
    document: Document<'d>,
    changes: BTreeMap<NodeId, Change<'f>>,
    /// Approximate number of bytes of all inserted content.
    added: usize,
    /// New comments, by the key of the entry or by the item.
    comments: BTreeMap<NodeId, Comments>,
    /// Start of every block sequence that is the value of a key, and whether it is indented.
    sequences: OnceCell<Vec<(usize, bool)>>,
    /// Start of every block sequence, and the number of columns from its dash to the content.
    dashes: OnceCell<Vec<(usize, usize)>>,
    /// Cache: columns per level of indentation in block mappings.
    steps: RefCell<HashMap<NodeId, Option<usize>>>,
    /// Cache: the rest of the line that was last looked at (start and end), and its line break.
    line: Cell<(usize, usize, &'static str)>,
    /// New lines in place of lines between entries and items.
    gaps: Vec<(Range<usize>, String)>,
    /// Entries and items to remove, by their index in the source.
    removed: BTreeMap<NodeId, HashSet<usize>>,
    keys: RefCell<KeyIndexes>,
}

impl<'d, 'f> Editor<'d, 'f> {
    /// An editor without changes.
    #[must_use]
    pub fn new(document: Document<'d>) -> Self {
        Self {
            document,
            changes: BTreeMap::new(),
            added: 0,
            comments: BTreeMap::new(),
            sequences: OnceCell::new(),
            dashes: OnceCell::new(),
            steps: RefCell::default(),
            line: Cell::default(),
            gaps: Vec::new(),
            removed: BTreeMap::new(),
            keys: RefCell::default(),
        }
    }

    /// Whether nothing was changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.comments.is_empty() && self.gaps.is_empty()
    }

    /// Whether the only changes are scalars in place of scalars, each on one line: all lines between entries and items
    /// then stay as they are.
    #[must_use]
    pub fn keeps_lines_alone(&self) -> bool {
        let is_on_one_line =
            |node: NodeRef<'_>| node.scalar_text().is_some() && !node.source().contains('\n');
        let mut changes = self.changes.iter();
        let mut comments = self.comments.values();
        self.gaps.is_empty()
            && self.removed.is_empty()
            && changes.all(|(id, change)| {
                is_on_one_line(self.document.node(*id))
                    && match change {
                        Change::Replace(Content::Node(node)) => is_on_one_line(*node),
                        Change::Replace(Content::Quoted(text)) => !text.contains('\n'),
                        Change::Replace(Content::Value(Value::String(text))) => {
                            !text.contains('\n')
                        }
                        Change::Replace(Content::Value(value)) => {
                            !matches!(value, Value::Mapping(_) | Value::Sequence(_))
                        }
                        Change::Replace(Content::Text(_) | Content::Map(_)) | Change::Slots(_) => {
                            false
                        }
                    }
            })
            && comments.all(|comments| {
                comments.above.is_none() && !matches!(comments.value, Around::These(_))
            })
    }

    /// Approximate number of bytes of all content inserted so far, including discarded content.
    pub fn added(&self) -> usize {
        self.added
    }

    /// Whether anything was changed at a node or within it.
    #[must_use]
    pub fn touches(&self, node: NodeRef<'d>) -> bool {
        let ids = NodeId(node.ids().start)..NodeId(node.ids().end);
        self.changes.range(ids.clone()).next().is_some()
            || self.comments.range(ids).next().is_some()
    }

    /// Discards all changes at a node and within it.
    pub fn discard(&mut self, node: NodeRef<'d>) {
        let lines = node.own_range().unwrap_or_else(|| node.range());
        self.gaps
            .retain(|(gap, _)| gap.end < lines.start || gap.start > lines.end);
        let ids = NodeId(node.ids().start)..NodeId(node.ids().end);
        let changed = self.changes.range(ids.clone()).map(|(id, _)| *id);
        let commented = self.comments.range(ids).map(|(id, _)| *id);
        let touched: Vec<NodeId> = changed.chain(commented).collect();
        for id in touched {
            self.changes.remove(&id);
            self.comments.remove(&id);
            self.removed.remove(&id);
        }
    }

    /// Replaces the content of a node. A scalar keeps its style where the new text can be written in it.
    ///
    /// # Errors
    /// [`EditError::Endless`] and [`EditError::KeyTwice`] for content that cannot be written.
    pub fn replace(&mut self, node: NodeRef<'d>, content: Content<'f>) -> Result<(), EditError> {
        let content = readable(content)?;
        self.added += content.length();
        self.removed.remove(&node.id);
        self.changes.insert(node.id, Change::Replace(content));
        Ok(())
    }

    /// Gives an entry another key. The value and the comments around it stay.
    ///
    /// # Errors
    /// As [`Editor::replace`].
    pub fn rename_key(&mut self, key: NodeRef<'d>, name: &str) -> Result<(), EditError> {
        self.replace(key, Content::Value(Value::from(name)))
    }

    /// Replaces the value of a key, or adds an entry after the last one.
    ///
    /// # Errors
    /// As [`Editor::replace`]; [`EditError::WrongKind`] if `mapping` is neither a mapping nor empty.
    pub fn set(
        &mut self,
        mapping: NodeRef<'d>,
        key: &str,
        content: Content<'f>,
    ) -> Result<(), EditError> {
        match self.find(mapping, key) {
            Some((_, entry)) => self.replace(entry.value, content),
            None => self.insert_entry(mapping, None, key, content),
        }
    }

    /// Replaces the value at the end of a chain of keys. Mappings that are missing are created.
    ///
    /// # Errors
    /// As [`Editor::set`].
    pub fn set_path(
        &mut self,
        node: NodeRef<'d>,
        keys: &[&str],
        content: Content<'f>,
    ) -> Result<(), EditError> {
        let Some((key, rest)) = keys.split_first() else {
            return self.replace(node, content);
        };
        let inner = node.entry(key).map(|entry| entry.value);
        match inner.filter(|inner| !rest.is_empty() && inner.may_have_entries()) {
            Some(inner) => self.set_path(inner, rest, content),
            None => {
                let within = |content, key: &&str| Content::Map(vec![((*key).to_owned(), content)]);
                self.set(node, key, rest.iter().rev().fold(content, within))
            }
        }
    }

    /// Sets fields of the mapping at the end of a chain of keys, or removes those without a value. A missing mapping is
    /// created; a field that is the same string keeps its bytes.
    ///
    /// # Errors
    /// As [`Editor::set`].
    pub fn set_fields<'v>(
        &mut self,
        node: NodeRef<'d>,
        keys: &[&str],
        fields: impl IntoIterator<Item = (&'v str, Option<&'v str>)>,
    ) -> Result<(), EditError> {
        let at = |node: NodeRef<'d>, key: &&str| node.entry(key).map(|entry| entry.value);
        let mapping = keys.iter().try_fold(node, at);
        let Some(mapping) = mapping.filter(NodeRef::may_have_entries) else {
            let entry = |(name, text)| Some(Value::entry(name, Value::from(text?)));
            let entries: Vec<_> = fields.into_iter().filter_map(entry).collect();
            if entries.is_empty() {
                return Ok(());
            }
            return self.set_path(node, keys, Value::Mapping(entries).into());
        };
        for (name, text) in fields {
            let old = mapping.get(name);
            match text {
                Some(text) if old.and_then(|old| old.as_str()) == Some(text) => {}
                Some(text) => self.set(mapping, name, Value::from(text).into())?,
                None if old.is_none() => {}
                None => drop(self.remove_entry(mapping, name)),
            }
        }
        Ok(())
    }

    /// Adds an entry to a mapping (or to an empty value): before the slot `position`, or last.
    ///
    /// # Errors
    /// As [`Editor::replace`]; [`EditError::WrongKind`] if `mapping` is neither a mapping nor empty.
    pub fn insert_entry(
        &mut self,
        mapping: NodeRef<'d>,
        position: Option<usize>,
        key: &str,
        content: Content<'f>,
    ) -> Result<(), EditError> {
        self.insert(
            mapping,
            position,
            Part::New(Some(Value::from(key)), content),
        )
    }

    /// Adds a part to a collection (or to an empty value): before the slot `position`, or last.
    ///
    /// # Errors
    /// As [`Editor::replace`]; [`EditError::WrongKind`] if the part does not fit the collection.
    pub fn insert(
        &mut self,
        collection: NodeRef<'d>,
        position: Option<usize>,
        part: Part<'f>,
    ) -> Result<(), EditError> {
        let slot = self.slot_of(collection, part)?;
        self.insert_slot(collection, position, slot);
        Ok(())
    }

    /// Adds an item to a sequence (or to an empty value): before the slot `position`, or last.
    ///
    /// # Errors
    /// As [`Editor::replace`]; [`EditError::WrongKind`] if `sequence` is neither a sequence nor empty.
    pub fn insert_item(
        &mut self,
        sequence: NodeRef<'d>,
        position: Option<usize>,
        content: Content<'f>,
    ) -> Result<(), EditError> {
        self.insert(sequence, position, Part::New(None, content))
    }

    /// Removes the entry of a key, with its trailing comment and the comment lines directly above. A mapping that loses
    /// its last entry becomes `{}`. Returns whether the key existed.
    pub fn remove_entry(&mut self, mapping: NodeRef<'d>, key: &str) -> bool {
        let Some((index, _)) = self.find(mapping, key) else {
            return false;
        };
        self.slots(mapping);
        self.removed.entry(mapping.id).or_default().insert(index);
        true
    }

    /// Removes the entries or items of a collection for which `remove` is true. A collection without remaining parts
    /// becomes `{}` or `[]`.
    pub fn remove_parts(&mut self, collection: NodeRef<'d>, remove: impl Fn(usize) -> bool) {
        self.slots(collection)
            .retain(|slot| !slot.kept().is_some_and(&remove));
    }

    /// Puts the kept entries or items into another order: `order` lists all their old indexes. New ones follow after
    /// them.
    pub fn reorder(&mut self, collection: NodeRef<'d>, order: &[usize]) {
        let ranks = order.iter().enumerate();
        let ranks: HashMap<usize, usize> = ranks.map(|(rank, kept)| (*kept, rank)).collect();
        self.current_slots(collection).sort_by_key(|slot| {
            let rank = slot.kept().and_then(|kept| ranks.get(&kept));
            rank.copied().unwrap_or(usize::MAX)
        });
    }

    /// Replaces all entries or items of a collection (or an empty value) with these parts, in this order.
    ///
    /// # Errors
    /// The errors of the parts; as [`Editor::replace`]; [`EditError::WrongKind`] if new parts do not fit the collection.
    pub fn arrange(
        &mut self,
        collection: NodeRef<'d>,
        parts: impl IntoIterator<Item = Result<Part<'f>, EditError>>,
    ) -> Result<(), EditError> {
        // There can be millions, so each part becomes a slot immediately.
        let slots = parts
            .into_iter()
            .map(|part| self.slot_of(collection, part?));
        let slots = slots.collect::<Result<Vec<_>, _>>()?;
        self.refuse_keys_twice(collection, &slots)?;
        self.removed.remove(&collection.id);
        self.changes.insert(collection.id, Change::slots(slots));
        Ok(())
    }

    /// Replaces the comment lines directly above an entry (by its key) or an item of a block collection. Does nothing
    /// for an entry on the line of a dash, which has no line above it.
    pub fn set_comments_above(&mut self, owner: NodeRef<'d>, lines: &[&str]) {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        self.comments.entry(owner.id).or_default().above = Some(lines);
    }

    /// Replaces whole lines of comments and blank lines between entries and items. No other change may touch the
    /// entries and items around them.
    pub fn replace_gap(&mut self, lines: Range<usize>, new: String) {
        self.added += new.len();
        self.gaps.push((lines, new));
    }

    /// How many gaps are replaced.
    pub fn gaps(&self) -> usize {
        self.gaps.len()
    }

    /// Replaces the comment at the end of the line of an entry (by its key) or an item of a block collection. An empty
    /// comment removes it.
    pub fn set_comment_after(&mut self, owner: NodeRef<'d>, comment: &str) {
        self.set_value_comments(owner, ValueComments::after(comment));
    }

    /// Replaces the comments around the value of an entry (by its key), or around an item, of a block collection.
    pub fn set_value_comments(&mut self, owner: NodeRef<'d>, comments: ValueComments<'_>) {
        let comments = Around::These(comments.into_owned());
        self.comments.entry(owner.id).or_default().value = comments;
    }

    /// Copies the comments around another value to a value that has none.
    pub(crate) fn bring_value_comments(&mut self, value: NodeRef<'d>, source: NodeRef<'_>) {
        if ValueComments::of(value).is_empty() {
            let owner = value.key_of_value().unwrap_or(value);
            self.set_value_comments(owner, ValueComments::of(source));
        }
    }

    /// Keeps the comments around the value of an entry (by its key), or around an item, even if new content replaces
    /// the value.
    pub fn keep_value_comments(&mut self, owner: NodeRef<'d>) {
        let change = value_of(owner).and_then(|value| self.changes.get(&value.id));
        if matches!(change, Some(Change::Replace(_))) {
            self.comments.entry(owner.id).or_default().value = Around::Own;
        }
    }
}
