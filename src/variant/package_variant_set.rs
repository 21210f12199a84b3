//! The PackageVariantSet: its typed fields. `read` refuses unknown fields of `spec` and fields of
//! another type; `validate` reports values that are not allowed, all at once. Expressions are texts
//! here.
//!
//! Source: package-variant document, PackageVariantSet API; contract, expand-variant-set.

mod read;
mod validate;

pub(crate) use validate::{reserved, twice};

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::package_variant::{Pipeline, Upstream};
use super::selector::LabelSelector;
use crate::config::typed_config;
use crate::yaml::Value;

/// `apiVersion` of a PackageVariantSet.
pub const API_VERSION: &str = "config.porch.kpt.dev/v1alpha2";
/// `kind` of a PackageVariantSet.
pub const KIND: &str = "PackageVariantSet";

typed_config! {
    /// A PackageVariantSet.
    #[derive(Debug, Clone, Default, Deserialize)]
    pub struct PackageVariantSet ignores status {
        /// What is to be varied, and over what.
        #[serde(default)]
        pub spec: PackageVariantSetSpec,
    }
}

/// `spec` of a PackageVariantSet.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageVariantSetSpec {
    /// The package that the variants are made from.
    pub upstream: Option<Upstream>,
    /// `upstream` as it is written, for the variants.
    #[serde(skip)]
    pub upstream_value: Option<Value>,
    /// What variants are made for.
    #[serde(default)]
    pub targets: Vec<Target>,
}

/// One list of targets, with the template of their variants.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Target {
    /// First kind: repositories by name.
    #[serde(default)]
    pub repositories: Vec<RepositoryTarget>,
    /// Second kind: Repository objects by labels.
    pub repository_selector: Option<LabelSelector>,
    /// Third kind: any objects by labels.
    pub object_selector: Option<ObjectSelector>,
    /// Packages in each selected repository; the upstream's name if empty.
    #[serde(default)]
    pub package_names: Vec<String>,
    /// How the variants are made.
    pub template: Option<Template>,
}

/// A repository by name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RepositoryTarget {
    /// Name of the Repository.
    pub name: Option<String>,
    /// Packages in the repository; the upstream's name if empty.
    #[serde(default)]
    pub package_names: Vec<String>,
}

/// Selects objects of one kind.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObjectSelector {
    /// `apiVersion` of the objects.
    pub api_version: Option<String>,
    /// `kind` of the objects.
    pub kind: Option<String>,
    /// Name of the only object.
    pub name: Option<String>,
    #[serde(default)]
    match_labels: BTreeMap<String, String>,
    #[serde(default)]
    match_expressions: Vec<super::selector::Requirement>,
}

impl ObjectSelector {
    /// The labels that the objects must have.
    #[must_use]
    pub fn labels(&self) -> LabelSelector {
        LabelSelector {
            match_labels: self.match_labels.clone(),
            match_expressions: self.match_expressions.clone(),
        }
    }
}

/// How a PackageVariant is made from a target.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Template {
    /// Another downstream than that of the target.
    #[serde(default)]
    pub downstream: DownstreamTemplate,
    /// `spec.adoptionPolicy` of the variants.
    pub adoption_policy: Option<String>,
    /// `spec.deletionPolicy` of the variants.
    pub deletion_policy: Option<String>,
    /// `spec.labels` of the variants.
    #[serde(default)]
    pub labels: StringMap,
    /// Computed labels.
    #[serde(default)]
    pub label_exprs: Vec<MapExpr>,
    /// `spec.annotations` of the variants.
    #[serde(default)]
    pub annotations: StringMap,
    /// Computed annotations.
    #[serde(default)]
    pub annotation_exprs: Vec<MapExpr>,
    /// `spec.packageContext` of the variants.
    #[serde(default)]
    pub package_context: PackageContextTemplate,
    /// `spec.pipeline` of the variants.
    #[serde(default)]
    pub pipeline: PipelineTemplate,
    /// `spec.injectors` of the variants.
    #[serde(default)]
    pub injectors: Vec<InjectorTemplate>,
    /// More injectors: the document's example spells `injectors` so.
    #[serde(default)]
    pub injector_exprs: Vec<InjectorTemplate>,
}

/// The downstream of a variant.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DownstreamTemplate {
    /// Name of the Repository.
    pub repo: Option<String>,
    /// Name of the package.
    pub package: Option<String>,
    /// Computes the name of the Repository.
    pub repo_expr: Option<String>,
    /// Computes the name of the package.
    pub package_expr: Option<String>,
}

/// The package context of a variant.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PackageContextTemplate {
    /// Keys to set.
    #[serde(default)]
    pub data: StringMap,
    /// Keys to remove.
    #[serde(default)]
    pub remove_keys: Vec<String>,
    /// Computed keys to set.
    #[serde(default)]
    pub data_exprs: Vec<MapExpr>,
    /// Compute keys to remove.
    #[serde(default)]
    pub remove_key_exprs: Vec<String>,
}

/// The pipeline of a variant.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PipelineTemplate {
    /// Functions that change the package.
    #[serde(default)]
    pub mutators: Vec<FunctionTemplate>,
    /// Functions that look at the result.
    #[serde(default)]
    pub validators: Vec<FunctionTemplate>,
    /// All of it without the computed parts.
    #[serde(skip)]
    plain: Pipeline,
}

/// A function of the pipeline.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FunctionTemplate {
    /// The plain part of its functionConfig.
    #[serde(default)]
    pub config_map: StringMap,
    /// The computed part of its functionConfig.
    #[serde(default)]
    pub config_map_exprs: Vec<MapExpr>,
    /// File that holds its functionConfig instead.
    pub config_path: Option<String>,
    /// The function as it is written, without `configMapExprs`.
    #[serde(skip)]
    pub value: Option<Value>,
}

/// Selects a resource to inject.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InjectorTemplate {
    /// API group.
    pub group: Option<String>,
    /// API version without the group.
    pub version: Option<String>,
    /// Kind.
    pub kind: Option<String>,
    /// Name.
    pub name: Option<String>,
    /// Computes the name.
    pub name_expr: Option<String>,
}

/// A computed entry of a map.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MapExpr {
    /// The key.
    pub key: Option<String>,
    /// The value.
    pub value: Option<String>,
    /// Computes the key.
    pub key_expr: Option<String>,
    /// Computes the value.
    pub value_expr: Option<String>,
}

/// A map of strings in the order of the document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StringMap(pub Vec<(String, String)>);

impl<'de> Deserialize<'de> for StringMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = StringMap;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<StringMap, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(StringMap(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// A field that counts: an empty string is as good as none.
pub(crate) fn given(field: &Option<String>) -> Option<&str> {
    field.as_deref().filter(|text| !text.is_empty())
}
