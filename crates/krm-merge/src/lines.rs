//! Merges sequences three-way, as `git merge-file` merges lines.
//!
//! ```text
//! base     local    upstream    chunks
//! a        a        a           the same in all
//! b        B        b           local's
//! c        c        c           the same in all
//! d        D        d2          a conflict
//! ```
//!
//! Changes that touch each other count as one: there is an unchanged line between two changes that are both taken. If
//! both sides changed the same lines, the new lines that they have in common are not a conflict.

use std::hash::Hash;
use std::ops::Range;

use super::rule::Side;
use super::versions::Versions;
use krm_core::diff::{Hunk, hunks};

/// Who changed a part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Changed {
    Nobody,
    One(Side),
    /// Both sides, to the same lines.
    BothAlike,
    /// Both sides, to different lines.
    Conflict,
}

/// A part of a text in each version. Together, the chunks cover all lines of local and of upstream, in order.
///
/// A region that both sides changed can have several chunks. In base, each conflict in it has all lines of the region, as
/// has what both changed alike at its end; what both changed alike before that has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) changed: Changed,
    pub(super) lines: Versions<Range<usize>>,
}

/// Merges three sequences of lines, or of the keys under which lines are compared.
pub(super) fn chunks<T: Copy + Eq + Hash>(versions: Versions<&[T]>) -> Vec<Chunk> {
    let base = versions.base;
    let mut local = SideChanges::between(base, versions.local);
    let mut upstream = SideChanges::between(base, versions.upstream);
    let mut chunks = Vec::new();
    let mut done = 0;
    loop {
        let starts = [local.next_start(), upstream.next_start()];
        let start = starts.into_iter().flatten().min();
        let end = start.unwrap_or(base.len());
        if done < end {
            chunks.push(Chunk {
                changed: Changed::Nobody,
                lines: Versions::new(
                    done..end,
                    local.shifted(done..end),
                    upstream.shifted(done..end),
                ),
            });
        }
        let Some(start) = start else { return chunks };
        let (local_start, upstream_start) = (
            local.shifted(start..start).start,
            upstream.shifted(start..start).start,
        );
        let mut end = start;
        let (mut by_local, mut by_upstream) = (false, false);
        // A change may extend the region to a change of the other side.
        while local.take(&mut end, &mut by_local) || upstream.take(&mut end, &mut by_upstream) {}
        let lines = Versions {
            base: start..end,
            local: local_start..local.shifted(end..end).end,
            upstream: upstream_start..upstream.shifted(end..end).end,
        };
        match (by_local, by_upstream) {
            (true, true) => push_both(&mut chunks, versions, lines),
            (by_local, _) => chunks.push(Chunk {
                changed: Changed::One(if by_local {
                    Side::Local
                } else {
                    Side::Upstream
                }),
                lines,
            }),
        }
        done = end;
    }
}

/// Adds a region that both sides changed: what they have in common, and what they do not.
fn push_both<T: Copy + Eq + Hash>(
    chunks: &mut Vec<Chunk>,
    versions: Versions<&[T]>,
    region: Versions<Range<usize>>,
) {
    let local = &versions.local[region.local.clone()];
    let upstream = &versions.upstream[region.upstream.clone()];
    let hunks = if local.is_empty() || upstream.is_empty() {
        vec![Hunk {
            before: 0..local.len(),
            after: 0..upstream.len(),
        }]
    } else {
        hunks(local, upstream)
    };
    let moved = |range: Range<usize>, start: usize| range.start + start..range.end + start;
    let mut done = (region.local.start, region.upstream.start);
    let mut push = |changed, base, local: Range<usize>, upstream: Range<usize>| {
        if !local.is_empty() || !upstream.is_empty() {
            let lines = Versions::new(base, local, upstream);
            chunks.push(Chunk { changed, lines });
        }
    };
    for Hunk { before, after } in hunks {
        let local = moved(before, region.local.start);
        let upstream = moved(after, region.upstream.start);
        let nothing = region.base.start..region.base.start;
        let alike = (done.0..local.start, done.1..upstream.start);
        push(Changed::BothAlike, nothing, alike.0, alike.1);
        done = (local.end, upstream.end);
        push(Changed::Conflict, region.base.clone(), local, upstream);
    }
    let alike = (done.0..region.local.end, done.1..region.upstream.end);
    push(Changed::BothAlike, region.base, alike.0, alike.1);
}

/// The changes from base to one side that are still to come.
struct SideChanges {
    hunks: std::iter::Peekable<std::vec::IntoIter<Hunk>>,
    /// The end of the last change that was taken, as a line of the side. `base` is the same as a line of base.
    side: usize,
    base: usize,
}

impl SideChanges {
    fn between<T: Copy + Eq + Hash>(base: &[T], side: &[T]) -> Self {
        Self {
            hunks: hunks(base, side).into_iter().peekable(),
            side: 0,
            base: 0,
        }
    }

    fn next_start(&mut self) -> Option<usize> {
        self.hunks.peek().map(|hunk| hunk.before.start)
    }

    /// Unchanged lines of base, as lines of the side.
    fn shifted(&self, lines: Range<usize>) -> Range<usize> {
        let shift = |line: usize| line - self.base + self.side;
        shift(lines.start)..shift(lines.end)
    }

    /// Takes the next change if it begins no later than at `end`, and extends `end` to its end.
    fn take(&mut self, end: &mut usize, is_taken: &mut bool) -> bool {
        let next = self.hunks.next_if(|hunk| hunk.before.start <= *end);
        let Some(hunk) = next else { return false };
        *end = (*end).max(hunk.before.end);
        (self.base, self.side) = (hunk.before.end, hunk.after.end);
        *is_taken = true;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chunks as text: `=` neither side changed it, `<` local, `>` upstream, `&` both alike, `!` a conflict.
    fn shown([base, local, upstream]: [&str; 3]) -> String {
        let [base, local, upstream] = [base, local, upstream].map(str::as_bytes);
        let found = chunks(Versions::new(base, local, upstream));
        let text =
            |lines: &[u8], range: Range<usize>| String::from_utf8_lossy(&lines[range]).into_owned();
        let shown = found.into_iter().map(|Chunk { changed, lines }| {
            let (local, upstream) = (text(local, lines.local), text(upstream, lines.upstream));
            match changed {
                Changed::Nobody => format!("={local}"),
                Changed::One(Side::Local) => format!("<{local}"),
                Changed::One(Side::Upstream) => format!(">{upstream}"),
                Changed::BothAlike => format!("&{local}"),
                Changed::Conflict => format!("!{}/{local}/{upstream}", text(base, lines.base)),
            }
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn changes_of_one_side_are_taken() {
        let table = [
            (["", "", ""], ""),
            (["abc", "abc", "abc"], "=abc"),
            (["abc", "aBc", "abc"], "=a <B =c"),
            (["abc", "abc", "abcd"], "=abc >d"),
            (["abcde", "aBcde", "abcD"], "=a <B =c >D"),
            (["abc", "aXc", "aXc"], "=a &X =c"),
            (["abc", "", "abc"], "<"),
            (["", "x", ""], "<x"),
        ];
        for (versions, expected) in table {
            assert_eq!(shown(versions), expected, "{versions:?}");
        }
    }

    #[test]
    fn changes_that_touch_are_a_conflict() {
        let table = [
            (["abc", "aXc", "aYc"], "=a !b/X/Y =c"),
            (["abcd", "aBcd", "abCd"], "=a !bc/Bc/bC =d"),
            (["abc", "c", "aBc"], "!ab//aB =c"),
            (["abc", "abcX", "abcY"], "=abc !/X/Y"),
            // Lines that both have in common are not a conflict.
            (["abc", "aXYZc", "aXQZc"], "=a &X !b/Y/Q &Z =c"),
            (["", "xa", "xb"], "&x !/a/b"),
        ];
        for (versions, expected) in table {
            assert_eq!(shown(versions), expected, "{versions:?}");
        }
    }
}
