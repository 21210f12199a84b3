//! Applies the patches of a kustomization as kustomize does, to values.
//!
//! ```yaml
//! containers:       # live       # patch                          # result
//!   [{name: a}, {name: b}]         [{name: b, image: x}]            [{name: b, image: x}, {name: a}]
//! ```
//!
//! Source: kustomize 5.8 (kyaml, `yaml/walk` and `yaml/merge2`); RFC 6902.

use super::super::directive::PATCH;
use super::super::rules::Rules;
use super::place::{ListPlace, ValuePlace};
use krm_core::schema::{Keys, Schema};
use krm_yaml::Value;

/// Merges a patch into a resource; `None` if the patch deletes it.
pub fn merge(live: &Value, patch: &Value, schema: &Schema) -> Option<Value> {
    let text = |key: &str| live.get(key).and_then(Value::as_str).unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    let place = ValuePlace::of_kind(version, kind, Rules::of(schema, version, kind));
    value(Some(live), patch, &place)
}

fn value(live: Option<&Value>, patch: &Value, place: &ValuePlace<'_, '_>) -> Option<Value> {
    match patch {
        Value::Null => None,
        Value::Mapping(fields) => map(live, patch, fields, place),
        Value::Sequence(items) => Some(list(live, items, place)),
        _ => Some(patch.clone()),
    }
}

fn map(
    live: Option<&Value>,
    patch: &Value,
    fields: &[(Value, Value)],
    place: &ValuePlace<'_, '_>,
) -> Option<Value> {
    let mut entries = match (directive(patch), live) {
        (Some("delete"), _) => return None,
        (Some("replace"), _) => Vec::new(),
        (_, Some(Value::Mapping(entries))) => entries.clone(),
        _ => Vec::new(),
    };
    for (key, new) in fields {
        let name = key.plain_text();
        if name.starts_with('$') {
            continue;
        }
        let at = entries.iter().position(|(other, _)| other == key);
        let merged = value(at.map(|at| &entries[at].1), new, &place.field(&name));
        match (at, merged) {
            (Some(at), Some(merged)) => entries[at].1 = merged,
            (Some(at), None) => {
                entries.remove(at);
            }
            (None, Some(merged)) => entries.push((key.clone(), merged)),
            (None, None) => {}
        }
    }
    Some(Value::Mapping(entries))
}

/// The value of `$patch`.
pub fn directive(patch: &Value) -> Option<&str> {
    patch.get(PATCH).and_then(Value::as_str)
}

fn list(live: Option<&Value>, items: &[Value], place: &ValuePlace<'_, '_>) -> Value {
    let old = live.map_or(&[][..], Value::items);
    let below = &place.element(0);
    match place.list() {
        ListPlace::Keyed(keys) => keyed(old, items, keys, below),
        ListPlace::Values => {
            let left = old.iter().filter(|item| !items.contains(item));
            Value::Sequence(items.iter().chain(left).cloned().collect())
        }
        ListPlace::Replaced | ListPlace::Unknown => {
            let new = items.iter().map(|item| match item {
                Value::Null => Some(Value::Null),
                item => value(None, item, below),
            });
            Value::Sequence(new.flatten().collect())
        }
    }
}

/// The values that identify an element in its list.
pub(super) fn key_of(item: &Value, names: &[&str]) -> Vec<Option<String>> {
    let text = |name: &&str| item.get(name).map(Value::plain_text);
    names.iter().map(text).collect()
}

fn keyed(old: &[Value], items: &[Value], keys: Keys<'_>, place: &ValuePlace<'_, '_>) -> Value {
    let replaces = items.iter().any(|item| directive(item) == Some("replace"));
    let old = if replaces { &[] } else { old };
    let is_used = |name: &str| old.iter().chain(items).any(|item| item.get(name).is_some());
    let names = keys.names().enumerate();
    let names = names.filter(|(at, name)| *at == 0 || is_used(name));
    let names: Vec<&str> = names.map(|(_, name)| name).collect();
    let of_old: Vec<_> = old.iter().map(|item| key_of(item, &names)).collect();
    let mut merged: Vec<Option<Value>> = old.iter().cloned().map(Some).collect();
    // The positions in the old list, or new elements, in the order of the patch.
    let mut named: Vec<Result<usize, Value>> = Vec::new();
    for item in items
        .iter()
        .filter(|item| directive(item) != Some("replace"))
    {
        let key = key_of(item, &names);
        match of_old.iter().position(|other| *other == key) {
            Some(at) => {
                merged[at] = value(merged[at].as_ref(), item, place);
                named.push(Ok(at));
            }
            None => named.extend(value(None, item, place).map(Err)),
        }
    }
    let mut result = Vec::new();
    for one in named {
        match one {
            // With several keys, the elements of live keep their places.
            Ok(_) if names.len() > 1 => {}
            Ok(at) => result.extend(merged[at].take()),
            Err(new) => result.push(new),
        }
    }
    result.extend(merged.into_iter().flatten());
    Value::Sequence(result)
}

/// Applies a JSON patch to a value.
///
/// # Errors
/// A message if an operation cannot be applied.
pub fn operate(value: &mut Value, operations: &Value) -> Result<(), String> {
    let Value::Sequence(operations) = operations else {
        return Err(format!(
            "expected a list of operations, found {}",
            operations.kind()
        ));
    };
    for operation in operations {
        let text = |key: &str| operation.get(key).and_then(Value::as_str);
        let (word, path) = (
            text("op").unwrap_or_default(),
            text("path").unwrap_or_default(),
        );
        let new = || operation.get("value").cloned().unwrap_or(Value::Null);
        let from = || text("from").unwrap_or_default();
        match word {
            "add" => set(value, path, new(), false)?,
            "replace" => set(value, path, new(), true)?,
            "remove" => drop(take(value, path)?),
            "copy" => {
                let copy = at(value, &steps(from()))?.clone();
                set(value, path, copy, false)?;
            }
            "move" => {
                let moved = take(value, from())?;
                set(value, path, moved, false)?;
            }
            "test" if *at(value, &steps(path))? == new() => {}
            "test" => return Err(format!("`{path}` has another value")),
            other => return Err(format!("expected an operation, found `{other}`")),
        }
    }
    Ok(())
}

fn steps(pointer: &str) -> Vec<String> {
    let parts = pointer.split('/').skip(1);
    parts
        .map(|part| part.replace("~1", "/").replace("~0", "~"))
        .collect()
}

fn missing(step: &str) -> String {
    format!("`{step}` does not exist")
}

fn at<'v>(value: &'v mut Value, steps: &[String]) -> Result<&'v mut Value, String> {
    steps.iter().try_fold(value, |value, step| {
        value.part_mut(step).ok_or_else(|| missing(step))
    })
}

fn set(root: &mut Value, pointer: &str, new: Value, replaces: bool) -> Result<(), String> {
    let steps = steps(pointer);
    let Some((last, above)) = steps.split_last().filter(|_| !replaces) else {
        *at(root, &steps)? = new;
        return Ok(());
    };
    match at(root, above)? {
        map @ Value::Mapping(_) => match map.get_mut(last) {
            Some(value) => *value = new,
            None => map.push(last.as_str(), new),
        },
        Value::Sequence(items) => {
            let index = match last.as_str() {
                "-" => items.len(),
                last => last.parse().map_err(|_| missing(last))?,
            };
            if index > items.len() {
                return Err(format!("element {index} does not exist"));
            }
            items.insert(index, new);
        }
        _ => return Err(missing(last)),
    }
    Ok(())
}

fn take(root: &mut Value, pointer: &str) -> Result<Value, String> {
    let steps = steps(pointer);
    let taken = steps.split_last().and_then(|(last, above)| {
        let holder = at(root, above).ok()?;
        match holder {
            Value::Mapping(entries) => {
                let mut keys = entries.iter().map(|(key, _)| key.as_str());
                let found = keys.position(|key| key == Some(last))?;
                Some(entries.remove(found).1)
            }
            Value::Sequence(items) => {
                let index = last.parse().ok().filter(|index| *index < items.len())?;
                Some(items.remove(index))
            }
            _ => None,
        }
    });
    taken.ok_or_else(|| missing(pointer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::OwnedDocument;

    fn read(text: &str) -> Value {
        let document = OwnedDocument::parse_resource(text.to_owned()).expect(text);
        document.root().and_then(|root| root.value()).expect(text)
    }

    #[test]
    fn elements_that_a_patch_names_come_first() {
        let head = "apiVersion: v1\nkind: Pod\n";
        for (live, patch, expected) in [
            (
                "spec: {containers: [{name: a}, {name: b}]}",
                "spec: {containers: [{name: b, image: x}]}",
                "spec: {containers: [{name: b, image: x}, {name: a}]}",
            ),
            (
                "spec: {containers: [{name: a}, {name: b}]}",
                "spec: {containers: [{name: a, $patch: delete}]}",
                "spec: {containers: [{name: b}]}",
            ),
            (
                "spec: {a: 1, b: 2}",
                "spec: {a: null, c: {d: null, e: 1}}",
                "spec: {b: 2, c: {e: 1}}",
            ),
            (
                "spec: {tolerations: [{key: a}]}",
                "spec: {tolerations: [{key: b}]}",
                "spec: {tolerations: [{key: b}]}",
            ),
        ] {
            let merged = merge(
                &read(&format!("{head}{live}")),
                &read(&format!("{head}{patch}")),
                &Schema::builtin(),
            );
            assert_eq!(merged, Some(read(&format!("{head}{expected}"))), "{patch}");
        }
        let removed = read("apiVersion: v1\nkind: Pod\n$patch: delete\n");
        assert_eq!(merge(&read(head), &removed, &Schema::builtin()), None);
    }

    #[test]
    fn operations_change_the_place_that_they_name() {
        for (operation, expected) in [
            (
                "{op: add, path: /a/1, value: x}",
                Ok("{a: [1, x, 2], b/c: {}}"),
            ),
            (
                "{op: add, path: /a/-, value: x}",
                Ok("{a: [1, 2, x], b/c: {}}"),
            ),
            (
                "{op: add, path: /b~1c/d, value: x}",
                Ok("{a: [1, 2], b/c: {d: x}}"),
            ),
            ("{op: remove, path: /a/0}", Ok("{a: [2], b/c: {}}")),
            ("{op: replace, path: /a, value: x}", Ok("{a: x, b/c: {}}")),
            (
                "{op: move, from: /a/0, path: /d}",
                Ok("{a: [2], b/c: {}, d: 1}"),
            ),
            (
                "{op: replace, path: /d, value: x}",
                Err("`d` does not exist"),
            ),
            ("{op: remove, path: /a/2}", Err("`/a/2` does not exist")),
            (
                "{op: test, path: /a/0, value: 2}",
                Err("`/a/0` has another value"),
            ),
        ] {
            let mut value = read("{a: [1, 2], b/c: {}}");
            let done = operate(&mut value, &read(&format!("[{operation}]")));
            let result = done.map(|()| value);
            assert_eq!(
                result,
                expected.map(read).map_err(str::to_owned),
                "{operation}"
            );
        }
    }
}
