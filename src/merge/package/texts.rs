//! Files that are named like KRM and are not YAML in one of the versions: they are text in all three.
//!
//! Source: contract, merge-package, Files that are not KRM.

use std::collections::{BTreeMap, BTreeSet};

use super::{Merge, MergeInput};
use crate::config::UsageError;
use crate::resource_list::ResourceList;
use crate::results::{FunctionResult, Reason, Results};
use crate::yaml::ParseError;

impl Merge<'_> {
    /// The paths of such files. One that local and upstream have to merge is a warning.
    ///
    /// # Errors
    /// [`UsageError`]: there is one, and local is a package that may hold none.
    pub(super) fn texts(
        &self,
        local: &mut ResourceList,
        results: &mut Results,
    ) -> Result<BTreeSet<String>, UsageError> {
        let [original, upstream] = [self.original, self.upstream].map(MergeInput::files);
        let mut supplied = vec![("upstream", upstream), ("original", original)];
        supplied
            .retain(|(_, package)| package.is_some_and(|package| !package.not_yaml().is_empty()));
        let supplied = supplied.into_iter();
        let supplied = supplied.filter_map(|(side, package)| Some((side, package?)));
        let Some(own) = local.not_yaml() else {
            for (_, package) in supplied {
                package.refuse_texts()?;
            }
            return Ok(BTreeSet::new());
        };
        let own = own
            .iter()
            .map(|(path, error)| (path.clone(), ("local", error.clone())));
        let mut texts: BTreeMap<String, (&str, ParseError)> = own.collect();
        for (side, package) in supplied {
            for (path, error) in package.not_yaml() {
                let found = || (side, error.clone());
                texts.entry(path.clone()).or_insert_with(found);
            }
        }
        for (path, (side, error)) in &texts {
            let old = original.and_then(|package| package.read_file(path).ok());
            let new = upstream.and_then(|package| package.read_file(path).ok());
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
