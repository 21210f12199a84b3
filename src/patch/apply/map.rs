//! Merges maps of a patch into maps of live.

use std::collections::HashSet;

use super::super::directive::{PatchMap, Word};
use super::super::node::{Fields, Finder, Node};
use super::super::rules::Rules;
use super::{Apply, FieldPatch};
use crate::results::Reason;
use crate::yaml::{Trail, Value};

/// A map of live while a patch is merged into it.
struct MergedMap<'a> {
    /// The fields of live, with their new values.
    fields: Fields<'a>,
    /// Which fields of live stay. Removed fields keep their position until all fields are merged. Fields that only the
    /// patch has follow after them.
    stays: Vec<bool>,
    /// Whether anything differs from live, or from the patch where live has no map.
    changed: bool,
}

impl Apply<'_> {
    /// Merges a map into the live one, or makes a new map. `None` if the patch deletes it.
    pub(super) fn map<'a>(
        &mut self,
        live: Option<&Node<'a>>,
        patch: &Node<'a>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) -> Option<Node<'a>> {
        let read = PatchMap::read(patch, rules, trail, self.findings);
        let live = match read.word {
            Some(Word::Delete) => return None,
            Some(Word::Replace) => None,
            Some(Word::Merge) | None => live,
        };
        let fields = live.map(Node::fields).unwrap_or_default();
        let mut map = MergedMap {
            stays: vec![true; fields.len()],
            fields,
            changed: live.is_none() && read.has_directives,
        };
        if let (Some(retain), Some(_)) = (&read.retain, live) {
            self.retain(retain, &read, &mut map, trail);
        }
        let (of_fields, of_lists) = places(&map, &read);
        self.fields(live.is_some(), &read, &of_fields, &mut map, rules, trail);
        self.lists_without_values(&read, &of_lists, &mut map, rules, trail);
        if !map.changed {
            return Some(live.unwrap_or(patch).clone());
        }
        if map.stays.contains(&false) {
            let stays = |at: usize| map.stays.get(at).is_none_or(|stays| *stays);
            map.fields.retain(|at, _| stays(at));
        }
        let source = live.map_or_else(|| patch.source(), Node::source);
        Some(Node::map(map.fields, source))
    }

    /// Merges the fields of a patch.
    fn fields<'a>(
        &mut self,
        has_live: bool,
        patch: &PatchMap<'a>,
        places: &[Option<usize>],
        map: &mut MergedMap<'a>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) {
        for (field, place) in patch.fields.iter().zip(places) {
            let key = &*field.key;
            let field_patch = FieldPatch {
                value: Some(&field.value),
                directive: patch.lists.get(key),
            };
            let old = place.map(|at| (at, map.fields.get(at)));
            let live = old.as_ref().map(|(_, field)| &field.value);
            let result = self.field(live, &field_patch, rules.field(key), &trail.field(key));
            match (old, result) {
                (None, None) => map.changed |= !has_live,
                (None, Some(result)) => {
                    map.changed |= has_live || !result.is(&field.value);
                    map.fields.push(field.with(result));
                }
                (Some((at, old)), Some(result)) => {
                    if !result.is(&old.value) {
                        map.changed = true;
                        map.fields.set(at, old.with(result));
                    }
                }
                (Some((at, _)), None) => {
                    map.changed = true;
                    map.stays[at] = false;
                }
            }
        }
    }

    /// Merges lists that a patch only orders, or only deletes elements from.
    fn lists_without_values<'a>(
        &mut self,
        patch: &PatchMap<'a>,
        places: &[Option<usize>],
        map: &mut MergedMap<'a>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) {
        for ((name, list), place) in patch.lists.iter().zip(places) {
            let Some(at) = *place else { continue };
            let old = map.fields.get(at);
            let field_patch = FieldPatch {
                value: None,
                directive: Some(list),
            };
            let (rules, trail) = (rules.field(name), trail.field(name));
            match self.field(Some(&old.value), &field_patch, rules, &trail) {
                Some(result) if result.is(&old.value) => continue,
                Some(result) => map.fields.set(at, old.with(result)),
                None => map.stays[at] = false,
            }
            map.changed = true;
        }
    }

    /// Removes the keys that `$retainKeys` does not name.
    fn retain(
        &mut self,
        retain: &[Value],
        patch: &PatchMap<'_>,
        map: &mut MergedMap<'_>,
        trail: &Trail<'_>,
    ) {
        let names: HashSet<&str> = retain.iter().filter_map(Value::as_str).collect();
        let missing = patch.fields.iter();
        let missing: Vec<String> = missing
            .filter(|field| !field.value.is_null() && !names.contains(&*field.key))
            .map(|field| format!("`{}`", field.key))
            .collect();
        if !missing.is_empty() {
            let message = format!(
                "expected all keys of the patch in $retainKeys, found {} outside of it",
                missing.join(", ")
            );
            let at = trail.field("$retainKeys");
            self.findings.error(&at, Reason::InvalidPatch, message);
        }
        for (at, stays) in map.stays.iter_mut().enumerate() {
            if !names.contains(map.fields.key(at)) {
                *stays = false;
                map.changed = true;
            }
        }
    }
}

/// The positions in live of the fields of a patch, and of the fields for which it has only list directives.
fn places(map: &MergedMap<'_>, patch: &PatchMap<'_>) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
    let live = Finder::in_fields(map.fields.clone());
    let fields = Finder::in_fields(patch.fields.clone());
    let place = |key: &str| live.position(key).filter(|at| map.stays[*at]);
    let of_fields = (0..patch.fields.len()).map(|at| place(patch.fields.key(at)));
    let of_lists = patch.lists.keys().map(|name| match fields.position(name) {
        Some(_) => None,
        None => place(name),
    });
    (of_fields.collect(), of_lists.collect())
}
