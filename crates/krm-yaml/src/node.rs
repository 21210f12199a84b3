//! Nodes of a document: their kinds, their places in the text, and lookups.

use std::borrow::Cow;

use super::document::Document;
use super::error::Location;
use super::lines::skip_trivia;
use super::path::Path;
use super::scalar::{Reading, ScalarStyle, is_plain_null};
use super::tree::{DocumentSpan, NONE, NodeId, NodeKind, TreeNode};
use super::value::Value;

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
    pub key: NodeRef<'a>,
    pub value: NodeRef<'a>,
}

impl<'a> EntryRef<'a> {
    /// The entry that a key of a mapping belongs to.
    pub fn of_key(key: NodeRef<'a>) -> Self {
        let value = key.at(key.raw().next);
        Self { key, value }
    }
}

impl<'a> Document<'a> {
    /// The root node of a document of the stream; `None` if the document has no content.
    #[must_use]
    pub fn root(&self, index: usize) -> Option<NodeRef<'a>> {
        let document = self.tree.documents.get(index)?;
        (!document.empty).then(|| self.node(document.root))
    }

    /// The root of each document that has content.
    pub fn roots(self) -> impl Iterator<Item = NodeRef<'a>> {
        (0..self.len()).filter_map(move |index| self.root(index))
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

    /// Whether a node ends with a block scalar that keeps blank lines (`+`).
    pub(super) fn ends_in_kept_scalar(&self, node: NodeRef<'_>) -> bool {
        let last = self.node(NodeId(node.ids().end - 1));
        let header = last.source().lines().next().unwrap_or_default();
        last.kind().is_block_scalar() && header.contains('+')
    }
}

impl<'a> NodeRef<'a> {
    pub(super) fn raw(&self) -> &'a TreeNode {
        self.document.tree.node(self.id)
    }

    pub(super) fn at(&self, id: u32) -> Self {
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

    /// Offset of the dash, colon or question mark before the node.
    #[must_use]
    pub fn indicator(&self) -> Option<usize> {
        (self.raw().indicator != NONE).then_some(self.raw().indicator as usize)
    }

    /// The text of the content, as written.
    #[must_use]
    pub fn source(&self) -> &'a str {
        &self.document.text[self.range()]
    }

    /// The range of anchor and tag, if there are any.
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

    /// Anchor and tag as written; empty if there are none.
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

    /// The line and column at which the content begins.
    #[must_use]
    pub fn location(&self) -> Location {
        self.document.location(self.range().start)
    }

    /// The collection that holds the node.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        (self.raw().parent != NONE).then(|| self.at(self.raw().parent))
    }

    /// The node that an alias refers to. For other nodes, the node itself.
    #[must_use]
    pub fn resolved(&self) -> Self {
        let node = self.raw();
        if node.kind == NodeKind::Alias && node.extra != NONE {
            self.at(node.extra)
        } else {
            *self
        }
    }

    /// Each key and value of a mapping, each item of a sequence, in order; nothing for other nodes.
    pub(super) fn children(&self) -> impl Iterator<Item = NodeRef<'a>> + use<'a> {
        self.children_if(|kind| kind.is_mapping() || kind.is_sequence())
    }

    /// The children of the node, if its kind fits.
    fn children_if(
        &self,
        fits: fn(NodeKind) -> bool,
    ) -> impl Iterator<Item = NodeRef<'a>> + use<'a> {
        let (node, raw) = (*self, self.raw());
        let end = if fits(raw.kind) { raw.next } else { 0 };
        let mut next = node.id.0 + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then(|| node.at(next))?;
            next = child.raw().next;
            Some(child)
        })
    }

    /// Whether this is a collection that is not empty.
    pub fn is_filled(&self) -> bool {
        self.children().next().is_some()
    }

    /// Whether this is a mapping, or an alias, which may refer to one.
    pub(super) fn may_have_entries(&self) -> bool {
        self.kind().is_mapping() || self.kind() == NodeKind::Alias
    }

    /// The entries of a mapping, in order; nothing for other nodes.
    pub fn entries(&self) -> impl Iterator<Item = EntryRef<'a>> + use<'a> {
        let mut children = self.children_if(NodeKind::is_mapping);
        std::iter::from_fn(move || {
            let (key, value) = (children.next()?, children.next()?);
            Some(EntryRef { key, value })
        })
    }

    /// The items of a sequence, in order; nothing for other nodes.
    pub fn items(&self) -> impl Iterator<Item = NodeRef<'a>> + use<'a> {
        self.children_if(NodeKind::is_sequence)
    }

    /// The entry of a mapping with this string as key. Does not resolve an alias.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<EntryRef<'a>> {
        self.entries().find(|entry| entry.key.as_str() == Some(key))
    }

    /// The value of a key. Resolves aliases.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<NodeRef<'a>> {
        self.resolved()
            .entry(key)
            .map(|entry| entry.value.resolved())
    }

    /// The value at the end of a chain of keys. Resolves aliases.
    #[must_use]
    pub fn get_path(&self, keys: &[&str]) -> Option<NodeRef<'a>> {
        keys.iter().try_fold(*self, |node, key| node.get(key))
    }

    /// The text of a scalar after unescaping and folding, whatever its type.
    #[must_use]
    pub fn scalar_text(&self) -> Option<&'a str> {
        let node = self.raw();
        matches!(node.kind, NodeKind::Scalar(_))
            .then(|| self.document.tree.decoded(self.document.text, node))
    }

    /// What the plain scalars of the text mean.
    #[must_use]
    pub fn reading(&self) -> Reading {
        self.document.tree.reading
    }

    /// The text of a scalar by its value, whatever its type: `420` for `0644`, `true` for `yes`. Two scalars of one type are
    /// equal if this is.
    #[must_use]
    pub fn value_text(&self) -> Option<&'a str> {
        let node = self.resolved();
        let text = node.scalar_text()?;
        let is_respelled =
            node.scalar_type() == ScalarType::Plain && !self.reading().is_string(text);
        if !is_respelled {
            return Some(text);
        }
        let document = self.document;
        let other_spelling = |id| document.node(id).other_spelling();
        let usual = document.tree.respelled(node.id, other_spelling);
        Some(usual.unwrap_or(text))
    }

    /// The text by its value, if that is not how the scalar is written.
    pub(super) fn other_spelling(&self) -> Option<Cow<'a, str>> {
        let text = self.scalar_text()?;
        if self.scalar_type() != ScalarType::Plain || self.reading().is_string(text) {
            return None;
        }
        let key = self.is_string_key().then(|| self.reading().key_text(text));
        let usual = key
            .flatten()
            .unwrap_or_else(|| self.reading().value_text(text));
        (usual != text).then_some(usual)
    }

    /// The text of a scalar that is a string (numbers, booleans and null are not; but keys are, in Kubernetes).
    #[must_use]
    pub fn as_str(&self) -> Option<&'a str> {
        let node = self.resolved();
        let text = node.scalar_text()?;
        match node.scalar_type() {
            ScalarType::String => Some(text),
            ScalarType::Plain if self.reading().is_string(text) => Some(text),
            ScalarType::Plain if node.is_string_key() => node.value_text(),
            _ => None,
        }
    }

    /// Whether this is `null`, `~` or empty.
    #[must_use]
    pub fn is_null(&self) -> bool {
        let node = self.resolved();
        node.scalar_type() == ScalarType::Plain && node.scalar_text().is_some_and(is_plain_null)
    }

    /// Whether this is a key that is a string whatever its text is.
    fn is_string_key(&self) -> bool {
        let of_mapping = |parent: Self| parent.kind().is_mapping();
        self.reading() == Reading::Kubernetes
            && !self.is_value_after_colon()
            && self.parent().is_some_and(of_mapping)
            // A value without a colon is empty.
            && !self.is_null()
    }

    /// Whether this follows the colon of its entry.
    fn is_value_after_colon(&self) -> bool {
        let by_colon = |indicator| self.document.text.as_bytes()[indicator] == b':';
        self.indicator().is_some_and(by_colon)
    }

    pub(super) fn scalar_type(&self) -> ScalarType {
        let NodeKind::Scalar(style) = self.kind() else {
            return ScalarType::None;
        };
        let by_style = if style == ScalarStyle::Plain {
            ScalarType::Plain
        } else {
            ScalarType::String
        };
        let Some(tag) = self.tag() else {
            return by_style;
        };
        let standard = tag.strip_prefix("!<tag:yaml.org,2002:");
        let name = standard.and_then(|tag| tag.strip_suffix('>'));
        match name.or(tag.strip_prefix("!!")).unwrap_or_default() {
            "str" => ScalarType::String,
            "int" | "float" | "bool" | "null" => ScalarType::Plain,
            _ if tag == "!" || self.reading() == Reading::Kubernetes => ScalarType::String,
            _ => by_style,
        }
    }

    /// The value of a key that is a scalar, wherever the text has that scalar: an alias can be a key.
    pub(super) fn key_value(&self) -> Option<Value> {
        let text = self.scalar_text()?;
        let key = match self.scalar_type() {
            ScalarType::Plain => self.reading().key_text(text),
            _ => Some(Cow::Borrowed(text)),
        };
        key.map(Value::from).or_else(|| self.scalar_value())
    }

    /// The value of a scalar.
    pub(super) fn scalar_value(&self) -> Option<Value> {
        let text = self.scalar_text()?;
        Some(match self.scalar_type() {
            ScalarType::Plain => match self.reading().special(text) {
                Some(value) if !self.is_string_key() => value,
                Some(_) => Value::from(self.value_text().unwrap_or(text)),
                None => Value::from(text),
            },
            _ => Value::from(text),
        })
    }

    /// The name of the node's kind in messages: `string`, `mapping`, ...
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        let node = self.resolved();
        match node.kind() {
            kind if kind.is_mapping() => "mapping",
            kind if kind.is_sequence() => "sequence",
            NodeKind::Alias => "alias",
            _ => node.scalar_value().map_or("string", |value| value.kind()),
        }
    }

    /// The name of this key in a path: its text, or its source if it is a collection.
    pub fn field_name(&self) -> &'a str {
        let key = self.resolved();
        key.key_text().unwrap_or(key.source())
    }

    /// The text of this key: the string that it is in Kubernetes, else as written; `None` if it is a collection.
    #[must_use]
    pub fn key_text(&self) -> Option<&'a str> {
        let key = self.resolved();
        match self.reading() {
            Reading::Kubernetes => key.value_text(),
            Reading::Core => key.scalar_text(),
        }
    }

    /// Column in bytes of the content, counted from 0.
    pub fn column(&self) -> usize {
        self.document.column(self.range().start)
    }

    /// The text of the document that this node is the root of, comments included, without its
    /// `---`; `None` for other nodes.
    #[must_use]
    pub fn document_text(&self) -> Option<&'a str> {
        self.document_range()
            .map(|range| &self.document.text[range])
    }

    /// The range of [`NodeRef::document_text`].
    pub(crate) fn document_range(&self) -> Option<std::ops::Range<usize>> {
        let (_, span) = self.document_span()?;
        let text = &self.document.text[span.body..span.end];
        let line = text.find('\n').map_or(text.len(), |at| at + 1);
        let opened = span.body > span.start;
        Some(if opened && text[..line].trim().is_empty() {
            span.body + line..span.end
        } else {
            span.body..span.end
        })
    }

    /// The document that this node is the root of, and its index; `None` for other nodes.
    pub(super) fn document_span(&self) -> Option<(usize, &'a DocumentSpan)> {
        let tree = self.document.tree;
        let index = if tree.within {
            return None;
        } else {
            tree.documents.binary_search_by_key(&self.id, |d| d.root)
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

    /// Ids of the node and its descendants.
    pub(super) fn ids(&self) -> std::ops::Range<u32> {
        self.id.0..self.raw().next
    }

    /// The key that this node is the value of.
    pub fn key_of_value(&self) -> Option<Self> {
        let parent = self.parent().filter(|parent| parent.kind().is_mapping())?;
        if !self.is_value_after_colon() {
            let entry = parent.entries().find(|entry| entry.value.id == self.id)?;
            return Some(entry.key);
        }
        // The key is the previous sibling; the previous node may be one of its descendants.
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

/// How the type of a scalar is determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScalarType {
    /// By its text, according to the [`Reading`].
    Plain,
    /// The node is always a string.
    String,
    /// The node is not a scalar.
    None,
}
