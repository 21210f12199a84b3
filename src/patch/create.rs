//! Makes the patch that takes a live resource to a modified configuration.
//!
//! ```yaml
//! env:            # original   # modified   # live        # patch
//!                   [A, B]       [B, C]       [A, B, X]     $setElementOrder/env: [B, C]
//!                                                           env: [C, {A, $patch: delete}]
//! ```
//!
//! Additions and changes are what modified has and live has not; deletions are what original has and
//! modified has not. What only live has says nothing. The two come as one patch, in the form of
//! kubectl, which older servers can read too.
//!
//! Source: preserve-order document; merging-fields document; contract, create-patch.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::directive::{DELETE_FROM_PRIMITIVE_LIST, PATCH, RETAIN_KEYS, SET_ELEMENT_ORDER};
use super::fields::{Field, Fields};
use super::finder::Finder;
use super::finding::Findings;
use super::node::{Item, Node, Shape};
use super::order::ElementKey;
use super::rules::{ListRule, Rules, key_values, names};
use crate::results::Reason;
use crate::schema::Keys;
use crate::yaml::{Trail, Value};

/// Makes the patch; `None` if there is nothing to patch. With error findings it is of no use.
pub fn create<'a>(
    original: Option<&Node<'a>>,
    modified: &Node<'a>,
    live: &Node<'a>,
    rules: Rules<'_>,
    findings: &mut Findings,
) -> Option<Node<'a>> {
    let versions = Versions {
        original,
        modified,
        live: Some(live),
    };
    Create { findings }.map(versions, rules, false, &Trail::Root)
}

/// One place in three versions.
#[derive(Clone, Copy)]
struct Versions<'p, 'a> {
    original: Option<&'p Node<'a>>,
    modified: &'p Node<'a>,
    live: Option<&'p Node<'a>>,
}

struct Create<'r> {
    findings: &'r mut Findings,
}

impl Create<'_> {
    /// The patch of a map. Without live all of modified is new.
    fn map<'a>(
        &mut self,
        versions: Versions<'_, 'a>,
        rules: Rules<'_>,
        retains: bool,
        trail: &Trail<'_>,
    ) -> Option<Node<'a>> {
        let Versions {
            original,
            modified,
            live,
        } = versions;
        let (mut old, mut theirs) = (Finder::of(original), Finder::of(live));
        let mut fields = Fields::default();
        // Whether anything but all of modified is in the patch.
        let mut differs = false;
        for field in modified.each_field() {
            let field = &field;
            let at = trail.field(&field.key);
            let below = rules.field(&field.key);
            if field.key.starts_with('$') && !rules.takes_dollar(&field.key) {
                let message = format!(
                    "expected a field, found `{}`: directives belong into patches",
                    field.key
                );
                self.findings.error(&at, Reason::UnknownDirective, message);
                continue;
            }
            let (original, live) = (old.find(&field.key), theirs.find(&field.key));
            let below_versions = Versions {
                original: original.as_ref(),
                modified: &field.value,
                live: live.as_ref(),
            };
            let before = fields.len();
            self.field(field, below_versions, below, &at, &mut fields);
            differs |= fields.len() != before + 1 || !fields.get(before).value.is(&field.value);
        }
        let mut find_own = Finder::of(original.map(|_| modified));
        for field in original.iter().flat_map(|original| original.each_field()) {
            if find_own.find(&field.key).is_none() {
                fields.push(Field::made(field.key, Node::of_value(Value::Null)));
                differs = true;
            }
        }
        if retains {
            let mut find_own = Finder::of(Some(modified));
            let mut is_more =
                |field: Field<'a>| !field.value.is_null() && find_own.find(&field.key).is_none();
            let wanted = match live {
                Some(live) => !fields.is_empty() || live.each_field().any(&mut is_more),
                None => differs,
            };
            let own = modified.each_field();
            let mut names: Vec<Cow<'_, str>> = own
                .filter(|field| !field.value.is_null())
                .map(|field| field.key)
                .collect();
            names.sort_unstable();
            if wanted && !names.is_empty() {
                let items = names.into_iter();
                let items = items.map(|name| Item::made(Node::of_value(name.into_owned())));
                let list = Node::list(items.collect(), None);
                fields.insert(0, Field::made(RETAIN_KEYS, list));
                differs = true;
            }
        }
        match live {
            None if !differs => Some(modified.clone()),
            Some(_) if fields.is_empty() => None,
            _ => Some(Node::map(fields, modified.source())),
        }
    }

    /// Puts what a field needs into the patch.
    fn field<'a>(
        &mut self,
        field: &Field<'a>,
        versions: Versions<'_, 'a>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
        fields: &mut Fields<'a>,
    ) {
        let shape = versions.modified.shape();
        let versions = Versions {
            original: versions.original.filter(|old| old.shape() == shape),
            live: versions.live.filter(|live| live.shape() == shape),
            ..versions
        };
        let value = match (shape, rules.list()) {
            (Shape::Map, _) if !rules.replaces_map() => {
                self.map(versions, rules, rules.retains_keys(), trail)
            }
            (Shape::List, ListRule::Set) => return self.set(field, versions, trail, fields),
            (Shape::List, ListRule::Keyed(keys)) => {
                return self.list(field, versions, keys, rules, trail, fields);
            }
            _ => {
                let same = versions
                    .live
                    .is_some_and(|live| live.equals(versions.modified));
                (!same).then(|| versions.modified.clone())
            }
        };
        fields.extend(value.map(|value| field.with(value)));
    }

    /// A list of primitives that merges.
    fn set<'a>(
        &mut self,
        field: &Field<'a>,
        versions: Versions<'_, 'a>,
        trail: &Trail<'_>,
        fields: &mut Fields<'a>,
    ) {
        let own = versions.modified.items();
        let live = versions.live.map(Node::items).unwrap_or_default();
        let old = versions.original.map(Node::items).unwrap_or_default();
        let is_whole = live.is_empty();
        if own.is_empty() && is_whole && old.is_empty() {
            // An empty list where live has none; nothing where live has one too.
            if versions.live.is_none() {
                fields.push(field.clone());
            }
            return;
        }
        let keys = |items: &[Item<'a>]| -> Option<Vec<ElementKey>> {
            let keys = items.iter().map(|item| match item.value.shape() {
                Shape::Map | Shape::List => None,
                _ => Some(vec![item.value.scalar()?]),
            });
            keys.collect()
        };
        let (Some(own_keys), Some(live_keys), Some(old_keys)) =
            (keys(&own), keys(&live), keys(&old))
        else {
            let message = "expected a list of strings or numbers, as its elements merge";
            self.findings.error(trail, Reason::InvalidValue, message);
            return;
        };
        let mut kinds = [&own_keys, &live_keys, &old_keys]
            .into_iter()
            .flatten()
            .flatten()
            .map(Value::kind);
        let first = kinds.next();
        if let Some(other) = kinds.find(|kind| Some(*kind) != first) {
            let first = first.unwrap_or_default();
            let message = format!("expected elements of one kind, found a {first} and a {other}");
            self.findings.error(trail, Reason::InvalidValue, message);
            return;
        }
        let in_own: HashSet<&ElementKey> = own_keys.iter().collect();
        let in_live: HashSet<&ElementKey> = live_keys.iter().collect();
        let mut gone: Vec<&ElementKey> = old_keys
            .iter()
            .filter(|key| !in_own.contains(key))
            .collect();
        gone.sort_by_cached_key(|key| sort_text(key));
        gone.dedup();
        let mut seen: HashSet<&ElementKey> = HashSet::new();
        let added: Vec<Item<'a>> = own
            .iter()
            .zip(&own_keys)
            .filter(|(_, key)| !in_live.contains(key) && seen.insert(key))
            .map(|(item, _)| item.clone())
            .collect();
        let moved = own_order_differs(&own_keys, &live_keys);
        let is_ordered = !gone.is_empty() || (!is_whole && (!added.is_empty() || moved));
        if is_ordered && !own.is_empty() {
            fields.push(Field::made(
                format!("{SET_ELEMENT_ORDER}{}", field.key),
                versions.modified.clone(),
            ));
        }
        if !gone.is_empty() {
            let items = gone.into_iter().flatten().cloned();
            let items = items.map(|value| Item::made(Node::of_value(value)));
            let list = Node::list(items.collect(), None);
            let key = format!("{DELETE_FROM_PRIMITIVE_LIST}{}", field.key);
            fields.push(Field::made(key, list));
        }
        if is_whole {
            if versions.live.is_none() || !own.is_empty() {
                fields.push(field.clone());
            }
        } else if !added.is_empty() {
            let source = versions.modified.source();
            let list = Node::list(added, source);
            fields.push(field.with(list));
        }
    }

    /// A list of maps that merges.
    fn list<'a>(
        &mut self,
        field: &Field<'a>,
        versions: Versions<'_, 'a>,
        keys: Keys<'_>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
        fields: &mut Fields<'a>,
    ) {
        let own = versions.modified.items();
        let live = versions.live.map(Node::items).unwrap_or_default();
        let old = versions.original.map(Node::items).unwrap_or_default();
        let is_whole = live.is_empty();
        if is_whole && old.is_empty() {
            if versions.live.is_none() || !own.is_empty() {
                fields.push(field.clone());
            }
            return;
        }
        let own_keys = self.keys(&own, keys, "the configuration", trail);
        let live_keys = self.keys(&live, keys, "live", trail);
        let old_keys = self.keys(&old, keys, "the previous configuration", trail);
        let (Some(own_keys), Some(live_keys), Some(old_keys)) = (own_keys, live_keys, old_keys)
        else {
            return;
        };
        let in_live = pair(&live_keys, &own_keys);
        let in_old = pair(&old_keys, &own_keys);
        let mut items = Vec::new();
        let mut deletes_within = false;
        for index in patch_order(&own_keys) {
            let item = &own[index];
            let at = trail.element(index);
            let original = in_old.of[index].map(|at| old[at].value.clone());
            let live = in_live.of[index].map(|at| live[at].value.clone());
            let versions = Versions {
                original: original.as_ref(),
                modified: &item.value,
                live: live.as_ref(),
            };
            let Some(value) = self.map(versions, rules.items(), rules.retains_keys(), &at) else {
                continue;
            };
            deletes_within |= live.is_none() && !value.is(&item.value);
            items.push(Item {
                value: with_keys(value, &item.value, keys),
                ..*item
            });
        }
        let mut gone: Vec<usize> = in_old.left;
        gone.sort_by_cached_key(|at| sort_text(&old_keys[*at]));
        let deletes = deletes_within || !gone.is_empty();
        for at in gone {
            let named = keys.names().zip(&old_keys[at]);
            let named = named
                .map(|(name, value)| Field::made(name.to_owned(), Node::of_value(value.clone())));
            let word = Field::made(PATCH, Node::of_value("delete"));
            let fields = named.chain([word]).collect();
            items.push(Item::made(Node::map(fields, None)));
        }
        let moved = own_order_differs(&own_keys, &live_keys);
        let is_ordered = match is_whole {
            true => deletes,
            false => !items.is_empty() || moved,
        };
        if !items.is_empty() && (repeats(&own_keys) || repeats(&live_keys)) {
            let message = format!(
                "two elements have the same `{}`, by which alone patches tell them apart",
                names(keys)
            );
            self.findings.warning(trail, Reason::DuplicateKey, message);
        }
        if is_ordered && !own.is_empty() {
            let named = own.iter().map(|item| {
                let value = Node::map(key_fields(&item.value, keys), item.value.source());
                Item { value, ..*item }
            });
            let items = named.collect();
            let list = Node::list(items, versions.modified.source());
            let key = format!("{SET_ELEMENT_ORDER}{}", field.key);
            fields.push(Field::made(key, list));
        }
        if is_whole && !deletes {
            // All of modified, as it stands there.
            if versions.live.is_none() || !own.is_empty() {
                fields.push(field.clone());
            }
        } else if !items.is_empty() {
            let source = versions.modified.source();
            let list = Node::list(items, source);
            fields.push(field.with(list));
        }
    }

    fn keys(
        &mut self,
        items: &[Item<'_>],
        keys: Keys<'_>,
        whose: &str,
        trail: &Trail<'_>,
    ) -> Option<Vec<ElementKey>> {
        let mut found = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match key_values(keys, &item.value) {
                Ok(key) => found.push(key),
                Err(message) => {
                    let at = trail.element(index);
                    let message = format!("element of {whose}: {message}");
                    self.findings.error(&at, Reason::InvalidValue, message);
                    return None;
                }
            }
        }
        Some(found)
    }
}

/// Which elements of an older list are those of the newer one.
struct Pairs {
    /// For each element of the newer list, its place in the older one.
    of: Vec<Option<usize>>,
    /// What of the older list is left.
    left: Vec<usize>,
}

/// Pairs elements by their keys; of equal ones the last with the last, as kubectl does.
fn pair(old: &[ElementKey], new: &[ElementKey]) -> Pairs {
    let mut by_key: HashMap<&ElementKey, Vec<usize>> = HashMap::new();
    for (at, key) in old.iter().enumerate() {
        by_key.entry(key).or_default().push(at);
    }
    let mut of = vec![None; new.len()];
    for (at, key) in new.iter().enumerate().rev() {
        of[at] = by_key.get_mut(key).and_then(Vec::pop);
    }
    let left = by_key.into_values().flatten().collect::<HashSet<_>>();
    let left = (0..old.len()).filter(|at| left.contains(at)).collect();
    Pairs { of, left }
}

/// The order of the elements in the patch: that of the configuration. Of elements with one key the
/// last comes first, as in kubectl, unless the patch would contradict its `$setElementOrder` then.
fn patch_order(own: &[ElementKey]) -> Vec<usize> {
    let mut first: HashMap<&ElementKey, usize> = HashMap::new();
    for (at, key) in own.iter().enumerate() {
        first.entry(key).or_insert(at);
    }
    let mut order: Vec<usize> = (0..own.len()).collect();
    order.sort_by_key(|at| (first[&own[*at]], std::cmp::Reverse(*at)));
    let agrees = order.iter().map(|at| &own[*at]).eq(own);
    match agrees {
        true => order,
        false => (0..own.len()).collect(),
    }
}

/// Whether the elements that both lists have stand in another order.
fn own_order_differs(own: &[ElementKey], live: &[ElementKey]) -> bool {
    let in_own: HashSet<&ElementKey> = own.iter().collect();
    let in_live: HashSet<&ElementKey> = live.iter().collect();
    let own = own.iter().filter(|key| in_live.contains(key));
    own.ne(live.iter().filter(|key| in_own.contains(key)))
}

fn repeats(keys: &[ElementKey]) -> bool {
    let mut seen = HashSet::new();
    !keys.iter().all(|key| seen.insert(key))
}

/// How kubectl sorts elements: by the text of their key.
fn sort_text(key: &ElementKey) -> Vec<String> {
    key.iter().map(Value::plain_text).collect()
}

/// The fields that tell an element apart.
fn key_fields<'a>(element: &Node<'a>, keys: Keys<'_>) -> Fields<'a> {
    let mut fields = element.fields();
    fields.retain(|_, key| keys.names().any(|name| name == key));
    fields
}

/// The patch of an element with the fields that tell it apart, in the element's order.
fn with_keys<'a>(patch: Node<'a>, element: &Node<'a>, keys: Keys<'_>) -> Node<'a> {
    let Node::Map(map) = &patch else {
        return patch;
    };
    let mut fields = key_fields(element, keys);
    fields.retain(|_, key| map.fields.position(key).is_none());
    fields.extend(map.fields.iter());
    Node::map(fields, map.source)
}
