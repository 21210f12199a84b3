//! The packages that are merged, side by side.

use std::collections::BTreeSet;

use super::members::{Package, same_text, same_value};
use crate::kptfile::PACKAGE_CONTEXT_NAME;
use crate::merge::resources::Track;
use crate::resource_list::ItemId;

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

    /// Whether a resource is local's own, whatever upstream has: the root Kptfile, and beside it the
    /// package context, which kpt makes.
    pub(super) fn is_own(&self, track: &Track) -> bool {
        let is_context = |at: usize| {
            let member = &self.local.all.members[at];
            let is_in_root = member.package.is_empty()
                && member
                    .path
                    .as_deref()
                    .is_none_or(|path| !path.contains('/'));
            let named = member.name.as_deref() == Some(PACKAGE_CONTEXT_NAME);
            is_in_root && named && member.kind == "ConfigMap" && member.group.is_empty()
        };
        self.is_root(track) || self.root.is_some() && track.local.is_some_and(is_context)
    }

    /// The paths of a resource's file in all three.
    pub(super) fn paths(&self, track: &Track) -> [Option<&str>; 3] {
        [
            self.base.all.path(track.base),
            self.local.all.path(track.local),
            self.upstream.all.path(track.upstream),
        ]
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

    /// Whether local has it otherwise than base, or has it not.
    pub(super) fn is_changed_locally(&self, track: &Track) -> bool {
        !same_value((&self.base, track.base), (&self.local, track.local))
    }
}
