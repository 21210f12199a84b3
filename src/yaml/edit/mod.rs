//! Changes to nodes become replacements in the source.
//!
//! An [`Editor`] collects, for each collection, what its entries or items shall be: kept ones (by
//! their old index) and new ones, in order. [`Editor::finish`] turns that into disjoint
//! replacements, so the order in which changes were asked for does not matter, and a moved entry takes
//! its own bytes, comments and inner changes along.
//!
//! ```
//! use krm_variants::yaml::{Content, Document, Editor, ParseOptions, Tree, Value};
//! let text = "data:\n  # the region\n  region: us # old\n  zone: a\n";
//! let tree = Tree::parse(text, ParseOptions::default()).unwrap();
//! let document = Document::new(text, &tree);
//! let data = document.root(0).unwrap().get("data").unwrap();
//! let mut editor = Editor::new(document);
//! editor.set(data, "region", Content::Value(Value::from("eu"))).unwrap();
//! editor.remove_entry(data, "zone").unwrap();
//! editor.set(data, "flag", Content::Value(Value::from("yes"))).unwrap();
//! let after = "data:\n  # the region\n  region: eu # old\n  flag: \"yes\"\n";
//! assert_eq!(editor.finish().unwrap(), after);
//! ```

mod block;
mod emit;
mod flow;
mod fold;
mod format;
mod keys;
mod lines;
mod merge_key;
mod place;
mod settle;
mod slots;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use keys::KeyIndexes;
use lines::{ends_in_block_scalar, newline_at};
use slots::{NewSlot, Slot, spans};

use super::content::Content;
use super::document::{Document, EntryRef, NodeRef};
use super::error::EditError;
use super::text_edit::TextEdit;
use super::tree::{NodeId, NodeKind, ParseOptions, Tree};
use super::value::Value;

/// An entry or item of a collection as it shall be.
#[derive(Debug, Clone)]
pub enum Part<'f> {
    /// The entry or item of this index in the source.
    Kept(usize),
    /// A copy of another document's entry, with the comments above and behind it.
    Entry(EntryRef<'f>, Content<'f>),
    /// A copy of another document's item, with the comments above and behind it.
    Item(NodeRef<'f>, Content<'f>),
}

/// New comments of an entry or item.
#[derive(Debug, Clone, Default)]
struct Comments {
    /// Lines directly above, each from its `#`.
    above: Option<Vec<String>>,
    /// Behind the value, or behind the indicator of a value on lines of its own; empty for none.
    behind: Option<String>,
}

#[derive(Debug, Clone)]
enum Change<'a> {
    Replace(Content<'a>),
    Slots(Vec<Slot<'a>>),
}

/// Collects changes to the nodes of one document.
#[derive(Debug)]
pub struct Editor<'d, 'f> {
    document: Document<'d>,
    /// The expanded tree of a document that has aliases or merge keys.
    own_tree: Option<Box<Tree>>,
    changes: BTreeMap<NodeId, Change<'f>>,
    /// By the key of the entry, or by the item.
    comments: BTreeMap<NodeId, Comments>,
    /// Comment lines that new entries and items do not bring along.
    without: Arc<HashSet<String>>,
    /// Start of every block sequence that is the value of a key, and whether it is indented.
    sequences: OnceCell<Vec<(usize, bool)>>,
    /// Start of every block sequence, and the columns from its dash to what follows.
    dashes: OnceCell<Vec<(usize, usize)>>,
    /// Columns per level in the block mappings that were looked at.
    steps: RefCell<HashMap<NodeId, Option<usize>>>,
    /// The rest of the line that was last looked at, and its line break.
    line: Cell<(usize, usize, &'static str)>,
    /// Entries and items that are taken out, by their index in the source.
    gone: BTreeMap<NodeId, HashSet<usize>>,
    keys: RefCell<KeyIndexes<'d>>,
}

impl<'d, 'f> Editor<'d, 'f> {
    /// An editor without changes.
    #[must_use]
    pub fn new(document: Document<'d>) -> Self {
        let tree = document.tree;
        let is_plain = tree.expansion.is_none() && (!tree.shared.is_empty() || tree.merges);
        let own_tree = is_plain.then(|| tree.clone().expanded(document.text));
        let own_tree = own_tree.filter(|tree| tree.expansion.is_some());
        Self::of(document, own_tree.map(Box::new))
    }

    fn of(document: Document<'d>, own_tree: Option<Box<Tree>>) -> Self {
        Self {
            document,
            own_tree,
            changes: BTreeMap::new(),
            comments: BTreeMap::new(),
            without: Arc::default(),
            sequences: OnceCell::new(),
            dashes: OnceCell::new(),
            steps: RefCell::default(),
            line: Cell::default(),
            gone: BTreeMap::new(),
            keys: RefCell::default(),
        }
    }

    /// Names comment lines that entries and items which come from now on do not bring along, each
    /// from its `#`.
    pub fn leave_out(&mut self, lines: HashSet<String>) {
        self.without = Arc::new(lines);
    }

    /// Whether nothing was changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.comments.is_empty()
    }

    /// Whether anything was changed at a node or within it.
    #[must_use]
    pub fn touches(&self, node: NodeRef<'d>) -> bool {
        let ids = NodeId(node.ids().start)..NodeId(node.ids().end);
        self.changes.range(ids.clone()).next().is_some()
            || self.comments.range(ids).next().is_some()
    }

    /// Forgets all changes at a node and within it.
    pub fn discard(&mut self, node: NodeRef<'d>) {
        let ids = NodeId(node.ids().start)..NodeId(node.ids().end);
        let changed = self.changes.range(ids.clone()).map(|(id, _)| *id);
        let commented = self.comments.range(ids).map(|(id, _)| *id);
        let touched: Vec<NodeId> = changed.chain(commented).collect();
        for id in touched {
            self.changes.remove(&id);
            self.comments.remove(&id);
            self.gone.remove(&id);
        }
    }

    /// Gives a node other content. A scalar keeps its style where the new text can be written in it.
    ///
    /// # Errors
    /// [`EditError::SharedAnchor`].
    pub fn replace(&mut self, node: NodeRef<'d>, content: Content<'f>) -> Result<(), EditError> {
        self.refuse(node, || node.shared_anchor())?;
        let content = readable(content)?;
        self.gone.remove(&node.id);
        self.changes.insert(node.id, Change::Replace(content));
        Ok(())
    }

    /// Replaces the value of a key, or adds an entry behind the last one.
    ///
    /// # Errors
    /// [`EditError::SharedAnchor`]; [`EditError::WrongKind`] if `mapping` is neither a mapping nor empty.
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

    /// Adds an entry to a mapping (or to an empty value): before the slot `position`, or last.
    ///
    /// # Errors
    /// [`EditError::SharedAnchor`]; [`EditError::WrongKind`] if `mapping` is neither a mapping nor empty.
    pub fn insert_entry(
        &mut self,
        mapping: NodeRef<'d>,
        position: Option<usize>,
        key: &str,
        content: Content<'f>,
    ) -> Result<(), EditError> {
        let slot = NewSlot {
            key: Some(Value::from(key)),
            content,
            entry: None,
            item: None,
            without: Arc::clone(&self.without),
        };
        self.insert_slot(mapping, position, slot, true)
    }

    /// Adds a copy of another document's entry, with the comments above and behind it.
    ///
    /// # Errors
    /// As [`Editor::insert_entry`].
    pub fn insert_entry_from(
        &mut self,
        mapping: NodeRef<'d>,
        position: Option<usize>,
        entry: EntryRef<'f>,
    ) -> Result<(), EditError> {
        self.insert_entry_like(mapping, position, entry, Content::Node(entry.value))
    }

    /// Adds an entry with other content than the entry of another document that it is a copy of;
    /// the comments above and behind that one come along.
    ///
    /// # Errors
    /// As [`Editor::insert_entry`].
    pub fn insert_entry_like(
        &mut self,
        mapping: NodeRef<'d>,
        position: Option<usize>,
        entry: EntryRef<'f>,
        content: Content<'f>,
    ) -> Result<(), EditError> {
        let slot = NewSlot {
            key: Some(key_of(entry)?),
            content,
            entry: Some(entry),
            item: None,
            without: Arc::clone(&self.without),
        };
        self.insert_slot(mapping, position, slot, true)
    }

    /// Adds an item to a sequence (or to an empty value): before the slot `position`, or last.
    ///
    /// # Errors
    /// [`EditError::SharedAnchor`]; [`EditError::WrongKind`] if `sequence` is neither a sequence nor empty.
    pub fn insert_item(
        &mut self,
        sequence: NodeRef<'d>,
        position: Option<usize>,
        content: Content<'f>,
    ) -> Result<(), EditError> {
        let slot = NewSlot {
            key: None,
            content,
            entry: None,
            item: None,
            without: Arc::clone(&self.without),
        };
        self.insert_slot(sequence, position, slot, false)
    }

    /// Adds a copy of another document's item, with the comments above and behind it.
    ///
    /// # Errors
    /// As [`Editor::insert_item`].
    pub fn insert_item_from(
        &mut self,
        sequence: NodeRef<'d>,
        position: Option<usize>,
        item: NodeRef<'f>,
    ) -> Result<(), EditError> {
        let content = Content::Node(item);
        let slot = NewSlot {
            key: None,
            content,
            entry: None,
            item: Some(item),
            without: Arc::clone(&self.without),
        };
        self.insert_slot(sequence, position, slot, false)
    }

    /// Removes the entry of a key, with its trailing comment and the comment lines directly above.
    /// A mapping that loses its last entry becomes `{}`. Says whether the key was there.
    ///
    /// # Errors
    /// [`EditError::SharedAnchor`].
    pub fn remove_entry(&mut self, mapping: NodeRef<'d>, key: &str) -> Result<bool, EditError> {
        let Some((index, entry)) = self.find(mapping, key) else {
            return Ok(false);
        };
        let ids = entry.key.id.0..entry.value.ids().end;
        self.refuse(mapping, || mapping.shared_above())?;
        self.refuse(entry.value, || self.document.read_from_outside(ids))?;
        self.slots(mapping);
        self.gone.entry(mapping.id).or_default().insert(index);
        Ok(true)
    }

    /// Removes the items of a sequence for which `remove` is true. An emptied sequence becomes `[]`.
    ///
    /// # Errors
    /// [`EditError::SharedAnchor`].
    pub fn remove_items(
        &mut self,
        sequence: NodeRef<'d>,
        remove: impl Fn(usize) -> bool,
    ) -> Result<(), EditError> {
        self.refuse(sequence, || sequence.shared_above())?;
        for (index, item) in sequence.items().enumerate() {
            if remove(index) {
                self.refuse(item, || self.document.read_from_outside(item.ids()))?;
            }
        }
        self.slots(sequence)
            .retain(|slot| !matches!(slot, Slot::Kept(kept) if remove(*kept)));
        Ok(())
    }

    /// Puts the kept entries or items into another order: `order` lists all their old indexes.
    /// New ones go behind.
    ///
    /// # Errors
    /// [`EditError::SharedAnchor`].
    pub fn reorder(&mut self, collection: NodeRef<'d>, order: &[usize]) -> Result<(), EditError> {
        self.refuse(collection, || {
            let anchor = collection.shared_above();
            anchor.or_else(|| collection.anchor_in_order())
        })?;
        let ranks = order.iter().enumerate();
        let ranks: HashMap<usize, usize> = ranks.map(|(rank, kept)| (*kept, rank)).collect();
        self.settled_slots(collection)
            .sort_by_key(|slot| match slot {
                Slot::Kept(kept) => ranks.get(kept).copied().unwrap_or(usize::MAX),
                Slot::New(_) => usize::MAX,
            });
        Ok(())
    }

    /// Gives a collection (or an empty value) exactly these entries or items, in this order.
    ///
    /// # Errors
    /// [`EditError::SharedAnchor`]; [`EditError::WrongKind`] if new parts do not fit the collection.
    pub fn arrange(
        &mut self,
        collection: NodeRef<'d>,
        parts: Vec<Part<'f>>,
    ) -> Result<(), EditError> {
        let kept: Vec<usize> = parts
            .iter()
            .filter_map(|part| match part {
                Part::Kept(index) => Some(*index),
                _ => None,
            })
            .collect();
        let kind = collection.kind();
        let empty = matches!(kind, NodeKind::Scalar(_)) && collection.is_null();
        let fits = parts.iter().all(|part| match part {
            Part::Kept(_) => true,
            Part::Entry(..) => kind.is_mapping() || empty,
            Part::Item(..) => kind.is_sequence() || empty,
        });
        if !fits {
            return Err(EditError::WrongKind {
                place: collection.path().to_string(),
                expected: if kind.is_mapping() {
                    "sequence"
                } else {
                    "mapping"
                },
                found: collection.kind_name(),
            });
        }
        self.refuse(collection, || collection.shared_above())?;
        if kept.windows(2).any(|pair| pair[0] > pair[1]) {
            self.refuse(collection, || collection.anchor_in_order())?;
        }
        let spans = spans(collection);
        let mut stays = vec![false; spans.len()];
        kept.iter().for_each(|index| stays[*index] = true);
        for ((_, ids), _) in spans.iter().zip(&stays).filter(|(_, stays)| !**stays) {
            self.refuse(collection, || self.document.read_from_outside(ids.clone()))?;
        }
        let slots = parts.into_iter().map(|part| {
            let new = match part {
                Part::Kept(index) => return Ok(Slot::Kept(index)),
                Part::Entry(entry, content) => NewSlot {
                    key: Some(key_of(entry)?),
                    content: readable(content)?,
                    entry: Some(entry),
                    item: None,
                    without: Arc::clone(&self.without),
                },
                Part::Item(item, content) => NewSlot {
                    key: None,
                    content: readable(content)?,
                    entry: None,
                    item: Some(item),
                    without: Arc::clone(&self.without),
                },
            };
            Ok(Slot::New(Box::new(new)))
        });
        let slots = slots.collect::<Result<Vec<_>, _>>()?;
        self.refuse_keys_twice(collection, &slots)?;
        let slots = Change::Slots(slots);
        self.gone.remove(&collection.id);
        self.changes.insert(collection.id, slots);
        Ok(())
    }

    /// Gives an entry (by its key) or an item of a block collection other comment lines directly
    /// above it. Nothing happens behind a dash, where no line is above.
    pub fn set_comments_above(&mut self, owner: NodeRef<'d>, lines: &[&str]) {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        self.comments.entry(owner.id).or_default().above = Some(lines);
    }

    /// Gives an entry (by its key) or an item of a block collection another comment at the end of
    /// its line; an empty one takes it away.
    pub fn set_comment_behind(&mut self, owner: NodeRef<'d>, comment: &str) {
        self.comments.entry(owner.id).or_default().behind = Some(comment.to_owned());
    }

    /// Refuses an edit below an anchor of a text that cannot be expanded.
    fn refuse(
        &self,
        node: NodeRef<'d>,
        anchor: impl FnOnce() -> Option<&'d str>,
    ) -> Result<(), EditError> {
        if self.own_tree.is_some() {
            return Ok(());
        }
        match anchor() {
            Some(anchor) => Err(EditError::SharedAnchor {
                place: node.path().to_string(),
                anchor: anchor.to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Refuses a new key that is a collection and there already, perhaps written otherwise.
    fn refuse_keys_twice(&self, mapping: NodeRef<'d>, slots: &[Slot<'f>]) -> Result<(), EditError> {
        let is_collection = |key: &Value| matches!(key, Value::Mapping(_) | Value::Sequence(_));
        let new = slots.iter().filter_map(|slot| match slot {
            Slot::New(new) => new.key.as_ref().filter(|key| is_collection(key)),
            Slot::Kept(_) => None,
        });
        let mut new = new.peekable();
        if new.peek().is_none() {
            return Ok(());
        }
        let keys: Vec<_> = mapping.entries().map(|entry| entry.key).collect();
        let kept = slots.iter().filter_map(|slot| match slot {
            Slot::Kept(index) => keys[*index].value(),
            Slot::New(_) => None,
        });
        let mut seen: HashSet<_> = kept.collect();
        match new.find(|key| !seen.insert((*key).clone())) {
            Some(key) => Err(EditError::KeyTwice {
                place: mapping.path().to_string(),
                key: key.to_json(),
            }),
            None => Ok(()),
        }
    }

    /// The entry of a key, with its index. A large mapping that is asked again gets an index.
    fn find(&self, mapping: NodeRef<'d>, key: &str) -> Option<(usize, EntryRef<'d>)> {
        self.keys.borrow_mut().find(mapping, key)
    }

    /// The slots without those that were taken out: their places can be counted.
    fn settled_slots(&mut self, collection: NodeRef<'d>) -> &mut Vec<Slot<'f>> {
        let gone = self.gone.remove(&collection.id).unwrap_or_default();
        let slots = self.slots(collection);
        take_out(slots, &gone);
        slots
    }

    fn slots(&mut self, collection: NodeRef<'d>) -> &mut Vec<Slot<'f>> {
        let fresh = || {
            let count = collection.entries().count() + collection.items().count();
            Change::Slots((0..count).map(Slot::Kept).collect())
        };
        let change = self.changes.entry(collection.id).or_insert_with(fresh);
        if let Change::Replace(_) = change {
            *change = Change::Slots(Vec::new());
        }
        match change {
            Change::Slots(slots) => slots,
            Change::Replace(_) => unreachable!("replaced just above"),
        }
    }

    fn insert_slot(
        &mut self,
        collection: NodeRef<'d>,
        position: Option<usize>,
        slot: NewSlot<'f>,
        mapping: bool,
    ) -> Result<(), EditError> {
        let slot = NewSlot {
            content: readable(slot.content)?,
            ..slot
        };
        let kind = collection.kind();
        let fits = if mapping {
            kind.is_mapping()
        } else {
            kind.is_sequence()
        };
        let empty = matches!(kind, NodeKind::Scalar(_)) && collection.is_null();
        if !fits && !empty {
            return Err(EditError::WrongKind {
                place: collection.path().to_string(),
                expected: if mapping { "mapping" } else { "sequence" },
                found: collection.kind_name(),
            });
        }
        self.refuse(collection, || collection.shared_above())?;
        let slot = Slot::New(Box::new(slot));
        match position {
            None => self.slots(collection).push(slot),
            Some(position) => {
                let slots = self.settled_slots(collection);
                slots.insert(position.min(slots.len()), slot);
            }
        }
        Ok(())
    }

    /// The text with all changes made.
    ///
    /// # Errors
    /// [`EditError::Broken`] if the result does not parse; that is a fault of this program, and
    /// refusing is better than writing it.
    pub fn finish(self) -> Result<String, EditError> {
        self.finish_with(ParseOptions::default())
            .map(|(text, _)| text)
    }

    /// The text with all changes made, and its tree.
    ///
    /// # Errors
    /// As [`Editor::finish`].
    pub fn finish_with(self, options: ParseOptions) -> Result<(String, Tree), EditError> {
        self.splice()?.parse(options)
    }

    /// Takes out what was removed.
    fn take_out_gone(&mut self) {
        for (id, gone) in std::mem::take(&mut self.gone) {
            if let Some(Change::Slots(slots)) = self.changes.get_mut(&id) {
                take_out(slots, &gone);
            }
        }
    }

    fn spliced(self) -> Result<Spliced, EditError> {
        let source = self.document.text;
        let mut edit = TextEdit::default();
        self.emit(0..u32::MAX, &mut edit)?;
        if edit.ranges().len() == 0 || source.ends_with('\n') || source.is_empty() {
            let text = edit.apply(source, 0)?;
            return Ok(Spliced { text, cut: None });
        }
        // Every line shall end in a line break while lines are put in and taken out.
        let end = source.len();
        if edit.ranges().any(|range| range.start > end) {
            self.strip_cut_scalar(0..end, &mut edit);
        }
        let last_line = self.document.line_start(end);
        let untouched = edit.ranges().all(|range| range.end < last_line);
        let newline = newline_at(source, end);
        let mut text = edit.apply(&format!("{source}{newline}"), 0)?;
        // Where line ends are mixed, the last one may be another than `newline`.
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let length = line.strip_suffix('\r').unwrap_or(line).len();
        let cut = text.split_off(length);
        let cut = (!untouched).then_some(cut);
        Ok(Spliced { text, cut })
    }
}

/// A text with changes made.
#[derive(Debug)]
pub(crate) struct Spliced {
    text: String,
    /// The line break that was taken off the end again, where the last line changed.
    cut: Option<String>,
}

impl Spliced {
    /// The text, which whoever writes it out has to parse.
    ///
    /// # Errors
    /// [`EditError::Broken`].
    pub(crate) fn into_text(self) -> Result<String, EditError> {
        if self.cut.is_none() {
            return Ok(self.text);
        }
        self.parse(ParseOptions::default()).map(|(text, _)| text)
    }

    /// The text, and its tree.
    ///
    /// # Errors
    /// [`EditError::Broken`].
    pub(crate) fn parse(self, options: ParseOptions) -> Result<(String, Tree), EditError> {
        let Self { text, cut } = self;
        let tree = Tree::parse(&text, options).map_err(EditError::Broken)?;
        let document = Document::new(&text, &tree);
        let Some(cut) = cut.filter(|_| ends_in_block_scalar(document)) else {
            return Ok((text, tree));
        };
        // A new block scalar at the end of the text needs the line break that the text had not.
        let whole = format!("{text}{cut}");
        let whole_tree = Tree::parse(&whole, options).map_err(EditError::Broken)?;
        let last = |text, tree| {
            Document::new(text, tree)
                .last_node()
                .and_then(|n| n.scalar_text())
        };
        if last(&text, &tree) == last(&whole, &whole_tree) {
            return Ok((text, tree));
        }
        Ok((whole, whole_tree))
    }
}

fn take_out(slots: &mut Vec<Slot<'_>>, gone: &HashSet<usize>) {
    if !gone.is_empty() {
        slots.retain(|slot| !matches!(slot, Slot::Kept(kept) if gone.contains(kept)));
    }
}

/// Content that can be written: where it has aliases, which read what is not here, or keys that
/// are collections, it is written anew from its value.
fn readable(content: Content<'_>) -> Result<Content<'_>, EditError> {
    if let Content::Node(node) = &content
        && node.is_complex()
    {
        let value = node.value().ok_or_else(|| endless(*node))?;
        if let Some(key) = key_twice(&value) {
            return Err(EditError::KeyTwice {
                place: node.path().to_string(),
                key: key.to_json(),
            });
        }
    }
    Ok(content)
}

/// A key that a mapping within has twice: collections as keys may be there twice in a text, if
/// they are not written alike.
fn key_twice(value: &Value) -> Option<&Value> {
    match value {
        Value::Mapping(entries) => {
            let mut keys = HashSet::new();
            let mut twice = entries.iter().map(|(key, _)| key);
            let found = twice.find(|key| !keys.insert(*key));
            let mut parts = entries.iter().flat_map(|(key, value)| [key, value]);
            found.or_else(|| parts.find_map(key_twice))
        }
        Value::Sequence(items) => items.iter().find_map(key_twice),
        _ => None,
    }
}

fn key_of(entry: EntryRef<'_>) -> Result<Value, EditError> {
    entry.key.value().ok_or_else(|| endless(entry.key))
}

fn endless(node: NodeRef<'_>) -> EditError {
    EditError::Endless {
        place: node.path().to_string(),
    }
}
