//! Builds a tree from the events of the scanner.

use super::{Bail, Events, OpenKeys, Scalar, decode};
use crate::yaml::error::ParseError;
use crate::yaml::limits::Limits;
use crate::yaml::scalar::ScalarStyle;
use crate::yaml::tree::{
    DocumentSpan, MAX_DEPTH, NONE, NodeId, NodeKind, Tree, TreeNode, offset, too_many_nodes,
};

/// Estimated bytes per node in usual resources.
const BYTES_PER_NODE: usize = 10;

/// Receives events and builds a [`Tree`].
pub(crate) struct TreeBuilder<'t> {
    text: &'t str,
    /// Number of collections around the text.
    depth: usize,
    /// Node limit.
    most: usize,
    tree: Tree,
    /// Ids of the open collections.
    open: Vec<u32>,
    keys: OpenKeys,
}

impl<'t> TreeBuilder<'t> {
    pub(crate) fn new(text: &'t str, depth: usize, limits: Limits) -> Self {
        Self {
            text,
            depth,
            most: limits.nodes,
            tree: Tree::with_capacity(text.len() / BYTES_PER_NODE),
            open: Vec::with_capacity(16),
            keys: OpenKeys::default(),
        }
    }

    /// An error if the text exceeds the node limit, which makes the scanner stop.
    pub(crate) fn check_limit(&self) -> Result<(), ParseError> {
        if self.is_full() {
            return Err(too_many_nodes(self.text, &self.tree.nodes, self.most));
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Tree {
        self.tree
    }

    fn is_full(&self) -> bool {
        self.tree.nodes.len() > self.most
    }

    fn push(
        &mut self,
        kind: NodeKind,
        start: usize,
        end: u32,
        indicator: Option<usize>,
    ) -> Result<(), Bail> {
        if self.is_full() {
            return Err(Bail);
        }
        let next = offset(self.tree.nodes.len() + 1);
        self.tree.nodes.push(TreeNode {
            kind,
            start: offset(start),
            end,
            properties: NONE,
            indicator: indicator.map_or(NONE, offset),
            next,
            parent: self.open.last().copied().unwrap_or(NONE),
            extra: NONE,
        });
        Ok(())
    }
}

impl Events for TreeBuilder<'_> {
    fn document(&mut self, start: usize, body: usize) {
        self.tree.documents.push(DocumentSpan {
            root: NodeId(offset(self.tree.nodes.len())),
            empty: false,
            start,
            body,
            end: self.text.len(),
        });
    }

    fn document_end(&mut self, end: usize) {
        if let Some(document) = self.tree.documents.last_mut() {
            document.end = end;
            let root = &self.tree.nodes[document.root.index()];
            document.empty = root.start == root.end;
        }
    }

    fn comment(&mut self, start: usize, end: usize) {
        self.tree.comments.push((offset(start), offset(end)));
    }

    fn key(&mut self, key: Scalar) -> Result<(), Bail> {
        self.keys.add(self.text, &key)?;
        self.scalar(key)
    }

    fn scalar(&mut self, scalar: Scalar) -> Result<(), Bail> {
        let kind = NodeKind::Scalar(scalar.style);
        self.push(kind, scalar.start, offset(scalar.end), scalar.indicator)?;
        if scalar.style == ScalarStyle::Plain && !scalar.folded {
            return Ok(());
        }
        let decoded = decode(self.text, &scalar);
        let block = matches!(scalar.style, ScalarStyle::Literal | ScalarStyle::Folded);
        self.tree.add_decoded(self.text, decoded);
        if block && scalar.end == self.text.len() {
            self.tree.unterminated = Some(NodeId(offset(self.tree.nodes.len() - 1)));
        }
        Ok(())
    }

    fn open(&mut self, kind: NodeKind, start: usize, indicator: Option<usize>) -> Result<(), Bail> {
        if self.open.len() + self.depth >= MAX_DEPTH {
            return Err(Bail);
        }
        self.push(kind, start, NONE, indicator)?;
        self.open.push(offset(self.tree.nodes.len() - 1));
        if kind.is_mapping() {
            self.keys.open();
        }
        Ok(())
    }

    fn close(&mut self, kind: NodeKind, end: usize) -> Result<(), Bail> {
        let next = offset(self.tree.nodes.len());
        if let Some(node) = self.open.pop() {
            let node = &mut self.tree.nodes[node as usize];
            (node.end, node.next) = (offset(end), next);
        }
        if kind.is_mapping() {
            self.keys.close(self.text)?;
        }
        Ok(())
    }
}
