//! Where resources that are new in a file stand among those that are there.

use std::collections::{BTreeMap, BTreeSet};

use super::fates::Fate;
use super::members::Members;
use crate::merge::Side;
use crate::merge::order::merge_order;
use crate::merge::resources::Track;

/// For each track that is new in its file: the local member that it stands before, by the order of
/// the file's resources in all three packages.
pub(super) fn places(
    tracks: &[Track],
    fates: &[Fate],
    packages: [&Members; 3],
    winner: Side,
) -> BTreeMap<usize, usize> {
    let mut files: BTreeMap<&str, [Vec<(usize, usize)>; 3]> = BTreeMap::new();
    let mut fresh = BTreeSet::new();
    for (number, (track, fate)) in tracks.iter().zip(fates).enumerate() {
        let moved = moved_to(track, packages);
        let is_new =
            matches!(fate, Fate::Added) || (matches!(fate, Fate::Merge) && moved.is_some());
        let stays = is_new || matches!(fate, Fate::Merge | Fate::Stays);
        if is_new {
            fresh.insert(number);
        }
        let versions = [track.base, track.local.filter(|_| !is_new), track.upstream];
        for (side, at) in versions.into_iter().enumerate() {
            let path = at.and_then(|at| packages[side].members[at].path.as_deref());
            if let (Some(at), Some(path)) = (at, path.filter(|_| stays)) {
                files.entry(path).or_default()[side].push((at, number));
            }
        }
    }
    let mut places = BTreeMap::new();
    for (_, mut sources) in files {
        let has_new = sources[2].iter().any(|(_, number)| fresh.contains(number));
        if !has_new || sources[1].is_empty() {
            continue;
        }
        sources.iter_mut().for_each(|source| source.sort_unstable());
        let members: BTreeMap<usize, usize> = sources[1].iter().map(|(at, n)| (*n, *at)).collect();
        // What upstream has and local has not is in the result only if it is new here.
        sources[2].retain(|(_, number)| fresh.contains(number) || members.contains_key(number));
        let [base, local, upstream] = sources.map(|source| {
            source
                .into_iter()
                .map(|(_, number)| number)
                .collect::<Vec<_>>()
        });
        let merged = merge_order(&base, &local, &upstream, winner);
        // The order of the resources that were there is theirs.
        let mut next = None;
        for number in merged.order.iter().rev() {
            match members.get(number) {
                Some(at) => next = Some(*at),
                None => {
                    if let Some(at) = next {
                        places.insert(*number, at);
                    }
                }
            }
        }
    }
    places
}

/// The path that only upstream moved a resource to.
pub(super) fn moved_to<'m>(
    track: &Track,
    [base, local, upstream]: [&'m Members; 3],
) -> Option<&'m str> {
    let old = base.path(track.base)?;
    let new = upstream.path(track.upstream)?;
    (local.path(track.local) == Some(old) && new != old).then_some(new)
}
