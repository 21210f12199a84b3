//! The Kptfile: which one belongs to the root package; its pipeline, conditions and upstream; the package context next
//! to it.
//!
//! Source: contract, set-package-context (the root Kptfile), prepend-pipeline and Bytes.

mod bookkeeping;
mod conditions;
mod ownership;
mod package_context;
mod pipeline;
mod upstream;

pub use bookkeeping::RENDER_STATUS;
pub use bookkeeping::has_bookkeeping;
pub use bookkeeping::is_in_status;
pub use bookkeeping::is_rendered;
pub use bookkeeping::remove_bookkeeping;
pub use bookkeeping::without_bookkeeping;
pub use conditions::ConditionRecord;
pub use conditions::record_conditions;
pub use ownership::ANNOTATIONS;
pub use ownership::DELETION_POLICY_ANNOTATION;
pub use ownership::DOWNSTREAM_ANNOTATION;
pub use ownership::OWNER_ANNOTATION;
pub use ownership::Ownership;
pub use ownership::is_ownership_annotation;
pub use ownership::remove_owner;
pub use ownership::remove_ownership;
pub use ownership::{UPSTREAM_DIGEST_ANNOTATION, UPSTREAM_SOURCE_ANNOTATION, remove_annotations};
pub use package_context::PACKAGE_CONTEXT_FILE;
pub use package_context::PACKAGE_CONTEXT_NAME;
pub use package_context::find_package_context;
pub use package_context::is_package_context;
pub use package_context::new_package_context;
pub use package_context::package_context_path;
pub use package_context::package_context_path_taken;
pub use pipeline::PIPELINE_LISTS;
pub use pipeline::function_name;
pub use pipeline::is_of_package_variant;
pub use pipeline::owns;
pub use upstream::Lock;
pub use upstream::update_strategy;
pub use upstream::upstream_file;
pub use upstream::{
    NewLock, OPEN_UPGRADE_ANNOTATION, UnusableLock, UpstreamLock, has_open_upgrade,
};

use crate::resource::{ID_ANNOTATIONS, Origin, Resource};
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason};
use krm_package::{folders_above, normalize_package_path};
use krm_yaml::{Editor, NodeRef};

/// Depth in a package tree: of the package, then of the file.
pub(crate) fn depth(origin: &Origin) -> (usize, usize) {
    let count = |path: Option<&str>| {
        let part = |part: &&str| !part.is_empty() && *part != ".";
        path.map_or(0, |path| path.split('/').filter(part).count())
    };
    (
        count(origin.package_path.as_deref()),
        count(origin.path.as_deref()),
    )
}

/// The package's own Kptfile: the one with the shortest package path and path, if it is at the top of the package. In the
/// files of a package, the top is the directory of the package. Items of a ResourceList may have paths from a directory
/// above it; the top is then the directory that holds all of them.
pub fn root_kptfile(list: &ResourceList) -> Option<ItemId> {
    let kptfiles = list.items().filter(|(_, resource)| resource.is_kptfile());
    let (id, _) = kptfiles.min_by_key(|(_, resource)| depth(&resource.origin))?;
    let path_of = |id: ItemId| list.paths_from_root(&[id]).pop().flatten();
    let path = path_of(id).map(|path| normalize_package_path(&path));
    let path = path.unwrap_or_default();
    let Some((directory, _)) = path.rsplit_once('/') else {
        return Some(id);
    };
    if list.files().is_some() {
        return None;
    }
    let ids: Vec<ItemId> = list.items().map(|(id, _)| id).collect();
    let paths = list.paths_from_root(&ids).into_iter().flatten();
    let mut paths = paths.map(|path| normalize_package_path(&path));
    let is_within = |path: String| folders_above(&path).any(|folder| folder == directory);
    paths.all(is_within).then_some(id)
}

/// If several Kptfiles in sibling directories could belong to the root package, an error for each of them. Items
/// without paths are one package.
pub fn ambiguous_roots(list: &ResourceList) -> Vec<FunctionResult> {
    let kptfiles = list.items().filter(|(_, resource)| resource.is_kptfile());
    let placed: Vec<_> = kptfiles
        .map(|(_, resource)| resource)
        .filter(|resource| resource.origin.path.is_some())
        .collect();
    let highest = placed.iter().map(|resource| depth(&resource.origin)).min();
    let is_root = |resource: &&Resource| Some(depth(&resource.origin)) == highest;
    let roots: Vec<_> = placed.into_iter().filter(is_root).collect();
    if roots.len() < 2 {
        return Vec::new();
    }
    let found = roots.len();
    let message =
        format!("expected one Kptfile above all others (the root package's), found {found}");
    let error = |resource| {
        FunctionResult::error(Reason::Ambiguous, message.clone()).with_resource(resource)
    };
    roots.into_iter().map(error).collect()
}

/// Whether two files are in the same directory of the same package.
pub(crate) fn same_directory(one: &Origin, other: &Origin) -> bool {
    let directory = |origin: &Origin| origin.directory().map(normalize_package_path);
    one.package_path == other.package_path && directory(one) == directory(other)
}

/// Removes kpt's two id annotations from an item whose list elements with comments are moved, inserted
/// or removed: kpt would restore those comments by their old positions.
///
/// Only for items of a ResourceList; in a package's files the annotations belong to the user.
pub fn remove_ids<'d>(resource: NodeRef<'d>, editor: &mut Editor<'d, '_>) {
    let metadata = resource.entry("metadata").map(|entry| entry.value);
    let annotations = metadata
        .and_then(|metadata| metadata.entry("annotations"))
        .map(|entry| entry.value);
    if let Some(annotations) = annotations.filter(|node| node.kind().is_mapping()) {
        for name in ID_ANNOTATIONS {
            editor.remove_entry(annotations, name);
        }
    }
}
