//! Merges the lines between entries: comments and blank lines.
//!
//! ```yaml
//! # base      # local        # upstream     # merged
//! a: 1        a: 1           a: 2           a: 2
//! # one       # one, mine    # one          # one, mine
//! # two       # two                         #  c: 2
//! b: 1        b: 1           #  c: 2        b: 1
//!                            b: 1
//! ```
//!
//! A gap is a small text that is found by the entries and items around it. The gaps of a document merge in one
//! sequence with its entries and items (`weave`), so that a line stays where it is among them. Fields decide which
//! entries and items the merged document has. What the gaps of the merged text were before is overwritten (`placing`).
//!
//! A line is compared without its indentation, and keeps the indentation that it had. An entry that goes takes the
//! comments directly above it that came with it. Comments never make a conflict: where both sides changed a line, both
//! lines are kept, local's first.
//!
//! A comment after a value follows it to another key, or to another element ([`left`]).
//!
//! Source: contract, merge-package, Comments.

mod dashes;
mod foot;
mod head;
mod left;
mod lines;
mod merged_line;
mod placing;
mod same;
mod structure;
mod weave;

use std::collections::{HashMap, HashSet};

use dashes::AfterDashes;
pub(super) use head::{Lead, merged_head, merged_lead};
use left::LeftComment;
use lines::{GapToken, tokens};
use same::unify;

use super::versions::Versions;
use krm_yaml::{Editor, LinesAlone, NodeRef, lines_alone, own_text};

/// The gaps of a document in three versions.
#[derive(Debug)]
pub(super) struct Gaps {
    /// `None` if the lines are right as they are.
    lines: Option<GapLines>,
    /// Comments after values that get another place.
    left: Vec<LeftComment>,
}

/// The gaps of a document in three versions, as sequences.
#[derive(Debug)]
struct GapLines {
    tokens: Versions<Vec<GapToken>>,
    /// Of local and of upstream: the keys of base that their changed entries and items got, by those that they had.
    renamed: [HashMap<u64, u64>; 2],
    /// The comments after the dashes of items of local and upstream, which are in no gap, with how often they occur.
    after_dashes: AfterDashes,
    /// Whether the lines above the first entry are decided elsewhere.
    keeps_head: bool,
    /// Whether the merged text has all that upstream added.
    has_all_of_upstream: bool,
}

impl Gaps {
    /// What the merged text must get. `None` if it has all comments and blank lines where they must be.
    pub(super) fn of(
        base: Option<NodeRef<'_>>,
        local: NodeRef<'_>,
        upstream: NodeRef<'_>,
        edits: &Editor<'_, '_>,
    ) -> Option<Self> {
        let lines = GapLines::of(base, local, upstream, edits);
        let left = left::comments(base, local, upstream, edits);
        (lines.is_some() || !left.is_empty()).then_some(Self { lines, left })
    }

    /// Notes what is decided elsewhere. `keeps_head` leaves the lines above the first entry as they are. With all that
    /// upstream added in the merged text, its lines are kept above what the text has as a version of local's.
    pub(super) fn note(&mut self, keeps_head: bool, has_all_of_upstream: bool) {
        if let Some(lines) = &mut self.lines {
            lines.keeps_head = keeps_head;
            lines.has_all_of_upstream &= has_all_of_upstream;
        }
    }

    /// Replaces the gaps of the merged document with the merged gaps. Returns whether anything changes.
    pub(super) fn apply<'d>(&self, merged: NodeRef<'d>, editor: &mut Editor<'d, '_>) -> bool {
        let before = editor.gaps();
        if let Some(lines) = &self.lines {
            lines.apply(merged, editor);
        }
        let is_changed = left::bring(&self.left, merged, editor);
        is_changed || editor.gaps() > before
    }
}

impl GapLines {
    /// `None` if there is nothing to merge: no version has gaps, no side changed them, or upstream changed neither them
    /// nor the entries and items around them, and the edits of local keep them. Also if a version has lines that are
    /// neither entries, items nor gaps.
    fn of(
        base: Option<NodeRef<'_>>,
        local: NodeRef<'_>,
        upstream: NodeRef<'_>,
        edits: &Editor<'_, '_>,
    ) -> Option<Self> {
        let text = base.map(own_text);
        let is_unchanged = |side: NodeRef<'_>| text == Some(own_text(side));
        if is_unchanged(upstream) {
            return None;
        }
        let old = base.map(lines_alone).unwrap_or_default();
        let [own, new] = [local, upstream].map(lines_alone);
        if ![&old, &own, &new].into_iter().any(LinesAlone::has_gaps) {
            return None;
        }
        let is_kept = || {
            let is_kept = |base| structure::is_kept(base, local, upstream);
            edits.keeps_lines_alone() && base.is_some_and(is_kept)
        };
        if old == new && (is_unchanged(local) || old == own || is_kept()) {
            return None;
        }
        Self::of_all(base, local, upstream)
    }

    fn of_all(
        base: Option<NodeRef<'_>>,
        local: NodeRef<'_>,
        upstream: NodeRef<'_>,
    ) -> Option<Self> {
        let (old, new) = (base, upstream);
        let base = match old {
            Some(base) => tokens(base, &mut AfterDashes::new())?,
            None => Vec::new(),
        };
        let mut after_dashes = AfterDashes::new();
        let is_written_out = !local.has_alias_or_merge_key();
        let mut local = tokens(local, &mut after_dashes)?;
        let mut upstream = tokens(new, &mut after_dashes)?;
        foot::follow((old, &base), (new, &mut upstream));
        let renamed = [unify(&base, &mut local), unify(&base, &mut upstream)];
        if is_same(&base, &local) && is_same(&base, &upstream) {
            return None;
        }
        Some(Self {
            tokens: Versions::new(base, local, upstream),
            renamed,
            after_dashes,
            keeps_head: false,
            // What aliases and merge keys of local stand for is not in the text.
            has_all_of_upstream: is_written_out,
        })
    }

    /// The keys of the entries and items of a version.
    fn owners(tokens: &[GapToken]) -> HashSet<u64> {
        let owners = tokens.iter().filter_map(GapToken::owner);
        owners.map(|owner| owner.key).collect()
    }
}

/// Whether two versions have the same entries, items and lines.
fn is_same(one: &[GapToken], other: &[GapToken]) -> bool {
    let is_equal = |(one, other): (&GapToken, &GapToken)| {
        let texts = [one, other].map(|token| token.line().map(|line| &line.text));
        one.key() == other.key() && texts[0] == texts[1]
    };
    one.len() == other.len() && one.iter().zip(other).all(is_equal)
}
