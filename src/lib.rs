//! KRM functions that make and keep up to date many variants of a configuration package.
//!
//! The way of the data: bytes, [`ResourceList`](resource_list::ResourceList), a step, ResourceList,
//! bytes. In reading order:
//!
//! - [`filter`]: the one entry point of all functions; the only module, with [`package`], that
//!   touches standard input and output, files and exit codes.
//! - [`functions`]: the steps, one file each: what happens to a ResourceList.
//! - [`resource_list`], [`resource`], [`identity`], [`config`], [`supplied`], [`results`]: views on the input, and
//!   what is said of it.
//! - [`kptfile`], [`variant`]: the Kptfile; PackageVariant, PackageVariantSet, their expressions.
//! - [`package`], [`diff`]: a package directory, its changed files.
//! - [`git`]: packages in repositories, read from the object database.
//! - [`patch`]: strategic merge patches: applied, made, and what an apply does.
//! - [`schema`]: how the elements of Kubernetes' lists and maps relate.
//! - [`yaml`]: texts, trees of spans, values, edits as splices of the source.
//!
//! Large inputs are read, split and identified by several threads; a tree is made of an item when
//! a step asks for it.
//!
//! Invariants:
//!
//! - Nothing is reprinted that was not changed: an output is slices of the input and inserted text.
//! - Every text that is written out was parsed again after its last edit.
//! - A run with an error result gives back the items as they came.
//! - Nothing depends on time, environment or the order of a hash map.

mod conditions;
mod input;
mod interner;
mod mask;
mod parallel;
mod report;
mod source_text;
mod split;
pub mod text;

pub mod config;
pub mod diff;
pub mod filter;
pub mod functions;
pub mod git;
pub mod identity;
pub mod kptfile;
pub mod merge;
pub mod package;
pub mod patch;
pub mod resource;
pub mod resource_list;
pub mod results;
pub mod schema;
pub mod scope;
pub mod supplied;
pub mod variant;
pub mod yaml;
