//! Why kpt's result differs: classes of differences, decided from the three versions of a place.

use std::collections::BTreeMap;

use krm_variants::yaml::Value;

/// The classes, as `docs/kpt-differences.md` names them.
pub(super) const NULL: &str = "null-is-a-value";
pub(super) const KIND: &str = "changed-kind-of-value";
pub(super) const ORDER: &str = "order-is-merged";
pub(super) const LEFT_BEHIND: &str = "empty-left-behind";
pub(super) const REMOVED: &str = "removed-and-changed";
pub(super) const DELETED_RESOURCE: &str = "deleted-and-changed-resource";
pub(super) const SPELLING: &str = "equal-by-value";
pub(super) const ATOMIC_MAP: &str = "atomic-maps";
pub(super) const MERGED_KEYS: &str = "other-keys-than-kpts";

/// What is known of a place.
#[derive(Clone, Copy)]
struct Around {
    is_null: bool,
    is_of_other_kind: bool,
    is_removed: bool,
}

/// Counts the classes of all differences between two results; gives the first that has none.
pub(super) fn explain(
    ours: Option<&Value>,
    kpts: Option<&Value>,
    versions: [Option<&Value>; 3],
    counts: &mut BTreeMap<&'static str, usize>,
) -> Result<(), String> {
    if ours.is_some() != kpts.is_some() {
        let [base, local, upstream] = versions;
        let both_changed = base != local && base != upstream && local != upstream;
        return match both_changed {
            true => {
                *counts.entry(DELETED_RESOURCE).or_default() += 1;
                Ok(())
            }
            false => Err("the resource is in one result only".to_owned()),
        };
    }
    let around = Around {
        is_null: false,
        is_of_other_kind: false,
        is_removed: false,
    };
    walk("", ours, kpts, versions, around, counts)
}

fn walk(
    path: &str,
    ours: Option<&Value>,
    kpts: Option<&Value>,
    versions: [Option<&Value>; 3],
    around: Around,
    counts: &mut BTreeMap<&'static str, usize>,
) -> Result<(), String> {
    if ours == kpts {
        return Ok(());
    }
    let [base, local, upstream] = versions;
    let present: Vec<&Value> = versions.into_iter().flatten().collect();
    let kind = |value: &&Value| match value {
        Value::Mapping(_) => 1,
        Value::Sequence(_) => 2,
        _ => 0,
    };
    let kinds: Vec<i32> = present.iter().map(kind).collect();
    let removed_and_changed = (base.is_some() && local.is_none() && upstream != base)
        || (base.is_some() && upstream.is_none() && local != base);
    let around = Around {
        is_null: around.is_null || present.iter().any(|v| has_null(v)),
        is_of_other_kind: around.is_of_other_kind || kinds.windows(2).any(|k| k[0] != k[1]),
        is_removed: around.is_removed || removed_and_changed,
    };
    match (ours, kpts) {
        (Some(Value::Mapping(a)), Some(Value::Mapping(b))) => {
            let mut keys: Vec<&Value> = a.iter().chain(b).map(|(key, _)| key).collect();
            keys.sort_by_key(|key| key.to_json());
            keys.dedup();
            for key in keys {
                let of = |v: Option<&'_ Value>| -> Option<Value> { v?.get(key.as_str()?).cloned() };
                let (x, y) = (of(ours), of(kpts));
                let inner = versions.map(of);
                let path = format!("{path}.{}", key.as_str().unwrap_or("?"));
                let inner = inner.each_ref().map(Option::as_ref);
                walk(&path, x.as_ref(), y.as_ref(), inner, around, counts)?;
            }
            Ok(())
        }
        (Some(Value::Sequence(a)), Some(Value::Sequence(b))) => {
            let names = |items: &[Value]| -> Option<Vec<String>> {
                let name = |item: &Value| Some(item.get("name")?.to_json());
                items.iter().map(name).collect()
            };
            let (Some(x), Some(y)) = (names(a), names(b)) else {
                return leaf(path, ours, kpts, around, counts);
            };
            let (mut sorted_x, mut sorted_y) = (x.clone(), y.clone());
            sorted_x.sort();
            sorted_y.sort();
            if sorted_x == sorted_y && x != y {
                *counts.entry(ORDER).or_default() += 1;
            }
            sorted_x.extend(sorted_y);
            sorted_x.sort();
            sorted_x.dedup();
            for name in sorted_x {
                let of = |v: Option<&Value>| match v {
                    Some(Value::Sequence(items)) => items
                        .iter()
                        .find(|item| item.get("name").is_some_and(|n| n.to_json() == name))
                        .cloned(),
                    _ => None,
                };
                let (x, y) = (of(ours), of(kpts));
                let inner = versions.map(of);
                let inner = inner.each_ref().map(Option::as_ref);
                let path = format!("{path}[{name}]");
                walk(&path, x.as_ref(), y.as_ref(), inner, around, counts)?;
            }
            Ok(())
        }
        _ => leaf(path, ours, kpts, around, counts),
    }
}

fn leaf(
    path: &str,
    ours: Option<&Value>,
    kpts: Option<&Value>,
    around: Around,
    counts: &mut BTreeMap<&'static str, usize>,
) -> Result<(), String> {
    let text = |value: Option<&Value>| value.map(|v| v.to_json().trim_matches('"').to_owned());
    let class = if around.is_null {
        NULL
    } else if around.is_of_other_kind {
        KIND
    } else if ours.is_none() && kpts.is_some_and(is_hollow) {
        LEFT_BEHIND
    } else if around.is_removed {
        REMOVED
    } else if text(ours) == text(kpts) {
        SPELLING
    } else if path.starts_with(".spec.ports") {
        MERGED_KEYS
    } else if path.starts_with(".spec.selector") {
        ATOMIC_MAP
    } else {
        let json = |value: Option<&Value>| value.map(Value::to_json).unwrap_or_default();
        return Err(format!("{path}: ours {}, kpt's {}", json(ours), json(kpts)));
    };
    *counts.entry(class).or_default() += 1;
    Ok(())
}

/// Whether nothing is in it but empty maps and lists.
fn is_hollow(value: &Value) -> bool {
    match value {
        // The key of an element stays with it.
        Value::Mapping(entries) => entries
            .iter()
            .all(|(key, value)| key.as_str() == Some("name") || is_hollow(value)),
        Value::Sequence(items) => items.iter().all(is_hollow),
        _ => false,
    }
}

/// Null as one of its entries.
fn has_null(value: &Value) -> bool {
    match value {
        Value::Mapping(entries) => entries.iter().any(|(_, value)| *value == Value::Null),
        value => *value == Value::Null,
    }
}
