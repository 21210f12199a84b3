//! The pipeline of a Kptfile: its lists, and the names of functions that belong to a PackageVariant.
//!
//! A function of the PackageVariant `v` is named `PackageVariant.v.<its own name or empty>.<index>`.

/// The lists of a pipeline, in the order of their results.
pub const PIPELINE_LISTS: [&str; 2] = ["mutators", "validators"];

const PREFIX: &str = "PackageVariant.";

/// The name of a PackageVariant's function in the Kptfile.
pub fn function_name(owner: &str, name: &str, index: usize) -> String {
    format!("{PREFIX}{owner}.{name}.{index}")
}

/// Whether a function of this name belongs to any PackageVariant.
pub fn is_of_package_variant(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Whether a function of this name belongs to the PackageVariant `owner`.
///
/// Names of functions have no dot, so the last two parts are the function's name and index, and everything before them
/// is the owner: `a` does not own the functions of `a.b`.
pub fn owns(owner: &str, name: &str) -> bool {
    let rest = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_prefix(owner))
        .and_then(|rest| rest.strip_prefix('.'));
    rest.and_then(|rest| rest.split_once('.'))
        .is_some_and(|(_, index)| {
            !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit())
        })
}
