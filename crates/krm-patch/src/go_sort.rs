//! Go's `sort.SliceStable`, for comparisons that contradict themselves.
//!
//! kubectl sorts the elements that `$setElementOrder` does not name by their places in live, and calls an element before
//! any other if one of the two is new. The outcome then depends on the steps of Go's algorithm, so they are the same here:
//! insertion sort of blocks of 20, then in-place merges.
//!
//! ```text
//! [new, a]   # a is in live       [a, new]
//! ```
//!
//! Source: Go's package `sort` (`zsortfunc.go`); `normalizeSliceOrder` of Kubernetes' `strategicpatch`.

/// Sorts elements in the order in which Go's `sort.SliceStable` leaves them.
pub(super) fn sort<T>(elements: &mut [T], less: impl Fn(&T, &T) -> bool) {
    const BLOCK: usize = 20;
    let count = elements.len();
    elements
        .chunks_mut(BLOCK)
        .for_each(|block| insert_each(block, &less));
    let mut size = BLOCK;
    while size < count {
        for pair in elements.chunks_mut(2 * size) {
            if pair.len() > size {
                merge(pair, size, &less);
            }
        }
        size *= 2;
    }
}

fn insert_each<T>(block: &mut [T], less: &impl Fn(&T, &T) -> bool) {
    for end in 1..block.len() {
        let mut at = end;
        while at > 0 && less(&block[at], &block[at - 1]) {
            block.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// The first index in a range for which a condition is false, if it is true up to there.
fn first_false(mut from: usize, mut to: usize, is_true: impl Fn(usize) -> bool) -> usize {
    while from < to {
        let middle = usize::midpoint(from, to);
        if is_true(middle) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    from
}

/// Merges the two sorted parts of a slice, the second of which begins at `middle`.
fn merge<T>(parts: &mut [T], middle: usize, less: &impl Fn(&T, &T) -> bool) {
    let end = parts.len();
    if middle == 1 {
        let to = first_false(middle, end, |at| less(&parts[at], &parts[0]));
        parts[..to].rotate_left(1);
        return;
    }
    if end - middle == 1 {
        let to = first_false(0, middle, |at| !less(&parts[middle], &parts[at]));
        parts[to..].rotate_right(1);
        return;
    }
    let half = end / 2;
    let sum = half + middle;
    let (from, to) = if middle > half {
        (sum - end, half)
    } else {
        (0, middle)
    };
    let start = first_false(from, to, |at| !less(&parts[sum - 1 - at], &parts[at]));
    let stop = sum - start;
    if start < middle && middle < stop {
        parts[start..stop].rotate_left(middle - start);
    }
    if 0 < start && start < half {
        merge(&mut parts[..half], start, less);
    }
    if half < stop && stop < end {
        merge(&mut parts[half..], stop - half, less);
    }
}

#[cfg(test)]
mod tests {
    use super::sort;

    #[test]
    fn it_is_a_stable_sort_where_the_comparison_is_consistent() {
        for count in [0, 1, 2, 19, 20, 21, 41, 100, 333] {
            let mut elements: Vec<(usize, usize)> =
                (0..count).map(|at| ((at * 7919) % 13, at)).collect();
            let mut expected = elements.clone();
            expected.sort_by_key(|(key, _)| *key);
            sort(&mut elements, |a, b| a.0 < b.0);
            assert_eq!(elements, expected, "{count}");
        }
    }
}
