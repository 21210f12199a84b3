//! What is put into a document: values, nodes of other documents, texts.

use std::sync::Arc;

use super::document::{Document, NodeRef};
use super::error::ParseError;
use super::tree::{ParseOptions, Tree};
use super::value::Value;

/// What is written into a place.
#[derive(Debug, Clone)]
pub enum Content<'f> {
    /// A value; it is spelled in the manner of its surroundings.
    Value(Value),
    /// A node of this or another document; its spelling and inner comments come along.
    Node(NodeRef<'f>),
    /// A text made for this place, with one document; as a node of it.
    Text(Arc<OwnedDocument>),
}

impl From<Value> for Content<'_> {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl<'f> From<NodeRef<'f>> for Content<'f> {
    fn from(node: NodeRef<'f>) -> Self {
        Self::Node(node)
    }
}

/// A text with its tree that belongs to nobody else.
#[derive(Debug)]
pub struct OwnedDocument {
    text: String,
    tree: Tree,
}

impl OwnedDocument {
    /// Parses a text and keeps it.
    ///
    /// # Errors
    /// What the parser refuses.
    pub fn parse(text: String) -> Result<Self, ParseError> {
        let tree = Tree::parse(&text, ParseOptions::default())?;
        Ok(Self { text, tree })
    }

    /// The document.
    #[must_use]
    pub fn document(&self) -> Document<'_> {
        Document::new(&self.text, &self.tree)
    }

    /// The root node; `None` if the text holds nothing.
    #[must_use]
    pub fn root(&self) -> Option<NodeRef<'_>> {
        self.document().root(0)
    }
}
