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

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

use super::document::{Document, EntryRef, NodeRef};
use super::error::EditError;
use super::render::{self, Manner, Owner, Rendered, entry_end};
use super::scalar::ScalarStyle;
use super::tree::{NONE, NodeId, NodeKind, ParseOptions, Tree};
use super::value::Value;

/// What is written into a place.
#[derive(Debug, Clone)]
pub enum Content<'f> {
    /// A value; it is spelled in the manner of its surroundings.
    Value(Value),
    /// A node of this or another document; its spelling and inner comments come along.
    Node(NodeRef<'f>),
}

/// Replacement of `range` by `text`.
#[derive(Debug, Clone)]
struct Splice {
    range: Range<usize>,
    text: String,
}

#[derive(Debug, Clone)]
struct NewSlot<'a> {
    /// Key of a mapping entry; items have none.
    key: String,
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
    /// Start of every block sequence that is the value of a key, and whether it is indented.
    sequences: OnceCell<Vec<(usize, bool)>>,
}

/// An entry or item in block style, and the lines that belong to it.
#[derive(Debug, Clone)]
struct Unit {
    /// First comment line directly above, or the line of the key or dash, or `start` itself where
    /// something else stands in front on that line.
    lines_start: usize,
    /// Key or dash.
    start: usize,
    /// Behind the line break of the last line.
    lines_end: usize,
    /// Whether only white space stands in front of `start` on its line.
    own_line: bool,
    /// Node ids of the entry or item.
    ids: Range<u32>,
}

impl<'d, 'f> Editor<'d, 'f> {
    /// An editor without changes.
    #[must_use]
    pub fn new(document: Document<'d>) -> Self {
        Self {
            document,
            changes: BTreeMap::new(),
            sequences: OnceCell::new(),
        }
    }

    /// Whether nothing was changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Gives a node other content. A scalar keeps its style where the new text can be written in it.
    ///
    /// # Errors
    /// [`EditError::SharedAnchor`].
    pub fn replace(&mut self, node: NodeRef<'d>, content: Content<'f>) -> Result<(), EditError> {
        not_shared(node)?;
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
            key: key.to_owned(),
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
            key,
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
            key,
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
            key: String::new(),
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
            key: String::new(),
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
        let index = mapping
            .entries()
            .position(|entry| entry.key.as_str() == Some(key));
        let Some(index) = index else { return Ok(false) };
        not_shared(mapping)?;
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
        not_shared(sequence)?;
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
        not_shared(collection)?;
        let slots = self.slots(collection);
        let rank = |slot: &Slot<'_>| match slot {
            Slot::Kept(kept) => order.iter().position(|o| o == kept).unwrap_or(usize::MAX),
            Slot::New(_) => usize::MAX,
        };
        slots.sort_by_cached_key(rank);
        Ok(())
    }

    fn slots(&mut self, collection: NodeRef<'d>) -> &mut Vec<Slot<'f>> {
        let count = if collection.kind().is_mapping() {
            collection.entries().count()
        } else {
            collection.items().count()
        };
        let fresh = || Change::Slots((0..count).map(Slot::Kept).collect());
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
        not_shared(collection)?;
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
        let text = if splices.is_empty() {
            source.to_owned()
        } else if source.ends_with('\n') || source.is_empty() {
            splice(source, 0, &mut splices)
        } else {
            // Every line shall end in a line break while lines are put in and taken out.
            self.terminate_block_scalar(&mut splices);
            let newline = newline_at(source, source.len());
            let whole = format!("{source}{newline}");
            let mut text = splice(&whole, 0, &mut splices);
            if text.ends_with(newline) {
                text.truncate(text.len() - newline.len());
            }
            text
        };
        let tree = Tree::parse(&text, options).map_err(EditError::Broken)?;
        Ok((text, tree))
    }

    /// A block scalar that the end of the text had cut short keeps its value when lines follow.
    fn terminate_block_scalar(&self, splices: &mut Vec<Splice>) {
        let Some(id) = self.document.tree.unterminated else {
            return;
        };
        let end = self.document.text.len();
        let header = self.document.node(id).range().start;
        let follows = splices.iter().any(|s| s.range.start > end);
        let gone = splices
            .iter()
            .any(|s| s.range.start <= header && s.range.end > header);
        if !follows || gone {
            return;
        }
        let indicators = &self.document.text[header + 1..self.document.line_end(header)];
        let digits = indicators
            .bytes()
            .take_while(|b| b"+-123456789".contains(b))
            .count();
        let range = match indicators[..digits].find(['+', '-']) {
            Some(at) => header + 1 + at..header + 2 + at,
            None => header + 1 + digits..header + 1 + digits,
        };
        splices.push(Splice {
            range,
            text: "-".to_owned(),
        });
    }

    /// Splices for the changes at the nodes of `ids`.
    fn emit(&self, ids: Range<u32>, out: &mut Vec<Splice>) {
        let mut from = ids.start;
        while from < ids.end {
            let next = self.changes.range(NodeId(from)..NodeId(ids.end)).next();
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

    fn emit_slots(&self, node: NodeRef<'d>, slots: &[Slot<'f>], out: &mut Vec<Splice>) {
        let manner = self.manner(node);
        match node.kind() {
            NodeKind::BlockMapping | NodeKind::BlockSequence => {
                self.emit_block(node, slots, &manner, out);
            }
            NodeKind::FlowMapping | NodeKind::FlowSequence
                if node.entries().next().is_some()
                    || node.items().next().is_some()
                    || self.in_flow(node)
                    || manner.json
                    || slots.is_empty() =>
            {
                self.emit_flow(node, slots, &manner, out);
            }
            _ if slots.is_empty() => {}
            // An empty collection, or nothing: lines are put below.
            _ => {
                let is_mapping = slots.iter().any(|slot| match slot {
                    Slot::New(new) => !new.key.is_empty(),
                    Slot::Kept(_) => false,
                });
                let mapping = node.kind().is_mapping() || is_mapping;
                let owner = owner_of(node);
                let column = match (owner, mapping) {
                    (Owner::Root, _) => 0,
                    (Owner::Dash(column), _) => column + 2,
                    (Owner::Key(column), false) if !manner.wide => column,
                    (Owner::Key(column), _) => column + manner.step,
                };
                let mut lines = Vec::new();
                for slot in slots {
                    if let Slot::New(new) = slot {
                        lines.extend(new_lines(new, mapping, column, &manner));
                    }
                }
                let mut rendered = Rendered {
                    inline: String::new(),
                    lines,
                };
                if matches!(owner, Owner::Dash(_) | Owner::Root) && !rendered.lines.is_empty() {
                    rendered.inline = rendered.lines.remove(0).trim_start().to_owned();
                }
                self.place(node, rendered, &manner, out);
            }
        }
    }

    fn in_flow(&self, node: NodeRef<'d>) -> bool {
        node.parent()
            .is_some_and(|parent| !parent.kind().is_block_collection())
    }

    fn replace_node(&self, node: NodeRef<'d>, content: &Content<'f>, out: &mut Vec<Splice>) {
        let manner = self.manner(node);
        if self.in_flow(node) {
            let mut text = render::flow(content, &manner);
            if let (NodeKind::Scalar(style), Content::Value(Value::String(value))) =
                (node.kind(), content)
            {
                use super::scalar::{Context, write_inline};
                text = write_inline(value, style, Context::Flow);
            }
            if node.range().is_empty() {
                text.insert(0, ' ');
            }
            out.push(Splice {
                range: content_range(node),
                text,
            });
            return;
        }
        let owner = owner_of(node);
        let rendered = match (node.kind(), content) {
            (NodeKind::Scalar(style), Content::Value(Value::String(text)))
                if !node.range().is_empty() && !(style == ScalarStyle::Plain && node.is_null()) =>
            {
                render::string(text, style, owner, &manner)
            }
            (_, Content::Value(_)) if manner.json && owner == Owner::Root => Rendered {
                inline: render::flow(content, &manner),
                lines: Vec::new(),
            },
            _ => render::block(content, owner, &manner),
        };
        self.place(node, rendered, &manner, out);
    }

    /// Puts rendered content in the place of a node outside of flow collections.
    fn place(&self, node: NodeRef<'d>, rendered: Rendered, manner: &Manner, out: &mut Vec<Splice>) {
        let document = self.document;
        let range = content_range(node);
        let below: String = rendered
            .lines
            .iter()
            .flat_map(|line| [manner.newline, line.as_str()])
            .collect();
        if !node.kind().is_block_collection() || node.range().is_empty() {
            // The old content begins on the line of its indicator; a comment may follow on its last.
            let is_block_scalar = matches!(
                node.kind(),
                NodeKind::Scalar(ScalarStyle::Literal | ScalarStyle::Folded)
            );
            let line_end = break_at(document, range.end);
            let mut text = rendered.inline;
            let behind = node.mark().map(|mark| mark + 1);
            let glued = Some(range.start) == behind || node.range().is_empty();
            if glued && !text.is_empty() {
                text.insert(0, ' ');
            }
            let range = if text.is_empty() {
                self.with_space_before(range)
            } else {
                range
            };
            if is_block_scalar || below.is_empty() || range.end == line_end {
                text.push_str(&below);
                out.push(Splice { range, text });
                return;
            }
            // Content of several lines: the comment behind the old content stays with the owner.
            out.push(Splice { range, text });
            out.push(Splice {
                range: line_end..line_end,
                text: below,
            });
            return;
        }
        let own_line =
            document.line_start(range.start) > node.mark().unwrap_or(0) && node.mark().is_some();
        let end = break_at(document, range.end);
        if !own_line {
            let mut text = rendered.inline;
            if text.is_empty() && !below.is_empty() && node.mark().is_none() {
                // A root of lines only.
                text = below.trim_start_matches(manner.newline).to_owned();
            } else {
                text.push_str(&below);
            }
            out.push(Splice {
                range: range.start..end,
                text,
            });
            return;
        }
        // Behind the indicator (anchor and tag included), then the lines of the old collection.
        let mark = node.mark().map_or(range.start, |mark| mark + 1);
        let behind = match node.raw().properties {
            NONE => mark,
            at if (at as usize) < mark => mark,
            at => at as usize + node.properties().len(),
        };
        if !rendered.inline.is_empty() {
            let text = format!(" {}", rendered.inline);
            out.push(Splice {
                range: behind..behind,
                text,
            });
        }
        let head_end = break_at(document, behind);
        out.push(Splice {
            range: head_end..end,
            text: below,
        });
    }

    fn with_space_before(&self, range: Range<usize>) -> Range<usize> {
        let before = &self.document.text[..range.start];
        let blank = before.len() - before.trim_end_matches([' ', '\t']).len();
        range.start - blank..range.end
    }

    /// Entries or items of a block collection with the lines that belong to each.
    fn units(&self, node: NodeRef<'d>) -> Vec<Unit> {
        let document = self.document;
        let spans: Vec<(usize, usize, Range<u32>)> = if node.kind().is_mapping() {
            node.entries()
                .map(|entry| {
                    let start = entry.key.mark().unwrap_or_else(|| entry.key.outer_start());
                    (
                        start,
                        entry_end(entry),
                        entry.key.id.0..entry.value.raw().next,
                    )
                })
                .collect()
        } else {
            node.items()
                .map(|item| {
                    let start = item.mark().unwrap_or_else(|| item.outer_start());
                    (
                        start,
                        item.range().end.max(start + 1),
                        item.id.0..item.raw().next,
                    )
                })
                .collect()
        };
        let mut floor = node.mark().map_or(0, |mark| {
            (document.line_end(mark) + 1).min(node.range().start)
        });
        if node.mark().is_none() && node.parent().is_none() {
            let index = document
                .tree
                .documents
                .partition_point(|d| d.root.0 <= node.id.0);
            let body = document
                .tree
                .documents
                .get(index.saturating_sub(1))
                .map_or(0, |d| d.body);
            floor = if document.line_start(body) == body {
                body
            } else {
                (document.line_end(body) + 1).min(node.range().start)
            };
        }
        spans
            .into_iter()
            .map(|(start, end, ids)| {
                let line = document.line_start(start);
                let own_line = document.text[line..start].bytes().all(|b| b == b' ');
                let lines_start = match own_line {
                    true => head_start(document, line, start - line, floor),
                    false => start,
                };
                let lines_end = document.line_end(end) + 1;
                floor = lines_end;
                Unit {
                    lines_start,
                    start,
                    lines_end,
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
        let stable = longest_increasing(slots.iter().map(|slot| match slot {
            Slot::Kept(index) => Some(*index),
            Slot::New(_) => None,
        }));
        let mut stays = vec![false; units.len()];
        for (slot, stable) in slots.iter().zip(&stable) {
            if let (Slot::Kept(index), true) = (slot, *stable) {
                stays[*index] = true;
                self.emit(units[*index].ids.clone(), out);
            }
        }
        // Runs of lines that are put in, each behind a unit that stays (or before the first).
        let mut head: Vec<String> = Vec::new();
        let mut last_stable = None;
        let mut runs: Vec<(usize, Vec<String>)> = Vec::new();
        for (slot, stable) in slots.iter().zip(&stable) {
            let lines = match slot {
                Slot::Kept(index) if *stable => {
                    last_stable = Some(*index);
                    continue;
                }
                Slot::Kept(index) => self.unit_lines(&units[*index], column),
                Slot::New(new) => new_lines(new, mapping, column, manner),
            };
            match (last_stable, runs.last_mut()) {
                (None, _) => head.extend(lines),
                (Some(unit), Some((behind, run))) if *behind == unit => run.extend(lines),
                (Some(unit), _) => runs.push((unit, lines)),
            }
        }
        let joined = |lines: &[String]| -> String {
            lines
                .iter()
                .flat_map(|line| [line.as_str(), manner.newline])
                .collect()
        };
        for (unit, lines) in &runs {
            let at = units[*unit].lines_end;
            out.push(Splice {
                range: at..at,
                text: joined(lines),
            });
        }
        for (unit, stays) in units.iter().zip(&stays).skip(usize::from(!first.own_line)) {
            if !stays {
                out.push(Splice {
                    range: unit.lines_start..unit.lines_end,
                    text: String::new(),
                });
            }
        }
        if first.own_line {
            if !head.is_empty() {
                let at = units
                    .iter()
                    .zip(&stays)
                    .find(|(_, stays)| **stays)
                    .map_or(first.lines_start, |(unit, _)| unit.lines_start);
                out.push(Splice {
                    range: at..at,
                    text: joined(&head),
                });
            }
            return;
        }
        // The first unit stands behind a dash: what comes first must stand there.
        let head_text = joined(&head);
        let head_text = head_text.trim_start();
        match (stays[0], head.is_empty()) {
            (true, true) => {}
            (true, false) => {
                let text = format!("{head_text}{:column$}", "");
                out.push(Splice {
                    range: first.start..first.start,
                    text,
                });
            }
            (false, false) => {
                out.push(Splice {
                    range: first.start..first.lines_end,
                    text: head_text.to_owned(),
                });
            }
            (false, true) => {
                let next = units.iter().zip(&stays).find(|(_, stays)| **stays);
                let until = next.map_or(first.lines_end, |(unit, _)| {
                    // Units in between are gone, comments set off from them stay.
                    let blank = self.document.text[first.lines_end..unit.start]
                        .bytes()
                        .take_while(|b| *b == b' ')
                        .count();
                    let between = units.iter().skip(1).position(|u| u.start == unit.start);
                    if between == Some(0) {
                        first.lines_end + blank
                    } else {
                        first.lines_end
                    }
                });
                if until > first.lines_end || next.is_none() {
                    out.push(Splice {
                        range: first.start..until,
                        text: String::new(),
                    });
                } else if let Some((unit, _)) = next {
                    // Removed lines follow: join across them.
                    out.retain(|s| {
                        !(s.text.is_empty()
                            && s.range.start >= first.lines_end
                            && s.range.end <= unit.lines_start)
                    });
                    let indent = self.document.text[unit.lines_start..]
                        .bytes()
                        .take_while(|b| *b == b' ')
                        .count();
                    let range = first.start..unit.lines_start + indent;
                    out.push(Splice {
                        range,
                        text: String::new(),
                    });
                }
            }
        }
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
        let inline_owner = node.mark().filter(|_| first.own_line);
        for unit in units.iter().skip(usize::from(inline_owner.is_none())) {
            out.push(Splice {
                range: unit.lines_start..unit.lines_end,
                text: String::new(),
            });
        }
        if let Some(mark) = inline_owner {
            let behind = match node.raw().properties {
                NONE => mark + 1,
                at if (at as usize) < mark => mark + 1,
                at => at as usize + node.properties().len(),
            };
            out.push(Splice {
                range: behind..behind,
                text: format!(" {empty}"),
            });
        } else {
            let text = format!("{empty}{}", manner.newline);
            out.push(Splice {
                range: first.lines_start..first.lines_end,
                text,
            });
        }
    }

    /// The lines of a unit that moves, with its inner changes, re-indented if it stood behind a dash.
    fn unit_lines(&self, unit: &Unit, column: usize) -> Vec<String> {
        let mut inner = Vec::new();
        self.emit(unit.ids.clone(), &mut inner);
        let source = self.document.text;
        let end = unit.lines_end.min(source.len());
        let text = splice(&source[unit.lines_start..end], unit.lines_start, &mut inner);
        let mut lines: Vec<String> = text
            .lines()
            .map(|line| line.trim_end_matches('\r').to_owned())
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
        let document = self.document;
        let mapping = node.kind().is_mapping();
        let spans: Vec<(Range<usize>, Range<u32>)> = if mapping {
            node.entries()
                .map(|entry| {
                    let start = entry.key.mark().unwrap_or_else(|| entry.key.outer_start());
                    (
                        start..entry_end(entry),
                        entry.key.id.0..entry.value.raw().next,
                    )
                })
                .collect()
        } else {
            node.items()
                .map(|item| {
                    (
                        item.outer_start()..item.range().end,
                        item.id.0..item.raw().next,
                    )
                })
                .collect()
        };
        let interior = node.range().start + 1..node.range().end - 1;
        let Some(((first, _), (last, _))) = spans.first().zip(spans.last()) else {
            let pieces: Vec<_> = slots
                .iter()
                .filter_map(|s| flow_piece(s, mapping, manner))
                .collect();
            out.push(Splice {
                range: interior,
                text: pieces.join(", "),
            });
            return;
        };
        if slots.is_empty() {
            out.push(Splice {
                range: interior,
                text: String::new(),
            });
            return;
        }
        let lead = &document.text[interior.start..first.start];
        let tail = &document.text[last.end..interior.end];
        let between = |index: usize| &document.text[spans[index - 1].0.end..spans[index].0.start];
        let plain_lead = if lead.contains('#') { "\n" } else { lead };
        let template = (1..spans.len())
            .map(between)
            .find(|text| !text.contains('#'))
            .map_or_else(
                || {
                    if lead.contains('\n') {
                        format!(",{plain_lead}")
                    } else {
                        ", ".to_owned()
                    }
                },
                str::to_owned,
            );
        let mut text = lead.to_owned();
        let mut previous: Option<usize> = None;
        for (position, slot) in slots.iter().enumerate() {
            let (kept, piece) = match slot {
                Slot::Kept(index) => {
                    let (range, ids) = &spans[*index];
                    let mut inner = Vec::new();
                    self.emit(ids.clone(), &mut inner);
                    (
                        Some(*index),
                        splice(&document.text[range.clone()], range.start, &mut inner),
                    )
                }
                Slot::New(_) => (None, flow_piece(slot, mapping, manner).unwrap_or_default()),
            };
            if position > 0 {
                match kept {
                    Some(index)
                        if index > 0
                            && (previous == Some(index - 1) || !between(index).contains('#')) =>
                    {
                        text.push_str(between(index));
                    }
                    _ => text.push_str(&template),
                }
            }
            text.push_str(&piece);
            previous = kept;
        }
        text.push_str(tail);
        out.push(Splice {
            range: interior,
            text,
        });
    }

    /// How the surroundings of a node are written.
    fn manner(&self, node: NodeRef<'d>) -> Manner {
        let document = self.document;
        let start = node.range().start;
        Manner {
            step: self.step(node),
            wide: self.wide(start),
            newline: newline_at(document.text, start),
            json: self.json(node),
        }
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
            if let Some(step) = step_of(ancestor) {
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

fn not_shared(node: NodeRef<'_>) -> Result<(), EditError> {
    match node.shared_anchor() {
        Some(anchor) => Err(EditError::SharedAnchor {
            place: node.path().to_string(),
            anchor: anchor.to_owned(),
        }),
        None => Ok(()),
    }
}

fn owner_of(node: NodeRef<'_>) -> Owner {
    let Some(parent) = node.parent() else {
        return Owner::Root;
    };
    let document = node.document;
    if parent.kind().is_sequence() {
        return Owner::Dash(document.column(node.mark().unwrap_or(node.outer_start())));
    }
    let entry = parent.entries().find(|entry| entry.value.id == node.id);
    let key = entry.map_or(node, |entry| entry.key);
    Owner::Key(document.column(key.mark().unwrap_or(key.outer_start())))
}

/// What is replaced when a node gets other content: a tag goes with the old content.
fn content_range(node: NodeRef<'_>) -> Range<usize> {
    let range = node.range();
    let properties = node.properties();
    match (node.tag(), properties.find('&')) {
        (None, _) => range,
        (Some(_), None) => node.outer_start()..range.end,
        (Some(tag), Some(_)) => match properties.rfind(tag) {
            // `&a !t x`: the anchor stays.
            Some(at) if at > 0 => node.outer_start() + at..range.end,
            _ => range,
        },
    }
}

fn new_lines(new: &NewSlot<'_>, mapping: bool, column: usize, manner: &Manner) -> Vec<String> {
    if mapping {
        render::entry_lines(&new.key, &new.content, new.entry, column, manner)
    } else {
        render::item_lines(&new.content, new.item, column, manner)
    }
}

fn flow_piece(slot: &Slot<'_>, mapping: bool, manner: &Manner) -> Option<String> {
    let Slot::New(new) = slot else { return None };
    let value = render::flow(&new.content, manner);
    Some(match mapping {
        true => format!(
            "{}: {value}",
            render::flow_key(&Value::from(new.key.as_str()), manner.json)
        ),
        false => value,
    })
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
