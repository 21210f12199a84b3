//! Files that are not KRM: each is one value, and what local did to one stands.
//!
//! Unmodified locally it becomes upstream's, deletion included; modified or deleted locally it
//! stays so, with a conflict if upstream changed it too.
//!
//! Source: contract, merge-package, Files that are not KRM.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::report::Report;
use super::subpackages::SubPackages;
use super::{Source, Strategy};
use crate::config::UsageError;
use crate::resource_list::ResourceList;
use crate::results::{FunctionResult, Reason, Results};
use crate::yaml::Value;

/// The files that are not KRM in original, local and upstream.
#[derive(Default)]
pub(super) struct Others<'s> {
    files: BTreeMap<String, [Option<Cow<'s, [u8]>>; 3]>,
    /// Permission bits of upstream's.
    modes: BTreeMap<String, u32>,
}

/// What happens to one of them.
#[derive(Debug)]
enum Step {
    Write(Vec<u8>, Option<u32>),
    Delete,
}

/// All steps of a merge.
#[derive(Debug, Default)]
pub(super) struct FileSteps(Vec<(String, Step)>);

impl<'s> Others<'s> {
    /// Reads them, if all three packages are made of files.
    pub(super) fn read(
        original: Source<'s>,
        local: &'s ResourceList,
        upstream: Source<'s>,
    ) -> Result<Self, UsageError> {
        let mut others = Self::default();
        let (Some(old), Some(new)) = (original.files(), upstream.files()) else {
            return Ok(others);
        };
        if !local.is_package() {
            return Ok(others);
        }
        for (side, package) in [(0, old), (2, new)] {
            let of_resources = package.list().items();
            let of_resources: BTreeSet<&str> = of_resources
                .filter_map(|(_, resource)| resource.origin.path.as_deref())
                .collect();
            for file in package.files() {
                if of_resources.contains(file.path.as_str()) {
                    continue;
                }
                let bytes = package.read_file(&file.path)?;
                others.files.entry(file.path.clone()).or_default()[side] = Some(bytes);
                if let Some(mode) = file.mode.filter(|_| side == 2) {
                    others.modes.insert(file.path.clone(), mode);
                }
            }
        }
        for path in local.paths_of_others() {
            let bytes = local.read_file(&path);
            let bytes = bytes.map_err(|error| UsageError(error.to_string()))?;
            others.files.entry(path).or_default()[1] = Some(bytes);
        }
        Ok(others)
    }

    /// The paths of those that one of original, local and upstream has.
    pub(super) fn paths(&self, side: usize) -> impl Iterator<Item = &str> {
        let files = self.files.iter();
        files.filter_map(move |(path, v)| v[side].is_some().then_some(path.as_str()))
    }

    /// The paths of those in which two of original, local and upstream differ.
    pub(super) fn differing(&self, [a, b]: [usize; 2]) -> impl Iterator<Item = &str> {
        let files = self.files.iter();
        files.filter_map(move |(path, v)| (v[a] != v[b]).then_some(path.as_str()))
    }

    /// An error for each local change that a fast-forward would overwrite.
    pub(super) fn refuse_local_changes(&self, results: &mut Results) {
        for path in self.differing([0, 1]) {
            let message = "expected no local changes for a fast-forward, found one";
            results.push(FunctionResult::error(Reason::LocalChanges, message).in_file(path));
        }
    }

    /// Decides over each. `has_resources` tells of paths at which local keeps resources.
    pub(super) fn merge(
        self,
        strategy: Strategy,
        sub_packages: &SubPackages,
        has_resources: &BTreeSet<&str>,
        report: &mut Report,
    ) -> FileSteps {
        let replaced = matches!(strategy, Strategy::ForceDeleteReplace | Strategy::CopyMerge);
        let mut steps = Vec::new();
        for (path, [base, local, upstream]) in self.files {
            let taken = local.is_none() && has_resources.contains(path.as_str());
            let stays = taken
                || sub_packages.is_deleted_locally(Some(&path))
                || sub_packages.is_kept(Some(&path))
                || (strategy == Strategy::CopyMerge && upstream.is_none());
            if base == upstream && !replaced || local == upstream && !taken {
                continue;
            }
            if stays || (base != local && !replaced) {
                let kept_whole = sub_packages.is_kept(Some(&path)) && base == local;
                if base != upstream && !kept_whole && strategy != Strategy::CopyMerge {
                    let values = [&base, &local, &upstream].map(|v| v.as_deref().map(shown));
                    report.file(CHANGED, &path, values);
                }
                continue;
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
    const LIMIT: usize = 256;
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Value::from(format!("<{} bytes>", bytes.len())).to_json();
    };
    let end = (0..=LIMIT.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    let (start, rest) = text.split_at(end.unwrap_or_default());
    let mut json = Value::from(start).to_json();
    if !rest.is_empty() {
        json.push('…');
    }
    json
}
