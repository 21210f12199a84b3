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
use super::fields::Fields;
use super::finding::Findings;
use super::node::{Item, Node, Shape};
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
        let mut fields = from.fields();
        fields.retain(|_, key| names.contains(&key));
        let mut others = into.fields();
        others.retain(|_, key| fields.position(key).is_none());
        fields.extend(others.iter());
        Node::map(fields, from.source())
    };
    let root = keep(live, result, &IDENTITY);
    let Some(metadata) = live.get("metadata") else {
        return root;
    };
    let new = result.get("metadata").unwrap_or_else(Node::empty_map);
    let new = keep(&metadata, &new, &METADATA_IDENTITY);
    let field = live.each_field().find(|field| field.key == "metadata");
    let source = root.source();
    let mut fields = root.into_fields();
    fields.retain(|_, key| key != "metadata");
    fields.extend(field.map(|field| field.with(new)));
    Node::map(fields, source)
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
        fields.retain(|_, key| !names.contains(&key));
        fields
    };
    let mut fields = without(patch, &IDENTITY);
    if let Some(at) = fields.position("metadata") {
        let field = fields.get(at);
        if field.value.shape() == Shape::Map {
            let own = without(&field.value, &METADATA_IDENTITY);
            fields.set(at, field.with(Node::map(own, field.value.source())));
        }
    }
    Node::map(fields, patch.source())
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
        let source = live.map_or_else(|| patch.source(), Node::source);
        let mut fields = live.map(Node::fields).unwrap_or_default();
        let mut stays = vec![true; fields.len()];
        if let (Some(retain), Some(_)) = (&read.retain, live) {
            changed |= self.retain(retain, &read, &fields, &mut stays, trail);
        }
        let places = Places::of(&fields, &stays, &read);
        let directives: HashMap<&str, &ListDirective<'a>> = read
            .lists
            .iter()
            .map(|list| (list.name.as_str(), list))
            .collect();
        let mut new = Fields::default();
        for (field, place) in read.fields.iter().zip(places.of_fields()) {
            let part = Part {
                value: Some(&field.value),
                directive: directives.get(&*field.key).copied(),
            };
            let old = place.map(|at| fields.get(at));
            let at = trail.field(&field.key);
            let rules = rules.field(&field.key);
            let result = self.field(old.as_ref().map(|field| &field.value), &part, rules, &at);
            match (old.zip(place), result) {
                (None, None) => changed |= live.is_none(),
                (None, Some(result)) => {
                    changed |= live.is_some() || !result.is(&field.value);
                    new.push(field.with(result));
                }
                (Some((_, place)), None) => {
                    changed = true;
                    stays[place] = false;
                }
                (Some((old, place)), Some(result)) => {
                    if !result.is(&old.value) {
                        changed = true;
                        fields.set(place, old.with(result));
                    }
                }
            }
        }
        // Lists that the patch only orders, or deletes from.
        for (list, place) in read.lists.iter().zip(places.of_lists()) {
            let Some(place) = place else { continue };
            let old = fields.get(place);
            let part = Part {
                value: None,
                directive: Some(list),
            };
            let at = trail.field(&list.name);
            let result = self.field(Some(&old.value), &part, rules.field(&list.name), &at);
            if !result.as_ref().is_some_and(|result| result.is(&old.value)) {
                changed = true;
                match result {
                    Some(result) => fields.set(place, old.with(result)),
                    None => stays[place] = false,
                }
            }
        }
        if !changed {
            return Some(live.unwrap_or(patch).clone());
        }
        if stays.contains(&false) {
            fields.retain(|at, _| stays[at]);
        }
        fields.extend(new.iter());
        Some(Node::map(fields, source))
    }

    /// Takes away what `$retainKeys` does not name. Says whether there was anything.
    fn retain(
        &mut self,
        retain: &[Value],
        patch: &PatchMap<'_>,
        fields: &Fields<'_>,
        stays: &mut [bool],
        trail: &Trail<'_>,
    ) -> bool {
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
            self.findings
                .error(&trail.field("$retainKeys"), Reason::InvalidPatch, message);
        }
        let mut changed = false;
        for (at, stays) in stays.iter_mut().enumerate() {
            if !names.contains(fields.key(at)) {
                *stays = false;
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
        Node::list(items, patch.source())
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
        let nothing = Node::list(Vec::new(), None);
        match (live, patch) {
            (None, None) => None,
            (Some(live), patch) => {
                let patch = patch.unwrap_or(&nothing);
                Some(self.list(live, patch, Some(order), rules, trail))
            }
            (None, Some(patch)) => {
                let empty = Node::list(Vec::new(), patch.source());
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
                let nothing = Node::list(Vec::new(), None);
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
        Node::list(items, live.source())
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
                    let fields = item.value.each_field();
                    let others = fields.filter(|field| field.key != "$patch");
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
        let kept = kept.map(|(item, _)| item).collect();
        Some(Node::list(kept, list.source()))
    }
}

/// Whether an element is nothing but a directive.
fn is_marker(element: &Node<'_>) -> bool {
    let fields = element.fields();
    fields.len() == 1 && fields.key(0) == PATCH
}

/// A patch's list by the directives of its elements.
struct Special<'a> {
    /// Those without, with their index.
    plain: Vec<(usize, Item<'a>)>,
    deleted: Vec<ElementKey>,
    replaces: bool,
}

/// Where what the patch names stands in live.
struct Places {
    /// Of the fields of the patch, and of its lists that are none of those behind them.
    found: Vec<Option<usize>>,
    fields: usize,
}

impl Places {
    /// The order is mostly the same: a table of names is made for the first that is elsewhere.
    fn of(live: &Fields<'_>, stays: &[bool], patch: &PatchMap<'_>) -> Self {
        let fields = patch.fields.len();
        let mut found = vec![None; fields + patch.lists.len()];
        let mut by_name: Option<HashMap<&str, usize>> = None;
        let mut next = 0;
        for at in (0..live.len()).filter(|at| stays[*at]) {
            let key = live.key(at);
            let place = if next < fields && patch.fields.key(next) == key {
                Some(next)
            } else {
                let by_name = by_name.get_or_insert_with(|| names(patch));
                by_name.get(key).copied()
            };
            if let Some(place) = place {
                found[place] = Some(at);
                next = place + 1;
            }
        }
        Self { found, fields }
    }

    fn of_fields(&self) -> impl Iterator<Item = Option<usize>> {
        self.found[..self.fields].iter().copied()
    }

    fn of_lists(&self) -> impl Iterator<Item = Option<usize>> {
        self.found[self.fields..].iter().copied()
    }
}

/// The fields of a patch by name, and behind them its lists that are none of those.
fn names<'p>(patch: &'p PatchMap<'_>) -> HashMap<&'p str, usize> {
    let fields = (0..patch.fields.len()).map(|at| patch.fields.key(at));
    let lists = patch.lists.iter().map(|list| &*list.name);
    let mut names = HashMap::new();
    for (at, name) in fields.chain(lists).enumerate() {
        names.entry(name).or_insert(at);
    }
    names
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
    format!("`{}`", short(&Node::of_value(text)))
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
