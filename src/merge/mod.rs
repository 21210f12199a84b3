//! Three-way merge of packages.
//!
//! In reading order: [`rule`] decides between three versions of anything. [`combine`] has the kinds of values that
//! merge by their parts, and [`decided`] the rules with which a user decided conflicts beforehand. `trail` is the path
//! to a value. [`order`] merges the orders of a list. `merge_schema` knows how the parts of a resource relate, and
//! `groups` which fields exclude each other. [`fields`] merges one resource into the text of the local one, and `gaps`
//! the comments and blank lines between the entries; `lines` and `text` merge texts that are not documents. [`kptfile`] and
//! `kustomization` have special rules for these files. [`member`] and [`resources`] find which resources are the same, with
//! [`upstream_identifier`] and, for those that were renamed, `alike`. [`package`] decides
//! what to do with each resource and file of a package.

mod alike;
mod bookkeeping;
pub mod combine;
pub mod decided;
pub mod fields;
mod gaps;
mod groups;
pub mod kptfile;
mod kustomization;
pub mod likeness;
mod lines;
pub mod member;
mod merge_schema;
pub mod order;
pub mod package;
#[cfg(test)]
mod pairing_tests;
pub mod resources;
pub mod rule;
mod text;
mod trail;
pub mod upstream_identifier;
mod versions;

pub use alike::{Leaves, Likeness, Unpaired, pair_alike};
pub use combine::{Combine, PartsOf};
pub use decided::{ConflictRules, DecidedBy, Decision};
pub use fields::{Combined, Conflict, Findings};
pub(crate) use kptfile::{image_parts, repository};
pub use merge_schema::MergeSchema;
pub use rule::{OnConflict, Side};
pub use text::with_line_ends_of;
pub use versions::Versions;
