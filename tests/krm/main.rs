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
mod kpt_merge;
mod merge_cases;
mod merge_laws;
mod merge_package;
mod merge_table;
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
mod upgrades;
mod yaml_edit;
