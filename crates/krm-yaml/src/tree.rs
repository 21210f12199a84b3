//! The tree of a text: spans, never text.
//!
//! A [`Document`](super::Document) pairs it with the text that it was made from.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::error::{Location, ParseError};
use super::limits::NODE_BYTES;
use super::scalar::{Reading, ScalarStyle};

/// Depth limit of nested collections, counted from the root of the outermost document.
pub const MAX_DEPTH: usize = 512;

/// "No such offset", "no such node".
pub(super) const NONE: u32 = u32::MAX;

/// Value of `TreeNode::extra`: the decoded text is the source without its quotes.
const UNQUOTED: u32 = NONE - 1;

/// Value of `TreeNode::extra`: the decoded text is the only line of a literal, without its indentation.
const LINE: u32 = NONE - 2;

/// Index of a node in its tree; a node's descendants follow it directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

impl NodeId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node is, and how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// A scalar; an empty value is a plain scalar of no length.
    Scalar(ScalarStyle),
    /// A mapping in block style.
    BlockMapping,
    /// A mapping in braces.
    FlowMapping,
    /// A single entry within a flow sequence, without braces: `[a: b]`.
    FlowPair,
    /// A sequence in block style, with dashes.
    BlockSequence,
    /// A sequence in brackets.
    FlowSequence,
    /// `*name`.
    Alias,
}

impl NodeKind {
    /// Whether this is a mapping in any style.
    #[must_use]
    pub fn is_mapping(self) -> bool {
        matches!(
            self,
            Self::BlockMapping | Self::FlowMapping | Self::FlowPair
        )
    }

    /// Whether this is a sequence in any style.
    #[must_use]
    pub fn is_sequence(self) -> bool {
        matches!(self, Self::BlockSequence | Self::FlowSequence)
    }

    /// Whether this is a collection in block style.
    #[must_use]
    pub fn is_block_collection(self) -> bool {
        matches!(self, Self::BlockMapping | Self::BlockSequence)
    }

    /// Whether this is a literal (`|`) or folded (`>`) scalar.
    #[must_use]
    pub fn is_block_scalar(self) -> bool {
        matches!(
            self,
            Self::Scalar(ScalarStyle::Literal | ScalarStyle::Folded)
        )
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TreeNode {
    pub(super) kind: NodeKind,
    /// First byte of the content, after anchor and tag.
    pub(super) start: u32,
    /// First byte after the content; a block scalar or collection ends before its last line break.
    pub(super) end: u32,
    /// First byte of anchor or tag, or `NONE`.
    pub(super) properties: u32,
    /// The dash of an item, the colon of a value, the question mark of a key, or `NONE`.
    pub(super) indicator: u32,
    /// Id of the node after the last descendant.
    pub(super) next: u32,
    /// The collection that holds this node, or `NONE`.
    pub(super) parent: u32,
    /// Scalars: index of the decoded text if it differs from the source, or `UNQUOTED` or `LINE`. Aliases: the target.
    /// Otherwise `NONE`.
    pub(super) extra: u32,
}

const _: () = assert!(size_of::<TreeNode>() == NODE_BYTES);

/// One document of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DocumentSpan {
    /// Root node; an empty document has an empty scalar as its root.
    pub(super) root: NodeId,
    /// Whether the document has no content; `~` is content.
    pub(super) empty: bool,
    /// First byte: where the previous document ends.
    pub(super) start: usize,
    /// First byte after the `---` that opens the document, or its start.
    pub(super) body: usize,
    /// First byte after the document: where the next `---` or `...` begins.
    pub(super) end: usize,
}

/// The tree of a text: nodes in the order of the text, each collection before its children.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Tree {
    pub(super) nodes: Vec<TreeNode>,
    decoded: Texts,
    /// Comments from `#` to the end of the line, in order.
    pub(super) comments: Vec<(u32, u32)>,
    pub(super) documents: Vec<DocumentSpan>,
    /// A block scalar at the end of the text that lacks its last line break.
    pub(super) unterminated: Option<NodeId>,
    /// Whether the text is part of an outer collection ([`ParseOptions::depth`] is above 0).
    pub(super) within: bool,
    /// Cached locations, so that others are found without counting from the start of the text.
    pub(super) milestones: OnceLock<Vec<Location>>,
    /// The position of each node among the children of its parent; computed for the first path.
    positions: OnceLock<Vec<u32>>,
    /// What the plain scalars mean.
    pub(super) reading: Reading,
    /// The texts of the plain scalars whose value has another usual spelling; found for the first of them that is read.
    respelled: OnceLock<Respelled>,
    /// Whether there are aliases.
    pub(super) aliases: bool,
    /// Whether a mapping has a merge key (`<<`).
    pub(super) merges: bool,
    /// How this tree relates to the tree of the source, if aliases and merge keys are expanded.
    pub(super) expansion: Option<Box<Expansion>>,
}

/// The usual spellings of plain scalars that are written in another way: `420` for `0644`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Respelled {
    ids: Vec<NodeId>,
    texts: Texts,
}

/// Texts in one buffer. Millions of short strings would take far more memory.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Texts {
    text: String,
    /// The end of each text in the buffer.
    ends: Vec<u32>,
}

impl Texts {
    /// Adds a text; returns its index.
    fn push(&mut self, text: &str) -> u32 {
        self.text.push_str(text);
        self.ends.push(offset(self.text.len()));
        offset(self.ends.len() - 1)
    }

    fn get(&self, index: u32) -> &str {
        let index = index as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start as usize..self.ends[index] as usize]
    }
}

/// Options of the parser.
#[derive(Debug, Clone, Copy, Default)]
pub struct ParseOptions {
    /// Number of collections around the text that are not part of it, such as a ResourceList around an item.
    pub depth: usize,
    /// What the plain scalars of the text mean.
    pub reading: Reading,
}

impl ParseOptions {
    /// For the text of resources, alone or within `depth` collections.
    pub const fn of_resources(depth: usize) -> Self {
        let reading = Reading::Kubernetes;
        Self { depth, reading }
    }
}

impl Tree {
    /// A tree whose plain scalars have a reading.
    pub(super) fn read_as(reading: Reading) -> Self {
        Self {
            reading,
            ..Self::default()
        }
    }

    /// A tree with capacity for `nodes` nodes, but at most 128: a long text can have few long scalars, so the estimate
    /// may be far too high.
    pub(super) fn with_capacity(nodes: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(nodes.min(128)),
            ..Self::default()
        }
    }

    /// The position of a node among the children of its parent. In a mapping, keys and values both count.
    /// Begins a document, which has no node yet.
    pub(super) fn push_document(&mut self, start: usize, body: usize, text: &str) {
        self.documents.push(DocumentSpan {
            root: NodeId(offset(self.nodes.len())),
            empty: false,
            start,
            body,
            end: text.len(),
        });
    }

    /// Adds a node without properties. Returns its number.
    pub(super) fn push_node(
        &mut self,
        kind: NodeKind,
        span: (u32, u32),
        indicator: u32,
        parent: u32,
    ) -> u32 {
        let id = offset(self.nodes.len());
        self.nodes.push(TreeNode {
            kind,
            start: span.0,
            end: span.1,
            properties: NONE,
            indicator,
            next: id + 1,
            parent,
            extra: NONE,
        });
        id
    }

    pub(super) fn position(&self, id: NodeId) -> usize {
        let positions = self.positions.get_or_init(|| {
            let mut children = vec![0; self.nodes.len()];
            let next = |node: &TreeNode| match children.get_mut(node.parent as usize) {
                Some(count) => {
                    *count += 1;
                    *count - 1
                }
                None => 0,
            };
            self.nodes.iter().map(next).collect()
        });
        positions[id.index()] as usize
    }

    /// Whether there are aliases or merge keys that are not expanded.
    pub(super) fn has_references(&self) -> bool {
        self.aliases || self.merges
    }

    pub(super) fn node(&self, id: NodeId) -> &TreeNode {
        &self.nodes[id.index()]
    }

    /// Sets the decoded text of the last scalar, which differs from its source.
    pub(super) fn add_decoded(&mut self, source: &str, text: Cow<'_, str>) {
        let Some(node) = self.nodes.last_mut() else {
            return;
        };
        let quotes = [ScalarStyle::SingleQuoted, ScalarStyle::DoubleQuoted];
        let quoted = quotes.map(NodeKind::Scalar).contains(&node.kind);
        let inner = node.start as usize + 1..(node.end as usize).saturating_sub(1);
        if quoted && source.get(inner) == Some(&*text) {
            node.extra = UNQUOTED;
            return;
        }
        let literal = NodeKind::Scalar(ScalarStyle::Literal);
        if node.kind == literal && literal_line(source, node) == Some(&*text) {
            node.extra = LINE;
            return;
        }
        node.extra = self.decoded.push(&text);
    }

    /// Copies the decoded texts and the comments of another tree of the same text.
    pub(super) fn take_texts_of(&mut self, other: &Self) {
        self.decoded.clone_from(&other.decoded);
        self.comments.clone_from(&other.comments);
    }

    /// The usual spelling of a plain scalar that has another one. `other_spelling` finds it for any node.
    pub(super) fn respelled<'a>(
        &'a self,
        id: NodeId,
        other_spelling: impl Fn(NodeId) -> Option<Cow<'a, str>>,
    ) -> Option<&'a str> {
        let respelled = self.respelled.get_or_init(|| {
            let mut found = Respelled::default();
            for id in (0..offset(self.nodes.len())).map(NodeId) {
                if let Some(spelling) = other_spelling(id) {
                    found.ids.push(id);
                    found.texts.push(&spelling);
                }
            }
            found
        });
        let at = respelled.ids.binary_search(&id).ok()?;
        Some(respelled.texts.get(offset(at)))
    }

    pub(super) fn decoded<'a>(&'a self, text: &'a str, node: &TreeNode) -> &'a str {
        let (start, end) = (node.start as usize, node.end as usize);
        match node.extra {
            NONE => &text[start..end],
            UNQUOTED => &text[start + 1..end - 1],
            LINE => literal_line(text, node).unwrap_or_default(),
            index => self.decoded.get(index),
        }
    }
}

/// The body of a literal without the indentation of its first line, with the last line break. One line of a literal can
/// have megabytes: the annotation of `kubectl apply`.
fn literal_line<'a>(text: &'a str, node: &TreeNode) -> Option<&'a str> {
    let (start, end) = (node.start as usize, node.end as usize);
    let (_, body) = text.get(start..=end)?.split_once('\n')?;
    Some(body.trim_start_matches(' '))
}

/// The error for a text with too many nodes. Its place is the last scalar within the limit, which both readers have
/// read by then.
pub(super) fn too_many_nodes(text: &str, nodes: &[TreeNode], most: usize) -> ParseError {
    let last = nodes
        .iter()
        .rfind(|node| matches!(node.kind, NodeKind::Scalar(_)));
    let at = last.map_or(0, |node| node.start as usize);
    let message = format!("more than {most} values in one text");
    ParseError::at(text, at, message)
}

/// Converts an offset, which always fits: texts of 4 GiB and more are refused.
pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(NONE)
}

/// How an expanded tree relates to the tree of the source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Expansion {
    /// The tree of the source, with its aliases and merge keys.
    pub(super) plain: Tree,
    /// For each node, the node of the plain tree that has its text.
    pub(super) origins: Vec<NodeId>,
    /// For each node of the plain tree, its id in the expanded tree. For an alias, the id at which its copy begins.
    pub(super) places: Vec<u32>,
    /// Ranges of nodes that are copies, in order.
    pub(super) copies: Vec<Copied>,
}

/// A range of nodes of an expanded tree that are copies of nodes elsewhere in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Copied {
    pub(super) start: u32,
    pub(super) end: u32,
    /// The alias, or the merge key that adds the entry, in the plain tree.
    pub(super) by: NodeId,
    /// Whether this is an entry, with its key.
    pub(super) is_entry: bool,
}

impl Expansion {
    /// The node of the plain tree that has the text of a node.
    pub(super) fn origin(&self, id: NodeId) -> NodeId {
        self.origins[id.index()]
    }

    /// The id of a node of the plain tree in the expanded tree; `None` for a merge key and its value.
    pub(super) fn place(&self, plain: NodeId) -> Option<NodeId> {
        let place = self.places[plain.index()];
        (place != NONE).then_some(NodeId(place))
    }

    /// The outermost copy that contains a node.
    pub(super) fn copy_around(&self, id: NodeId) -> Option<Copied> {
        let at = self.copies.partition_point(|copy| copy.end <= id.0);
        self.copies
            .get(at)
            .copied()
            .filter(|copy| copy.start <= id.0)
    }
}
