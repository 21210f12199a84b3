//! Finds which elements of a list without keys are the same in three versions.
//!
//! Equal elements are paired first, then elements with the same name. Of the elements that are left, those that
//! upstream changed are paired with upstream's version, and then with local's version: by similarity, or if only one is
//! left on each side, with that one. If more are left that may be the same, nothing is paired, because that would be a
//! guess; if only one side changed any of them, and equally many are left, they are paired by position.
//!
//! The result of a merge is paired in the same way if it is merged again, unless local has a new element that is similar
//! to one that upstream removed: in the result, it could be another version of that one. For this, base and upstream are paired
//! without regard to local. Each of local's elements keeps its name in the result, or equals upstream's element, or is
//! one value, or has a leaf that all its versions and no other element have.
//!
//! Source: contract, merge-package, Parts.

use std::cell::LazyCell;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::hash::RandomState;
use std::ops::Range;

use super::element::{Element, Name, drop_repeated_names, name_maps};
use crate::order::{Ranks, merge_order};
use crate::rule::{self, Outcome, Side};
use crate::versions::Versions;
use krm_yaml::interner::Interner;

pub(super) const BASE: usize = 0;
pub(super) const LOCAL: usize = 1;
pub(super) const UPSTREAM: usize = 2;

/// The maximum number of pairs of elements that are compared.
const MOST_COMPARED: usize = 2_500;

/// The elements of three versions, numbered: an element has one number in all versions.
pub(super) struct Pairing<'a> {
    pub(super) elements: [Vec<Element<'a>>; 3],
    /// The number of each element, by its position in a version.
    pub(super) numbers: [Vec<u32>; 3],
    /// By number, the position in each version.
    pub(super) places: Vec<[Option<usize>; 3]>,
    /// The numbers of elements that merge as one value each.
    pub(super) whole: HashSet<u32>,
    /// The runs of elements that cannot be distinguished. Each is one value.
    pub(super) runs: Vec<[Range<usize>; 3]>,
    /// Whether these are the elements of whole lists. Around a run of a list, there are elements that all versions have.
    pub(super) are_whole_lists: bool,
}

impl<'a> Pairing<'a> {
    /// Pairs the elements of three lists; `None` if that would be a guess.
    pub(super) fn between(
        elements: [Vec<Element<'a>>; 3],
        are_whole_lists: bool,
        state: &RandomState,
    ) -> Option<Self> {
        let pairing = Self::of_elements(elements, are_whole_lists, state)?;
        (!pairing.is_renamed_twice(state)? && pairing.is_certain()).then_some(pairing)
    }

    /// Pairs the elements of three lists, also where some of the pairs are not certain.
    pub(super) fn of_elements(
        mut elements: [Vec<Element<'a>>; 3],
        are_whole_lists: bool,
        state: &RandomState,
    ) -> Option<Self> {
        name_maps(&mut elements, state);
        drop_repeated_names(&mut elements)?;
        let mut pairing = Self::by_value(elements)?;
        pairing.are_whole_lists = are_whole_lists;
        pairing.by_name();
        pairing.by_other_fields(state);
        pairing.changed_by_upstream(state)?;
        pairing.changed_by_local(state)?;
        Some(pairing)
    }

    /// Pairs equal elements in order. `None` if an element occurs twice, but not equally often in all versions that have
    /// it: it is unclear which one is missing.
    fn by_value(elements: [Vec<Element<'a>>; 3]) -> Option<Self> {
        let mut counts: HashMap<u64, [usize; 3]> = HashMap::new();
        for (version, elements) in elements.iter().enumerate() {
            for element in elements {
                counts.entry(element.print).or_default()[version] += 1;
            }
        }
        let is_clear = |counts: &[usize; 3]| {
            let most = counts.iter().max().copied().unwrap_or_default();
            most < 2 || counts.iter().all(|count| *count == 0 || *count == most)
        };
        counts.values().all(is_clear).then_some(())?;
        let mut interner = Interner::default();
        let numbers = elements.each_ref().map(|elements| {
            let prints = elements.iter().map(|element| element.print);
            interner.number(prints).numbers
        });
        let mut places = vec![[None; 3]; interner.count()];
        for (version, numbers) in numbers.iter().enumerate() {
            for (at, number) in numbers.iter().enumerate() {
                places[*number as usize][version] = Some(at);
            }
        }
        Some(Self {
            elements,
            numbers,
            places,
            whole: HashSet::new(),
            runs: Vec::new(),
            are_whole_lists: true,
        })
    }

    /// Pairs elements with the same name.
    fn by_name(&mut self) {
        let mut first = HashMap::new();
        for version in [BASE, LOCAL, UPSTREAM] {
            for at in 0..self.elements[version].len() {
                if let Some(name) = self.elements[version][at].name {
                    let one = *first.entry(name).or_insert((version, at));
                    self.join(one, (version, at));
                }
            }
        }
    }

    /// Pairs maps that got another name, or have none, by a field that has the same value in all versions and in no
    /// other element. Elements for which the fields disagree are not paired.
    fn by_other_fields(&mut self, state: &RandomState) {
        let fields = self.elements.each_ref().map(|elements| {
            let fields = elements.iter().map(|element| element.fields(state));
            fields.collect::<Vec<_>>()
        });
        let unique = fields.each_ref().map(|elements| unique_fields(elements));
        let is_open = |pairing: &Self, version: usize, at: usize, lacking: usize| {
            pairing.elements[version][at].has_other_names()
                && pairing.of(version, at)[lacking].is_none()
        };
        for version in [UPSTREAM, LOCAL] {
            let mut pairs = Vec::new();
            for (old, own) in fields[BASE].iter().enumerate() {
                if !is_open(self, BASE, old, version) {
                    continue;
                }
                let theirs = self.of(BASE, old)[UPSTREAM];
                // What upstream removed has no other version of which it could be a part.
                if version == LOCAL && theirs.is_none() {
                    continue;
                }
                let is_unchanged = |field: &&u64| {
                    theirs.is_none_or(|at| unique[UPSTREAM].get(*field) == Some(&at))
                };
                let own = own.iter().filter(|field| unique[BASE].contains_key(*field));
                let found = own
                    .filter(is_unchanged)
                    .filter_map(|field| unique[version].get(field));
                let found: HashSet<usize> = found.copied().collect();
                pairs.extend(found.into_iter().map(|new| (old, new)));
            }
            for (old, new) in pairs.iter().filter(|pair| is_only(pair, &pairs)) {
                let is_new = self.of(version, *new)[BASE].is_none()
                    && (version == UPSTREAM || self.of(version, *new)[UPSTREAM].is_none());
                if is_new && self.elements[version][*new].has_other_names() {
                    self.join((BASE, *old), (version, *new));
                }
            }
        }
    }

    /// Pairs elements with names of their own that a version renamed: each other's only similar ones.
    fn renamed_by(&self, version: usize, state: &RandomState) -> Option<Vec<(usize, usize)>> {
        let left = |one: usize, lacking: usize| -> Vec<usize> {
            let is_left = |at: &usize| {
                !self.elements[one][*at].may_be_renamed() && self.of(one, *at)[lacking].is_none()
            };
            (0..self.elements[one].len()).filter(is_left).collect()
        };
        let (mut old, mut new) = (left(BASE, version), left(version, BASE));
        if version == LOCAL {
            old.retain(|at| self.of(BASE, *at)[UPSTREAM].is_some());
            new.retain(|at| self.of(LOCAL, *at)[UPSTREAM].is_none());
        }
        let alike = self.alike([(BASE, &old), (version, &new)], state)?;
        let only = alike.iter().filter(|pair| is_only(pair, &alike));
        Some(only.copied().collect())
    }

    /// Pairs the elements that upstream changed with upstream's versions: similar elements, then the only one that is
    /// left. `None` if more are left, unless local has the old ones as base has them and did not move them, or local
    /// has the new ones as upstream has them.
    fn changed_by_upstream(&mut self, state: &RandomState) -> Option<()> {
        for (old, new) in self.renamed_by(UPSTREAM, state)? {
            self.join((BASE, old), (UPSTREAM, new));
        }
        let (removed, added) = (self.left(BASE, UPSTREAM), self.left(UPSTREAM, BASE));
        let alike = self.alike([(BASE, &removed), (UPSTREAM, &added)], state)?;
        for (old, new) in alike.iter().filter(|pair| is_only(pair, &alike)) {
            self.join((BASE, *old), (UPSTREAM, *new));
        }
        let (removed, mut added) = (self.left(BASE, UPSTREAM), self.left(UPSTREAM, BASE));
        // What both sides added is a new element.
        let count = added.len();
        added.retain(|at| self.of(UPSTREAM, *at)[LOCAL].is_none());
        if let ([old], [new]) = (&removed[..], &added[..]) {
            // Both sides removed it, and added one element alike.
            let is_replaced = count > 1 && self.of(BASE, *old)[LOCAL].is_none();
            if is_replaced
                || self.have_one_place(&[(BASE, *old), (UPSTREAM, *new)])
                    && self.join((BASE, *old), (UPSTREAM, *new))
            {
                return Some(());
            }
        }
        let is_in_local = |version: usize, at: &usize| {
            let place = self.of(version, *at)[LOCAL];
            place.is_some_and(|place| self.print(LOCAL, place) == self.print(version, *at))
        };
        let moved = LazyCell::new(|| self.moved(LOCAL));
        let is_clear = removed.is_empty()
            || added.is_empty()
            || removed
                .iter()
                .all(|at| is_in_local(BASE, at) && !moved.contains(at))
            || added.iter().all(|at| is_in_local(UPSTREAM, at));
        is_clear.then_some(())?;
        self.by_position(&removed, (UPSTREAM, &added));
        Some(())
    }

    /// Pairs the elements that are left, by position, if equally many are left on each side. Both have the same value
    /// in two versions, so this decides only about their order.
    fn by_position(&mut self, olds: &[usize], (version, news): (usize, &[usize])) {
        let pairs = olds.iter().zip(news);
        let pairs = pairs.map(|(old, new)| [(BASE, *old), (version, *new)]);
        if olds.len() == news.len() && pairs.clone().all(|pair| self.have_one_place(&pair)) {
            pairs.for_each(|[old, new]| {
                self.join(old, new);
            });
        }
    }

    /// Pairs elements that upstream has and local does not have with new elements of local. `None` if that would be a
    /// guess about an element that upstream changed or moved, or if a new element may be one that upstream removed.
    fn changed_by_local(&mut self, state: &RandomState) -> Option<()> {
        let mut lacking = self.left(BASE, LOCAL);
        lacking.retain(|at| self.of(BASE, *at)[UPSTREAM].is_some());
        let mut new = self.left(LOCAL, BASE);
        new.retain(|at| self.of(LOCAL, *at)[UPSTREAM].is_none());
        self.relabelled(&mut lacking, &mut new);
        let upstreams = |at: usize| self.of(BASE, at)[UPSTREAM];
        let is_changed = |at: usize| {
            let theirs = upstreams(at);
            theirs.is_some_and(|theirs| self.print(UPSTREAM, theirs) != self.print(BASE, at))
        };
        let mut removed = self.left(BASE, UPSTREAM);
        removed.retain(|at| self.of(BASE, *at)[LOCAL].is_none());
        let all: Vec<usize> = lacking.iter().chain(&removed).copied().collect();
        let alike = self.alike([(BASE, &all), (LOCAL, &new)], state)?;
        (!alike.iter().any(|(old, _)| removed.contains(old))).then_some(())?;
        let (mut pairs, others): (Vec<_>, Vec<_>) =
            alike.iter().partition(|pair| is_only(pair, &alike));
        let moved = LazyCell::new(|| self.moved(UPSTREAM));
        let is_guess = |(old, new): &(usize, usize)| {
            let mut of_new = alike.iter().filter(|pair| pair.1 == *new);
            let is_touched = |at: usize| is_changed(at) || moved.contains(&at);
            is_touched(*old) || of_new.any(|pair| is_touched(pair.0))
        };
        (!others.iter().any(is_guess)).then_some(())?;
        let is_open = |version: usize, at: &usize| {
            let is_like = alike.iter().any(|(old, new)| [*old, *new][version] == *at);
            !is_like && self.elements[version][*at].name.is_none()
        };
        lacking.retain(|at| is_open(BASE, at));
        new.retain(|at| is_open(LOCAL, at));
        if !new.is_empty() && lacking.iter().any(|at| is_changed(*at)) {
            let ([old], [new]) = (&lacking[..], &new[..]) else {
                return None;
            };
            let versions = [(BASE, *old), (LOCAL, *new), (UPSTREAM, upstreams(*old)?)];
            self.have_one_place(&versions).then_some(())?;
            pairs.push((*old, *new));
        } else {
            self.by_position(&lacking, (LOCAL, &new));
        }
        self.join_changed(&pairs, state)
    }

    /// Makes elements of base, and the elements of local that are changed versions of them, the same. Where upstream
    /// changed one of them too, it merges only if it is certain that it is the same.
    fn join_changed(&mut self, pairs: &[(usize, usize)], state: &RandomState) -> Option<()> {
        let is_alone =
            self.are_whole_lists && self.elements.iter().all(|elements| elements.len() == 1);
        let renamed = self.renamed_by(LOCAL, state)?;
        let all = pairs.iter().map(|pair| (*pair, false));
        let all: Vec<_> = all
            .chain(renamed.iter().map(|pair| (*pair, true)))
            .collect();
        let leaves = LazyCell::new(|| self.leaves(state));
        let merge = |(old, new): (usize, usize)| {
            let theirs = self.of(BASE, old)[UPSTREAM]?;
            let is_changed = self.print(UPSTREAM, theirs) != self.print(BASE, old);
            Some(is_alone || is_changed && self.is_known_by_leaves([old, new, theirs], &leaves))
        };
        let merges: Vec<bool> = all
            .iter()
            .map(|(pair, _)| merge(*pair))
            .collect::<Option<_>>()?;
        drop(leaves);
        for (((old, new), is_renamed), merges) in all.into_iter().zip(merges) {
            // What has a name of its own is another element, unless it is certain that it is the same, or upstream
            // renamed it as well.
            let name = |version: usize, at: usize| self.elements[version][at].name;
            let theirs = self.of(BASE, old)[UPSTREAM].map(|at| name(UPSTREAM, at));
            let is_one =
                !is_renamed || merges || theirs.is_some_and(|theirs| theirs != name(BASE, old));
            if is_one {
                self.join((BASE, old), (LOCAL, new));
            }
            if is_one && !merges {
                self.whole.insert(self.numbers[BASE][old]);
            }
        }
        Some(())
    }

    /// The elements of base that a version moved, among those that both have.
    fn moved(&self, version: usize) -> HashSet<usize> {
        let shared = |one: usize, other: usize| -> Vec<u32> {
            let numbers = self.numbers[one].iter().copied();
            let is_shared = |number: &u32| self.places[*number as usize][other].is_some();
            numbers.filter(is_shared).collect()
        };
        let ranks = Ranks::of(&shared(version, BASE));
        let mut most = 0;
        let mut moved = HashSet::new();
        for (rank, number) in shared(BASE, version).into_iter().enumerate() {
            let now = ranks.get(number).unwrap_or_default();
            // An element did not move if it has its place, and everything before it too.
            if now != rank || most > rank {
                moved.extend(self.places[number as usize][BASE]);
            }
            most = most.max(now);
        }
        moved
    }

    /// Pairs elements that have a name in common with others, if local changed the distinguishing fields of only one of
    /// them.
    fn relabelled(&mut self, lacking: &mut Vec<usize>, new: &mut Vec<usize>) {
        let mut shared: HashMap<u64, [Vec<usize>; 2]> = HashMap::new();
        for (side, (version, all)) in [(BASE, &*lacking), (LOCAL, &*new)].into_iter().enumerate() {
            for at in all {
                let name = self.elements[version][*at].name;
                if let Some(name) = name.and_then(Name::shared) {
                    shared.entry(name).or_default()[side].push(*at);
                }
            }
        }
        for [olds, news] in shared.into_values() {
            if let ([old], [own]) = (&olds[..], &news[..])
                && self.join((BASE, *old), (LOCAL, *own))
            {
                lacking.retain(|at| at != old);
                new.retain(|at| at != own);
            }
        }
    }

    /// Whether both sides have a new element that is similar to one that both removed: each may have renamed it.
    fn is_renamed_twice(&self, state: &RandomState) -> Option<bool> {
        let lacks = |version: usize, other: usize| {
            let all = 0..self.elements[version].len();
            all.filter(move |at| self.of(version, *at)[other].is_none())
        };
        let removed: Vec<usize> = lacks(BASE, LOCAL)
            .filter(|at| self.of(BASE, *at)[UPSTREAM].is_none())
            .collect();
        let new = |version: usize, other: usize| -> Vec<usize> {
            let new = lacks(version, BASE);
            new.filter(|at| self.of(version, *at)[other].is_none())
                .collect()
        };
        let local = self.alike([(BASE, &removed), (LOCAL, &new(LOCAL, UPSTREAM))], state)?;
        let upstream = self.alike([(BASE, &removed), (UPSTREAM, &new(UPSTREAM, LOCAL))], state)?;
        Some(
            local
                .iter()
                .any(|(one, _)| upstream.iter().any(|(other, _)| one == other)),
        )
    }

    /// The pairs of elements of two versions that have more than half of their leaves in common. If two elements are
    /// each other's single best match, their other pairs are left out. `None` if there are too many elements to
    /// compare.
    fn alike(
        &self,
        [(one, ours), (other, theirs)]: [(usize, &[usize]); 2],
        state: &RandomState,
    ) -> Option<Vec<(usize, usize)>> {
        // Two different scalars have nothing in common.
        let collections = |version: usize, all: &[usize]| -> Vec<usize> {
            let all = all.iter().copied();
            all.filter(|at| self.elements[version][*at].is_collection())
                .collect()
        };
        let (ours, theirs) = (collections(one, ours), collections(other, theirs));
        (ours.len().saturating_mul(theirs.len()) <= MOST_COMPARED).then_some(())?;
        let leaves = |version: usize, at: &[usize]| -> Vec<HashSet<u64>> {
            let leaves = at
                .iter()
                .map(|at| self.elements[version][*at].leaves(state));
            leaves.collect()
        };
        let mut found = Vec::new();
        let of_theirs = leaves(other, &theirs);
        for (a, leaves) in ours.iter().zip(leaves(one, &ours)) {
            for (b, others) in theirs.iter().zip(&of_theirs) {
                let common = leaves.intersection(others).count();
                if 2 * common > leaves.len().max(others.len()) {
                    found.push((*a, *b, common));
                }
            }
        }
        Some(most_alike(&found))
    }

    /// Whether elements that are the only ones left may be the same: they have no names, and all or none are
    /// collections.
    fn have_one_place(&self, versions: &[(usize, usize)]) -> bool {
        let elements = || {
            versions
                .iter()
                .map(|(version, at)| &self.elements[*version][*at])
        };
        let are_collections = elements().all(Element::is_collection);
        elements()
            .all(|element| element.is_collection() == are_collections && element.name.is_none())
    }

    /// The leaves of each element, by version.
    fn leaves(&self, state: &RandomState) -> [Vec<HashSet<u64>>; 3] {
        self.elements.each_ref().map(|elements| {
            let leaves = elements.iter().map(|element| element.leaves(state));
            leaves.collect()
        })
    }

    /// Whether an element can be recognised by its leaves, also after the merge: most of its leaves are in all its
    /// versions, every other element has fewer of its leaves, and at least one leaf is in no other element.
    fn is_known_by_leaves(&self, versions: [usize; 3], leaves: &[Vec<HashSet<u64>>; 3]) -> bool {
        let [base, local, upstream] = [BASE, LOCAL, UPSTREAM].map(|at| &leaves[at][versions[at]]);
        let all = base.iter().chain(local).chain(upstream);
        let all: HashSet<u64> = all.copied().collect();
        let in_all = base
            .intersection(local)
            .filter(|leaf| upstream.contains(*leaf));
        let mut common: HashSet<u64> = in_all.copied().collect();
        let shared = common.len();
        if 2 * shared <= all.len() {
            return false;
        }
        // The merged element has the leaves that all versions have, and those that are new.
        let is_merged = |leaf: &u64| common.contains(leaf) || !base.contains(leaf);
        let merged: HashSet<u64> = all.iter().copied().filter(is_merged).collect();
        // Of another element, local's and upstream's version together: its merged version has leaves of both.
        let mut of_others: HashMap<u32, HashSet<u64>> = HashMap::new();
        for (version, elements) in leaves.iter().enumerate() {
            let others = elements.iter().enumerate();
            for (at, other) in others.filter(|(at, _)| versions[version] != *at) {
                common.retain(|leaf| !other.contains(leaf));
                if version != BASE {
                    let known = of_others.entry(self.numbers[version][at]).or_default();
                    known.extend(other.intersection(base));
                } else if other.intersection(&merged).count() >= shared {
                    return false;
                }
            }
        }
        !common.is_empty() && of_others.values().all(|known| known.len() < shared)
    }

    /// Whether the merge by elements is certain: the lists have something in common, each element can be decided item
    /// by item, and the order is not a conflict.
    pub(super) fn is_certain(&self) -> bool {
        let is_shared =
            |places: &[Option<usize>; 3]| places[LOCAL].is_some() && places[UPSTREAM].is_some();
        // The order of other words that both sides added matters: they may form a command.
        let stands_alone =
            |element: &Element<'_>| element.name.is_some() || element.is_collection();
        let are_shared = !self.are_whole_lists
            || self.places.iter().any(is_shared)
            || self.elements[BASE].is_empty() && self.elements.iter().flatten().all(stands_alone);
        let [base, local, upstream] = self.numbers.each_ref();
        are_shared
            && self.all().all(|element| is_decided_by_items(element))
            && !merge_order(base, local, upstream, Side::Local).cycle
    }

    /// The positions of the elements that one version has and another does not have, if they may have another name
    /// there.
    fn left(&self, version: usize, lacking: usize) -> Vec<usize> {
        let is_left = |at: &usize| {
            self.elements[version][*at].may_be_renamed() && self.of(version, *at)[lacking].is_none()
        };
        (0..self.elements[version].len()).filter(is_left).collect()
    }

    fn print(&self, version: usize, at: usize) -> u64 {
        self.elements[version][at].print
    }

    /// The places of an element in the three versions.
    fn of(&self, version: usize, at: usize) -> &[Option<usize>; 3] {
        &self.places[self.numbers[version][at] as usize]
    }

    /// Makes two elements the same. Returns false if that is not possible because a version has both.
    fn join(&mut self, one: (usize, usize), other: (usize, usize)) -> bool {
        let number = |(version, at): (usize, usize)| self.numbers[version][at];
        let (kept, joined) = (number(one), number(other));
        if kept == joined {
            return true;
        }
        let places = self.places[joined as usize];
        let mut both = places.iter().zip(&self.places[kept as usize]);
        if both.any(|(one, other)| one.is_some() && other.is_some()) {
            return false;
        }
        for (version, place) in places.into_iter().enumerate() {
            if let Some(at) = place {
                self.numbers[version][at] = kept;
                self.places[kept as usize][version] = Some(at);
            }
        }
        self.places[joined as usize] = [None; 3];
        true
    }

    /// The positions of the elements that two versions have.
    pub(super) fn pairs(&self, one: usize, other: usize) -> impl Iterator<Item = (usize, usize)> {
        let places = self.places.iter();
        places.filter_map(move |places| places[one].zip(places[other]))
    }

    /// The positions of the elements of a version that another lacks.
    pub(super) fn alone(&self, version: usize, other: usize) -> Vec<usize> {
        let all = 0..self.elements[version].len();
        all.filter(|at| self.of(version, *at)[other].is_none())
            .collect()
    }

    pub(super) fn is_named(&self, version: usize, at: usize) -> bool {
        self.elements[version][at].name.is_some()
    }

    /// By number, the element in each version.
    pub(super) fn all(&self) -> impl Iterator<Item = Versions<Option<&Element<'a>>>> {
        self.places.iter().map(|places| {
            let of = |version: usize| Some(&self.elements[version][places[version]?]);
            Versions::from([BASE, LOCAL, UPSTREAM].map(of))
        })
    }

    /// The elements outside of runs that are one value.
    pub(super) fn decided_one_by_one(
        &self,
    ) -> impl Iterator<Item = Versions<Option<&Element<'a>>>> {
        let in_runs = self.runs.iter().flat_map(|run| {
            let versions = run.iter().zip(&self.numbers);
            versions.flat_map(|(range, numbers)| numbers[range.clone()].iter().copied())
        });
        let in_runs: HashSet<u32> = in_runs.collect();
        let all = (0..).zip(self.all());
        all.filter(move |(number, _)| !in_runs.contains(number))
            .map(|(_, element)| element)
    }

    /// Where a run is in the local list, or else in upstream's: `elements 2-3`, counted from 1.
    pub(super) fn place_of(&self, run: &[Range<usize>; 3]) -> String {
        let version = if run[LOCAL].is_empty() {
            UPSTREAM
        } else {
            LOCAL
        };
        let items = |range: Range<usize>| -> usize {
            let elements = self.elements[version][range].iter();
            elements.map(|element| element.values.len()).sum()
        };
        let range = run[version].clone();
        let before = items(0..range.start);
        match items(range) {
            1 => format!("element {}", before + 1),
            count => format!("elements {}-{}", before + 1, before + count),
        }
    }

    /// The numbers of the elements that all versions have, in the order of each version.
    pub(super) fn orders(&self) -> Versions<Vec<u32>> {
        let is_everywhere = |number: &u32| !self.places[*number as usize].contains(&None);
        let numbers = self.numbers.each_ref().map(|numbers| {
            let numbers = numbers.iter().copied();
            numbers.filter(is_everywhere).collect()
        });
        Versions::from(numbers)
    }

    /// The numbers of the items, and their count. The second item of an element has an odd number.
    pub(super) fn numbers(&self) -> (Versions<Vec<u32>>, usize) {
        let of = |version: usize| {
            let elements = self.elements[version].iter().zip(&self.numbers[version]);
            let numbers = elements.flat_map(|(element, number)| {
                let items = [2 * number, 2 * number + 1].into_iter();
                items.take(element.values.len())
            });
            numbers.collect()
        };
        let numbers = [BASE, LOCAL, UPSTREAM].map(of);
        (Versions::from(numbers), 2 * self.places.len())
    }
}

/// Leaves out pairs with an element that is in a better pair: a pair that is the single best match of both its
/// elements. The third number of a pair is the count of leaves that its elements have in common.
fn most_alike(pairs: &[(usize, usize, usize)]) -> Vec<(usize, usize)> {
    // For each element, its largest count of common leaves, and the number of elements with that count.
    let mut most: [HashMap<usize, (usize, usize)>; 2] = Default::default();
    for (one, other, common) in pairs {
        for (most, at) in most.iter_mut().zip([*one, *other]) {
            let (best, count) = most.entry(at).or_default();
            match common.cmp(best) {
                Ordering::Greater => (*best, *count) = (*common, 1),
                Ordering::Equal => *count += 1,
                Ordering::Less => {}
            }
        }
    }
    let is_best = |(one, other, common): &(usize, usize, usize)| {
        most[0][one] == (*common, 1) && most[1][other] == (*common, 1)
    };
    let (best, others): (Vec<_>, Vec<_>) = pairs.iter().copied().partition(is_best);
    let taken = [
        best.iter().map(|pair| pair.0).collect::<HashSet<usize>>(),
        best.iter().map(|pair| pair.1).collect(),
    ];
    let is_open =
        |pair: &(usize, usize, usize)| !taken[0].contains(&pair.0) && !taken[1].contains(&pair.1);
    let others = others.into_iter().filter(is_open);
    let all = best.into_iter().chain(others);
    all.map(|(one, other, _)| (one, other)).collect()
}

/// Whether no other pair has an element of this pair.
fn is_only((one, other): &(usize, usize), pairs: &[(usize, usize)]) -> bool {
    let sharing = pairs
        .iter()
        .filter(|pair| pair.0 == *one || pair.1 == *other);
    sharing.count() == 1
}

/// Whether the items of an element can be decided one by one. A flag and its value must be kept or removed together.
fn is_decided_by_items(element: Versions<Option<&Element<'_>>>) -> bool {
    let flags = element.map(|one| one.map(|one| one.flag_of_value()));
    let prints = element.map(|one| one.map(|one| one.print));
    let are_alike = flags.local.is_some()
        && flags.local == flags.upstream
        && flags.base.is_none_or(|base| Some(base) == flags.local);
    are_alike
        || !flags.into_iter().flatten().any(|flag| flag.is_some())
        || rule::merge(prints, |a, b| a == b) != Outcome::Conflict
}

/// The fields that one element of a list has and no other, each with the position of the element.
fn unique_fields(elements: &[Vec<u64>]) -> HashMap<u64, usize> {
    let mut found: HashMap<u64, Option<usize>> = HashMap::new();
    for (at, field) in elements
        .iter()
        .enumerate()
        .flat_map(|(at, all)| all.iter().map(move |f| (at, *f)))
    {
        found
            .entry(field)
            .and_modify(|place| *place = None)
            .or_insert(Some(at));
    }
    let alone = found.into_iter();
    alone.filter_map(|(field, at)| Some((field, at?))).collect()
}
