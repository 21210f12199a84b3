//! What all functions share: resources and who they are, lists of items, the schema, results, functionConfigs,
//! Kptfiles.
//!
//! A [`ResourceList`](resource_list::ResourceList) is the items that a function works on, whatever they came in: a
//! ResourceList on standard input, or the files of a package. A [`Resource`](resource::Resource) says who an item is.
//! [`Results`](results::Results) are what a function reports.
//!
//! ```text
//! apiVersion: config.kubernetes.io/v1      the outer form: found by one scan, and kept byte for byte
//! kind: ResourceList
//! items:
//! - apiVersion: v1                         an item: a text with an identity (v1, ConfigMap, app);
//!   kind: ConfigMap                        a tree exists only after a step asked for a node of it
//!   metadata: {name: app}
//! ```
//!
//! The schema answers how the parts of a resource relate:
//!
//! ```
//! use krm_core::schema::{ListType, Schema};
//!
//! let schema = Schema::builtin();
//! let pod = schema.resource("v1", "Pod").and_then(|pod| pod.field("spec"));
//! let containers = pod.and_then(|spec| spec.field("containers")).expect("known");
//! let ListType::Map(keys) = containers.list() else {
//!     panic!("containers have names");
//! };
//! assert_eq!(keys.names().collect::<Vec<_>>(), ["name"]);
//! ```
//!
//! # Modules
//!
//! - [`resource_list`], [`resource`], [`resource_key`], [`identity`], [`source_text`], [`split`]: the items, with their text.
//! - [`upstream_identifier`]: who an item is in the package that it comes from.
//! - [`config`], [`kptfile`]: functionConfigs as typed structs, and the Kptfile.
//! - [`results`], [`conditions`], [`result_printer`], [`diff`]: what functions report, and how.
//! - [`schema`], [`scope`], [`selector`]: facts about types, and which resources a selector means.
//! - [`revision`], [`revision_name`], [`upstream_revision`]: names of revisions, and the trait
//!   that sources of upstream packages implement.
//!
//! # Invariants
//!
//! - Steps see items with identities, and no difference between the outer forms.
//! - An item that no step asked for has no tree, and its bytes are not touched.
//! - All edits of one text are one batch. It is kept only if its result parses.
//! - Every error and warning has a [`Reason`](results::Reason).
//! - The schema has facts only. Merges and patches decide what to do with them.
//! - Values of Secrets do not appear in results.
//!
//! # Limitations
//!
//! - It opens no files, starts no program, and knows neither a function nor a kind of source.
//! - It does not validate resources against their schema: it uses types to find elements of lists, and not to judge
//!   values.
//! - Kinds of Kubernetes are those of one release (`schema/builtin.txt`). Others need a CustomResourceDefinition or an
//!   OpenAPI document.
//! - A ResourceList holds all of its items in memory. A fleet is processed package by package.

// A schema that a macro derives names its types from outside; here, the same name is the crate itself.
#[cfg(feature = "schema")]
extern crate self as krm_core;

#[macro_use]
mod word_enum;

pub mod conditions;
pub mod config;
pub mod diff;
pub mod glob;
pub mod identity;
pub mod kptfile;
pub mod mask;
pub mod package_variant;
pub mod resource;
pub mod resource_key;
pub mod resource_list;
pub mod result_printer;
pub mod results;
pub mod revision;
pub mod revision_name;
pub mod schema;
pub mod scope;
pub mod selector;
pub mod source_text;
pub mod split;
pub mod text_map;
pub mod upstream_identifier;
pub mod upstream_revision;
