//! All integration tests, in one binary.

mod bad_input;
mod edit_law;
mod expand_variant_set;
mod expressions;
mod fast_path;
mod filter;
mod generated;
mod hostile;
mod inject_config;
mod merge_cases;
mod patch_cases;
mod patch_functions;
mod patch_oracle;
mod prepend_pipeline;
mod reasons;
mod render_variant;
mod round_trip;
mod running;
mod schema;
mod set_package_context;
mod step;
mod supplied;
mod texts;
mod yaml_edit;
