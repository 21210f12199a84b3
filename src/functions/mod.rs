//! The steps: one file per function, each a change to a [`ResourceList`](crate::resource_list::ResourceList).

pub mod apply_config;
pub mod apply_patch;
mod conditions;
pub mod create_patch;
pub mod expand_variant_set;
pub mod following;
pub mod inject_config;
mod made;
pub mod merge_package;
mod pairing;
pub mod prepend_pipeline;
pub mod render_variant;
pub mod set_package_context;
