//! Gives paths to resources of inputs that are not made of files (one file, an inline list). Each gets the path of its
//! counterpart in local. A new resource gets the file of its neighbours, or a separate file.
//!
//! ```text
//! upstream (one file)   local          merged
//! Service a             all.yaml       all.yaml
//! Service new                          all.yaml            its neighbours are both there
//! Service b             all.yaml       all.yaml
//! Role r                rbac.yaml      rbac.yaml
//! Job j                                job_j.yaml          its neighbours are in two files: as kpt names it
//! Role s                other.yaml     other.yaml
//! ```

use super::members::Members;
use super::packages::Packages;
use crate::resources::ResourceMatch;
use krm_core::results::{FunctionResult, Reason, Results};
use krm_package::check_package_path;

/// Gives the resources of original and upstream without a path the path that they have in local, or would have there.
/// Does nothing if the items of local have no paths either.
pub(super) fn place(
    packages: &mut Packages<'_, '_>,
    matches: &[ResourceMatch],
    results: &mut Results,
) {
    let local = &packages.local.all;
    let has_paths = local.members.iter().any(|member| member.path.is_some());
    if !has_paths && !packages.local.list.is_package() {
        return;
    }
    let is_placed = |members: &Members| members.members.iter().all(|m| m.path.is_some());
    if is_placed(&packages.base.all) && is_placed(&packages.upstream.all) {
        return;
    }
    let neighbours = Neighbours::find(packages, matches);
    for matched in matches {
        let paths = packages.paths(matched).map(|path| path.map(str::to_owned));
        let path = paths.local.or(paths.base).or(paths.upstream);
        let path = path.or_else(|| {
            let at = matched.upstream?;
            let path = neighbours.path_of(at);
            let path = path.unwrap_or_else(|| default_path(packages, at));
            if let Err(error) = check_package_path(&path) {
                let message = format!("the new resource has no place in the package: {error}");
                let result = FunctionResult::error(Reason::InvalidPath, message);
                results.push(result.with_resource(packages.upstream.resource(at)));
            }
            Some(path)
        });
        for (members, at) in [
            (&mut packages.base.all, matched.base),
            (&mut packages.upstream.all, matched.upstream),
        ] {
            if let Some(at) = at {
                let own = &mut members.members[at].path;
                *own = own.take().or_else(|| path.clone());
            }
        }
    }
}

/// The paths of the resources that upstream and local both have, in upstream's order.
struct Neighbours(Vec<(usize, String)>);

impl Neighbours {
    fn find(packages: &Packages<'_, '_>, matches: &[ResourceMatch]) -> Self {
        let shared = matches.iter().filter_map(|matched| {
            let at = matched.upstream?;
            let path = packages.local.all.path(matched.local)?;
            // The files of these resources contain nothing else.
            let is_own = packages.is_own(matched) || packages.upstream.all.members[at].is_kptfile();
            (!is_own).then(|| (at, path.to_owned()))
        });
        let mut shared: Vec<_> = shared.collect();
        shared.sort_unstable();
        Self(shared)
    }

    /// The file of the two nearest resources, if they are in the same file. They are one on each side, or at an end,
    /// both on the same side.
    fn path_of(&self, at: usize) -> Option<String> {
        let next = self.0.partition_point(|(other, _)| *other < at);
        let first = next.saturating_sub(1).min(self.0.len().saturating_sub(2));
        let (_, path) = self.0.get(first)?;
        let other = self.0.get(first + 1);
        let is_same = other.is_none_or(|(_, other)| other == path);
        is_same.then(|| path.clone())
    }
}

/// Where kpt puts a resource without a path.
fn default_path(packages: &Packages<'_, '_>, at: usize) -> String {
    let member = &packages.upstream.all.members[at];
    if member.is_kptfile() {
        return "Kptfile".to_owned();
    }
    let kind = member.key.kind.to_lowercase();
    let name = member.key.name.name().map_or("", |name| name);
    let file = format!("{kind}_{name}.yaml");
    match &member.key.namespace {
        Some(namespace) => format!("{namespace}/{file}"),
        None => file,
    }
}
