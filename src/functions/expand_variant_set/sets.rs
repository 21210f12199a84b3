//! The PackageVariantSets of a run: that of the functionConfig, else those among the items.

use std::collections::{BTreeSet, HashSet};

use super::GROUP;
use crate::config::{UsageError, kind_of, unexpected};
use crate::resource::Resource;
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason, Results};
use crate::variant::cluster::{PACKAGE_REVISION, REPOSITORY, TypeOf, namespace_of};
use crate::variant::fan_out::Set;
use crate::variant::package_variant_set::{API_VERSION, KIND, PackageVariantSet};
use crate::yaml::NodeRef;

/// A set, and where it is.
pub(super) struct Source {
    pub(super) set: Set,
    /// Identity and file, for results.
    pub(super) resource: Resource,
    /// The item that gets the status.
    pub(super) item: Option<ItemId>,
}

/// Reads them; errors about one that cannot be expanded leave none.
pub(super) fn read_sets(
    config: Option<NodeRef<'_>>,
    list: &ResourceList,
    results: &mut Results,
) -> Result<Vec<Source>, UsageError> {
    const EXPECTED: &str =
        "a PackageVariantSet (config.porch.kpt.dev/v1alpha2), or none where the items hold some";
    let items = || {
        list.items()
            .filter(|(_, resource)| resource.kind == KIND && resource.group() == GROUP)
    };
    let is_empty = |config: &NodeRef<'_>| config.is_null() || config.source().trim() == "{}";
    if let Some(config) = config.filter(|config| !is_empty(config)) {
        match kind_of(config) {
            (API_VERSION, KIND) => {
                let mut resource = Resource::read(config);
                resource.origin = crate::resource::Origin::default();
                let is_copy = |other: &Resource| {
                    other.api_version == API_VERSION
                        && other.name == resource.name
                        && namespace_of(other.namespace.as_deref())
                            == namespace_of(resource.namespace.as_deref())
                };
                let copy = items().find(|(_, other)| is_copy(other));
                let item = copy.map(|(id, _)| id);
                if let Some((_, copy)) = copy {
                    resource = copy.clone();
                }
                let set = read_set(config, "functionConfig")?;
                return Ok(vec![Source {
                    set,
                    resource,
                    item,
                }]);
            }
            ("v1", "ConfigMap") => {
                let data = config.get("data");
                let key = data.and_then(|data| data.entries().next());
                if let Some(key) = key.and_then(|entry| entry.key.scalar_text()) {
                    let message = format!(
                        "functionConfig (ConfigMap): data.{key}: unknown field, expected none"
                    );
                    return Err(UsageError(message));
                }
            }
            _ => return Err(unexpected(config, EXPECTED)),
        }
    }
    let mut sources: Vec<Source> = Vec::new();
    let mut known = HashSet::new();
    for (id, resource) in items() {
        if resource.api_version != API_VERSION {
            let message = format!(
                "not expanded: expected {API_VERSION}, found {}",
                resource.api_version
            );
            let result = FunctionResult::warning(Reason::UnsupportedVersion, message);
            results.push(result.about(resource));
            continue;
        }
        let place = resource
            .origin
            .path
            .clone()
            .unwrap_or_else(|| "items".to_owned());
        let set = read_set(list.node(id), &place)?;
        let namespace = namespace_of(set.namespace.as_deref()).to_owned();
        if !known.insert((namespace, set.name.clone())) {
            let message = format!("the PackageVariantSet `{}` is there twice", set.name);
            results.push(FunctionResult::error(Reason::Ambiguous, message).about(resource));
            continue;
        }
        sources.push(Source {
            set,
            resource: resource.clone(),
            item: Some(id),
        });
    }
    if results.has_errors() {
        sources.clear();
    }
    Ok(sources)
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
        UsageError(format!(
            "{place}: its aliases stand for more than 10 million nodes"
        ))
    };
    let value = node.value().ok_or_else(many)?;
    let typed = PackageVariantSet::read(value)
        .map_err(|error| UsageError(format!("{place} ({KIND}): {error}")))?;
    let name = metadata("name").ok_or_else(|| {
        UsageError(format!(
            "{place} ({KIND}): metadata.name: expected the name of the set, found none"
        ))
    })?;
    Ok(Set {
        name,
        namespace: metadata("namespace"),
        uid: metadata("uid"),
        typed,
    })
}

/// The types of objects that targets may be.
pub(super) fn types(sources: &[Source]) -> BTreeSet<TypeOf> {
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

/// Where the sets look for those.
pub(super) fn namespaces(sources: &[Source]) -> BTreeSet<String> {
    let namespaces = sources.iter().map(|source| source.set.namespace.as_deref());
    namespaces
        .map(|namespace| namespace_of(namespace).to_owned())
        .collect()
}
