//! Takes upstream's text byte for byte where local changed nothing, including comments that belong to no field, blank
//! lines and quotes.
//!
//! If local's file has the text of the original, or local has no such file, the whole file is taken, otherwise single
//! documents. Kptfiles have fields that local keeps, and identifiers on existing resources never change. Both are
//! merged field by field, like resources that local changed.

use std::collections::BTreeSet;

use super::actions::ResourceAction;
use super::packages::Packages;
use crate::resources::ResourceMatch;
use krm_core::kptfile::has_bookkeeping;
use krm_core::resource::Resource;

/// Files and resources for which upstream's text is taken.
#[derive(Debug, Default)]
pub(super) struct Untouched {
    /// Paths of whole files.
    pub(super) files: BTreeSet<String>,
    /// Paths of files that upstream deleted.
    pub(super) deleted: BTreeSet<String>,
    /// Numbers of matches, for single documents.
    pub(super) documents: BTreeSet<usize>,
}

impl Untouched {
    pub(super) fn find(
        packages: &Packages<'_, '_>,
        matches: &[ResourceMatch],
        actions: &[ResourceAction],
        overwrites: bool,
        is_guarded: &dyn Fn(&Resource) -> bool,
    ) -> Self {
        let mut untouched = Self::default();
        if !packages.local.list.is_package() {
            return untouched;
        }
        if packages.are_files() {
            untouched.add_new_files(packages);
            if !overwrites {
                untouched.find_files(packages);
            }
        }
        for (matched, action) in matches.iter().zip(actions) {
            if !is_upstreams(packages, matched, *action, is_guarded) {
                for path in packages.paths(matched).into_iter().flatten() {
                    untouched.files.remove(path);
                    untouched.deleted.remove(path);
                }
            }
        }
        if overwrites {
            return untouched;
        }
        for (number, (matched, action)) in matches.iter().zip(actions).enumerate() {
            let (Some(b), Some(l), Some(u)) = (matched.base, matched.local, matched.upstream)
            else {
                continue;
            };
            let is_whole = untouched.has_file(packages.local.all.path(Some(l)));
            if is_whole || *action != ResourceAction::Merge || packages.is_untouched(matched) {
                continue;
            }
            let local = packages.local.text(l);
            let is_same = local == packages.base.text(b) && local != packages.upstream.text(u);
            if is_same && is_upstreams(packages, matched, *action, is_guarded) {
                untouched.documents.insert(number);
            }
        }
        untouched
    }

    /// Adds the files with resources that only upstream has.
    fn add_new_files(&mut self, packages: &Packages<'_, '_>) {
        let known = packages.local.list.file_paths();
        let paths = packages.upstream.list.paths_of_resources().into_iter();
        let new = paths.filter(|path| !known.contains(*path) && !packages.texts.contains(*path));
        self.files.extend(new.map(str::to_owned));
    }

    /// Finds the files with resources that are the same in local and the original, and that upstream changed or
    /// deleted.
    fn find_files(&mut self, packages: &Packages<'_, '_>) {
        let (local, upstream) = (packages.local.list, packages.upstream.list);
        let paths = local.paths_of_resources().into_iter();
        for path in paths.filter(|path| !packages.texts.contains(*path)) {
            let (Ok(old), Ok(own)) = (packages.original.read_file(path), local.read_file(path))
            else {
                continue;
            };
            match upstream.read_file(path) {
                Ok(new) if old == own && new != old => self.files.insert(path.to_owned()),
                Err(_) if old == own => self.deleted.insert(path.to_owned()),
                _ => continue,
            };
        }
    }

    /// Whether upstream's whole file is taken.
    pub(super) fn has_file(&self, path: Option<&str>) -> bool {
        path.is_some_and(|path| self.files.contains(path))
    }

    /// Lets documents merge after all, by the numbers of their tracks.
    pub(super) fn merge_documents(&mut self, merges: impl Fn(usize) -> bool) {
        self.documents.retain(|number| !merges(*number));
    }
}

/// Whether the merged resource of an untouched file is exactly what upstream's file has.
fn is_upstreams(
    packages: &Packages<'_, '_>,
    matched: &ResourceMatch,
    action: ResourceAction,
    is_guarded: &dyn Fn(&Resource) -> bool,
) -> bool {
    match (action, matched.base, matched.local, matched.upstream) {
        (ResourceAction::Merge, Some(_), Some(l), Some(u)) => {
            let local = &packages.local.all.members[l];
            let upstream = &packages.upstream.all.members[u];
            let paths = packages.paths(matched);
            paths.base == paths.local
                && paths.local == paths.upstream
                && !local.is_kptfile()
                && !is_guarded(packages.local.resource(l))
                && local.declared == upstream.declared
                && local.is_identified == upstream.is_identified
        }
        (ResourceAction::Remove, ..) => true,
        // New resources get an identity if the other resources have one.
        (ResourceAction::Add, _, _, Some(u)) => {
            let is_kptfile = packages.upstream.all.members[u].is_kptfile();
            let is_cut = is_kptfile && has_bookkeeping(packages.upstream.node(u));
            !packages.identifies && !is_cut
        }
        (ResourceAction::Keep, Some(_), None, None) => true,
        (ResourceAction::Add | ResourceAction::Merge | ResourceAction::Keep, ..) => false,
    }
}
