//! Files that are not KRM: each is one value, and what local did to one stands.
//!
//! Unmodified locally it becomes upstream's, deletion included; modified or deleted locally it
//! stays so, with a conflict if upstream changed it too.
//!
//! Source: contract, merge-package, Files that are not KRM.

use std::collections::BTreeSet;

use super::Strategy;
use super::kustomization_file;
use super::others::Others;
use super::report::Report;
use super::subpackages::SubPackages;
use crate::merge::Side;
use crate::resource_list::ResourceList;
use crate::yaml::Value;

/// What happens to one of them.
#[derive(Debug)]
enum Step {
    Write(Vec<u8>, Option<u32>),
    Delete,
}

/// All steps of a merge.
#[derive(Debug, Default)]
pub(super) struct FileSteps(Vec<(String, Step)>);

impl Others<'_> {
    /// Decides over each. `has_resources` tells of paths at which local keeps resources.
    pub(super) fn merge(
        self,
        strategy: Strategy,
        sub_packages: &SubPackages,
        has_resources: &BTreeSet<&str>,
        report: &mut Report<'_>,
    ) -> FileSteps {
        let replaced = matches!(strategy, Strategy::ForceDeleteReplace | Strategy::CopyMerge);
        let mut steps = Vec::new();
        for (path, [base, local, upstream]) in self.files {
            if sub_packages.is_clashing(Some(&path)) {
                continue;
            }
            let taken = local.is_none() && has_resources.contains(path.as_str());
            let stays = taken
                || sub_packages.is_deleted_locally(Some(&path))
                || sub_packages.is_kept(Some(&path))
                || (strategy == Strategy::CopyMerge && upstream.is_none());
            if base == upstream && !replaced || local == upstream && !taken {
                continue;
            }
            if !stays && !replaced && base != local {
                let versions = [&base, &local, &upstream].map(Option::as_deref);
                if let Some(merged) = kustomization_file::merge(&path, versions, report) {
                    if local.as_deref() != Some(merged.as_slice()) {
                        report.counts.updated += 1;
                        steps.push((path, Step::Write(merged, None)));
                    }
                    continue;
                }
            }
            if stays || (base != local && !replaced) {
                let mut side = Side::Local;
                let kept_whole = sub_packages.is_kept(Some(&path)) && base == local;
                if base != upstream && !kept_whole && strategy != Strategy::CopyMerge {
                    let values = [&base, &local, &upstream].map(|v| v.as_deref().map(shown));
                    match taken {
                        true => report.kept_file(CHANGED, &path, values),
                        false => side = report.file(CHANGED, &path, values),
                    }
                }
                if side == Side::Local {
                    continue;
                }
            }
            if replaced && base != local && local.is_some() {
                let result = report.overwritten();
                report.say(result.in_file(&path));
            }
            match (&local, &upstream) {
                (None, _) => report.counts.added += 1,
                (_, None) => report.counts.removed += 1,
                _ => report.counts.updated += 1,
            }
            let mode = self.modes.get(&path).copied();
            let step = upstream.map_or(Step::Delete, |b| Step::Write(b.into_owned(), mode));
            steps.push((path, step));
        }
        FileSteps(steps)
    }
}

const CHANGED: &str = "local and upstream both changed the file";

impl FileSteps {
    pub(super) fn apply(self, list: &mut ResourceList) {
        for (path, step) in self.0 {
            match step {
                Step::Write(bytes, mode) => list.add_file(path, bytes, mode),
                Step::Delete => list.delete_file(&path),
            }
        }
    }
}

/// The content of a file as a value in results.
pub(super) fn shown(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::from(text).to_json(),
        Err(_) => Value::from(format!("<{} bytes>", bytes.len())).to_json(),
    }
}
