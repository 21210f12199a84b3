//! Pairs resources by likeness: how many of their leaves are equal.
//!
//! ```text
//! original            upstream
//! Deployment web      Deployment frontend    9 of 10 leaves are equal: renamed
//! ConfigMap a         ConfigMap b            equally many leaves are equal:
//!                     ConfigMap c            a tie, and nothing is paired
//! ```
//!
//! The leaves are hashed. Only resources with rare leaves in common are compared, so that the effort for n resources
//! grows like n log n.
//!
//! Source: contract, merge-package, Identity.

use std::collections::{HashMap, HashSet};

use super::bookkeeping::without_bookkeeping_of_tools;
use super::leaves::{FixedState, collect_leaves, hash};
use krm_core::resource::Resource;
use krm_yaml::{NodeRef, Value};

/// A likeness of 1. Half of it makes a partner.
const WHOLE: usize = 1_000;
const HALF: usize = WHOLE / 2;
/// How much better the best partner must be than the next.
const MARGIN: usize = WHOLE / 10;
/// At most this many pairs of resources are compared without an index.
const FEW_PAIRS: usize = 256;
/// How many entries of the index are looked at for a resource, and how many of the resources found are compared.
const MOST_ENTRIES: usize = 256;
const MOST_COMPARED: usize = 16;
/// A pair can make another one certain. After so many rounds it no longer does.
const MOST_ROUNDS: usize = 8;

/// The leaves of a resource, apart from its version, kind, name and namespace and the bookkeeping of kpt: what is left
/// if a resource is renamed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leaves {
    /// The hashes of place and value, sorted. Elements of lists have no position.
    hashes: Vec<u64>,
}

impl Leaves {
    /// The leaves of a resource.
    pub fn of(node: NodeRef<'_>) -> Self {
        let mut value = node.value().unwrap_or(Value::Null);
        without_bookkeeping_of_tools(&mut value, Resource::read(node).is_kptfile());
        Self::of_value(&value)
    }

    /// The leaves of a resource without the bookkeeping of tools.
    pub(crate) fn of_value(value: &Value) -> Self {
        let mut hashes = Vec::new();
        for (key, value) in value.entries() {
            match key.as_str() {
                Some("apiVersion" | "kind") => {}
                Some("metadata") => collect_metadata(value, &mut hashes),
                _ => collect_leaves(value, hash(&key), &FixedState::default(), &mut hashes),
            }
        }
        hashes.sort_unstable();
        Self { hashes }
    }

    /// How much two resources are alike, in thousandths. Resources without leaves are alike in nothing.
    fn likeness(&self, other: &Self) -> usize {
        let most = self.hashes.len().max(other.hashes.len());
        let (mut equal, mut at) = (0, 0);
        for hash in &self.hashes {
            while other.hashes.get(at).is_some_and(|other| other < hash) {
                at += 1;
            }
            if other.hashes.get(at) == Some(hash) {
                equal += 1;
                at += 1;
            }
        }
        (equal * WHOLE).checked_div(most).unwrap_or_default()
    }

    /// Whether two resources with the same name may be one.
    fn may_be_renamed(&self, other: &Self) -> bool {
        self.likeness(other) >= HALF || self.hashes.is_empty() && other.hashes.is_empty()
    }
}

fn collect_metadata(metadata: &Value, hashes: &mut Vec<u64>) {
    for (key, value) in metadata.entries() {
        if !matches!(key.as_str(), Some("name" | "namespace" | "generateName")) {
            let place = hash(&("metadata", key));
            collect_leaves(value, place, &FixedState::default(), hashes);
        }
    }
}

/// A resource that has no counterpart yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unpaired<'u> {
    /// Its number among the resources of its side.
    pub number: usize,
    pub kind: &'u str,
    pub name: Option<&'u str>,
    /// The directory of its package.
    pub package: &'u str,
    pub file: Option<&'u str>,
    pub leaves: &'u Leaves,
}

/// What likeness finds, by the numbers of the resources.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Likeness {
    pub pairs: Vec<(usize, usize)>,
    /// Resources of the left side, each with the resources of the right side that it may be. Nothing decides.
    pub ties: Vec<(usize, Vec<usize>)>,
}

/// Pairs resources of one kind and package: those of one file first; in each, those of one name first.
pub(crate) fn pair_alike(left: &[Unpaired<'_>], right: &[Unpaired<'_>]) -> Likeness {
    let mut found = Likeness::default();
    let mut free = [left.to_vec(), right.to_vec()];
    for in_file in [true, false] {
        let place = |of: &Unpaired<'_>| match (in_file, of.file) {
            (true, None) => None,
            (true, file) => Some(hash(&(of.kind, of.package, file))),
            (false, _) => Some(hash(&(of.kind, of.package))),
        };
        let named = |of: &Unpaired<'_>| Some(hash(&(place(of)?, of.name?)));
        for [left, right] in groups(&free, named) {
            if let ([one], [other]) = (&left[..], &right[..])
                && one.leaves.may_be_renamed(other.leaves)
            {
                found.pairs.push((one.number, other.number));
            }
        }
        found.remove_paired(&mut free);
        for [left, right] in groups(&free, place) {
            found.add(pair_group(&left, &right));
        }
        found.remove_paired(&mut free);
    }
    found
}

impl Likeness {
    fn add(&mut self, other: Self) {
        self.pairs.extend(other.pairs);
        self.ties.extend(other.ties);
    }

    /// Removes the resources that are paired, and those of the left side that are tied.
    fn remove_paired(&self, free: &mut [Vec<Unpaired<'_>>; 2]) {
        let left: HashSet<usize> = self.pairs.iter().map(|(left, _)| *left).collect();
        let right: HashSet<usize> = self.pairs.iter().map(|(_, right)| *right).collect();
        let tied: HashSet<usize> = self.ties.iter().map(|(left, _)| *left).collect();
        free[0].retain(|of| !left.contains(&of.number) && !tied.contains(&of.number));
        free[1].retain(|of| !right.contains(&of.number));
    }
}

/// The resources that have a key in common with some of the other side, by key, in the order of the left side.
fn groups<'u>(
    sides: &[Vec<Unpaired<'u>>; 2],
    key: impl Fn(&Unpaired<'u>) -> Option<u64>,
) -> Vec<[Vec<Unpaired<'u>>; 2]> {
    let mut numbers: HashMap<u64, usize> = HashMap::new();
    let mut groups: Vec<[Vec<Unpaired<'u>>; 2]> = Vec::new();
    for (side, all) in sides.iter().enumerate() {
        for of in all {
            let Some(key) = key(of) else { continue };
            let next = groups.len();
            let number = *numbers.entry(key).or_insert(next);
            if number == next {
                groups.push(Default::default());
            }
            groups[number][side].push(*of);
        }
    }
    groups.retain(|[left, right]| !left.is_empty() && !right.is_empty());
    groups
}

/// Pairs resources whatever their kinds and places are.
fn pair_group(left: &[Unpaired<'_>], right: &[Unpaired<'_>]) -> Likeness {
    let mut partners = Partners::of(left, right);
    for _ in 0..MOST_ROUNDS {
        if !partners.pair_certain() {
            break;
        }
    }
    let pairs = partners.pairs.iter();
    Likeness {
        pairs: pairs
            .map(|(l, r)| (left[*l].number, right[*r].number))
            .collect(),
        ties: partners.ties(left, right),
    }
}

/// The possible partners of two sides, by position.
struct Partners {
    /// Positions on both sides, with the likeness, the best first.
    edges: Vec<(usize, usize, usize)>,
    /// For each side and position, the partners with their likeness, the best first.
    of: [Vec<Vec<(usize, usize)>>; 2],
    taken: [Vec<bool>; 2],
    pairs: Vec<(usize, usize)>,
}

impl Partners {
    fn of(left: &[Unpaired<'_>], right: &[Unpaired<'_>]) -> Self {
        let mut found: HashSet<(usize, usize)> = HashSet::new();
        if left.len().saturating_mul(right.len()) <= FEW_PAIRS {
            let all = (0..left.len()).flat_map(|l| (0..right.len()).map(move |r| (l, r)));
            found.extend(all);
        } else {
            // From both sides, so that each resource knows its best partners.
            found.extend(near(left, right));
            found.extend(near(right, left).into_iter().map(|(r, l)| (l, r)));
        }
        let edges = found.into_iter().filter_map(|(l, r)| {
            let likeness = left[l].leaves.likeness(right[r].leaves);
            (likeness >= HALF).then_some((l, r, likeness))
        });
        let mut edges: Vec<(usize, usize, usize)> = edges.collect();
        edges.sort_unstable_by_key(|(l, r, likeness)| (WHOLE - likeness, *l, *r));
        let mut of = [vec![Vec::new(); left.len()], vec![Vec::new(); right.len()]];
        for (l, r, likeness) in &edges {
            of[0][*l].push((*r, *likeness));
            of[1][*r].push((*l, *likeness));
        }
        Self {
            edges,
            of,
            taken: [vec![false; left.len()], vec![false; right.len()]],
            pairs: Vec::new(),
        }
    }

    /// Pairs resources that are each other's best partner by a margin, or the only ones that are equal. Returns whether
    /// there were any.
    fn pair_certain(&mut self) -> bool {
        let before = self.pairs.len();
        for at in 0..self.edges.len() {
            let (l, r, likeness) = self.edges[at];
            let is_free = !self.taken[0][l] && !self.taken[1][r];
            if is_free && self.is_certain(0, l, r, likeness) && self.is_certain(1, r, l, likeness) {
                self.taken[0][l] = true;
                self.taken[1][r] = true;
                self.pairs.push((l, r));
            }
        }
        self.pairs.len() > before
    }

    fn is_certain(&self, side: usize, at: usize, partner: usize, likeness: usize) -> bool {
        let mut others = self.of[side][at].iter();
        let next = others.find(|(other, _)| *other != partner && !self.taken[1 - side][*other]);
        next.is_none_or(|(_, next)| likeness >= next + MARGIN || likeness == WHOLE && *next < WHOLE)
    }

    /// The resources of the left side without a certain partner.
    fn ties(&self, left: &[Unpaired<'_>], right: &[Unpaired<'_>]) -> Vec<(usize, Vec<usize>)> {
        let free = (0..left.len()).filter(|at| !self.taken[0][*at]);
        let ties = free.filter_map(|at| {
            let partners = self.of[0][at].iter();
            let partners = partners.filter(|(partner, _)| !self.taken[1][*partner]);
            let mut partners = partners.peekable();
            let best = partners.peek()?.1;
            let equal = partners.take_while(|(_, likeness)| likeness + MARGIN > best);
            let equal = equal.map(|(partner, _)| right[*partner].number);
            Some((left[at].number, equal.collect()))
        });
        ties.collect()
    }
}

/// For each resource of the left side, those of the right side that have rare leaves in common with it. Two resources
/// with half of their leaves in common have one of any greater part of them in common.
fn near(left: &[Unpaired<'_>], right: &[Unpaired<'_>]) -> Vec<(usize, usize)> {
    let mut index: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, of) in right.iter().enumerate() {
        for hash in &of.leaves.hashes {
            let entries = index.entry(*hash).or_default();
            if entries.last() != Some(&at) {
                entries.push(at);
            }
        }
    }
    let mut found = Vec::new();
    for (at, of) in left.iter().enumerate() {
        let mut rare: Vec<&Vec<usize>> = Vec::new();
        let mut lacking = 0;
        for hash in &of.leaves.hashes {
            match index.get(hash) {
                Some(entries) => rare.push(entries),
                None => lacking += 1,
            }
        }
        rare.sort_by_key(|entries| entries.len());
        rare.truncate((of.leaves.hashes.len() / 2 + 1).saturating_sub(lacking));
        let mut counts: HashMap<usize, usize> = HashMap::new();
        let entries = rare.into_iter().flatten().take(MOST_ENTRIES);
        entries.for_each(|other| *counts.entry(*other).or_default() += 1);
        let mut counts: Vec<(usize, usize)> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|(other, count)| (usize::MAX - count, *other));
        let nearest = counts.into_iter().take(MOST_COMPARED);
        found.extend(nearest.map(|(other, _)| (at, other)));
    }
    found
}
