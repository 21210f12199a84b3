//! YAML that keeps its bytes: read values and their places in the text, change single nodes, and get the same text back
//! with only those nodes changed.
//!
//! # Examples
//!
//! Edit one field. Every byte outside of the new value is kept, the comment and the odd spaces too:
//!
//! ```
//! use krm_yaml::{Content, Editor, OwnedDocument, Value};
//!
//! let text = "spec:\n    replicas: 1   # by load\n    image: 'app:1'\n";
//! let document = OwnedDocument::parse(text.to_owned())?;
//! let mut editor = Editor::new(document.document());
//! if let Some(spec) = document.root().and_then(|root| root.get("spec")) {
//!     editor.set(spec, "replicas", Content::Value(Value::from(5_i64)))?;
//!     editor.set(spec, "image", Content::Value(Value::from("app:2")))?;
//! }
//! let edited = editor.finish()?;
//! assert_eq!(edited, "spec:\n    replicas: 5   # by load\n    image: 'app:2'\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Edit several documents of one text. `root` is the root of the first one only:
//!
//! ```
//! use krm_yaml::{Content, Editor, OwnedDocument, Value};
//!
//! let text = "# first\nkind: Service\n---\nkind: Deployment   # second\nlabels: {app: web}\n";
//! let document = OwnedDocument::parse(text.to_owned())?;
//! assert_eq!(document.roots().count(), 2);
//!
//! let mut editor = Editor::new(document.document());
//! for root in document.roots() {
//!     editor.set(root, "revision", Content::Value(Value::from("v2")))?;
//! }
//! let expected = "# first\nkind: Service\nrevision: v2\n---\nkind: Deployment   # second\n\
//!                 labels: {app: web}\nrevision: v2\n";
//! assert_eq!(editor.finish()?, expected);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read values and spans. A [`Value`] is independent of its spelling; a [`NodeRef`] knows its place:
//!
//! ```
//! use krm_yaml::{OwnedDocument, Value};
//!
//! let document = OwnedDocument::parse("ports:\n- port: 0x50\n- {port: \"80\"}\n".to_owned())?;
//! let root = document.root().ok_or("an empty text")?;
//! let ports: Vec<_> = root
//!     .get("ports")
//!     .into_iter()
//!     .flat_map(|list| list.items())
//!     .filter_map(|item| item.get("port"))
//!     .collect();
//!
//! assert_eq!(ports[0].value(), Some(Value::from(80_i64)));
//! assert_eq!(ports[1].value(), Some(Value::from("80")));
//! assert_eq!(ports[0].source(), "0x50");
//! assert_eq!(ports[1].path().to_string(), "ports[1].port");
//! assert_eq!(ports[1].location().to_string(), "line 3, column 10");
//! assert_eq!(&document.document().text[ports[1].range()], "\"80\"");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! - [`Tree::parse`] reads a text into a tree of spans: with a line scanner ([`scan`]), or with the general parser
//!   (granit-parser) where the scanner stops. Aliases and merge keys are replaced by copies of the nodes that they
//!   refer to.
//! - An [`OwnedDocument`] keeps a text and its tree together. [`Document`] and [`NodeRef`] are views of the two. [`Value`] is the value of a node, without its
//!   spelling; [`scalar`] converts between the two, by the core schema of YAML 1.2 or as Kubernetes reads it
//!   ([`scalar::Reading`]); [`de`] deserializes values into Rust types.
//! - An [`Editor`] collects changes of nodes. New text is written in the format of the text around it.
//!
//! # Invariants
//!
//! - A tree holds spans, never copies of the source.
//! - Bytes that no change covers are unchanged. Changes that overlap are refused.
//! - An edited text is parsed again before it is returned; one that does not parse is an error.
//! - The scanner reads a text exactly as the general parser does, or leaves it to that one.
//! - Values are compared by their meaning: `8080` and `0x1f90` are equal, `"8080"` is a string.
//!
//! # Limitations
//!
//! - The whole text is in memory, at most 4 GiB, in UTF-8. There is no reader for streams of events.
//! - A mapping with a duplicate key is an error, and so are a line that ends in CR alone and collections nested deeper than
//!   [`MAX_DEPTH`].
//! - The number of nodes and documents is limited in proportion to the text ([`Limits`]), so that a hostile text cannot
//!   take much memory.
//! - With [`scalar::Reading::Core`], a number that YAML 1.1 and YAML 1.2 read differently, such as `017`, equals only a number
//!   with the same spelling. The text of a `!!binary` is not decoded.
//! - An edit within a value that several aliases share is refused if another place would change with it.
//! - It has no formatter: a text without a change is returned as it is, and a tree cannot be printed in another style.
//! - It does not validate schemas. All it knows of Kubernetes is how its reader takes scalars; krm-core knows the rest.
//! - If you only read YAML into your types and do not need the text afterwards, a serde library is simpler.

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
mod test_switch;
mod text_edit;
mod trail;
mod tree;

pub mod de;
pub mod interner;
pub mod nearest;
pub mod scalar;
pub mod scan;
pub mod value;
mod verbatim;
mod walk_budget;

pub use children::Children;
pub use comments::ValueComments;
pub use comments::comments_above;
pub use comments::has_comments;
pub use comments::line_comment;
pub use content::{Content, OwnedDocument};
pub use document::Document;
pub use edit::{Editor, NewValue, Part, PartOrder, ValueChange, kept_in_order};
pub use emit::content_text;
pub use emit::document_text;
pub use emit::node_text;
pub use emit::to_block_text;
pub use emit::value_text;
pub use emit::with_comments_above;
pub use error::{EditError, Location, ParseError};
pub use fingerprint::Fingerprints;
pub use gaps::GapOwner;
pub use gaps::GapWalk;
pub use gaps::ScalarAbove;
pub use gaps::{LinesAlone, lines_alone, own_text};
pub use head::head_end;
pub use head::whole_head_end;
pub use key_index::KeyIndex;
pub use limits::Limits;
pub use limits::most_documents;
pub use lines::is_marker;
pub use lines::newline_at;
pub use node::{EntryRef, NodeRef};
pub use path::unquote;
pub use path::{Path, PathElement};
pub use place_index::PlaceIndex;
pub use trail::Trail;
pub use tree::{MAX_DEPTH, NodeId, NodeKind, ParseOptions, Tree};
pub use value::Value;
pub use verbatim::document_as_content;
pub use verbatim::text_as_item;
pub use walk_budget::{WalkBudget, WalkError};
