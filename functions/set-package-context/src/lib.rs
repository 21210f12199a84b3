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

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Deserialize;

use krm_core::config::{
    API_VERSION, CONFIG_MAP, Keys, PACKAGE_VARIANT, UsageError, expected, kind_of, required, typed,
    typed_config, typed_data, unexpected,
};
use krm_core::kptfile::{
    PACKAGE_CONTEXT_NAME, ambiguous_roots, find_package_context, new_package_context,
    package_context_path, package_context_path_taken, root_kptfile,
};
use krm_core::package_variant::{PackageContext, PackageVariant};
use krm_core::resource_list::{ItemId, NewResource, NewText, ResourceList};
use krm_core::results::{FunctionResult, Reason, Results, listed_by_verb};
use krm_function::{Function, Output, StepRun};
use krm_yaml::scalar::{Context, ScalarStyle, plain_is_safe};
use krm_yaml::{Content, EditError, EntryRef, NodeKind, NodeRef, OwnedDocument, Part, Path, Value};

/// The definition of the function.
pub const FUNCTION: Function = Function {
    name: "set-package-context",
    about: "Adds keys to the package context (the ConfigMap kptfile.kpt.dev next to the root Kptfile), \
            and removes keys from it.",
    examples: &[
        "set-package-context --package DIR region=us-east1 --diff",
        "set-package-context --package DIR region=us-east1 site=042",
        "kpt fn eval DIR --exec set-package-context -- region=us-east1",
    ],
    configs: &[
        (API_VERSION, "SetPackageContext"),
        PACKAGE_VARIANT,
        CONFIG_MAP,
    ],
    keys: Keys::Any(
        "Keys of the package context and their values: the functionConfig as a ConfigMap",
    ),
    step,
    ..Function::PLAIN
};

typed_config! {
    #[derive(Debug, Deserialize)]
    pub struct SetPackageContext {
        /// Keys to set.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(extend("propertyNames" = {"not": {"enum": krm_core::package_variant::RESERVED_KEYS}})))]
        data: BTreeMap<String, String>,
        /// Keys to remove; a key in both lists ends up removed.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(extend("items" = {"type": "string", "not": {"enum": krm_core::package_variant::RESERVED_KEYS}})))]
        remove_keys: Vec<String>,
        /// Create the ConfigMap if the package has none.
        #[serde(default)]
        create_if_missing: bool,
    }
}

/// The changes to a package context.
pub struct ContextChange<'a> {
    /// Entries in the order of the config, with their comments.
    data: Vec<EntryRef<'a>>,
    remove_keys: Vec<String>,
    create_if_missing: bool,
    /// The problems of the config.
    findings: Vec<FunctionResult>,
}

impl<'a> ContextChange<'a> {
    fn read(config: Option<NodeRef<'a>>) -> Result<Self, UsageError> {
        let expected = format!("{} with data", expected(FUNCTION.configs));
        let config = required(config, &expected)?;
        match kind_of(config) {
            (API_VERSION, "SetPackageContext") => {
                let typed: SetPackageContext = typed(config)?;
                let context = PackageContext {
                    data: typed.data,
                    remove_keys: typed.remove_keys,
                };
                Ok(Self {
                    create_if_missing: typed.create_if_missing,
                    ..Self::of(config, &[], &context)
                })
            }
            PACKAGE_VARIANT => {
                let typed = PackageVariant::read_field(config, "packageContext")?;
                Ok(Self::of_variant(config, &typed))
            }
            CONFIG_MAP => {
                let data: BTreeMap<String, String> = typed_data(config)?;
                if data.is_empty() {
                    return Err(UsageError::expected(
                        "functionConfig",
                        &expected,
                        "a ConfigMap without data",
                    ));
                }
                let context = PackageContext {
                    data,
                    remove_keys: Vec::new(),
                };
                Ok(Self::of(config, &[], &context))
            }
            _ => Err(unexpected(config, &expected)),
        }
    }

    /// The change that a PackageVariant describes.
    pub fn of_variant(config: NodeRef<'a>, variant: &PackageVariant) -> Self {
        let field = ["spec", "packageContext"];
        Self::of(config, &field, &variant.spec.package_context)
    }

    /// Reads the change at `field`, the path in the config of the mapping with `data` and `removeKeys`.
    fn of(config: NodeRef<'a>, field: &[&str], context: &PackageContext) -> Self {
        // Entries with a null value count as absent, as in the typed config.
        let is_given = |entry: &EntryRef<'_>| {
            let key = entry.key.as_str();
            key.is_some_and(|key| context.data.contains_key(key))
        };
        let data = config.get_path(field).and_then(|node| node.get("data"));
        let entries = data.into_iter().flat_map(|data| data.entries());
        Self {
            data: entries.filter(is_given).collect(),
            remove_keys: context.remove_keys.clone(),
            create_if_missing: false,
            findings: context.validate(&Path::fields(field)),
        }
    }

    fn is_empty(&self) -> bool {
        self.data.is_empty() && self.remove_keys.is_empty()
    }
}

fn step(run: StepRun<'_>) -> Result<Output, UsageError> {
    let change = ContextChange::read(run.config)?;
    change_context(&change, run.list, run.results);
    Ok(Output::Edited)
}

/// Changes the package context of the root package.
pub fn change_context(change: &ContextChange<'_>, list: &mut ResourceList, results: &mut Results) {
    results.extend(change.findings.iter().cloned());
    if !change.findings.is_empty() || (change.is_empty() && !change.create_if_missing) {
        return;
    }
    let ambiguous = ambiguous_roots(list);
    if !ambiguous.is_empty() {
        results.extend(ambiguous);
        return;
    }
    let root = root_kptfile(list);
    match find_package_context(list) {
        Ok(Some(id)) => apply(change, list, id, results),
        Ok(None) if change.create_if_missing => create(change, list, root, results),
        Ok(None) => results.push(FunctionResult::error(
            Reason::PackageContextNotFound,
            format!(
                "expected a ConfigMap `{PACKAGE_CONTEXT_NAME}` next to the root Kptfile, found none; \
                 `kpt pkg get --for-deployment` creates it, and so does this function with `createIfMissing: true` in a SetPackageContext"
            ),
        )),
        Err(several) => {
            for id in several {
                let message = format!(
                    "expected one ConfigMap `{PACKAGE_CONTEXT_NAME}` for the root package, found several"
                );
                let result = FunctionResult::error(Reason::Ambiguous, message);
                results.push(result.with_resource(list.resource(id)));
            }
        }
    }
}

fn apply(change: &ContextChange<'_>, list: &mut ResourceList, id: ItemId, results: &mut Results) {
    let mut set: Vec<String> = Vec::new();
    let mut removed: Vec<String> = Vec::new();
    let outcome = make_room(change, list, id).and_then(|()| {
        list.edit(id, |resource, editor| {
            let Some(data) = resource.resolved().entry("data").map(|entry| entry.value) else {
                return Ok(());
            };
            if !data.resolved().kind().is_mapping() && !data.is_null() {
                return Err(EditError::WrongKind {
                    place: "data".to_owned(),
                    expected: "mapping",
                    found: data.kind_name(),
                });
            }
            let mut there: HashMap<&str, EntryRef<'_>> = HashMap::new();
            for entry in data.resolved().entries() {
                if let Some(key) = entry.key.as_str() {
                    there.entry(key).or_insert(entry);
                }
            }
            for key in &change.remove_keys {
                if there.remove(key.as_str()).is_none() {
                    continue;
                }
                editor.remove_entry(data, key);
                removed.push(key.clone());
            }
            for entry in change.to_set() {
                let Some((key, value)) = pair(entry) else {
                    continue;
                };
                let old = there.get(key);
                if old.is_some_and(|old| old.value.as_str() == Some(value)) {
                    continue;
                }
                match old {
                    Some(old) => editor.replace(old.value, Content::Value(Value::from(value)))?,
                    None => editor.insert(data, None, Part::Entry(entry, content(entry, value)))?,
                }
                set.push(key.to_owned());
            }
            Ok(())
        })
    });
    let resource = list.resource(id);
    match outcome {
        Ok(()) if set.is_empty() && removed.is_empty() => {}
        Ok(()) => {
            results.push(
                FunctionResult::info(listed_by_verb(&[("set", &set[..]), ("removed", &removed)]))
                    .with_resource(resource)
                    .with_field("data"),
            );
        }
        Err(error) => {
            results.push(FunctionResult::refused_at(&error, "data").with_resource(resource));
        }
    }
}

impl<'a> ContextChange<'a> {
    /// The entries to set: all except those that are also removed.
    fn to_set(&self) -> impl Iterator<Item = EntryRef<'a>> + '_ {
        let removed: HashSet<&str> = self.remove_keys.iter().map(String::as_str).collect();
        let stays = move |entry: &&EntryRef<'_>| {
            let key = entry.key.as_str();
            key.is_none_or(|key| !removed.contains(key))
        };
        self.data.iter().filter(stays).copied()
    }
}

fn pair(entry: EntryRef<'_>) -> Option<(&str, &str)> {
    Some((entry.key.as_str()?, entry.value.as_str()?))
}

/// The value with the config's own spelling, unless a YAML reader could take it for something other than a string.
fn content<'a>(entry: EntryRef<'a>, value: &str) -> Content<'a> {
    let node = entry.value;
    let plain = node.kind() == NodeKind::Scalar(ScalarStyle::Plain);
    if plain && !plain_is_safe(value, Context::Block) {
        Content::Value(Value::from(value))
    } else {
        Content::Node(node)
    }
}

/// Adds an empty `data` if there are entries to set and the ConfigMap has none.
fn make_room(
    change: &ContextChange<'_>,
    list: &mut ResourceList,
    id: ItemId,
) -> Result<(), EditError> {
    if change.to_set().next().is_none() || list.node(id).resolved().entry("data").is_some() {
        return Ok(());
    }
    list.edit(id, |resource, editor| {
        let empty = Content::Value(Value::Mapping(Vec::new()));
        editor.set(resource, "data", empty)
    })
}

/// Creates the ConfigMap next to the root Kptfile, as kpt does.
fn create(
    change: &ContextChange<'_>,
    list: &mut ResourceList,
    root: Option<ItemId>,
    results: &mut Results,
) {
    let Some(kptfile) = root.map(|root| list.resource(root)) else {
        let message =
            format!("expected a Kptfile to create `{PACKAGE_CONTEXT_NAME}` for, found none");
        results.push(FunctionResult::error(Reason::KptfileNotFound, message));
        return;
    };
    let Some(name) = kptfile.name.clone().filter(|name| !name.is_empty()) else {
        let result = FunctionResult::error(
            Reason::InvalidValue,
            "expected the package's name, found none",
        );
        results.push(result.with_resource(kptfile).with_field("metadata.name"));
        return;
    };
    let path = package_context_path(&kptfile.origin);
    let package_path = kptfile.origin.package_path.clone();
    if let Some(path) = path
        .as_deref()
        .filter(|path| list.has_path(package_path.as_deref(), path))
    {
        results.push(package_context_path_taken(path));
        return;
    }
    let created = FunctionResult::info(format!("created the ConfigMap `{PACKAGE_CONTEXT_NAME}`"));
    let new = list.write(NewResource {
        path: path.clone(),
        package_path: package_path.map(|path| path.to_string()),
        value: new_package_context(&name),
    });
    match with_data(new.text, change) {
        Ok(text) => list.add_text(NewText { text, ..new }),
        Err(error) => {
            results.push(FunctionResult::refused(&error));
            return;
        }
    }
    results.push(match &path {
        Some(path) => created.in_file(path.as_str()),
        None => created,
    });
}

/// Adds the config's entries, with their comments, to the data of a new ConfigMap.
fn with_data(text: String, change: &ContextChange<'_>) -> Result<String, EditError> {
    OwnedDocument::edited(text, |root, editor| {
        let Some(data) = root.get("data") else {
            return Ok(());
        };
        for entry in change.to_set() {
            if let Some((_, value)) = pair(entry) {
                editor.insert(data, None, Part::Entry(entry, content(entry, value)))?;
            }
        }
        Ok(())
    })
}
