//! What the JSON Schema of a PackageVariant says of fields that are read as plain texts and maps.

use std::collections::BTreeMap;

/// A resource of the package.
#[derive(schemars::JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "the fields are for the schema alone")]
pub(crate) struct ResourceReference {
    /// API version.
    api_version: Option<String>,
    /// Kind.
    kind: Option<String>,
    /// Name.
    name: Option<String>,
    /// Namespace.
    namespace: Option<String>,
}

/// Selects resources of the package; absent fields fit all.
#[derive(schemars::JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "the fields are for the schema alone")]
pub(crate) struct Selector {
    #[schemars(flatten)]
    resource: ResourceReference,
    /// Labels that it must have.
    labels: Option<BTreeMap<String, String>>,
    /// Annotations that it must have.
    annotations: Option<BTreeMap<String, String>>,
}

/// A revision, as a string or an integer.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
pub(crate) enum RevisionText {
    Text(String),
    Number(i64),
}

/// The pattern of a path within the package, for a JSON Schema. It is the same as [`check_package_path`](krm_package::check_package_path) except for
/// invisible code points.
pub const RELATIVE_PATH: &str =
    r"^(?!/)(?!(.*/)?\.\.(/|$))(?!(.*/)?(\.[gG][iI][tT]|[gG][iI][tT]~[0-9]+)[. ]*(:|/|$))[^\\]+$";

/// The pattern of a [`RELATIVE_PATH`] with one component.
pub(crate) const RELATIVE_NAME: &str =
    r"^(?!\.\.$)(?!(\.[gG][iI][tT]|[gG][iI][tT]~[0-9]+)[. ]*(:|$))[^\\/]+$";
