//! Files that are named like KRM and are not KRM in one of the versions: those that are not YAML are text in all three,
//! and a kustomization without apiVersion and kind is a document in all three.
//!
//! Source: contract, merge-package, Files that are not KRM; Kustomization files.

use std::collections::{BTreeMap, BTreeSet};

use super::Merge;
use krm_core::config::UsageError;
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results};
use krm_package::is_kustomization;
use krm_yaml::ParseError;

impl Merge<'_> {
    /// The paths of such files. A file that is not YAML and has to be merged is reported with a warning.
    ///
    /// # Errors
    /// [`UsageError`]: there is such a file, but local must not contain any.
    pub(super) fn text_files(
        &self,
        local: &mut ResourceList,
        results: &mut Results,
    ) -> Result<BTreeSet<String>, UsageError> {
        let supplied = [("upstream", self.upstream), ("original", self.original)];
        let not_yaml = supplied.into_iter().flat_map(|(side, package)| {
            let files = package.not_yaml().into_iter().flatten();
            files.map(move |(path, error)| (path, (side, error)))
        });
        let Some(own) = local.not_yaml() else {
            return match not_yaml.min_by_key(|(path, _)| *path) {
                None => Ok(BTreeSet::new()),
                Some((path, (side, error))) => Err(UsageError::at(
                    format_args!("the {side} package, {path}"),
                    error.clone(),
                )),
            };
        };
        let own = own.iter().map(|(path, error)| (path, ("local", error)));
        let mut texts: BTreeMap<String, (&str, ParseError)> = BTreeMap::new();
        for (path, (side, error)) in own.chain(not_yaml) {
            let found = || (side, error.clone());
            texts.entry(path.clone()).or_insert_with(found);
        }
        let resources =
            [self.original, &*local, self.upstream].map(ResourceList::paths_of_resources);
        let is_resource = |path: &str| resources.iter().any(|paths| paths.contains(path));
        for (path, (side, error)) in &texts {
            // No merge by lines may give a resource a key twice.
            if error.is_duplicate_key && is_resource(path) {
                let place = format_args!("the {side} package, {path}");
                return Err(UsageError::at(place, error.clone()));
            }
        }
        drop(resources);
        for (path, (side, error)) in &texts {
            let old = self.original.read_file(path).ok();
            let new = self.upstream.read_file(path).ok();
            if new != old && new != local.read_file(path).ok() {
                let message = format!("merged as text, since the {side} file is not YAML: {error}");
                let result = FunctionResult::warning(Reason::NotYaml, message);
                results.push(result.in_file(path.as_str()).tag("side", *side));
            }
            local.make_text(path, error);
        }
        let mut paths = kustomizations_in_two_forms([self.original, local, self.upstream]);
        paths.extend(texts.into_keys());
        Ok(paths)
    }
}

/// The kustomizations that are KRM in some packages and not in others, because only some have apiVersion and kind.
fn kustomizations_in_two_forms(packages: [&ResourceList; 3]) -> BTreeSet<String> {
    let mut others = packages.map(ResourceList::paths_of_others);
    for paths in &mut others {
        paths.retain(|path| is_kustomization(path));
    }
    if others.iter().all(Vec::is_empty) {
        return BTreeSet::new();
    }
    let resources = packages.map(ResourceList::paths_of_resources);
    let others = others.into_iter().flatten();
    let found = others.filter(|path| resources.iter().any(|paths| paths.contains(path.as_str())));
    found.collect()
}
