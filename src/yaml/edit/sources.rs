//! Content of other documents, stored as ids, because an edit can take millions of values from one document.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use crate::yaml::content::Content;
use crate::yaml::document::Document;
use crate::yaml::node::{EntryRef, NodeRef};
use crate::yaml::tree::{NodeId, NodeKind};
use crate::yaml::value::Value;

/// Content as an editor stores it.
#[derive(Debug, Clone)]
pub(super) enum Held<'a> {
    /// A node of a source document.
    Node(NodeOf),
    /// The value of a scalar of a source document. It is written in the style of its new place.
    Value(NodeOf),
    Content(Box<Content<'a>>),
}

/// A node of a source document.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeOf {
    source: u32,
    id: NodeId,
}

/// A new entry or item.
#[derive(Debug, Clone)]
pub(super) struct NewSlot<'a> {
    /// Key of a mapping entry; items have none.
    pub(super) key: Option<Value>,
    pub(super) content: Content<'a>,
    /// The entry of another document whose comments are copied.
    pub(super) entry: Option<EntryRef<'a>>,
    pub(super) item: Option<NodeRef<'a>>,
    /// Comment lines above that are not copied.
    pub(super) without: Arc<HashSet<String>>,
}

impl<'a> NewSlot<'a> {
    /// A new entry, and the entry of another document that it copies, if any.
    pub(super) fn entry(key: Value, content: Content<'a>, source: Option<EntryRef<'a>>) -> Self {
        Self {
            key: Some(key),
            content,
            entry: source,
            item: None,
            without: Arc::default(),
        }
    }

    /// A new item, and the item of another document that it copies, if any.
    pub(super) fn item(content: Content<'a>, source: Option<NodeRef<'a>>) -> Self {
        Self {
            key: None,
            content,
            entry: None,
            item: source,
            without: Arc::default(),
        }
    }
}

/// An entry or item of a collection after the edit.
#[derive(Debug, Clone)]
pub(super) enum Slot<'a> {
    /// The entry or item of this index in the source.
    Kept(usize),
    /// An unchanged copy of an item, or of the entry of a key.
    Copy(NodeOf),
    /// An entry with a copy of this key, and `null` as its value.
    Null(NodeOf),
    New(Box<NewSlot<'a>>),
}

impl Slot<'_> {
    /// The index in the source; `None` for new entries and items.
    pub(super) fn kept(&self) -> Option<usize> {
        match self {
            Self::Kept(index) => Some(*index),
            Self::New(_) | Self::Copy(_) | Self::Null(_) => None,
        }
    }
}

/// The documents that content is taken from.
#[derive(Debug, Clone, Default)]
pub(super) struct ContentSources<'a>(Vec<ContentSource<'a>>);

#[derive(Debug, Clone)]
struct ContentSource<'a> {
    document: Document<'a>,
    /// Comment lines that are not copied with its entries and items.
    without: Arc<HashSet<String>>,
}

/// How many of the last sources are searched for the document of a new node.
const COMPARED: usize = 8;

impl<'a> ContentSources<'a> {
    pub(super) fn hold(&mut self, content: Content<'a>) -> Held<'a> {
        match content {
            Content::Node(node) => Held::Node(self.node_of(node, &Arc::default())),
            content => Held::Content(Box::new(content)),
        }
    }

    /// Stores the value of a scalar, without its style.
    pub(super) fn hold_value(&mut self, scalar: NodeRef<'a>) -> Held<'a> {
        Held::Value(self.node_of(scalar, &Arc::default()))
    }

    /// Stores a new entry or item; an unchanged copy is stored as an id.
    pub(super) fn hold_slot(&mut self, new: NewSlot<'a>) -> Slot<'a> {
        match copied(&new) {
            Some(part) => Slot::Copy(self.node_of(part, &new.without)),
            None => Slot::New(Box::new(new)),
        }
    }

    pub(super) fn hold_null(&mut self, key: NodeRef<'a>) -> Slot<'a> {
        Slot::Null(self.node_of(key, &Arc::default()))
    }

    pub(super) fn content<'s>(&self, held: &'s Held<'a>) -> Cow<'s, Content<'a>> {
        match held {
            Held::Node(node) => Cow::Owned(Content::Node(self.node(*node).0)),
            Held::Value(node) => {
                let value = self.node(*node).0.value();
                Cow::Owned(Content::Value(value.unwrap_or(Value::Null)))
            }
            Held::Content(content) => Cow::Borrowed(content),
        }
    }

    /// A stored new entry or item; `None` for a kept one.
    pub(super) fn new_slot<'s>(&self, slot: &'s Slot<'a>) -> Option<Cow<'s, NewSlot<'a>>> {
        match slot {
            Slot::Kept(_) => None,
            Slot::New(new) => Some(Cow::Borrowed(new)),
            Slot::Null(key) => {
                let key = Value::from(self.node(*key).0.field_name());
                let new = NewSlot::entry(key, Content::Value(Value::Null), None);
                Some(Cow::Owned(new))
            }
            Slot::Copy(part) => {
                let (part, without) = self.node(*part);
                let is_key = part.parent().is_some_and(|p| p.kind().is_mapping());
                let new = if is_key {
                    let entry = EntryRef::of_key(part);
                    let key = part.value().unwrap_or(Value::Null);
                    NewSlot::entry(key, Content::Node(entry.value), Some(entry))
                } else {
                    NewSlot::item(Content::Node(part), Some(part))
                };
                Some(Cow::Owned(NewSlot {
                    without: Arc::clone(without),
                    ..new
                }))
            }
        }
    }

    /// The new entries or items among the slots.
    pub(super) fn new_slots<'s>(
        &'s self,
        slots: &'s [Slot<'a>],
    ) -> impl Iterator<Item = Cow<'s, NewSlot<'a>>> {
        slots.iter().filter_map(|slot| self.new_slot(slot))
    }

    /// Whether the new slots, if any, are entries.
    pub(super) fn are_entries(&self, slots: &[Slot<'a>]) -> bool {
        let first = self.new_slots(slots).next();
        first.is_some_and(|new| new.key.is_some())
    }

    fn node(&self, node: NodeOf) -> (NodeRef<'a>, &Arc<HashSet<String>>) {
        let source = &self.0[node.source as usize];
        (source.document.node(node.id), &source.without)
    }

    fn node_of(&mut self, node: NodeRef<'a>, without: &Arc<HashSet<String>>) -> NodeOf {
        let is_same = |source: &ContentSource<'a>| {
            let is_without = Arc::ptr_eq(&source.without, without)
                || (source.without.is_empty() && without.is_empty());
            source.document.is(node.document) && is_without
        };
        let last = self.0.len().saturating_sub(COMPARED);
        let found = self.0[last..].iter().rposition(is_same);
        let at = found.map(|at| last + at).unwrap_or_else(|| {
            self.0.push(ContentSource {
                document: node.document,
                without: Arc::clone(without),
            });
            self.0.len() - 1
        });
        NodeOf {
            source: at as u32,
            id: node.id,
        }
    }
}

/// The key or item that a new entry or item copies without changes.
fn copied<'a>(new: &NewSlot<'a>) -> Option<NodeRef<'a>> {
    let Content::Node(content) = &new.content else {
        return None;
    };
    let is = |a: NodeRef<'a>, b: NodeRef<'a>| a.id == b.id && a.document.is(b.document);
    match (new.entry, new.item) {
        (Some(entry), None) => {
            let is_simple = matches!(entry.key.kind(), NodeKind::Scalar(_));
            let is_entry = is_simple && is(EntryRef::of_key(entry.key).value, entry.value);
            (is_entry && is(entry.value, *content)).then_some(entry.key)
        }
        (None, Some(item)) => {
            let in_list = item.parent().is_some_and(|p| p.kind().is_sequence());
            (in_list && is(item, *content)).then_some(item)
        }
        _ => None,
    }
}
