//! Maps changes of an expanded document back to the source, which has aliases and merge keys.
//!
//! ```yaml
//! a: &p {x: 1}    # a.x becomes 2     a: &p {x: 2}
//! b: *p           # does not change   b: {x: 1}
//! c: *p           # becomes 2 too     c: *p
//! ```
//!
//! In an expanded tree, each alias has its own copy of its target, so a change affects one place. An alias is kept if
//! its target has the new value of the alias's place after the edit. A merge key is kept if it adds no entry that its
//! mapping must not have. The content of all other places is written out.
//!
//! Source: contract, Bytes.

mod merge_key;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::slot::are_entries;
use super::{Change, Comments, Editor, Slot};
use crate::content::{Content, OwnedDocument};
use crate::document::Document;
use crate::emit::node_text;
use crate::error::EditError;
use crate::node::NodeRef;
use crate::tree::{Expansion, NodeId};
use crate::value::Value;

/// Maps changes of an expanded document to its source.
pub(super) struct AliasWriteBack<'x> {
    /// The expanded document.
    pub(super) document: Document<'x>,
    pub(super) expansion: &'x Expansion,
    pub(super) changes: BTreeMap<NodeId, Change<'x>>,
    pub(super) comments: BTreeMap<NodeId, Comments>,
    /// The anchors before the current node, by name, with their nodes in the plain tree.
    anchors: HashMap<&'x str, NodeId>,
    /// Changes of the plain tree.
    pub(super) out: BTreeMap<NodeId, Change<'x>>,
    /// The errors of changes that cannot be written, with their nodes in the expanded tree.
    pub(super) refused: Vec<(NodeId, EditError)>,
}

impl<'x> AliasWriteBack<'x> {
    pub(super) fn new(
        document: Document<'x>,
        expansion: &'x Expansion,
        changes: BTreeMap<NodeId, Change<'x>>,
        comments: BTreeMap<NodeId, Comments>,
    ) -> Self {
        Self {
            document,
            expansion,
            changes,
            comments,
            anchors: HashMap::new(),
            out: BTreeMap::new(),
            refused: Vec::new(),
        }
    }

    /// Maps the changes of all documents.
    pub(super) fn run(&mut self) {
        for document in &self.document.tree.documents {
            let root = self.document.node(document.root);
            self.anchors.clear();
            if self.is_touched(root) {
                self.map_node(root);
            }
        }
    }

    /// The changes of comments, by the nodes of the plain tree.
    pub(super) fn comments(&self) -> BTreeMap<NodeId, Comments> {
        let place = |id: NodeId| match self.expansion.copy_around(id) {
            None => Some(self.expansion.origin(id)),
            Some(copy) => (copy.start == id.0 && !copy.is_entry).then_some(copy.by),
        };
        let comments = self.comments.iter();
        let own = comments.filter_map(|(id, comments)| Some((place(*id)?, comments.clone())));
        own.collect()
    }

    pub(super) fn plain(&self) -> Document<'x> {
        Document::new(self.document.text, &self.expansion.plain)
    }

    pub(super) fn is_touched(&self, node: NodeRef<'x>) -> bool {
        let ids = node.ids();
        let mut within = self.changes.range(NodeId(ids.start)..NodeId(ids.end));
        within.next().is_some()
    }

    /// Maps the changes within a node, in the order of the new text.
    pub(super) fn map_node(&mut self, node: NodeRef<'x>) {
        if let Some(copy) = self.expansion.copy_around(node.id) {
            return self.map_alias(node, self.plain().node(copy.by));
        }
        let plain = self.plain().node(self.expansion.origin(node.id));
        self.record_anchor(plain);
        match self.changes.get(&node.id).cloned() {
            Some(Change::Replace(content)) => {
                self.out.insert(plain.id, Change::Replace(content));
            }
            Some(Change::Slots(slots)) => self.map_collection(node, plain, *slots),
            None if self.plain().merge_key(plain).is_some() => {
                let slots = (0..node.entries().count()).map(Slot::Kept).collect();
                self.map_collection(node, plain, slots);
            }
            None => {
                node.items().for_each(|item| self.map_node(item));
                for entry in node.entries() {
                    self.map_key(entry.key);
                    self.map_node(entry.value);
                }
            }
        }
    }

    /// Records the anchor of a node, if it has one.
    pub(super) fn record_anchor(&mut self, plain: NodeRef<'x>) {
        if let Some(anchor) = plain.anchor() {
            self.anchors.insert(&anchor[1..], plain.id);
        }
    }

    /// Maps the changes within a key. A key keeps its spelling, so a change is refused if an alias no longer has its
    /// value.
    pub(super) fn map_key(&mut self, key: NodeRef<'x>) {
        let plain = key.written();
        if plain.resolved().id == plain.id || self.reads(plain, key) {
            return self.map_node(key);
        }
        self.refuse(key, &plain.source()[1..]);
    }

    pub(super) fn refuse(&mut self, node: NodeRef<'x>, anchor: &str) {
        self.refused.push((node.id, shared(node, anchor)));
    }

    /// Whether the target of an alias has, after the edit, the new value of the alias's place.
    fn reads(&self, alias: NodeRef<'x>, place: NodeRef<'x>) -> bool {
        if !self.is_visible(alias) {
            return false;
        }
        let target = self.expansion.place(alias.resolved().id);
        match target.map(|target| self.document.node(target)) {
            Some(target) if self.is_touched(target) || self.is_touched(place) => {
                self.value_after(target) == self.value_after(place)
            }
            _ => !self.is_touched(place),
        }
    }

    /// Whether the anchor of an alias still precedes it, with no other one of that name in between.
    pub(super) fn is_visible(&self, alias: NodeRef<'x>) -> bool {
        self.anchors.get(&alias.source()[1..]) == Some(&alias.resolved().id)
    }

    /// Replaces an alias with the content of its place, unless the alias can be kept.
    fn map_alias(&mut self, place: NodeRef<'x>, alias: NodeRef<'x>) {
        if self.reads(alias, place) {
            return;
        }
        let target = alias.resolved();
        let is_new = matches!(self.changes.get(&place.id), Some(Change::Replace(_)));
        if !is_new && target.anchors_within().next().is_some() {
            return self.refuse(place, &alias.source()[1..]);
        }
        if let Some(content) = self.content(place) {
            self.out.insert(alias.id, Change::Replace(content));
        }
    }

    /// The content of a place after the edit.
    pub(super) fn content(&mut self, place: NodeRef<'x>) -> Option<Content<'x>> {
        if let Some(Change::Replace(content)) = self.changes.get(&place.id) {
            return Some(content.clone());
        }
        if !self.is_touched(place) {
            return Some(Content::Node(place));
        }
        match self.text(place) {
            Ok(text) => Some(text),
            Err(error) => {
                self.refused.push((place.id, error));
                None
            }
        }
    }

    /// The content of a place with the changes within made: edited text if possible, otherwise a value.
    fn text(&self, place: NodeRef<'x>) -> Result<Content<'x>, EditError> {
        let owned = OwnedDocument::parse_as(place.reading(), node_text(place));
        let owned = owned.map_err(EditError::Broken)?;
        let mut editor = Editor::new(owned.document());
        let ids = place.ids();
        let own = |id: &NodeId| NodeId(id.0 - ids.start);
        let within = NodeId(ids.start)..NodeId(ids.end);
        let changes = self.changes.range(within.clone());
        editor.changes = changes.map(|(id, new)| (own(id), new.clone())).collect();
        let comments = self.comments.range(within);
        editor.comments = comments.map(|(id, new)| (own(id), new.clone())).collect();
        let value = self.value_after(place);
        if owned.document().tree.nodes.len() == ids.len() {
            let text = editor.finish_parsed()?;
            if text.root().and_then(|root| root.value()).as_ref() == Some(&value) {
                return Ok(Content::Text(Arc::new(text)));
            }
        }
        Ok(Content::Value(value))
    }

    /// The value of a place after the edit.
    pub(super) fn value_after(&self, node: NodeRef<'x>) -> Value {
        let slots = match self.changes.get(&node.id) {
            Some(Change::Replace(content)) => return content.value(),
            None if !self.is_touched(node) => return node.value().unwrap_or(Value::Null),
            Some(Change::Slots(slots)) if slots.is_empty() && node.is_null() => return Value::Null,
            Some(Change::Slots(slots)) => Vec::clone(slots),
            None => {
                let count = node.entries().count() + node.items().count();
                (0..count).map(Slot::Kept).collect()
            }
        };
        if node.kind().is_mapping() || are_entries(&slots) {
            return Value::Mapping(self.entries_after(node, &slots));
        }
        let items: Vec<_> = node.items().collect();
        let after = slots.iter().map(|slot| match slot {
            Slot::Kept(index) => self.value_after(items[*index]),
            new => self.new_part(new).1,
        });
        Value::Sequence(after.collect())
    }

    pub(super) fn entries_after(
        &self,
        node: NodeRef<'x>,
        slots: &[Slot<'x>],
    ) -> Vec<(Value, Value)> {
        let entries: Vec<_> = node.entries().collect();
        let after = slots.iter().map(|slot| match slot {
            Slot::Kept(index) => {
                let entry = entries[*index];
                let key = entry.key.value().unwrap_or(Value::Null);
                (key, self.value_after(entry.value))
            }
            new => self.new_part(new),
        });
        after.collect()
    }

    /// The key and value of a new entry, or null and the value of a new item.
    fn new_part(&self, slot: &Slot<'x>) -> (Value, Value) {
        match slot.added() {
            Some(new) => (new.key.clone().unwrap_or(Value::Null), new.content.value()),
            None => (Value::Null, Value::Null),
        }
    }

    /// Maps the changes within a collection that has these slots after the edit.
    fn map_collection(&mut self, node: NodeRef<'x>, plain: NodeRef<'x>, slots: Vec<Slot<'x>>) {
        if self.plain().merge_key(plain).is_some() {
            return self.map_merged(node, plain, slots);
        }
        let entries: Vec<_> = node.entries().collect();
        let items: Vec<_> = node.items().collect();
        for slot in &slots {
            let Slot::Kept(index) = slot else { continue };
            match items.get(*index) {
                Some(item) => self.map_node(*item),
                None => {
                    self.map_key(entries[*index].key);
                    self.map_node(entries[*index].value);
                }
            }
        }
        self.out.insert(plain.id, Change::slots(slots));
    }
}

fn shared(node: NodeRef<'_>, anchor: &str) -> EditError {
    EditError::SharedAnchor {
        place: node.path().to_string(),
        anchor: anchor.to_owned(),
    }
}
