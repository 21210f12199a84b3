//! Parts of a collection that are one value: keys that exclude each other, and elements that keep
//! their name under another key.

use std::collections::{HashMap, HashSet};

use super::super::groups::{Group, When};
use super::super::merge_schema::{List, Location, MergeSchema};
use super::super::rule::{self, Side};
use super::versions::{Child, Collection, Trail, Versions, key_text};
use super::{Merge, Thing};
use crate::yaml::Value;

/// The keys of one mapping whose side was decided on together.
pub(super) struct Forced(Vec<(&'static Group, Side)>);

impl Forced {
    /// The side that stands at an entry, if its group decides.
    pub(super) fn side_of(&self, versions: &Versions<'_, '_>) -> Option<Side> {
        if self.0.is_empty() {
            return None;
        }
        let key = key_text(&versions.local.or(versions.upstream)?);
        let found = self.0.iter().find(|(group, _)| group.has(key));
        found.map(|(_, side)| *side)
    }
}

impl Merge<'_> {
    /// Decides over the keys that are one value together.
    pub(super) fn groups(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        collection: &Collection<'_, '_>,
    ) -> Forced {
        let groups = schema.groups().iter();
        let sides = groups.filter_map(|group| Some((group, self.group(trail, group, collection)?)));
        Forced(sides.collect())
    }

    fn group(
        &mut self,
        trail: &Trail<'_>,
        group: &Group,
        collection: &Collection<'_, '_>,
    ) -> Option<Side> {
        let base = of_group(group, &collection.base);
        let local = of_group(group, &collection.local);
        let upstream = of_group(group, &collection.upstream);
        let applies = match group.when {
            When::Always => true,
            When::Alternatives => {
                let [ours, theirs] = [&local, &upstream].map(|all| {
                    let mut keys: Vec<_> = all.iter().map(key_text).collect();
                    keys.sort_unstable();
                    keys
                });
                !ours.is_empty() && !theirs.is_empty() && ours != theirs
            }
            When::Kind(key, default) => {
                let [ours, theirs] = [&local, &upstream].map(|all| {
                    let found = all.iter().find(|child| key_text(child) == key);
                    found.map_or(default, |child| {
                        child.value.resolved().scalar_text().unwrap_or_default()
                    })
                });
                !local.is_empty() && !upstream.is_empty() && ours != theirs
            }
        };
        if !applies {
            return None;
        }
        let values = [&base, &local, &upstream].map(|children| value_of(children));
        let [old, ours, theirs] = values.each_ref().map(Option::as_ref);
        let winner = self.policy.winner;
        let outcome = rule::merge(old, ours, theirs, winner, |a, b| a == b);
        if !outcome.conflict {
            return Some(outcome.side);
        }
        let first = local.first().or(upstream.first())?;
        let at = Trail::Field(trail, first.owner());
        let decision = self.decide(&at, winner);
        Some(self.say(&at, Thing::Value, values, decision))
    }
}

/// The entries of a group, `null` ones left out: those are as if absent.
fn of_group<'a>(group: &Group, children: &[Child<'a>]) -> Vec<Child<'a>> {
    let own = children.iter().filter(|child| group.has(key_text(child)));
    own.filter(|child| !child.value.resolved().is_null())
        .copied()
        .collect()
}

fn value_of(children: &[Child<'_>]) -> Option<Value> {
    let pairs = children.iter();
    let pairs = pairs.filter_map(|child| Some((child.entry?.key.value()?, child.value.value()?)));
    let pairs: Vec<_> = pairs.collect();
    (!pairs.is_empty()).then_some(Value::Mapping(pairs))
}

/// Makes one element of those that keep their name under another key, and gives their numbers: they
/// are one value each.
///
/// Where both sides gave it another key, in every list with keys; in a list of ports, whose names
/// are there once, also where one side did, or both added one of that name.
pub(super) fn renamed_keys(
    schema: MergeSchema<'_>,
    sources: [&[Child<'_>]; 3],
    identities: &mut [Vec<usize>; 3],
) -> HashSet<usize> {
    let is_named_once = schema.location == Location::Ports;
    if !matches!(schema.list(), List::Map(keys) if !keys.names().any(|key| key == "name")) {
        return HashSet::new();
    }
    // The base is numbered first.
    let first_new = identities[0].iter().max().map_or(0, |last| last + 1);
    let is_new = |side: usize| identities[side].iter().any(|number| *number >= first_new);
    let [new_here, new_there] = [is_new(1), is_new(2)];
    if !(new_here && new_there || is_named_once && (new_here || new_there)) {
        return HashSet::new();
    }
    let known: [HashSet<usize>; 3] = identities
        .each_ref()
        .map(|all| all.iter().copied().collect());
    let names = sources.map(by_unique_name);
    let mut whole = HashSet::new();
    for (name, l) in &names[1] {
        let Some(u) = names[2].get(name) else {
            continue;
        };
        let (ours, theirs) = (identities[1][*l], identities[2][*u]);
        let old = names[0].get(name).map(|b| identities[0][*b]);
        let is_free =
            |side: usize, number: usize| number >= first_new && !known[3 - side].contains(&number);
        if ours == theirs {
            continue;
        }
        let (rekeyed_here, rekeyed_there) = (
            is_free(1, ours) && old.is_none_or(|old| !known[1].contains(&old)),
            is_free(2, theirs) && old.is_none_or(|old| !known[2].contains(&old)),
        );
        let one = match old {
            Some(old) if rekeyed_here && rekeyed_there => old,
            Some(old) if is_named_once && rekeyed_here && theirs == old => old,
            Some(old) if is_named_once && rekeyed_there && ours == old => old,
            None if is_named_once && rekeyed_here && rekeyed_there => ours,
            _ => continue,
        };
        identities[1][*l] = one;
        identities[2][*u] = one;
        whole.insert(one);
    }
    whole
}

/// Positions of the elements whose `name` no other one has.
fn by_unique_name<'a>(children: &[Child<'a>]) -> HashMap<&'a str, usize> {
    let mut found: HashMap<&str, Option<usize>> = HashMap::new();
    for (at, child) in children.iter().enumerate() {
        let name = child.value.resolved().get("name");
        if let Some(name) = name.and_then(|name| name.as_str()) {
            let place = found.entry(name).or_insert(Some(at));
            place.take_if(|first| *first != at);
        }
    }
    let unique = found.into_iter();
    unique.filter_map(|(name, at)| Some((name, at?))).collect()
}
