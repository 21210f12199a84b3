//! PackageVariants and PackageVariantSets: their fields and rules, the fan-out from sets to variants, names, and
//! expressions.
//!
//! ```yaml
//! kind: PackageVariantSet                       # becomes, for each Repository with the label
//! metadata: {name: fleet}
//! spec:
//!   upstream: {repo: catalog, package: web, revision: v2}
//!   targets:
//!   - repositorySelector: {matchLabels: {region: east}}
//!     template:
//!       downstream: {packageExpr: "'web-' + repository.name"}
//! ---
//! kind: PackageVariant
//! metadata: {name: fleet-cluster-01-web-cluster-01}
//! spec:
//!   upstream: {repo: catalog, package: web, revision: v2}
//!   downstream: {repo: cluster-01, package: web-cluster-01}
//! ```
//!
//! In reading order: [`package_variant_set`] is the typed object with every rule about its values, as
//! `krm_core::package_variant` is for PackageVariants; [`fan_out`] makes variants of sets, for the objects of [`cluster`], with [`naming`] as Porch names things;
//! [`expression`] evaluates CEL; [`revision_request`] says which upstream revision a variant asks for; [`status`]
//! writes conditions.
//!
//! # Invariants
//!
//! - An unknown field in `spec` is an error, and all violations of the rules are reported at once.
//! - Names are the same as Porch's, so that a fleet of Porch can be taken over.
//! - An expression is checked before it is evaluated, and each step of its evaluation is paid for from a budget: one
//!   evaluation takes at most about 100 ms and 20 MB.
//! - The value of an expression depends only on its variables, and not on time or the order of a map.
//!
//! # Limitations
//!
//! - It reads no package and no repository: it says what a variant asks for. The functions do it.
//! - Expressions are standard CEL without extensions, as in Porch, and each returns a string.
//! - Compiling and evaluating recurse, so callers run them in [`expression::on_large_stack`].
//! - This is the only crate with CEL. Whoever depends on it has CEL in its dependency tree.

pub mod cluster;
pub mod expression;
pub mod fan_out;
pub mod naming;
pub mod package_variant_set;
pub mod revision_request;
pub mod status;
pub(crate) mod template;
