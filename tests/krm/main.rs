//! All integration tests, in one binary.

mod inject_config;
mod prepend_pipeline;
mod render_variant;
mod schema;
mod step;
mod supplied;
mod yaml_edit;
mod bad_input;
mod running;
mod edit_law;
mod generated;
mod hostile;
mod round_trip;
mod texts;
mod set_package_context;
mod filter;
mod reasons;
