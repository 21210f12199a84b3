//! Lists of maps that merge.

use super::super::directive::{PATCH, SET_ELEMENT_ORDER};
use super::super::elements::Keyed;
use super::super::node::{Field, Fields, ListItem, Node};
use super::super::rules::{ListRule, Rules, names};
use super::pairs::{KeyPairs, own_order_differs, pair, patch_order, repeats, sort_text};
use super::{Create, Nodes};
use krm_core::results::Reason;
use krm_core::schema::Keys;
use krm_yaml::Trail;

impl Create<'_> {
    /// Adds the patch of a list of maps to the fields of the patch.
    pub(super) fn list<'a>(
        &mut self,
        field: &Field<'a>,
        nodes: Nodes<'_, 'a>,
        keys: Keys<'_>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
        fields: &mut Fields<'a>,
    ) {
        let is_empty = |list: Option<&Node<'_>>| list.is_none_or(Node::is_empty);
        let is_whole = is_empty(nodes.live);
        let whole = || {
            // The whole list of modified, unchanged.
            (nodes.live.is_none() || !nodes.modified.is_empty()).then(|| field.clone())
        };
        if is_whole && is_empty(nodes.original) {
            fields.extend(whole());
            return;
        }
        let Some([old, own, live]) = self.keyed(nodes, ListRule::Keyed(keys), trail) else {
            return;
        };
        let in_old = pair(&old.keys, &own.keys);
        let (mut items, deletes_within) =
            self.changed(&own, &live, (&old, &in_old), keys, rules, trail);
        let deletes = deletes_within || !in_old.left.is_empty();
        items.extend(deleted(&old, in_old.left, keys));
        let is_ordered = if is_whole {
            deletes
        } else {
            !items.is_empty() || own_order_differs(&own.keys, &live.keys)
        };
        if !items.is_empty() && (repeats(&own.keys) || repeats(&live.keys)) {
            let message = format!(
                "two elements have the same `{}`, so patches cannot distinguish them",
                names(keys)
            );
            self.findings.warning(trail, Reason::DuplicateKey, message);
        }
        if is_ordered && !own.items.is_empty() {
            let key = format!("{SET_ELEMENT_ORDER}{}", field.key);
            fields.push(Field::made(key, order_of(nodes.modified, &own, keys)));
        }
        if is_whole && !deletes {
            fields.extend(whole());
        } else if !items.is_empty() {
            let source = nodes.modified.source();
            let list = Node::list(items, source);
            fields.push(field.with(list));
        }
    }

    /// The elements that are new or changed, and whether a new one deletes anything.
    fn changed<'a>(
        &mut self,
        own: &Keyed<'a>,
        live: &Keyed<'a>,
        (old, in_old): (&Keyed<'a>, &KeyPairs),
        keys: Keys<'_>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
    ) -> (Vec<ListItem<'a>>, bool) {
        let in_live = pair(&live.keys, &own.keys);
        let mut items = Vec::new();
        let mut deletes = false;
        for index in patch_order(&own.keys) {
            let item = &own.items[index];
            let live = in_live.of[index].map(|at| &live.items[at].value);
            let nodes = Nodes {
                original: in_old.of[index].map(|at| &old.items[at].value),
                modified: &item.value,
                live,
            };
            let at = trail.element(index);
            let (below, retains) = (rules.items(), rules.retains_keys());
            let Some(value) = self.map(nodes, below, retains, &at) else {
                continue;
            };
            deletes |= live.is_none() && !value.is(&item.value);
            let is_key = |key: &str| keys.names().any(|name| name == key);
            let value = match value {
                Node::Map(_) => value.with_keys(&item.value, is_key),
                whole => whole,
            };
            items.push(ListItem { value, ..*item });
        }
        (items, deletes)
    }

    /// Reads the keys of the lists. If an element has none, adds a finding and returns `None`.
    pub(super) fn keyed<'a>(
        &mut self,
        nodes: Nodes<'_, 'a>,
        rule: ListRule<'_>,
        trail: &Trail<'_>,
    ) -> Option<[Keyed<'a>; 3]> {
        let mut read = |list: Option<&Node<'a>>, owner| {
            let items = list.map(Node::items).unwrap_or_default();
            let owner = (owner, Reason::InvalidValue);
            Keyed::read(items, rule, owner, trail, self.findings)
        };
        let own = read(Some(nodes.modified), "the configuration");
        let live = read(nodes.live, "live");
        let old = read(nodes.original, "the previous configuration");
        Some([old?, own?, live?])
    }
}

/// Elements of a patch that delete the elements of the previous configuration at these positions.
fn deleted<'a>(old: &Keyed<'a>, mut removed: Vec<usize>, keys: Keys<'_>) -> Vec<ListItem<'a>> {
    removed.sort_by_cached_key(|at| sort_text(&old.keys[*at]));
    let delete = |at: usize| {
        let named = keys.names().zip(&old.keys[at]);
        let named =
            named.map(|(name, value)| Field::made(name.to_owned(), Node::of_value(value.clone())));
        let word = Field::made(PATCH, Node::of_value("delete"));
        ListItem::made(Node::map(named.chain([word]).collect(), None))
    };
    removed.into_iter().map(delete).collect()
}

/// The value of `$setElementOrder`: the elements of a list, each with only its keys.
fn order_of<'a>(modified: &Node<'a>, own: &Keyed<'a>, keys: Keys<'_>) -> Node<'a> {
    let named = own.items.iter().map(|item| {
        let value = Node::map(key_fields(&item.value, keys), item.value.source());
        ListItem { value, ..*item }
    });
    Node::list(named.collect(), modified.source())
}

/// The key fields of an element.
fn key_fields<'a>(element: &Node<'a>, keys: Keys<'_>) -> Fields<'a> {
    element.fields_if(|key| keys.names().any(|name| name == key))
}
