//! Three-way merge of packages.
//!
//! In reading order: [`rule`], which decides between three versions of anything; [`combine`], which values merge by their
//! parts; [`decided`], what a user decided beforehand; `trail`, the way to a value; [`order`], which merges the orders of a list; `merge_schema`, which says
//! how the parts of a resource relate; `groups`, which fields exclude each other; [`fields`], which merges
//! one resource into the text of the local one; `lines` and `text`, which merge what is not a document; [`kptfile`] and `kustomization`, what is particular to
//! those; [`member`] and [`resources`], which resources are the same, with [`upstream_identifier`];
//! [`package`], what becomes of each, and of all else in a package.

pub mod combine;
pub mod decided;
pub mod fields;
mod groups;
pub mod kptfile;
mod kustomization;
pub mod likeness;
mod lines;
pub mod member;
mod merge_schema;
pub mod order;
pub mod package;
pub mod resources;
pub mod rule;
mod text;
mod trail;
pub mod upstream_identifier;
mod versions;

pub use combine::{Combine, PartsOf};
pub use decided::{ConflictRules, DecidedBy, Decision};
pub use fields::{Combined, Conflict, Findings};
pub(crate) use kptfile::repository;
pub use merge_schema::MergeSchema;
pub use rule::{OnConflict, Side};
pub use versions::Versions;
