//! KRM functions that make many variants of a configuration package and keep them up to date, without
//! losing anyone's edits.
//!
//! [`functions::run`] runs any of them in memory. This merges a package with its next upstream revision:
//!
//! ```
//! use krm_variants::functions::{Inputs, Items, SuppliedInput, merge_package, run};
//! use krm_variants::supplied::Role;
//!
//! let settings = |replicas: u8, image: &str, comment: &str| {
//!     format!(
//!         "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app\nspec:\n  \
//!          replicas: {replicas}{comment}\n  template:\n    spec:\n      containers:\n      \
//!          - name: app\n        image: {image}\n"
//!     )
//! };
//! let files = |text: String| SuppliedInput::Files([("app.yaml".to_owned(), text)].into());
//! let inputs = Inputs {
//!     supplied: vec![
//!         (Role::Original, files(settings(1, "app:1", ""))),
//!         (Role::Upstream, files(settings(1, "app:2", ""))),
//!     ],
//!     ..Inputs::default()
//! };
//! let local = settings(5, "app:1", " # by load");
//! let local = [("app.yaml".to_owned(), local.into_bytes())].into();
//!
//! let outcome = run(&merge_package::FUNCTION, inputs, Items::Package(local))?;
//!
//! let merged = settings(5, "app:2", " # by load");
//! let merged = [("app.yaml".to_owned(), merged.into_bytes())].into();
//! assert_eq!(outcome.items, Items::Package(merged));
//! # Ok::<(), krm_variants::config::UsageError>(())
//! ```
//!
//! This edits one field and keeps every other byte:
//!
//! ```
//! use krm_variants::yaml::{Content, Editor, OwnedDocument, Value};
//!
//! let document = OwnedDocument::parse("spec:\n  replicas: 1   # by load\n".to_owned())?;
//! let mut editor = Editor::new(document.document());
//! if let Some(spec) = document.root().and_then(|root| root.get("spec")) {
//!     editor.set(spec, "replicas", Content::Value(Value::from(5_i64)))?;
//! }
//! assert_eq!(editor.finish()?, "spec:\n  replicas: 5   # by load\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! Data flows from bytes to a [`ResourceList`](resource_list::ResourceList), through a step that edits it,
//! and back to bytes. In reading order:
//!
//! - [`filter`]: runs a function as a program. Only this module and the ones that read packages
//!   ([`package`], [`git`], [`upstream`], [`supplied`]) touch files; only this one touches standard input and exit codes.
//! - [`escaped`]: text from data, escaped for a terminal, Markdown, HTML or a shell; the only writer to standard output
//!   and standard error.
//! - [`functions`]: what a function is, and the functions, one file each.
//! - [`resource_list`], [`resource`], [`identity`]: the items, with their text.
//! - [`config`], [`supplied`], [`results`]: the other inputs of a step, and what it reports.
//! - [`upstream`]: where upstream packages come from.
//! - [`kptfile`], [`variant`]: the Kptfile; PackageVariants, PackageVariantSets and their expressions.
//! - [`address`]: what data may say about where a package comes from.
//! - [`package`], [`diff`], [`git`]: package directories, their changed files, and packages in repositories.
//! - [`merge`]: three-way merges of packages, resources and fields.
//! - [`mask`]: how values of Secrets are hidden in what is printed.
//! - [`review`]: what a change of a package means for a cluster.
//! - [`patch`]: strategic merge patches, and what `kubectl apply` does.
//! - [`schema`]: how the elements of Kubernetes' lists and maps relate.
//! - [`yaml`]: text, trees of spans, values, and edits as splices of the text.
//!
//! Several threads split and identify large inputs. An item is parsed into a tree when a step asks
//! for it.
//!
//! # Invariants
//!
//! - Only changed fields are printed: an output is slices of the input and inserted text.
//! - Every edited text is parsed again before it is written.
//! - A run with an error result returns the items unchanged.
//! - Output does not depend on time or on the order of a hash map.

// Bad input must be an error, never a panic. Each exception states why it cannot happen.
#![cfg_attr(
    not(test),
    warn(clippy::expect_used, clippy::panic, clippy::unreachable)
)]

#[macro_use]
mod word_enum;

mod conditions;
pub mod escaped;
mod interner;
mod nearest;
pub mod parallel;
pub mod result_printer;
mod source_text;
mod split;
mod test_switches;
pub mod text;

pub mod address;
pub mod config;
pub mod diff;
pub mod filter;
pub mod fleet;
pub mod functions;
pub mod git;
pub mod identity;
pub mod kptfile;
pub mod latest;
pub mod mask;
pub mod merge;
pub mod overlay;
pub mod package;
pub mod patch;
pub mod resource;
pub mod resource_list;
pub mod results;
pub mod review;
pub mod revision;
pub mod revision_name;
pub mod schema;
pub mod scope;
pub mod selector;
pub mod supplied;
pub mod text_map;
pub mod upstream;
pub mod upstream_revision;
pub mod variant;
pub mod yaml;
