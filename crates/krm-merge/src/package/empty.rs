//! Refuses empty packages as original or upstream: a failed checkout must not delete the local package.
//!
//! Source: contract, merge-package, Nothing to merge with.

use super::Merge;
use krm_core::kptfile::root_kptfile;
use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results};

impl Merge<'_> {
    /// Reports an original or upstream that is empty, or that has no root Kptfile although local and the other have
    /// one, unless that is allowed. Returns whether there was such an error.
    pub(super) fn refuse_empty(&self, local: &ResourceList, results: &mut Results) -> bool {
        let Some(allow_by) = self.allow_empty_by.filter(|_| !self.options.allow_empty) else {
            return false;
        };
        let local_has = root_kptfile(local).is_some();
        let sources = [self.original, self.upstream];
        let have = sources.map(|list| root_kptfile(list).is_some());
        let mut found = false;
        for (at, (name, reason)) in NAMES.into_iter().enumerate() {
            let lacks = if is_empty(sources[at]) {
                IT_IS_EMPTY
            } else if local_has && !have[at] && have[1 - at] {
                "it has no Kptfile, and the others have one"
            } else {
                continue;
            };
            found = true;
            let mut result = nothing_there(name, reason, lacks);
            result.message += &format!("; if this is intentional, set {allow_by}");
            results.push(result);
        }
        found
    }
}

const IT_IS_EMPTY: &str = "it is empty";

fn nothing_there(name: &str, reason: Reason, lacks: &str) -> FunctionResult {
    let message = format!("expected the {name} package, found none: {lacks}");
    FunctionResult::error(reason, message)
}

/// The error for an upstream package without a file: there is nothing to clone.
pub fn refuse_empty_upstream(upstream: &ResourceList) -> Option<FunctionResult> {
    let [_, (name, reason)] = NAMES;
    is_empty(upstream).then(|| nothing_there(name, reason, IT_IS_EMPTY))
}

const NAMES: [(&str, Reason); 2] = [
    ("original", Reason::EmptyOriginal),
    ("upstream", Reason::EmptyUpstream),
];

fn is_empty(package: &ResourceList) -> bool {
    let has_files = package.files().is_some_and(|files| !files.is_empty());
    !has_files && package.items().next().is_none()
}
