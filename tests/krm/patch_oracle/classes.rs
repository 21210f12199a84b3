//! Named differences from kubectl, with their conditions.

use krm_core::results::LAST_APPLIED;
use krm_patch::Rules;
use krm_patch::last_applied::LastApplied;
use krm_patch::rules::ListRule;
use krm_yaml::Value;

use super::difference::{Difference, differences};
use super::prune::{Orders, prune};
use super::{Own, Question, Theirs};

/// The class of an answer; `Err` with the differences that have no known reason.
pub(crate) fn class(
    question: &Question,
    own: &Own,
    theirs: &Theirs,
    rules: Rules<'_>,
) -> Result<&'static str, Vec<Difference>> {
    match (own.errors.is_empty(), theirs.ok) {
        (false, false) => return Ok("both refuse"),
        (true, true) => {}
        (true, false) => return refused_by_kubectl(question, theirs, rules).ok_or_else(Vec::new),
        (false, true) => return refused_by_us(question, own, theirs).ok_or_else(Vec::new),
    }
    let pair = match question {
        Question::Patch { .. } | Question::Apply { .. } => (&own.result, &theirs.result),
        _ => (&own.patch, &theirs.patch),
    };
    let (Some(own), Some(theirs)) = pair else {
        return Err(Vec::new());
    };
    if own == theirs {
        return Ok("equal");
    }
    if let Question::Create2 { live, .. } | Question::Create3 { live, .. } = question {
        for (orders, name) in [
            (Orders::WithoutEffect, "order without effect"),
            (Orders::OfPrimitives, "order of primitives"),
        ] {
            let own = prune(own, live, rules, orders);
            let theirs = prune(theirs, live, rules, orders);
            if own == theirs {
                return Ok(name);
            }
        }
        let own = prune(own, live, rules, Orders::OfPrimitives);
        let theirs = prune(theirs, live, rules, Orders::OfPrimitives);
        return explain(question, differences(&own, &theirs), rules);
    }
    if matches!(question, Question::Apply { .. }) {
        let (own, theirs) = (sorted_sets(own, rules), sorted_sets(theirs, rules));
        if own == theirs {
            return Ok("order of primitives");
        }
        return explain(question, differences(&own, &theirs), rules);
    }
    explain(question, differences(own, theirs), rules)
}

fn explain(
    question: &Question,
    differences: Vec<Difference>,
    rules: Rules<'_>,
) -> Result<&'static str, Vec<Difference>> {
    let repeated = repeated_lists(question, rules);
    let left_orders: Vec<String> = differences
        .iter()
        .filter(|difference| difference.own.is_none())
        .filter_map(|difference| {
            let last = difference.path.last()?;
            Some(last.strip_prefix("$setElementOrder/")?.to_owned())
        })
        .collect();
    let mut name = "equal";
    let mut left = Vec::new();
    for difference in differences {
        match reason(question, &difference, &repeated, &left_orders) {
            Some(found) => name = found,
            None => left.push(difference),
        }
    }
    if left.is_empty() { Ok(name) } else { Err(left) }
}

fn reason(
    question: &Question,
    difference: &Difference,
    repeated: &[String],
    left_orders: &[String],
) -> Option<&'static str> {
    let is_repeated = |part: &String| {
        let name = part
            .rsplit_once('/')
            .map_or(part.as_str(), |(_, name)| name);
        repeated.iter().any(|other| other == name)
    };
    let holds_repeated = [&difference.own, &difference.theirs]
        .into_iter()
        .flatten()
        .any(|value| {
            let json = value.to_json();
            repeated
                .iter()
                .any(|name| json.contains(&format!("/{name}\"")))
        });
    if difference.path.iter().any(is_repeated) || holds_repeated {
        return Some("repeated keys");
    }
    let last = difference.path.last().map_or("", String::as_str);
    let is_empty = |value: &Option<Value>| *value == Some(Value::Mapping(Vec::new()));
    match &difference.own {
        None if difference.theirs == Some(Value::Null) => return Some("null left in the result"),
        None if last.starts_with('$') || difference.theirs.as_ref().is_some_and(is_marker) => {
            return Some("directive left in the result");
        }
        None if difference.theirs.is_some() && is_unchanged(question, difference) => {
            return Some("unchanged map that is replaced");
        }
        None if is_empty(&difference.theirs) && word_at(question, &difference.path, "delete") => {
            return Some("$patch: delete of a map");
        }
        None if (1..difference.path.len())
            .any(|end| word_at(question, &difference.path[..end], "delete")) =>
        {
            return Some("directive left in the result");
        }
        Some(_) if difference.theirs.is_none() => {
            let word = |word| word_at(question, &difference.path, word);
            if word("replace") || word("merge") {
                return Some("$patch in what is new");
            }
            let is_identity = matches!(
                difference.path.first().map(String::as_str),
                Some("apiVersion" | "kind" | "metadata")
            );
            if is_identity && difference.path.len() < 3 && word_at(question, &[], "replace") {
                return Some("$patch: replace of the whole");
            }
        }
        _ => {}
    }
    if let (Some(own), Some(theirs)) = (&difference.own, &difference.theirs)
        && cleaned(own) == cleaned(theirs)
    {
        return Some("directive left in the result");
    }
    if let Question::Patch { patch, .. } = question {
        let json = patch.to_json();
        let empty = |name: &String| json.contains(&format!("\"$setElementOrder/{name}\":[]"));
        if difference.path.iter().any(empty) {
            return Some("order of an empty list");
        }
    }
    if left_orders
        .iter()
        .any(|name| difference.path.contains(name))
    {
        return Some("directive left in the result");
    }
    if matches!(question, Question::Apply { .. }) && has_other_annotations(question) {
        return Some("annotations that are no strings");
    }
    None
}

/// Whether what the other patch has at a place is what live has there.
fn is_unchanged(question: &Question, difference: &Difference) -> bool {
    let (Question::Create2 { live, .. } | Question::Create3 { live, .. }) = question else {
        return false;
    };
    let Some(theirs) = &difference.theirs else {
        return false;
    };
    // The map may be all that the maps above it hold.
    fn holds(live: Option<&Value>, part: &Value) -> bool {
        match (live, part) {
            (Some(live), part) if live == part => true,
            (Some(live), Value::Mapping(entries)) => {
                entries.len() == 1
                    && entries
                        .iter()
                        .all(|(key, part)| holds(live.get(key.as_str().unwrap_or_default()), part))
            }
            _ => false,
        }
    }
    let mut at = Some(live);
    for name in &difference.path {
        at = at.and_then(|at| at.get(name));
    }
    holds(at, theirs)
}

/// Whether the patch has this `$patch` at a place.
fn word_at(question: &Question, path: &[String], word: &str) -> bool {
    let Question::Patch { patch, .. } = question else {
        return false;
    };
    fn any(value: &Value, path: &[String], word: &str) -> bool {
        match path.split_first() {
            None => value.get("$patch").and_then(Value::as_str) == Some(word),
            Some((first, rest)) if first == "[]" => match value {
                Value::Sequence(items) => items.iter().any(|item| any(item, rest, word)),
                _ => false,
            },
            Some((first, rest)) => value.get(first).is_some_and(|value| any(value, rest, word)),
        }
    }
    any(patch, path, word)
}

fn has_other_annotations(question: &Question) -> bool {
    versions(question).iter().any(|version| {
        let annotations = version.get("metadata").and_then(|m| m.get("annotations"));
        match annotations {
            None => false,
            Some(Value::Mapping(entries)) => entries
                .iter()
                .any(|(_, value)| !matches!(value, Value::String(_))),
            Some(_) => true,
        }
    })
}

/// A value whose lists of primitives that merge are sorted.
fn sorted_sets(value: &Value, rules: Rules<'_>) -> Value {
    match value {
        Value::Mapping(entries) => {
            let entry = |(key, value): &(Value, Value)| {
                let rules = rules.field(key.as_str().unwrap_or_default());
                (key.clone(), sorted_sets(value, rules))
            };
            Value::Mapping(entries.iter().map(entry).collect())
        }
        Value::Sequence(items) => {
            let items = items.iter().map(|item| sorted_sets(item, rules.items()));
            let mut items: Vec<Value> = items.collect();
            if rules.list() == ListRule::Set {
                items.sort_by_key(Value::to_json);
            }
            Value::Sequence(items)
        }
        _ => value.clone(),
    }
}

/// The versions of a question.
fn versions(question: &Question) -> Vec<&Value> {
    match question {
        Question::Patch { live, patch } => vec![live, patch],
        Question::Create2 { live, modified } => vec![live, modified],
        Question::Create3 {
            original,
            modified,
            live,
        } => vec![original, modified, live],
        Question::Apply { config, live } => vec![config, live],
    }
}

/// The names of lists in which an element stands twice.
fn repeated_lists(question: &Question, rules: Rules<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for version in versions(question) {
        repeated(version, rules, "", &mut found);
    }
    if let Question::Apply { live, .. } = question {
        let annotations = live.get("metadata").and_then(|m| m.get("annotations"));
        let text = annotations.and_then(|a| a.get(LAST_APPLIED)?.as_str());
        if let Some(original) = text.and_then(|text| LastApplied::read(text).ok()) {
            repeated(&original.node().to_value(), rules, "", &mut found);
        }
    }
    found
}

/// Whether an element stands twice in any list that merges.
pub(crate) fn repeated_in(value: &Value, rules: Rules<'_>) -> bool {
    let mut found = Vec::new();
    repeated(value, rules, "", &mut found);
    !found.is_empty()
}

fn repeated(value: &Value, rules: Rules<'_>, name: &str, found: &mut Vec<String>) {
    match value {
        Value::Mapping(entries) => {
            for (key, value) in entries {
                let key = key.as_str().unwrap_or_default();
                let plain = key.strip_prefix("$setElementOrder/").unwrap_or(key);
                repeated(value, rules.field(plain), plain, found);
            }
        }
        Value::Sequence(items) => {
            let keys: Vec<Value> = match rules.list() {
                ListRule::Atomic => Vec::new(),
                ListRule::Set => items.clone(),
                ListRule::Keyed(keys) => {
                    let key = |item: &Value| {
                        let names: Vec<&str> = keys.names().collect();
                        let key = names.iter().map(|name| item.get(name).cloned());
                        Some(Value::Sequence(key.collect::<Option<_>>()?))
                    };
                    items.iter().filter_map(key).collect()
                }
            };
            let twice = keys
                .iter()
                .enumerate()
                .any(|(at, key)| keys[..at].contains(key));
            if twice {
                found.push(name.to_owned());
            }
            for item in items {
                repeated(item, rules.items(), name, found);
            }
        }
        _ => {}
    }
}

fn refused_by_kubectl(
    question: &Question,
    theirs: &Theirs,
    rules: Rules<'_>,
) -> Option<&'static str> {
    let has = |text: &str| theirs.error.contains(text);
    let made = !matches!(question, Question::Patch { .. });
    match theirs.kind.as_str() {
        "unknownField" => Some("field that kubectl does not know"),
        "panic" => Some("kubectl panics"),
        _ if has("unknown patch type: merge") || has("merging lists cannot yet") => {
            Some("$patch: merge")
        }
        _ if has("data type is not struct, instead is: map") => {
            Some("field that kubectl does not know")
        }
        _ if has("no elements in any of the given slices") => Some("order of an empty list"),
        _ if has("expected slice or array type, but got") => Some("list where the type has none"),
        _ if has("does not contain declared merge key: ") => Some("empty order of a list of maps"),
        _ if has("doesn't match $setElementOrder")
            && (has("map[$patch:replace]]") || has("map[$patch:merge]]")) =>
        {
            Some("directive at the end of a list with an order")
        }
        _ if has("expected a []interface {}, but received a") && !has("<nil>") => {
            Some("order of what is no list")
        }
        _ if has("received a %!s(<nil>)") => Some("order of null"),
        _ if has("cannot merge lists without merge key") => {
            Some("empty deletion from a list of maps")
        }
        _ if made
            && (has("doesn't match $setElementOrder")
                || has("format of setElementOrder list")
                || has("invalid patch format of retainKeys")
                || has("are not deep equal"))
            && !repeated_lists(question, rules).is_empty() =>
        {
            Some("repeated keys")
        }
        _ => None,
    }
}

fn refused_by_us(question: &Question, own: &Own, theirs: &Theirs) -> Option<&'static str> {
    let all = |text: &str| own.errors.iter().all(|error| error.contains(text));
    if own
        .errors
        .iter()
        .any(|error| error.contains(": merge key `"))
    {
        return Some("merge key that is no string or number");
    }
    if !matches!(question, Question::Patch { .. }) {
        return None;
    }
    if all("$unknown: expected a field") {
        return Some("unknown directive");
    }
    if all("expected a list, found null") {
        return Some("null in place of a directive's list");
    }
    if all("expected merge, replace or delete") {
        return Some("wrong directive in what is new");
    }
    let is_directive = |error: &String| {
        let path = error.split(": ").next();
        path.is_some_and(|path| path.contains('$'))
    };
    if own.errors.iter().all(is_directive) {
        return Some("wrong directive in what is new");
    }
    let left = theirs.result.as_ref().is_some_and(has_directive);
    left.then_some("wrong directive in what is new")
}

/// Whether a value has a key that begins with `$`, where no resource has one.
fn has_directive(value: &Value) -> bool {
    match value {
        Value::Mapping(entries) => entries.iter().any(|(key, value)| {
            key.as_str().is_some_and(|key| key.starts_with('$')) || has_directive(value)
        }),
        Value::Sequence(items) => items.iter().any(has_directive),
        _ => false,
    }
}

fn is_marker(value: &Value) -> bool {
    value.get("$patch").is_some()
}

/// A value without what kubectl leaves behind: nulls, directives, elements that are directives.
fn cleaned(value: &Value) -> Value {
    match value {
        Value::Mapping(entries) => {
            let kept = entries.iter().filter(|(key, value)| {
                *value != Value::Null && !key.as_str().is_some_and(|key| key.starts_with('$'))
            });
            Value::Mapping(
                kept.map(|(key, value)| (key.clone(), cleaned(value)))
                    .collect(),
            )
        }
        Value::Sequence(items) => {
            let kept = items.iter().filter(|item| !is_marker(item));
            Value::Sequence(kept.map(cleaned).collect())
        }
        _ => value.clone(),
    }
}
