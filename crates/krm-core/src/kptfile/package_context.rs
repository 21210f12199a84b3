//! The package context: the ConfigMap `kptfile.kpt.dev` next to the root Kptfile.

use super::{depth, root_kptfile, same_directory};
use crate::resource::{LOCAL_CONFIG_ANNOTATION, Origin, Resource};
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Reason};
use krm_yaml::Value;

/// Name of the ConfigMap that holds the package context.
pub const PACKAGE_CONTEXT_NAME: &str = "kptfile.kpt.dev";
/// The file in which kpt stores the package context.
pub const PACKAGE_CONTEXT_FILE: &str = "package-context.yaml";

pub fn is_package_context(resource: &Resource) -> bool {
    resource.api_version.as_ref() == "v1"
        && resource.kind.as_ref() == "ConfigMap"
        && resource.name.as_deref() == Some(PACKAGE_CONTEXT_NAME)
}

/// The package context of the root package; an error if several resources could be it.
pub fn find_package_context(list: &ResourceList) -> Result<Option<ItemId>, Vec<ItemId>> {
    let all = || {
        list.items()
            .filter(|(_, resource)| is_package_context(resource))
    };
    let found: Vec<ItemId> = match root_kptfile(list).map(|root| &list.resource(root).origin) {
        Some(root) => all()
            .filter(|(_, resource)| same_directory(&resource.origin, root))
            .map(|(id, _)| id)
            .collect(),
        // Without a Kptfile: the package context nearest to the root that is in no sub-package.
        None => {
            let kptfiles = list.items().filter(|(_, resource)| resource.is_kptfile());
            let kptfiles: Vec<&Origin> = kptfiles.map(|(_, resource)| &resource.origin).collect();
            let is_free = |resource: &Resource| {
                let mut packages = kptfiles.iter();
                !packages.any(|kptfile| same_directory(&resource.origin, kptfile))
            };
            let all = || all().filter(|(_, resource)| is_free(resource));
            let highest = all().map(|(_, resource)| depth(&resource.origin)).min();
            all()
                .filter(|(_, resource)| Some(depth(&resource.origin)) == highest)
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

/// The ConfigMap that kpt creates for a package of this name.
pub fn new_package_context(name: &str) -> Value {
    let annotations = vec![Value::entry(LOCAL_CONFIG_ANNOTATION, "true")];
    let metadata = vec![
        Value::entry("name", PACKAGE_CONTEXT_NAME),
        Value::entry("annotations", Value::Mapping(annotations)),
    ];
    let data = vec![Value::entry("name", name)];
    Value::Mapping(vec![
        Value::entry("apiVersion", "v1"),
        Value::entry("kind", "ConfigMap"),
        Value::entry("metadata", Value::Mapping(metadata)),
        Value::entry("data", Value::Mapping(data)),
    ])
}

/// The path of the package context's file next to a Kptfile; `None` if the Kptfile has no path.
pub fn package_context_path(kptfile: &Origin) -> Option<String> {
    kptfile.directory().map(|directory| match directory {
        "" => PACKAGE_CONTEXT_FILE.to_owned(),
        directory => format!("{directory}/{PACKAGE_CONTEXT_FILE}"),
    })
}

/// The error for a new package context whose file exists already.
pub fn package_context_path_taken(path: &str) -> FunctionResult {
    let message = format!("the file exists, but has no ConfigMap `{PACKAGE_CONTEXT_NAME}`");
    FunctionResult::error(Reason::PathTaken, message).in_file(path)
}
