//! Adds keys to the package context, the ConfigMap `kptfile.kpt.dev`, and removes keys from it.
//!
//! ```yaml
//! data:                  # before
//!   name: example
//! ```
//! with `data: {region: useast1}` becomes
//! ```yaml
//! data:                  # after
//!   name: example
//!   region: useast1
//! ```
//!
//! Source: package-variant document, Package Context Injection; contract, set-package-context.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::config::{self, API_VERSION, PACKAGE_VARIANT_API_VERSION, UsageError, kind_of, typed};
use crate::filter::{Function, Run};
use crate::resource::{LOCAL_CONFIG_ANNOTATION, Origin, Resource};
use crate::resource_list::{ItemId, NewResource, ResourceList};
use crate::results::{FunctionResult, Reason, Results};
use crate::yaml::scalar::{Context, ScalarStyle, plain_is_safe};
use crate::yaml::{Content, EditError, Editor, EntryRef, NodeKind, NodeRef, Value};

/// Name of the package context's ConfigMap.
pub const PACKAGE_CONTEXT_NAME: &str = "kptfile.kpt.dev";
/// File that kpt puts the package context into.
pub const PACKAGE_CONTEXT_FILE: &str = "package-context.yaml";
/// Keys that kpt and Porch set themselves.
pub const RESERVED_KEYS: [&str; 2] = ["name", "package-path"];

/// The function, for its binary.
pub const FUNCTION: Function = Function {
    name: "set-package-context",
    about: "Adds keys to the package context (the ConfigMap kptfile.kpt.dev beside the root Kptfile), \
            and removes keys from it.",
    step,
};

/// The function's own config.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SetPackageContext {
    #[serde(rename = "apiVersion")]
    _api_version: String,
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(default, rename = "metadata")]
    _metadata: IgnoredAny,
    /// Keys to set.
    #[serde(default)]
    data: BTreeMap<String, String>,
    /// Keys to remove; a key in both lists ends up removed.
    #[serde(default)]
    remove_keys: Vec<String>,
    /// Make the ConfigMap if the package has none.
    #[serde(default)]
    create_if_missing: bool,
}

/// What this function reads of a PackageVariant; other fields of `spec` are only known by name.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PackageVariant {
    #[serde(default)]
    spec: PackageVariantSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PackageVariantSpec {
    #[serde(default)]
    package_context: PackageContext,
    #[serde(default, rename = "upstream")]
    _upstream: IgnoredAny,
    #[serde(default, rename = "downstream")]
    _downstream: IgnoredAny,
    #[serde(default, rename = "adoptionPolicy")]
    _adoption_policy: IgnoredAny,
    #[serde(default, rename = "deletionPolicy")]
    _deletion_policy: IgnoredAny,
    #[serde(default, rename = "labels")]
    _labels: IgnoredAny,
    #[serde(default, rename = "annotations")]
    _annotations: IgnoredAny,
    #[serde(default, rename = "pipeline")]
    _pipeline: IgnoredAny,
    #[serde(default, rename = "injectors")]
    _injectors: IgnoredAny,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PackageContext {
    #[serde(default)]
    data: BTreeMap<String, String>,
    #[serde(default)]
    remove_keys: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct ConfigMap {
    #[serde(default)]
    data: BTreeMap<String, String>,
}

/// What shall become of the package context.
struct Plan<'a> {
    /// Where `data` and `removeKeys` stand in the config.
    field: &'static str,
    /// Entries in the order of the config, with their comments.
    data: Vec<EntryRef<'a>>,
    remove_keys: Vec<String>,
    create_if_missing: bool,
}

impl<'a> Plan<'a> {
    fn read(config: Option<NodeRef<'a>>) -> Result<Self, UsageError> {
        const EXPECTED: &str = "a SetPackageContext (fn.kpt.dev/v1alpha1), a PackageVariant \
             (config.porch.kpt.dev/v1alpha1) or a ConfigMap (v1) with data";
        let Some(config) = config else {
            return Err(UsageError(format!(
                "functionConfig: expected {EXPECTED}, found none"
            )));
        };
        let entries = |path: &[&str]| config.get_path(path).map(|data| data.entries().collect());
        let plan = match kind_of(config) {
            (API_VERSION, "SetPackageContext") => {
                let typed: SetPackageContext = typed(config)?;
                Self {
                    field: "",
                    data: entries(&["data"]).unwrap_or_default(),
                    remove_keys: typed.remove_keys,
                    create_if_missing: typed.create_if_missing,
                }
                .checked(&typed.data)
            }
            (PACKAGE_VARIANT_API_VERSION, "PackageVariant") => {
                let typed: PackageVariant = typed(config)?;
                let context = typed.spec.package_context;
                Self {
                    field: "spec.packageContext.",
                    data: entries(&["spec", "packageContext", "data"]).unwrap_or_default(),
                    remove_keys: context.remove_keys,
                    create_if_missing: false,
                }
                .checked(&context.data)
            }
            ("v1", "ConfigMap") => {
                let typed: ConfigMap = typed(config)?;
                if typed.data.is_empty() {
                    return Err(UsageError(format!(
                        "functionConfig: expected {EXPECTED}, found a ConfigMap without data"
                    )));
                }
                Self {
                    field: "",
                    data: entries(&["data"]).unwrap_or_default(),
                    remove_keys: Vec::new(),
                    create_if_missing: false,
                }
                .checked(&typed.data)
            }
            _ => return Err(config::unexpected(config, EXPECTED)),
        };
        Ok(plan)
    }

    /// Entries with a null value count as absent, as they do in the typed config.
    fn checked(mut self, typed: &BTreeMap<String, String>) -> Self {
        self.data.retain(|entry| {
            entry
                .key
                .as_str()
                .is_some_and(|key| typed.contains_key(key))
        });
        self
    }

    fn check_reserved(&self, results: &mut Results) {
        let mut check = |key: &str, field: String| {
            if RESERVED_KEYS.contains(&key) {
                let message = format!("the key `{key}` is reserved: kpt and Porch set it");
                results.push(FunctionResult::error(Reason::ReservedKey, message).at(field));
            }
        };
        for key in self.data.iter().filter_map(|entry| entry.key.as_str()) {
            check(key, format!("{}data.{key}", self.field));
        }
        for (index, key) in self.remove_keys.iter().enumerate() {
            check(key, format!("{}removeKeys[{index}]", self.field));
        }
    }

    fn is_empty(&self) -> bool {
        self.data.is_empty() && self.remove_keys.is_empty()
    }
}

fn step(run: Run<'_>) -> Result<(), UsageError> {
    let Run {
        config,
        list,
        results,
        ..
    } = run;
    let plan = Plan::read(config)?;
    plan.check_reserved(results);
    if results.has_errors() || (plan.is_empty() && !plan.create_if_missing) {
        return Ok(());
    }
    let root = root_kptfile(list);
    match find(list, root) {
        Ok(Some(id)) => apply(&plan, list, id, results),
        Ok(None) if plan.create_if_missing => create(&plan, list, root, results),
        Ok(None) => results.push(FunctionResult::error(
            Reason::PackageContextNotFound,
            format!(
                "expected a ConfigMap `{PACKAGE_CONTEXT_NAME}` beside the root Kptfile, found none; \
                 kpt makes it with `kpt pkg get --for-deployment`, this function with `createIfMissing: true`"
            ),
        )),
        Err(several) => {
            for id in several {
                let message = format!(
                    "expected one ConfigMap `{PACKAGE_CONTEXT_NAME}` for the root package, found several"
                );
                let result = FunctionResult::error(Reason::Ambiguous, message);
                results.push(result.about(list.resource(id)));
            }
        }
    }
    Ok(())
}

/// How far down a package tree something stands: its package, then its file.
fn depth(origin: &Origin) -> (usize, usize) {
    let count = |path: Option<&str>| {
        path.map_or(0, |path| path.split('/').filter(|p| !p.is_empty()).count())
    };
    (
        count(origin.package_path.as_deref()),
        count(origin.path.as_deref()),
    )
}

/// The Kptfile with the shortest package path and path.
fn root_kptfile(list: &ResourceList) -> Option<ItemId> {
    let kptfiles = list.items().filter(|(_, resource)| resource.is_kptfile());
    kptfiles
        .min_by_key(|(_, resource)| depth(&resource.origin))
        .map(|(id, _)| id)
}

fn is_package_context(resource: &Resource) -> bool {
    resource.api_version == "v1"
        && resource.kind == "ConfigMap"
        && resource.name.as_deref() == Some(PACKAGE_CONTEXT_NAME)
}

/// The package context of the root package; several that could be it are an error.
fn find(list: &ResourceList, root: Option<ItemId>) -> Result<Option<ItemId>, Vec<ItemId>> {
    let all = || {
        list.items()
            .filter(|(_, resource)| is_package_context(resource))
    };
    let found: Vec<ItemId> = match root.map(|root| &list.resource(root).origin) {
        Some(root) => all()
            .filter(|(_, resource)| {
                let origin = &resource.origin;
                origin.package_path == root.package_path && origin.directory() == root.directory()
            })
            .map(|(id, _)| id)
            .collect(),
        // Without a Kptfile: the highest one.
        None => {
            let highest = all().map(|(_, resource)| depth(&resource.origin)).min();
            all()
                .filter(|(_, r)| Some(depth(&r.origin)) == highest)
                .map(|(id, _)| id)
                .collect()
        }
    };
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        _ => Err(found),
    }
}

/// Why an edit of the ConfigMap was not made.
enum Refusal {
    Edit(EditError),
    Data { found: &'static str },
    Alias,
}

impl From<EditError> for Refusal {
    fn from(error: EditError) -> Self {
        Self::Edit(error)
    }
}

fn apply(plan: &Plan<'_>, list: &mut ResourceList, id: ItemId, results: &mut Results) {
    let mut set: Vec<String> = Vec::new();
    let mut removed: Vec<String> = Vec::new();
    let outcome = list.edit(id, |resource, editor| {
        let Some(data) = resource.entry("data").map(|entry| entry.value) else {
            return add_data(plan, resource, editor, &mut set);
        };
        if data.kind() == NodeKind::Alias {
            return Err(Refusal::Alias);
        }
        if !data.kind().is_mapping() && !data.is_null() {
            return Err(Refusal::Data {
                found: data.kind_name(),
            });
        }
        for key in &plan.remove_keys {
            if !removed.contains(key) && editor.remove_entry(data, key)? {
                removed.push(key.clone());
            }
        }
        for entry in plan.to_set() {
            let Some((key, value)) = pair(entry) else {
                continue;
            };
            match data.entry(key) {
                Some(old)
                    if old.value.kind() != NodeKind::Alias && old.value.as_str() == Some(value) => {
                }
                Some(old) => {
                    editor.replace(old.value, Content::Value(Value::from(value)))?;
                    set.push(key.to_owned());
                }
                None => {
                    editor.insert_entry_like(data, None, entry, content(entry, value))?;
                    set.push(key.to_owned());
                }
            }
        }
        Ok(())
    });
    let resource = list.resource(id);
    match outcome {
        Ok(()) if set.is_empty() && removed.is_empty() => {}
        Ok(()) => {
            results.push(
                FunctionResult::info(summary(&set, &removed))
                    .about(resource)
                    .at("data"),
            );
        }
        Err(refusal) => {
            let result = match refusal {
                Refusal::Data { found } => FunctionResult::error(
                    Reason::InvalidValue,
                    format!("expected a mapping, found a {found}"),
                ),
                Refusal::Alias => FunctionResult::error(
                    Reason::SharedAnchor,
                    "the value is an alias; write it out in full first",
                ),
                Refusal::Edit(error) => {
                    FunctionResult::error(Reason::SharedAnchor, error.to_string())
                }
            };
            results.push(result.about(resource).at("data"));
        }
    }
}

impl<'a> Plan<'a> {
    /// Entries that are not removed again.
    fn to_set(&self) -> impl Iterator<Item = EntryRef<'a>> + '_ {
        let removed = |entry: &&EntryRef<'_>| {
            entry
                .key
                .as_str()
                .is_none_or(|key| !self.remove_keys.iter().any(|k| k == key))
        };
        self.data.iter().filter(removed).copied()
    }

    fn values(&self) -> Vec<(Value, Value)> {
        self.to_set()
            .filter_map(pair)
            .map(|(k, v)| (Value::from(k), Value::from(v)))
            .collect()
    }
}

fn pair(entry: EntryRef<'_>) -> Option<(&str, &str)> {
    Some((entry.key.as_str()?, entry.value.as_str()?))
}

/// The config's own spelling, unless some reader would take it for something else than a string.
fn content<'a>(entry: EntryRef<'a>, value: &str) -> Content<'a> {
    let node = entry.value;
    let plain = node.kind() == NodeKind::Scalar(ScalarStyle::Plain);
    if node.kind() == NodeKind::Alias || (plain && !plain_is_safe(value, Context::Block)) {
        Content::Value(Value::from(value))
    } else {
        Content::Node(node)
    }
}

fn add_data<'d>(
    plan: &Plan<'_>,
    resource: NodeRef<'d>,
    editor: &mut Editor<'d, '_>,
    set: &mut Vec<String>,
) -> Result<(), Refusal> {
    let data = plan.values();
    if data.is_empty() {
        return Ok(());
    }
    set.extend(
        data.iter()
            .filter_map(|(key, _)| key.as_str())
            .map(str::to_owned),
    );
    Ok(editor.set(resource, "data", Content::Value(Value::Mapping(data)))?)
}

fn summary(set: &[String], removed: &[String]) -> String {
    let list = |verb: &str, keys: &[String]| {
        let keys: Vec<_> = keys.iter().map(|key| format!("`{key}`")).collect();
        (!keys.is_empty()).then(|| format!("{verb} {}", keys.join(", ")))
    };
    let parts: Vec<_> = [list("set", set), list("removed", removed)]
        .into_iter()
        .flatten()
        .collect();
    parts.join("; ")
}

/// Makes the ConfigMap as kpt does, beside the root Kptfile.
fn create(plan: &Plan<'_>, list: &mut ResourceList, root: Option<ItemId>, results: &mut Results) {
    let Some(kptfile) = root.map(|root| list.resource(root)) else {
        let message =
            format!("expected a Kptfile to make `{PACKAGE_CONTEXT_NAME}` for, found none");
        results.push(FunctionResult::error(Reason::KptfileNotFound, message));
        return;
    };
    let Some(name) = kptfile.name.clone().filter(|name| !name.is_empty()) else {
        let result = FunctionResult::error(
            Reason::InvalidValue,
            "expected the package's name, found none",
        );
        results.push(result.about(kptfile).at("metadata.name"));
        return;
    };
    let path = kptfile.origin.directory().map(|directory| match directory {
        "" => PACKAGE_CONTEXT_FILE.to_owned(),
        directory => format!("{directory}/{PACKAGE_CONTEXT_FILE}"),
    });
    let package_path = kptfile.origin.package_path.clone();
    if let Some(path) = path
        .as_deref()
        .filter(|path| list.has_path(package_path.as_deref(), path))
    {
        let message = format!("the file is there, but holds no ConfigMap `{PACKAGE_CONTEXT_NAME}`");
        results.push(FunctionResult::error(Reason::PathTaken, message).in_file(path));
        return;
    }
    let entry = |key: &str, value: Value| (Value::from(key), value);
    let mut data = vec![entry("name", Value::from(name))];
    data.extend(plan.values());
    let annotations = vec![entry(LOCAL_CONFIG_ANNOTATION, Value::from("true"))];
    let metadata = vec![
        entry("name", Value::from(PACKAGE_CONTEXT_NAME)),
        entry("annotations", Value::Mapping(annotations)),
    ];
    let value = Value::Mapping(vec![
        entry("apiVersion", Value::from("v1")),
        entry("kind", Value::from("ConfigMap")),
        entry("metadata", Value::Mapping(metadata)),
        entry("data", Value::Mapping(data)),
    ]);
    let created = FunctionResult::info(format!("created the ConfigMap `{PACKAGE_CONTEXT_NAME}`"));
    results.push(match &path {
        Some(path) => created.in_file(path),
        None => created,
    });
    list.add(NewResource {
        path,
        package_path,
        value,
    });
}
