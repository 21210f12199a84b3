//! YAML, kept as it was written.
//!
//! [`Tree::parse`] reads a text into spans; [`Document`] and [`NodeRef`] are views on text and tree;
//! an [`Editor`] collects changes to nodes and replaces their bytes in the text. Whatever nobody
//! changed keeps its bytes. Values ([`Value`]) are separate from their spelling ([`scalar`]).

mod anchors;
mod comments;
mod content;
mod document;
mod edit;
mod emit;
mod error;
mod expand;
mod fingerprint;
mod format;
mod head;
mod lenient;
mod lines;
mod node;
mod parse;
mod parser;
mod path;
mod read;
mod text_edit;
mod trail;
mod tree;

pub mod de;
pub mod scalar;
pub(crate) mod scan;
pub mod value;
mod verbatim;

pub(crate) use comments::{all_comments, comments_above, line_comment};
pub use content::{Content, OwnedDocument};
pub use document::Document;
pub use edit::{Editor, Part};
pub use emit::to_block_text;
pub(crate) use emit::{node_text, to_indented_block_text};
pub use error::{EditError, Location, ParseError};
pub(crate) use fingerprint::Fingerprints;
pub(crate) use head::head_end;
pub(crate) use lines::is_marker;
pub use node::{EntryRef, NodeRef};
pub use path::{Path, PathElement};
pub(crate) use trail::Trail;
pub(crate) use tree::most_nodes;
pub use tree::{MAX_DEPTH, NodeId, NodeKind, ParseOptions, Tree};
pub use value::Value;
pub(crate) use verbatim::{document_as_content, document_as_item};
