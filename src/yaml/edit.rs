//! Changes to nodes become splices of the source.
//!
//! An [`Editor`] collects, for each collection, what its entries or items shall be: kept ones (by
//! their old index) and new ones, in order. [`Editor::finish`] turns that into sorted, disjoint
//! splices, so the order in which changes were asked for does not matter, and a moved entry takes
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

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::document::{Document, EntryRef, NodeRef};
use super::error::{EditError, ParseError};
use super::render::{self, Manner, Owner, Rendered, entry_end};
use super::scalar::{self, Context, ScalarStyle};
use super::tree::{NONE, NodeId, NodeKind, ParseOptions, Tree, skip_trivia};
use super::value::Value;

/// What is written into a place.
#[derive(Debug, Clone)]
pub enum Content<'f> {
    /// A value; it is spelled in the manner of its surroundings.
    Value(Value),
    /// A node of this or another document; its spelling and inner comments come along.
    Node(NodeRef<'f>),
    /// A text made for this place, with one document; as a node of it.
    Text(Arc<OwnedDocument>),
}

/// A text with its tree that belongs to nobody else.
#[derive(Debug)]
pub struct OwnedDocument {
    text: String,
    tree: Tree,
}

impl OwnedDocument {
    /// Parses a text and keeps it.
    ///
    /// # Errors
    /// What the parser refuses.
    pub fn parse(text: String) -> Result<Self, ParseError> {
        let tree = Tree::parse(&text, ParseOptions::default())?;
        Ok(Self { text, tree })
    }

    /// The document.
    #[must_use]
    pub fn document(&self) -> Document<'_> {
        Document::new(&self.text, &self.tree)
    }

    /// The root node; `None` if the text holds nothing.
    #[must_use]
    pub fn root(&self) -> Option<NodeRef<'_>> {
        self.document().root(0)
    }
}

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

/// Replacement of `range` by `text`.
#[derive(Debug, Clone)]
struct Splice {
    range: Range<usize>,
    text: String,
}

impl Splice {
    fn holds(&self, at: usize) -> bool {
        self.range.start <= at && self.range.end > at
    }
}

#[derive(Debug, Clone)]
struct NewSlot<'a> {
    /// Key of a mapping entry; items have none.
    key: Option<String>,
    content: Content<'a>,
    /// The entry of another document whose comments come along.
    entry: Option<EntryRef<'a>>,
    item: Option<NodeRef<'a>>,
}

#[derive(Debug, Clone)]
enum Slot<'a> {
    /// The entry or item of this index in the source.
    Kept(usize),
    New(Box<NewSlot<'a>>),
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
    changes: BTreeMap<NodeId, Change<'f>>,
    /// By the key of the entry, or by the item.
    comments: BTreeMap<NodeId, Comments>,
    /// Start of every block sequence that is the value of a key, and whether it is indented.
    sequences: OnceCell<Vec<(usize, bool)>>,
    /// Columns per level in the block mappings that were looked at.
    steps: RefCell<HashMap<NodeId, Option<usize>>>,
    /// The rest of the line that was last looked at, and its line break.
    line: Cell<(usize, usize, &'static str)>,
}

/// An entry or item in block style, and the lines that belong to it.
#[derive(Debug, Clone)]
struct Unit {
    /// First comment line directly above, or the line of the key or dash, or `start` itself where
    /// something else stands in front on that line.
    lines_start: usize,
    /// Key or dash.
    start: usize,
    /// Behind the line break of the last line, or of the comments directly below that are
    /// indented deeper.
    lines_end: usize,
    /// Behind deeper comments set off by blank lines as well: where what follows is put in.
    below: usize,
    /// Whether only white space stands in front of `start` on its line.
    own_line: bool,
    /// Node ids of the entry or item.
    ids: Range<u32>,
}

/// Lines that are put in at one place.
#[derive(Debug)]
struct Run {
    /// The unit above, one that stays where it is.
    behind: Option<usize>,
    lines: Vec<String>,
    /// Whether the last line is that of a block scalar which keeps the blank lines behind it.
    keeps: bool,
}

impl Run {
    fn behind(unit: Option<usize>) -> Self {
        Self {
            behind: unit,
            lines: Vec::new(),
            keeps: false,
        }
    }
}

impl<'d, 'f> Editor<'d, 'f> {
    /// An editor without changes.
    #[must_use]
    pub fn new(document: Document<'d>) -> Self {
        Self {
            document,
            changes: BTreeMap::new(),
            comments: BTreeMap::new(),
            sequences: OnceCell::new(),
            steps: RefCell::default(),
            line: Cell::default(),
        }
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
        self.changes.range(ids.clone()).next().is_some() || self.comments.range(ids).next().is_some()
    }

    /// Forgets all changes at a node and within it.
    pub fn discard(&mut self, node: NodeRef<'d>) {
        let ids = node.ids();
        self.changes.retain(|id, _| !ids.contains(&id.0));
        self.comments.retain(|id, _| !ids.contains(&id.0));
    }

    /// Gives a node other content. A scalar keeps its style where the new text can be written in it.
    ///
    /// # Errors
    /// [`EditError::SharedAnchor`].
    pub fn replace(&mut self, node: NodeRef<'d>, content: Content<'f>) -> Result<(), EditError> {
        refuse(node, node.shared_anchor())?;
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
        match mapping.entry(key) {
            Some(entry) => self.replace(entry.value, content),
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
            key: Some(key.to_owned()),
            content,
            entry: None,
            item: None,
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
        let key = entry.key.scalar_text().unwrap_or_default().to_owned();
        let content = Content::Node(entry.value);
        let slot = NewSlot {
            key: Some(key),
            content,
            entry: Some(entry),
            item: None,
        };
        self.insert_slot(mapping, position, slot, true)
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
        let key = entry.key.scalar_text().unwrap_or_default().to_owned();
        let slot = NewSlot {
            key: Some(key),
            content,
            entry: Some(entry),
            item: None,
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
        };
        self.insert_slot(sequence, position, slot, false)
    }

    /// Removes the entry of a key, with its trailing comment and the comment lines directly above.
    /// A mapping that loses its last entry becomes `{}`. Says whether the key was there.
    ///
    /// # Errors
    /// [`EditError::SharedAnchor`].
    pub fn remove_entry(&mut self, mapping: NodeRef<'d>, key: &str) -> Result<bool, EditError> {
        let mut entries = mapping.entries().enumerate();
        let found = entries.find(|(_, entry)| entry.key.as_str() == Some(key));
        let Some((index, entry)) = found else {
            return Ok(false);
        };
        let ids = entry.key.id.0..entry.value.ids().end;
        refuse(mapping, mapping.shared_above())?;
        refuse(entry.value, self.document.read_from_outside(ids))?;
        self.slots(mapping)
            .retain(|slot| !matches!(slot, Slot::Kept(kept) if *kept == index));
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
        refuse(sequence, sequence.shared_above())?;
        for (index, item) in sequence.items().enumerate() {
            if remove(index) {
                refuse(item, self.document.read_from_outside(item.ids()))?;
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
        let anchor = collection.shared_above();
        refuse(collection, anchor.or_else(|| collection.anchor_in_order()))?;
        let ranks = order.iter().enumerate();
        let ranks: HashMap<usize, usize> = ranks.map(|(rank, kept)| (*kept, rank)).collect();
        self.slots(collection).sort_by_key(|slot| match slot {
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
                expected: if kind.is_mapping() { "sequence" } else { "mapping" },
                found: collection.kind_name(),
            });
        }
        refuse(collection, collection.shared_above())?;
        if kept.windows(2).any(|pair| pair[0] > pair[1]) {
            refuse(collection, collection.anchor_in_order())?;
        }
        let spans = spans(collection);
        let mut stays = vec![false; spans.len()];
        kept.iter().for_each(|index| stays[*index] = true);
        for ((_, ids), _) in spans.iter().zip(&stays).filter(|(_, stays)| !**stays) {
            refuse(collection, self.document.read_from_outside(ids.clone()))?;
        }
        let slots = parts.into_iter().map(|part| match part {
            Part::Kept(index) => Slot::Kept(index),
            Part::Entry(entry, content) => Slot::New(Box::new(NewSlot {
                key: Some(entry.key.scalar_text().unwrap_or_default().to_owned()),
                content,
                entry: Some(entry),
                item: None,
            })),
            Part::Item(item, content) => Slot::New(Box::new(NewSlot {
                key: None,
                content,
                entry: None,
                item: Some(item),
            })),
        });
        let slots = Change::Slots(slots.collect());
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
        refuse(collection, collection.shared_above())?;
        let slots = self.slots(collection);
        let position = position.unwrap_or(slots.len()).min(slots.len());
        slots.insert(position, Slot::New(Box::new(slot)));
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
        let source = self.document.text;
        let mut splices = Vec::new();
        self.emit(0..u32::MAX, &mut splices);
        if splices.is_empty() || source.ends_with('\n') || source.is_empty() {
            let text = splice(source, 0, &mut splices);
            let tree = Tree::parse(&text, options).map_err(EditError::Broken)?;
            return Ok((text, tree));
        }
        // Every line shall end in a line break while lines are put in and taken out.
        let end = source.len();
        if let Some((header, strip)) = self.cut_short()
            && splices.iter().any(|splice| splice.range.start > end)
            && !splices.iter().any(|splice| splice.holds(header))
        {
            splices.push(strip);
        }
        let last_line = self.document.line_start(end);
        let untouched = splices.iter().all(|splice| splice.range.end < last_line);
        let newline = newline_at(source, end);
        let whole = splice(&format!("{source}{newline}"), 0, &mut splices);
        // Where line ends are mixed, the last one may be another than `newline`.
        let cut = whole.strip_suffix('\n').unwrap_or(&whole);
        let text = cut.strip_suffix('\r').unwrap_or(cut).to_owned();
        let tree = Tree::parse(&text, options).map_err(EditError::Broken)?;
        if untouched || !ends_in_block_scalar(Document::new(&text, &tree)) {
            return Ok((text, tree));
        }
        // A new block scalar at the end of the text needs the line break that the text had not.
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

    /// A block scalar that the end of the text cut short of its line break: where its header
    /// stands, and the indicator that keeps its value when a line break follows.
    fn cut_short(&self) -> Option<(usize, Splice)> {
        let node = self.document.node(self.document.tree.unterminated?);
        let header = node.range().start;
        let indicators = block_indicators(node);
        let from = header + 1;
        let range = match indicators.find(['+', '-']) {
            Some(at) => from + at..from + at + 1,
            None => from + indicators.len()..from + indicators.len(),
        };
        let text = "-".to_owned();
        Some((header, Splice { range, text }))
    }

    /// Splices for the changes at the nodes of `ids`.
    fn emit(&self, ids: Range<u32>, out: &mut Vec<Splice>) {
        let mut from = ids.start;
        while from < ids.end {
            let next = self.changes.range(NodeId(from)..NodeId(ids.end)).next();
            // The comments of a changed node's own line are not part of its content.
            let until = next.map_or(ids.end, |(id, _)| id.0 + 1);
            for (id, comments) in self.comments.range(NodeId(from)..NodeId(until)) {
                self.emit_comments(self.document.node(*id), comments, out);
            }
            let Some((id, change)) = next else { return };
            let node = self.document.node(*id);
            match change {
                Change::Replace(content) => {
                    self.replace_node(node, content, out);
                }
                Change::Slots(slots) => self.emit_slots(node, slots, out),
            }
            from = node.raw().next;
        }
    }

    fn emit_comments(&self, owner: NodeRef<'d>, comments: &Comments, out: &mut Vec<Splice>) {
        let document = self.document;
        if let Some(lines) = &comments.above {
            let start = render::unit_start(owner);
            let line = document.line_start(start);
            let indent = &document.text[line..start];
            if indent.bytes().all(|byte| byte == b' ') {
                let head = head_start(document, line, start - line, 0);
                let newline = newline_at(document.text, start);
                // The first character goes in again, so that lines put in at this place stay above.
                let first = document.text[start..].chars().next().map_or(0, char::len_utf8);
                let above = lines.iter().flat_map(|text| [indent, text, newline]);
                let own = [indent, &document.text[start..start + first]];
                let text = above.chain(own).collect();
                out.push(Splice { range: head..start + first, text });
            }
        }
        if let Some(comment) = &comments.behind
            && let Some(at) = render::comment_place(owner)
        {
            let text = match comment.is_empty() {
                true => String::new(),
                false => format!(" {comment}"),
            };
            out.push(Splice { range: at..break_at(document, at), text });
        }
    }

    fn emit_slots(&self, node: NodeRef<'d>, slots: &[Slot<'f>], out: &mut Vec<Splice>) {
        let manner = self.manner(node);
        let filled = node.entries().next().is_some() || node.items().next().is_some();
        match node.kind() {
            NodeKind::BlockMapping | NodeKind::BlockSequence => {
                self.emit_block(node, slots, &manner, out);
            }
            kind if filled || manner.json || self.flow_only(node) => {
                let is_collection = kind.is_mapping() || kind.is_sequence();
                if is_collection && kind != NodeKind::FlowPair {
                    self.emit_flow(node, slots, &manner, out);
                } else if filled {
                    self.emit_pair(node, slots, &manner, out);
                } else if !slots.is_empty() {
                    let text = new_flow(slots, &manner);
                    self.place_in_flow(node, text, out);
                }
            }
            _ if slots.is_empty() => {}
            // An empty collection, or nothing: lines are put below.
            _ => {
                let owner = owner_of(node);
                let manner = self.manner_of_content(node);
                let rendered = new_block(slots, owner, &manner);
                self.place(node, rendered, &manner, out);
            }
        }
    }

    /// Whether only flow style can stand in the place of a node.
    fn flow_only(&self, node: NodeRef<'d>) -> bool {
        match node.parent() {
            Some(parent) => !parent.kind().is_block_collection(),
            None => {
                let start = node.outer_start();
                self.document.text[self.document.line_start(start)..start].contains('\t')
            }
        }
    }

    fn replace_node(&self, node: NodeRef<'d>, content: &Content<'f>, out: &mut Vec<Splice>) {
        let in_json = node.parent().is_none() && self.json(node);
        if in_json || self.flow_only(node) {
            let manner = self.manner(node);
            let text = match (node.kind(), content) {
                (NodeKind::Scalar(style), Content::Value(Value::String(value))) if !manner.json => {
                    scalar::write_inline(value, style, Context::Flow)
                }
                _ => render::flow(content, &manner),
            };
            self.place_in_flow(node, text, out);
            return;
        }
        let owner = owner_of(node);
        let manner = self.manner_of_content(node);
        let mut rendered = match (node.kind(), content) {
            (_, Content::Value(Value::String(text))) if self.is_crowded(node) => {
                // Comments between the indicator and a block scalar would become text.
                let style = ScalarStyle::Plain;
                Rendered::inline(scalar::write_inline(text, style, Context::Block))
            }
            (NodeKind::Scalar(style), Content::Value(Value::String(text)))
                if is_block_scalar(node.kind()) && block_indicators(node).contains('+') =>
            {
                render::kept_string(text, style, owner, &manner)
            }
            (NodeKind::Scalar(style), Content::Value(Value::String(text))) if !node.is_null() => {
                render::string(text, style, owner, &manner)
            }
            _ => render::block(content, owner, &manner),
        };
        if let Content::Node(source) = content {
            self.keep_head_comment(node, *source, &mut rendered);
        }
        self.place(node, rendered, &manner, out);
    }

    /// A comment on the line of the indicator stays alone there: if that of the new content joined
    /// it, the line would grow with every replacement.
    fn keep_head_comment(&self, node: NodeRef<'d>, source: NodeRef<'f>, rendered: &mut Rendered) {
        let head = self.head_place(node);
        let has_own =
            head.is_some_and(|head| render::comment_behind(self.document, head).is_some());
        if has_own && source.kind().is_block_collection() {
            let tag = source.tag().unwrap_or_default();
            let behind = rendered.inline.strip_prefix(tag).unwrap_or_default();
            if behind.trim_start().starts_with('#') {
                rendered.inline = tag.to_owned();
            }
        }
    }

    /// Puts text in the place of a node in a flow collection.
    fn place_in_flow(&self, node: NodeRef<'d>, text: String, out: &mut Vec<Splice>) {
        let range = node.outer_start()..node.range().end;
        let anchor = node.anchor().map(|anchor| format!("{anchor} "));
        let mut text = format!("{}{text}", anchor.unwrap_or_default());
        let is_value = node
            .parent()
            .is_some_and(|parent| parent.kind().is_mapping());
        if is_value && node.mark().is_none() {
            // `{lone}`: an entry without its colon; `{?}`, where `?:` would be text.
            let lone_mark = self.document.text[..range.start].ends_with('?');
            text.insert_str(0, if lone_mark { " : " } else { ": " });
        } else if node.range().is_empty() && node.properties().is_empty() {
            text.insert(0, ' ');
        }
        out.push(Splice { range, text });
    }

    /// Where the indicator's line (or that of anchor and tag) ends its say, if the content of the
    /// node begins on a line further down.
    fn head_place(&self, node: NodeRef<'d>) -> Option<usize> {
        let line = self.document.line_start(node.range().start);
        let properties = node.properties_range().map(|range| range.end);
        let at = properties.or(node.mark().map(|mark| mark + 1))?;
        (at <= line).then_some(at)
    }

    /// Puts rendered content in the place of a node outside of flow collections.
    fn place(&self, node: NodeRef<'d>, rendered: Rendered, manner: &Manner, out: &mut Vec<Splice>) {
        let is_value = node
            .parent()
            .is_some_and(|parent| parent.kind().is_mapping());
        if is_value && node.mark().is_none() {
            return self.place_without_colon(node, rendered, manner, out);
        }
        match self.head_place(node) {
            Some(_) if !node.kind().is_block_collection() && rendered.lines.is_empty() => {
                self.place_on_own_line(node, rendered.inline, out);
            }
            Some(head) => self.place_below(node, head, rendered, manner, out),
            None => self.place_behind(node, rendered, manner, out),
        }
    }

    /// `? lone` gets its colon, on a line of its own.
    fn place_without_colon(
        &self,
        node: NodeRef<'d>,
        rendered: Rendered,
        manner: &Manner,
        out: &mut Vec<Splice>,
    ) {
        let column = owner_of(node).column();
        let at = break_at(self.document, node.range().start);
        let mut lines = Vec::new();
        rendered.behind(column, ":", &mut lines);
        let text = lines
            .iter()
            .flat_map(|line| [manner.newline, line])
            .collect();
        out.push(Splice {
            range: at..at,
            text,
        });
    }

    /// A scalar, alias or flow collection on a line of its own stays there; its tag goes.
    fn place_on_own_line(&self, node: NodeRef<'d>, inline: String, out: &mut Vec<Splice>) {
        if let (Some(properties), Some(_)) = (node.properties_range(), node.tag()) {
            let anchor = node.anchor().unwrap_or_default().to_owned();
            let range = match anchor.is_empty() {
                true => self.with_space_before(properties),
                false => properties,
            };
            out.push(Splice {
                range,
                text: anchor,
            });
        }
        out.push(Splice {
            range: node.range(),
            text: inline,
        });
    }

    /// The old content stands on lines below its indicator, whose own line keeps its comment.
    fn place_below(
        &self,
        node: NodeRef<'d>,
        head: usize,
        rendered: Rendered,
        manner: &Manner,
        out: &mut Vec<Splice>,
    ) {
        let document = self.document;
        let rendered = match node.anchor() {
            Some(_) => rendered.below(),
            None => rendered,
        };
        self.put_head(node, head, &rendered.inline, out);
        let mut head_end = break_at(document, head);
        let line = document.line_start(node.range().start);
        if self.is_crowded(node) && line > head_end {
            // Comments between the indicator and the content stay.
            head_end = break_at(document, line - 1);
        }
        let mut below = String::new();
        if !node.kind().is_block_collection()
            && let Some(comment) = render::comment_behind(document, node.range().end)
        {
            // The comment of the old content has to stand somewhere.
            if render::comment_behind(document, head).is_some() {
                below.push_str(manner.newline);
                below.push_str(&" ".repeat(owner_of(node).column() + manner.step));
                below.push_str(comment.trim_start());
            } else {
                below.push(' ');
                below.push_str(comment.trim_start());
            }
        }
        below.extend(below_text(&rendered.lines, manner));
        let end = break_at(document, node.range().end);
        out.push(Splice {
            range: head_end..end,
            text: below,
        });
    }

    /// Whether comment lines stand between an indicator and the content below, other than a block
    /// collection, to which they would belong.
    fn is_crowded(&self, node: NodeRef<'d>) -> bool {
        let Some(head) = self.head_place(node) else {
            return false;
        };
        let line = self.document.line_start(node.range().start);
        let head_end = self.document.line_end(head).min(line);
        !node.kind().is_block_collection() && self.document.text[head_end..line].contains('#')
    }

    /// Anchor and inline content behind an indicator whose content stands below; the tag goes.
    fn put_head(&self, node: NodeRef<'d>, head: usize, inline: &str, out: &mut Vec<Splice>) {
        let anchor = node.anchor().unwrap_or_default();
        let mut text = [anchor, inline].join(" ").trim().to_owned();
        let range = match node.properties_range() {
            Some(range) if text.is_empty() => self.with_space_before(range),
            Some(range) => range,
            None if text.is_empty() => return,
            None => {
                text.insert(0, ' ');
                head..head
            }
        };
        out.push(Splice { range, text });
    }

    /// The old content begins on the line of its indicator; a comment may follow on its last line.
    fn place_behind(
        &self,
        node: NodeRef<'d>,
        mut rendered: Rendered,
        manner: &Manner,
        out: &mut Vec<Splice>,
    ) {
        let document = self.document;
        let start = node.outer_start();
        let line_end = break_at(document, node.range().end);
        let end = match node.kind().is_block_collection() {
            true => line_end,
            false => node.range().end,
        };
        let own_line = matches!(owner_of(node), Owner::Root(_))
            && document.text[document.line_start(start)..start]
                .trim()
                .is_empty();
        let anchor = node.anchor().unwrap_or_default();
        let comment = end != line_end && !rendered.lines.is_empty();
        rendered = match anchor {
            // No collection begins on the line of its anchor, or in front of its owner's comment.
            "" if comment => rendered.below(),
            "" if own_line => rendered.compact(),
            "" => rendered,
            _ => rendered.below(),
        };
        let mut text = [anchor, &rendered.inline].join(" ").trim().to_owned();
        // Lines below a dash begin in the column behind the dash and one space.
        let behind_dash = node.mark().is_some() && rendered.moved_up.is_some();
        let range = match text.is_empty() || behind_dash {
            true => self.with_space_before(start..end),
            false => start..end,
        };
        let glued = !document.text[..range.start].ends_with([' ', '\t', '\n', '\u{feff}']);
        if glued && !text.is_empty() && range.start > 0 {
            text.insert(0, ' ');
        }
        let below = below_text(&rendered.lines, manner);
        if end == line_end || rendered.tail {
            text.extend(below);
            out.push(Splice { range, text });
            return;
        }
        // Content of several lines: the comment behind the old content stays with the owner.
        out.push(Splice { range, text });
        let text: String = below.collect();
        out.push(Splice {
            range: line_end..line_end,
            text,
        });
    }

    fn with_space_before(&self, range: Range<usize>) -> Range<usize> {
        let before = &self.document.text[..range.start];
        let blank = before.len() - before.trim_end_matches([' ', '\t']).len();
        range.start - blank..range.end
    }

    /// First byte that comments above the first unit of a block collection can stand at.
    fn floor(&self, node: NodeRef<'d>) -> usize {
        let document = self.document;
        if let Some(mark) = node.mark() {
            return (document.line_end(mark) + 1).min(node.range().start);
        }
        if node.parent().is_some() {
            return 0;
        }
        let documents = &document.tree.documents;
        let index = documents.partition_point(|d| d.root.0 <= node.id.0);
        let body = documents.get(index.saturating_sub(1)).map_or(0, |d| d.body);
        if document.line_start(body) == body {
            body
        } else {
            (document.line_end(body) + 1).min(node.range().start)
        }
    }

    /// Behind the line break of the line of `at`, be it the one that the last line will get.
    fn behind_line(&self, at: usize) -> usize {
        let text = self.document.text;
        let end = self.document.line_end(at);
        if end < text.len() {
            end + 1
        } else {
            end + newline_at(text, end).len()
        }
    }

    /// Entries or items of a block collection with the lines that belong to each.
    fn units(&self, node: NodeRef<'d>) -> Vec<Unit> {
        let document = self.document;
        let mut floor = self.floor(node);
        spans(node)
            .into_iter()
            .map(|(range, ids)| {
                let line = document.line_start(range.start);
                let own_line = document.text[line..range.start].bytes().all(|b| b == b' ');
                let lines_start = match own_line {
                    true => head_start(document, line, range.start - line, floor),
                    false => range.start,
                };
                let column = document.column(range.start);
                let lines_end = self.behind_line(range.end);
                let below = self.behind_deeper_comments(lines_end, column);
                // Comments directly below that are indented deeper are its own.
                let lines_end = match self.behind_blank_lines(lines_end) {
                    at if at == lines_end => self.behind_adjoining_comments(lines_end, below),
                    _ => lines_end,
                };
                floor = lines_end;
                let start = range.start;
                Unit {
                    lines_start,
                    start,
                    lines_end,
                    below,
                    own_line,
                    ids,
                }
            })
            .collect()
    }

    fn emit_block(
        &self,
        node: NodeRef<'d>,
        slots: &[Slot<'f>],
        manner: &Manner,
        out: &mut Vec<Splice>,
    ) {
        let units = self.units(node);
        let mapping = node.kind().is_mapping();
        let Some(first) = units.first() else { return };
        let column = self.document.column(first.start);
        if slots.is_empty() {
            return self.emit_emptied(node, &units, manner, out);
        }
        let behind_dash = !first.own_line;
        let stable = stable_slots(slots, behind_dash);
        let mut stays = vec![false; units.len()];
        // Runs of lines that are put in: first those before all units that stay.
        let mut runs = vec![Run::behind(None)];
        for (slot, stable) in slots.iter().zip(&stable) {
            let lines = match slot {
                Slot::Kept(index) if *stable => {
                    stays[*index] = true;
                    self.emit(units[*index].ids.clone(), out);
                    runs.push(Run::behind(Some(*index)));
                    continue;
                }
                Slot::Kept(index) => self.unit_lines(&units[*index], column),
                Slot::New(new) => {
                    let above = runs.last().and_then(|run| run.behind).unwrap_or(0);
                    let indent_below = self.indent_below(units[above].below);
                    new_lines(
                        new,
                        mapping,
                        column,
                        &Manner {
                            indent_below,
                            ..*manner
                        },
                    )
                }
            };
            if let Some(run) = runs.last_mut() {
                run.lines.extend(lines);
                run.keeps = match slot {
                    Slot::Kept(index) => {
                        let above = run.behind.unwrap_or(0);
                        self.takes_lines_below(&units[*index].ids, units[above].below)
                    }
                    Slot::New(_) => false,
                };
            }
        }
        for run in runs.into_iter().filter(|run| !run.lines.is_empty()) {
            let lines = run
                .lines
                .iter()
                .flat_map(|line| [line.as_str(), manner.newline]);
            let mut text: String = lines.collect();
            let range = match run.behind {
                Some(unit) if run.keeps => {
                    let at = self.behind_blank_lines(units[unit].below);
                    at..at
                }
                Some(unit) => units[unit].below..units[unit].below,
                // What comes first stands behind the dash, in the place of what stood there.
                None if behind_dash => {
                    text.replace_range(..text.len() - text.trim_start().len(), "");
                    match run.keeps {
                        true => first.start..self.behind_blank_lines(first.lines_end),
                        false => first.start..first.lines_end,
                    }
                }
                None => {
                    let at = stays.iter().position(|stays| *stays).unwrap_or(0);
                    units[at].lines_start..units[at].lines_start
                }
            };
            out.push(Splice { range, text });
        }
        let mut above = None;
        for (at, unit) in units.iter().enumerate() {
            if stays[at] {
                above = Some(&unit.ids);
            } else if at > 0 || !behind_dash {
                let mut range = unit.lines_start..unit.lines_end;
                let mut text = String::new();
                if above.is_some_and(|ids| self.takes_lines_below(ids, unit.lines_end)) {
                    // Blank lines that the block scalar above would take for its own go as well;
                    // comments get another indentation.
                    range.end = self.behind_blank_lines(unit.below);
                    let below = unit.lines_end.min(range.end)..range.end;
                    for comment in self.document.text[below].lines().map(str::trim) {
                        if !comment.is_empty() {
                            text.push_str(&format!("{:column$}{comment}{}", "", manner.newline));
                        }
                    }
                }
                out.push(Splice { range, text });
            }
        }
    }

    /// Whether the last of these nodes is a block scalar that would take blank or comment lines at
    /// `below` for its own if it stood above them.
    fn takes_lines_below(&self, ids: &Range<u32>, below: usize) -> bool {
        let last = self.document.node(NodeId(ids.end - 1));
        if !is_block_scalar(last.kind()) || below >= self.document.text.len() {
            return false;
        }
        let indent = body_indent(last).unwrap_or(1);
        block_indicators(last).contains('+') || self.indent_below(below) >= indent
    }

    /// Behind the comment lines that are indented deeper than `column`, and the blank lines among
    /// them. `from` begins a line.
    fn behind_deeper_comments(&self, from: usize, column: usize) -> usize {
        let document = self.document;
        let mut behind = from;
        let mut at = self.behind_blank_lines(from);
        while at < document.text.len() {
            let indent = indent_of(&document.text[at..document.line_end(at)]);
            if indent <= column || document.comment_at(at + indent).is_none() {
                break;
            }
            behind = self.behind_line(at);
            at = self.behind_blank_lines(behind);
        }
        behind
    }

    /// Columns of white space in the blank lines from `from` on and in front of a comment there.
    /// A block scalar that ends at `from` takes what is not indented less than its lines for text.
    fn indent_below(&self, from: usize) -> usize {
        let document = self.document;
        let comment = self.behind_blank_lines(from);
        if comment >= document.text.len() {
            return 0;
        }
        let blank = document.text[from..comment].lines().map(indent_of).max();
        let indent = indent_of(&document.text[comment..document.line_end(comment)]);
        let comment = document.comment_at(comment + indent).map_or(0, |_| indent);
        blank.unwrap_or(0).max(comment)
    }

    /// The first blank line from `from` on, or `end`.
    fn behind_adjoining_comments(&self, from: usize, end: usize) -> usize {
        let mut at = from;
        while at < end && self.behind_blank_lines(at) == at {
            at = self.behind_line(at);
        }
        at
    }

    fn behind_blank_lines(&self, from: usize) -> usize {
        let text = self.document.text;
        let mut at = from;
        while at < text.len() {
            let end = self.document.line_end(at);
            if end == text.len() || !text[at..end].trim().is_empty() {
                break;
            }
            at = end + 1;
        }
        at
    }

    /// All entries are gone: `{}` or `[]` stands in their place.
    fn emit_emptied(
        &self,
        node: NodeRef<'d>,
        units: &[Unit],
        manner: &Manner,
        out: &mut Vec<Splice>,
    ) {
        let empty = if node.kind().is_mapping() { "{}" } else { "[]" };
        let first = &units[0];
        let head = self.head_place(node);
        for unit in units.iter().skip(usize::from(head.is_none())) {
            let (range, text) = (unit.lines_start..unit.lines_end, String::new());
            out.push(Splice { range, text });
        }
        match head {
            Some(head) => {
                // The tag says what the collection is: it stays.
                let text = format!(" {empty}");
                out.push(Splice {
                    range: head..head,
                    text,
                });
            }
            None => {
                let indent = match first.own_line {
                    true => self.document.column(first.start),
                    false => 0,
                };
                let text = format!("{:indent$}{empty}{}", "", manner.newline);
                out.push(Splice {
                    range: first.lines_start..first.lines_end,
                    text,
                });
            }
        }
    }

    /// The lines of a unit that moves, with its inner changes, re-indented if it stood behind a dash.
    fn unit_lines(&self, unit: &Unit, column: usize) -> Vec<String> {
        let mut inner = Vec::new();
        self.emit(unit.ids.clone(), &mut inner);
        let source = self.document.text;
        if let Some((header, strip)) = self.cut_short()
            && (unit.start..unit.lines_end).contains(&header)
            && !inner.iter().any(|splice| splice.holds(header))
        {
            inner.push(strip);
        }
        let end = unit.lines_end.min(source.len());
        let text = splice(&source[unit.lines_start..end], unit.lines_start, &mut inner);
        let mut lines: Vec<String> = text
            .split_inclusive('\n')
            .map(|line| line.trim_end_matches(['\r', '\n']).to_owned())
            .collect();
        if !unit.own_line
            && let Some(first) = lines.first_mut()
        {
            *first = format!("{:column$}{first}", "");
        }
        lines
    }

    fn emit_flow(
        &self,
        node: NodeRef<'d>,
        slots: &[Slot<'f>],
        manner: &Manner,
        out: &mut Vec<Splice>,
    ) {
        let interior = node.range().start + 1..node.range().end - 1;
        let mut text = self.flow_interior(node, interior.clone(), slots, manner);
        if slots.is_empty() && !text.contains('#') {
            text.clear();
        }
        out.push(Splice {
            range: interior,
            text,
        });
    }

    /// `[a: b]` has no room for another entry: it gets its braces.
    fn emit_pair(
        &self,
        node: NodeRef<'d>,
        slots: &[Slot<'f>],
        manner: &Manner,
        out: &mut Vec<Splice>,
    ) {
        if let [Slot::Kept(0)] = slots {
            return self.emit(node.id.0 + 1..node.ids().end, out);
        }
        let text = match slots {
            [] => String::new(),
            _ => self.flow_interior(node, node.range(), slots, manner),
        };
        let text = format!("{{{text}}}");
        out.push(Splice {
            range: node.range(),
            text,
        });
    }

    /// What stands between the brackets afterwards. Each element owns the white space and comments
    /// in front of it, and the comma and comment behind it.
    fn flow_interior(
        &self,
        node: NodeRef<'d>,
        interior: Range<usize>,
        slots: &[Slot<'f>],
        manner: &Manner,
    ) -> String {
        let document = self.document;
        let (opening, cells, foot) = flow_elements(document, node, &interior);
        let indent = |lead: &str| match lead.rfind('\n') {
            Some(at) => format!("{}{}", manner.newline, &lead[at + 1..]),
            None => String::new(),
        };
        let lead = |cell: &Element| &document.text[cell.lead.clone()];
        // The white space in front of the first element and in front of others.
        let first_lead = cells
            .first()
            .map_or(String::new(), |cell| match lead(cell) {
                text if text.contains('#') => indent(text),
                text => text.to_owned(),
            });
        let next_lead = match cells.get(1).map(lead) {
            Some(text) if !text.contains('#') => text.to_owned(),
            Some(text) => indent(text),
            None if first_lead.contains('\n') => indent(&first_lead),
            None => " ".to_owned(),
        };
        let mut text = document.text[opening].to_owned();
        let mut in_comment = text.contains('#');
        let trailing_comma = cells.last().is_some_and(|cell| cell.comma.is_some());
        for (position, slot) in slots.iter().enumerate() {
            let usual = if position == 0 {
                &first_lead
            } else {
                &next_lead
            };
            let cell = match slot {
                Slot::Kept(index) => Some((*index, &cells[*index])),
                Slot::New(_) => None,
            };
            let own = cell.filter(|(index, cell)| {
                (*index == 0) == (position == 0) || lead(cell).contains('#')
            });
            let own = own.map_or(usual.as_str(), |(_, cell)| lead(cell));
            push_lead(&mut text, in_comment, own, manner);
            let last = position + 1 == slots.len();
            match (cell, slot) {
                (Some((_, cell)), _) => {
                    let comma = !last || trailing_comma;
                    in_comment = self.push_cell(cell, comma, &mut text);
                }
                (None, Slot::New(new)) => {
                    text.push_str(&flow_piece(new, node.kind().is_mapping(), manner));
                    text.push_str(if !last || trailing_comma { "," } else { "" });
                    in_comment = false;
                }
                (None, Slot::Kept(_)) => {}
            }
        }
        push_lead(&mut text, in_comment, &document.text[foot], manner);
        text
    }

    /// Adds an element with or without a comma; says whether a comment stands behind it.
    fn push_cell(&self, cell: &Element, comma: bool, text: &mut String) -> bool {
        let source = self.document.text;
        let mut inner = Vec::new();
        self.emit(cell.ids.clone(), &mut inner);
        let (start, end) = (cell.lead.end, cell.element_end);
        text.push_str(&splice(&source[start..end], start, &mut inner));
        if text.ends_with('?') {
            // `?,` would be text.
            text.push(' ');
        }
        match (cell.comma, comma) {
            (Some(at), true) => text.push_str(&source[end..at + 1]),
            (Some(at), false) => text.push_str(&source[end..at]),
            (None, true) => text.push(','),
            (None, false) => {}
        }
        text.push_str(&source[cell.comma.map_or(end, |at| at + 1)..cell.end]);
        source[end..cell.end].contains('#')
    }

    /// How the surroundings of a node are written.
    fn manner(&self, node: NodeRef<'d>) -> Manner {
        let start = node.range().start;
        Manner {
            step: self.step(node),
            wide: self.wide(start),
            newline: self.newline(start),
            json: self.json(node),
            indent_below: 0,
            body: None,
        }
    }

    /// How content in the place of a node is to be written.
    fn manner_of_content(&self, node: NodeRef<'d>) -> Manner {
        let below = self.behind_line(node.range().end);
        let inherits = is_block_scalar(node.kind())
            && !block_indicators(node).contains(|c: char| c.is_ascii_digit());
        Manner {
            indent_below: self.indent_below(below.min(self.document.text.len())),
            body: body_indent(node).filter(|_| inherits),
            ..self.manner(node)
        }
    }

    /// The line break at the end of the line of `at`. A line can be long and hold many edits.
    fn newline(&self, at: usize) -> &'static str {
        let (from, end, newline) = self.line.get();
        if (from..end).contains(&at) {
            return newline;
        }
        let newline = newline_at(self.document.text, at);
        self.line.set((at, self.document.line_end(at), newline));
        newline
    }

    /// Whether keys of the flow mappings around are written as in JSON.
    fn json(&self, node: NodeRef<'d>) -> bool {
        let mut at = Some(node);
        while let Some(flow) = at {
            if flow.kind().is_block_collection() {
                return false;
            }
            if let Some(entry) = flow.entries().next() {
                let quoted = NodeKind::Scalar(ScalarStyle::DoubleQuoted);
                return entry.key.kind() == quoted;
            }
            at = flow.parent();
        }
        false
    }

    /// Columns per level: as the mappings around the node, else as the first nested one.
    fn step(&self, node: NodeRef<'d>) -> usize {
        let document = self.document;
        let step_of = |mapping: NodeRef<'d>| {
            mapping.entries().find_map(|entry| {
                let child = entry.value;
                if child.kind() != NodeKind::BlockMapping
                    || mapping.kind() != NodeKind::BlockMapping
                {
                    return None;
                }
                let outer = document.column(entry.key.outer_start());
                document
                    .column(child.range().start)
                    .checked_sub(outer)
                    .filter(|step| *step > 0)
            })
        };
        let mut at = Some(node);
        while let Some(ancestor) = at {
            let known = self.steps.borrow().get(&ancestor.id).copied();
            let step = known.unwrap_or_else(|| step_of(ancestor));
            self.steps.borrow_mut().insert(ancestor.id, step);
            if let Some(step) = step {
                return step;
            }
            at = ancestor.parent();
        }
        2
    }

    /// Whether the nearest block sequence under a key is indented.
    fn wide(&self, start: usize) -> bool {
        let sequences = self.sequences.get_or_init(|| {
            let document = self.document;
            let nodes = document.tree.nodes.iter().enumerate();
            nodes
                .filter(|(_, node)| node.kind == NodeKind::BlockSequence && node.mark != NONE)
                .filter_map(|(id, _)| {
                    let node = document.node(NodeId(id as u32));
                    let Owner::Key(column) = owner_of(node) else {
                        return None;
                    };
                    let start = node.range().start;
                    Some((start, document.column(start) > column))
                })
                .collect()
        });
        let at = sequences.partition_point(|(s, _)| *s < start);
        let before = at.checked_sub(1).map(|i| sequences[i]);
        let after = sequences.get(at).copied();
        let distance = |entry: &(usize, bool)| entry.0.abs_diff(start);
        [before, after]
            .into_iter()
            .flatten()
            .min_by_key(distance)
            .is_some_and(|(_, wide)| wide)
    }
}

/// The first of the comment lines directly above the line at `line`; a comment that is indented
/// deeper belongs to what stands above it.
pub(super) fn head_start(
    document: Document<'_>,
    line: usize,
    column: usize,
    floor: usize,
) -> usize {
    let mut start = line;
    while start > floor && document.text[..start].ends_with('\n') {
        let above = document.line_start(start - 1);
        let text = &document.text[above..start];
        let indent = text.len() - text.trim_start_matches([' ', '\t']).len();
        if above < floor || indent > column || document.comment_at(above + indent).is_none() {
            break;
        }
        start = above;
    }
    start
}

fn refuse(node: NodeRef<'_>, anchor: Option<&str>) -> Result<(), EditError> {
    match anchor {
        Some(anchor) => Err(EditError::SharedAnchor {
            place: node.path().to_string(),
            anchor: anchor.to_owned(),
        }),
        None => Ok(()),
    }
}

fn owner_of(node: NodeRef<'_>) -> Owner {
    let document = node.document;
    let Some(parent) = node.parent() else {
        let start = node.outer_start();
        let line = document.line_start(start);
        let own_line = document.text[line..start].bytes().all(|b| b == b' ');
        return Owner::Root(if own_line { start - line } else { 0 });
    };
    if parent.kind().is_sequence() {
        return Owner::Dash(document.column(node.mark().unwrap_or(node.outer_start())));
    }
    let key = node.key_of_value().unwrap_or(node);
    Owner::Key(document.column(key.mark().unwrap_or(key.outer_start())))
}

/// Entries or items with their marks and keys, and their nodes.
fn spans(node: NodeRef<'_>) -> Vec<(Range<usize>, Range<u32>)> {
    let start = |node: NodeRef<'_>| node.mark().unwrap_or_else(|| node.outer_start());
    let entries = node.entries().map(|entry| {
        let ids = entry.key.id.0..entry.value.ids().end;
        (start(entry.key)..entry_end(entry), ids)
    });
    let items = node.items().map(|item| {
        let end = item.range().end.max(item.mark().map_or(0, |mark| mark + 1));
        (start(item)..end, item.ids())
    });
    entries.chain(items).collect()
}

/// An element of a flow collection with what belongs to it.
struct Element {
    /// White space and comments in front.
    lead: Range<usize>,
    element_end: usize,
    comma: Option<usize>,
    /// Behind the comma and the comment on its line.
    end: usize,
    ids: Range<u32>,
}

/// What stands behind the opening bracket on its line, the elements, and what is left behind them.
fn flow_elements(
    document: Document<'_>,
    node: NodeRef<'_>,
    interior: &Range<usize>,
) -> (Range<usize>, Vec<Element>, Range<usize>) {
    let behind_comment =
        |at: usize| render::comment_behind(document, at).map_or(at, |comment| at + comment.len());
    let bytes = &document.text.as_bytes()[..interior.end];
    let spans = spans(node);
    let mut at = match node.kind() {
        NodeKind::FlowPair => interior.start,
        _ => behind_comment(interior.start),
    };
    let opening = interior.start..at;
    let mut cells = Vec::new();
    for (range, ids) in spans {
        let next = skip_trivia(bytes, range.end);
        let comma = (bytes.get(next) == Some(&b',')).then_some(next);
        // A comma below the comment of its element stands in front of the next one.
        let end = behind_comment(comma.map_or(range.end, |comma| comma + 1)).min(interior.end);
        cells.push(Element {
            lead: at..range.start,
            element_end: range.end,
            comma,
            end,
            ids,
        });
        at = end;
    }
    (opening, cells, at..interior.end)
}

/// Adds white space and comments, behind a line break if a comment stands in front.
fn push_lead(text: &mut String, in_comment: bool, lead: &str, manner: &Manner) {
    let breaks = lead
        .trim_start_matches([' ', '\t'])
        .starts_with(['\r', '\n']);
    if in_comment && !breaks {
        text.push_str(manner.newline);
        text.push(' ');
    }
    text.push_str(lead);
}

/// Which slots keep their place: a longest run in the old order.
///
/// A collection behind a dash keeps its first line only if its first entry stays first.
fn stable_slots(slots: &[Slot<'_>], behind_dash: bool) -> Vec<bool> {
    let first_moves = behind_dash && !matches!(slots.first(), Some(Slot::Kept(0)));
    let values = slots.iter().enumerate().map(|(position, slot)| match slot {
        Slot::Kept(index) if !first_moves || (*index > 0 && position > 0) => Some(*index),
        _ => None,
    });
    longest_increasing(values)
}

/// Lines for the first entries or items of a collection.
fn new_block(slots: &[Slot<'_>], owner: Owner, manner: &Manner) -> Rendered {
    let new = slots.iter().filter_map(|slot| match slot {
        Slot::New(new) => Some(&**new),
        Slot::Kept(_) => None,
    });
    let mapping = is_mapping(slots);
    let column = owner.child(!mapping, manner);
    let lines = new.flat_map(|new| new_lines(new, mapping, column, manner));
    let rendered = Rendered {
        lines: lines.collect(),
        ..Rendered::default()
    };
    match owner {
        Owner::Dash(_) => rendered.compact(),
        _ => rendered,
    }
}

/// A flow collection of new entries or items.
fn new_flow(slots: &[Slot<'_>], manner: &Manner) -> String {
    let mapping = is_mapping(slots);
    let pieces: Vec<_> = slots
        .iter()
        .filter_map(|slot| match slot {
            Slot::New(new) => Some(flow_piece(new, mapping, manner)),
            Slot::Kept(_) => None,
        })
        .collect();
    let pieces = pieces.join(", ");
    if mapping {
        format!("{{{pieces}}}")
    } else {
        format!("[{pieces}]")
    }
}

fn is_mapping(slots: &[Slot<'_>]) -> bool {
    slots
        .iter()
        .any(|slot| matches!(slot, Slot::New(new) if new.key.is_some()))
}

/// Lines, each behind a line break.
fn below_text<'l>(lines: &'l [String], manner: &Manner) -> impl Iterator<Item = &'l str> {
    let newline = manner.newline;
    lines.iter().flat_map(move |line| [newline, line.as_str()])
}

fn ends_in_block_scalar(document: Document<'_>) -> bool {
    document
        .last_node()
        .is_some_and(|last| is_block_scalar(last.kind()))
}

fn is_block_scalar(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Scalar(ScalarStyle::Literal | ScalarStyle::Folded)
    )
}

/// Columns that the lines of a block scalar are indented by, if it has any.
fn body_indent(node: NodeRef<'_>) -> Option<usize> {
    let mut lines = node.source().split('\n').skip(1);
    lines.find(|line| !line.trim().is_empty()).map(indent_of)
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// The indicators behind the `|` or `>` of a block scalar.
fn block_indicators(node: NodeRef<'_>) -> &str {
    let text = &node.document.text[node.range().start + 1..];
    let length = text
        .bytes()
        .take_while(|b| b"+-123456789".contains(b))
        .count();
    &text[..length]
}

fn new_lines(new: &NewSlot<'_>, mapping: bool, column: usize, manner: &Manner) -> Vec<String> {
    if mapping {
        let key = new.key.as_deref().unwrap_or_default();
        render::entry_lines(key, &new.content, new.entry, column, manner)
    } else {
        render::item_lines(&new.content, new.item, column, manner)
    }
}

fn flow_piece(new: &NewSlot<'_>, mapping: bool, manner: &Manner) -> String {
    let value = render::flow(&new.content, manner);
    if !mapping {
        return value;
    }
    let key = Value::from(new.key.as_deref().unwrap_or_default());
    format!("{}: {value}", render::flow_key(&key, manner.json))
}

/// The line break at the end of the line of `at` (or, on the last line, of the line before).
fn newline_at(text: &str, at: usize) -> &'static str {
    let bytes = text.as_bytes();
    let at = at.min(bytes.len());
    let end = memchr::memchr(b'\n', &bytes[at..])
        .map(|n| at + n)
        .or_else(|| memchr::memrchr(b'\n', &bytes[..at]));
    match end {
        Some(end) if end > 0 && bytes[end - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

/// The end of the line of `at`, before its line break of either kind.
fn break_at(document: Document<'_>, at: usize) -> usize {
    let end = document.line_end(at);
    if end > at && document.text.as_bytes()[end - 1] == b'\r' {
        end - 1
    } else {
        end
    }
}

/// Applies splices to a text that begins at `base` of the document.
fn splice(text: &str, base: usize, splices: &mut [Splice]) -> String {
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let grown: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let mut out = String::with_capacity(text.len() + grown);
    let mut at = 0;
    for splice in splices.iter() {
        let start = (splice.range.start - base).min(text.len());
        let end = (splice.range.end - base).min(text.len());
        debug_assert!(start >= at, "splices overlap at byte {start}");
        out.push_str(&text[at..start.max(at)]);
        out.push_str(&splice.text);
        at = end.max(at);
    }
    out.push_str(&text[at..]);
    out
}

/// Marks the elements of one longest increasing subsequence; `None` is never part of it.
fn longest_increasing(values: impl Iterator<Item = Option<usize>>) -> Vec<bool> {
    let values: Vec<_> = values.collect();
    // `tails[n]`: position of the smallest last value of an increasing run of n + 1.
    let mut tails: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; values.len()];
    for (position, value) in values.iter().enumerate() {
        let Some(value) = value else { continue };
        let at = tails.partition_point(|tail| values[*tail].is_some_and(|v| v < *value));
        before[position] = at.checked_sub(1).map(|previous| tails[previous]);
        if at == tails.len() {
            tails.push(position)
        } else {
            tails[at] = position
        }
    }
    let mut marked = vec![false; values.len()];
    let mut at = tails.last().copied();
    while let Some(position) = at {
        marked[position] = true;
        at = before[position];
    }
    marked
}

impl From<Value> for Content<'_> {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl<'f> From<NodeRef<'f>> for Content<'f> {
    fn from(node: NodeRef<'f>) -> Self {
        Self::Node(node)
    }
}
