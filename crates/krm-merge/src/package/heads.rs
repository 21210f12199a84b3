//! The heads of files: licences and other comments that a blank line or `---` separates from the first document, and
//! documents that have only comments before it. They belong to the file, and merge three-way, line by line, independently of
//! the documents.
//!
//! ```text
//! base           local            upstream       merged
//! # (c) 2023     # our fork       # (c) 2024     # our fork
//!                                                (blank)
//!                # (c) 2023                      # (c) 2024
//! ```
//!
//! Comments never conflict: a line that both sides changed is kept as both have it. If the versions do not agree
//! whether a blank line follows a comment, the lines directly above the first key merge together with the head.
//!
//! Source: contract, merge-package, Comments of a file.

use std::collections::{BTreeMap, BTreeSet};

use super::packages::Packages;
use super::report::Report;
use super::untouched::Untouched;
use crate::Versions;
use crate::gaps::{Lead, merged_head, merged_lead};
use crate::resources::ResourceMatch;
use krm_core::resource_list::ResourceList;
use krm_yaml::whole_head_end;

/// The inputs for merging the heads of files.
pub(super) struct HeadMerger<'h> {
    pub(super) packages: &'h Packages<'h, 'h>,
    /// Whether the strategy ignores local changes.
    pub(super) overwrites: bool,
    pub(super) untouched: &'h Untouched,
}

/// The result of merging the heads.
#[derive(Debug, Default)]
pub(super) struct Heads {
    /// The files whose heads change, with their new heads.
    changed: Vec<(String, String)>,
    /// The comment lines directly above the first key of a file, if they are decided together with its head. The map is
    /// keyed by the position of the file's first resource in local.
    pub(super) above_first_key: BTreeMap<usize, Vec<String>>,
}

impl HeadMerger<'_> {
    /// Merges the heads of all files that have resources after the merge. `paths` has the path of each resource then.
    pub(super) fn merge(
        &self,
        matches: &[ResourceMatch],
        paths: &[Option<&str>],
        report: &mut Report<'_>,
    ) -> Heads {
        if !self.packages.are_files() {
            return Heads::default();
        }
        let mut files: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, path) in paths.iter().enumerate() {
            if let Some(path) = path {
                files.entry(path).or_default().push(number);
            }
        }
        let list = self.packages.local.list;
        let mut heads = Heads::default();
        for (path, numbers) in &files {
            if self.is_decided(path) {
                continue;
            }
            let matches_here = numbers.iter().map(|number| &matches[*number]);
            let mut leads =
                matches_here.filter_map(|matched| Some((matched.local?, self.lead(matched)?)));
            if let Some((at, (head, above))) = leads.next() {
                report.counts.updated += usize::from(head.is_some());
                let head = head.map(|head| ((*path).to_owned(), head));
                heads.changed.extend(head);
                heads.above_first_key.insert(at, above);
                continue;
            }
            let read = |package: &ResourceList, was: PathOf| {
                head_of(package, path).or_else(|| {
                    // The file that was renamed to this one.
                    let paths = |number: &usize| self.packages.paths(&matches[*number]);
                    let old = numbers.iter().find_map(|number| was(&paths(number)))?;
                    head_of(package, old).filter(|_| !files.contains_key(old))
                })
            };
            let local = read(list, |paths| paths.local);
            let Some(upstream) = read(self.packages.upstream.list, |paths| paths.upstream) else {
                continue;
            };
            let base = if self.overwrites {
                local.clone()
            } else {
                read(self.packages.original, |paths| paths.base)
            };
            let head = match local {
                Some(local) => {
                    let head = merged_head(&base.unwrap_or_default(), &local, &upstream);
                    report.counts.updated += usize::from(head.is_some());
                    // A file that is new at this path does not have the head yet.
                    head.or(Some(local).filter(|_| list.read_file(path).is_err()))
                }
                None => Some(upstream),
            };
            let head = head.map(|head| ((*path).to_owned(), head));
            heads.changed.extend(head);
        }
        heads
    }

    /// The head of a file, if it changes, and the comment lines above its first key. `None` if the
    /// resource is not the first of its file in all versions, or their heads end in the same way.
    fn lead(&self, matched: &ResourceMatch) -> Option<(Option<String>, Vec<String>)> {
        let (base, local, upstream) = (matched.base, matched.local?, matched.upstream?);
        let paths = self.packages.paths(matched);
        if paths.local != paths.upstream && paths.local == paths.base {
            return None;
        }
        let base = base.map(|at| Lead::of(self.packages.base.node(at)));
        let base = base.unwrap_or_else(|| Some(Lead::default()))?;
        let local = Lead::of(self.packages.local.node(local))?;
        let upstream = Lead::of(self.packages.upstream.node(upstream))?;
        merged_lead(&base, &local, &upstream)
    }

    /// Whether a head is already decided: upstream's whole file is taken, or upstream did not change the file.
    fn is_decided(&self, path: &str) -> bool {
        let is_unchanged = self.packages.unchanged.contains(path) && !self.overwrites;
        let is_there = || self.packages.local.list.read_file(path).is_ok();
        self.untouched.has_file(Some(path)) || (is_unchanged && is_there())
    }
}

/// The head of a file of a package.
fn head_of(list: &ResourceList, path: &str) -> Option<String> {
    let bytes = list.read_file(path).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    Some(text[..whole_head_end(text)].to_owned())
}

impl Heads {
    /// Whether the comment above the first key of a resource is decided together with a head.
    pub(super) fn decides(&self, matched: &ResourceMatch) -> bool {
        let mut at = matched.local.iter();
        at.any(|at| self.above_first_key.contains_key(at))
    }

    pub(super) fn apply(self, list: &mut ResourceList) {
        for (path, head) in self.changed {
            list.set_head(path, head);
        }
    }
}

/// The path of a resource in one of the packages.
type PathOf = for<'p> fn(&Versions<Option<&'p str>>) -> Option<&'p str>;

/// The comments that a file had and local removed.
pub(super) fn removed_comments(base: &str, local: &str) -> BTreeSet<String> {
    let comments = |text: &str| -> BTreeSet<String> {
        let lines = text.lines().map(str::trim);
        let comments = lines.filter(|line| line.starts_with('#'));
        comments.map(str::to_owned).collect()
    };
    let kept = comments(local);
    let mut removed = comments(base);
    removed.retain(|line| !kept.contains(line));
    removed
}
