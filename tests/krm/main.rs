//! All integration tests, in one binary.

mod yaml_edit;
