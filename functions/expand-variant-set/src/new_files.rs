//! Determines the files of new PackageVariants: `SET/NAME.yaml`, or `NAMESPACE/SET/NAME.yaml` if several namespaces
//! have a set of that name or PackageVariants in its folder.

use std::collections::{BTreeSet, HashMap, HashSet};

use krm_core::config::PACKAGE_VARIANT;
use krm_core::resource::{Resource, namespace_of};
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason};
use krm_package::check_package_path;
use krm_variant::fan_out::Set;

/// By name of a set: the namespaces of the sets with this name, and of the PackageVariants in the folder of this
/// name.
pub(super) type Namespaces = HashMap<String, BTreeSet<String>>;

/// Finds the [`Namespaces`] of a run.
pub(super) fn namespaces_of<'s>(
    sets: impl Iterator<Item = &'s Set>,
    list: &'s ResourceList,
) -> Namespaces {
    let sets = sets.map(|set| (set.name.as_str(), set.namespace.as_deref()));
    let variants = list.items().filter_map(|(_, resource)| {
        let path = resource.origin.path.as_deref()?;
        let (folder, _) = path
            .rsplit_once('/')
            .filter(|_| resource.kind.as_ref() == PACKAGE_VARIANT.1)?;
        Some((folder, resource.namespace.as_deref()))
    });
    let mut found = Namespaces::new();
    for (name, namespace) in sets.chain(variants) {
        let namespaces = found.entry(name.to_owned()).or_default();
        namespaces.insert(namespace_of(namespace).to_owned());
    }
    found
}

/// The place for new files.
#[derive(Default)]
pub(super) struct VariantFiles {
    directory: Option<String>,
    pub(super) package_path: Option<String>,
}

impl VariantFiles {
    pub(super) fn of(
        list: &ResourceList,
        set: &Set,
        resource: &Resource,
        namespaces: &Namespaces,
    ) -> Self {
        let package_path = resource.origin.package_path.clone().or_else(|| {
            let origins = list.items().map(|(_, other)| &other.origin);
            let paths = origins.filter_map(|origin| origin.package_path.as_ref());
            paths.min_by_key(|path| path.len()).cloned()
        });
        let package_path = package_path.as_deref().map(str::to_owned);
        // Items from kustomize have no paths.
        let mut origins = list.items().map(|(_, other)| &other.origin.path);
        let is_empty = list.items().next().is_none();
        let has_paths = is_empty || list.is_package() || origins.any(Option::is_some);
        Self {
            directory: has_paths.then(|| match namespaces.get(&set.name) {
                Some(several) if several.len() > 1 => {
                    let namespace = namespace_of(set.namespace.as_deref());
                    format!("{namespace}/{}", set.name)
                }
                _ => set.name.clone(),
            }),
            package_path,
        }
    }

    pub(super) fn path(&self, name: &str) -> Option<String> {
        let directory = self.directory.as_ref()?;
        Some([directory, "/", name, ".yaml"].concat())
    }

    /// Reserves the path of a new file; returns an error if the path is invalid or taken.
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
            "the file `{path}` already holds a resource other than the PackageVariant `{name}`"
        );
        Some(FunctionResult::error(Reason::PathTaken, message))
    }
}

/// The existing paths, in the form in which [`VariantFiles::refuse`] reserves them.
pub(super) fn paths_below<'f>(
    places: impl Iterator<Item = &'f VariantFiles>,
    list: &ResourceList,
) -> HashSet<String> {
    let directories = places.filter_map(|files| files.directory.as_deref());
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
