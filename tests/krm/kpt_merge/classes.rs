//! Why kpt's result differs: classes of differences, each with the exact pattern that it stands for.
//!
//! What is ours was compared with [`super::expected`] before, so that only kpt's is in question here.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::Value;

/// The classes, as `docs/kpt-differences.md` names them.
const NULL: &str = "null-is-a-value";
const ORDER: &str = "order-is-merged";
const LEFT_BEHIND: &str = "empty-left-behind";
const ADDED: &str = "added-to-a-removed-list";
const REMOVED: &str = "removed-and-changed";
const SPELLING: &str = "equal-by-value";
const ATOMIC_MAP: &str = "atomic-maps";
pub(super) const RENAMED: &str = "renamed-by-likeness";
const KEYS: &str = "other-keys-than-kpts";

/// One place: what base, local and upstream have there.
type Versions<'v> = [Option<&'v Value>; 3];

pub(super) type Counts = BTreeMap<&'static str, usize>;

/// Counts the classes of all differences between two results; gives the first that has none.
pub(super) fn explain(
    ours: Option<&Value>,
    kpts: Option<&Value>,
    versions: Versions<'_>,
    counts: &mut Counts,
) -> Result<(), String> {
    walk("", ours, kpts, versions, counts)
}

fn walk(
    path: &str,
    ours: Option<&Value>,
    kpts: Option<&Value>,
    versions: Versions<'_>,
    counts: &mut Counts,
) -> Result<(), String> {
    if ours == kpts {
        return Ok(());
    }
    if let Some(class) = class(path, ours, kpts, versions) {
        *counts.entry(class).or_default() += 1;
        return Ok(());
    }
    let parts = match (ours, kpts) {
        (Some(Value::Mapping(a)), Some(Value::Mapping(b))) => {
            let keys = a.iter().chain(b).map(|(key, _)| key.to_json());
            keys.collect::<BTreeSet<_>>()
        }
        (Some(Value::Sequence(a)), Some(Value::Sequence(b))) => {
            let (Some(x), Some(y)) = (names(a), names(b)) else {
                return unexplained(path, ours, kpts);
            };
            let common = |names: &[String], others: &[String]| -> Vec<String> {
                let kept = names.iter().filter(|name| others.contains(name));
                kept.cloned().collect()
            };
            if common(&x, &y) != common(&y, &x) {
                if !follows_kpts_order(&y, versions) {
                    return unexplained(path, ours, kpts);
                }
                *counts.entry(ORDER).or_default() += 1;
            }
            x.into_iter().chain(y).collect()
        }
        _ => return unexplained(path, ours, kpts),
    };
    let is_list = matches!(ours, Some(Value::Sequence(_)));
    for part in parts {
        let of = |value: Option<&Value>| match value? {
            Value::Sequence(items) => {
                let is = |item: &&Value| name(item).as_ref() == Some(&part);
                items.iter().find(is).cloned()
            }
            Value::Mapping(entries) => {
                let is = |entry: &&(Value, Value)| entry.0.to_json() == part;
                entries.iter().find(is).map(|(_, value)| value.clone())
            }
            _ => None,
        };
        let (x, y, inner) = (of(ours), of(kpts), versions.map(of));
        let inner = inner.each_ref().map(Option::as_ref);
        let path = if is_list {
            format!("{path}[]")
        } else {
            format!("{path}.{}", part.trim_matches('"'))
        };
        walk(&path, x.as_ref(), y.as_ref(), inner, counts)?;
    }
    Ok(())
}

fn unexplained(path: &str, ours: Option<&Value>, kpts: Option<&Value>) -> Result<(), String> {
    let json = |value: Option<&Value>| value.map(Value::to_json).unwrap_or_default();
    Err(format!("{path}: ours {}, kpt's {}", json(ours), json(kpts)))
}

/// The class of one difference, if it is all of one.
fn class(
    path: &str,
    ours: Option<&Value>,
    kpts: Option<&Value>,
    versions: Versions<'_>,
) -> Option<&'static str> {
    let [base, local, upstream] = versions;
    if kpts == without_nulls(ours, versions).as_ref() {
        return Some(NULL);
    }
    // Nothing was left: kpt keeps the maps and lists that base had there.
    if ours.is_none() && is_hull(kpts?, base?) {
        return Some(LEFT_BEHIND);
    }
    if let (Some(Value::Sequence(left)), Some(Value::Sequence(old))) = (ours, base) {
        let key = if path == ".spec.ports" {
            "port"
        } else {
            "name"
        };
        let is_new = |item: &Value| old.iter().all(|old| old.get(key) != item.get(key));
        // Upstream removed the list: what local added to it is gone with it.
        if upstream.is_none() && kpts.is_none() && left.iter().all(is_new) {
            return Some(ADDED);
        }
        // Local removed an element, or the list: of one that upstream changed, the change alone is there.
        let is_locals = |item: &Value| match local {
            Some(Value::Sequence(items)) => items.iter().any(|own| own.get(key) == item.get(key)),
            _ => false,
        };
        let lacks_fields = |whole: &Value, part: &Value| {
            let is_less = as_texts(whole) != as_texts(part);
            is_less && is_part(part, whole) && !is_locals(whole)
        };
        if let Some(Value::Sequence(parts)) = kpts
            && left.len() == parts.len()
            && left.iter().zip(parts).any(|(a, b)| lacks_fields(a, b))
            && left
                .iter()
                .zip(parts)
                .all(|(a, b)| as_texts(a) == as_texts(b) || lacks_fields(a, b))
        {
            return Some(REMOVED);
        }
    }
    // Local removed an element, and upstream took fields from it: nothing of it is there.
    if let (Some(old), None, Some(new), None) = (base, local, upstream, kpts)
        && ours == Some(new)
        && is_part(new, old)
    {
        return Some(REMOVED);
    }
    // Local removed a map, and upstream changed something in it: kpt has the change alone.
    if let (Some(Value::Mapping(_)), None, Some(new), Some(change)) = (base, local, upstream, kpts)
        && ours == Some(new)
        && is_within(change, new)
    {
        return Some(REMOVED);
    }
    // The same, where the change is a null, which kpt does not keep.
    if let (Some(old), None, Some(Value::Mapping(new)), None) = (base, local, upstream, kpts)
        && ours == upstream
        && new.iter().all(|(key, value)| {
            *value == Value::Null || key.as_str().and_then(|key| old.get(key)) == Some(value)
        })
    {
        return Some(REMOVED);
    }
    let texts = versions.map(|version| version.map(as_texts));
    if are_one_by_text(versions) && kpts.map(as_texts) == stands(texts) {
        return Some(SPELLING);
    }
    if is_atomic_map(path) && kpts == by_key(versions).as_ref() {
        return Some(ATOMIC_MAP);
    }
    // A port has one name in all versions, and a name one port, wherever kpt finds the same ones.
    (path == ".spec.ports" && !ports_pair(versions)).then_some(KEYS)
}

fn name(item: &Value) -> Option<String> {
    item.get("name").map(Value::to_json)
}

fn names(items: &[Value]) -> Option<Vec<String>> {
    items.iter().map(name).collect()
}

/// Whether the elements that local has come first, as it has them.
fn follows_kpts_order(found: &[String], [_, local, _]: Versions<'_>) -> bool {
    let Some(Value::Sequence(local)) = local else {
        return false;
    };
    let local = names(local).unwrap_or_default();
    let kept: Vec<&String> = local.iter().filter(|name| found.contains(name)).collect();
    found.iter().take(kept.len()).eq(kept)
}

/// A value without what is null in it, or was on either side, and without maps that held nothing else.
fn without_nulls(value: Option<&Value>, versions: Versions<'_>) -> Option<Value> {
    let [_, local, upstream] = versions;
    let is_null = |value: Option<&Value>| value == Some(&Value::Null);
    if is_null(value) || is_null(local) || is_null(upstream) {
        return None;
    }
    let Value::Mapping(entries) = value? else {
        return value.cloned();
    };
    let kept = entries.iter().filter_map(|(key, value)| {
        let inner = versions.map(|version| version?.get(key.as_str()?));
        Some((key.clone(), without_nulls(Some(value), inner)?))
    });
    let kept: Vec<_> = kept.collect();
    (!kept.is_empty() || entries.is_empty()).then_some(Value::Mapping(kept))
}

/// Whether nothing is left of a map or list but the maps and lists in it, and the names of elements.
fn is_hull(value: &Value, base: &Value) -> bool {
    match (value, base) {
        (Value::Mapping(entries), Value::Mapping(_)) => entries.iter().all(|(key, value)| {
            let old = key.as_str().and_then(|key| base.get(key));
            old.is_some_and(|old| {
                is_hull(value, old) || (key.as_str() == Some("name") && value == old)
            })
        }),
        (Value::Sequence(items), Value::Sequence(old)) => items.iter().all(|item| {
            let old = old.iter().find(|old| name(old) == name(item));
            name(item).is_some() && old.is_some_and(|old| is_hull(item, old))
        }),
        _ => false,
    }
}

/// Whether an element is another one but for some of its fields.
fn is_part(part: &Value, whole: &Value) -> bool {
    let Value::Mapping(entries) = part else {
        return false;
    };
    entries.iter().all(|(key, value)| {
        let all = key.as_str().and_then(|key| whole.get(key));
        all.is_some_and(|all| as_texts(all) == as_texts(value))
    })
}

/// Whether a map is another one but for some of its fields, and for fields of the maps in it.
fn is_within(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Mapping(entries), Value::Mapping(_)) => entries.iter().all(|(key, value)| {
            let all = key.as_str().and_then(|key| whole.get(key));
            all.is_some_and(|all| is_within(value, all))
        }),
        _ => as_texts(part) == as_texts(whole),
    }
}

/// A value with numbers as the strings of their text.
fn as_texts(value: &Value) -> Value {
    match value {
        Value::Number(_) => Value::from(value.to_json()),
        Value::Mapping(entries) => {
            let entries = entries.iter();
            Value::Mapping(entries.map(|(k, v)| (k.clone(), as_texts(v))).collect())
        }
        Value::Sequence(items) => Value::Sequence(items.iter().map(as_texts).collect()),
        value => value.clone(),
    }
}

/// Whether two of the versions differ in nothing but that: to kpt these are the same.
fn are_one_by_text(versions: Versions<'_>) -> bool {
    let all = || versions.into_iter().flatten();
    all().any(|a| all().any(|b| a != b && as_texts(a) == as_texts(b)))
}

/// The rule, of one value.
fn stands([base, local, upstream]: [Option<Value>; 3]) -> Option<Value> {
    if upstream == base { local } else { upstream }
}

fn is_atomic_map(path: &str) -> bool {
    path == ".spec.selector" || path == ".spec.template.spec.nodeSelector"
}

/// Three maps merged key by key, null as kpt has it.
fn by_key(versions: Versions<'_>) -> Option<Value> {
    let entries = |value: Option<&Value>| match value {
        Some(Value::Mapping(entries)) => entries.clone(),
        _ => Vec::new(),
    };
    let [base, local, upstream] = versions.map(entries);
    let mut merged: Vec<(Value, Value)> = Vec::new();
    for (key, _) in local.iter().chain(&upstream) {
        let of = |entries: &[(Value, Value)]| {
            let found = entries.iter().find(|(other, _)| other == key);
            found.map(|(_, value)| value.clone())
        };
        let (b, l, u) = (of(&base), of(&local), of(&upstream));
        let is_null = [&l, &u].contains(&&Some(Value::Null));
        let stands = if u == b { l } else { u };
        if merged.iter().all(|(known, _)| known != key) && !is_null {
            merged.extend(stands.map(|value| (key.clone(), value)));
        }
    }
    (!merged.is_empty() || !base.is_empty()).then_some(Value::Mapping(merged))
}

/// Whether name and port of each port go together in all versions.
fn ports_pair(versions: Versions<'_>) -> bool {
    let lists = versions
        .into_iter()
        .flatten()
        .filter_map(|list| match list {
            Value::Sequence(items) => Some(items),
            _ => None,
        });
    let ports: Vec<[Option<String>; 2]> = lists
        .flatten()
        .map(|port| ["name", "port"].map(|key| port.get(key).map(Value::to_json)))
        .collect();
    ports.iter().all(|a| {
        let agrees = |b: &[Option<String>; 2]| (a[0] == b[0]) == (a[1] == b[1]);
        a.iter().all(Option::is_some) && ports.iter().all(agrees)
    })
}
