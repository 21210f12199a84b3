//! kubectl's patches without what has no effect.

use krm_patch::Rules;
use krm_patch::rules::ListRule;
use krm_yaml::Value;

/// Which orders are taken out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Orders {
    /// Those in which the elements stand in live already.
    WithoutEffect,
    /// Those, and all of lists of primitives.
    OfPrimitives,
}

/// A patch without `$setElementOrder` of lists that it does not touch, and without what is empty then.
pub(crate) fn prune(patch: &Value, live: &Value, rules: Rules<'_>, orders: Orders) -> Value {
    map(patch, Some(live), rules, orders)
}

fn map(patch: &Value, live: Option<&Value>, rules: Rules<'_>, orders: Orders) -> Value {
    let Value::Mapping(entries) = patch else {
        return patch.clone();
    };
    let below = |name: &str| live.and_then(|live| live.get(name));
    let mut all: Vec<(Value, Value)> = Vec::new();
    let mut pruned = false;
    for (key, value) in entries {
        let name = key.as_str().unwrap_or_default();
        let rules = rules.field(name);
        let new = match (value, below(name)) {
            (Value::Mapping(own), Some(Value::Mapping(_))) => {
                let new = map(value, below(name), rules, orders);
                if !own.is_empty() && new == Value::Mapping(Vec::new()) {
                    pruned = true;
                    continue;
                }
                new
            }
            (Value::Sequence(items), Some(Value::Sequence(live))) if !name.starts_with('$') => {
                let new = list(items, live, rules, orders);
                if !items.is_empty() && new.is_empty() {
                    pruned = true;
                    continue;
                }
                Value::Sequence(new)
            }
            _ => value.clone(),
        };
        pruned |= new != *value;
        all.push((key.clone(), new));
    }
    let present: Vec<String> = all
        .iter()
        .filter_map(|(key, _)| key.as_str().map(str::to_owned))
        .collect();
    all.retain(|(key, value)| {
        let key = key.as_str().unwrap_or_default();
        let Some(name) = key.strip_prefix("$setElementOrder/") else {
            return true;
        };
        let touched = |key: &str| present.iter().any(|other| other == key);
        if touched(name) || touched(&format!("$deleteFromPrimitiveList/{name}")) {
            return true;
        }
        let rule = rules.field(name).list();
        let primitives = rule == ListRule::Set && orders == Orders::OfPrimitives;
        let stays = !primitives && differs(value, below(name), rule);
        pruned |= !stays;
        stays
    });
    // What stays behind where an order was the only change.
    let retained = all
        .iter()
        .find(|(key, _)| key.as_str() == Some("$retainKeys"));
    if let Some((_, Value::Sequence(names))) = retained.filter(|_| pruned && all.len() <= 2) {
        let others = match live {
            Some(Value::Mapping(live)) => live
                .iter()
                .any(|(key, value)| !names.contains(key) && *value != Value::Null),
            _ => true,
        };
        if !others {
            all.retain(|(key, _)| key.as_str() != Some("$retainKeys"));
        }
    }
    Value::Mapping(all)
}

fn list(items: &[Value], live: &[Value], rules: Rules<'_>, orders: Orders) -> Vec<Value> {
    let ListRule::Keyed(keys) = rules.list() else {
        return items.to_vec();
    };
    let names: Vec<&str> = keys.names().collect();
    let key = |element: &Value| -> Vec<Option<Value>> {
        names
            .iter()
            .map(|name| element.get(name).cloned())
            .collect()
    };
    let mut all = Vec::new();
    for item in items {
        let old = live.iter().find(|old| key(old) == key(item));
        let new = map(item, old, rules.items(), orders);
        let only_keys = match &new {
            Value::Mapping(entries) => entries.len() <= names.len(),
            _ => false,
        };
        if only_keys && new != *item && old.is_some() {
            continue;
        }
        all.push(new);
    }
    all
}

/// Whether the elements that an order and live have stand in another order.
fn differs(order: &Value, live: Option<&Value>, rule: ListRule<'_>) -> bool {
    let (Value::Sequence(order), Some(Value::Sequence(live))) = (order, live) else {
        return true;
    };
    let key = |element: &Value| match rule {
        ListRule::Keyed(keys) => {
            let names: Vec<&str> = keys.names().collect();
            Value::Sequence(
                names
                    .iter()
                    .map(|name| element.get(name).cloned().unwrap_or(Value::Null))
                    .collect(),
            )
        }
        _ => element.clone(),
    };
    let (order, live): (Vec<_>, Vec<_>) = (
        order.iter().map(key).collect(),
        live.iter().map(key).collect(),
    );
    let ours: Vec<_> = order.iter().filter(|key| live.contains(key)).collect();
    let theirs: Vec<_> = live.iter().filter(|key| order.contains(key)).collect();
    ours != theirs
}
