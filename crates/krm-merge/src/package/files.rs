//! Files that are not KRM.
//!
//! A file that local did not change gets upstream's content, or is deleted if upstream deleted it. A file that both
//! sides changed merges (`combined_file`); a binary file is unchanged, with a conflict. A file that local deleted stays
//! deleted.
//!
//! Source: contract, merge-package, Files that are not KRM.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::Strategy;
use super::combined_file;
use super::others::{FileVersions, Others};
use super::removed_comments::of_removed_file;
use super::report::Report;
use super::subpackages::SubPackages;
use crate::rule::{self, Outcome};
use crate::{Side, with_line_ends_of};
use krm_core::resource_list::ResourceList;
use krm_core::results::{Mark, QuotedValue};
use krm_core::source_text::parse_document;
use krm_package::{Package, is_krm_name, is_kustomization};
use krm_yaml::Value;

/// What happens to a file that is not KRM.
#[derive(Debug)]
enum FileAction {
    Write(Vec<u8>, Option<u32>),
    Delete,
}

/// What happens to all files that are not KRM, in the order of their paths.
#[derive(Debug, Default)]
pub(super) struct FileActions(Vec<(String, FileAction)>);

/// The inputs of the decision about a file.
struct Files<'f> {
    strategy: Strategy,
    sub_packages: &'f SubPackages,
    /// Paths at which local keeps resources.
    has_resources: &'f BTreeSet<&'f str>,
    /// The files of upstream, with their permission bits.
    upstream: Option<&'f Package>,
}

impl Others<'_> {
    /// Decides about each file. `has_resources` has the paths at which local keeps resources.
    pub(super) fn plan(
        self,
        strategy: Strategy,
        sub_packages: &SubPackages,
        has_resources: &BTreeSet<&str>,
        report: &mut Report<'_>,
    ) -> FileActions {
        let files = Files {
            strategy,
            sub_packages,
            has_resources,
            upstream: self.upstream,
        };
        let mut actions = Vec::new();
        for (path, file) in self.files {
            if let Some(action) = files.action(&path, file, report) {
                actions.push((path, action));
            }
        }
        FileActions(actions)
    }
}

impl Files<'_> {
    fn action(
        &self,
        path: &str,
        file: FileVersions<'_>,
        report: &mut Report<'_>,
    ) -> Option<FileAction> {
        let outcome = self.outcome(path, &file);
        if outcome == Outcome::Wins(Side::Upstream) {
            let versions = file.as_ref().map(Option::as_deref);
            if let Some(merged) = combined_file::guarded(path, versions, report) {
                report.counts.updated += 1;
                return Some(FileAction::Write(merged, None));
            }
        }
        let side = match outcome {
            Outcome::Wins(side) => side,
            Outcome::Conflict => {
                let versions = file.as_ref().map(Option::as_deref);
                if let Some(merged) = combined_file::merge(path, versions, report) {
                    let is_other = file.local.as_deref() != Some(merged.as_slice());
                    report.counts.updated += usize::from(is_other);
                    return is_other.then_some(FileAction::Write(merged, None));
                }
                self.conflict(path, &file, report)
            }
        };
        if side == Side::Local {
            return None;
        }
        let is_changed = file.local.is_some() && file.base != file.local;
        if is_changed && self.strategy.overwrites_local() {
            let result = report.overwritten();
            report.push(result.in_file(path));
        }
        match (&file.local, &file.upstream) {
            (None, _) => report.counts.added += 1,
            (Some(local), None) => {
                report.counts.removed += 1;
                let base = file.base.as_deref();
                let comments = base.and_then(|base| of_removed_file(path, base, local));
                comments.into_iter().for_each(|result| report.push(result));
            }
            _ => report.counts.updated += 1,
        }
        let is_new = file.local.is_none();
        let mode = self.upstream.and_then(|package| package.mode(path));
        let mode = mode.filter(|_| is_new);
        Some(match file.upstream {
            Some(bytes) => FileAction::Write(bytes.into_owned(), mode),
            None => FileAction::Delete,
        })
    }

    /// The outcome of the merge rule, except where resources or whole sub-packages decide.
    fn outcome(&self, path: &str, file: &FileVersions<'_>) -> Outcome {
        let (at, sub_packages) = (Some(path), self.sub_packages);
        let is_taken = self.is_taken(path, file);
        let is_kept = file.upstream.is_none() && self.strategy.deletes_nothing()
            || is_taken && file.base == file.upstream;
        let mut versions = file.as_ref().map(Option::as_ref);
        if self.strategy.overwrites_local()
            || file.upstream.is_none() && say_the_same(path, &file.base, &file.local)
        {
            versions.base = versions.local;
        } else if file.local.is_none() && say_the_same(path, &file.base, &file.upstream) {
            versions.base = versions.upstream;
        }
        match rule::merge(versions, |a, b| a == b) {
            _ if is_kept || sub_packages.is_clashing(at) => Outcome::Wins(Side::Local),
            _ if is_taken => Outcome::Conflict,
            Outcome::Wins(Side::Upstream) if sub_packages.is_kept(at) => Outcome::Wins(Side::Local),
            Outcome::Wins(Side::Upstream) if sub_packages.is_deleted_locally(at) => {
                Outcome::Conflict
            }
            outcome => outcome,
        }
    }

    /// Whether local has resources instead of this file.
    fn is_taken(&self, path: &str, file: &FileVersions<'_>) -> bool {
        file.local.is_none() && self.has_resources.contains(path)
    }

    /// Reports a file that both sides changed. Returns the side that wins.
    fn conflict(&self, path: &str, file: &FileVersions<'_>, report: &mut Report<'_>) -> Side {
        let versions = file.as_ref().into_iter().flatten();
        let mark = Mark::within_texts(versions.filter_map(|bytes| std::str::from_utf8(bytes).ok()));
        let shown = |bytes: &[u8]| shown(mark, bytes);
        let values = file.as_ref().map(|bytes| bytes.as_deref().map(shown));
        match (&file.base, &file.local, &file.upstream) {
            _ if self.is_taken(path, file) => report.kept_file(CHANGED, path, values),
            (None, None, _) => report.deleted_file(ADDED, path, values),
            (Some(_), None, _) => report.deleted_file(DELETED, path, values),
            (_, Some(_), None) => report.file(REMOVED, path, values),
            _ => report.file(CHANGED, path, values),
        }
    }
}

/// Whether two versions of a file have the same content. Line endings are none, and neither are the format and the
/// comments of YAML and JSON.
fn say_the_same(path: &str, one: &Option<Cow<'_, [u8]>>, other: &Option<Cow<'_, [u8]>>) -> bool {
    let (Some(one), Some(other)) = (one.as_deref(), other.as_deref()) else {
        return false;
    };
    if *with_line_ends_of(one, other) == *other {
        return true;
    }
    let is_data = is_krm_name(path) || is_kustomization(path);
    is_data && documents(one).is_some_and(|one| documents(other) == Some(one))
}

/// The values of the documents in a file. `None` if it is not YAML.
fn documents(bytes: &[u8]) -> Option<Vec<Value>> {
    let text = String::from_utf8(bytes.to_vec()).ok()?;
    let owned = parse_document(text).ok()?;
    owned.roots().map(|root| root.value()).collect()
}

const CHANGED: &str = "local and upstream both changed the file";
const REMOVED: &str = "upstream deleted the file, and local changed it";
const DELETED: &str = "local deleted the file, and upstream changed it";
const ADDED: &str = "local deleted the sub-package, and upstream added the file to it";

impl FileActions {
    /// Whether something happens to the file of this path.
    pub(super) fn has(&self, path: &str) -> bool {
        self.0
            .binary_search_by(|(other, _)| other.as_str().cmp(path))
            .is_ok()
    }

    pub(super) fn apply(self, list: &mut ResourceList) {
        for (path, action) in self.0 {
            match action {
                FileAction::Write(bytes, mode) => list.add_file(path, bytes, mode),
                FileAction::Delete => list.delete_file(&path),
            }
        }
    }
}

/// The content of a file as a value in results.
pub(super) fn shown(mark: Mark, bytes: &[u8]) -> QuotedValue {
    match std::str::from_utf8(bytes) {
        Ok(text) => QuotedValue::of(mark, &Value::from(text)),
        Err(_) => QuotedValue::of(mark, &Value::from(format!("<{} bytes>", bytes.len()))),
    }
}
