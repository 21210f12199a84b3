//! Merges maps of a patch into maps of live.

use std::borrow::Cow;
use std::collections::HashSet;

use super::super::directive::{PatchMap, Word};
use super::super::node::{Finder, Node};
use super::super::rules::Rules;
use super::{Apply, FieldPatch};
use krm_core::results::Reason;
use krm_yaml::{Trail, Value};

impl Apply<'_> {
    /// Merges a map into the live one, or makes a new map. `None` if the patch deletes it.
    pub(super) fn map<'a>(
        &mut self,
        live: Option<&Node<'a>>,
        patch: &Node<'a>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) -> Option<Node<'a>> {
        let patch_map = PatchMap::read(patch, rules, trail, self.findings);
        let live = match patch_map.word {
            Some(Word::Delete) => return None,
            Some(Word::Replace) => None,
            Some(Word::Merge) | None => live,
        };
        let old = Finder::of(live);
        let mut fields = old.fields.clone();
        let mut stays = vec![true; fields.len()];
        if let (Some(names), Some(_)) = (&patch_map.retain, live) {
            let names: HashSet<&str> = names.iter().filter_map(Value::as_str).collect();
            self.check_retained(&names, &patch_map, trail);
            stays = (0..fields.len())
                .map(|at| names.contains(fields.key(at)))
                .collect();
        }
        let new = Finder::in_fields(patch_map.fields.clone());
        let lists = patch_map.lists.keys();
        // The lists that the patch only orders, or only deletes elements from.
        let lists = lists.filter(|name| new.position(name).is_none());
        let lists = lists.map(|name| (Cow::from(name.as_str()), None));
        let named = patch_map.fields.iter();
        let named = named.map(|field| (field.key.clone(), Some(field)));
        for (key, own) in named.chain(lists) {
            let place = old.position(&key).filter(|at| stays[*at]);
            let theirs = place.map(|at| old.fields.get(at));
            let field_patch = FieldPatch {
                value: own.as_ref().map(|field| &field.value),
                directive: patch_map.lists.get(&*key),
            };
            let live = theirs.as_ref().map(|field| &field.value);
            let result = self.field(live, &field_patch, rules.field(&key), &trail.field(&key));
            match (place.zip(theirs), result) {
                (Some((at, field)), Some(result)) => fields.set(at, field.with(result)),
                // The others keep their positions until all fields are merged.
                (Some((at, _)), None) => stays[at] = false,
                (None, Some(result)) => fields.extend(own.map(|field| field.with(result))),
                (None, None) => {}
            }
        }
        fields.retain(|at, _| stays.get(at).is_none_or(|stays| *stays));
        let source = live.map_or_else(|| patch.source(), Node::source);
        Some(Node::map(fields, source))
    }

    /// Refuses fields of the patch that its `$retainKeys` does not name.
    fn check_retained(&mut self, names: &HashSet<&str>, patch: &PatchMap<'_>, trail: &Trail<'_>) {
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
    }
}
