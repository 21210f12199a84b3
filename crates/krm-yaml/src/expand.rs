//! Replaces aliases and merge keys (`<<`) with the nodes that they refer to.
//!
//! ```yaml
//! a: &p {x: 1}          # a: {x: 1}
//! b: *p                 # b: {x: 1}
//! c: {<<: *p, y: 2}     # c: {x: 1, y: 2}
//! ```
//!
//! An expanded tree has separate nodes for each of these places, with the spans of the nodes that they are copied from.
//! Readers of a document therefore see neither aliases nor merge keys, and a change of a copy affects only that place.
//! The [`Editor`](super::Editor) writes such changes back to the source.
//!
//! Source: contract, Bytes; YAML 1.1, `tag:yaml.org,2002:merge`.

use std::collections::HashSet;

use super::document::Document;
use super::limits::Limits;
use super::node::{EntryRef, NodeRef};
use super::scalar::ScalarStyle;
use super::tree::{Copied, Expansion, MAX_DEPTH, NONE, NodeId, NodeKind, Tree, offset};
use super::value::Value;

/// The merge key: the entries of its value belong to the mapping.
pub(super) const MERGE_KEY: &str = "<<";

/// Node limit of an expanded tree: a part for each node of the text, and a fixed part. A text that would exceed it
/// keeps its aliases; [`NodeRef::value`] has separate limits.
const NODES_PER_NODE: usize = 16;
const NODES_BESIDES: usize = 1 << 15;

/// Limit of the bytes of copied scalars: a part for each byte of the text, and a fixed part.
const BYTES_PER_BYTE: usize = 8;
const BYTES_BESIDES: usize = 4 << 20;

impl Tree {
    /// The tree with aliases and merge keys replaced by the nodes that they refer to.
    ///
    /// The tree is returned unchanged if it has none of them, if the result would exceed a limit, or if an alias refers
    /// to itself.
    pub(super) fn expanded(self, text: &str) -> Self {
        if !self.has_references() {
            return self;
        }
        let nodes = self.nodes.len();
        let most = (nodes * NODES_PER_NODE + NODES_BESIDES).min(Limits::of(text).nodes);
        let mut writer = TreeWriter {
            document: Document::new(text, &self),
            out: Tree::default(),
            expansion: Expansion {
                places: vec![NONE; nodes],
                ..Expansion::default()
            },
            nodes_left: most,
            bytes_left: text.len().saturating_mul(BYTES_PER_BYTE) + BYTES_BESIDES,
            copy: None,
        };
        let roots: Vec<NodeId> = self
            .documents
            .iter()
            .map(|document| document.root)
            .collect();
        if roots
            .iter()
            .any(|root| writer.node(*root, NONE, 0).is_none())
        {
            return self;
        }
        let TreeWriter {
            out: mut tree,
            mut expansion,
            ..
        } = writer;
        tree.documents.clone_from(&self.documents);
        for document in &mut tree.documents {
            document.root = expansion.place(document.root).unwrap_or(document.root);
        }
        tree.unterminated = self.unterminated.and_then(|id| expansion.place(id));
        tree.within = self.within;
        tree.reading = self.reading;
        tree.take_texts_of(&self);
        expansion.plain = self;
        tree.expansion = Some(Box::new(expansion));
        tree
    }
}

/// Builds the expanded tree.
struct TreeWriter<'t> {
    document: Document<'t>,
    out: Tree,
    expansion: Expansion,
    nodes_left: usize,
    bytes_left: usize,
    /// The outermost alias or merge key that the current nodes are copied for; `None` outside of copies.
    copy: Option<NodeId>,
}

impl<'t> TreeWriter<'t> {
    /// Adds a node with its descendants; `None` if a limit is exceeded or an alias refers to itself.
    fn node(&mut self, plain: NodeId, parent: u32, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let node = self.document.node(plain);
        if node.kind() == NodeKind::Alias {
            return self.alias(node, parent, depth);
        }
        self.nodes_left = self.nodes_left.checked_sub(1)?;
        let id = offset(self.out.nodes.len());
        let mut raw = node.raw().clone();
        raw.parent = parent;
        self.out.nodes.push(raw);
        self.expansion.origins.push(plain);
        match self.copy {
            None => self.expansion.places[plain.index()] = id,
            Some(_) => self.bytes_left = self.bytes_left.checked_sub(bytes_of(node))?,
        }
        for item in node.items() {
            self.node(item.id, id, depth + 1)?;
        }
        if node.kind().is_mapping() {
            self.entries(node, id, depth)?;
        }
        self.out.nodes[id as usize].next = offset(self.out.nodes.len());
        Some(())
    }

    /// Adds a copy of the node that an alias refers to.
    fn alias(&mut self, alias: NodeRef<'t>, parent: u32, depth: usize) -> Option<()> {
        let target = alias.resolved();
        if target.id == alias.id || target.ids().contains(&alias.id.0) {
            return None;
        }
        if self.copy.is_none() {
            self.expansion.places[alias.id.index()] = offset(self.out.nodes.len());
        }
        self.copied(alias.id, false, |writer| {
            writer.node(target.id, parent, depth)
        })
    }

    /// Records that the nodes added by `add` are copies of nodes elsewhere in the text.
    fn copied(
        &mut self,
        by: NodeId,
        is_entry: bool,
        add: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<()> {
        if self.copy.is_some() {
            return add(self);
        }
        let start = offset(self.out.nodes.len());
        self.copy = Some(by);
        add(self)?;
        self.copy = None;
        let end = offset(self.out.nodes.len());
        self.expansion.copies.push(Copied {
            start,
            end,
            by,
            is_entry,
        });
        Some(())
    }

    fn entries(&mut self, mapping: NodeRef<'t>, id: u32, depth: usize) -> Option<()> {
        let merge = self.document.merge_key(mapping);
        let brought = match merge {
            Some(merge) => {
                let mut brought = Vec::new();
                let mut seen = own_keys(mapping)?;
                collect_merged(merge, &mut seen, &mut self.nodes_left, depth, &mut brought)?;
                brought
            }
            None => Vec::new(),
        };
        for entry in mapping.entries() {
            if merge.is_some_and(|merge| merge.key.id == entry.key.id) {
                for brought in &brought {
                    self.copied(entry.key.id, true, |writer| {
                        writer.node(brought.key.id, id, depth + 1)?;
                        writer.node(brought.value.id, id, depth + 1)
                    })?;
                }
                continue;
            }
            self.node(entry.key.id, id, depth + 1)?;
            self.node(entry.value.id, id, depth + 1)?;
        }
        Some(())
    }
}

/// The length of a scalar's text; 0 for other nodes.
fn bytes_of(node: NodeRef<'_>) -> usize {
    node.scalar_text().map_or(0, str::len)
}

fn own_keys(mapping: NodeRef<'_>) -> Option<HashSet<Value>> {
    let entries = mapping.entries().filter(|entry| !entry.key.is_merge_key());
    entries.map(|entry| entry.key.value()).collect()
}

/// Collects the entries that a merge key adds: those whose keys are not in `seen` yet. Of several mappings the first
/// wins. Within each mapping, its own entries win over those of its merge key.
fn collect_merged<'t>(
    merge: EntryRef<'t>,
    seen: &mut HashSet<Value>,
    steps_left: &mut usize,
    depth: usize,
    out: &mut Vec<EntryRef<'t>>,
) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    for source in sources(merge.value) {
        let source = source.resolved();
        if source.ids().contains(&merge.key.id.0) {
            return None;
        }
        let own = source.document.merge_key(source);
        let mut below = None;
        for entry in source.entries() {
            *steps_left = steps_left.checked_sub(1)?;
            if own.is_some_and(|own| own.key.id == entry.key.id) {
                below = Some((entry, out.len()));
            } else if seen.insert(entry.key.value()?) {
                out.push(entry);
            }
        }
        if let Some((merge, at)) = below {
            let mut brought = Vec::new();
            collect_merged(merge, seen, steps_left, depth + 1, &mut brought)?;
            out.splice(at..at, brought);
        }
    }
    Some(())
}

/// Inserts at `at` the entries that a merge key adds, except those whose keys exist already.
pub(super) fn insert_merged(entries: &mut Vec<(Value, Value)>, at: usize, brought: Value) {
    let mut seen: HashSet<Value> = entries.iter().map(|(key, _)| key.clone()).collect();
    let sources = match brought {
        Value::Sequence(sources) => sources,
        one => vec![one],
    };
    let all = sources.into_iter().flat_map(|source| match source {
        Value::Mapping(entries) => entries,
        _ => Vec::new(),
    });
    let new: Vec<_> = all.filter(|(key, _)| seen.insert(key.clone())).collect();
    entries.splice(at..at, new);
}

/// The mappings that the value of a merge key refers to.
pub(super) fn sources<'t>(value: NodeRef<'t>) -> impl Iterator<Item = NodeRef<'t>> {
    let is_list = value.kind().is_sequence();
    let one = (!is_list).then_some(value);
    let several = is_list.then(|| value.items()).into_iter().flatten();
    one.into_iter().chain(several)
}

impl<'a> Document<'a> {
    /// The merge key of a mapping; `None` if it refers to anything but mappings, which YAML readers refuse.
    pub(super) fn merge_key(&self, mapping: NodeRef<'a>) -> Option<EntryRef<'a>> {
        if !self.tree.merges {
            return None;
        }
        let merge = mapping.entries().find(|entry| entry.key.is_merge_key())?;
        let fits = |node: NodeRef<'a>| node.resolved().kind().is_mapping();
        sources(merge.value).all(fits).then_some(merge)
    }
}

impl<'a> NodeRef<'a> {
    /// Whether this is a plain `<<`; kpt writes it as `!!merge <<`.
    pub(super) fn is_merge_key(&self) -> bool {
        self.kind() == NodeKind::Scalar(ScalarStyle::Plain)
            && self.source() == MERGE_KEY
            && matches!(self.tag(), None | Some("!!merge"))
    }

    /// The node of the source that the comments belong to. For the copy of an alias, this is the alias.
    pub fn written(&self) -> Self {
        let tree = self.document.tree;
        let Some(expansion) = tree.expansion.as_deref() else {
            return *self;
        };
        let plain = Document::new(self.document.text, &expansion.plain);
        let by_alias = expansion
            .copy_around(self.id)
            .filter(|copy| copy.start == self.id.0 && !copy.is_entry);
        plain.node(by_alias.map_or_else(|| expansion.origin(self.id), |copy| copy.by))
    }

    /// The node of the unexpanded tree that has this text. For a copy, this is the node that was copied.
    pub(super) fn origin(&self) -> Self {
        let Some(expansion) = self.document.tree.expansion.as_deref() else {
            return *self;
        };
        let plain = Document::new(self.document.text, &expansion.plain);
        plain.node(expansion.origin(self.id))
    }

    /// Whether the source can be copied into another document: it contains neither aliases nor merge keys, and no
    /// anchors within that aliases there could read.
    pub(super) fn is_self_contained(&self) -> bool {
        !self.has_alias_or_merge_key() && !self.origin().anchors_within().any(|_| true)
    }

    /// The anchors within this node, except its own.
    pub(super) fn anchors_within(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let document = self.document;
        let has_any = memchr::memchr(b'&', self.source().as_bytes()).is_some();
        let ids = if has_any { self.ids() } else { 0..0 };
        ids.skip(1)
            .filter_map(move |id| document.node(NodeId(id)).anchor())
    }

    /// Whether there are aliases or merge keys within this node, so that parts of its value are elsewhere in the text.
    pub fn has_alias_or_merge_key(&self) -> bool {
        let tree = self.document.tree;
        match tree.expansion.as_deref() {
            None => tree.aliases && self.has_alias() || tree.merges && self.has_merge_key(),
            Some(_) => self.origin().has_alias_or_merge_key(),
        }
    }

    fn has_alias(&self) -> bool {
        let mut nodes = self.ids().map(|id| self.at(id));
        nodes.any(|node| node.kind() == NodeKind::Alias)
    }

    fn has_merge_key(&self) -> bool {
        let mut nodes = self.ids().map(|id| self.document.node(NodeId(id)));
        nodes.any(|node| self.document.merge_key(node).is_some())
    }
}

impl<'a> EntryRef<'a> {
    /// Whether a mapping has this entry in the text, and not through a merge key.
    pub(super) fn is_own(&self, mapping: NodeRef<'a>) -> bool {
        let parent = self.key.origin().parent();
        mapping.document.tree.expansion.is_none()
            || parent.is_some_and(|parent| parent.id == mapping.origin().id)
    }
}
