//! What a variant of a package is to be: the PackageVariant.

pub mod cluster;
pub mod expression;
pub mod fan_out;
pub mod naming;
pub mod package_variant;
pub mod package_variant_set;
pub mod selector;
pub mod template;
