//! Applies a strategic merge patch to a value.
//!
//! ```yaml
//! spec:               # live      # patch              # result
//!   replicas: 3                     replicas: null       paused: true
//!   paused: false                   paused: true
//! ```
//!
//! Maps merge by key, lists as [`Rules`] say, `null` deletes, directives do as they say. What a patch
//! adds is freed from directives and nulls first: those never reach the result.
//!
//! Source: preserve-order document; contract, apply-patch.

use std::collections::{HashMap, HashSet};

use super::directive::{ListDirective, NO_SCHEMA, PATCH, PatchMap, Word, short, word};
use super::finding::Findings;
use super::node::{Field, Item, List, Map, Node, Shape};
use super::order::{ElementKey, ListOrder, Merged, live_after_deletions};
use super::rules::{ListRule, Rules, key_values};
use crate::results::Reason;
use crate::yaml::{Trail, Value};

/// What becomes of a resource.
#[derive(Debug, Clone)]
pub enum Applied<'a> {
    /// It is this now.
    Resource(Node<'a>),
    /// The patch deletes it.
    Deleted,
}

/// Fields that say which resource it is; a patch that replaces all keeps them.
const IDENTITY: [&str; 2] = ["apiVersion", "kind"];
const METADATA_IDENTITY: [&str; 2] = ["name", "namespace"];

/// Applies a patch to a resource. With error findings the result is of no use.
pub fn apply<'a>(
    live: &Node<'a>,
    patch: &Node<'a>,
    rules: Rules<'_>,
    order: ListOrder,
    findings: &mut Findings,
) -> Applied<'a> {
    let mut apply = Apply { order, findings };
    match apply.map(Some(live), patch, rules, &Trail::Root) {
        None => Applied::Deleted,
        Some(result) if matches!(word(patch), Some(Word::Replace)) => {
            Applied::Resource(with_identity(live, &result))
        }
        Some(result) => Applied::Resource(result),
    }
}

/// A result with the identity of what it takes the place of.
fn with_identity<'a>(live: &Node<'a>, result: &Node<'a>) -> Node<'a> {
    let keep = |from: &Node<'a>, into: &Node<'a>, names: &[&str]| {
        let kept = from.fields().into_iter();
        let kept: Vec<Field<'a>> = kept.filter(|field| names.contains(&&*field.key)).collect();
        let others = into.fields().into_iter();
        let others = others.filter(|field| kept.iter().all(|kept| kept.key != field.key));
        let fields = kept.iter().cloned().chain(others).collect();
        let source = from.source();
        Node::Map(Map { fields, source })
    };
    let mut root = keep(live, result, &IDENTITY);
    let Some(metadata) = live.get("metadata") else {
        return root;
    };
    let empty = Node::Map(Map::default());
    let new = result.get("metadata").unwrap_or(empty);
    let new = keep(&metadata, &new, &METADATA_IDENTITY);
    if let Node::Map(map) = &mut root {
        let old = live.fields().into_iter();
        let old = old.filter(|field| field.key == "metadata");
        let field = old.map(|field| field.with(new.clone())).next();
        map.fields.retain(|field| field.key != "metadata");
        map.fields.extend(field);
    }
    root
}

/// A result that says which resource it is, as live does.
#[must_use]
pub fn keep_identity<'a>(live: &Node<'a>, result: Node<'a>) -> Node<'a> {
    let lost = |path: &[&str]| live.get_path(path).is_some() && result.get_path(path).is_none();
    let root = IDENTITY.iter().any(|name| lost(&[name]));
    let metadata = METADATA_IDENTITY.iter();
    if root
        || metadata
            .map(|name| ["metadata", name])
            .any(|path| lost(&path))
    {
        return with_identity(live, &result);
    }
    result
}

/// A patch without what says which resource it is for.
#[must_use]
pub fn without_identity<'a>(patch: &Node<'a>) -> Node<'a> {
    let without = |map: &Node<'a>, names: &[&str]| {
        let mut fields = map.fields();
        fields.retain(|field| !names.contains(&&*field.key));
        let source = map.source();
        Map { fields, source }
    };
    let mut root = without(patch, &IDENTITY);
    for field in &mut root.fields {
        if field.key == "metadata" && field.value.shape() == Shape::Map {
            field.value = Node::Map(without(&field.value, &METADATA_IDENTITY));
        }
    }
    Node::Map(root)
}

struct Apply<'r> {
    order: ListOrder,
    findings: &'r mut Findings,
}

/// A part of the patch for one field.
struct Part<'p, 'a> {
    value: Option<&'p Node<'a>>,
    directive: Option<&'p ListDirective<'a>>,
}

impl Apply<'_> {
    /// A map, merged into that of live or new. `None` if the patch deletes it.
    fn map<'a>(
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
        let mut changed = live.is_none() && read.has_directives;
        let fields = live.map(Node::fields).unwrap_or_default();
        let source = live.map_or_else(|| patch.source(), Node::source);
        let mut fields: Vec<Option<Field<'a>>> = fields.into_iter().map(Some).collect();
        if let (Some(retain), Some(_)) = (&read.retain, live) {
            changed |= self.retain(retain, &read, &mut fields, trail);
        }
        let places = places(&fields, &read);
        let directives: HashMap<&str, &ListDirective<'a>> = read
            .lists
            .iter()
            .map(|list| (list.name.as_str(), list))
            .collect();
        let mut new = Vec::new();
        for field in &read.fields {
            let part = Part {
                value: Some(&field.value),
                directive: directives.get(&*field.key).copied(),
            };
            let place = places.get(&*field.key).copied();
            let old = place.and_then(|at| fields[at].as_ref());
            let at = trail.field(&field.key);
            let rules = rules.field(&field.key);
            let result = self.field(old.map(|field| &field.value), &part, rules, &at);
            match (old, result) {
                (None, None) => changed |= live.is_none(),
                (None, Some(result)) => {
                    changed |= live.is_some() || !result.is(&field.value);
                    new.push(field.with(result));
                }
                (Some(_), None) => {
                    changed = true;
                    place.into_iter().for_each(|at| fields[at] = None);
                }
                (Some(old), Some(result)) => {
                    if !result.is(&old.value) {
                        changed = true;
                        let field = old.with(result);
                        if let Some(at) = place {
                            fields[at] = Some(field);
                        }
                    }
                }
            }
        }
        // Lists that the patch only orders, or deletes from.
        let named: HashSet<&str> = read.fields.iter().map(|field| &*field.key).collect();
        for list in read
            .lists
            .iter()
            .filter(|list| !named.contains(&*list.name))
        {
            let place = places.get(&*list.name).copied();
            let Some((place, old)) = place.and_then(|at| Some((at, fields[at].clone()?))) else {
                continue;
            };
            let part = Part {
                value: None,
                directive: Some(list),
            };
            let at = trail.field(&list.name);
            let result = self.field(Some(&old.value), &part, rules.field(&list.name), &at);
            if !result.as_ref().is_some_and(|result| result.is(&old.value)) {
                changed = true;
                fields[place] = result.map(|result| old.with(result));
            }
        }
        if !changed {
            return Some(live.unwrap_or(patch).clone());
        }
        let mut fields: Vec<Field<'a>> = fields.into_iter().flatten().collect();
        fields.reserve_exact(new.len());
        fields.extend(new);
        Some(Node::Map(Map { fields, source }))
    }

    /// Takes away what `$retainKeys` does not name. Says whether there was anything.
    fn retain(
        &mut self,
        retain: &[Value],
        patch: &PatchMap<'_>,
        fields: &mut [Option<Field<'_>>],
        trail: &Trail<'_>,
    ) -> bool {
        let names: HashSet<&str> = retain.iter().filter_map(Value::as_str).collect();
        let mut missing = patch
            .fields
            .iter()
            .filter(|field| !field.value.is_null() && !names.contains(&*field.key))
            .map(|field| format!("`{}`", field.key))
            .peekable();
        if missing.peek().is_some() {
            let missing: Vec<String> = missing.collect();
            let message = format!(
                "expected all keys of the patch in $retainKeys, found {} outside of it",
                missing.join(", ")
            );
            self.findings
                .error(&trail.field("$retainKeys"), Reason::InvalidPatch, message);
        }
        let mut changed = false;
        for field in fields {
            if field.as_ref().is_some_and(|f| !names.contains(&*f.key)) {
                *field = None;
                changed = true;
            }
        }
        changed
    }

    /// The value of a field.
    fn field<'a>(
        &mut self,
        live: Option<&Node<'a>>,
        part: &Part<'_, 'a>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) -> Option<Node<'a>> {
        let order = part.directive.and_then(|list| list.order.as_deref());
        let delete = part.directive.and_then(|list| list.delete.as_deref());
        // An empty order says nothing.
        let order = order.filter(|order| !order.is_empty());
        let result = match (part.value, order) {
            (None, None) => live.cloned(),
            (Some(value), None) => self.value(live, value, rules, trail),
            (value, Some(order)) => self.ordered(live, value, order, rules, trail),
        };
        match (result, delete, live) {
            (Some(result), Some(delete), Some(_)) => self.delete(result, delete, trail),
            (result, _, _) => result,
        }
    }

    /// What a value of the patch makes of that of live.
    fn value<'a>(
        &mut self,
        live: Option<&Node<'a>>,
        patch: &Node<'a>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) -> Option<Node<'a>> {
        let old = live.filter(|live| live.shape() == patch.shape());
        let result = match (patch.shape(), old) {
            (Shape::Null, _) => return None,
            (Shape::Map, Some(live)) if !rules.replaces_map() => {
                return self.map(Some(live), patch, rules, trail);
            }
            (Shape::List, Some(live)) => return Some(self.list(live, patch, None, rules, trail)),
            (Shape::Map, _) => self.map(None, patch, rules, trail)?,
            (Shape::List, None) => self.new_list(patch, rules, trail),
            (Shape::Scalar, _) => patch.clone(),
        };
        Some(keep_if_equal(live, result))
    }

    /// A list that is not in live.
    fn new_list<'a>(&mut self, patch: &Node<'a>, rules: Rules<'_>, trail: &Trail<'_>) -> Node<'a> {
        let is_keyed = matches!(rules.list(), ListRule::Keyed(_));
        let (mut items, mut changed) = (Vec::new(), false);
        for (index, item) in patch.items().into_iter().enumerate() {
            let at = trail.element(index);
            if item.value.shape() == Shape::Map
                && let Some(word) = word(&item.value)
            {
                if !rules.is_known() {
                    self.findings.error(&at, Reason::InvalidPatch, NO_SCHEMA);
                }
                if is_keyed && (word == Word::Replace || is_marker(&item.value)) {
                    changed = true;
                    continue;
                }
            }
            let value = match item.value.shape() {
                Shape::Map => self.map(None, &item.value, rules.items(), &at),
                Shape::List => Some(self.new_list(&item.value, rules.items(), &at)),
                Shape::Null | Shape::Scalar => Some(item.value.clone()),
            };
            let Some(value) = value else {
                changed = true;
                continue;
            };
            changed |= !value.is(&item.value);
            items.push(Item { value, ..item });
        }
        if !changed {
            return patch.clone();
        }
        let source = patch.source();
        Node::List(List { items, source })
    }

    /// A list with `$setElementOrder`.
    fn ordered<'a>(
        &mut self,
        live: Option<&Node<'a>>,
        patch: Option<&Node<'a>>,
        order: &[Item<'a>],
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) -> Option<Node<'a>> {
        let is_list = |node: &&Node<'a>| node.shape() == Shape::List;
        let other = patch.filter(|patch| !is_list(patch));
        // What is no list in live gives way to a list of the patch.
        let other =
            other.or(live.filter(|live| !is_list(live) && patch.is_none() && !live.is_null()));
        if let Some(other) = other {
            let found = other.shape().with_article();
            let message = format!("expected a list to order, found {found}");
            self.findings.error(trail, Reason::InvalidPatch, message);
            return live.cloned();
        }
        let live = live.filter(is_list);
        let nothing = Node::List(List::default());
        match (live, patch) {
            (None, None) => None,
            (Some(live), patch) => {
                let patch = patch.unwrap_or(&nothing);
                Some(self.list(live, patch, Some(order), rules, trail))
            }
            (None, Some(patch)) => {
                let empty = Node::List(List {
                    items: Vec::new(),
                    source: patch.source(),
                });
                Some(self.list(&empty, patch, Some(order), rules, trail))
            }
        }
    }

    /// A list that live and the patch have.
    fn list<'a>(
        &mut self,
        live: &Node<'a>,
        patch: &Node<'a>,
        order: Option<&[Item<'a>]>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) -> Node<'a> {
        match (rules.list(), order) {
            (ListRule::Atomic, None) => {
                let new = self.new_list(patch, rules, trail);
                keep_if_equal(Some(live), new)
            }
            (ListRule::Atomic, Some(order)) => {
                // What is there is what the patch has, if it has anything.
                let new = match patch.source().is_none() && patch.is_empty() {
                    true => live.clone(),
                    false => self.new_list(patch, rules, trail),
                };
                let nothing = Node::List(List::default());
                let listed = self.keys(&patch.items(), ListRule::Set, "the patch", trail);
                let wanted = self.keys(order, ListRule::Set, "$setElementOrder", trail);
                if let (Some(listed), Some(wanted)) = (listed, wanted) {
                    self.check_order(&listed, &wanted, trail);
                }
                let ordered = self.merge(&new, &nothing, Some(order), ListRule::Set, rules, trail);
                keep_if_equal(Some(live), ordered)
            }
            (rule, order) => self.merge(live, patch, order, rule, rules, trail),
        }
    }

    /// Merges a list of the patch into that of live.
    fn merge<'a>(
        &mut self,
        live: &Node<'a>,
        patch: &Node<'a>,
        order: Option<&[Item<'a>]>,
        rule: ListRule<'_>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) -> Node<'a> {
        let old = live.items();
        let live_keys = self.keys(&old, rule, "live", trail);
        let special = self.special(&patch.items(), rule, trail);
        let (Some(live_keys), Some(special)) = (live_keys, special) else {
            return live.clone();
        };
        let patch_items: Vec<Item<'a>> =
            special.plain.iter().map(|(_, item)| item.clone()).collect();
        let Some(patch_keys) = self.keys(&patch_items, rule, "the patch", trail) else {
            return live.clone();
        };
        let order_keys = match order {
            None => None,
            Some(order) => {
                let Some(keys) = self.keys(order, rule, "$setElementOrder", trail) else {
                    return live.clone();
                };
                self.check_order(&patch_keys, &keys, trail);
                Some(keys)
            }
        };
        if matches!(rule, ListRule::Set) {
            self.check_kinds(&live_keys, &patch_keys, trail);
        }
        let deleted: HashSet<&ElementKey> = special.deleted.iter().collect();
        let mut merged: Vec<(&ElementKey, Item<'a>)> = match special.replaces {
            true => Vec::new(),
            false => live_keys
                .iter()
                .zip(&old)
                .filter(|(key, _)| !deleted.contains(key))
                .map(|(key, item)| (key, item.clone()))
                .collect(),
        };
        let left = merged.len();
        let mut first: HashMap<&ElementKey, usize> = HashMap::new();
        for (at, (key, _)) in merged.iter().enumerate() {
            first.entry(*key).or_insert(at);
        }
        for (key, (index, item)) in patch_keys.iter().zip(&special.plain) {
            let at = trail.element(*index);
            let is_map = matches!(rule, ListRule::Keyed(_));
            match first.get(key).copied() {
                Some(found) if !special.replaces => {
                    if is_map {
                        let old = merged[found].1.value.clone();
                        let rules = rules.items();
                        if let Some(new) = self.map(Some(&old), &item.value, rules, &at) {
                            merged[found].1.value = new;
                        }
                    }
                }
                _ => {
                    let value = match is_map {
                        true => self.map(None, &item.value, rules.items(), &at),
                        false => Some(item.value.clone()),
                    };
                    let Some(value) = value else { continue };
                    first.insert(key, merged.len());
                    let place = item.place;
                    merged.push((key, Item { value, place }));
                }
            }
        }
        let new: Vec<&ElementKey> = merged[left..].iter().map(|(key, _)| *key).collect();
        let all: Vec<&ElementKey> = live_keys.iter().collect();
        let is_keyed = matches!(rule, ListRule::Keyed(_));
        let places = match order_keys.is_some() && is_keyed {
            true => {
                let deleted: Vec<&ElementKey> = special.deleted.iter().collect();
                live_after_deletions(&all, &deleted, &new)
            }
            false => all,
        };
        let order = Merged {
            keys: merged.iter().map(|(key, _)| *key).collect(),
            live: places,
            wanted: order_keys.as_ref().unwrap_or(&patch_keys).iter().collect(),
            is_set: order_keys.is_some(),
        }
        .order(self.order);
        let items: Vec<Item<'a>> = order.iter().map(|at| merged[*at].1.clone()).collect();
        let unchanged = items.len() == old.len()
            && items.iter().zip(&old).all(|(item, old)| {
                item.value.is(&old.value) || scalars_equal(&item.value, &old.value)
            });
        if unchanged {
            return live.clone();
        }
        let source = live.source();
        Node::List(List { items, source })
    }

    /// The keys of all elements; `None` if one has none, which is said.
    fn keys(
        &mut self,
        items: &[Item<'_>],
        rule: ListRule<'_>,
        whose: &str,
        trail: &Trail<'_>,
    ) -> Option<Vec<ElementKey>> {
        let mut keys = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let key = match rule {
                ListRule::Keyed(keys) => key_values(keys, &item.value),
                ListRule::Atomic | ListRule::Set => match item.value.shape() {
                    Shape::Scalar | Shape::Null => {
                        Ok(vec![item.value.scalar().unwrap_or(Value::Null)])
                    }
                    shape => {
                        let found = shape.with_article();
                        Err(format!("expected a string or number, found {found}"))
                    }
                },
            };
            match key {
                Ok(key) => keys.push(key),
                Err(message) => {
                    let at = trail.element(index);
                    let message = format!("element of {whose}: {message}");
                    self.findings.error(&at, Reason::InvalidPatch, message);
                    return None;
                }
            }
        }
        Some(keys)
    }

    /// Sorts the elements of a patch's list by their directives; `None` if one is wrong.
    fn special<'a>(
        &mut self,
        items: &[Item<'a>],
        rule: ListRule<'_>,
        trail: &Trail<'_>,
    ) -> Option<Special<'a>> {
        let mut special = Special {
            plain: Vec::new(),
            deleted: Vec::new(),
            replaces: false,
        };
        let ListRule::Keyed(keys) = rule else {
            special.plain = items.iter().cloned().enumerate().collect();
            return Some(special);
        };
        for (index, item) in items.iter().enumerate() {
            let at = trail.element(index);
            let is_map = item.value.shape() == Shape::Map;
            let mut ignored: Vec<String> = Vec::new();
            match word(&item.value).filter(|_| is_map) {
                Some(Word::Delete) => match key_values(keys, &item.value) {
                    Ok(key) => special.deleted.push(key),
                    Err(message) => {
                        self.findings.error(&at, Reason::InvalidPatch, message);
                        return None;
                    }
                },
                Some(Word::Replace) => {
                    special.replaces = true;
                    let fields = item.value.fields();
                    let others = fields.iter().filter(|field| field.key != "$patch");
                    ignored = others.map(|field| format!("`{}`", field.key)).collect();
                }
                Some(Word::Merge) if is_marker(&item.value) => {}
                _ => special.plain.push((index, item.clone())),
            }
            if !ignored.is_empty() {
                let message = format!(
                    "`$patch: replace` as an element replaces the whole list; the fields beside it are ignored: {}",
                    ignored.join(", ")
                );
                self.findings.warning(&at, Reason::IgnoredField, message);
            }
        }
        Some(special)
    }

    /// The two rejections of the preserve-order document.
    fn check_order(&mut self, patch: &[ElementKey], order: &[ElementKey], trail: &Trail<'_>) {
        let listed: HashSet<&ElementKey> = order.iter().collect();
        let missing: Vec<String> = patch
            .iter()
            .filter(|key| !listed.contains(key))
            .map(key_text)
            .collect();
        if !missing.is_empty() {
            let message = format!(
                "expected all elements of the patch's list in its $setElementOrder, found {} outside of {}",
                missing.join(", "),
                keys_text(order)
            );
            self.findings
                .error(trail, Reason::NotInElementOrder, message);
            return;
        }
        let mut listed = order.iter();
        if !patch.iter().all(|key| listed.any(|other| other == key)) {
            let message = format!(
                "expected the elements of the patch's list in the order of its $setElementOrder {}, found {}",
                keys_text(order),
                keys_text(patch)
            );
            self.findings
                .error(trail, Reason::ElementOrderMismatch, message);
        }
    }

    /// The elements of a list of primitives are of one kind.
    fn check_kinds(&mut self, live: &[ElementKey], patch: &[ElementKey], trail: &Trail<'_>) {
        let mut kinds = live.iter().chain(patch).flatten().map(Value::kind);
        let Some(first) = kinds.next() else { return };
        if let Some(other) = kinds.find(|kind| *kind != first) {
            let message = format!("expected elements of one kind, found a {first} and a {other}");
            self.findings.error(trail, Reason::InvalidPatch, message);
        }
    }

    /// `$deleteFromPrimitiveList`.
    fn delete<'a>(
        &mut self,
        list: Node<'a>,
        delete: &[Item<'a>],
        trail: &Trail<'_>,
    ) -> Option<Node<'a>> {
        if list.shape() != Shape::List || delete.is_empty() {
            return Some(list);
        }
        let items = list.items();
        let own = self.keys(&items, ListRule::Set, "the list", trail);
        let gone = self.keys(delete, ListRule::Set, "$deleteFromPrimitiveList", trail);
        let (Some(own), Some(gone)) = (own, gone) else {
            return Some(list);
        };
        self.check_kinds(&own, &gone, trail);
        let gone: HashSet<&ElementKey> = gone.iter().collect();
        if !own.iter().any(|key| gone.contains(key)) {
            return Some(list);
        }
        let kept = items.into_iter().zip(&own);
        let kept = kept.filter(|(_, key)| !gone.contains(key));
        Some(Node::List(List {
            items: kept.map(|(item, _)| item).collect(),
            source: list.source(),
        }))
    }
}

/// Whether an element is nothing but a directive.
fn is_marker(element: &Node<'_>) -> bool {
    let fields = element.fields();
    fields.len() == 1 && fields[0].key == PATCH
}

/// A patch's list by the directives of its elements.
struct Special<'a> {
    /// Those without, with their index.
    plain: Vec<(usize, Item<'a>)>,
    deleted: Vec<ElementKey>,
    replaces: bool,
}

/// Where the fields that the patch names stand in live.
fn places<'p>(fields: &[Option<Field<'_>>], patch: &'p PatchMap<'_>) -> HashMap<&'p str, usize> {
    let names = patch.fields.iter().map(|field| &*field.key);
    let names = names.chain(patch.lists.iter().map(|list| &*list.name));
    let names: HashSet<&str> = names.collect();
    // A large map of live has few of them.
    let place = |(at, field): (usize, &Option<Field<'_>>)| {
        let name = names.get(&*field.as_ref()?.key)?;
        Some((*name, at))
    };
    fields.iter().enumerate().filter_map(place).collect()
}

/// A result, or what live has if that is equal: its spelling stays.
fn keep_if_equal<'a>(live: Option<&Node<'a>>, result: Node<'a>) -> Node<'a> {
    match live {
        Some(live) if live.equals(&result) => live.clone(),
        _ => result,
    }
}

fn scalars_equal(a: &Node<'_>, b: &Node<'_>) -> bool {
    a.shape() == Shape::Scalar && a.equals(b)
}

fn key_text(key: &ElementKey) -> String {
    let parts: Vec<String> = key.iter().map(Value::plain_text).collect();
    let text = parts.join("/");
    format!("`{}`", short(&Node::Scalar(Value::from(text))))
}

/// The first keys of a list in a message.
fn keys_text(keys: &[ElementKey]) -> String {
    const SHOWN: usize = 16;
    let mut texts: Vec<String> = keys.iter().take(SHOWN).map(key_text).collect();
    if keys.len() > SHOWN {
        texts.push("…".to_owned());
    }
    format!("[{}]", texts.join(", "))
}
