//! Lists in which some elements cannot be distinguished: the runs between the elements that no side touched are paired
//! one by one, and a run that cannot be paired is one value.
//!
//! ```yaml
//! # base   # local   # upstream   # merged: the first run is upstream's change, the second one is a conflict
//! - a      - a       - b
//! - keep   - keep    - keep
//! - x      - y       - z
//! - x      - y       - z
//! ```
//!
//! Source: contract, merge-package, Parts.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::RandomState;
use std::ops::Range;

use super::element::{Element, Name, name_maps};
use super::pairing::{BASE, LOCAL, Pairing, UPSTREAM};
use crate::lines::{Changed, Chunk, chunks};
use crate::rule::Side;
use crate::versions::Versions;
use krm_core::diff::hunks;

/// Neighbouring chunks that at least one side changed, or one that no side changed.
struct ElementRun {
    changed: Changed,
    ranges: [Range<usize>; 3],
    chunks: Vec<Chunk>,
}

/// Pairs the elements of three lists by runs; `None` if nothing is in common, or if an element may have moved from one
/// run to another.
pub(super) fn by_runs<'a>(
    elements: &[Vec<Element<'a>>; 3],
    state: &RandomState,
) -> Option<Pairing<'a>> {
    let prints = elements.each_ref().map(|elements| {
        let prints = elements.iter().map(|element| element.print);
        prints.collect::<Vec<_>>()
    });
    let direct = aligned(elements, &prints, state);
    let is_certain = direct
        .as_ref()
        .is_some_and(|pairing| pairing.runs.is_empty());
    if is_certain {
        return direct;
    }
    // Where equal elements can be paired in several ways, those that local has in common with upstream decide: the result
    // of a merge has upstream's elements.
    match aligned(elements, &through_upstream(&prints), state) {
        Some(other) if other.runs.is_empty() || direct.is_none() => Some(other),
        _ => direct,
    }
}

/// Keys with which each element of local is the same as that of base with which upstream's element is the same.
fn through_upstream(prints: &[Vec<u64>; 3]) -> [Vec<u64>; 3] {
    let [base, local, upstream] = prints;
    let number = |at: usize| u64::try_from(at).unwrap_or(u64::MAX);
    let of_base: Vec<u64> = (0..base.len()).map(number).collect();
    let (upstreams, lacking) = keys_from(base, &of_base, upstream, number(base.len()));
    let first = number(base.len() + upstream.len());
    let (mut locals, _) = keys_from(upstream, &upstreams, local, first);
    // What upstream removed may still be in local.
    let new: Vec<usize> = (0..local.len()).filter(|at| locals[*at] >= first).collect();
    let of_new: Vec<u64> = new.iter().map(|at| local[*at]).collect();
    let removed: Vec<u64> = lacking.iter().map(|at| base[*at]).collect();
    let keys: Vec<u64> = lacking.iter().map(|at| of_base[*at]).collect();
    let (kept, _) = keys_from(&removed, &keys, &of_new, first);
    for (at, key) in new.into_iter().zip(kept) {
        if key < first {
            locals[at] = key;
        }
    }
    [of_base, locals, upstreams]
}

/// The key of each element of a list: that of the same element of an old list, or a new one, from `first` on. Also the
/// positions of the old elements that the list lacks.
fn keys_from(old: &[u64], keys: &[u64], new: &[u64], first: u64) -> (Vec<u64>, Vec<usize>) {
    let (mut found, mut lacking) = (Vec::with_capacity(new.len()), Vec::new());
    let mut at = 0;
    let mut next = first;
    for hunk in hunks(old, new) {
        found.extend_from_slice(&keys[at..hunk.before.start]);
        at = hunk.before.end;
        lacking.extend(hunk.before);
        for _ in hunk.after {
            found.push(next);
            next += 1;
        }
    }
    found.extend_from_slice(&keys[at..]);
    (found, lacking)
}

/// Pairs the elements of three lists by runs. Elements with equal keys are the same, in their order.
fn aligned<'a>(
    own_names: &[Vec<Element<'a>>; 3],
    keys: &[Vec<u64>; 3],
    state: &RandomState,
) -> Option<Pairing<'a>> {
    let keys = keys.each_ref().map(Vec::as_slice);
    let regions = regions(chunks(Versions::from(keys)));
    if !regions
        .iter()
        .any(|region| region.changed == Changed::Nobody)
    {
        return None;
    }
    let mut elements = own_names.clone();
    name_maps(&mut elements, state);
    if has_moves(&elements, &regions) {
        return None;
    }
    let mut pairing = Pairing {
        numbers: elements.each_ref().map(|all| vec![u32::MAX; all.len()]),
        elements,
        places: Vec::new(),
        whole: HashSet::new(),
        runs: Vec::new(),
        are_whole_lists: true,
    };
    for region in &regions {
        pairing.region(region, own_names, state);
    }
    pairing.number_the_others();
    pairing.is_certain().then_some(pairing)
}

fn regions(chunks: Vec<Chunk>) -> Vec<ElementRun> {
    let mut regions: Vec<ElementRun> = Vec::new();
    for chunk in chunks {
        let ranges = chunk.lines.clone().into_array();
        let is_both = |changed: Changed| matches!(changed, Changed::BothAlike | Changed::Conflict);
        if let Some(last) = regions.last_mut()
            && is_both(last.changed)
            && is_both(chunk.changed)
        {
            for (range, more) in last.ranges.iter_mut().zip(ranges) {
                *range = range.start.min(more.start)..range.end.max(more.end);
            }
            last.changed = Changed::Conflict;
            last.chunks.push(chunk);
        } else {
            regions.push(ElementRun {
                changed: chunk.changed,
                ranges,
                chunks: vec![chunk],
            });
        }
    }
    regions
}

/// Whether an element, or another one of its name, is in one run of a version and in another run of another version.
fn has_moves(elements: &[Vec<Element<'_>>; 3], regions: &[ElementRun]) -> bool {
    #[derive(PartialEq, Eq, Hash)]
    enum RunElement<'a> {
        Value(u64),
        Name(Name<'a>),
    }
    let mut places: HashMap<RunElement<'_>, [BTreeSet<usize>; 3]> = HashMap::new();
    let is_changed = |(_, region): &(usize, &ElementRun)| region.changed != Changed::Nobody;
    for (at, region) in regions.iter().enumerate().filter(is_changed) {
        for (version, range) in region.ranges.iter().enumerate() {
            for element in &elements[version][range.clone()] {
                let name = element.name.map(RunElement::Name);
                for key in [Some(RunElement::Value(element.print)), name]
                    .into_iter()
                    .flatten()
                {
                    places.entry(key).or_default()[version].insert(at);
                }
            }
        }
    }
    places.values().any(|places| {
        let mut given = places.iter().filter(|places| !places.is_empty());
        let first = given.next();
        given.any(|other| Some(other) != first)
    })
}

impl<'a> Pairing<'a> {
    fn region(
        &mut self,
        region: &ElementRun,
        elements: &[Vec<Element<'a>>; 3],
        state: &RandomState,
    ) {
        let [base, local, upstream] = region.ranges.clone();
        match region.changed {
            Changed::Nobody => self.same([Some(base), Some(local), Some(upstream)]),
            Changed::BothAlike => self.same([None, Some(local), Some(upstream)]),
            Changed::One(_) | Changed::Conflict => {
                let versions = [BASE, LOCAL, UPSTREAM];
                let own = versions.map(|at| elements[at][region.ranges[at].clone()].to_vec());
                if let Some(pairing) = Pairing::between(own, false, state) {
                    self.take(&pairing, &region.ranges);
                } else if region.changed == Changed::One(Side::Local) {
                    self.same([Some(base), None, Some(upstream)]);
                } else if region.changed == Changed::One(Side::Upstream) {
                    self.same([Some(base), Some(local), None]);
                } else {
                    self.both(region);
                }
            }
        }
    }

    /// A run that both sides changed: what they have in common, and what is one value.
    fn both(&mut self, region: &ElementRun) {
        for chunk in &region.chunks {
            let [base, local, upstream] = chunk.lines.clone().into_array();
            if chunk.changed == Changed::Conflict {
                self.runs.push([base, local, upstream]);
            } else {
                self.same([None, Some(local), Some(upstream)]);
            }
        }
    }

    /// Gives elements at the same place in these ranges the same number.
    fn same(&mut self, ranges: [Option<Range<usize>>; 3]) {
        let count = ranges.iter().flatten().map(Range::len).max();
        for at in 0..count.unwrap_or_default() {
            let place = |range: &Option<Range<usize>>| {
                let range = range.as_ref()?;
                Some(range.start + at).filter(|at| range.contains(at))
            };
            self.push(ranges.each_ref().map(place));
        }
    }

    fn push(&mut self, places: [Option<usize>; 3]) {
        let number = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        for (version, place) in places.iter().enumerate() {
            if let Some(at) = place {
                self.numbers[version][*at] = number;
            }
        }
        self.places.push(places);
    }

    /// Takes the pairs of a run.
    fn take(&mut self, run: &Pairing<'_>, ranges: &[Range<usize>; 3]) {
        for (number, places) in (0..).zip(&run.places) {
            if places.iter().all(Option::is_none) {
                continue;
            }
            if run.whole.contains(&number) {
                let number = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
                self.whole.insert(number);
            }
            let mut version = 0;
            self.push(places.map(|place| {
                let start = ranges[version].start;
                version += 1;
                place.map(|at| start + at)
            }));
        }
    }

    /// Gives each element that is the same as no other a number.
    fn number_the_others(&mut self) {
        for version in [BASE, LOCAL, UPSTREAM] {
            for at in 0..self.numbers[version].len() {
                if self.numbers[version][at] == u32::MAX {
                    let mut places = [None; 3];
                    places[version] = Some(at);
                    self.push(places);
                }
            }
        }
    }
}
