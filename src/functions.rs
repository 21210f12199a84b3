//! The functions, which the program contains.

use krm_function::Function;

/// All functions, sorted by name. Tests compare benchmarks, pages and images with this table.
pub const FUNCTIONS: [&Function; 12] = [
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
