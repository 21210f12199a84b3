//! Local changes that a strategy other than the three-way merge would overwrite: a fast-forward refuses,
//! the others warn.

use std::collections::HashMap;

use super::Strategy;
use super::members::{is_made_by_get, same_value, without_own_fields};
use super::others::Others;
use super::packages::Packages;
use super::report::Report;
use crate::resources::{ResourceMatch, pair};
use krm_core::results::{FunctionResult, Reason, Results};

impl Packages<'_, '_> {
    /// An error for each local change that a fast-forward would overwrite.
    pub(super) fn refuse_local_changes(&self, matches: &[ResourceMatch], results: &mut Results) {
        for matched in matches {
            let is_own = |values: [Option<_>; 2]| {
                let [base, local] = values.map(|value| {
                    value.map(|mut value| {
                        without_own_fields(&mut value);
                        value
                    })
                });
                base == local
            };
            let resource = match (matched.local, matched.base) {
                _ if !self.is_changed_locally(matched) => continue,
                (Some(_), Some(_))
                    if self.is_root(matched)
                        && is_own([
                            self.base.own_value(matched.base),
                            self.local.own_value(matched.local),
                        ]) =>
                {
                    continue;
                }
                // `kpt pkg get` created this Kptfile, because upstream has none.
                (Some(at), None)
                    if self.is_root(matched)
                        && matched.upstream.is_none()
                        && self.local.own_value(Some(at)).is_some_and(is_made_by_get) =>
                {
                    continue;
                }
                (Some(at), _) => self.local.resource(at),
                (None, Some(at)) => self.base.resource(at),
                (None, None) => continue,
            };
            let message = "expected no local changes for a fast-forward, found one";
            results
                .push(FunctionResult::error(Reason::LocalChanges, message).with_resource(resource));
        }
    }

    /// A warning for each resource whose local changes the strategy overwrites.
    pub(super) fn warn_of_overwritten(
        &self,
        matches: &[ResourceMatch],
        strategy: Strategy,
        report: &mut Report<'_>,
    ) {
        let original = &self.original_members();
        let old: HashMap<usize, usize> = pair(&self.local.source(), &original.source())
            .into_iter()
            .collect();
        for matched in matches {
            let Some(l) = matched.local.filter(|_| !self.is_own(matched)) else {
                continue;
            };
            if matched.upstream.is_none() && strategy.deletes_nothing() {
                continue;
            }
            let local = (&self.local, Some(l));
            let is_changed = !same_value((original, old.get(&l).copied()), local);
            if is_changed && !same_value(local, (&self.upstream, matched.upstream)) {
                let result = report.overwritten();
                report.push(result.with_resource(self.local.resource(l)));
            }
        }
    }
}

impl Others<'_> {
    /// An error for each local change that a fast-forward would overwrite.
    pub(super) fn refuse_local_changes(&self, results: &mut Results) {
        for path in self.changed_locally() {
            let message = "expected no local changes for a fast-forward, found one";
            results.push(FunctionResult::error(Reason::LocalChanges, message).in_file(path));
        }
    }
}
