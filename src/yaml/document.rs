//! Views on a text and its tree: nodes, entries, values.

use super::error::Location;
use super::path::{Path, PathElement};
use super::scalar::{ScalarStyle, resolve_plain};
use super::tree::{NONE, Node, NodeId, NodeKind, Tree, line_end, line_start};
use super::value::Value;

/// Nodes that one read through aliases may visit (contract, Bad input).
const MAX_ALIAS_NODES: usize = 10_000_000;

/// A text with its tree.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// The source, byte for byte.
    pub text: &'a str,
    pub(super) tree: &'a Tree,
}

impl<'a> Document<'a> {
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

    /// The comments of the text from `#` to the end of the line, in order.
    pub fn comments(&self) -> impl Iterator<Item = std::ops::Range<usize>> + use<'a> {
        let comments = &self.tree.comments;
        comments
            .iter()
            .map(|(start, end)| *start as usize..*end as usize)
    }

    /// The comment that begins at `at`, with its `#`.
    pub(super) fn comment_at(&self, at: usize) -> Option<&'a str> {
        let comments = &self.tree.comments;
        let found = comments
            .binary_search_by_key(&at, |(start, _)| *start as usize)
            .ok()?;
        Some(&self.text[at..comments[found].1 as usize])
    }

    /// Start of the line that holds `at`, behind a byte order mark.
    pub(super) fn line_start(&self, at: usize) -> usize {
        match line_start(self.text.as_bytes(), at) {
            0 if self.text.starts_with('\u{feff}') => '\u{feff}'.len_utf8().min(at),
            start => start,
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

    /// Anchor and tag as they are written.
    #[must_use]
    pub fn properties(&self) -> &'a str {
        let node = self.raw();
        if node.properties == NONE || node.properties >= node.start {
            return "";
        }
        self.document.text[node.properties as usize..node.start as usize].trim_end()
    }

    /// The explicit tag, as written (`!!str`, `!local`, `!<tag:...>`).
    #[must_use]
    pub fn tag(&self) -> Option<&'a str> {
        self.properties()
            .split_ascii_whitespace()
            .find(|word| word.starts_with('!'))
    }

    /// Where the node stands in the text.
    #[must_use]
    pub fn location(&self) -> Location {
        Location::of(self.document.text, self.range().start)
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

    /// The value, aliases written out.
    ///
    /// `None` if that would take more than ten million nodes, or does not end.
    #[must_use]
    pub fn value(&self) -> Option<Value> {
        let mut budget = MAX_ALIAS_NODES;
        self.value_within(&mut budget, 0)
    }

    fn value_within(&self, budget: &mut usize, depth: usize) -> Option<Value> {
        *budget = budget.checked_sub(1)?;
        if depth > 4 * super::tree::MAX_DEPTH {
            return None;
        }
        let depth = depth + 1;
        let node = self.raw();
        Some(match node.kind {
            NodeKind::Alias => {
                // An anchor that holds its own alias never ends; the depth stops it.
                return self.resolved().value_within(budget, depth);
            }
            kind if kind.is_mapping() => Value::Mapping(
                self.entries()
                    .map(|e| {
                        let key = e.key.value_within(budget, depth)?;
                        Some((key, e.value.value_within(budget, depth)?))
                    })
                    .collect::<Option<_>>()?,
            ),
            kind if kind.is_sequence() => Value::Sequence(
                self.items()
                    .map(|item| item.value_within(budget, depth))
                    .collect::<Option<_>>()?,
            ),
            _ => {
                let text = self.scalar_text()?;
                match self.scalar_type() {
                    ScalarType::Plain => resolve_plain(text),
                    _ => Value::String(text.to_owned()),
                }
            }
        })
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
                let index = parent.items().position(|item| item.id == child.id);
                return path.index(index.unwrap_or_default());
            }
            let key = parent
                .entries()
                .find(|entry| entry.value.id == child.id || entry.key.id == child.id)
                .and_then(|entry| entry.key.scalar_text());
            path.field(key.unwrap_or_default())
        })
    }

    /// The anchor above or at this node that an alias outside of it reads, if there is one.
    #[must_use]
    pub fn shared_anchor(&self) -> Option<&'a str> {
        let tree = self.document.tree;
        if tree.shared.is_empty() {
            return None;
        }
        let mut node = Some(*self);
        while let Some(at) = node {
            if let Some((_, name)) = tree.shared.iter().find(|(id, _)| *id == at.id) {
                return Some(name);
            }
            node = at.parent();
        }
        // An anchor within the node that something outside of it reads.
        let inside = self.id.0..self.raw().next;
        tree.shared
            .iter()
            .find(|(id, _)| {
                inside.contains(&id.0)
                    && tree.nodes.iter().enumerate().any(|(i, node)| {
                        node.kind == NodeKind::Alias
                            && node.extra == id.0
                            && !inside.contains(&(i as u32))
                    })
            })
            .map(|(_, name)| &**name)
    }
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
