//! Sub-packages that local upgraded separately: they have their own lock, and it is not the original's. They are units
//! with their files, and the merge of the package around them leaves them unchanged.
//!
//! ```text
//! original: db at v1      local: db at v2       upstream: db at v1.5     db is left unchanged
//! original: db at v1      local: db at v1       upstream: db at v1.5     db merges, lock included
//! ```
//!
//! Source: contract, merge-package, Kptfile.

use std::collections::{BTreeMap, BTreeSet};

use krm_core::kptfile::{Lock, root_kptfile};
use krm_core::resource_list::{ItemId, ResourceList};
use krm_core::results::{FunctionResult, Reason, Results};
use krm_package::{folders_above, normalize_package_path};
use krm_yaml::node_text;

/// The directories of these sub-packages.
#[derive(Debug, Default)]
pub(super) struct OwnUpstream(BTreeSet<String>);

impl OwnUpstream {
    /// Finds the sub-packages whose lock local moved.
    pub(super) fn find(original: &ResourceList, local: &ResourceList) -> Self {
        let own = locks(local);
        if own.is_empty() {
            return Self::default();
        }
        let old = locks(original);
        let moved = own
            .into_iter()
            .filter(|(at, lock)| old.get(at) != Some(lock));
        Self(moved.map(|(directory, _)| directory).collect())
    }

    /// Whether a file belongs to one of them.
    pub(super) fn has(&self, path: &str) -> bool {
        !self.0.is_empty() && folders_above(path).any(|folder| self.0.contains(folder))
    }

    /// Reports those that upstream changed.
    pub(super) fn report(
        &self,
        original: &ResourceList,
        upstream: &ResourceList,
        results: &mut Results,
    ) {
        for directory in &self.0 {
            if content(original, directory) == content(upstream, directory) {
                continue;
            }
            let message = "local upgraded the sub-package separately, and upstream changed it: left \
                           unchanged";
            let result = FunctionResult::info(message)
                .tag("reason", Reason::OwnUpstream.as_str())
                .in_file(format!("{directory}/Kptfile"));
            results.push(result);
        }
    }
}

/// The locks of sub-packages, by directory.
fn locks(list: &ResourceList) -> BTreeMap<String, Lock> {
    let kptfiles = list.items().filter(|(_, resource)| resource.is_kptfile());
    let ids: Vec<ItemId> = kptfiles.map(|(id, _)| id).collect();
    let root = root_kptfile(list);
    let paths = list.paths_from_root(&ids);
    let locks = ids.into_iter().zip(paths).filter_map(|(id, path)| {
        let path = normalize_package_path(&path?);
        let (directory, _) = path.rsplit_once('/').filter(|_| Some(id) != root)?;
        let lock = list.read(id, Lock::read)?;
        Some((directory.to_owned(), lock))
    });
    locks.collect()
}

/// What a package has in a directory, by path.
fn content(list: &ResourceList, directory: &str) -> BTreeMap<String, Vec<Vec<u8>>> {
    let is_within = |path: &str| folders_above(path).any(|folder| folder == directory);
    let mut content: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    if list.files().is_some() {
        for path in list.file_paths() {
            if is_within(&path)
                && let Ok(bytes) = list.read_file(&path)
            {
                content.insert(path, vec![bytes.into_owned()]);
            }
        }
        return content;
    }
    let ids: Vec<ItemId> = list.items().map(|(id, _)| id).collect();
    for (id, path) in ids.iter().zip(list.paths_from_root(&ids)) {
        let path = path.map(|path| normalize_package_path(&path));
        if let Some(path) = path.filter(|path| is_within(path)) {
            let text = list.read(*id, node_text);
            content.entry(path).or_default().push(text.into_bytes());
        }
    }
    content
}
