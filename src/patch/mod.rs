//! Strategic merge patches: applied, made, and `kubectl apply` put together from both.
//!
//! In reading order: [`node`] and [`fields`], values that know where their text is; [`rules`], what the schema says
//! of a place; [`directive`], the keys of a patch that are no fields; [`order`], where the elements
//! of a merged list go; [`apply()`].

pub mod annotations;
pub mod apply;
pub mod config;
pub mod create;
pub mod directive;
pub mod fields;
mod finder;
pub mod finding;
pub mod json_merge;
pub mod last_applied;
pub mod node;
pub mod options;
pub mod order;
pub mod rules;
pub mod target;
pub mod write;

pub use apply::{Applied, apply};
pub use config::{apply_config, as_created, create_patch};
pub use finding::{Finding, Findings};
pub use node::Node;
pub use order::ListOrder;
pub use rules::Rules;
