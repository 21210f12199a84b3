//! How many values and documents a text may have: so much memory do they take.
//!
//! Source: contract, Bad input.

use memchr::memmem;

/// Memory of a node of a tree.
pub(super) const NODE_BYTES: usize = 32;

/// Memory of the nodes of one document: a part for each two bytes of the text, and a fixed part. Text of resources has a
/// node for every 6 to 20 bytes; `[1,1,1,` has one for every two and would take 16 times its size.
const NODE_BYTES_PER_TWO_BYTES: usize = 7;
const NODE_BYTES_BESIDES: usize = 8 << 20;
/// The same of several documents, of which most texts are read one by one.
const NODE_BYTES_PER_BYTE_OF_DOCUMENTS: usize = 4;
const NODE_BYTES_BESIDES_DOCUMENTS: usize = 32 << 20;

/// Nodes of a document that the line scanner does not read: a fixed part, and one for each so many bytes. The general
/// parser takes half a microsecond for each node; files that need it have thousands.
const RARE_NODES: usize = 240_000;
const BYTES_PER_RARE_NODE: usize = 64;

/// The limits of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Nodes in all documents together.
    pub(crate) nodes: usize,
    /// Nodes in one document, if the general parser reads the text.
    pub(crate) rare_nodes: usize,
    pub(crate) documents: usize,
}

impl Limits {
    /// Those of a text that was accepted already, as a whole or as a part of another.
    pub(crate) const NONE: Self = Self {
        nodes: usize::MAX,
        rare_nodes: usize::MAX,
        documents: usize::MAX,
    };

    /// Those of a text that comes in.
    pub(crate) fn of(text: &str) -> Self {
        let length = text.len();
        // Below that size neither limit is reached.
        let is_small = length < NODE_BYTES_BESIDES / NODE_BYTES;
        let bytes = if is_small || memmem::find(text.as_bytes(), b"\n---").is_some() {
            length * NODE_BYTES_PER_BYTE_OF_DOCUMENTS + NODE_BYTES_BESIDES_DOCUMENTS
        } else {
            length / 2 * NODE_BYTES_PER_TWO_BYTES + NODE_BYTES_BESIDES
        };
        Self {
            nodes: bytes / NODE_BYTES,
            rare_nodes: RARE_NODES + length / BYTES_PER_RARE_NODE,
            documents: most_documents(text),
        }
    }

    /// The same, where a document of rare syntax may have as many nodes as any other.
    pub(crate) fn of_any_syntax(self) -> Self {
        Self {
            rare_nodes: usize::MAX,
            ..self
        }
    }
}

/// How many documents a text may have, and a list items. What is known of each takes more memory than the shortest ones have
/// bytes.
pub(crate) fn most_documents(text: &str) -> usize {
    60_000 + text.len() / 250
}
