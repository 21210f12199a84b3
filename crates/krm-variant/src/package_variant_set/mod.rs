//! The PackageVariantSet: its typed fields. `read` refuses unknown fields of `spec` and fields of the wrong type;
//! `validate` reports values that are not allowed, all at once. Templates are checked when they are compiled.
//!
//! Source: package-variant document, PackageVariantSet API; contract, expand-variant-set.

mod read;
mod validate;

pub(crate) use krm_core::package_variant::given;

use std::collections::BTreeMap;
use std::hash::RandomState;

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::IgnoredAny;

use krm_core::config::typed_config;
use krm_core::package_variant::{Pipeline, Upstream};
use krm_core::selector::LabelSelector;
use krm_yaml::Value;

/// `apiVersion` of a PackageVariantSet.
pub const API_VERSION: &str = "config.porch.kpt.dev/v1alpha2";
/// `kind` of a PackageVariantSet.
pub const KIND: &str = "PackageVariantSet";

/// A map of strings that keeps the order of the document.
pub(crate) type StringMap = IndexMap<String, String, RandomState>;

typed_config! {
    /// A PackageVariantSet.
    #[derive(Debug, Clone, Default, Deserialize)]
    pub struct PackageVariantSet ignores status {
        /// The upstream package, and the targets to create variants for.
        #[serde(default)]
        pub spec: PackageVariantSetSpec,
    }
}

/// `spec` of a PackageVariantSet.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PackageVariantSetSpec {
    /// The package that the variants are made from.
    #[cfg_attr(feature = "schema", schemars(required))]
    pub(crate) upstream: Option<Upstream>,
    /// `upstream` as it is written, for the variants.
    #[serde(skip)]
    pub(crate) upstream_value: Option<Value>,
    /// The targets to create variants for.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(required, length(min = 1)))]
    pub targets: Vec<Target>,
}

/// One list of targets, with the template of their variants.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = [{"required": ["repositories"]}, {"required": ["repositorySelector"]}, {"required": ["objectSelector"]}], "not" = {"required": ["repositories", "packageNames"]})))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Target {
    /// First kind: repositories by name.
    #[serde(default)]
    pub(crate) repositories: Vec<RepositoryTarget>,
    /// Second kind: Repository objects by labels.
    pub(crate) repository_selector: Option<LabelSelector>,
    /// Third kind: objects of any kind, by labels.
    pub object_selector: Option<ObjectSelector>,
    /// Packages in each selected repository; the upstream's name if empty.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))]
    pub(crate) package_names: Vec<String>,
    /// How the variants are made.
    pub(crate) template: Option<Template>,
}

/// A repository by name.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RepositoryTarget {
    /// Name of the Repository.
    #[cfg_attr(feature = "schema", schemars(required, length(min = 1)))]
    pub(crate) name: Option<String>,
    /// Packages in the repository; the upstream's name if empty.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))]
    pub(crate) package_names: Vec<String>,
}

/// Selects objects of one kind.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObjectSelector {
    /// `apiVersion` of the objects.
    #[cfg_attr(feature = "schema", schemars(required, length(min = 1)))]
    pub api_version: Option<String>,
    /// `kind` of the objects.
    #[cfg_attr(feature = "schema", schemars(required, length(min = 1)))]
    pub kind: Option<String>,
    /// Name of the only object.
    pub(crate) name: Option<String>,
    /// Labels with their values.
    #[serde(default)]
    match_labels: BTreeMap<String, String>,
    /// Requirements other than equality.
    #[serde(default)]
    match_expressions: Vec<krm_core::selector::Requirement>,
}

impl ObjectSelector {
    /// The labels that the objects must have.
    pub(crate) fn labels(&self) -> LabelSelector {
        LabelSelector {
            match_labels: self.match_labels.clone(),
            match_expressions: self.match_expressions.clone(),
        }
    }
}

impl Target {
    /// Whether it names its repositories one by one, so that an error in one does not affect the others.
    pub(crate) fn selects_only_listed(&self) -> bool {
        !self.repositories.is_empty()
            && self.repository_selector.is_none()
            && self.object_selector.is_none()
    }
}

/// How a PackageVariant is made from a target.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Template {
    /// A different downstream than the target's.
    #[serde(default)]
    pub(crate) downstream: DownstreamTemplate,
    /// `spec.adoptionPolicy` of the variants.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = krm_core::package_variant::ADOPTION_POLICIES)))]
    pub(crate) adoption_policy: Option<String>,
    /// `spec.deletionPolicy` of the variants.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = krm_core::package_variant::DELETION_POLICIES)))]
    pub(crate) deletion_policy: Option<String>,
    /// `spec.labels` of the variants.
    #[serde(default)]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "std::collections::BTreeMap<String, String>")
    )]
    pub(crate) labels: StringMap,
    /// Computed labels.
    #[serde(default)]
    pub(crate) label_exprs: Vec<MapExpr>,
    /// `spec.annotations` of the variants.
    #[serde(default)]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "std::collections::BTreeMap<String, String>")
    )]
    pub(crate) annotations: StringMap,
    /// Computed annotations.
    #[serde(default)]
    pub(crate) annotation_exprs: Vec<MapExpr>,
    /// `spec.packageContext` of the variants.
    #[serde(default)]
    pub(crate) package_context: PackageContextTemplate,
    /// `spec.pipeline` of the variants.
    #[serde(default)]
    pub(crate) pipeline: PipelineTemplate,
    /// `spec.injectors` of the variants.
    #[serde(default)]
    pub(crate) injectors: Vec<InjectorTemplate>,
    /// More injectors, as the example in Porch's document spells them.
    #[serde(default)]
    pub(crate) injector_exprs: Vec<InjectorTemplate>,
}

/// The downstream of a variant.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("not" = {"anyOf": [{"required": ["repo", "repoExpr"]}, {"required": ["package", "packageExpr"]}]})))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DownstreamTemplate {
    /// Name of the Repository.
    pub(crate) repo: Option<String>,
    /// Name of the package.
    pub(crate) package: Option<String>,
    /// Computes the name of the Repository.
    pub(crate) repo_expr: Option<String>,
    /// Computes the name of the package.
    pub(crate) package_expr: Option<String>,
}

/// The package context of a variant.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PackageContextTemplate {
    /// Keys to set.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, String>", extend("propertyNames" = {"not": {"enum": krm_core::package_variant::RESERVED_KEYS}})))]
    pub(crate) data: StringMap,
    /// Keys to remove.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("items" = {"type": "string", "minLength": 1, "not": {"enum": krm_core::package_variant::RESERVED_KEYS}})))]
    pub(crate) remove_keys: Vec<String>,
    /// Computed keys to set.
    #[serde(default)]
    pub(crate) data_exprs: Vec<MapExpr>,
    /// Compute keys to remove.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))]
    pub(crate) remove_key_exprs: Vec<String>,
}

/// The pipeline of a variant.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct PipelineTemplate {
    /// Functions that change the package.
    #[serde(default)]
    pub(crate) mutators: Vec<FunctionTemplate>,
    /// Functions that validate the result.
    #[serde(default)]
    pub(crate) validators: Vec<FunctionTemplate>,
    /// The pipeline without its computed parts.
    #[serde(skip)]
    pub(crate) plain: Pipeline,
    /// All of it as written, without `configMapExprs`.
    #[serde(skip)]
    pub(crate) value: Option<Value>,
}

/// A function of the pipeline.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = [{"required": ["image"]}, {"required": ["exec"]}], "not" = {"anyOf": [{"required": ["configMap", "configPath"]}, {"required": ["configMap", "configRef"]}, {"required": ["configPath", "configRef"]}, {"required": ["configMapExprs", "configPath"]}, {"required": ["configMapExprs", "configRef"]}]})))]
#[serde(rename_all = "camelCase")]
pub(crate) struct FunctionTemplate {
    /// The constant part of its functionConfig.
    #[serde(default)]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")
    )]
    pub(crate) config_map: StringMap,
    /// The computed part of its functionConfig.
    #[serde(default)]
    pub(crate) config_map_exprs: Vec<MapExpr>,
    /// The file to use as its functionConfig instead.
    pub(crate) config_path: Option<String>,
    /// The resource to use as its functionConfig instead.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<std::collections::BTreeMap<String, String>>")
    )]
    pub(crate) config_ref: Option<IgnoredAny>,
}

/// Selects a resource to inject.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = [{"required": ["name"]}, {"required": ["nameExpr"]}])))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct InjectorTemplate {
    /// API group.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = "^[^/]*$")))]
    pub(crate) group: Option<String>,
    /// API version without the group.
    pub(crate) version: Option<String>,
    /// Kind.
    pub(crate) kind: Option<String>,
    /// Name.
    pub(crate) name: Option<String>,
    /// Computes the name.
    pub(crate) name_expr: Option<String>,
}

/// A computed entry of a map.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = [{"required": ["key"]}, {"required": ["keyExpr"]}], "not" = {"required": ["value", "valueExpr"]}, "anyOf" = [{"required": ["value"]}, {"required": ["valueExpr"]}])))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct MapExpr {
    /// The key.
    pub(crate) key: Option<String>,
    /// The value.
    pub(crate) value: Option<String>,
    /// Computes the key.
    pub(crate) key_expr: Option<String>,
    /// Computes the value.
    pub(crate) value_expr: Option<String>,
}
