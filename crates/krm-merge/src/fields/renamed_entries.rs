//! Entries that a side gave another key, in maps of which nothing is known and in kustomizations: the same values are in
//! them.
//!
//! ```yaml
//! # base              # local             # upstream          # merged
//! primary:            primary:            main:               main:
//!   replicas: 1         replicas: 3         replicas: 1         replicas: 3
//!   image: db:1         image: db:1         image: db:1         image: db:1
//!   port: 5432          port: 5432          port: 5432          port: 5432
//! ```
//!
//! Source: contract, merge-package, Parts (elements that pair by likeness).

use std::collections::HashSet;
use std::hash::RandomState;

use super::child::{ChildVersions, Siblings};
use crate::leaves::collect_leaves;
use crate::versions::Versions;
use krm_yaml::{EditError, Editor, Value};

/// The fewest values that two entries must have in common to be one.
const FEWEST: usize = 3;
/// The maximum number of pairs of entries that are compared.
const MOST_COMPARED: usize = 400;

/// An entry of one version that another version lacks.
struct LackingEntry {
    at: usize,
    leaves: HashSet<u64>,
}

/// Gives the same number to entries that are one under two keys: more than half of their values are equal, and no other
/// entry is like one of them.
pub(super) fn pair_renamed<'f, 'd>(
    children: &Versions<Siblings<'f>, Siblings<'d>>,
    all: &mut Versions<Vec<u32>>,
) {
    let set = |numbers: &[u32]| numbers.iter().copied().collect::<HashSet<u32>>();
    let numbers = all.as_ref().map(|numbers| set(numbers));
    let is_removed = |own: &HashSet<u32>| !numbers.base.is_subset(own);
    let is_added = |own: &HashSet<u32>| !own.is_subset(&numbers.base);
    let may_be = |own: &HashSet<u32>| is_removed(own) && is_added(own);
    if !may_be(&numbers.local) && !may_be(&numbers.upstream) {
        return;
    }
    let state = RandomState::new();
    // Entries of base that one side lacks.
    let in_base = |gone: &HashSet<u32>, kept: &HashSet<u32>| {
        let is_open = |number: u32| !gone.contains(&number) && kept.contains(&number);
        candidates(&children.base, &all.base, is_open, &state)
    };
    let is_new = |number: u32, other: &HashSet<u32>| {
        !numbers.base.contains(&number) && !other.contains(&number)
    };
    let of_upstream = only_alike(
        &in_base(&numbers.upstream, &numbers.local),
        &candidates(
            &children.upstream,
            &all.upstream,
            |number| !numbers.base.contains(&number),
            &state,
        ),
    );
    let old = in_base(&numbers.local, &numbers.upstream);
    let new = candidates(
        &children.local,
        &all.local,
        |number| is_new(number, &numbers.upstream),
        &state,
    );
    let mut of_local = only_alike(&old, &new);
    // The merged entry must be like the old one as well.
    of_local.retain(|(base, local)| {
        let number = all.base[*base];
        let theirs = candidates(
            &children.upstream,
            &all.upstream,
            |other| other == number,
            &state,
        );
        let [old, new] = [(&old, base), (&new, local)]
            .map(|(all, at)| all.iter().find(|candidate| candidate.at == *at));
        let (Some(old), Some(new), Some(theirs)) = (old, new, theirs.first()) else {
            return false;
        };
        let in_all = old.leaves.intersection(&new.leaves);
        let in_all = in_all.filter(|leaf| theirs.leaves.contains(*leaf)).count();
        let every: HashSet<&u64> = [old, new, theirs]
            .iter()
            .flat_map(|one| &one.leaves)
            .collect();
        2 * in_all > every.len()
    });
    // Local may have the new key already: from an earlier merge.
    for (base, upstream) in of_upstream {
        let (old, new) = (all.base[base], all.upstream[upstream]);
        if !numbers.local.contains(&new) {
            all.upstream[upstream] = old;
        }
    }
    for (base, local) in of_local {
        all.local[local] = all.base[base];
    }
}

fn candidates(
    children: &Siblings<'_>,
    numbers: &[u32],
    is_open: impl Fn(u32) -> bool,
    state: &RandomState,
) -> Vec<LackingEntry> {
    let open = children.iter().zip(numbers).enumerate();
    let open = open.filter(|(_, (_, number))| is_open(**number));
    let candidates = open.filter_map(|(at, (child, _))| {
        child.entry?.key.as_str()?;
        let value = child.value.value()?;
        let mut leaves = HashSet::new();
        if matches!(value, Value::Mapping(_) | Value::Sequence(_)) {
            collect_leaves(&value, 0, state, &mut leaves);
        }
        (leaves.len() >= FEWEST).then_some(LackingEntry { at, leaves })
    });
    candidates.take(MOST_COMPARED).collect()
}

/// The pairs that are alike, if nothing else is like one of their entries.
fn only_alike(old: &[LackingEntry], new: &[LackingEntry]) -> Vec<(usize, usize)> {
    if old.len() * new.len() > MOST_COMPARED {
        return Vec::new();
    }
    let mut pairs = Vec::new();
    for old in old {
        for new in new {
            let common = old.leaves.intersection(&new.leaves).count();
            if common >= FEWEST && 2 * common > old.leaves.len().max(new.leaves.len()) {
                pairs.push((old.at, new.at));
            }
        }
    }
    let is_only = |(old, new): &(usize, usize)| {
        let sharing = pairs.iter().filter(|pair| pair.0 == *old || pair.1 == *new);
        sharing.count() == 1
    };
    pairs.iter().copied().filter(is_only).collect()
}

/// Gives local's entry the key that upstream gave it.
pub(super) fn take_key<'d, 'f>(
    part: &ChildVersions<'d, 'f>,
    editor: &mut Editor<'d, 'f>,
) -> Result<(), EditError> {
    let (Some(base), Some(local), Some(upstream)) = (part.base, part.local, part.upstream) else {
        return Ok(());
    };
    let (Some(base), Some(local), Some(upstream)) = (base.entry, local.entry, upstream.entry)
    else {
        return Ok(());
    };
    match [base.key.as_str(), local.key.as_str(), upstream.key.as_str()] {
        [Some(old), Some(own), Some(new)] if old == own && old != new => {
            editor.rename_key(local.key, new)
        }
        _ => Ok(()),
    }
}
