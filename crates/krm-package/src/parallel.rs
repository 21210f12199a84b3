//! Processes large inputs on several threads, and keeps the order of the results.
//!
//! Scoped threads of the standard library are enough: a run has two or three such loops, each item belongs to one
//! share, and most inputs are short and start no thread. `rayon` would add a thread pool and its crates for the same
//! result.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::test_switches::Switch;

/// Bytes that a thread takes at a time. Smaller inputs are processed on one thread.
#[inline]
pub fn share() -> usize {
    if Switch::SmallShares.is_on() {
        64
    } else {
        1 << 20
    }
}

/// The results of `work` for each item, in order. Each item must be large enough for a thread.
pub fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    map(items, |_| share(), work)
}

/// The results of `work` for each item, in order; `weight` is the size of an item in bytes.
pub fn map<T: Sync, R: Send>(
    items: &[T],
    weight: impl Fn(&T) -> usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let shares = shares(items, weight);
    let threads = match shares.len() {
        0 | 1 => 1,
        more => thread::available_parallelism()
            .map_or(1, NonZero::get)
            .min(more),
    };
    if threads == 1 {
        return items.iter().map(work).collect();
    }
    // Each result is written to its final place, because a second vector of many results would take memory.
    let mut results: Vec<Option<R>> = Vec::new();
    results.resize_with(items.len(), || None);
    let mut rest = results.as_mut_slice();
    let shares = shares.into_iter().map(|share| {
        let places = rest.split_off_mut(..share.len()).unwrap_or_default();
        (share, places)
    });
    let shares: Vec<_> = shares.collect();
    let shares = Mutex::new(shares.into_iter());
    let next = || shares.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        while let Some((share, places)) = next() {
            for (item, place) in share.iter().zip(places) {
                *place = Some(work(item));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
    results.into_iter().map_while(|result| result).collect()
}

/// Cuts the items into runs of about [`share()`] bytes.
fn shares<T>(items: &[T], weight: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let mut shares = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, item) in items.iter().enumerate() {
        bytes += weight(item);
        if bytes >= share() {
            shares.push(&items[start..=index]);
            (start, bytes) = (index + 1, 0);
        }
    }
    if start < items.len() {
        shares.push(&items[start..]);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let items: Vec<usize> = (0..10_000).collect();
        let expected: Vec<usize> = items.iter().map(|n| n * 2).collect();
        for weight in [0, 1, 1 << 12, 1 << 20] {
            assert_eq!(map(&items, |_| weight, |n| n * 2), expected, "{weight}");
        }
        assert!(map(&[], |_: &usize| 1, |n| *n).is_empty());
    }

    #[test]
    fn shares_hold_every_item_once() {
        let share = share();
        let items = [share, 1, share - 1, 5, 5];
        let expected: [&[usize]; 3] = [&[share], &[1, share - 1], &[5, 5]];
        assert_eq!(shares(&items, |n| *n), expected);
    }
}
