//! The PackageVariant: its typed fields, and all rules about their values.
//!
//! Reading refuses an unknown field in `spec` and a value of the wrong type. `validate` reports violations of the
//! rules about values, all at once. A function that needs only one field of `spec` reads only that, so that an error
//! in another field does not stop it.
//!
//! Source: package-variant document, PackageVariant API; contract, The functions and Exit codes.

#[cfg(feature = "schema")]
pub mod schema;

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{IgnoredAny, Visitor};
use serde::{Deserialize, Deserializer};

use crate::config::{UsageError, typed, typed_config, typed_value, value_of};
use crate::results::{FunctionResult, Message, Reason};
use krm_package::check_package_path;
use krm_yaml::{NodeRef, Path, Value};

/// The keys of the package context that kpt and Porch set.
pub const RESERVED_KEYS: [&str; 2] = ["name", "package-path"];
/// The values of `adoptionPolicy`; the first is the default.
pub const ADOPTION_POLICIES: [&str; 2] = ["adoptNone", "adoptExisting"];
/// The values of `deletionPolicy`; the first is the default.
pub const DELETION_POLICIES: [&str; 2] = ["delete", "orphan"];

typed_config! {
    /// A PackageVariant, `config.porch.kpt.dev/v1alpha1`.
    #[derive(Debug, Clone, Default, Deserialize)]
    pub struct PackageVariant ignores status {
        /// The variant.
        #[serde(default)]
        pub spec: PackageVariantSpec,
    }
}

/// `spec` of a PackageVariant.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PackageVariantSpec {
    /// The package that the variant is made from.
    #[cfg_attr(feature = "schema", schemars(required))]
    pub upstream: Option<Upstream>,
    /// The package that the variant becomes.
    #[cfg_attr(feature = "schema", schemars(required))]
    pub downstream: Option<Downstream>,
    /// What to do with drafts that another user made.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ADOPTION_POLICIES)))]
    pub adoption_policy: Option<String>,
    /// What to do with package revisions when the PackageVariant is deleted.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = DELETION_POLICIES)))]
    pub deletion_policy: Option<String>,
    /// Labels of new package revisions.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Annotations of new package revisions.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    /// Keys of the package context.
    #[serde(default)]
    pub package_context: PackageContext,
    /// Functions at the head of the Kptfile's pipeline.
    #[serde(default)]
    pub pipeline: Pipeline,
    /// Which resources are injected.
    #[serde(default)]
    pub injectors: Vec<InjectionSelector>,
}

/// A revision of a package.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Upstream {
    /// Name of the Repository.
    #[cfg_attr(feature = "schema", schemars(required, length(min = 1)))]
    pub repo: Option<String>,
    /// Name of the package, with its path in the repository.
    #[cfg_attr(feature = "schema", schemars(required, length(min = 1)))]
    pub package: Option<String>,
    /// The revision: `v1` or `1`, `latest`, a tag, a branch; `-1` or nothing means the revision of the workspace.
    #[cfg_attr(feature = "schema", schemars(with = "Option<schema::RevisionText>"))]
    pub revision: Option<RevisionName>,
    /// The workspace that the revision was created in; without revision and workspace, the branch `main`.
    pub workspace_name: Option<String>,
}

/// The package that a variant becomes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Downstream {
    /// Name of the Repository.
    #[cfg_attr(feature = "schema", schemars(required, extend("pattern" = schema::RELATIVE_NAME)))]
    pub repo: Option<String>,
    /// Name of the package, with its path in the repository.
    #[cfg_attr(feature = "schema", schemars(required, extend("pattern" = schema::RELATIVE_PATH)))]
    pub package: Option<String>,
}

/// The keys to add to the package context and to remove from it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PackageContext {
    /// Keys to set.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("propertyNames" = {"not": {"enum": RESERVED_KEYS}})))]
    pub data: BTreeMap<String, String>,
    /// Keys to remove; a key in both lists ends up removed.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("items" = {"type": "string", "not": {"enum": RESERVED_KEYS}})))]
    pub remove_keys: Vec<String>,
}

/// A pipeline, as a Kptfile has it.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Functions that change the package.
    #[serde(default)]
    pub(crate) mutators: Vec<PipelineFunction>,
    /// Functions that validate the result.
    #[serde(default)]
    pub(crate) validators: Vec<PipelineFunction>,
}

/// A function of a pipeline. Fields that are not known here are carried along.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = [{"required": ["image"]}, {"required": ["exec"]}], "not" = {"anyOf": [{"required": ["configMap", "configPath"]}, {"required": ["configMap", "configRef"]}, {"required": ["configPath", "configRef"]}]})))]
#[cfg_attr(feature = "schema", schemars(rename = "Function"))]
#[serde(rename_all = "camelCase")]
pub(crate) struct PipelineFunction {
    /// Its image; this or `exec`.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub(crate) image: Option<String>,
    /// Its command; this or `image`.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub(crate) exec: Option<String>,
    /// Its name, without dots.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = "^[^.]*$")))]
    pub(crate) name: Option<String>,
    /// The file in the package that is its functionConfig.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = schema::RELATIVE_PATH)))]
    pub(crate) config_path: Option<String>,
    /// Its functionConfig, as the data of a ConfigMap.
    #[serde(default)]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "BTreeMap<String, serde_json::Value>")
    )]
    pub(crate) config_map: BTreeMap<String, IgnoredAny>,
    /// The resource in the package that is its functionConfig.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<schema::ResourceReference>")
    )]
    pub(crate) config_ref: Option<BTreeMap<String, IgnoredAny>>,
    /// Version constraint that overrides the tag of the image.
    #[serde(default, rename = "tag")]
    _tag: Option<String>,
    /// CEL condition: the function runs only if it is true.
    #[serde(default, rename = "when")]
    _when: Option<String>,
    /// An older name of `when`.
    #[serde(default, rename = "condition")]
    _condition: Option<String>,
    /// Resources that it gets; if absent, all.
    #[serde(default, rename = "selectors")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<schema::Selector>"))]
    _selectors: Vec<BTreeMap<String, IgnoredAny>>,
    /// Resources that it does not get.
    #[serde(default, rename = "exclude")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<schema::Selector>"))]
    _exclude: Vec<BTreeMap<String, IgnoredAny>>,
}

/// Selects resources to inject: a name, and any of group, version and kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InjectionSelector {
    /// API group; the core group is empty.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = "^[^/]*$")))]
    pub group: Option<String>,
    /// API version without the group.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub version: Option<String>,
    /// Kind.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub kind: Option<String>,
    /// Name.
    #[cfg_attr(feature = "schema", schemars(required, length(min = 1)))]
    pub name: Option<String>,
}

/// A revision, which may be written as a string or an integer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionName(pub String);

impl<'de> Deserialize<'de> for RevisionName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RevisionVisitor;
        impl Visitor<'_> for RevisionVisitor {
            type Value = RevisionName;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an integer")
            }
            fn visit_str<E>(self, text: &str) -> Result<RevisionName, E> {
                Ok(RevisionName(text.to_owned()))
            }
            fn visit_i64<E>(self, number: i64) -> Result<RevisionName, E> {
                Ok(RevisionName(number.to_string()))
            }
            fn visit_u64<E>(self, number: u64) -> Result<RevisionName, E> {
                Ok(RevisionName(number.to_string()))
            }
        }
        deserializer.deserialize_any(RevisionVisitor)
    }
}

/// The names of all fields of `spec`.
const FIELDS: [&str; 9] = [
    "upstream",
    "downstream",
    "adoptionPolicy",
    "deletionPolicy",
    "labels",
    "annotations",
    "packageContext",
    "pipeline",
    "injectors",
];

impl PackageVariant {
    /// Reads a complete PackageVariant.
    ///
    /// # Errors
    /// [`UsageError`] with the path of a field that is unknown or has the wrong type.
    pub fn read(config: NodeRef<'_>) -> Result<Self, UsageError> {
        typed(config)
    }

    /// Reads one field of `spec`; of the other fields, only the names are checked.
    ///
    /// # Errors
    /// [`UsageError`] with the path of a field that is unknown or has the wrong type.
    pub fn read_field(config: NodeRef<'_>, field: &str) -> Result<Self, UsageError> {
        let mut value = value_of(config)?;
        let is_other = |key: &Value| {
            let key = key.as_str();
            key.is_some_and(|key| key != field && FIELDS.contains(&key))
        };
        if let Value::Mapping(fields) = &mut value {
            for (key, value) in fields {
                if let (Some("spec"), Value::Mapping(spec)) = (key.as_str(), value) {
                    spec.retain(|(key, _)| !is_other(key));
                }
            }
        }
        typed_value(config, &value)
    }

    /// All errors in the values, in the order of the fields. `name` is the name of the object.
    pub fn validate(&self, name: Option<&str>) -> Vec<FunctionResult> {
        let mut findings = validate_name(name);
        self.spec.validate(&mut findings);
        findings
    }
}

impl PackageVariantSpec {
    fn validate(&self, findings: &mut Vec<FunctionResult>) {
        let spec = Path::fields(&["spec"]);
        let what = "the package that the variant is made from";
        validate_upstream(self.upstream.as_ref(), what, findings);
        let path = spec.field("downstream");
        match &self.downstream {
            None => findings.push(missing(&path, "the package that the variant becomes")),
            Some(Downstream { repo, package }) => {
                for (name, value, what) in named(repo, package) {
                    let path = path.field(name);
                    findings.extend(match given(value) {
                        Some(value) => refuse_downstream(name, value).map(|f| f.with_field(path)),
                        None => Some(missing(&path, what)),
                    });
                }
            }
        }
        let policies = [&self.adoption_policy, &self.deletion_policy];
        findings.extend(validate_policies(policies, &spec));
        findings.extend(self.package_context.validate(&spec.field("packageContext")));
        findings.extend(self.pipeline.validate(&spec.field("pipeline")));
        let injectors = spec.field("injectors");
        findings.extend(validate_injectors(&self.injectors, &injectors));
    }
}

/// Adds the errors in `upstream`; `what` it is, for the message.
pub fn validate_upstream(
    upstream: Option<&Upstream>,
    what: &str,
    findings: &mut Vec<FunctionResult>,
) {
    let path = Path::fields(&["spec", "upstream"]);
    let Some(Upstream { repo, package, .. }) = upstream else {
        return findings.push(missing(&path, what));
    };
    for (name, value, what) in named(repo, package) {
        if given(value).is_none() {
            findings.push(missing(&path.field(name), what));
        }
    }
}

/// Errors for unknown words in `adoptionPolicy` and `deletionPolicy`.
pub fn validate_policies(values: [&Option<String>; 2], path: &Path) -> Vec<FunctionResult> {
    let policies = [
        ("adoptionPolicy", ADOPTION_POLICIES),
        ("deletionPolicy", DELETION_POLICIES),
    ];
    let given = policies.into_iter().zip(values.map(given));
    let finding = |((name, words), value): ((&str, [&str; 2]), Option<&str>)| {
        let value = value.filter(|value| !words.contains(value))?;
        let [first, second] = words;
        let message = format!("expected `{first}` or `{second}`, found `{value}`");
        Some(invalid(&path.field(name), message))
    };
    given.filter_map(finding).collect()
}

/// The value of a field; an empty string counts as absent.
pub fn given(field: &Option<String>) -> Option<&str> {
    field.as_deref().filter(|text| !text.is_empty())
}

/// The error for a field of `downstream` with a path that leads elsewhere: repository and package are folders of a
/// fleet.
pub fn refuse_downstream(field: &str, value: &str) -> Option<FunctionResult> {
    let message = match check_package_path(value) {
        Err(error) => error.to_string(),
        Ok(()) if field == "repo" && value.contains('/') => {
            format!("expected {A_REPOSITORY}, found `{value}`")
        }
        Ok(()) => return None,
    };
    Some(FunctionResult::error(Reason::InvalidPath, message))
}

const A_REPOSITORY: &str = "the name of a Repository";

/// The fields that name a package: each with its value, and what that is.
fn named<'v>(
    repo: &'v Option<String>,
    package: &'v Option<String>,
) -> [(&'static str, &'v Option<String>, &'static str); 2] {
    let package = ("package", package, "the name of a package");
    [("repo", repo, A_REPOSITORY), package]
}

/// Refuses an object without a name, because the names of other things are derived from it.
pub fn validate_name(name: Option<&str>) -> Vec<FunctionResult> {
    let absent = name.is_none_or(str::is_empty);
    let path = Path::fields(&["metadata", "name"]);
    let finding = absent.then(|| missing(&path, "the name of the object"));
    finding.into_iter().collect()
}

impl PackageContext {
    /// Errors for reserved keys in `data` and `removeKeys`; `path` is the path of this context.
    pub fn validate(&self, path: &Path) -> Vec<FunctionResult> {
        let data = path.field("data");
        let data = self.data.keys().map(|key| (key, data.field(key)));
        let remove = self.remove_keys.iter().enumerate();
        let remove = remove.map(|(index, key)| (key, path.field("removeKeys").index(index)));
        data.chain(remove)
            .filter_map(|(key, path)| reserved(&path, key))
            .collect()
    }
}

/// The error for a key of the package context that kpt and Porch set.
pub fn reserved(path: &Path, key: &str) -> Option<FunctionResult> {
    let is_reserved = RESERVED_KEYS.contains(&key);
    is_reserved.then(|| {
        let message = format!("the key `{key}` is reserved: kpt and Porch set it");
        FunctionResult::error(Reason::ReservedKey, message).with_field(path)
    })
}

impl Pipeline {
    /// Errors for what kpt would refuse, and for names with dots; `path` is the path of this pipeline.
    pub fn validate(&self, path: &Path) -> Vec<FunctionResult> {
        let mut findings = Vec::new();
        for (name, list) in [
            ("mutators", &self.mutators),
            ("validators", &self.validators),
        ] {
            let path = path.field(name);
            for (index, function) in list.iter().enumerate() {
                function.validate(&path.index(index), &mut findings);
            }
        }
        findings
    }
}

impl PipelineFunction {
    fn validate(&self, path: &Path, findings: &mut Vec<FunctionResult>) {
        let given = |field| given(field).is_some();
        match (given(&self.image), given(&self.exec)) {
            (true, false) | (false, true) => {}
            (false, false) => {
                findings.push(invalid(path, "expected `image` or `exec`, found neither"));
            }
            (true, true) => {
                findings.push(invalid(path, "expected `image` or `exec`, found both"));
            }
        }
        if let Some(name) = self.name.as_ref().filter(|name| name.contains('.')) {
            let message = format!(
                "expected a name without dots, since dots separate the parts of its name in the Kptfile, found `{name}`"
            );
            findings.push(invalid(&path.field("name"), message));
        }
        let configs = [
            ("configMap", !self.config_map.is_empty()),
            ("configPath", given(&self.config_path)),
            ("configRef", self.config_ref.is_some()),
        ];
        let found = configs.iter().filter(|(_, is_given)| *is_given);
        let found: Vec<String> = found.map(|(field, _)| format!("`{field}`")).collect();
        if found.len() > 1 {
            let message = format!(
                "expected one of `configMap`, `configPath` and `configRef`, found {}",
                found.join(" and ")
            );
            findings.push(invalid(path, message));
        }
        if let Some(file) = self.config_path.as_ref().filter(|file| !file.is_empty())
            && let Err(error) = check_package_path(file)
        {
            let result = FunctionResult::error(Reason::InvalidPath, error.to_string());
            findings.push(result.with_field(path.field("configPath")));
        }
    }
}

/// Errors for selectors that cannot match anything; `path` is the path of the list.
pub fn validate_injectors(injectors: &[InjectionSelector], path: &Path) -> Vec<FunctionResult> {
    let mut findings = Vec::new();
    for (index, injector) in injectors.iter().enumerate() {
        let path = path.index(index);
        if injector.name.as_ref().is_none_or(String::is_empty) {
            let what = "the name of the resource to inject";
            findings.push(missing(&path.field("name"), what));
        }
        for (field, value) in [("version", &injector.version), ("kind", &injector.kind)] {
            if value.as_ref().is_some_and(String::is_empty) {
                let message = format!("expected a {field} or no such field, found an empty string");
                findings.push(invalid(&path.field(field), message));
            }
        }
        findings.extend(validate_group(injector.group.as_deref(), &path));
    }
    findings
}

/// The error for a group of an injector that includes a version.
pub fn validate_group(group: Option<&str>, injector: &Path) -> Option<FunctionResult> {
    let group = group.filter(|group| group.contains('/'))?;
    let message = format!("expected a group without version, found `{group}`");
    Some(invalid(&injector.field("group"), message))
}

/// The error for a missing value; `what` was expected.
pub fn missing(path: &Path, what: &str) -> FunctionResult {
    invalid(path, format!("expected {what}, found none"))
}

/// The error for a value that is not allowed.
pub fn invalid(path: &Path, message: impl Into<Message>) -> FunctionResult {
    FunctionResult::error(Reason::InvalidConfig, message).with_field(path)
}
