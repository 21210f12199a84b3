//! The contract's order of list elements: pairs first, then what follows from them.

pub(super) struct Order {
    pub(super) elements: Vec<String>,
    /// Whether the rules contradict each other.
    pub(super) contradicts: bool,
    /// Whether a new element's neighbours were turned round. It follows its predecessor then; the contract does not
    /// say which of several that do so comes first.
    pub(super) is_loose: bool,
}

/// Where an element stands in a source.
fn place(source: &[String], element: &str) -> Option<usize> {
    source.iter().position(|other| other == element)
}

/// Whether `x` stands before `y`; `None` if the source lacks one of them.
fn before(source: &[String], x: &str, y: &str) -> Option<bool> {
    Some(place(source, x)? < place(source, y)?)
}

/// A pair keeps its local order unless only upstream changed it; a new element stands as in its own source.
fn rule([base, local, upstream]: [&[String]; 3], x: &str, y: &str) -> Option<bool> {
    match (before(local, x, y), before(upstream, x, y)) {
        (Some(ours), Some(theirs)) if before(base, x, y) == Some(ours) => Some(theirs),
        (Some(ours), _) => Some(ours),
        (None, theirs) => theirs,
    }
}

/// The order of the elements that are kept.
pub(super) fn order(sources: [&[String]; 3], kept: &[String], upstream_wins: bool) -> Order {
    let [_, local, upstream] = sources;
    let winner = if upstream_wins { upstream } else { local };
    // Local first, then upstream.
    let mut kept = kept.to_vec();
    kept.sort_by_key(|element| {
        (
            place(local, element).is_none(),
            place(local, element).or(place(upstream, element)),
        )
    });
    let count = kept.len();
    let goes_before =
        |x: usize, y: usize| x != y && rule(sources, &kept[x], &kept[y]) == Some(true);
    let mut reaches: Vec<Vec<bool>> = (0..count)
        .map(|x| (0..count).map(|y| goes_before(x, y)).collect())
        .collect();
    for via in 0..count {
        for x in 0..count {
            for y in 0..count {
                reaches[x][y] |= reaches[x][via] && reaches[via][y];
            }
        }
    }
    let (mut out, mut contradicts, mut is_loose) = (Vec::new(), false, false);
    let mut left: Vec<usize> = (0..count).collect();
    while let Some(next) = left
        .iter()
        .copied()
        .find(|&x| left.iter().all(|&y| !reaches[y][x] || reaches[x][y]))
    {
        let ring: Vec<usize> = left
            .iter()
            .copied()
            .filter(|&x| x == next || (reaches[x][next] && reaches[next][x]))
            .collect();
        left.retain(|x| !ring.contains(x));
        let ring: Vec<String> = ring.iter().map(|&x| kept[x].clone()).collect();
        is_loose |= ring
            .iter()
            .any(|x| !(local.contains(x) && upstream.contains(x)))
            && ring.len() > 1;
        contradicts |= turn(sources, &ring, winner, &mut out);
    }
    Order {
        elements: out,
        contradicts,
        is_loose,
    }
}

/// Appends elements whose rules form a cycle. Without those that only one side has it may be none.
fn turn(
    sources: [&[String]; 3],
    ring: &[String],
    winner: &[String],
    out: &mut Vec<String>,
) -> bool {
    let [_, local, upstream] = sources;
    let is_common = |x: &String| local.contains(x) && upstream.contains(x);
    let (mut common, single): (Vec<String>, Vec<String>) =
        ring.iter().cloned().partition(is_common);
    let goes_before = |x: &String, y: &String| x != y && rule(sources, x, y) == Some(true);
    let mut sorted: Vec<String> = Vec::new();
    while let Some(next) = common
        .iter()
        .find(|x| !common.iter().any(|y| goes_before(y, x)))
        .cloned()
    {
        common.retain(|x| *x != next);
        sorted.push(next);
    }
    let contradicts = !common.is_empty();
    if contradicts {
        sorted = ring.iter().filter(|x| is_common(x)).cloned().collect();
        sorted.sort_by_key(|x| place(winner, x));
    }
    // From the last, so that of two with one predecessor the first stands first.
    for new in single.iter().rev() {
        let source = if local.contains(new) { local } else { upstream };
        let at = place(source, new).expect("an element of a source");
        let mut before = source[..at].iter().rev();
        let predecessor = before.find(|x| sorted.contains(x) || out.contains(x));
        let follows = predecessor.and_then(|x| place(&sorted, x));
        sorted.insert(follows.map_or(0, |at| at + 1), new.clone());
    }
    out.extend(sorted);
    contradicts
}
