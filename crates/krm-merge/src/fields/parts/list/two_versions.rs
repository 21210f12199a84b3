//! Pairs the elements of two versions of a list without keys, as a merge of them would.
//!
//! ```yaml
//! # before                    # after
//! - {id: api, tag: 1}         - {id: web, tag: 2}     # the element with `id: web`
//! - {id: web, tag: 1}         - {id: api, tag: 2}
//! ```
//!
//! Where a merge would not guess, equal elements are paired in order, and the others by position if equally many are left.
//!
//! Source: contract, Which element is which.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::element::{Element, elements_of};
use super::pairing::{BASE, Pairing, UPSTREAM};
use krm_yaml::Value;
use krm_yaml::interner::matches;

/// The positions of the elements that are the same, sorted by the first.
pub(crate) fn pair_values(before: &[Value], after: &[Value]) -> Vec<(usize, usize)> {
    let state = RandomState::new();
    let lists = [before, after].map(|list| {
        let items = list.iter().map(|value| (value.as_str(), value.clone()));
        elements_of(items.collect(), &state)
    });
    let mut pairs = match lists {
        [Some(old), Some(new)] => {
            let (starts, others) = (starts(&old), starts(&new));
            let items = |(old, new): (usize, usize)| {
                // The value of a flag is a separate item.
                starts[old].clone().zip(others[new].clone())
            };
            let local = old.clone();
            match Pairing::of_elements([old, local, new], true, &state) {
                Some(pairing) => {
                    let pairs = pairing.pairs(BASE, UPSTREAM);
                    pairs.chain(by_position(&pairing)).flat_map(items).collect()
                }
                None => by_value_and_position(before, after, &state),
            }
        }
        _ => by_value_and_position(before, after, &state),
    };
    pairs.sort_unstable();
    pairs
}

/// The elements that are left, by position, if equally many are left on each side. Two names are two elements.
fn by_position(pairing: &Pairing<'_>) -> Vec<(usize, usize)> {
    let (old, new) = (pairing.alone(BASE, UPSTREAM), pairing.alone(UPSTREAM, BASE));
    if old.len() != new.len() {
        return Vec::new();
    }
    let pairs = old.into_iter().zip(new);
    let is_open = |(old, new): &(usize, usize)| {
        !(pairing.is_named(BASE, *old) && pairing.is_named(UPSTREAM, *new))
    };
    pairs.filter(is_open).collect()
}

/// The positions of the items of each element.
fn starts(elements: &[Element<'_>]) -> Vec<std::ops::Range<usize>> {
    let mut next = 0;
    let range = |element: &Element<'_>| {
        let start = next;
        next += element.values.len();
        start..next
    };
    elements.iter().map(range).collect()
}

fn by_value_and_position(
    before: &[Value],
    after: &[Value],
    state: &RandomState,
) -> Vec<(usize, usize)> {
    let prints =
        |list: &[Value]| -> Vec<u64> { list.iter().map(|value| state.hash_one(value)).collect() };
    let name = |value: &Value| value.get("name").map(|name| state.hash_one(name));
    let mut pairs = Vec::new();
    let mut left = [before, after].map(|list| (0..list.len()).collect::<Vec<usize>>());
    let mut take = |keys: [Vec<Option<u64>>; 2]| {
        let found = matches(keys[0].iter().copied(), keys[1].iter().copied());
        let found: Vec<(usize, usize)> = found
            .into_iter()
            .enumerate()
            .filter_map(|(new, old)| Some((left[0][old?], left[1][new])))
            .collect();
        let taken: [HashSet<usize>; 2] = [
            found.iter().map(|pair| pair.0).collect(),
            found.iter().map(|pair| pair.1).collect(),
        ];
        for (left, taken) in left.iter_mut().zip(&taken) {
            left.retain(|at| !taken.contains(at));
        }
        pairs.extend(found);
        left.clone()
    };
    let all = [prints(before), prints(after)].map(|prints| prints.into_iter().map(Some).collect());
    let [old, new] = take(all);
    let named = |list: &[Value], left: Vec<usize>| left.iter().map(|at| name(&list[*at])).collect();
    let [old, new] = take([named(before, old), named(after, new)]);
    let is_named = |list: &[Value], at: &usize| name(&list[*at]).is_some();
    let old: Vec<usize> = old.into_iter().filter(|at| !is_named(before, at)).collect();
    let new: Vec<usize> = new.into_iter().filter(|at| !is_named(after, at)).collect();
    if old.len() == new.len() {
        pairs.extend(old.into_iter().zip(new));
    }
    pairs
}
