//! Checks a text without building a tree.

use super::{Bail, Events, OpenKeys, Scalar};
use crate::yaml::limits::Limits;
use crate::yaml::tree::{MAX_DEPTH, NodeKind};

/// Receives events, and accepts the texts from which a [`TreeBuilder`](super::TreeBuilder) builds a tree.
pub(crate) struct Checker<'t> {
    text: &'t str,
    /// Number of open collections, including those around the text.
    depth: usize,
    /// How many nodes the text may still have before it passes the limit.
    left: usize,
    /// How many documents it may still have.
    documents_left: usize,
    keys: OpenKeys,
}

impl<'t> Checker<'t> {
    pub(crate) fn new(text: &'t str, depth: usize, limits: Limits) -> Self {
        Self {
            text,
            depth,
            left: limits.nodes.saturating_add(1),
            documents_left: limits.documents.saturating_add(1),
            keys: OpenKeys::default(),
        }
    }

    /// Whether the text may have passed a limit.
    pub(crate) fn is_full(&self) -> bool {
        self.left == 0 || self.documents_left == 0
    }
}

impl Events for Checker<'_> {
    fn document(&mut self, _start: usize, _body: usize) {
        self.documents_left = self.documents_left.saturating_sub(1);
    }

    fn key(&mut self, key: Scalar) -> Result<(), Bail> {
        self.keys.add(self.text, &key)?;
        self.scalar(key)
    }

    fn scalar(&mut self, _scalar: Scalar) -> Result<(), Bail> {
        self.left = self.left.checked_sub(1).ok_or(Bail)?;
        Ok(())
    }

    fn open(&mut self, kind: NodeKind, _start: usize, _mark: Option<usize>) -> Result<(), Bail> {
        if self.depth >= MAX_DEPTH {
            return Err(Bail);
        }
        self.left = self.left.checked_sub(1).ok_or(Bail)?;
        self.depth += 1;
        if kind.is_mapping() {
            self.keys.open();
        }
        Ok(())
    }

    fn close(&mut self, kind: NodeKind, _end: usize) -> Result<(), Bail> {
        self.depth -= 1;
        if kind.is_mapping() {
            self.keys.close(self.text)?;
        }
        Ok(())
    }
}
