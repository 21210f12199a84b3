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
//! If upstream changed a file, and the three versions do not all write its resources in a List, each List in it becomes
//! documents. A file that local did not change is left as it is, because upstream's whole file is taken.
//!
//! Source: contract, Who a resource is.

use std::collections::BTreeSet;

use krm_core::resource::Resource;
use krm_core::resource_list::{InputError, ItemId, NewText, ResourceList};
use krm_core::source_text::is_krm;
use krm_yaml::{NodeRef, OwnedDocument, node_text, with_comments_above};

/// The files whose Lists become documents.
pub(super) fn files_to_unfold(all: [&ResourceList; 3]) -> BTreeSet<String> {
    let lists = all.map(|package| {
        let items = package.items().filter(|(_, resource)| resource.is_list());
        let paths = items.filter_map(|(_, resource)| resource.origin.path.as_deref());
        paths.collect::<BTreeSet<&str>>()
    });
    let [in_original, in_local, _] = &lists;
    if in_original.is_empty() && in_local.is_empty() || !all.iter().all(|of| of.is_package()) {
        return BTreeSet::new();
    }
    let is_unfolded = |path: &&&str| {
        let is_list_in_all = lists.iter().all(|lists| lists.contains(**path));
        let [original, local, upstream] = all.map(|package| package.read_file(path).ok());
        let is_json = path.ends_with(".json");
        !is_list_in_all && !is_json && original != upstream && original != local
    };
    let paths = in_original.union(in_local).filter(is_unfolded);
    paths.map(|path| (*path).to_owned()).collect()
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
