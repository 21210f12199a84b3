//! Parts of a collection that merge as one value: keys that exclude each other, and elements that keep their name but
//! get another key.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::super::combine::PartsOf;
use super::super::groups::{Group, When};
use super::super::merge_schema::MergeSchema;
use super::super::rule::{self, Outcome, Side};
use super::super::versions::Versions;
use super::child::{Child, ChildVersions, Siblings, unique_by};
use super::collection::Parts;
use super::{ConflictKind, FieldMerger};
use crate::trail::Trail;
use krm_core::schema::ListType;
use krm_yaml::Value;

/// The groups of keys in a mapping that were decided together, each with the side that wins.
pub(super) struct Forced(Vec<(&'static Group, Side)>);

impl Forced {
    /// The side that wins at an entry, if its group decides.
    pub(super) fn side_of(&self, versions: &ChildVersions<'_, '_>) -> Option<Side> {
        if self.0.is_empty() {
            return None;
        }
        let key = versions.local.or(versions.upstream)?.name();
        let found = self.0.iter().find(|(group, _)| group.has(key));
        found.map(|(_, side)| *side)
    }
}

impl FieldMerger<'_> {
    /// Decides about the groups of keys that are one value.
    pub(super) fn groups(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        parts: &Parts<'_, '_>,
    ) -> Forced {
        let groups = schema.groups().iter();
        let sides = groups.filter_map(|group| Some((group, self.group(trail, group, parts)?)));
        Forced(sides.collect())
    }

    fn group(&mut self, trail: &Trail<'_>, group: &Group, parts: &Parts<'_, '_>) -> Option<Side> {
        if group.when == When::ImageVersion && !self.combines(trail, PartsOf::Image) {
            return None;
        }
        let children = parts.children.as_ref();
        let versions = children.map(|children| of_group(group, children));
        if !applies(group.when, &versions) {
            return None;
        }
        let values = versions.as_ref().map(|children| value_of(children));
        match rule::merge(values.as_ref().map(Option::as_ref), |a, b| a == b) {
            Outcome::Wins(side) => Some(side),
            Outcome::Conflict if self.removed_by.is_some() => self.removed_by,
            Outcome::Conflict => {
                let first = versions.local.first().or(versions.upstream.first())?;
                let at = trail.field(first.owner().field_name());
                let decision = self.decide(&at, self.policy.winner);
                let children = versions.into_iter().flatten();
                let nodes = children.map(|child| child.value);
                Some(
                    self.report(&at, ConflictKind::Value, values, decision, |marks| {
                        marks.at_any(nodes)
                    }),
                )
            }
        }
    }
}

/// Whether the entries of a group are one value.
fn applies(when: When, versions: &Versions<Vec<Child<'_>>>) -> bool {
    fn keys<'a>(children: &[Child<'a>]) -> BTreeSet<&'a str> {
        children.iter().map(Child::name).collect()
    }
    fn kind<'a>(children: &[Child<'a>], key: &str, default: &'a str) -> &'a str {
        let found = children.iter().find(|child| child.name() == key);
        let text = |child: &Child<'a>| child.value.resolved().value_text();
        found.map_or(default, |child| text(child).unwrap_or_default())
    }
    let [base, local, upstream] = versions.as_ref().into_array();
    let both = !local.is_empty() && !upstream.is_empty();
    match when {
        When::Always => true,
        When::Alternatives | When::ImageVersion if both => keys(local) != keys(upstream),
        When::Alternatives | When::ImageVersion => {
            let kept = if local.is_empty() { upstream } else { local };
            !base.is_empty() && !kept.is_empty() && keys(kept) != keys(base)
        }
        When::Kind(key, default) => {
            both && kind(local, key, default) != kind(upstream, key, default)
        }
    }
}

/// The entries of a group. Entries with the value `null` count as absent.
fn of_group<'a>(group: &Group, children: &Siblings<'a>) -> Vec<Child<'a>> {
    let own = children.iter().filter(|child| group.has(child.name()));
    own.filter(|child| !child.value.resolved().is_null())
        .collect()
}

fn value_of(children: &[Child<'_>]) -> Option<Value> {
    let pairs = children.iter();
    let pairs = pairs.filter_map(|child| Some((child.entry?.key.value()?, child.value.value()?)));
    let pairs: Vec<_> = pairs.collect();
    (!pairs.is_empty()).then_some(Value::Mapping(pairs))
}

/// Gives the versions of an element that keep their name but have different keys the same number. Returns these
/// numbers: the elements merge as one value each.
///
/// This happens if both sides gave an element another key. In a list of ports, where names are unique, it also happens
/// if only one side did, or if both sides added an element with the same name.
pub(super) fn renamed_keys(schema: MergeSchema<'_>, parts: &mut Parts<'_, '_>) -> HashSet<u32> {
    let has_names_beside_keys = match schema.list() {
        ListType::Map(keys) => !keys.names().any(|key| key == "name"),
        ListType::Atomic | ListType::Set | ListType::KeyedStrings(_) | ListType::Functions => false,
    };
    let numbers = &mut parts.numbers;
    // The base is numbered first.
    let first_new = numbers.base.iter().max().map_or(0, |last| last + 1);
    let has_new = |numbers: &[u32]| numbers.iter().any(|number| *number >= first_new);
    let (new_local, new_upstream) = (has_new(&numbers.local), has_new(&numbers.upstream));
    let is_named_once = schema.names_are_unique();
    let may_be_renamed = new_local && new_upstream || is_named_once && (new_local || new_upstream);
    if !has_names_beside_keys || !may_be_renamed {
        return HashSet::new();
    }
    let set = |numbers: &[u32]| -> HashSet<u32> { numbers.iter().copied().collect() };
    let (in_local, in_upstream) = (set(&numbers.local), set(&numbers.upstream));
    // Whether a side gave the element a new key that the other side does not have.
    let is_rekeyed = |number: u32, old: Option<u32>, own: &HashSet<u32>, other: &HashSet<u32>| {
        number >= first_new && !other.contains(&number) && old.is_none_or(|old| !own.contains(&old))
    };
    let names_in_base = by_unique_name(&parts.children.base);
    let names_in_upstream = by_unique_name(&parts.children.upstream);
    let mut whole = HashSet::new();
    for (name, l) in by_unique_name(&parts.children.local) {
        let Some(u) = names_in_upstream.get(name).copied() else {
            continue;
        };
        let (local, upstream) = (numbers.local[l], numbers.upstream[u]);
        if local == upstream {
            continue;
        }
        let old = names_in_base.get(name).map(|b| numbers.base[*b]);
        let rekeyed_by_local = is_rekeyed(local, old, &in_local, &in_upstream);
        let rekeyed_by_upstream = is_rekeyed(upstream, old, &in_upstream, &in_local);
        let one = match old {
            Some(old) if rekeyed_by_local && rekeyed_by_upstream => old,
            Some(old) if is_named_once && rekeyed_by_local && upstream == old => old,
            Some(old) if is_named_once && rekeyed_by_upstream && local == old => old,
            None if is_named_once && rekeyed_by_local && rekeyed_by_upstream => local,
            _ => continue,
        };
        numbers.local[l] = one;
        numbers.upstream[u] = one;
        whole.insert(one);
    }
    whole
}

/// The positions of the elements with a unique `name`.
fn by_unique_name<'a>(children: &Siblings<'a>) -> HashMap<&'a str, usize> {
    let name = |child: Child<'a>| child.value.resolved().get("name")?.as_str();
    unique_by(name, children.iter())
}
