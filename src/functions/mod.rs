//! All functions, one module each, with a step that works on a
//! [`ResourceList`](crate::resource_list::ResourceList).
//!
//! [`run`] runs any of them in memory; [`filter`](crate::filter) runs them as programs.

mod function;
mod output;
mod package_revision;
mod pairing;
mod run;

pub mod apply_config;
pub mod apply_patch;
pub mod create_overlay;
pub mod create_patch;
pub mod expand_variant_set;
pub(crate) mod following;
pub mod inject_config;
pub mod merge_package;
pub mod prepend_pipeline;
pub mod render_fleet;
pub mod render_variant;
pub mod review_package;
#[cfg(test)]
mod schemas;
pub mod set_package_context;

pub use function::{
    DriverFiles, DriverOutcome, FleetProgram, Function, MergeDriver, OnPackage, ReviewFormats, Step,
};
pub use output::{Document, Output};
pub use run::{Inputs, Items, Outcome, SuppliedInput, run};

pub(crate) use run::run_on;

/// All functions, sorted by name. Tests compare benchmarks, pages and images with this table.
pub const ALL: [&Function; 12] = [
    &apply_config::FUNCTION,
    &apply_patch::FUNCTION,
    &create_overlay::FUNCTION,
    &create_patch::FUNCTION,
    &expand_variant_set::FUNCTION,
    &inject_config::FUNCTION,
    &merge_package::FUNCTION,
    &prepend_pipeline::FUNCTION,
    &render_fleet::FUNCTION,
    &render_variant::FUNCTION,
    &review_package::FUNCTION,
    &set_package_context::FUNCTION,
];
