//! The PackageVariantSet: typed fields, and every rule about their values.
//!
//! Another type and an unknown field in `spec` are refused when it is read; rules about values are
//! results, all of them at once. What the expressions of a template say is not looked at here.
//!
//! Source: package-variant document, PackageVariantSet API; contract, expand-variant-set.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::package_variant::{ADOPTION_POLICIES, DELETION_POLICIES, Pipeline, Upstream};
use super::selector::LabelSelector;
use crate::config::typed_config;
use crate::results::{FunctionResult, Reason};
use crate::yaml::de::{DeError, from_value};
use crate::yaml::{Path, Value};

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

impl PackageVariantSet {
    /// Reads a PackageVariantSet.
    ///
    /// # Errors
    /// The path of the field that is unknown or of another type.
    pub fn read(mut value: Value) -> Result<Self, DeError> {
        each_template(&mut value, wrap_single_maps);
        let mut set: Self = from_value(&value)?;
        let spec = value.get("spec");
        set.spec.upstream_value = spec.and_then(|spec| spec.get("upstream")).cloned();
        let targets = spec.and_then(|spec| spec.get("targets"));
        for (target, value) in set.spec.targets.iter_mut().zip(elements(targets)) {
            let (Some(template), Some(value)) = (&mut target.template, value.get("template"))
            else {
                continue;
            };
            let pipeline = value.get("pipeline");
            let list = |name: &str| elements(pipeline.and_then(|pipeline| pipeline.get(name)));
            let mutators = template.pipeline.mutators.iter_mut().zip(list("mutators"));
            let validators = template
                .pipeline
                .validators
                .iter_mut()
                .zip(list("validators"));
            for (function, value) in mutators.chain(validators) {
                function.value = Some(without(value, "configMapExprs"));
            }
        }
        for (index, target) in set.spec.targets.iter_mut().enumerate() {
            if let Some(template) = &mut target.template {
                let pipeline = &mut template.pipeline;
                pipeline.plain = pipeline.read_plain().map_err(|error| DeError {
                    path: format!("spec.targets[{index}].template.pipeline.{}", error.path),
                    ..error
                })?;
            }
        }
        Ok(set)
    }

    /// What is wrong with `upstream`.
    pub fn validate_upstream(&self, findings: &mut Vec<FunctionResult>) {
        let path = Path::fields(&["spec", "upstream"]);
        validate_upstream(self.spec.upstream.as_ref(), &path, findings);
    }

    /// What is wrong with the targets as a list.
    pub fn validate_targets(&self, findings: &mut Vec<FunctionResult>) {
        if self.spec.targets.is_empty() {
            let message = "expected at least one target, found none";
            findings.push(invalid(&Path::fields(&["spec", "targets"]), message));
        }
    }

    /// Everything that is wrong with a target and its template, in the order of the fields.
    pub fn validate_target(&self, index: usize, findings: &mut Vec<FunctionResult>) {
        let path = Path::fields(&["spec", "targets"]).index(index);
        let Some(target) = self.spec.targets.get(index) else {
            return;
        };
        target.validate(&path, findings);
        if let Some(template) = &target.template {
            template.validate(&path.field("template"), findings);
        }
    }
}

fn elements(list: Option<&Value>) -> &[Value] {
    match list {
        Some(Value::Sequence(elements)) => elements,
        _ => &[],
    }
}

fn without(value: &Value, field: &str) -> Value {
    match value {
        Value::Mapping(entries) => {
            let others = entries
                .iter()
                .filter(|(key, _)| key.as_str() != Some(field));
            Value::Mapping(others.cloned().collect())
        }
        other => other.clone(),
    }
}

fn field_mut<'v>(value: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    let Value::Mapping(entries) = value else {
        return None;
    };
    let found = entries
        .iter_mut()
        .find(|(key, _)| key.as_str() == Some(name));
    found.map(|(_, value)| value)
}

fn each_template(set: &mut Value, change: fn(&mut Value)) {
    let targets = field_mut(set, "spec").and_then(|spec| field_mut(spec, "targets"));
    if let Some(Value::Sequence(targets)) = targets {
        let templates = targets.iter_mut().filter_map(|t| field_mut(t, "template"));
        templates.for_each(change);
    }
}

/// The document's example has a single map where a list of maps belongs.
fn wrap_single_maps(template: &mut Value) {
    fn wrap(owner: &mut Value, name: &str) {
        if let Some(field) = field_mut(owner, name)
            && let Value::Mapping(entries) = field
        {
            *field = Value::Sequence(vec![Value::Mapping(std::mem::take(entries))]);
        }
    }
    for name in [
        "labelExprs",
        "annotationExprs",
        "injectors",
        "injectorExprs",
    ] {
        wrap(template, name);
    }
    if let Some(context) = field_mut(template, "packageContext") {
        wrap(context, "dataExprs");
    }
    let Some(pipeline) = field_mut(template, "pipeline") else {
        return;
    };
    for name in ["mutators", "validators"] {
        if let Some(Value::Sequence(functions)) = field_mut(pipeline, name) {
            functions
                .iter_mut()
                .for_each(|function| wrap(function, "configMapExprs"));
        }
    }
}

fn invalid(path: &Path, message: impl Into<String>) -> FunctionResult {
    FunctionResult::error(Reason::InvalidConfig, message).at(path)
}

fn validate_upstream(upstream: Option<&Upstream>, path: &Path, findings: &mut Vec<FunctionResult>) {
    let Some(upstream) = upstream else {
        let message = "expected the package that the variants are made from, found none";
        return findings.push(invalid(path, message));
    };
    let mut required = |name: &str, is_given: bool, what: &str| {
        if !is_given {
            let message = format!("expected {what}, found none");
            findings.push(invalid(&path.field(name), message));
        }
    };
    let revision = upstream.revision.as_ref().is_some_and(|r| !r.0.is_empty());
    required(
        "repo",
        given(&upstream.repo).is_some(),
        "the name of a Repository",
    );
    required(
        "package",
        given(&upstream.package).is_some(),
        "the name of a package",
    );
    let revision = revision || given(&upstream.workspace_name).is_some();
    required("revision", revision, "a revision (or `workspaceName`)");
}

impl Target {
    fn validate(&self, path: &Path, findings: &mut Vec<FunctionResult>) {
        let kinds = [
            ("repositories", !self.repositories.is_empty()),
            ("repositorySelector", self.repository_selector.is_some()),
            ("objectSelector", self.object_selector.is_some()),
        ];
        let found: Vec<&str> = kinds
            .iter()
            .filter(|(_, is)| *is)
            .map(|(k, _)| *k)
            .collect();
        if found.len() != 1 {
            let found = match found.as_slice() {
                [] => "none".to_owned(),
                several => format!("`{}`", several.join("` and `")),
            };
            let message = format!(
                "expected one of `repositories`, `repositorySelector` and `objectSelector`, found {found}"
            );
            findings.push(invalid(path, message));
        }
        let names = |names: &[String], path: &Path, findings: &mut Vec<FunctionResult>| {
            for (index, name) in names.iter().enumerate() {
                if name.is_empty() {
                    let message = "expected the name of a package, found an empty string";
                    findings.push(invalid(&path.index(index), message));
                }
            }
        };
        for (index, repository) in self.repositories.iter().enumerate() {
            let path = path.field("repositories").index(index);
            if given(&repository.name).is_none() {
                let message = "expected the name of a Repository, found none";
                findings.push(invalid(&path.field("name"), message));
            }
            names(
                &repository.package_names,
                &path.field("packageNames"),
                findings,
            );
        }
        if let Some(selector) = &self.repository_selector {
            findings.extend(selector.validate(&path.field("repositorySelector")));
        }
        if let Some(selector) = &self.object_selector {
            let path = path.field("objectSelector");
            for (name, field) in [
                ("apiVersion", &selector.api_version),
                ("kind", &selector.kind),
            ] {
                if given(field).is_none() {
                    let message = format!("expected the {name} of the objects, found none");
                    findings.push(invalid(&path.field(name), message));
                }
            }
            findings.extend(selector.labels().validate(&path));
        }
        if !self.repositories.is_empty() && !self.package_names.is_empty() {
            let message = "expected `packageNames` in the entries of `repositories`, found it beside the list";
            findings.push(invalid(&path.field("packageNames"), message));
        }
        names(&self.package_names, &path.field("packageNames"), findings);
    }
}

impl Template {
    fn validate(&self, path: &Path, findings: &mut Vec<FunctionResult>) {
        let downstream = path.field("downstream");
        let Self { downstream: d, .. } = self;
        exclusive(
            &downstream,
            ("repo", &d.repo),
            ("repoExpr", &d.repo_expr),
            findings,
        );
        let package = ("package", &d.package);
        exclusive(
            &downstream,
            package,
            ("packageExpr", &d.package_expr),
            findings,
        );
        for (name, value, words) in [
            ("adoptionPolicy", &self.adoption_policy, ADOPTION_POLICIES),
            ("deletionPolicy", &self.deletion_policy, DELETION_POLICIES),
        ] {
            if let Some(value) = given(value).filter(|value| !words.contains(value)) {
                let [first, second] = words;
                let message = format!("expected `{first}` or `{second}`, found `{value}`");
                findings.push(invalid(&path.field(name), message));
            }
        }
        for (name, exprs) in [
            ("labelExprs", &self.label_exprs),
            ("annotationExprs", &self.annotation_exprs),
        ] {
            validate_map_exprs(exprs, &path.field(name), findings);
        }
        self.package_context
            .validate(&path.field("packageContext"), findings);
        self.pipeline.validate(&path.field("pipeline"), findings);
        for (name, injectors) in [
            ("injectors", &self.injectors),
            ("injectorExprs", &self.injector_exprs),
        ] {
            for (index, injector) in injectors.iter().enumerate() {
                injector.validate(&path.field(name).index(index), findings);
            }
        }
    }
}

/// Both of two fields of which one may be given; says whether one is.
fn exclusive(
    path: &Path,
    (plain, plain_value): (&str, &Option<String>),
    (expr, expr_value): (&str, &Option<String>),
    findings: &mut Vec<FunctionResult>,
) -> bool {
    let both = given(plain_value).is_some() && given(expr_value).is_some();
    if both {
        let message = format!("expected `{plain}` or `{expr}`, found both");
        findings.push(invalid(path, message));
    }
    given(plain_value).is_some() || given(expr_value).is_some()
}

fn validate_map_exprs(exprs: &[MapExpr], path: &Path, findings: &mut Vec<FunctionResult>) {
    let mut keys = HashSet::new();
    for (index, entry) in exprs.iter().enumerate() {
        let path = path.index(index);
        let key = ("key", &entry.key);
        if !exclusive(&path, key, ("keyExpr", &entry.key_expr), findings) {
            findings.push(invalid(&path, "expected `key` or `keyExpr`, found neither"));
        }
        let value = ("value", &entry.value);
        // An empty value is a value.
        if !exclusive(&path, value, ("valueExpr", &entry.value_expr), findings)
            && entry.value.is_none()
        {
            findings.push(invalid(
                &path,
                "expected `value` or `valueExpr`, found neither",
            ));
        }
        if let Some(key) = given(&entry.key).filter(|key| !keys.insert(*key)) {
            findings.push(twice(&path.field("key"), key));
        }
    }
}

/// A key that a list has already.
pub(crate) fn twice(path: &Path, key: &str) -> FunctionResult {
    invalid(
        path,
        format!("expected each key once in the list, found `{key}` again"),
    )
}

/// A key of the package context that kpt and Porch set themselves.
pub(crate) fn reserved(path: &Path, key: &str) -> Option<FunctionResult> {
    let is_reserved = super::package_variant::RESERVED_KEYS.contains(&key);
    is_reserved.then(|| {
        let message = format!("the key `{key}` is reserved: kpt and Porch set it");
        FunctionResult::error(Reason::ReservedKey, message).at(path)
    })
}

impl PackageContextTemplate {
    fn validate(&self, path: &Path, findings: &mut Vec<FunctionResult>) {
        for (key, _) in &self.data.0 {
            findings.extend(reserved(&path.field("data").field(key), key));
        }
        let mut keys = HashSet::new();
        for (index, key) in self.remove_keys.iter().enumerate() {
            let path = path.field("removeKeys").index(index);
            findings.extend(reserved(&path, key));
            if key.is_empty() {
                findings.push(invalid(&path, "expected a key, found an empty string"));
            } else if !keys.insert(key) {
                findings.push(twice(&path, key));
            }
        }
        let exprs = path.field("dataExprs");
        validate_map_exprs(&self.data_exprs, &exprs, findings);
        for (index, entry) in self.data_exprs.iter().enumerate() {
            let key = given(&entry.key).unwrap_or_default();
            findings.extend(reserved(&exprs.index(index).field("key"), key));
        }
        for (index, expr) in self.remove_key_exprs.iter().enumerate() {
            if expr.is_empty() {
                let path = path.field("removeKeyExprs").index(index);
                findings.push(invalid(
                    &path,
                    "expected an expression, found an empty string",
                ));
            }
        }
    }
}

impl PipelineTemplate {
    fn validate(&self, path: &Path, findings: &mut Vec<FunctionResult>) {
        for (name, functions) in [
            ("mutators", &self.mutators),
            ("validators", &self.validators),
        ] {
            let path = path.field(name);
            for (index, function) in functions.iter().enumerate() {
                let path = path.index(index);
                let exprs = path.field("configMapExprs");
                validate_map_exprs(&function.config_map_exprs, &exprs, findings);
                if !function.config_map_exprs.is_empty() && given(&function.config_path).is_some() {
                    let message = "expected `configMapExprs` or `configPath`, found both";
                    findings.push(invalid(&path, message));
                }
            }
        }
        findings.extend(self.plain.validate(path));
    }

    /// The pipeline without its computed parts.
    fn read_plain(&self) -> Result<Pipeline, DeError> {
        let list = |functions: &[FunctionTemplate]| {
            let values = functions
                .iter()
                .filter_map(|function| function.value.clone());
            Value::Sequence(values.collect())
        };
        from_value(&Value::Mapping(vec![
            (Value::from("mutators"), list(&self.mutators)),
            (Value::from("validators"), list(&self.validators)),
        ]))
    }
}

impl InjectorTemplate {
    fn validate(&self, path: &Path, findings: &mut Vec<FunctionResult>) {
        let name = ("name", &self.name);
        if !exclusive(path, name, ("nameExpr", &self.name_expr), findings) {
            findings.push(invalid(
                path,
                "expected `name` or `nameExpr`, found neither",
            ));
        }
        if let Some(group) = given(&self.group).filter(|group| group.contains('/')) {
            let message = format!("expected a group without version, found `{group}`");
            findings.push(invalid(&path.field("group"), message));
        }
    }
}
