//! Builds a tree from the events of the scanner.

use super::{Bail, Events, Scalar, decode};
use crate::scalar::ScalarStyle;
use crate::tree::{NONE, NodeId, NodeKind, Tree, offset};

/// Estimated bytes per node in usual resources.
const BYTES_PER_NODE: usize = 10;

/// Receives events and builds a [`Tree`].
pub(crate) struct TreeBuilder<'t> {
    text: &'t str,
    tree: Tree,
    /// Ids of the open collections.
    open: Vec<u32>,
}

impl<'t> TreeBuilder<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            tree: Tree::with_capacity(text.len() / BYTES_PER_NODE),
            open: Vec::with_capacity(16),
        }
    }

    pub(crate) fn finish(self) -> Tree {
        self.tree
    }

    fn push(&mut self, kind: NodeKind, start: usize, end: u32, indicator: Option<usize>) -> u32 {
        let indicator = indicator.map_or(NONE, offset);
        let parent = self.open.last().copied().unwrap_or(NONE);
        let span = (offset(start), end);
        self.tree.push_node(kind, span, indicator, parent)
    }
}

impl Events for TreeBuilder<'_> {
    fn document(&mut self, start: usize, body: usize) {
        self.tree.push_document(start, body, self.text);
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

    fn key(&mut self, key: Scalar, _text: &[u8]) {
        self.scalar(key);
    }

    fn scalar(&mut self, scalar: Scalar) {
        let kind = NodeKind::Scalar(scalar.style);
        self.push(kind, scalar.start, offset(scalar.end), scalar.indicator);
        if scalar.style == ScalarStyle::Plain && !scalar.folded {
            return;
        }
        let decoded = decode(self.text, &scalar);
        let block = matches!(scalar.style, ScalarStyle::Literal | ScalarStyle::Folded);
        self.tree.add_decoded(self.text, decoded);
        if block && scalar.end == self.text.len() {
            self.tree.unterminated = Some(NodeId(offset(self.tree.nodes.len() - 1)));
        }
    }

    fn open(&mut self, kind: NodeKind, start: usize, indicator: Option<usize>) -> Result<(), Bail> {
        let node = self.push(kind, start, NONE, indicator);
        self.open.push(node);
        Ok(())
    }

    fn close(&mut self, _kind: NodeKind, end: usize) {
        let next = offset(self.tree.nodes.len());
        if let Some(node) = self.open.pop() {
            let node = &mut self.tree.nodes[node as usize];
            (node.end, node.next) = (offset(end), next);
        }
    }
}
