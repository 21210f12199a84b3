//! What becomes of each resource.

use std::collections::{BTreeSet, HashMap};

use super::members::{Package, same_text, same_value, without_own_fields};
use super::report::Report;
use super::subpackages::SubPackages;
use super::{MergeOptions, Strategy};
use crate::merge::Side;
use crate::merge::resources::{Track, pair};
use crate::resource_list::ItemId;
use crate::results::{FunctionResult, Reason, Results};

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

/// The three packages.
pub(super) struct Packages<'p, 'l> {
    pub(super) base: Package<'p>,
    pub(super) local: Package<'l>,
    pub(super) upstream: Package<'p>,
    /// The Kptfile of the local root package.
    pub(super) root: Option<ItemId>,
    /// Whether local's resources carry the annotation with their identity upstream.
    pub(super) identifies: bool,
    /// Files that upstream has as base has them.
    pub(super) unchanged: BTreeSet<&'p str>,
}

impl Packages<'_, '_> {
    pub(super) fn is_root(&self, track: &Track) -> bool {
        let id = track.local.map(|at| self.local.all.ids[at]);
        id.is_some() && id == self.root
    }

    /// Whether upstream has the very text that base has, so that there is nothing to merge.
    pub(super) fn is_untouched(&self, track: &Track) -> bool {
        let (base, upstream) = (&self.base, &self.upstream);
        let (Some(b), Some(u)) = (track.base, track.upstream) else {
            return false;
        };
        let path = base.all.path(Some(b));
        let is_same_file = path == upstream.all.path(Some(u))
            && path.is_some_and(|path| self.unchanged.contains(path))
            && base.resource(b).origin.index == upstream.resource(u).origin.index;
        is_same_file || same_text((base, b), (upstream, u))
    }

    fn is_changed_locally(&self, track: &Track) -> bool {
        !same_value((&self.base, track.base), (&self.local, track.local))
    }

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

    /// An error for each local change that a fast-forward would overwrite.
    pub(super) fn refuse_local_changes(&self, tracks: &[Track], results: &mut Results) {
        for track in tracks {
            let is_own = |values: [Option<_>; 2]| {
                let [base, local] = values.map(|value| {
                    value.map(|mut value| {
                        without_own_fields(&mut value);
                        value
                    })
                });
                base == local
            };
            let resource = match (track.local, track.base) {
                _ if !self.is_changed_locally(track) => continue,
                (Some(_), Some(_))
                    if self.is_root(track)
                        && is_own([
                            self.base.own_value(track.base),
                            self.local.own_value(track.local),
                        ]) =>
                {
                    continue;
                }
                (Some(at), _) => self.local.resource(at),
                (None, Some(at)) => self.base.resource(at),
                (None, None) => continue,
            };
            let message = "expected no local changes for a fast-forward, found one";
            results.push(FunctionResult::error(Reason::LocalChanges, message).about(resource));
        }
    }

    /// A warning for each resource whose local changes the strategy overwrites. `original` is what
    /// local is based on.
    pub(super) fn warn_of_overwritten(
        &self,
        original: &Package<'_>,
        tracks: &[Track],
        options: MergeOptions,
        report: &mut Report,
    ) {
        let old: HashMap<usize, usize> = pair(&self.local.all.members, &original.all.members)
            .into_iter()
            .collect();
        for track in tracks {
            let Some(l) = track.local.filter(|_| !self.is_root(track)) else {
                continue;
            };
            if track.upstream.is_none() && options.strategy == Strategy::CopyMerge {
                continue;
            }
            let local = (&self.local, Some(l));
            let is_changed = !same_value((original, old.get(&l).copied()), local);
            if is_changed && !same_value(local, (&self.upstream, track.upstream)) {
                let result = report.overwritten();
                report.say(result.about(self.local.resource(l)));
            }
        }
    }
}
