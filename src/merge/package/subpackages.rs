//! Sub-packages as a whole: what was added, deleted and changed on which side.
//!
//! | original | local | upstream | |
//! |---|---|---|---|
//! | - | yes | - | stays |
//! | - | - | yes | added |
//! | - | yes | yes | an error, unless both are equal |
//! | yes | - | - | stays deleted |
//! | yes | - | yes | stays deleted; a conflict if upstream changed it |
//! | yes | yes | - | deleted; kept as a whole if local changed anything in it, and a conflict |
//! | yes | yes | yes | merged |
//!
//! Source: kpt's `pkg update`, whose table this is; contract, merge-package, Kptfile.

use std::collections::{BTreeMap, BTreeSet};

use super::members::same_value;
use super::others::Others;
use super::packages::Packages;
use super::report::Report;
use crate::merge::Side;
use crate::merge::resources::Track;
use crate::results::{FunctionResult, Reason, Results};

/// What happened to sub-packages; named by their directories.
#[derive(Debug, Default)]
pub(super) struct SubPackages {
    deleted_locally: BTreeSet<String>,
    kept: BTreeSet<String>,
    /// Those that both sides added, and that differ.
    clashing: BTreeSet<String>,
}

/// Which of original, local and upstream have files of a sub-package.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Presence([bool; 3]);

impl SubPackages {
    /// Looks at all sub-packages. Those that both sides added, and that differ, are errors.
    pub(super) fn find(
        packages: &Packages<'_, '_>,
        others: &Others<'_>,
        tracks: &[Track],
        report: &mut Report<'_>,
        results: &mut Results,
    ) -> Self {
        let members = [
            &packages.base.all.members,
            &packages.local.all.members,
            &packages.upstream.all.members,
        ];
        let mut present: BTreeMap<String, Presence> = BTreeMap::new();
        let kptfiles = members.into_iter().flatten().filter(|m| m.is_kptfile());
        for directory in kptfiles.filter_map(|m| m.path.as_deref()?.rsplit_once('/')) {
            present.entry(directory.0.to_owned()).or_default();
        }
        if present.is_empty() {
            return Self::default();
        }
        for (side, members) in members.into_iter().enumerate() {
            let resources = members.iter().filter_map(|m| m.path.as_deref());
            for path in resources.chain(others.paths(side)) {
                for directory in directories(path) {
                    if let Some(presence) = present.get_mut(directory) {
                        presence.0[side] = true;
                    }
                }
            }
        }
        let of = |wanted: [bool; 3]| -> BTreeSet<String> {
            let found = present.iter().filter(|(_, p)| p.0 == wanted);
            found.map(|(directory, _)| directory.clone()).collect()
        };
        let both_added = of([false, true, true]);
        let deleted_upstream = of([true, true, false]);
        let (mut differ, mut changed) = (BTreeSet::new(), BTreeSet::new());
        for track in tracks {
            let paths = packages.paths(track);
            let within = |set: &BTreeSet<String>| -> BTreeSet<String> {
                let paths = paths.into_iter().flatten();
                let found = paths.flat_map(directories).filter(|d| set.contains(*d));
                found.map(str::to_owned).collect()
            };
            let (added, deleted) = (within(&both_added), within(&deleted_upstream));
            let local = (&packages.local, track.local);
            if !added.is_empty() && !same_value(local, (&packages.upstream, track.upstream)) {
                differ.extend(added);
            }
            if !deleted.is_empty() && !same_value((&packages.base, track.base), local) {
                changed.extend(deleted);
            }
        }
        for path in others.differing([1, 2]) {
            differ.extend(within_one(path, &both_added));
        }
        for path in others.differing([0, 1]) {
            changed.extend(within_one(path, &deleted_upstream));
        }
        for directory in &differ {
            let message = format!(
                "expected the sub-package `{directory}` on one side, found two different ones that local \
                 and upstream both added"
            );
            let result = FunctionResult::error(Reason::SubPackageExists, message);
            results.push(result.in_file(format!("{directory}/Kptfile")));
        }
        changed.retain(|directory| {
            let message = "upstream deleted the sub-package, and local changed it";
            let path = format!("{directory}/Kptfile");
            report.file(message, &path, [None, None, None]) == Side::Local
        });
        Self {
            deleted_locally: of([true, false, true]),
            kept: changed,
            clashing: differ,
        }
    }

    /// Whether a path lies in a sub-package that local does not have any more.
    pub(super) fn is_deleted_locally(&self, path: Option<&str>) -> bool {
        let mut directories = path.into_iter().flat_map(directories);
        directories.any(|directory| self.deleted_locally.contains(directory))
    }

    /// Whether a path lies in one of two different sub-packages that both sides added.
    pub(super) fn is_clashing(&self, path: Option<&str>) -> bool {
        let mut directories = path.into_iter().flat_map(directories);
        directories.any(|directory| self.clashing.contains(directory))
    }

    /// Whether a path lies in a sub-package that upstream deleted and that is kept.
    pub(super) fn is_kept(&self, path: Option<&str>) -> bool {
        let mut directories = path.into_iter().flat_map(directories);
        directories.any(|directory| self.kept.contains(directory))
    }
}

/// The directories around a file, without the root.
fn directories(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(slash, _)| &path[..slash])
}

fn within_one(path: &str, set: &BTreeSet<String>) -> Vec<String> {
    let found = directories(path).filter(|directory| set.contains(*directory));
    found.map(str::to_owned).collect()
}
