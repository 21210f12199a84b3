//! Three-way merge of packages.
//!
//! In reading order: [`rule`], which decides between three versions of anything; [`order`], which
//! merges the orders of a list; [`facts`] and [`identity`], which say how the parts of a resource
//! relate and which ones are the same; [`fields`], which merges one resource into the text of the
//! local one; [`kptfile`], what is particular to Kptfiles; [`resources`], which resources are the
//! same; [`package`], what becomes of each, and of all else in a package.

pub mod facts;
pub mod fields;
pub mod identity;
pub mod kptfile;
pub mod order;
pub mod package;
pub mod resources;
pub mod rule;

pub use fields::{Conflict, Findings};
pub use rule::{OnConflict, Side};
