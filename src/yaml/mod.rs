//! YAML that keeps its bytes.
//!
//! - [`Tree::parse`] reads a text into a tree of spans: with a line scanner (`scan`), or with the general parser
//!   (`parser`) where the scanner stops. `expand` replaces aliases and merge keys with copies of the nodes that they
//!   refer to.
//! - [`Document`] and [`NodeRef`] are views of a text and its tree. [`Value`] is the value of a node, without its
//!   spelling; [`scalar`] converts between the two; [`de`] deserializes values into Rust types.
//! - An [`Editor`] collects changes to nodes. `emit` writes new text in the `format` of the text around
//!   it, and `text_edit` puts it into the source.
//!
//! Invariants:
//!
//! - A tree holds spans, never copies of the source.
//! - Bytes that no change covers are unchanged. Changes that overlap are refused.
//! - An edited text is parsed again before it is returned.
//! - Only `emit` writes new YAML; `verbatim` moves existing lines to another column.

mod children;
mod comments;
mod content;
mod document;
mod edit;
mod emit;
mod error;
mod expand;
mod fingerprint;
mod format;
mod gaps;
mod head;
mod key_index;
mod lenient;
mod limits;
mod lines;
mod node;
mod parse;
mod parser;
mod path;
mod place_index;
mod read;
mod text_edit;
mod trail;
mod tree;

pub mod de;
pub mod scalar;
pub(crate) mod scan;
pub mod value;
mod verbatim;
mod walk_budget;

pub(crate) use children::Children;
pub(crate) use comments::{ValueComments, comments_above, line_comment};
pub use content::{Content, OwnedDocument};
pub use document::Document;
pub use edit::{Editor, Part};
pub use emit::to_block_text;
pub(crate) use emit::{content_text, document_text, node_text, value_text, with_comments_above};
pub use error::{EditError, Location, ParseError};
pub(crate) use fingerprint::Fingerprints;
pub(crate) use gaps::{GapOwner, GapWalk, ScalarAbove, lines_alone};
pub(crate) use head::{head_end, whole_head_end};
pub(crate) use key_index::KeyIndex;
pub(crate) use limits::{Limits, most_documents};
pub(crate) use lines::{is_marker, newline_at};
pub use node::{EntryRef, NodeRef};
pub(crate) use path::unquote;
pub use path::{Path, PathElement};
pub(crate) use place_index::PlaceIndex;
pub(crate) use trail::Trail;
pub use tree::{MAX_DEPTH, NodeId, NodeKind, ParseOptions, Tree};
pub use value::Value;
pub(crate) use verbatim::{document_as_content, text_as_item};
pub use walk_budget::{WalkBudget, WalkError};
