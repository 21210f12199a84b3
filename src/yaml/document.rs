//! Views on a text and its tree: nodes, entries, values.

use std::collections::HashMap;

use super::error::Location;
use super::expand::with_brought;
use super::lines::{BYTE_ORDER_MARK, line_end, line_start, skip_trivia};
use super::path::{Path, PathElement};
use super::scalar::{ScalarStyle, resolve_plain};
use super::tree::{DocumentSpan, MAX_DEPTH, NONE, Node, NodeId, NodeKind, Tree};
use super::value::Value;

/// Nodes that one read through aliases may visit (contract, Bad input).
const MAX_ALIAS_NODES: usize = 10_000_000;

/// Memory that the aliases of a value may take when they are written out, and besides for each byte
/// of the text: a few bytes of aliases must not become hundreds of megabytes.
const ALIAS_BYTES: usize = 8 << 20;
const ALIAS_BYTES_PER_BYTE: usize = 1;
/// What a node takes in a value, apart from its text.
const NODE_BYTES: usize = 2 * size_of::<Value>();

/// Bytes from one place whose line is known to the next.
const MILESTONE: usize = 1 << 14;

/// Levels of a value whose aliases are written out; a stack must bear walks through it.
const MAX_VALUE_DEPTH: usize = 2 * MAX_DEPTH;

/// A text with its tree.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// The source, byte for byte.
    pub text: &'a str,
    pub(super) tree: &'a Tree,
}

impl<'a> EntryRef<'a> {
    /// The entry of a mapping's key.
    pub(crate) fn of_key(key: NodeRef<'a>) -> Self {
        let value = key.at(key.raw().next);
        Self { key, value }
    }
}

impl<'a> Document<'a> {
    /// Whether this is the same tree of the same text.
    pub(crate) fn is(&self, other: Document<'_>) -> bool {
        std::ptr::eq(self.tree, other.tree) && std::ptr::eq(self.text, other.text)
    }

    /// Pairs a tree with the text that it was parsed from.
    #[must_use]
    pub fn new(text: &'a str, tree: &'a Tree) -> Self {
        Self { text, tree }
    }

    /// Number of documents in the stream.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tree.documents.len()
    }

    /// Whether the text holds no document at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tree.documents.is_empty()
    }

    /// The root node of a document of the stream; `None` if the document has no content.
    #[must_use]
    pub fn root(&self, index: usize) -> Option<NodeRef<'a>> {
        let document = self.tree.documents.get(index)?;
        (!document.empty).then(|| self.node(document.root))
    }

    /// Byte range of a document of the stream, from behind the previous one to the next marker.
    #[must_use]
    pub fn range(&self, index: usize) -> Option<std::ops::Range<usize>> {
        self.tree
            .documents
            .get(index)
            .map(|document| document.start..document.end)
    }

    /// The node of an id of this document's tree.
    #[must_use]
    pub fn node(&self, id: NodeId) -> NodeRef<'a> {
        NodeRef {
            document: *self,
            id,
        }
    }

    /// The last node of the stream in the order of the text.
    pub(super) fn last_node(&self) -> Option<NodeRef<'a>> {
        let last = self.tree.nodes.len().checked_sub(1)?;
        Some(self.node(NodeId(u32::try_from(last).ok()?)))
    }

    /// An anchor within these nodes that an alias behind them reads.
    pub(super) fn read_from_outside(&self, ids: std::ops::Range<u32>) -> Option<&'a str> {
        let shared = &self.tree.shared;
        let from = shared.partition_point(|anchor| anchor.node.0 < ids.start);
        let within = shared[from..].iter().take_while(|a| a.node.0 < ids.end);
        let mut read = within.filter(|anchor| anchor.last_reader.0 >= ids.end);
        read.next().map(|anchor| &*anchor.name)
    }

    /// The comments of the text from `#` to the end of the line, in order.
    pub fn comments(&self) -> impl Iterator<Item = std::ops::Range<usize>> + use<'a> {
        let comments = &self.tree.comments;
        comments
            .iter()
            .map(|(start, end)| *start as usize..*end as usize)
    }

    /// The comments that begin within a range, in order.
    pub fn comments_within(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = &'a str> {
        let comments = &self.tree.comments;
        let from = comments.partition_point(|(start, _)| (*start as usize) < range.start);
        let text = self.text;
        let within = comments[from..]
            .iter()
            .map(|(start, end)| *start as usize..*end as usize);
        within
            .take_while(move |comment| comment.start < range.end)
            .map(move |comment| &text[comment])
    }

    /// Whether the last line of a node is that of a block scalar which keeps blank lines.
    pub(super) fn ends_in_kept_scalar(&self, node: NodeRef<'_>) -> bool {
        let last = self.node(NodeId(node.ids().end - 1));
        let header = last.source().lines().next().unwrap_or_default();
        last.kind().is_block_scalar() && header.contains('+')
    }

    /// The comment that begins at `at`, with its `#`.
    pub(super) fn comment_at(&self, at: usize) -> Option<&'a str> {
        let comments = &self.tree.comments;
        let found = comments
            .binary_search_by_key(&at, |(start, _)| *start as usize)
            .ok()?;
        Some(&self.text[at..comments[found].1 as usize])
    }

    /// The place of a byte offset; many of them do not take long in a long text.
    #[must_use]
    pub fn location(&self, offset: usize) -> Location {
        let text = self.text;
        let new = || Location::milestones(text, MILESTONE);
        let milestones = self.tree.milestones.get_or_init(new);
        let offset = offset.min(text.len());
        let at = offset / MILESTONE;
        milestones[at].behind(&text.as_bytes()[at * MILESTONE..offset])
    }

    /// Start of the line that holds `at`, behind a byte order mark.
    pub(super) fn line_start(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let start = line_start(bytes, at);
        match bytes[start..].starts_with(BYTE_ORDER_MARK) {
            true => (start + BYTE_ORDER_MARK.len()).min(at),
            false => start,
        }
    }

    /// The line feed that ends the line of `at`, or the end of the text.
    pub(super) fn line_end(&self, at: usize) -> usize {
        line_end(self.text.as_bytes(), at)
    }

    /// Column in bytes of `at`, counted from 0.
    pub(super) fn column(&self, at: usize) -> usize {
        at - self.line_start(at)
    }
}

/// A node: a place in a document.
#[derive(Debug, Clone, Copy)]
pub struct NodeRef<'a> {
    /// The document that holds it.
    pub document: Document<'a>,
    /// Its id in the document's tree.
    pub id: NodeId,
}

/// An entry of a mapping.
#[derive(Debug, Clone, Copy)]
pub struct EntryRef<'a> {
    /// The key.
    pub key: NodeRef<'a>,
    /// The value.
    pub value: NodeRef<'a>,
}

/// What a value may still take.
struct Budget {
    nodes: usize,
    /// Of what aliases stand for.
    bytes: usize,
    /// Aliases around the node at hand.
    aliases: usize,
}

impl Budget {
    /// Takes a node at a depth, whose lines are indented by it when they are written.
    fn take(&mut self, node: NodeRef<'_>, depth: usize) -> Option<()> {
        self.nodes = self.nodes.checked_sub(1)?;
        if self.aliases > 0 {
            let text = node.scalar_text().map_or(0, str::len);
            let bytes = NODE_BYTES + text + 2 * depth;
            self.bytes = self.bytes.checked_sub(bytes)?;
        }
        Some(())
    }
}

impl<'a> NodeRef<'a> {
    pub(super) fn raw(&self) -> &'a Node {
        self.document.tree.node(self.id)
    }

    fn at(&self, id: u32) -> Self {
        self.document.node(NodeId(id))
    }

    /// What the node is, and how it is written.
    #[must_use]
    pub fn kind(&self) -> NodeKind {
        self.raw().kind
    }

    /// Byte range of the content, without anchor, tag and last line break.
    #[must_use]
    pub fn range(&self) -> std::ops::Range<usize> {
        self.raw().start as usize..self.raw().end as usize
    }

    /// First byte of the node, its anchor and tag included.
    #[must_use]
    pub fn outer_start(&self) -> usize {
        self.raw().start.min(self.raw().properties) as usize
    }

    /// The dash, colon or question mark in front of the node.
    #[must_use]
    pub fn mark(&self) -> Option<usize> {
        (self.raw().mark != NONE).then_some(self.raw().mark as usize)
    }

    /// The content as it is written.
    #[must_use]
    pub fn source(&self) -> &'a str {
        &self.document.text[self.range()]
    }

    /// Where anchor and tag stand, if there are any.
    pub(super) fn properties_range(&self) -> Option<std::ops::Range<usize>> {
        let node = self.raw();
        if node.properties == NONE || node.properties >= node.start {
            return None;
        }
        let bytes = &self.document.text.as_bytes()[..node.start as usize];
        let start = node.properties as usize;
        let (mut at, mut end) = (start, start);
        while matches!(bytes.get(at), Some(b'&' | b'!')) {
            end = property_end(bytes, at);
            at = skip_trivia(bytes, end);
        }
        Some(start..end)
    }

    /// Anchor and tag as they are written.
    #[must_use]
    pub fn properties(&self) -> &'a str {
        self.properties_range()
            .map_or("", |range| &self.document.text[range])
    }

    /// The explicit tag, as written (`!!str`, `!local`, `!<tag:...>`).
    #[must_use]
    pub fn tag(&self) -> Option<&'a str> {
        self.property(b'!')
    }

    /// The anchor with its `&`.
    #[must_use]
    pub fn anchor(&self) -> Option<&'a str> {
        self.property(b'&')
    }

    fn property(&self, indicator: u8) -> Option<&'a str> {
        let range = self.properties_range()?;
        let text = &self.document.text[..range.end];
        let mut at = range.start;
        while at < range.end {
            let end = property_end(text.as_bytes(), at);
            if text.as_bytes()[at] == indicator {
                return Some(&text[at..end]);
            }
            at = skip_trivia(text.as_bytes(), end);
        }
        None
    }

    /// Where the node stands in the text.
    #[must_use]
    pub fn location(&self) -> Location {
        self.document.location(self.range().start)
    }

    /// The collection that holds the node.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        (self.raw().parent != NONE).then(|| self.at(self.raw().parent))
    }

    /// The node that an alias stands for; other nodes are their own.
    #[must_use]
    pub fn resolved(&self) -> Self {
        let node = self.raw();
        if node.kind == NodeKind::Alias && node.extra != NONE {
            self.at(node.extra)
        } else {
            *self
        }
    }

    /// The entries of a mapping, in order; nothing for other nodes.
    pub fn entries(&self) -> impl Iterator<Item = EntryRef<'a>> + use<'a> {
        let node = *self;
        let end = if node.kind().is_mapping() {
            node.raw().next
        } else {
            0
        };
        let mut child = node.id.0 + 1;
        std::iter::from_fn(move || {
            if child >= end {
                return None;
            }
            let key = node.at(child);
            let value = node.at(key.raw().next);
            child = value.raw().next;
            Some(EntryRef { key, value })
        })
    }

    /// The items of a sequence, in order; nothing for other nodes.
    pub fn items(&self) -> impl Iterator<Item = NodeRef<'a>> + use<'a> {
        let node = *self;
        let end = if node.kind().is_sequence() {
            node.raw().next
        } else {
            0
        };
        let mut child = node.id.0 + 1;
        std::iter::from_fn(move || {
            if child >= end {
                return None;
            }
            let item = node.at(child);
            child = item.raw().next;
            Some(item)
        })
    }

    /// The entry of a mapping with this string as key. Does not look through an alias.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<EntryRef<'a>> {
        self.entries().find(|entry| entry.key.as_str() == Some(key))
    }

    /// The value under a key; looks through an alias.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<NodeRef<'a>> {
        self.resolved()
            .entry(key)
            .map(|entry| entry.value.resolved())
    }

    /// The value at the end of a chain of keys; looks through aliases.
    #[must_use]
    pub fn get_path(&self, keys: &[&str]) -> Option<NodeRef<'a>> {
        keys.iter().try_fold(*self, |node, key| node.get(key))
    }

    /// The node at a path of fields and indexes. Does not look through aliases.
    #[must_use]
    pub fn at_path(&self, path: &Path) -> Option<NodeRef<'a>> {
        path.elements()
            .iter()
            .try_fold(*self, |node, element| match element {
                PathElement::Field(name) => node.entry(name).map(|entry| entry.value),
                PathElement::Index(index) => node.items().nth(*index),
                PathElement::Key(_) | PathElement::Value(_) => None,
            })
    }

    /// The text of a scalar after unescaping and folding, whatever its type.
    #[must_use]
    pub fn scalar_text(&self) -> Option<&'a str> {
        let node = self.raw();
        matches!(node.kind, NodeKind::Scalar(_))
            .then(|| self.document.tree.decoded(self.document.text, node))
    }

    /// The text of a scalar that is a string (numbers, booleans and null are not).
    #[must_use]
    pub fn as_str(&self) -> Option<&'a str> {
        let node = self.resolved();
        let text = node.scalar_text()?;
        match node.scalar_type() {
            ScalarType::String => Some(text),
            ScalarType::Plain if matches!(resolve_plain(text), Value::String(_)) => Some(text),
            _ => None,
        }
    }

    /// Whether this is `null`, `~` or nothing.
    #[must_use]
    pub fn is_null(&self) -> bool {
        let node = self.resolved();
        matches!(node.scalar_type(), ScalarType::Plain)
            && node
                .scalar_text()
                .is_some_and(|text| matches!(resolve_plain(text), Value::Null))
    }

    fn scalar_type(&self) -> ScalarType {
        let NodeKind::Scalar(style) = self.kind() else {
            return ScalarType::None;
        };
        match self.tag() {
            Some("!!str" | "!" | "!<tag:yaml.org,2002:str>") => ScalarType::String,
            Some("!!int" | "!!float" | "!!bool" | "!!null") => ScalarType::Plain,
            _ if style == ScalarStyle::Plain => ScalarType::Plain,
            _ => ScalarType::String,
        }
    }

    /// The word for the node's kind in messages: `string`, `mapping`, ...
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        let node = self.resolved();
        match node.kind() {
            kind if kind.is_mapping() => "mapping",
            kind if kind.is_sequence() => "sequence",
            NodeKind::Alias => "alias",
            _ => match node.scalar_type() {
                ScalarType::Plain => resolve_plain(node.scalar_text().unwrap_or_default()).kind(),
                _ => "string",
            },
        }
    }

    /// The value, aliases and merge keys written out.
    ///
    /// `None` if that would take too much memory, or does not end.
    #[must_use]
    pub fn value(&self) -> Option<Value> {
        let per_byte = self
            .document
            .text
            .len()
            .saturating_mul(ALIAS_BYTES_PER_BYTE);
        let mut budget = Budget {
            nodes: MAX_ALIAS_NODES,
            bytes: ALIAS_BYTES.saturating_add(per_byte),
            aliases: 0,
        };
        self.value_within(&mut budget, 0)
    }

    fn value_within(&self, budget: &mut Budget, depth: usize) -> Option<Value> {
        budget.take(*self, depth)?;
        if depth > MAX_VALUE_DEPTH {
            return None;
        }
        let node = self.raw();
        if node.kind == NodeKind::Alias {
            // An anchor that holds its own alias never ends; the depth stops it.
            budget.aliases += 1;
            let value = self.resolved().value_within(budget, depth + 1);
            budget.aliases -= 1;
            return value;
        }
        // Loops, as closures would cost the stack several frames a level.
        if node.kind.is_mapping() {
            let merge = self.document.merge_key(*self).map(|merge| merge.key.id);
            let mut brought = None;
            let mut entries = Vec::new();
            for entry in self.entries() {
                let key = entry.key.value_within(budget, depth + 1)?;
                let value = entry.value.value_within(budget, depth + 1)?;
                match merge == Some(entry.key.id) {
                    true => brought = Some((entries.len(), value)),
                    false => entries.push((key, value)),
                }
            }
            if let Some((at, brought)) = brought {
                with_brought(&mut entries, at, brought);
            }
            return Some(Value::Mapping(entries));
        }
        if node.kind.is_sequence() {
            let mut items = Vec::new();
            for item in self.items() {
                items.push(item.value_within(budget, depth + 1)?);
            }
            return Some(Value::Sequence(items));
        }
        let text = self.scalar_text()?;
        Some(match self.scalar_type() {
            ScalarType::Plain => resolve_plain(text),
            _ => Value::String(text.to_owned()),
        })
    }

    /// Whether this holds an alias, or a key that is a collection.
    pub(super) fn is_complex(&self) -> bool {
        let nodes = self.ids().map(|id| self.at(id));
        let mut complex = nodes.filter(|node| match node.kind() {
            NodeKind::Alias => true,
            _ if self.document.merge_key(*node).is_some() => true,
            kind if kind.is_mapping() => node
                .entries()
                .any(|entry| !matches!(entry.key.kind(), NodeKind::Scalar(_))),
            _ => false,
        });
        complex.next().is_some()
    }

    /// Whether this holds an anchor, a tag or an alias.
    pub(super) fn holds_properties_or_aliases(&self) -> bool {
        let ids = self.ids();
        let nodes = &self.document.tree.nodes[ids.start as usize..ids.end as usize];
        let mut nodes = nodes.iter();
        nodes.any(|node| node.kind == NodeKind::Alias || node.properties != NONE)
    }

    /// Whether this is an alias, or holds one.
    pub(super) fn has_alias(&self) -> bool {
        let ids = self.ids();
        let nodes = &self.document.tree.nodes[ids.start as usize..ids.end as usize];
        nodes.iter().any(|node| node.kind == NodeKind::Alias)
    }

    /// The name that paths give the value of this key: its text, or how a collection is written.
    pub(crate) fn field_name(&self) -> &'a str {
        let key = self.resolved();
        key.scalar_text().unwrap_or(key.source())
    }

    /// Column in bytes of the content, counted from 0.
    pub(crate) fn column(&self) -> usize {
        self.document.column(self.range().start)
    }

    /// Whether two nodes have the same value, however they are written.
    #[must_use]
    pub fn equals(&self, other: &NodeRef<'_>) -> bool {
        let block = |node: &NodeRef<'_>| node.kind().is_block_collection();
        if !block(self)
            && !block(other)
            && self.kind() == other.kind()
            && self.kind() != NodeKind::Alias
            && self.source() == other.source()
            && self.properties() == other.properties()
            && !self.source().contains('*')
            && !self.source().contains('\n')
        {
            return true;
        }
        match (self.value(), other.value()) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        }
    }

    /// The text of the document that this node is the root of, comments included, without its
    /// `---`; `None` for other nodes.
    #[must_use]
    pub fn document_text(&self) -> Option<&'a str> {
        let (_, span) = self.document_span()?;
        let text = &self.document.text[span.body..span.end];
        let line = text.find('\n').map_or(text.len(), |at| at + 1);
        let opened = span.body > span.start;
        Some(if opened && text[..line].trim().is_empty() {
            &text[line..]
        } else {
            text
        })
    }

    /// The document that this node is the root of, and its number; `None` for other nodes.
    pub(super) fn document_span(&self) -> Option<(usize, &'a DocumentSpan)> {
        let tree = self.document.tree;
        let index = match tree.within {
            true => return None,
            false => tree.documents.binary_search_by_key(&self.id, |d| d.root),
        };
        let index = index.ok()?;
        Some((index, &tree.documents[index]))
    }

    /// The path from the root of the document.
    #[must_use]
    pub fn path(&self) -> Path {
        let mut chain = vec![*self];
        while let Some(parent) = chain.last().and_then(NodeRef::parent) {
            chain.push(parent);
        }
        chain.windows(2).rev().fold(Path::root(), |path, pair| {
            let (child, parent) = (pair[0], pair[1]);
            if parent.kind().is_sequence() {
                return path.index(child.document.tree.position(child.id));
            }
            let key = child.key_of_value().unwrap_or(child);
            path.field(key.field_name())
        })
    }

    /// The anchor above or at this node, or within it, that an alias outside of it reads.
    #[must_use]
    pub fn shared_anchor(&self) -> Option<&'a str> {
        self.shared_above()
            .or_else(|| self.document.read_from_outside(self.ids()))
    }

    /// The anchor above or at this node that an alias reads.
    pub(super) fn shared_above(&self) -> Option<&'a str> {
        let shared = &self.document.tree.shared;
        let mut node = Some(*self).filter(|_| !shared.is_empty());
        while let Some(at) = node {
            if let Ok(found) = shared.binary_search_by_key(&at.id, |anchor| anchor.node) {
                return Some(&shared[found].name);
            }
            node = at.parent();
        }
        None
    }

    /// The anchor within this collection whose readers would read something else if the entries
    /// or items stood in another order.
    pub(super) fn anchor_in_order(&self) -> Option<&'a str> {
        let tree = self.document.tree;
        if tree.shared.is_empty() {
            return None;
        }
        let inside = self.ids();
        let children = self.items().chain(self.entries().map(|entry| entry.value));
        let ends: Vec<u32> = children.map(|child| child.raw().next).collect();
        let unit = |id: u32| ends.partition_point(|end| *end <= id);
        let mut defined: HashMap<&str, usize> = HashMap::new();
        for id in inside.clone() {
            if let Some(anchor) = self.at(id).anchor() {
                *defined.entry(&anchor[1..]).or_default() += 1;
            }
        }
        for id in inside.clone() {
            let node = self.at(id);
            if node.kind() != NodeKind::Alias {
                continue;
            }
            let (name, target) = (&node.source()[1..], node.raw().extra);
            let elsewhere = match inside.contains(&target) {
                true => unit(target) != unit(id),
                false => defined.contains_key(name),
            };
            if elsewhere {
                return Some(name);
            }
        }
        self.document
            .read_from_outside(inside)
            .filter(|name| defined.get(name).is_some_and(|count| *count > 1))
    }

    /// Ids of the node and its descendants.
    pub(super) fn ids(&self) -> std::ops::Range<u32> {
        self.id.0..self.raw().next
    }

    /// The key that this node is the value of.
    pub(super) fn key_of_value(&self) -> Option<Self> {
        let parent = self.parent().filter(|parent| parent.kind().is_mapping())?;
        let by_colon = |mark| self.document.text.as_bytes()[mark] == b':';
        if !self.mark().is_some_and(by_colon) {
            let entry = parent.entries().find(|entry| entry.value.id == self.id)?;
            return Some(entry.key);
        }
        // The key is the sibling before; the node before may lie within it.
        let mut before = self.at(self.id.0.checked_sub(1)?);
        while before.raw().parent != parent.id.0 {
            before = before.parent()?;
        }
        Some(before)
    }
}

/// The end of the anchor or tag that begins at `at`.
fn property_end(bytes: &[u8], at: usize) -> usize {
    let closes: fn(&u8) -> bool = if bytes[at..].starts_with(b"!<") {
        |byte| *byte == b'>'
    } else {
        |byte| b" \t\r\n,[]{}".contains(byte)
    };
    let length = bytes[at..].iter().position(closes);
    let bracket = usize::from(bytes[at..].starts_with(b"!<"));
    length.map_or(bytes.len(), |length| at + length + bracket)
}

/// How the type of a scalar is found.
enum ScalarType {
    /// By the core schema.
    Plain,
    /// It is a string.
    String,
    /// It is no scalar.
    None,
}
