//! Where the files of new PackageVariants go: `SET/NAME.yaml`.

use std::collections::HashSet;

use crate::package::check_package_path;
use crate::resource::Resource;
use crate::resource_list::ResourceList;
use crate::results::{FunctionResult, Reason};
use crate::variant::fan_out::Set;

/// Where new files go.
pub(super) struct NewFiles {
    directory: Option<String>,
    pub(super) package_path: Option<String>,
}

impl NewFiles {
    pub(super) fn of(list: &ResourceList, set: &Set, resource: &Resource) -> Self {
        let package_path = resource.origin.package_path.clone().or_else(|| {
            let origins = list.items().map(|(_, other)| &other.origin);
            let paths = origins.filter_map(|origin| origin.package_path.as_ref());
            paths.min_by_key(|path| path.len()).cloned()
        });
        let package_path = package_path.as_deref().map(str::to_owned);
        // Items of kustomize have no paths.
        let mut origins = list.items().map(|(_, other)| &other.origin.path);
        let is_empty = list.items().next().is_none();
        let has_paths = is_empty || list.is_package() || origins.any(Option::is_some);
        Self {
            directory: has_paths.then(|| set.name.clone()),
            package_path,
        }
    }

    pub(super) fn path(&self, name: &str) -> Option<String> {
        let directory = self.directory.as_ref()?;
        Some([directory, "/", name, ".yaml"].concat())
    }

    /// The error for a path that is not free; otherwise reserves it.
    pub(super) fn refuse(&self, name: &str, taken: &mut HashSet<String>) -> Option<FunctionResult> {
        let path = self.path(name)?;
        if let Err(error) = check_package_path(&path) {
            return Some(FunctionResult::error(
                Reason::InvalidPath,
                error.to_string(),
            ));
        }
        let package = self.package_path.as_deref().unwrap_or_default();
        if taken.insert([package, "\0", &path].concat()) {
            return None;
        }
        let message = format!(
            "the file `{path}` is there, for another resource than the PackageVariant `{name}`"
        );
        Some(FunctionResult::error(Reason::PathTaken, message))
    }
}

/// Paths that exist, as [`NewFiles::refuse`] keeps them.
pub(super) fn paths_below(places: &[NewFiles], list: &ResourceList) -> HashSet<String> {
    let directories = places.iter().filter_map(|files| files.directory.as_deref());
    let directories: HashSet<&str> = directories.collect();
    let origins = list.items().map(|(_, resource)| &resource.origin);
    let below = origins.filter_map(|origin| {
        let path = origin.path.as_deref()?;
        let (directory, _) = path.rsplit_once('/')?;
        let package = origin.package_path.as_deref().unwrap_or_default();
        directories
            .contains(directory)
            .then(|| format!("{package}\0{path}"))
    });
    below.collect()
}
