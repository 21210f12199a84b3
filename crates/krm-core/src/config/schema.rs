//! The parts of a config's JSON Schema that are not fields of the config.

use std::collections::BTreeMap;

/// `metadata` of the config.
#[derive(schemars::JsonSchema)]
#[allow(dead_code)]
pub struct Metadata {
    /// Name of the object
    #[schemars(length(min = 1))]
    name: Option<String>,
    /// Namespace of the object
    namespace: Option<String>,
    /// Labels of the object
    labels: Option<BTreeMap<String, String>>,
    /// Annotations of the object
    annotations: Option<BTreeMap<String, String>>,
}
