//! Files that are named like KRM and are not YAML in one of the versions: they are text in all three.
//!
//! Source: contract, merge-package, Files that are not KRM.

use std::collections::{BTreeMap, BTreeSet};

use super::Merge;
use krm_core::config::UsageError;
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results};
use krm_yaml::ParseError;

impl Merge<'_> {
    /// The paths of such files. A file that has to be merged is reported with a warning.
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
                    error,
                )),
            };
        };
        let own = own.iter().map(|(path, error)| (path, ("local", error)));
        let mut texts: BTreeMap<String, (&str, ParseError)> = BTreeMap::new();
        for (path, (side, error)) in own.chain(not_yaml) {
            let found = || (side, error.clone());
            texts.entry(path.clone()).or_insert_with(found);
        }
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
        Ok(texts.into_keys().collect())
    }
}
