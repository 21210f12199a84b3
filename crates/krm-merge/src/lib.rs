//! Three versions of a configuration package become one, without losing a local edit.
//!
//! ```yaml
//! # base                 # local                     # upstream             # merged
//! replicas: 1            replicas: 5   # by load     replicas: 1            replicas: 5   # by load
//! image: app:1           image: own/app:1            image: app:2           image: own/app:2
//! args: [-v]             args: [-v]                  args: [-v, -x]         args: [-v, -x]
//! ```
//!
//! Merge a package. What changes are the bytes that upstream's changes cover, and a result reports each conflict:
//!
//! ```
//! use krm_core::{resource_list::ResourceList, results::Results};
//! use krm_merge::package::{Merge, MergeOptions};
//! use krm_merge::{ConflictRules, OnConflict};
//!
//! let app = |replicas: &str, image: &str| {
//!     let head = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app}\n";
//!     let text = format!("{head}spec:\n  replicas: {replicas}\n  template: {{spec: {{containers: [{{name: app, image: {image}}}]}}}}\n");
//!     ResourceList::from_texts([("app.yaml".to_owned(), text)])
//! };
//! let (original, upstream) = (app("1", "app:1")?, app("2", "app:2")?);
//! let mut local = app("5 # by load", "own/app:1")?;
//!
//! let options = MergeOptions { on_conflict: OnConflict::Local, ..MergeOptions::default() };
//! let (rules, mut results) = (ConflictRules::default(), Results::default());
//! Merge::of_one_package(&original, &upstream, options, &rules).run(&mut local, &mut results)?;
//!
//! let (id, _) = local.items().next().ok_or("a resource")?;
//! assert!(local.text_of(id).ends_with("replicas: 5 # by load\n  template: {spec: {containers: [{name: app, image: own/app:2}]}}\n"));
//! let conflict = results.iter().find(|result| result.is_open_conflict()).ok_or("a conflict")?;
//! assert!(conflict.text().contains("local and upstream both changed the value"), "{}", conflict.text());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! One rule decides between three versions of anything, and it takes no side:
//!
//! ```
//! use krm_merge::Versions;
//! use krm_merge::rule::{Outcome, Side, merge};
//!
//! let versions = |base, local, upstream| Versions { base, local, upstream };
//! let equal = |a: &i32, b: &i32| a == b;
//! assert_eq!(merge(versions(Some(1), Some(2), Some(1)), equal), Outcome::Wins(Side::Local));
//! assert_eq!(merge(versions(Some(1), Some(1), None), equal), Outcome::Wins(Side::Upstream));
//! assert_eq!(merge(versions(Some(1), Some(2), Some(3)), equal), Outcome::Conflict);
//! ```
//!
//! # Modules
//!
//! In reading order: [`rule`] decides between three versions of anything. [`combine`] has the kinds of values that
//! merge by their parts, and [`decided`] the rules with which a user decided conflicts beforehand. `trail` is the path
//! to a value. [`order`] merges the orders of a list. `merge_schema` knows how the parts of a resource relate, and
//! `groups` which fields exclude each other. [`fields`] merges one resource into the text of the local one; `lines` and
//! `text` merge texts that are not documents. [`kptfile`] and `kustomization` have special rules for these files.
//! [`member`] and [`resources`] find which resources are the same; [`compare`] which elements
//! of two versions of a list. [`package`] decides
//! what to do with each resource and file of a package. [`likeness`] counts the edits between two packages.
//!
//! # Invariants
//!
//! - With `m` for the merge: `m(b, x, b)`, `m(b, b, x)` and `m(b, x, x)` are `x`.
//! - A change of one side is in the result, or a result reports it. No change is lost silently.
//! - The result is merged into the local text: what no change of upstream covers keeps its bytes.
//! - Merging the result again with the same base and upstream changes nothing. Lists without keys are an exception if
//!   two of their elements are equal or have most of their values in common, or if they had a conflict: local's element
//!   in the result may be another version of one that upstream removed, and the second merge asks or adds upstream's.
//! - Inputs are never changed. Everything is decided before the first text is edited.
//!
//! # Limitations
//!
//! - It does not know where versions come from. krm-upstream and krm-follow find them.
//! - Elements of a list are matched by the schema, by names, or by likeness. A list in which none of these decides is
//!   one value.
//! - It merges what resources say, and not what they mean: two changes that do not touch the same field can still
//!   contradict each other. krm-review reports some of these.
//! - Files that are not YAML are merged by lines. Binary files are one value.

mod alike;
mod bookkeeping;
pub mod combine;
pub mod compare;
pub mod decided;
pub mod fields;
mod gaps;
mod groups;
pub mod kptfile;
mod kustomization;
mod leaves;
pub mod likeness;
mod lines;
pub mod markers;
pub mod member;
mod merge_schema;
mod naming;
pub mod order;
pub mod package;
#[cfg(test)]
mod pairing_tests;
pub mod resources;
pub mod rule;
mod text;
mod trail;
mod versions;

pub use alike::Leaves;
pub use combine::{Combine, PartsOf};
pub(crate) use decided::Decision;
pub use decided::{ConflictRules, DecidedBy};
pub use fields::{Combined, Conflict, Findings};
pub use kptfile::image_parts;
pub use kptfile::repository;
pub use merge_schema::MergeSchema;
pub use rule::{OnConflict, Side};
pub use text::with_line_ends_of;
pub use versions::Versions;
