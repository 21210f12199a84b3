//! The order of a merged list: three orders become one.
//!
//! Elements are numbers here. `merge_order` takes the order of each version, without the elements that
//! the result does not have, and returns the order of the result.
//!
//! Elements that both sides have form the *skeleton*; the others are new, or kept by one side
//! alone, and are put into its gaps. Guarantees:
//!
//! 1. The result has each element of local and upstream once, and depends on nothing else.
//! 2. Two elements of the skeleton keep their local order, unless base had them in that order too
//!    and upstream reversed it. (Elements that base did not have keep their local order.)
//! 3. An element of one side comes after all skeleton elements that precede it there, and before
//!    all that follow it. If the sides reversed these, so that no such place exists, it comes
//!    right after its predecessor in the skeleton.
//! 4. In a gap, local's elements come first, in local's order, then upstream's in upstream's order.
//! 5. Every order of two elements on which local and upstream agree is kept, unless it lies in a
//!    cycle. If 2 makes a cycle (a before b, b before c, c before a), its elements take the
//!    winner's order, and [`Merged::cycle`] is true.
//! 6. If the result is merged again with the same base and upstream, it does not change.
//!
//! The skeleton takes linear time if at most one side changed its order. If both did, all its
//! pairs are compared; beyond `MAX_TURNED` elements it counts as one cycle.
//!
//! Source: contract, merge-package, Order.

use std::collections::HashMap;

use super::rule::Side;

/// The largest skeleton for which all pairs are compared.
pub(crate) const MAX_TURNED: usize = 2_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// Every element of local and upstream, once.
    pub order: Vec<u32>,
    /// Whether both sides moved elements in contradictory ways, so that one side had to win.
    pub cycle: bool,
}

/// Merges three orders. No order may name an element twice.
pub(crate) fn merge_order(base: &[u32], local: &[u32], upstream: &[u32], winner: Side) -> Merged {
    let (mut merged, mut turned) = merge_once(base, local, upstream, winner);
    // An element that could not be put between its neighbours can form a cycle with its new neighbours. Merge again,
    // until the result does not change.
    for _ in 0..MAX_AGAIN {
        if !turned {
            break;
        }
        let again;
        (again, turned) = merge_once(base, &merged.order, upstream, winner);
        if again.order == merged.order {
            break;
        }
        let cycle = merged.cycle || again.cycle;
        merged = Merged { cycle, ..again };
    }
    merged
}

/// How often a result is merged again; twice was always enough.
const MAX_AGAIN: usize = 4;

/// A merged order, and whether an element could not be put between its neighbours, because they were reversed.
fn merge_once(base: &[u32], local: &[u32], upstream: &[u32], winner: Side) -> (Merged, bool) {
    if local == upstream {
        let merged = Merged {
            order: local.to_vec(),
            cycle: false,
        };
        return (merged, false);
    }
    let in_local = Ranks::of(local);
    let in_upstream = Ranks::of(upstream);
    let (skeleton, cycle) = skeleton(
        &Ranks::of(base),
        &in_local,
        &in_upstream,
        local,
        upstream,
        winner,
    );
    let places = Ranks::of(&skeleton);
    // The other elements, by the element of the skeleton (counted from 1) that they follow.
    let mut gaps: Vec<Vec<u32>> = vec![Vec::new(); skeleton.len() + 1];
    let mut turned = false;
    for (source, other) in [(local, &in_upstream), (upstream, &in_local)] {
        for (element, gap, fits) in gaps_of(source, &places) {
            if !other.has(element) {
                gaps[gap].push(element);
                turned |= !fits;
            }
        }
    }
    let mut order = Vec::with_capacity(local.len() + upstream.len());
    for (gap, elements) in gaps.into_iter().enumerate() {
        if let Some(before) = gap.checked_sub(1) {
            order.push(skeleton[before]);
        }
        order.extend(elements);
    }
    (Merged { order, cycle }, turned)
}

/// The place of each element of an order. Elements are numbers without large gaps.
#[derive(Debug)]
pub(super) struct Ranks(Vec<u32>);

impl Ranks {
    pub(super) fn of(order: &[u32]) -> Self {
        let count = order.iter().max().map_or(0, |most| *most as usize + 1);
        let mut ranks = vec![u32::MAX; count];
        for (rank, element) in (0..).zip(order) {
            ranks[*element as usize] = rank;
        }
        Self(ranks)
    }

    pub(super) fn get(&self, element: u32) -> Option<usize> {
        let rank = self.0.get(element as usize).copied();
        rank.filter(|rank| *rank != u32::MAX)
            .map(|rank| rank as usize)
    }

    pub(super) fn has(&self, element: u32) -> bool {
        self.get(element).is_some()
    }
}

/// For each element of a source that is not in the skeleton: the number of skeleton elements before it, and whether
/// this place is between its neighbours.
fn gaps_of(source: &[u32], places: &Ranks) -> impl Iterator<Item = (u32, usize, bool)> {
    // The first place of the skeleton elements that follow each position.
    let mut following = vec![u32::MAX; source.len() + 1];
    for (position, element) in source.iter().enumerate().rev() {
        let place = places.0.get(*element as usize).copied();
        following[position] = following[position + 1].min(place.unwrap_or(u32::MAX));
    }
    // The places after all preceding elements, and after the predecessor.
    let (mut after_all, mut after_last) = (0, 0);
    source
        .iter()
        .enumerate()
        .filter_map(move |(position, element)| match places.get(*element) {
            Some(place) => {
                after_last = place + 1;
                after_all = after_all.max(place + 1);
                None
            }
            None if after_all <= following[position] as usize => Some((*element, after_all, true)),
            None => Some((*element, after_last, false)),
        })
}

/// The order of the elements that both sides have, and whether it was a conflict.
fn skeleton(
    base: &Ranks,
    in_local: &Ranks,
    in_upstream: &Ranks,
    local: &[u32],
    upstream: &[u32],
    winner: Side,
) -> (Vec<u32>, bool) {
    let common = |source: &[u32], other: &Ranks| -> Vec<u32> {
        source
            .iter()
            .copied()
            .filter(|element| other.has(*element))
            .collect()
    };
    let local = common(local, in_upstream);
    let upstream = common(upstream, in_local);
    let follows_base = |order: &[u32]| {
        let ranks = order.iter().filter_map(|element| base.get(*element));
        ranks.clone().zip(ranks.skip(1)).all(|(a, b)| a < b)
    };
    if local == upstream || follows_base(&upstream) {
        return (local, false);
    }
    let all_in_base = local.iter().all(|element| base.has(*element));
    if all_in_base && follows_base(&local) {
        return (upstream, false);
    }
    let winning = match winner {
        Side::Local => &local,
        Side::Upstream => &upstream,
    };
    if local.len() > MAX_TURNED {
        return (winning.clone(), true);
    }
    tournament(base, in_upstream, &local, winning)
}

/// Every pair of elements in `local` has an order (guarantee 2). If these orders are consistent, they are the result.
/// Elements in a cycle take the order of `winning`.
fn tournament(
    base: &Ranks,
    in_upstream: &Ranks,
    local: &[u32],
    winning: &[u32],
) -> (Vec<u32>, bool) {
    let precedes = |order: &Ranks, a: &u32, b: &u32| Some(order.get(*a)? < order.get(*b)?);
    let mut after: HashMap<u32, usize> = HashMap::new();
    for (position, a) in local.iter().enumerate() {
        for b in &local[position + 1..] {
            // Local has a before b.
            let turned =
                precedes(base, a, b) == Some(true) && precedes(in_upstream, a, b) == Some(false);
            *after.entry(if turned { *a } else { *b }).or_default() += 1;
        }
    }
    // Sorted by the number of elements before each. If the counts of the first n elements add up to the number of
    // pairs among them, no later element is before any of them.
    let count = |element: &u32| after.get(element).copied().unwrap_or_default();
    let mut order = winning.to_vec();
    order.sort_by_key(count);
    let ranks = Ranks::of(winning);
    let (mut start, mut sum, mut cycle) = (0, 0, false);
    for end in 1..=order.len() {
        sum += count(&order[end - 1]);
        if sum == end * (end - 1) / 2 {
            let component = &mut order[start..end];
            component.sort_by_key(|element| ranks.get(*element));
            cycle |= component.len() > 1;
            start = end;
        }
    }
    (order, cycle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(base: &str, local: &str, upstream: &str, expected: &str) {
        for winner in [Side::Local, Side::Upstream] {
            let merged = merged(base, local, upstream, winner);
            assert_eq!(
                merged,
                (expected.to_owned(), false),
                "{base} {local} {upstream} {winner:?}"
            );
        }
    }

    fn merged(base: &str, local: &str, upstream: &str, winner: Side) -> (String, bool) {
        let numbers = |text: &str| text.bytes().map(u32::from).collect::<Vec<_>>();
        let merged = merge_order(&numbers(base), &numbers(local), &numbers(upstream), winner);
        let order = merged.order.iter().map(|element| *element as u8 as char);
        (order.collect(), merged.cycle)
    }

    #[test]
    fn examples_of_the_contract() {
        check("a", "as", "ag", "asg");
        check("ab", "abc", "axb", "axbc");
    }

    #[test]
    fn one_side_changed_the_order() {
        check("abc", "abc", "cab", "cab");
        check("abc", "cab", "abc", "cab");
        check("abc", "cab", "cab", "cab");
        check("abc", "bac", "bac", "bac");
    }

    #[test]
    fn both_sides_changed_the_order_of_other_pairs() {
        check("abcd", "bacd", "abdc", "badc");
    }

    #[test]
    fn new_elements_are_placed_between_their_neighbours() {
        check("abc", "axbc", "abyc", "axbyc");
        check("abc", "xabc", "yabc", "xyabc");
        check("abc", "abxc", "abyc", "abxyc");
        // Upstream reversed other elements, not the neighbours of x.
        check("abcd", "abxcd", "badc", "baxdc");
        // The neighbours of x are reversed: it follows its predecessor.
        check("ab", "axb", "ba", "bax");
        check("ab", "ba", "axb", "bax");
        // Added on both sides in different orders: local's order is kept.
        check("", "ab", "ba", "ab");
        check("", "", "ab", "ab");
    }

    #[test]
    fn a_cycle_takes_the_order_of_the_winner() {
        // Local has b before a, upstream c before b, and both still have a before c.
        let (local, upstream) = ("bac", "acb");
        let both = |winner| merged("abc", local, upstream, winner);
        assert_eq!(both(Side::Local), ("bac".to_owned(), true));
        assert_eq!(both(Side::Upstream), ("acb".to_owned(), true));
        // Elements that are not in the cycle keep their places around it.
        assert_eq!(
            merged("xabcy", "xbacy", "xacby", Side::Local),
            ("xbacy".to_owned(), true)
        );
    }

    #[test]
    fn long_lists_take_linear_time() {
        let many: Vec<u32> = (0..100_000).collect();
        let mut turned = many.clone();
        turned.reverse();
        let mut more = many.clone();
        more.insert(7, 1_000_000);
        assert_eq!(
            merge_order(&many, &many, &turned, Side::Local).order,
            turned
        );
        assert_eq!(merge_order(&many, &more, &many, Side::Upstream).order, more);
        let mut half = many.clone();
        half.swap(0, 99_999);
        let merged = merge_order(&many, &half, &turned, Side::Upstream);
        assert_eq!((merged.order, merged.cycle), (turned, true));
    }

    /// Orders of some of ten elements.
    fn order() -> impl Strategy<Value = Vec<u32>> {
        (
            Just((0..10).collect::<Vec<u32>>()).prop_shuffle(),
            0..10usize,
        )
            .prop_map(|(order, length)| order[..length].to_vec())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn laws(base in order(), x in order(), y in order()) {
            for winner in [Side::Local, Side::Upstream] {
                let merge = |base: &[u32], local: &[u32], upstream: &[u32]| {
                    // An element of base that a side removed is not in the result.
                    let removed = |element: &u32, a: &[u32], b: &[u32]| {
                        base.contains(element) && !(a.contains(element) && b.contains(element))
                    };
                    let keep = |order: &[u32]| -> Vec<u32> {
                        order.iter().copied().filter(|e| !removed(e, local, upstream)).collect()
                    };
                    merge_order(base, &keep(local), &keep(upstream), winner)
                };
                let is = |order: &[u32]| Merged { order: order.to_vec(), cycle: false };
                prop_assert_eq!(merge(&base, &x, &base), is(&x));
                prop_assert_eq!(merge(&base, &base, &x), is(&x));
                prop_assert_eq!(merge(&base, &x, &x), is(&x));
                let once = merge(&base, &x, &y);
                prop_assert_eq!(&once, &merge(&base, &x, &y));
            }
        }

        #[test]
        fn guarantees(base in order(), local in order(), upstream in order()) {
            for winner in [Side::Local, Side::Upstream] {
                let Merged { order, cycle } = merge_order(&base, &local, &upstream, winner);
                let mut sorted = order.clone();
                sorted.sort_unstable();
                let mut all: Vec<u32> = local.iter().chain(&upstream).copied().collect();
                all.sort_unstable();
                all.dedup();
                prop_assert_eq!(sorted, all);
                // Elements of upstream that were added are in the next local.
                prop_assert_eq!(&merge_order(&base, &order, &upstream, winner).order, &order);
                let place = |order: &[u32], element| order.iter().position(|e| *e == element);
                let before = |order: &[u32], a, b| Some(place(order, a)? < place(order, b)?);
                for a in &order {
                    for b in &order {
                        let (l, u) = (before(&local, *a, *b), before(&upstream, *a, *b));
                        let both = l.is_some() && u.is_some();
                        if a == b || cycle || !both {
                            continue;
                        }
                        let turned = before(&base, *a, *b) == l && u != l;
                        let expected = if turned { u } else { l };
                        prop_assert_eq!(before(&order, *a, *b), expected);
                    }
                }
            }
        }
    }
}
