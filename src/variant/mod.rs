//! PackageVariants and PackageVariantSets: their fields and rules, the fan-out, and expressions.

pub(crate) mod cluster;
pub mod expression;
pub(crate) mod fan_out;
pub(crate) mod naming;
pub(crate) mod package_variant;
pub(crate) mod package_variant_set;
pub(crate) mod revision_request;
pub(crate) mod status;
pub(crate) mod template;
