//! Finds where two sequences differ, as Git does: heuristics bound the time.

use std::hash::Hash;
use std::ops::Range;

use gix_imara_diff::{Algorithm, Diff, InternedInput, Interner};

/// A range of one sequence, and the range of the other one that replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    pub before: Range<usize>,
    pub after: Range<usize>,
}

/// The hunks between two sequences, in order. Hunks that can slide are as far down as possible.
pub fn hunks<T: Copy + Eq + Hash>(before: &[T], after: &[T]) -> Vec<Hunk> {
    let input = input(before, after);
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_no_heuristic(&input);
    of(&diff)
}

/// The hunks between two texts, for people. Hunks that can slide are where Git's indent heuristic puts them.
/// The positions in both sequences of each element that no hunk replaces.
pub fn kept<T: Copy + Eq + Hash>(before: &[T], after: &[T]) -> Vec<(usize, usize)> {
    let (mut kept, mut old, mut new) = (Vec::new(), 0, 0);
    for hunk in hunks(before, after) {
        kept.extend((old..hunk.before.start).zip(new..));
        (old, new) = (hunk.before.end, hunk.after.end);
    }
    kept.extend((old..before.len()).zip(new..));
    kept
}

/// The hunks between two texts, for people. Hunks that can slide are where Git's indent heuristic puts them.
pub(super) fn line_hunks(before: &[&str], after: &[&str]) -> Vec<Hunk> {
    let input = input(before, after);
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    of(&diff)
}

fn input<T: Copy + Eq + Hash>(before: &[T], after: &[T]) -> InternedInput<T> {
    let mut input = InternedInput {
        before: Vec::with_capacity(before.len()),
        after: Vec::with_capacity(after.len()),
        interner: Interner::new(before.len() + after.len()),
    };
    input.update_before(before.iter().copied());
    input.update_after(after.iter().copied());
    input
}

fn of(diff: &Diff) -> Vec<Hunk> {
    let range = |range: Range<u32>| range.start as usize..range.end as usize;
    let hunks = diff.hunks().map(|hunk| Hunk {
        before: range(hunk.before),
        after: range(hunk.after),
    });
    hunks.collect()
}
