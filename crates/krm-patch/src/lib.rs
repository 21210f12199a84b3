//! The patches of kubectl and kustomize: read, apply and create strategic merge patches, and what `kubectl apply` does
//! with both.
//!
//! ```yaml
//! # live                 # patch                        # result
//! spec:                  spec:                          spec:
//!   replicas: 3            replicas: null                 paused: true
//!   paused: false          paused: true                   containers:
//!   containers:            containers:                    - name: app
//!   - name: app            - name: app                      image: app:2
//!     image: app:1           image: app:2
//! ```
//!
//! # Modules
//!
//! In reading order: [`node`], values that know where their text is; [`rules`], how a patch treats a value;
//! [`directive`], the keys of a patch that are not fields; `elements` and [`order`], the elements of a merged list;
//! [`apply()`] with [`identity`]; [`create`], which creates a patch; [`kustomize`], which creates patches for
//! kustomize; [`config`], which combines both, with [`last_applied`] and [`annotations`]; [`write`](mod@write), which
//! turns a result into edits of the text; [`target`], which finds the resources to patch.
//!
//! # Invariants
//!
//! - What `apply` makes of a patch from `create` equals the modified resource.
//! - Directives and nulls never reach a result.
//! - The result is written as edits of the text that was patched: fields that the patch does not name keep their bytes.
//! - Applying, creating and `kubectl apply` agree with the code of kubectl itself on generated inputs;
//!   `docs/kubectl-differences.md` lists the exceptions with their reasons.
//!
//! # Limitations
//!
//! - It reads no cluster: live resources are an input.
//! - Server-side apply, with its managed fields, is not here.
//! - Below a type that the schema does not know, maps merge by key and lists are replaced.
//! - JSON patches (RFC 6902) are made and applied for kustomize only.

pub mod annotations;
pub mod apply;
pub mod config;
pub mod create;
pub mod directive;
mod elements;
pub mod finding;
mod go_sort;
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
