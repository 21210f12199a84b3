//! The heads of files: licences and other comments that a blank line or `---` separates from the first document. They
//! belong to the file, and merge three-way, block by block, independently of the documents.
//!
//! ```text
//! base           local            upstream       merged
//! # (c) 2023     # our fork       # (c) 2024     # our fork
//!                                                (blank)
//!                # (c) 2023                      # (c) 2024
//! ```
//!
//! Comments never conflict: what both sides changed is kept as local has it. If the versions do not agree whether a
//! blank line follows a comment, the lines directly above the first key take part in the merge as the last block.
//!
//! Source: contract, merge-package, Comments of a file.

use std::collections::{BTreeMap, BTreeSet};

use super::packages::Packages;
use super::report::Report;
use super::untouched::Untouched;
use crate::merge::resources::ResourceMatch;
use crate::merge::rule::{self, Outcome};
use crate::merge::{Side, Versions};
use crate::resource_list::ResourceList;
use crate::yaml::{NodeRef, comments_above, head_end};

const BYTE_ORDER_MARK: char = '\u{feff}';

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
                    let head = merged(&base.unwrap_or_default(), &local, &upstream);
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
    Some(text[..head_end(text)].to_owned())
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

/// The merged head. `None` if it is local's head.
fn merged(base: &str, local: &str, upstream: &str) -> Option<String> {
    let all = Versions::from([base, local, upstream]).map(blocks);
    written(&merge_blocks(&all), local, upstream)
}

/// The text of a head with these blocks; `None` if local has them.
fn written(merged: &[String], local: &str, upstream: &str) -> Option<String> {
    if merged == blocks(local) {
        return None;
    }
    let mark = if local.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.to_string()
    } else {
        String::new()
    };
    if merged == blocks(upstream) {
        return Some(mark + upstream.trim_start_matches(BYTE_ORDER_MARK));
    }
    let is_opened = [local, upstream].map(|head| head.lines().any(|line| line.starts_with("---")));
    let end = match (is_opened.contains(&true), merged.is_empty()) {
        (true, true) => "---\n",
        (true, false) => "\n---\n",
        (false, true) => "",
        (false, false) => "\n\n",
    };
    Some(mark + &merged.join("\n\n") + end)
}

/// The text above the first key of a file.
#[derive(Debug, Default, PartialEq)]
struct Lead<'t> {
    head: &'t str,
    /// The comment lines directly above the first key.
    above: Vec<&'t str>,
}

impl<'t> Lead<'t> {
    /// The lead of a resource. `None` if it is not the first document of its file, or not a mapping in block style.
    fn of(root: NodeRef<'t>) -> Option<Self> {
        let text = root.document.text;
        let end = head_end(text);
        let is_first = root.own_range()?.start == end && !text[end..].starts_with("---");
        let first = root.entries().next().filter(|_| is_first)?;
        root.kind().is_block_collection().then(|| Self {
            head: &text[..end],
            above: comments_above(first.key),
        })
    }

    fn blocks(&self) -> Vec<String> {
        let mut blocks = blocks(self.head);
        blocks.extend((!self.above.is_empty()).then(|| self.above.join("\n")));
        blocks
    }
}

/// The head, if it is not local's, and the lines above the first key. `None` if head and lines merge separately: one
/// side changed neither, or all versions agree whether there are such lines.
fn merged_lead(
    base: &Lead<'_>,
    local: &Lead<'_>,
    upstream: &Lead<'_>,
) -> Option<(Option<String>, Vec<String>)> {
    let all = [base, local, upstream];
    let is_bare = |lead: &&Lead<'_>| lead.above.is_empty();
    let is_one_sided = base == local || base == upstream || local == upstream;
    if is_one_sided || all.iter().all(is_bare) || !all.iter().any(is_bare) {
        return None;
    }
    let blocks = Versions::from(all.map(Lead::blocks));
    let mut merged = merge_blocks(&blocks);
    let last = if merged.last() == blocks.local.last() {
        local
    } else {
        upstream
    };
    let is_set_off = last.above.is_empty();
    let above = merged.pop_if(|_| !is_set_off).unwrap_or_default();
    let above = above.lines().map(str::to_owned).collect();
    Some((written(&merged, local.head, upstream.head), above))
}

/// The comments and directives of a head, split at blank lines and `---`.
fn blocks(head: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut is_new = true;
    for line in head.trim_start_matches(BYTE_ORDER_MARK).lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with("---") {
            is_new = true;
            continue;
        }
        match blocks.last_mut().filter(|_| !is_new) {
            Some(block) => {
                block.push('\n');
                block.push_str(line);
            }
            None => blocks.push(line.to_owned()),
        }
        is_new = false;
    }
    blocks
}

/// Merges three-way the blocks between those that all versions have in common at both ends.
///
/// Blocks are compared as texts, in order. A head has few blocks, and they have nothing by which list elements are
/// merged (names, similar fields).
fn merge_blocks(all: &Versions<Vec<String>>) -> Vec<String> {
    let all = all.as_ref().map(Vec::as_slice);
    let counts = all.map(<[String]>::len).into_iter();
    let shortest = counts.min().unwrap_or_default();
    let same = |at: &dyn Fn(&'_ [String]) -> usize| {
        let blocks = all.map(|blocks| &blocks[at(blocks)]);
        blocks.base == blocks.local && blocks.base == blocks.upstream
    };
    let head = (0..shortest).take_while(|n| same(&|_| *n)).count();
    let tail = (0..shortest - head)
        .take_while(|n| same(&|blocks| blocks.len() - 1 - n))
        .count();
    let between = all.map(|blocks| &blocks[head..blocks.len() - tail]);
    let local = all.local;
    let mut merged = local[..head].to_vec();
    merged.extend(merge_between(between));
    merged.extend_from_slice(&local[local.len() - tail..]);
    merged
}

fn merge_between(blocks: Versions<&[String]>) -> Vec<String> {
    let Versions {
        base,
        local,
        upstream,
    } = blocks;
    match rule::merge(blocks.map(Some), |a, b| a == b) {
        Outcome::Wins(Side::Local) => return local.to_vec(),
        Outcome::Wins(Side::Upstream) => return upstream.to_vec(),
        Outcome::Conflict => {}
    }
    // If one side only added blocks around the old ones, put these around the other side's blocks.
    for (outer, inner) in [(local, upstream), (upstream, local)] {
        if let Some((before, after)) = around(outer, base) {
            let has = |block: &&String| before.contains(block) || after.contains(block);
            let new = inner.iter().filter(|block| !has(block));
            return before.iter().chain(new).chain(after).cloned().collect();
        }
    }
    local.to_vec()
}

/// The parts of `outer` before and after `inner`. `None` if `outer` does not contain it.
fn around<'b>(outer: &'b [String], inner: &[String]) -> Option<(&'b [String], &'b [String])> {
    if inner.is_empty() {
        return Some((outer, &[]));
    }
    let at = outer.windows(inner.len()).position(|part| part == inner)?;
    Some((&outer[..at], &outer[at + inner.len()..]))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_merge_block_by_block() {
        // base, local, upstream, and the merged head; `-` for local's head.
        let table = [
            ("# a\n\n", "# a\n\n", "# a\n\n", "-"),
            ("# a\n\n", "# a\n\n", "# b\n---\n", "# b\n---\n"),
            ("# a\n\n", "# a\n\n", "", ""),
            ("# a\n\n", "# mine\n\n", "# b\n\n", "-"),
            ("# a\n\n", "", "# b\n\n", "-"),
            ("# a\n\n", "", "# a\n\n", "-"),
            ("", "# mine\n\n", "", "-"),
            ("", "# mine\n\n", "# b\n\n", "# mine\n\n# b\n\n"),
            ("", "# mine\n\n# b\n\n", "# b\n\n", "-"),
            (
                "# a\n\n",
                "# mine\n\n# a\n\n",
                "# b\n\n",
                "# mine\n\n# b\n\n",
            ),
            (
                "# a\n---\n",
                "# a\n\n# mine\n---\n",
                "# b\n---\n",
                "# b\n\n# mine\n---\n",
            ),
            (
                "# a\n\n",
                "# mine\n\n",
                "# a\n\n# b\n\n",
                "# mine\n\n# b\n\n",
            ),
            ("# a\n\n", "# a\n---\n", "---\n# a\n\n", "-"),
            ("", "", "---\n", "-"),
            ("", "\u{feff}", "# b\n\n", "\u{feff}# b\n\n"),
        ];
        for (base, local, upstream, expected) in table {
            let expected = Some(expected.to_owned()).filter(|expected| expected != "-");
            assert_eq!(
                merged(base, local, upstream),
                expected,
                "{base:?} {local:?} {upstream:?}"
            );
        }
    }
}
