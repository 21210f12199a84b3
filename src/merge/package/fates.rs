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
        report: &mut Report,
    ) -> Fate {
        let (base, local, upstream) = (&self.base, &self.local, &self.upstream);
        match (track.base, track.local, track.upstream) {
            (_, Some(_), Some(_)) => Fate::Merge,
            (None, None, Some(u)) => {
                if !sub_packages.is_deleted_locally(upstream.all.path(Some(u))) {
                    return Fate::Added;
                }
                let message =
                    "local deleted the sub-package, and upstream added the resource to it";
                let values = [None, None, upstream.own_value(Some(u))];
                report.resource(message, upstream.resource(u), Side::Local, values);
                Fate::Stays
            }
            // The root Kptfile is the package's own.
            (Some(_), Some(_), None) if self.is_root(track) => Fate::Stays,
            (Some(_), Some(l), None) => {
                if !self.is_changed_locally(track) {
                    return match sub_packages.is_kept(local.all.path(Some(l))) {
                        true => Fate::Stays,
                        false => Fate::Removed,
                    };
                }
                let message = "upstream deleted the resource, and local changed it";
                let values = [base.own_value(track.base), local.own_value(Some(l)), None];
                report.resource(message, local.resource(l), Side::Local, values);
                Fate::Stays
            }
            (Some(b), None, Some(_)) => {
                if !same_value((base, track.base), (upstream, track.upstream)) {
                    let message = "local deleted the resource, and upstream changed it";
                    let values = [
                        base.own_value(Some(b)),
                        None,
                        upstream.own_value(track.upstream),
                    ];
                    report.resource(message, base.resource(b), Side::Local, values);
                }
                Fate::Stays
            }
            _ => Fate::Stays,
        }
    }
}
