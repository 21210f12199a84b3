//! What a variant of a package is to be: the PackageVariant.

pub mod package_variant;
pub mod expression;
pub mod naming;
pub mod package_variant_set;
pub mod selector;
pub mod template;
pub mod cluster;
pub mod fan_out;
