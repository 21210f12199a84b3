//! Lists whose file goes over to documents: the resources in them merge as what they are.
//!
//! ```yaml
//! # original, local        # upstream
//! kind: List               kind: ConfigMap
//! items:                   metadata: {name: a}
//! - kind: ConfigMap
//!   metadata: {name: a}
//! ```
//!
//! If both sides changed files in which a resource is part of a List in one version and a document in another, each List in
//! these files becomes documents. Where only one side changed them, its files are taken as they are.
//!
//! Source: contract, Who a resource is.

use std::collections::{BTreeMap, BTreeSet};

use krm_core::resource::Resource;
use krm_core::resource_key::{GivenName, ResourceKey};
use krm_core::resource_list::{InputError, ItemId, NewText, ResourceList};
use krm_core::source_text::is_krm;
use krm_yaml::{NodeRef, OwnedDocument, node_text, with_comments_above};

/// The files of one version that hold a resource.
#[derive(Default)]
struct Places<'a> {
    in_lists: BTreeSet<&'a str>,
    as_documents: BTreeSet<&'a str>,
}

/// The files whose Lists become documents.
pub(super) fn files_to_unfold(all: [&ResourceList; 3]) -> BTreeSet<String> {
    let has_lists = |package: &ResourceList| package.items().any(|(_, found)| found.is_list());
    if !all.iter().any(|package| has_lists(package)) || !all.iter().all(|of| of.is_package()) {
        return BTreeSet::new();
    }
    let [original, local, upstream] = all;
    let differ = |paths: &BTreeSet<&str>, other: &ResourceList| {
        let mut paths = paths.iter();
        paths.any(|path| original.read_file(path).ok() != other.read_file(path).ok())
    };
    let mut files = BTreeSet::new();
    for versions in places(all).values() {
        let is_list = |of: &Places<'_>| !of.in_lists.is_empty() && of.as_documents.is_empty();
        let is_document = |of: &Places<'_>| of.in_lists.is_empty() && !of.as_documents.is_empty();
        if !versions.iter().any(is_list) || !versions.iter().any(is_document) {
            continue;
        }
        let lists = versions.iter().flat_map(|of| &of.in_lists);
        let documents = versions.iter().flat_map(|of| &of.as_documents);
        let paths = lists.clone().chain(documents).copied().collect();
        if differ(&paths, local) && differ(&paths, upstream) {
            let lists = lists.filter(|path| !path.ends_with(".json"));
            files.extend(lists.map(|path| (*path).to_owned()));
        }
    }
    files
}

/// The files of each resource that has a name, in each version.
fn places(all: [&ResourceList; 3]) -> BTreeMap<ResourceKey, [Places<'_>; 3]> {
    let mut places: BTreeMap<ResourceKey, [Places<'_>; 3]> = BTreeMap::new();
    for (version, package) in all.into_iter().enumerate() {
        for (id, resource) in package.items() {
            let Some(path) = resource.origin.path.as_deref() else {
                continue;
            };
            // Only a List is parsed.
            let list = Some(id).filter(|_| resource.is_list());
            let elements = list.and_then(|id| resource.elements(package.node(id)));
            let is_list = elements.is_some();
            let elements = elements.into_iter().flatten();
            let found = elements.map(|(_, element)| ResourceKey::of(&element));
            let own = (!is_list).then(|| ResourceKey::of(resource));
            for key in found.chain(own).filter(|key| key.name != GivenName::None) {
                let of = &mut places.entry(key).or_default()[version];
                let paths = if is_list {
                    &mut of.in_lists
                } else {
                    &mut of.as_documents
                };
                paths.insert(path);
            }
        }
    }
    places
}

/// Writes documents in place of the Lists in these files.
pub(super) fn unfold(
    package: &mut ResourceList,
    paths: &BTreeSet<String>,
) -> Result<(), InputError> {
    let is_here = |resource: &Resource| {
        let path = resource.origin.path.as_deref();
        resource.is_list() && path.is_some_and(|path| paths.contains(path))
    };
    let lists = package.items().filter(|(_, resource)| is_here(resource));
    let ids: Vec<ItemId> = lists.map(|(id, _)| id).collect();
    for id in &ids {
        let mut texts = Vec::new();
        if !add_elements(package.node(*id), &mut texts) {
            continue;
        }
        let path = package
            .resource(*id)
            .origin
            .path
            .as_deref()
            .map(str::to_owned);
        package.remove(*id);
        for text in texts {
            package.add_text(NewText {
                path: path.clone(),
                text,
                before: Some(*id),
            });
        }
    }
    if ids.is_empty() {
        return Ok(());
    }
    package.apply_insertions()
}

/// Adds the texts of the resources in a List and in the Lists within it. Returns whether all elements are resources of
/// their own.
fn add_elements(list: NodeRef<'_>, texts: &mut Vec<String>) -> bool {
    let elements = Resource::read(list).elements(list).unwrap_or_default();
    !elements.is_empty()
        && elements.into_iter().all(|(element, _)| {
            let text = with_comments_above(element, &node_text(element));
            // An alias of another element is not valid here.
            let is_whole = OwnedDocument::parse_resource(text.clone()).is_ok();
            texts.push(text);
            is_whole && is_krm(element)
        })
}
