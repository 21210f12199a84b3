//! All integration tests, in one binary.

// Most are tables.
#![allow(clippy::too_many_lines)]
// A test may panic, and so may the functions that it calls.
#![allow(clippy::expect_used, clippy::panic, clippy::unreachable)]

mod agreement;
mod all_functions;
mod anchors;
mod architecture;
mod bad_input;
mod bounds;
mod create_overlay;
mod edit_law;
mod escaped;
mod expand_variant_set;
mod expressions;
mod fast_path;
mod file_heads;
mod filter;
mod forbidden_paths;
mod gap_laws;
mod generated;
mod git;
mod hostile;
mod in_memory;
mod incoming;
mod inject_config;
mod kept_comments;
mod kpt_merge;
mod kpt_roles;
mod krmv;
mod likeness;
mod merge_cases;
mod merge_laws;
mod merge_package;
mod merge_table;
mod package_revision;
mod patch_anchors;
mod patch_cases;
mod patch_functions;
mod patch_oracle;
mod prepend_pipeline;
mod quoted_lines;
mod reasons;
mod reference_merge;
mod render_fleet;
mod render_variant;
mod respelled;
mod review_package;
mod round_trip;
mod running;
mod schema;
mod schemas;
mod secret_carriers;
mod secrets;
mod server;
mod set_package_context;
mod shared_text;
mod sources;
mod step;
mod supplied;
mod texts;
mod upgrades;
mod usage;
mod walks;
mod words;
mod writing;
mod wrong_usage;
mod yaml_edit;
