//! Symbolic links. A link is a separate file, which a merge neither brings nor removes: it is never taken for the file
//! that it leads to, and never written over it.
//!
//! Source: contract, merge-package, Files that are not KRM.

use std::collections::BTreeSet;

use krm_core::resource_list::ResourceList;
use krm_core::results::{FunctionResult, Reason, Results};
use krm_package::{Package, SkipReason, folders_above};

/// The paths of the links in the three packages.
#[derive(Debug, Default)]
pub(super) struct Links {
    original: BTreeSet<String>,
    local: BTreeSet<String>,
    upstream: BTreeSet<String>,
}

impl Links {
    pub(super) fn find(
        original: &ResourceList,
        local: &ResourceList,
        upstream: &ResourceList,
    ) -> Self {
        let [original, local, upstream] = [original, local, upstream].map(of);
        Self {
            original,
            local,
            upstream,
        }
    }

    /// Whether a path of the original or of upstream is a link there, or a link of local is in its place.
    pub(super) fn has(&self, path: &str) -> bool {
        if self.original.contains(path) || self.upstream.contains(path) {
            return true;
        }
        let mut places = folders_above(path).chain([path]);
        !self.local.is_empty() && places.any(|place| self.local.contains(place))
    }

    /// Names the links that upstream adds, upstream's files in the places of local's links or below them, and those in
    /// the places of the original's.
    pub(super) fn report(&self, upstream: &ResourceList, results: &mut Results) {
        let mut name = |path: &str, message: &str| {
            let result = FunctionResult::warning(Reason::SkippedFile, message);
            results.push(result.in_file(path));
        };
        for path in &self.upstream {
            let is_named = self.original.contains(path) || self.local.contains(path);
            if !is_named && is_plain(upstream, path) {
                name(path, "not taken from upstream: a symbolic link");
            }
        }
        let Some(files) = upstream.files() else {
            return;
        };
        let has_file = |path: &String| files.get(path).is_some() && !self.upstream.contains(path);
        for path in self.local.iter().filter(|path| has_file(path)) {
            name(
                path,
                "local has a symbolic link, and upstream a file: left unchanged",
            );
        }
        for path in self.folders_of(files) {
            name(
                path,
                "local has a symbolic link, and upstream a folder: nothing is written through the link",
            );
        }
        let replaced = self.original.difference(&self.local);
        for path in replaced.filter(|path| has_file(path)) {
            name(
                path,
                "the original has a symbolic link, and upstream a file: not taken",
            );
        }
    }

    /// The links of local that are folders with files in upstream.
    fn folders_of(&self, upstream: &Package) -> BTreeSet<&String> {
        if self.local.is_empty() {
            return BTreeSet::new();
        }
        let paths = upstream.files().map(|(path, _)| path);
        let folders = paths.flat_map(folders_above);
        folders.filter_map(|path| self.local.get(path)).collect()
    }
}

/// Whether a link is one of which the reader of the package did not warn.
fn is_plain(list: &ResourceList, link: &str) -> bool {
    let skipped = list.files().into_iter().flat_map(|files| &files.skipped);
    let mut reasons = skipped.filter(|skipped| skipped.path == link);
    reasons.any(|skipped| skipped.reason == SkipReason::OtherLink)
}

fn of(list: &ResourceList) -> BTreeSet<String> {
    let skipped = list.files().into_iter().flat_map(|files| &files.skipped);
    let links = skipped.filter(|skipped| skipped.reason.is_link());
    links.map(|skipped| skipped.path.clone()).collect()
}
