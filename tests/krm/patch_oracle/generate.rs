//! Questions: resources in three versions, and patches with directives, all from one seed.

use krm_patch::rules::{ListRule, Rules};
use krm_yaml::Value;
use krm_yaml::value::Number;

use super::random::Random;

/// How much of a version is unlike what it comes from, in parts of a thousand.
#[derive(Clone, Copy)]
pub(crate) struct Rates {
    /// An entry or element goes.
    pub(crate) remove: usize,
    /// A scalar changes.
    pub(crate) change: usize,
    /// A list is put into another order.
    pub(crate) shuffle: usize,
    /// A list gets an element.
    pub(crate) add: usize,
    /// An element stands twice, with the same key.
    pub(crate) repeat: usize,
    /// A value is of another kind.
    pub(crate) kind: usize,
    /// A value is null.
    pub(crate) null: usize,
}

pub(crate) const FEW: Rates = Rates {
    remove: 60,
    change: 80,
    shuffle: 120,
    add: 150,
    repeat: 4,
    kind: 1,
    null: 4,
};

pub(crate) const MANY: Rates = Rates {
    remove: 250,
    change: 300,
    shuffle: 300,
    add: 300,
    repeat: 15,
    kind: 5,
    null: 15,
};

/// Names that new elements and entries get.
const NAMES: [&str; 6] = ["new", "extra", "app", "a", "zz", "data"];

fn is_identity(path: &[String]) -> bool {
    match path {
        [one] => matches!(one.as_str(), "apiVersion" | "kind" | "metadata"),
        [one, two] => one == "metadata" && (two == "name" || two == "namespace"),
        _ => false,
    }
}

/// Another version of a resource.
pub(crate) fn mutate(value: &Value, rules: Rules<'_>, rates: Rates, random: &mut Random) -> Value {
    let mut path = Vec::new();
    mutate_at(value, rules, rates, random, &mut path)
}

fn mutate_at(
    value: &Value,
    rules: Rules<'_>,
    rates: Rates,
    random: &mut Random,
    path: &mut Vec<String>,
) -> Value {
    match value {
        Value::Mapping(entries) => {
            let mut all = Vec::new();
            for (key, value) in entries {
                let name = key.as_str().unwrap_or_default();
                path.push(name.to_owned());
                let fixed = is_identity(path);
                if !fixed && random.per_mille(rates.remove) {
                    path.pop();
                    continue;
                }
                let below = rules.field(name);
                let new = match fixed {
                    true if path.len() == 1 && name == "metadata" => {
                        mutate_at(value, below, rates, random, path)
                    }
                    true => value.clone(),
                    false if random.per_mille(rates.null) => Value::Null,
                    false if random.per_mille(rates.kind) => other_kind(value, random),
                    false => mutate_at(value, below, rates, random, path),
                };
                path.pop();
                all.push((key.clone(), new));
            }
            // Only where any key is allowed.
            if rules.takes_dollar("x") && random.per_mille(rates.add) {
                let key = *random.pick(&NAMES);
                if all.iter().all(|(other, _)| other.as_str() != Some(key)) {
                    all.push((Value::from(key), Value::from("v")));
                }
            }
            Value::Mapping(all)
        }
        Value::Sequence(items) => {
            let below = rules.items();
            let mut all = Vec::new();
            for item in items {
                if random.per_mille(rates.remove) {
                    continue;
                }
                path.push("[]".to_owned());
                let mut new = mutate_at(item, below, rates, random, path);
                path.pop();
                keep_keys(item, &mut new, rules, random, rates);
                if random.per_mille(rates.repeat) {
                    all.push(new.clone());
                }
                all.push(new);
            }
            if random.per_mille(rates.add) && !items.is_empty() {
                let mut new = random.pick(items).clone();
                rename(&mut new, rules, random);
                let at = random.below(all.len() + 1);
                all.insert(at, new);
            }
            if random.per_mille(rates.shuffle) {
                random.shuffle(&mut all);
            }
            Value::Sequence(all)
        }
        scalar if random.per_mille(rates.change) => other_scalar(scalar, random),
        scalar => scalar.clone(),
    }
}

/// Keys stay in most elements, or lists would never have the same ones.
fn keep_keys(old: &Value, new: &mut Value, rules: Rules<'_>, random: &mut Random, rates: Rates) {
    let ListRule::Keyed(keys) = rules.list() else {
        return;
    };
    if random.per_mille(rates.kind) {
        return;
    }
    if let Value::Mapping(entries) = new {
        for name in keys.names() {
            entries.retain(|(key, _)| key.as_str() != Some(name));
            if let Some(value) = old.get(name) {
                entries.insert(0, (Value::from(name), value.clone()));
            }
        }
    }
}

fn rename(element: &mut Value, rules: Rules<'_>, random: &mut Random) {
    match (element, rules.list()) {
        (Value::Mapping(entries), ListRule::Keyed(keys)) => {
            for (key, value) in entries {
                if keys.only().is_some() && key.as_str() == keys.only() {
                    *value = other_key(value, random);
                }
            }
        }
        (element @ Value::String(_), _) => *element = other_key(element, random),
        _ => {}
    }
}

fn other_key(value: &Value, random: &mut Random) -> Value {
    match value {
        Value::Number(_) => Value::from(9000 + random.below(4) as i64),
        _ => Value::from(*random.pick(&NAMES)),
    }
}

fn other_scalar(value: &Value, random: &mut Random) -> Value {
    match value {
        Value::Bool(value) => Value::from(!value),
        Value::Number(Number::Int(_)) => Value::from(random.below(5) as i64),
        _ => Value::from(*random.pick(&["one", "two", "three <&>", "é\n", "", "no"])),
    }
}

fn other_kind(value: &Value, random: &mut Random) -> Value {
    let all = [
        Value::from("text"),
        Value::from(7),
        Value::from(true),
        Value::Sequence(vec![Value::from("x")]),
        Value::Sequence(Vec::new()),
        Value::Mapping(vec![(Value::from("name"), Value::from("x"))]),
        Value::Mapping(Vec::new()),
    ];
    let other = random.pick(&all).clone();
    if other.kind() == value.kind() {
        return value.clone();
    }
    other
}

/// A part of a resource.
pub(crate) fn sparse(value: &Value, random: &mut Random, share: usize) -> Value {
    let Value::Mapping(entries) = value else {
        return value.clone();
    };
    let mut all = Vec::new();
    for (key, value) in entries {
        if random.per_mille(share) {
            all.push((key.clone(), sparse(value, random, share)));
        }
    }
    Value::Mapping(all)
}

/// How many directives a patch has, in parts of a thousand of the places for one.
#[derive(Clone, Copy)]
pub(crate) struct Directives {
    pub(crate) map: usize,
    pub(crate) list: usize,
    /// Those that no patch should have: wrong words, unknown names, values of other kinds.
    pub(crate) wrong: usize,
}

/// Puts directives into a patch for `live`.
pub(crate) fn direct(
    patch: Value,
    live: Option<&Value>,
    rules: Rules<'_>,
    rates: Directives,
    random: &mut Random,
    is_element: bool,
) -> Value {
    let Value::Mapping(entries) = patch else {
        return patch;
    };
    let mut all: Vec<(Value, Value)> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (key, value) in entries {
        let name = key.as_str().unwrap_or_default().to_owned();
        let below = rules.field(&name);
        let old = live.and_then(|live| live.get(&name));
        names.push(name.clone());
        match value {
            Value::Mapping(_) => {
                all.push((key, direct(value, old, below, rates, random, false)));
            }
            Value::Sequence(items) => {
                list(&name, items, old, below, rates, random, &mut all);
            }
            _ => all.push((key, value)),
        }
    }
    if random.per_mille(rates.map) && !is_element {
        let word = *random.pick(&["replace", "replace", "delete", "merge"]);
        all.push((Value::from("$patch"), Value::from(word)));
    }
    if random.per_mille(rates.map) || (rules.retains_keys() && random.per_mille(rates.map * 5)) {
        let mut retained: Vec<Value> = names
            .iter()
            .map(|name| Value::from(name.as_str()))
            .collect();
        if let Some(Value::Mapping(entries)) = live {
            let more = entries.iter().map(|(key, _)| key);
            retained.extend(more.filter(|_| random.per_mille(300)).cloned());
        }
        if random.per_mille(rates.wrong * 10) {
            retained.pop();
        }
        all.push((Value::from("$retainKeys"), Value::Sequence(retained)));
    }
    if random.per_mille(rates.wrong) {
        let wrong = [
            ("$patch", Value::from("remove")),
            ("$patch", Value::Null),
            ("$retainKeys", Value::from("name")),
            ("$deleteFromPrimitiveList", Value::Sequence(Vec::new())),
            ("$setElementOrder/containers", Value::from("x")),
            ("$deleteFromPrimitiveList/finalizers", Value::Null),
            ("$unknown", Value::from(1)),
        ];
        let (key, value) = random.pick(&wrong).clone();
        if all.iter().all(|(other, _)| other.as_str() != Some(key)) {
            all.push((Value::from(key), value));
        }
    }
    Value::Mapping(all)
}

/// The key of an element as `$setElementOrder` has it.
fn key_only(element: &Value, rules: Rules<'_>) -> Option<Value> {
    match rules.list() {
        ListRule::Keyed(keys) => {
            let fields = keys.names().map(|name| {
                let value = element.get(name)?;
                Some((Value::from(name), value.clone()))
            });
            Some(Value::Mapping(fields.collect::<Option<_>>()?))
        }
        _ => (!matches!(element, Value::Mapping(_) | Value::Sequence(_))).then(|| element.clone()),
    }
}

fn list(
    name: &str,
    items: Vec<Value>,
    live: Option<&Value>,
    rules: Rules<'_>,
    rates: Directives,
    random: &mut Random,
    out: &mut Vec<(Value, Value)>,
) {
    let empty = Vec::new();
    let old = match live {
        Some(Value::Sequence(items)) => items,
        _ => &empty,
    };
    let is_keyed = matches!(rules.list(), ListRule::Keyed(_));
    let mut new = Vec::new();
    for item in items {
        let key = key_only(&item, rules);
        let other = old.iter().find(|old| key_only(old, rules) == key);
        let other = other.filter(|_| is_keyed);
        let mut item = match other {
            // Only a part of an element that is there.
            Some(_) if random.per_mille(600) => match (sparse(&item, random, 500), &key) {
                (Value::Mapping(mut fields), Some(Value::Mapping(keys))) => {
                    fields.retain(|(name, _)| keys.iter().all(|(key, _)| key != name));
                    fields.splice(0..0, keys.iter().cloned());
                    Value::Mapping(fields)
                }
                _ => item,
            },
            _ => item,
        };
        item = direct(item, other, rules.items(), rates, random, true);
        new.push(item);
    }
    let mut order: Vec<Value> = new
        .iter()
        .filter_map(|item| key_only(item, rules))
        .collect();
    for element in old.iter().filter(|_| is_keyed) {
        if random.per_mille(rates.list)
            && let Some(Value::Mapping(mut fields)) = key_only(element, rules)
        {
            let key = Value::Mapping(fields.clone());
            fields.push((Value::from("$patch"), Value::from("delete")));
            // Mostly not of an element that the patch has too.
            if !order.contains(&key) || random.per_mille(50) {
                let at = random.below(new.len() + 1);
                new.insert(at, Value::Mapping(fields));
            }
        }
    }
    if is_keyed && random.per_mille(rates.map) {
        let word = *random.pick(&["replace", "replace", "merge"]);
        let marker = vec![(Value::from("$patch"), Value::from(word))];
        let at = random.below(new.len() + 1);
        new.insert(at, Value::Mapping(marker));
    }
    if !is_keyed && random.per_mille(rates.list) {
        let gone: Vec<Value> = old
            .iter()
            .filter(|old| !new.contains(old) && random.per_mille(500))
            .cloned()
            .collect();
        let key = format!("$deleteFromPrimitiveList/{name}");
        out.push((Value::from(key), Value::Sequence(gone)));
    }
    let has_order = rules.list() != ListRule::Atomic || random.per_mille(100);
    if has_order && random.per_mille(rates.list * 2) {
        for element in old {
            if let Some(key) = key_only(element, rules)
                && !order.contains(&key)
                && random.per_mille(600)
            {
                let at = random.below(order.len() + 1);
                order.insert(at, key);
            }
        }
        if random.per_mille(200)
            && let Some(first) = order.first()
        {
            let key = match first {
                Value::Mapping(fields) => Value::Mapping(
                    fields
                        .iter()
                        .map(|(name, value)| (name.clone(), other_key(value, random)))
                        .collect(),
                ),
                value => other_key(value, random),
            };
            let at = random.below(order.len() + 1);
            order.insert(at, key);
        }
        if random.per_mille(60) {
            random.shuffle(&mut order);
        }
        if random.per_mille(30) {
            order.pop();
        }
        let key = format!("$setElementOrder/{name}");
        out.push((Value::from(key), Value::Sequence(order)));
        if random.per_mille(200) {
            return;
        }
    }
    out.push((Value::from(name), Value::Sequence(new)));
}
