//! Where resources that are new in a file are inserted.

use std::collections::{BTreeMap, BTreeSet};

use super::actions::ResourceAction;
use super::members::Members;
use crate::order::merge_order;
use crate::resources::ResourceMatch;
use crate::{Side, Versions};

/// For each track that is new in its file, the local member before which it is inserted. The place follows from the
/// order of the file's resources in all three packages.
pub(super) fn places(
    matches: &[ResourceMatch],
    actions: &[ResourceAction],
    moves: &BTreeMap<usize, String>,
    packages: Versions<&Members>,
    winner: Side,
) -> BTreeMap<usize, usize> {
    let (files, fresh) = files(matches, actions, moves, packages);
    let mut places = BTreeMap::new();
    for mut file in files.into_values() {
        let has_new = file
            .upstream
            .iter()
            .any(|(_, number)| fresh.contains(number));
        if !has_new || file.local.is_empty() {
            continue;
        }
        for matches in [&mut file.base, &mut file.local, &mut file.upstream] {
            matches.sort_unstable();
        }
        let members: BTreeMap<u32, usize> = file.local.iter().map(|(at, n)| (*n, *at)).collect();
        // A resource that only upstream has is in the result only if it is new in this file.
        let stays = |number: &u32| fresh.contains(number) || members.contains_key(number);
        file.upstream.retain(|(_, number)| stays(number));
        let order = file.map(|matches| matches.into_iter().map(|(_, n)| n).collect::<Vec<_>>());
        let merged = merge_order(&order.base, &order.local, &order.upstream, winner);
        // The existing resources keep their order.
        let mut next = None;
        for number in merged.order.iter().rev() {
            match members.get(number) {
                Some(at) => next = Some(*at),
                None => {
                    if let Some(at) = next {
                        places.insert(*number as usize, at);
                    }
                }
            }
        }
    }
    places
}

/// The resources of a file in three versions: the positions of the member and the track.
type FileMembers = Versions<Vec<(usize, u32)>>;

/// The files with resources that are kept or added, and the tracks that are new in their file.
fn files<'m>(
    matches: &[ResourceMatch],
    actions: &[ResourceAction],
    moves: &BTreeMap<usize, String>,
    packages: Versions<&'m Members>,
) -> (BTreeMap<&'m str, FileMembers>, BTreeSet<u32>) {
    let mut files: BTreeMap<&str, FileMembers> = BTreeMap::new();
    let mut fresh = BTreeSet::new();
    for (number, (matched, action)) in (0..).zip(matches.iter().zip(actions)) {
        let is_new = match action {
            ResourceAction::Add => true,
            ResourceAction::Merge => moves.contains_key(&(number as usize)),
            ResourceAction::Keep => false,
            ResourceAction::Remove => continue,
        };
        if is_new {
            fresh.insert(number);
        }
        let path = |members: &'m Members, at: Option<usize>| Some((at?, members.path(at)?));
        if let Some((at, path)) = path(packages.base, matched.base) {
            files.entry(path).or_default().base.push((at, number));
        }
        if let Some((at, path)) = path(packages.local, matched.local.filter(|_| !is_new)) {
            files.entry(path).or_default().local.push((at, number));
        }
        if let Some((at, path)) = path(packages.upstream, matched.upstream) {
            files.entry(path).or_default().upstream.push((at, number));
        }
    }
    (files, fresh)
}
