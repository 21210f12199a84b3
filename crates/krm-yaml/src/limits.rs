//! Limits on the number of values and documents in a text. They bound the memory that a text takes.
//!
//! Source: contract, Bad input.

use memchr::memmem;

/// Memory of a node of a tree.
pub(super) const NODE_BYTES: usize = 32;

/// Memory limit of the nodes of one document: a part for each two bytes of the text, and a fixed part. Resources have a
/// node for every 6 to 20 bytes; `[1,1,1,` has one for every two bytes and would take 16 times its size.
const NODE_BYTES_PER_TWO_BYTES: usize = 7;
const NODE_BYTES_BESIDES: usize = 8 << 20;
/// The same limit for several documents. Most texts with several documents are read one document at a time.
const NODE_BYTES_PER_BYTE_OF_DOCUMENTS: usize = 4;
const NODE_BYTES_BESIDES_DOCUMENTS: usize = 32 << 20;

/// Node limit of a document that the line scanner cannot read: a fixed part, and one node for each
/// `BYTES_PER_RARE_NODE` bytes. The general parser takes half a microsecond for each node; files that need it have
/// thousands.
const RARE_NODES: usize = 240_000;
const BYTES_PER_RARE_NODE: usize = 64;

/// The limits of a text.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Nodes in all documents together.
    pub(crate) nodes: usize,
    /// Nodes in one document, if the general parser reads the text.
    pub(crate) rare_nodes: usize,
    pub(crate) documents: usize,
}

impl Limits {
    /// No limits, for a text that was accepted before, alone or as part of another text.
    pub(crate) const NONE: Self = Self {
        nodes: usize::MAX,
        rare_nodes: usize::MAX,
        documents: usize::MAX,
    };

    /// The limits of a text from an input.
    pub fn of(text: &str) -> Self {
        let length = text.len();
        // A text below this size reaches neither limit, so it is not searched for markers.
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

    /// The same limits, without the lower one for documents that the general parser reads.
    pub(crate) fn of_any_syntax(self) -> Self {
        Self {
            rare_nodes: usize::MAX,
            ..self
        }
    }
}

/// How many documents a text may have, and how many items a list. Each takes more memory than the shortest ones have
/// bytes.
pub fn most_documents(text: &str) -> usize {
    60_000 + text.len() / 250
}
