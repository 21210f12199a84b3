//! Decides about whole sub-packages: which side added, deleted or changed them.
//!
//! | original | local | upstream | |
//! |---|---|---|---|
//! | - | yes | - | kept |
//! | - | - | yes | added |
//! | - | yes | yes | an error, unless both are equal |
//! | yes | - | - | stays deleted |
//! | yes | - | yes | stays deleted; a conflict if upstream changed it |
//! | yes | yes | - | deleted; if local changed anything in it, all of it is kept, with a conflict |
//! | yes | yes | yes | merged |
//!
//! Source: kpt's `pkg update`, whose table this is; contract, merge-package, Kptfile.

use std::collections::{BTreeMap, BTreeSet};

use super::members::same_value;
use super::others::Others;
use super::packages::Packages;
use super::report::Report;
use crate::resources::ResourceMatch;
use crate::{Side, Versions};
use krm_core::results::{FunctionResult, Reason, Results};
use krm_package::folders_above;

/// The directories of sub-packages in special states.
#[derive(Debug, Default)]
pub(super) struct SubPackages {
    deleted_locally: BTreeSet<String>,
    kept: BTreeSet<String>,
    /// Sub-packages that both sides added, and that differ.
    clashing: BTreeSet<String>,
}

/// Which packages have files of a sub-package.
type Presence = Versions<bool>;

impl SubPackages {
    /// Looks at all sub-packages. Different sub-packages that both sides added at one path are errors.
    pub(super) fn find(
        packages: &Packages<'_, '_>,
        others: &Others<'_>,
        matches: &[ResourceMatch],
        report: &mut Report<'_>,
        results: &mut Results,
    ) -> Self {
        let present = presence(packages, others);
        if present.is_empty() {
            return Self::default();
        }
        // In base, local and upstream, as in the table.
        let of = |wanted: [bool; 3]| -> BTreeSet<String> {
            let wanted = Presence::from(wanted);
            let found = present.iter().filter(|(_, presence)| **presence == wanted);
            found
                .map(|(directory, _)| (*directory).to_owned())
                .collect()
        };
        let both_added = of([false, true, true]);
        let deleted_upstream = of([true, true, false]);
        let (mut differ, mut changed) = (BTreeSet::new(), BTreeSet::new());
        for matched in matches {
            let paths = packages.paths(matched);
            let paths = || paths.into_iter().flatten();
            let added = within(paths(), &both_added);
            let deleted = within(paths(), &deleted_upstream);
            let local = (&packages.local, matched.local);
            if !added.is_empty() && !same_value(local, (&packages.upstream, matched.upstream)) {
                differ.extend(added);
            }
            if !deleted.is_empty() && packages.is_changed_locally(matched) {
                changed.extend(deleted);
            }
        }
        differ.extend(within(others.differing(), &both_added));
        changed.extend(within(others.changed_locally(), &deleted_upstream));
        for directory in &differ {
            let message = format!(
                "expected the sub-package `{directory}` on one side, found two different ones that local \
                 and upstream both added"
            );
            let result = FunctionResult::error(Reason::SubPackageExists, message);
            results.push(result.in_file(format!("{directory}/Kptfile")));
        }
        let mut kept = BTreeSet::new();
        for directory in changed {
            let message = "upstream deleted the sub-package, and local changed it";
            let path = format!("{directory}/Kptfile");
            if report.file(message, &path, Versions::default()) == Side::Local {
                kept.insert(directory);
            }
        }
        Self {
            deleted_locally: of([true, false, true]),
            kept,
            clashing: differ,
        }
    }

    /// Whether a path lies in a sub-package that local no longer has.
    pub(super) fn is_deleted_locally(&self, path: Option<&str>) -> bool {
        is_within(path, &self.deleted_locally)
    }

    /// Whether a path lies in one of two different sub-packages that both sides added.
    pub(super) fn is_clashing(&self, path: Option<&str>) -> bool {
        is_within(path, &self.clashing)
    }

    /// Whether a path lies in a sub-package that upstream deleted and that is kept.
    pub(super) fn is_kept(&self, path: Option<&str>) -> bool {
        is_within(path, &self.kept)
    }
}

fn is_within(path: Option<&str>, sub_packages: &BTreeSet<String>) -> bool {
    let mut directories = path.into_iter().flat_map(folders_above);
    directories.any(|directory| sub_packages.contains(directory))
}

/// The sub-packages with a Kptfile in any package, with which packages have files of them.
fn presence<'p>(
    packages: &'p Packages<'_, '_>,
    others: &Others<'_>,
) -> BTreeMap<&'p str, Presence> {
    let members = packages.members().map(|package| &package.members);
    let mut present: BTreeMap<&str, Presence> = BTreeMap::new();
    let kptfiles = members
        .into_iter()
        .flatten()
        .filter(|member| member.is_kptfile());
    for (directory, _) in kptfiles.filter_map(|member| member.path.as_deref()?.rsplit_once('/')) {
        present.entry(directory).or_default();
    }
    if present.is_empty() {
        return present;
    }
    let paths = others.paths().zip(members).map(|(others, members)| {
        let resources = members.iter().filter_map(|member| member.path.as_deref());
        let paths = resources.chain(others).flat_map(folders_above);
        paths.collect::<BTreeSet<_>>()
    });
    for (directory, presence) in &mut present {
        *presence = paths.as_ref().map(|paths| paths.contains(directory));
    }
    present
}

/// The sub-packages that contain some of the paths.
fn within<'p>(
    paths: impl Iterator<Item = &'p str>,
    sub_packages: &BTreeSet<String>,
) -> BTreeSet<String> {
    let found = paths.flat_map(folders_above);
    let found = found.filter(|directory| sub_packages.contains(*directory));
    found.map(str::to_owned).collect()
}
