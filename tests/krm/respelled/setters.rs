//! The functions that set values: patches, injected resources, a package context, kubectl's configuration.

use krm_function::supplied::Role;
use serde_json::{Map, Value};

use super::places::Place;
use super::{
    ALL_PAIRS, Failures, Files, Spelled, Trial, counts, data, files_of, run_on, spellings, trials,
};

/// What a JSON merge patch (RFC 7386) makes of a value: custom resources merge like that. A null in a
/// list adds nothing, too.
fn merge_patched(old: Value, patch: Value) -> Value {
    let patch = match patch {
        Value::Object(patch) => patch,
        Value::Array(items) => {
            let items = items.into_iter();
            return items.map(|item| merge_patched(Value::Null, item)).collect();
        }
        scalar => return scalar,
    };
    let mut fields = match old {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    for (key, new) in patch {
        let old = fields.remove(&key).unwrap_or(Value::Null);
        if !new.is_null() {
            fields.insert(key, merge_patched(old, new));
        }
    }
    Value::Object(fields)
}

/// What is in place of the old value, or in it, and is no longer there.
fn is_gone(result: &Value, place: &Place) -> bool {
    place.value_in(&result["spec"]).is_none_or(Value::is_null)
}

/// Runs a function that sets the second value of each pair in the place of the first.
fn set<'s>(
    place: &Place,
    pairs: &[(&'s Spelled, &'s Spelled)],
    run: impl Fn(&Files, &Files) -> Files,
) -> Vec<Trial<'s>> {
    let old: Vec<_> = pairs
        .iter()
        .map(|pair| place.resource(&pair.0.text))
        .collect();
    let new: Vec<_> = pairs
        .iter()
        .map(|pair| place.giving(&pair.1.text))
        .collect();
    let results = run(&files_of(&old), &files_of(&new));
    assert_eq!(results.len(), pairs.len());
    let mut trials = Vec::new();
    let texts = old.into_iter().zip(new).zip(results.into_values());
    for ((old, new), ((before, given), result)) in pairs.iter().zip(texts) {
        trials.push(Trial {
            old,
            new,
            before,
            given,
            result,
        });
    }
    trials
}

/// The data is what a merge patch makes, and the comment of a value that is still there is there once;
/// one that the new value brings at most once.
fn is_patched(place: &Place, trial: &Trial<'_>) -> Result<(), String> {
    let found = data(&trial.result)?;
    let expected = merge_patched(data(&trial.before)?, data(&trial.given)?);
    if found["spec"] != expected["spec"] {
        return Err(format!(
            "data is {}, expected {}",
            found["spec"], expected["spec"]
        ));
    }
    has_comments(place, trial, &found)
}

fn has_comments(place: &Place, trial: &Trial<'_>, found: &Value) -> Result<(), String> {
    let line = trial.old.comments.get(..1).unwrap_or_default();
    if !is_gone(found, place) && !place.is_in_list() {
        counts(line, &trial.result, 1)?;
    }
    for comment in &trial.new.comments {
        let found = trial.result.matches(comment.as_str()).count();
        if found > 1 {
            return Err(format!("`{comment}`: {found} times"));
        }
    }
    if is_gone(found, place) {
        return Ok(());
    }
    counts(place.around, &trial.result, 1)
}

fn typed(kind: &str, fields: &str) -> String {
    format!("apiVersion: fn.kpt.dev/v1alpha1\nkind: {kind}\n{fields}")
}

/// Runs a function on pairs of spellings.
fn check_all(
    turns: usize,
    run: impl Fn(&Files, &Files) -> Files,
    check: impl Fn(&Place, &Trial<'_>) -> Result<(), String>,
) {
    let (old, new) = (spellings("old"), spellings("new"));
    let mut failures = Failures::default();
    for (place, pairs) in trials(&old, &new, turns) {
        for trial in set(place, &pairs, &run) {
            failures.check(check(place, &trial), &trial);
        }
    }
    failures.assert_none();
}

#[test]
fn patches_keep_the_comments_of_a_value() {
    let config = typed("ApplyPatch", "");
    check_all(
        ALL_PAIRS,
        |old, new| {
            run_on(
                &apply_patch::FUNCTION,
                &config,
                old,
                &[(Role::Patches, new)],
            )
        },
        is_patched,
    );
}

#[test]
fn configurations_keep_the_comments_of_a_live_value() {
    let config = typed("ApplyConfig", "");
    check_all(
        3 * ALL_PAIRS,
        |old, new| run_on(&apply_config::FUNCTION, &config, new, &[(Role::Live, old)]),
        |place, trial| {
            let (live, config) = (data(&trial.before)?, data(&trial.given)?);
            // A null that both have is no change.
            if config["spec"] == live["spec"] {
                return counts(
                    trial.old.comments.get(..1).unwrap_or_default(),
                    &trial.result,
                    1,
                );
            }
            is_patched(place, trial)
        },
    );
}

#[test]
fn injected_values_keep_the_comments_of_a_value() {
    let config = typed("InjectConfig", "injectors: [{name: src}]\n");
    // One kind for each point.
    let of_kinds = |files: &Files, is_point: bool| -> Files {
        let point = "annotations: &x {m: v, kpt.dev/config-injection: optional}";
        let of_kind = |(path, text): (&String, &String)| {
            let name = path.trim_end_matches(".yaml");
            let text = text.replacen("kind: Foo", &format!("kind: Foo{name}"), 1);
            let text = if is_point {
                text.replacen("annotations: &x {m: v}", point, 1)
            } else {
                let at = text.find("name: c").expect("a name");
                let end = at + text[at..].find('\n').expect("a line");
                format!("{}name: src{}", &text[..at], &text[end..])
            };
            (path.clone(), text)
        };
        files.iter().map(of_kind).collect()
    };
    check_all(
        3 * ALL_PAIRS,
        |old, new| {
            let (points, sources) = (of_kinds(old, true), of_kinds(new, false));
            let sources = [(Role::Resources, &sources)];
            run_on(&inject_config::FUNCTION, &config, &points, &sources)
        },
        |place, trial| {
            let (found, given) = (data(&trial.result)?, data(&trial.given)?);
            if given["spec"].is_null() || given["spec"] == data(&trial.before)?["spec"] {
                return Ok(());
            }
            if found["spec"] != given["spec"] {
                return Err(format!("data is {}", found["spec"]));
            }
            // What was within the field is gone.
            if place.is_field_of_resource() {
                counts(
                    trial.old.comments.get(..1).unwrap_or_default(),
                    &trial.result,
                    1,
                )?;
            }
            let inner = trial.new.comments.get(1..).unwrap_or_default();
            counts(inner, &trial.result, 1)
        },
    );
}

/// A `data` with one key for each value, whose comments are numbered.
fn numbered<'s>(values: impl Iterator<Item = &'s str>) -> String {
    let entry = |(at, value): (usize, &str)| {
        let value = value.replace("line.", &format!("line.{at}."));
        let value = value.replace("&y", "").replace('\n', "\n  ");
        format!("  k{at}:{value}\n").replace("\n  \n", "\n\n")
    };
    let entries: String = values.enumerate().map(entry).collect();
    format!("data:\n{entries}")
}

#[test]
fn keys_of_a_package_context_keep_their_comments() {
    const HEAD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\n  annotations: &x {m: v}\n";
    const KPTFILE: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n";
    let (old, new) = (spellings("old"), spellings("new"));
    let is_text = |new: &&Spelled| {
        let given = data(&numbered([new.text.as_str()].into_iter()));
        given.is_ok_and(|given| given["data"]["k0"].is_string())
    };
    let mut failures = Failures::default();
    for new in new.iter().filter(is_text) {
        let before = numbered(old.iter().map(|old| old.text.as_str()));
        let given = numbered(old.iter().map(|_| new.text.as_str()));
        let files = [
            ("Kptfile", KPTFILE.to_owned()),
            ("package-context.yaml", format!("{HEAD}{before}")),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text)).into();
        let config = typed("SetPackageContext", &given);
        let files = run_on(&set_package_context::FUNCTION, &config, &files, &[]);
        let result = &files["package-context.yaml"];
        let (found, expected) = (data(result), data(&given).expect("data"));
        for (at, old) in old.iter().enumerate() {
            let key = format!("k{at}");
            let line = old.comments.iter().take(1);
            let line = line.map(|line| line.replace("line.", &format!("line.{at}.")));
            let fault = match &found {
                Ok(found) if found["data"][&key] != expected["data"][&key] => {
                    Err(format!("{key}: data is {}", found["data"][&key]))
                }
                Ok(_) => counts(&line.collect::<Vec<_>>(), result, 1),
                Err(error) => Err(error.clone()),
            };
            let trial = Trial {
                old,
                new,
                before: old.text.clone(),
                given: new.text.clone(),
                result: if fault.is_err() {
                    result.clone()
                } else {
                    String::new()
                },
            };
            failures.check(fault, &trial);
        }
    }
    failures.assert_none();
}
