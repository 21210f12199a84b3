//! Strategic merge patches: applying and creating them, and `kubectl apply`, which does both.
//!
//! In reading order: [`node`], values that know where their text is; [`rules`], how a patch treats a value;
//! [`directive`], the keys of a patch that are not fields; `elements` and [`order`], the elements of a merged list;
//! [`apply()`] with [`identity`]; [`create`], which creates a patch; [`kustomize`], which creates patches for
//! kustomize; [`config`], which combines both, with [`last_applied`] and [`annotations`]; [`write`](mod@write), which
//! turns a result into edits of the text; [`target`], which finds the resources to patch.

pub mod annotations;
pub mod apply;
pub mod config;
pub mod create;
pub mod directive;
mod elements;
pub mod finding;
pub mod identity;
pub mod kustomize;
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
