//! What becomes of each resource.

use super::members::same_value;
use super::packages::Packages;
use super::report::Report;
use super::subpackages::SubPackages;
use crate::merge::Side;
use crate::merge::resources::Track;

/// What becomes of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Nothing happens.
    Stays,
    /// Local's is merged with upstream's.
    Merge,
    /// Local's is removed.
    Removed,
    /// Upstream's is added.
    Added,
}

impl Packages<'_, '_> {
    /// Decides over one resource.
    pub(super) fn fate(
        &self,
        track: &Track,
        sub_packages: &SubPackages,
        report: &mut Report<'_>,
    ) -> Fate {
        let (base, local, upstream) = (&self.base, &self.local, &self.upstream);
        let paths = [
            local.all.path(track.local),
            upstream.all.path(track.upstream),
        ];
        if paths.into_iter().any(|path| sub_packages.is_clashing(path)) {
            return Fate::Stays;
        }
        match (track.base, track.local, track.upstream) {
            (_, Some(_), Some(_)) => Fate::Merge,
            (None, None, Some(u)) => {
                if !sub_packages.is_deleted_locally(upstream.all.path(Some(u))) {
                    return Fate::Added;
                }
                let message =
                    "local deleted the sub-package, and upstream added the resource to it";
                let values = [None, None, upstream.own_value(Some(u))];
                match report.resource(message, upstream.resource(u), values) {
                    Side::Local => Fate::Stays,
                    Side::Upstream => Fate::Added,
                }
            }
            (Some(_), Some(_), None) if self.is_own(track) => Fate::Stays,
            (Some(_), Some(l), None) => {
                if !self.is_changed_locally(track) {
                    return match sub_packages.is_kept(local.all.path(Some(l))) {
                        true => Fate::Stays,
                        false => Fate::Removed,
                    };
                }
                let message = "upstream deleted the resource, and local changed it";
                let values = [base.own_value(track.base), local.own_value(Some(l)), None];
                match report.resource(message, local.resource(l), values) {
                    Side::Local => Fate::Stays,
                    Side::Upstream => Fate::Removed,
                }
            }
            (Some(b), None, Some(_)) => {
                if same_value((base, track.base), (upstream, track.upstream)) {
                    Fate::Stays
                } else {
                    let message = "local deleted the resource, and upstream changed it";
                    let values = [
                        base.own_value(Some(b)),
                        None,
                        upstream.own_value(track.upstream),
                    ];
                    match report.resource(message, base.resource(b), values) {
                        Side::Local => Fate::Stays,
                        Side::Upstream => Fate::Added,
                    }
                }
            }
            _ => Fate::Stays,
        }
    }
}
