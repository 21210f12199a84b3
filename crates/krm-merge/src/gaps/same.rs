//! Finds changed versions of entries and items whose keys differ: an element without a name, and what is in it.

use std::collections::{HashMap, HashSet};

use super::GapLines;
use super::lines::{GapToken, KeyedOwner};
use krm_core::diff::{Hunk, hunks};

/// Gives the entries and items of a side that are changed versions of those in base the keys that base has. Returns
/// these keys, by the keys that the side had.
pub(super) fn unify(base: &[GapToken], side: &mut [GapToken]) -> HashMap<u64, u64> {
    let old: Vec<KeyedOwner> = base.iter().filter_map(GapToken::owner).collect();
    let mut own: Vec<KeyedOwner> = side.iter().filter_map(GapToken::owner).collect();
    if old.len() == own.len() && old.iter().zip(&own).all(|(a, b)| a.key == b.key) {
        return HashMap::new();
    }
    let known = [GapLines::owners(base), GapLines::owners(side)];
    unify_owners(&old, &mut own, known.each_ref());
    let owners = side.iter_mut().filter_map(|token| match token {
        GapToken::Owner(owner) => Some(owner),
        GapToken::Line(_) => None,
    });
    let mut renamed = HashMap::new();
    for (owner, new) in owners.zip(own) {
        if owner.key != new.key {
            renamed.insert(owner.key, new.key);
        }
        *owner = new;
    }
    renamed
}

/// As [`unify`]. `known` has the keys of both versions: what has only moved keeps its key.
pub(super) fn unify_owners(old: &[KeyedOwner], own: &mut [KeyedOwner], known: [&HashSet<u64>; 2]) {
    let levels: [fn(&KeyedOwner) -> u64; 3] =
        [|owner| owner.key, |owner| owner.name, |owner| owner.kind];
    unify_by(&levels, old, own, known);
}

/// Pairs what is equal in the first of these; what is left between two pairs, in the next one.
fn unify_by(
    levels: &[fn(&KeyedOwner) -> u64],
    old: &[KeyedOwner],
    own: &mut [KeyedOwner],
    known: [&HashSet<u64>; 2],
) {
    let Some((level, others)) = levels.split_first() else {
        return;
    };
    if old.is_empty() || own.is_empty() {
        return;
    }
    let keys = |owners: &[KeyedOwner]| owners.iter().map(level).collect::<Vec<_>>();
    let (mut at_old, mut at_own) = (0, 0);
    let end = Hunk {
        before: old.len()..old.len(),
        after: own.len()..own.len(),
    };
    for hunk in hunks(&keys(old), &keys(own)).into_iter().chain([end]) {
        while at_old < hunk.before.start {
            let (key, new) = (old[at_old].key, own[at_own].key);
            if !known[1].contains(&key) && !known[0].contains(&new) {
                own[at_own].key = key;
            }
            (at_old, at_own) = (at_old + 1, at_own + 1);
        }
        (at_old, at_own) = (hunk.before.end, hunk.after.end);
        unify_by(others, &old[hunk.before], &mut own[hunk.after], known);
    }
}
