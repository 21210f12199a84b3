//! Merges three sequences token by token. There are no conflicts: a token of base is kept if both sides keep it, and
//! what the sides added is all kept, local's first. What both added alike is kept once.
//!
//! ```text
//! base    local    upstream    merged
//! a       a        a           a
//! b       B        b2          B
//!                              b2
//! c       c                              upstream removed it
//!         x        x           x
//! ```

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::{Side, Versions};
use krm_core::diff::{Hunk, hunks, kept};

/// A token of the merged sequence, by its position in a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Woven {
    /// In base. The positions in local and upstream are missing where a side removed it and it is kept nevertheless.
    Kept {
        base: usize,
        local: Option<usize>,
        upstream: Option<usize>,
    },
    /// Added by one side, or by both alike; the position in local then.
    Added(Side, usize),
}

/// What a side changed.
struct SideEdits {
    /// For each token of base, its position in the side.
    kept: Vec<Option<usize>>,
    /// What the side has in place of tokens of base, by the position of the first of them.
    added: BTreeMap<usize, Range<usize>>,
    hunks: Vec<Hunk>,
}

impl SideEdits {
    fn between(base: &[u64], side: &[u64], blank: u64) -> Self {
        let kept = pairs(base, side, blank);
        let mut hunks = Vec::new();
        let (mut from_base, mut from_side) = (0, 0);
        let pairs = kept.iter().enumerate();
        let pairs = pairs.filter_map(|(at, kept)| Some((at, (*kept)?)));
        for (at, in_side) in pairs.chain([(base.len(), side.len())]) {
            if from_base < at || from_side < in_side {
                hunks.push(Hunk {
                    before: from_base..at,
                    after: from_side..in_side,
                });
            }
            (from_base, from_side) = (at + 1, in_side + 1);
        }
        let added = hunks.iter().filter(|hunk| !hunk.after.is_empty());
        let added = added.map(|hunk| (hunk.before.start, hunk.after.clone()));
        Self {
            kept,
            added: added.collect(),
            hunks,
        }
    }
}

/// For each token of base, its position in the side. Blank lines pair last, between the others: they must not decide
/// which other tokens are the same.
fn pairs(base: &[u64], side: &[u64], blank: u64) -> Vec<Option<usize>> {
    let others = |keys: &[u64]| -> (Vec<usize>, Vec<u64>) {
        let keys = keys.iter().copied().enumerate();
        keys.filter(|(_, key)| *key != blank).unzip()
    };
    let ((in_base, old), (in_side, new)) = (others(base), others(side));
    let mut pairs = vec![None; base.len()];
    for (at_old, at_new) in kept(&old, &new) {
        pairs[in_base[at_old]] = Some(in_side[at_new]);
    }
    // Between two pairs, blank lines pair in order.
    let mut bound = side.len();
    let mut bounds = vec![bound; base.len()];
    for at in (0..base.len()).rev() {
        bounds[at] = bound;
        bound = pairs[at].unwrap_or(bound);
    }
    let mut next = 0;
    for at in 0..base.len() {
        if pairs[at].is_none() && base[at] == blank {
            let found = (next..bounds[at]).find(|in_side| side[*in_side] == blank);
            // The others of this stretch find none either.
            next = found.unwrap_or(bounds[at]);
            pairs[at] = found;
        }
        if let Some(paired) = pairs[at] {
            next = paired + 1;
        }
    }
    pairs
}

/// Merges the keys of three sequences. `blank` is the key of a blank line. `stays` says whether a token of base is kept
/// although a side removed it.
pub(super) fn weave(
    keys: Versions<&[u64]>,
    blank: u64,
    stays: &dyn Fn(Side, usize) -> bool,
) -> Vec<Woven> {
    let mut local = SideEdits::between(keys.base, keys.local, blank);
    let mut upstream = SideEdits::between(keys.base, keys.upstream, blank);
    add_at_one_place(&mut local, &mut upstream);
    let mut woven = Vec::new();
    // Lines that local added around a change of upstream, and that upstream added as well.
    let regions = regions(&local.hunks, &upstream.hunks);
    let mut twice = Twice::default();
    let mut next_region = regions.into_iter().peekable();
    for at in 0..=keys.base.len() {
        if let Some(region) = next_region.next_if(|region| region.start == at) {
            twice = Twice::within(&region, &local, keys.local);
        }
        let none = 0..0;
        let own = local.added.get(&at).unwrap_or(&none).clone();
        let their = upstream.added.get(&at).unwrap_or(&none).clone();
        push_added(&mut woven, keys, blank, [own, their], &mut twice);
        let (Some(in_local), Some(in_upstream)) = (local.kept.get(at), upstream.kept.get(at))
        else {
            continue;
        };
        if (in_local.is_some() || stays(Side::Local, at))
            && (in_upstream.is_some() || stays(Side::Upstream, at))
        {
            woven.push(Woven::Kept {
                base: at,
                local: *in_local,
                upstream: *in_upstream,
            });
        }
    }
    woven
}

/// Where changes of both sides replace the same tokens, both additions go to the first of their places.
fn add_at_one_place(local: &mut SideEdits, upstream: &mut SideEdits) {
    let mut theirs = upstream.hunks.iter().peekable();
    for own in &local.hunks {
        while theirs
            .next_if(|their| their.before.end <= own.before.start)
            .is_some()
        {}
        let Some(their) = theirs.peek() else { return };
        let (start, other) = (own.before.start, their.before.start);
        let overlaps = start < their.before.end && other < own.before.end;
        if !overlaps || start == other {
            continue;
        }
        let (moved, from) = if start > other {
            (&mut local.added, start)
        } else {
            (&mut upstream.added, other)
        };
        let to = start.min(other);
        if !moved.contains_key(&to)
            && let Some(range) = moved.remove(&from)
        {
            moved.insert(to, range);
        }
    }
}

/// The ranges of base in which changes of both sides touch each other.
fn regions(local: &[Hunk], upstream: &[Hunk]) -> Vec<Range<usize>> {
    let mut all: Vec<(&Hunk, Side)> = local.iter().map(|hunk| (hunk, Side::Local)).collect();
    all.extend(upstream.iter().map(|hunk| (hunk, Side::Upstream)));
    all.sort_by_key(|(hunk, _)| (hunk.before.start, hunk.before.end));
    let mut found: Vec<(Range<usize>, bool, bool)> = Vec::new();
    for (hunk, side) in all {
        let (own, their) = (side == Side::Local, side == Side::Upstream);
        match found.last_mut() {
            Some((region, has_own, has_their)) if hunk.before.start <= region.end => {
                region.end = region.end.max(hunk.before.end);
                (*has_own, *has_their) = (*has_own || own, *has_their || their);
            }
            _ => found.push((hunk.before.clone(), own, their)),
        }
    }
    let both = found.into_iter().filter(|(_, own, their)| *own && *their);
    both.map(|(region, ..)| region).collect()
}

/// The tokens that local added in a region, with how often they may still be left out of upstream's.
#[derive(Default)]
struct Twice(HashMap<u64, usize>);

impl Twice {
    fn within(region: &Range<usize>, local: &SideEdits, keys: &[u64]) -> Self {
        let mut counts = HashMap::new();
        for (_, added) in local.added.range(region.start..=region.end) {
            for key in &keys[added.clone()] {
                *counts.entry(*key).or_default() += 1;
            }
        }
        Self(counts)
    }

    fn take(&mut self, key: u64) -> bool {
        match self.0.get_mut(&key) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }
}

/// Adds what both sides added at one place: what they have in common once, else local's first. Where both added a
/// paragraph, a blank line follows each.
fn push_added(
    woven: &mut Vec<Woven>,
    keys: Versions<&[u64]>,
    blank: u64,
    [own, their]: [Range<usize>; 2],
    twice: &mut Twice,
) {
    let (mut from_own, mut from_their) = (own.start, their.start);
    let push_own = |woven: &mut Vec<Woven>, range: Range<usize>| {
        woven.extend(range.map(|at| Woven::Added(Side::Local, at)));
    };
    let differences = if own.is_empty() || their.is_empty() {
        vec![Hunk {
            before: 0..own.len(),
            after: 0..their.len(),
        }]
    } else {
        hunks(&keys.local[own.clone()], &keys.upstream[their.clone()])
    };
    for Hunk { before, after } in differences {
        let (before, after) = (
            before.start + own.start..before.end + own.start,
            after.start + their.start..after.end + their.start,
        );
        // What both have in common is taken from local.
        (from_their..after.start).for_each(|at| {
            twice.take(keys.upstream[at]);
        });
        let ends_paragraphs = keys.local[..own.end].get(before.end) == Some(&blank);
        push_own(woven, from_own..before.end);
        if ends_paragraphs && !before.is_empty() && !after.is_empty() {
            push_own(woven, before.end..before.end + 1);
        }
        for at in after.clone() {
            if !twice.take(keys.upstream[at]) {
                woven.push(Woven::Added(Side::Upstream, at));
            }
        }
        (from_own, from_their) = (before.end, after.end);
    }
    push_own(woven, from_own..own.end);
    (from_their..their.end).for_each(|at| {
        twice.take(keys.upstream[at]);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged([base, local, upstream]: [&str; 3]) -> String {
        let keys =
            [base, local, upstream].map(|text| text.bytes().map(u64::from).collect::<Vec<_>>());
        let keys = Versions::from(keys.each_ref().map(Vec::as_slice));
        let woven = weave(keys, u64::from(b' '), &|_, _| false).into_iter();
        let letters = woven.map(|token| match token {
            Woven::Kept { base: at, .. } => base.as_bytes()[at],
            Woven::Added(Side::Local, at) => local.as_bytes()[at],
            Woven::Added(Side::Upstream, at) => upstream.as_bytes()[at],
        });
        letters.map(char::from).collect()
    }

    #[test]
    fn tokens_of_both_sides_are_merged() {
        let table = [
            (["", "", ""], ""),
            (["abc", "abc", "abc"], "abc"),
            (["abc", "aBc", "abc"], "aBc"),
            (["abc", "abc", "aBc"], "aBc"),
            (["abc", "ac", "abC"], "aC"),
            // Neighbouring tokens are different ones.
            (["ab", "Ab", "aB"], "AB"),
            // Both changed the same token.
            (["abc", "aXc", "aYc"], "aXYc"),
            // One removed it, the other changed it.
            (["abc", "ac", "aYc"], "aYc"),
            // Both added.
            (["ac", "aXc", "aXc"], "aXc"),
            (["ac", "aXc", "aYc"], "aXYc"),
            (["ac", "aXYc", "aYXc"], "aXYc"),
            (["", "xa", "xb"], "xab"),
            // Overlapping changes: local's first.
            (["abcd", "abXd", "uvwd"], "Xuvwd"),
            (["abcd", "uvwd", "abXd"], "uvwXd"),
            // Paragraphs stay apart.
            (["", "x ", "y "], "x y "),
            // The same token added around a change of one side.
            (["ab", "axb", "xb"], "xb"),
        ];
        for (versions, expected) in table {
            assert_eq!(merged(versions), expected, "{versions:?}");
        }
    }
}
