//! Decides what the merge does with each resource.

use super::members::same_value;
use super::packages::Packages;
use super::report::Report;
use super::subpackages::SubPackages;
use crate::resources::ResourceMatch;
use crate::{Side, Versions};
use krm_yaml::Value;

/// What the merge does with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResourceAction {
    /// Nothing happens.
    Keep,
    /// Local's resource is merged with upstream's.
    Merge,
    /// Local's resource is removed.
    Remove,
    /// Upstream's resource is added.
    Add,
}

impl Packages<'_, '_> {
    /// Decides what happens to one resource, and reports conflicts about it.
    pub(super) fn action(
        &self,
        matched: &ResourceMatch,
        sub_packages: &SubPackages,
        report: &mut Report<'_>,
    ) -> ResourceAction {
        let paths = self.paths(matched);
        if sub_packages.is_clashing(paths.local) || sub_packages.is_clashing(paths.upstream) {
            return ResourceAction::Keep;
        }
        match (matched.base, matched.local, matched.upstream) {
            (_, Some(_), Some(_)) => ResourceAction::Merge,
            (None, None, Some(u)) if sub_packages.is_deleted_locally(paths.upstream) => {
                let message =
                    "local deleted the sub-package, and upstream added the resource to it";
                let resource = self.upstream.resource(u);
                match report.deleted_resource(message, resource, || self.own_values(matched)) {
                    Side::Local => ResourceAction::Keep,
                    Side::Upstream => ResourceAction::Add,
                }
            }
            (None, None, Some(_)) => ResourceAction::Add,
            (Some(_), Some(_), None) if self.is_own(matched) => ResourceAction::Keep,
            (Some(_), Some(_), None) if !self.is_changed_locally(matched) => {
                if sub_packages.is_kept(paths.local) {
                    ResourceAction::Keep
                } else {
                    ResourceAction::Remove
                }
            }
            (Some(_), Some(l), None) => {
                let candidates = self.candidates(matched.base, Side::Upstream);
                let message = if candidates.is_empty() {
                    "upstream deleted the resource, and local changed it".to_owned()
                } else {
                    format!(
                        "upstream deleted or renamed the resource, which may be {candidates} now, and local changed it"
                    )
                };
                let resource = self.local.resource(l);
                match report.resource(&message, resource, self.own_values(matched)) {
                    Side::Local => ResourceAction::Keep,
                    Side::Upstream => ResourceAction::Remove,
                }
            }
            (Some(_), None, Some(_)) if !self.is_changed_upstream(matched) => ResourceAction::Keep,
            (Some(b), None, Some(_)) => {
                let resource = self.base.resource(b);
                let candidates = self.candidates(Some(b), Side::Local);
                let values = || self.own_values(matched);
                let winner = if candidates.is_empty() {
                    let message = "local deleted the resource, and upstream changed it";
                    report.deleted_resource(message, resource, values)
                } else {
                    let message = format!(
                        "local deleted or renamed the resource, which may be {candidates} now, and upstream changed it"
                    );
                    report.resource(&message, resource, values())
                };
                match winner {
                    Side::Local => ResourceAction::Keep,
                    Side::Upstream => ResourceAction::Add,
                }
            }
            (_, None, None) | (None, Some(_), None) => ResourceAction::Keep,
        }
    }

    fn is_changed_upstream(&self, matched: &ResourceMatch) -> bool {
        !same_value(
            (&self.base, matched.base),
            (&self.upstream, matched.upstream),
        )
    }

    fn own_values(&self, matched: &ResourceMatch) -> Versions<Option<Value>> {
        Versions {
            base: self.base.own_value(matched.base),
            local: self.local.own_value(matched.local),
            upstream: self.upstream.own_value(matched.upstream),
        }
    }
}
