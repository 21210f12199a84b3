//! Finds the PackageVariantSets of a run: the set in the functionConfig, or else the sets among the items.

use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;

use super::comments::TemplateComments;
use super::new_files::VariantFiles;
use super::{FUNCTION, GROUP};
use krm_core::config::{
    CONFIG_MAP, EnumFields, UsageError, expected, kind_of, typed_data, unexpected,
};
use krm_core::resource::{NamespacedName, Resource, namespace_of};
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Reason, Results};
use krm_variant::cluster::{PACKAGE_REVISION, REPOSITORY, TypeOf};
use krm_variant::fan_out::Set;
use krm_variant::package_variant_set::{API_VERSION, KIND, PackageVariantSet};
use krm_yaml::{EntryRef, NodeRef, Path};

/// The prefix of annotations that variants get from their set.
const ANNOTATIONS: &str = "fn.kpt.dev/";

/// A set, with its location and what is derived from that.
pub(super) struct LocatedSet {
    pub(super) set: Set,
    /// The identity and file of the set, for results.
    pub(super) resource: Resource,
    /// The item to write the status to; `None` for a set that is only in the functionConfig.
    pub(super) item: Option<ItemId>,
    /// The comments of each target's template.
    pub(super) comments: Vec<Option<TemplateComments>>,
    /// The place for its new PackageVariants.
    pub(super) files: VariantFiles,
    /// Whether another set has the same namespace and name.
    pub(super) is_ambiguous: bool,
}

impl LocatedSet {
    fn new(set: Set, resource: Resource, item: Option<ItemId>, node: NodeRef<'_>) -> Self {
        let targets = node.get_path(&["spec", "targets"]);
        let targets = targets.into_iter().flat_map(|targets| targets.items());
        let template = |target: NodeRef<'_>| TemplateComments::of_template(target.get("template")?);
        Self {
            set,
            resource,
            item,
            comments: targets.map(template).collect(),
            files: VariantFiles::default(),
            is_ambiguous: false,
        }
    }
}

/// The sets of a run.
#[derive(Default)]
pub(super) struct LocatedSets {
    pub(super) sources: Vec<LocatedSet>,
    /// Sets that cannot be read because of an unknown or mistyped field.
    pub(super) unreadable: Vec<(Resource, UsageError)>,
    /// Whether all sets may lose all of their variants.
    pub(super) allow_empty: bool,
    /// Whether the sets come from the items rather than from the functionConfig.
    pub(super) are_items: bool,
}

/// The `KEY=VALUE` arguments.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SetArguments {
    allow_empty: Option<String>,
}

pub(super) fn read_sets(
    config: Option<NodeRef<'_>>,
    list: &ResourceList,
    results: &mut Results,
) -> Result<LocatedSets, UsageError> {
    let is_empty = |config: &NodeRef<'_>| config.is_null() || config.source().trim() == "{}";
    let mut allow_empty = false;
    if let Some(config) = config.filter(|config| !is_empty(config)) {
        match kind_of(config) {
            (API_VERSION, KIND) => {
                return Ok(LocatedSets {
                    sources: vec![set_of_config(config, list)?],
                    ..LocatedSets::default()
                });
            }
            CONFIG_MAP => {
                let arguments: SetArguments = typed_data(config)?;
                let mut enums = EnumFields::new(Path::fields(&["data"]), results);
                allow_empty = enums.read_bool("allowEmpty", arguments.allow_empty.as_deref());
            }
            _ => {
                let expected = expected(FUNCTION.configs);
                let expected = format!("{expected}, or none where the items hold some");
                return Err(unexpected(config, &expected));
            }
        }
    }
    Ok(LocatedSets {
        allow_empty,
        ..sets_of_items(list, results)
    })
}

fn set_of_config(config: NodeRef<'_>, list: &ResourceList) -> Result<LocatedSet, UsageError> {
    let mut resource = Resource::read(config);
    resource.origin = krm_core::resource::Origin::default();
    let is_copy = |other: &Resource| {
        other.api_version.as_ref() == API_VERSION
            && other.name == resource.name
            && namespace_of(other.namespace.as_deref())
                == namespace_of(resource.namespace.as_deref())
    };
    let copy = sets_among(list).find(|(_, other)| is_copy(other));
    let item = copy.map(|(id, _)| id);
    if let Some((_, copy)) = copy {
        resource = copy.clone();
    }
    let set = read_set(config, "functionConfig")?;
    Ok(LocatedSet::new(set, resource, item, config))
}

pub(super) fn sets_among(list: &ResourceList) -> impl Iterator<Item = (ItemId, &Resource)> {
    list.items()
        .filter(|(_, resource)| resource.kind.as_ref() == KIND && resource.group() == GROUP)
}

/// Reads the sets among the items. Problems with one set are results, so that problems of the others are found too.
pub(super) fn sets_of_items(list: &ResourceList, results: &mut Results) -> LocatedSets {
    let mut found = LocatedSets {
        are_items: true,
        ..LocatedSets::default()
    };
    let mut known: HashMap<NamespacedName, usize> = HashMap::new();
    for (id, resource) in sets_among(list) {
        if resource.api_version.as_ref() != API_VERSION {
            results.push(unsupported(resource));
            continue;
        }
        let place = resource.origin.path.as_deref().unwrap_or("items");
        let set = match read_set(list.node(id), place) {
            Ok(set) => set,
            Err(error) => {
                found.unreadable.push((resource.clone(), error));
                continue;
            }
        };
        let key = NamespacedName::new(set.namespace.as_deref(), &set.name);
        if let Some(first) = known.get(&key) {
            let first = &mut found.sources[*first];
            let also = first.resource.origin.path.as_deref();
            let also = also.map(|file| format!(", also in {file}"));
            let also = also.unwrap_or_default();
            let message = format!("the PackageVariantSet `{}` appears twice{also}", set.name);
            results.push(FunctionResult::error(Reason::Ambiguous, message).with_resource(resource));
            first.is_ambiguous = true;
            continue;
        }
        known.insert(key, found.sources.len());
        let node = list.node(id);
        let located = LocatedSet::new(set, resource.clone(), Some(id), node);
        found.sources.push(located);
    }
    found
}

/// The error for a set with another `apiVersion`.
fn unsupported(resource: &Resource) -> FunctionResult {
    let message = format!(
        "expected {API_VERSION}, found {}; hint: convert it: `upstream.package: {{repo, name}}` is now `upstream.repo` and \
         `upstream.package`, `targets[].package` is an entry of `repositories`, `targets[].repositories` is \
         `repositorySelector`, `targets[].objects` is `objectSelector`, and `packageName`, labels, annotations and policies are \
         in `targets[].template` (README of expand-variant-set, From v1alpha1)",
        resource.api_version
    );
    let result = FunctionResult::error(Reason::UnsupportedVersion, message);
    result.with_resource(resource).with_field("apiVersion")
}

fn read_set(node: NodeRef<'_>, place: &str) -> Result<Set, UsageError> {
    let metadata = |name: &str| {
        let field = node.get_path(&["metadata", name]);
        let text = field
            .and_then(|field| field.as_str())
            .filter(|text| !text.is_empty());
        text.map(str::to_owned)
    };
    let many = || {
        UsageError::of(format!(
            "{place}: its aliases expand to too many values, or refer to themselves"
        ))
    };
    let value = node.value().ok_or_else(many)?;
    let typed = PackageVariantSet::read(value)
        .map_err(|error| UsageError::at(format_args!("{place} ({KIND})"), error))?;
    let name = metadata("name").ok_or_else(|| {
        UsageError::expected(
            format_args!("{place} ({KIND}): metadata.name"),
            "the name of the set",
            "none",
        )
    })?;
    let annotations = node.get_path(&["metadata", "annotations"]);
    let annotations = annotations.into_iter().flat_map(|map| map.entries());
    let annotation = |entry: EntryRef<'_>| {
        let key = entry.key.key_text()?;
        let value = entry.value.resolved().value_text()?;
        Some((key.to_owned(), value.to_owned()))
    };
    let annotations = annotations.filter_map(annotation);
    Ok(Set {
        annotations: annotations
            .filter(|(key, _)| key.starts_with(ANNOTATIONS))
            .collect(),
        name,
        namespace: metadata("namespace"),
        uid: metadata("uid"),
        typed,
    })
}

/// The types of objects that the sets read.
pub(super) fn types(sources: &[LocatedSet]) -> BTreeSet<TypeOf> {
    let known = [REPOSITORY, PACKAGE_REVISION];
    let mut types: BTreeSet<TypeOf> = known
        .into_iter()
        .map(|(v, k)| (v.to_owned(), k.to_owned()))
        .collect();
    let targets = sources
        .iter()
        .flat_map(|source| &source.set.typed.spec.targets);
    for selector in targets.filter_map(|target| target.object_selector.as_ref()) {
        types.extend(selector.api_version.clone().zip(selector.kind.clone()));
    }
    types
}

/// The namespaces of the sets, in which their targets select.
pub(super) fn namespaces(sources: &[LocatedSet]) -> BTreeSet<String> {
    let namespaces = sources.iter().map(|source| source.set.namespace.as_deref());
    namespaces
        .map(|namespace| namespace_of(namespace).to_owned())
        .collect()
}
