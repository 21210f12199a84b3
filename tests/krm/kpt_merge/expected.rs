//! What the contract makes of three versions of a generated resource, said as plainly as possible:
//! upstream wins. Values first, and then the order of what both sides have.
//!
//! `merge-package` has to give exactly this, wherever kpt differs, so that no class of differences
//! excuses a fault of ours.

use krm_yaml::Value;

/// How the parts of a place relate.
#[derive(Clone, Copy)]
enum Relation {
    /// Maps merge by key, all else is one value.
    Fields,
    /// Maps are one value, too.
    Atomic,
    /// A list whose elements are told apart by these fields.
    Keyed(&'static str),
}

/// The merge of a whole resource.
pub(super) fn merge([base, local, upstream]: [Option<&Value>; 3]) -> Option<Value> {
    match (base, local, upstream) {
        (_, Some(_), Some(_)) => place("", true, base, local, upstream),
        // Deleted locally: stays deleted. Deleted upstream: stays only if local changed it.
        (Some(_), None, _) => None,
        (Some(base), Some(local), None) => (base != local).then(|| local.clone()),
        (None, local, upstream) => local.or(upstream).cloned(),
    }
}

/// The places of the generated kinds that are more than maps and values.
fn relation(path: &str) -> Relation {
    match path {
        ".spec.template.spec.containers" => Relation::Keyed("name"),
        ".spec.template.spec.containers[].env" => Relation::Keyed("name"),
        ".spec.ports" => Relation::Keyed("port"),
        ".spec.selector" | ".spec.template.spec.nodeSelector" | ".spec.ports[one]" => {
            Relation::Atomic
        }
        _ => Relation::Fields,
    }
}

/// One place; `as_empty`: a map or list that is absent counts as an empty one.
fn place(
    path: &str,
    as_empty: bool,
    base: Option<&Value>,
    local: Option<&Value>,
    upstream: Option<&Value>,
) -> Option<Value> {
    let versions = [base, local, upstream];
    let both = local.is_some() && upstream.is_some();
    // What neither base nor one side has is the other side's, as it is.
    let merges = both || (as_empty && base.is_some() && (local.is_some() || upstream.is_some()));
    // Local removed a map that upstream changed something in: upstream's is there as a whole.
    if as_empty
        && local.is_none()
        && let (Some(old), Some(new)) = (base, upstream)
        && is_changed(path, old, new)
    {
        return upstream.cloned();
    }
    let parts = merges.then(|| parts(path, versions)).flatten();
    let Some([old, ours, theirs]) = parts else {
        return value(base, local, upstream).cloned();
    };
    let is_list = matches!(relation(path), Relation::Keyed(_));
    let (whole_local, whole_upstream) = (local.is_none(), upstream.is_none());
    let mut merged: Vec<(Value, Value)> = Vec::new();
    for (key, _) in ours.iter().chain(&theirs) {
        if merged.iter().any(|(known, _)| known == key) {
            continue;
        }
        let of = |parts: &[(Value, Value)]| {
            let found = parts.iter().find(|(other, _)| other == key);
            found.map(|(_, value)| value.clone())
        };
        let [b, l, u] = [of(&old), of(&ours), of(&theirs)];
        let [b, l, u] = [b.as_ref(), l.as_ref(), u.as_ref()];
        // Added to something that the other side removed as a whole: stays.
        let added = b.is_none() && (whole_local || whole_upstream);
        let stands = if added {
            l.or(u).cloned()
        } else {
            let below = match is_list {
                true if is_one(key) => format!("{path}[one]"),
                true => format!("{path}[]"),
                false => format!("{path}.{}", key.as_str().unwrap_or_default()),
            };
            place(&below, !is_list, b, l, u)
        };
        merged.extend(stands.map(|value| (key.clone(), value)));
    }
    if merged.is_empty() {
        // An explicit empty one stays, of the side that made it so.
        let is_empty = versions.map(|version| version.map(is_empty));
        let [base, local_is, upstream_is] = is_empty;
        return if upstream_is == base {
            local.filter(|_| local_is == Some(true))
        } else {
            upstream.filter(|_| upstream_is == Some(true))
        }
        .cloned();
    }
    Some(if is_list {
        Value::Sequence(merged.into_iter().map(|(_, value)| value).collect())
    } else {
        Value::Mapping(merged)
    })
}

/// Whether a value in a map is another one, apart from what was added or removed.
fn is_changed(path: &str, old: &Value, new: &Value) -> bool {
    match (old, new, relation(path)) {
        (Value::Mapping(entries), Value::Mapping(_), Relation::Fields) => {
            entries.iter().any(|(key, old)| {
                let name = key.as_str().unwrap_or_default();
                let new = new.get(name);
                new.is_some_and(|new| is_one_changed(&format!("{path}.{name}"), old, new))
            })
        }
        _ => false,
    }
}

fn is_one_changed(path: &str, old: &Value, new: &Value) -> bool {
    match (old, new, relation(path)) {
        (Value::Mapping(_), Value::Mapping(_), Relation::Fields) => is_changed(path, old, new),
        (Value::Sequence(old), Value::Sequence(new), Relation::Keyed(_)) => {
            let lacks =
                |one: &[Value], other: &[Value]| one.iter().any(|item| !other.contains(item));
            lacks(old, new) && lacks(new, old)
        }
        _ => old != new,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Mapping(entries) => entries.is_empty(),
        Value::Sequence(items) => items.is_empty(),
        _ => false,
    }
}

/// The rule, of one value.
fn value<'v>(
    base: Option<&'v Value>,
    local: Option<&'v Value>,
    upstream: Option<&'v Value>,
) -> Option<&'v Value> {
    if upstream == base { local } else { upstream }
}

type Parts = Vec<(Value, Value)>;

/// The parts of each version, if all that are there have parts.
fn parts(path: &str, versions: [Option<&Value>; 3]) -> Option<[Parts; 3]> {
    let [base, local, upstream] = versions.map(|version| match version {
        Some(value) => parts_of(path, value),
        None => Some(Vec::new()),
    });
    let mut all = [base?, local?, upstream?];
    if path == ".spec.ports" {
        one_of_each_name(&mut all);
    }
    Some(all)
}

/// A port that keeps its name under another number is one port, and one value.
fn one_of_each_name(versions: &mut [Parts; 3]) {
    let named = |parts: &Parts, name: &Value| {
        let mut found = parts.iter().enumerate();
        let mut found = found
            .by_ref()
            .filter(|(_, (_, port))| port.get("name") == Some(name));
        let first = found.next().map(|(at, _)| at);
        first.filter(|_| found.next().is_none())
    };
    let keys = versions
        .each_ref()
        .map(|parts| -> Vec<Value> { parts.iter().map(|(key, _)| key.clone()).collect() });
    let before = versions.clone();
    for (l, (ours, port)) in before[1].iter().enumerate() {
        let Some(name) = port
            .get("name")
            .filter(|name| named(&before[1], name) == Some(l))
        else {
            continue;
        };
        let Some(u) = named(&before[2], name) else {
            continue;
        };
        let theirs = &keys[2][u];
        let base = named(&before[0], name);
        let old = base.map(|b| &keys[0][b]);
        let is_new =
            |key: &Value, other: usize| !keys[0].contains(key) && !keys[other].contains(key);
        let left = |side: usize| old.is_none_or(|old| !keys[side].contains(old));
        let here = is_new(ours, 2) && left(1);
        let there = is_new(theirs, 1) && left(2);
        let is_one = match old {
            None => here && there,
            Some(old) => (here && (there || theirs == old)) || (there && ours == old),
        };
        if ours == theirs || !is_one {
            continue;
        }
        let one = Value::Sequence(vec![Value::from("one"), name.clone()]);
        for (side, at) in [(0, base), (1, Some(l)), (2, Some(u))] {
            if let Some(at) = at {
                versions[side][at].0 = one.clone();
            }
        }
    }
}

/// Whether a key is that of such a port.
fn is_one(key: &Value) -> bool {
    matches!(key, Value::Sequence(parts) if parts.first() == Some(&Value::from("one")))
}

/// Entries by key, elements by the value of their key and how often it came before.
fn parts_of(path: &str, value: &Value) -> Option<Parts> {
    match (value, relation(path)) {
        (Value::Mapping(entries), Relation::Fields) => Some(entries.clone()),
        (Value::Sequence(items), Relation::Keyed(field)) => {
            let mut parts: Parts = Vec::new();
            for item in items {
                // Without the key it is the same as one of equal value.
                let mut key = vec![item.get(field).unwrap_or(item).clone()];
                while parts
                    .iter()
                    .any(|(known, _)| *known == Value::Sequence(key.clone()))
                {
                    key.push(Value::Null);
                }
                parts.push((Value::Sequence(key), item.clone()));
            }
            Some(parts)
        }
        _ => None,
    }
}

/// With the elements of keyed lists sorted, so that two values can be compared but for their order.
pub(super) fn sorted(path: &str, value: &Value) -> Value {
    match value {
        Value::Mapping(entries) => {
            let below = |key: &Value| format!("{path}.{}", key.as_str().unwrap_or_default());
            let entries = entries.iter();
            Value::Mapping(
                entries
                    .map(|(k, v)| (k.clone(), sorted(&below(k), v)))
                    .collect(),
            )
        }
        Value::Sequence(items) => {
            let below = format!("{path}[]");
            let mut items: Vec<Value> = items.iter().map(|item| sorted(&below, item)).collect();
            if let Relation::Keyed(field) = relation(path) {
                items.sort_by_key(|item| item.get(field).map(Value::to_json));
            }
            Value::Sequence(items)
        }
        value => value.clone(),
    }
}

/// Whether each two elements that local and upstream have stand as the contract says: as in local,
/// unless only upstream turned them round; or all of them as in upstream, where that makes a cycle.
pub(super) fn is_in_order(path: &str, ours: &Value, versions: [Option<&Value>; 3]) -> bool {
    match ours {
        Value::Mapping(entries) => entries.iter().all(|(key, value)| {
            let key = key.as_str().unwrap_or_default();
            let inner = versions.map(|version| version?.get(key));
            is_in_order(&format!("{path}.{key}"), value, inner)
        }),
        Value::Sequence(_) => {
            let order = |value: Option<&Value>| -> Vec<Value> {
                let parts = value.and_then(|value| parts_of(path, value));
                let keys = parts.into_iter().flatten().map(|(key, _)| key);
                keys.collect()
            };
            let [base, local, upstream] = versions.map(order);
            let found = order(Some(ours));
            let before = |order: &[Value], a: &Value, b: &Value| {
                let at = |key: &Value| order.iter().position(|other| other == key);
                Some(at(a)? < at(b)?)
            };
            let is_right = |a: &Value, b: &Value| {
                let [old, l, u, is] = [&base, &local, &upstream, &found].map(|o| before(o, a, b));
                let expected = if old == l && l != u { u } else { l };
                a == b || l.is_none() || u.is_none() || is == expected
            };
            let is_upstreams = |a: &Value, b: &Value| {
                let (u, is) = (before(&upstream, a, b), before(&found, a, b));
                before(&local, a, b).is_none() || u.is_none() || is == u
            };
            let all = |is: &dyn Fn(&Value, &Value) -> bool| {
                found.iter().all(|a| found.iter().all(|b| is(a, b)))
            };
            all(&is_right) || all(&is_upstreams)
        }
        _ => true,
    }
}
