// The tests are long tables.
#![allow(clippy::too_many_lines)]

use super::*;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Config {
    name: String,
    count: Option<u8>,
    ratio: f64,
    enabled: bool,
    big: Option<i128>,
    #[serde(alias = "target")]
    targets: Vec<Target>,
    labels: BTreeMap<String, String>,
    policy: Policy,
    selector: Option<Selector>,
    nested: Option<Box<Config>>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Target {
    name: String,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Policy {
    #[default]
    Keep,
    Replace,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Selector {
    Name(String),
    Labels(BTreeMap<String, String>),
    Many(Vec<Selector>),
}

#[derive(Debug, PartialEq, Deserialize)]
struct Flat {
    kind: String,
    #[serde(flatten)]
    rest: BTreeMap<String, i64>,
}

fn mapping<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Mapping(entries.map(|(key, value)| (key.into(), value)).into())
}

fn sequence<const N: usize>(elements: [Value; N]) -> Value {
    Value::Sequence(elements.into())
}

fn number(text: &str) -> Value {
    crate::scalar::Reading::Core.value(text)
}

#[test]
fn every_resource_that_matches_is_found() {
    let value = mapping([
        ("name", "x".into()),
        ("count", 5.into()),
        ("ratio", 2.into()),
        ("enabled", true.into()),
        ("big", number("170141183460469231731687303715884105727")),
        ("targets", sequence([mapping([("name", "a".into())])])),
        ("labels", mapping([("k", "v".into())])),
        ("policy", "replace".into()),
        (
            "selector",
            sequence(["a".into(), mapping([("k", "v".into())])]),
        ),
        ("nested", mapping([("policy", "replace".into())])),
    ]);
    let expected = Config {
        name: "x".to_owned(),
        count: Some(5),
        ratio: 2.0,
        enabled: true,
        big: Some(i128::MAX),
        targets: vec![Target {
            name: "a".to_owned(),
        }],
        labels: BTreeMap::from([("k".to_owned(), "v".to_owned())]),
        policy: Policy::Replace,
        selector: Some(Selector::Many(vec![
            Selector::Name("a".to_owned()),
            Selector::Labels(BTreeMap::from([("k".to_owned(), "v".to_owned())])),
        ])),
        nested: Some(Box::new(Config {
            policy: Policy::Replace,
            ..Config::default()
        })),
    };
    assert_eq!(from_value::<Config>(&value), Ok(expected));
}

#[test]
fn null_counts_as_absent() {
    let names = [
        "name", "count", "ratio", "enabled", "big", "targets", "target", "labels", "policy",
        "selector", "nested",
    ];
    let value = mapping(names.map(|name| (name, Value::Null)));
    assert_eq!(from_value::<Config>(&value), Ok(Config::default()));

    assert_eq!(from_value::<Option<Config>>(&Value::Null), Ok(None));
}

#[test]
fn flattened_and_plain_maps() {
    let value = mapping([("kind", "K".into()), ("a", 1.into())]);
    assert_eq!(
        from_value::<Flat>(&value),
        Ok(Flat {
            kind: "K".to_owned(),
            rest: BTreeMap::from([("a".to_owned(), 1)])
        })
    );
    let value = Value::Mapping(vec![(1.into(), "x".into())]);
    assert_eq!(
        from_value::<BTreeMap<i64, String>>(&value),
        Ok(BTreeMap::from([(1, "x".to_owned())]))
    );
    let value = mapping([("region", Value::Null)]);
    let error = from_value::<BTreeMap<String, String>>(&value).expect_err("null");
    assert_eq!(error.to_string(), "region: expected a string, found null");
}

#[test]
fn errors_say_where_and_what() {
    let target = |value| {
        mapping([(
            "targets",
            sequence([mapping([("name", "a".into())]), value]),
        )])
    };
    let table = [
        (
            mapping([("name", true.into())]),
            "name: expected a string, found boolean `true`; quote it",
        ),
        (
            mapping([("name", 5.into())]),
            "name: expected a string, found number `5`; quote it",
        ),
        (
            mapping([("name", number("017"))]),
            "name: expected a string, found number `017`; quote it",
        ),
        (
            mapping([("enabled", "true".into())]),
            "enabled: expected a boolean (true or false), found string \"true\"",
        ),
        (
            mapping([("count", "5".into())]),
            "count: expected an integer, found string \"5\"",
        ),
        (
            mapping([("count", number("5.0"))]),
            "count: expected an integer, found number `5.0`",
        ),
        (
            mapping([("count", 300.into())]),
            "count: expected u8, found number `300`",
        ),
        (
            mapping([("count", number("-1"))]),
            "count: expected u8, found number `-1`",
        ),
        (
            mapping([("ratio", "x".into())]),
            "ratio: expected a number, found string \"x\"",
        ),
        (
            mapping([("labels", sequence([]))]),
            "labels: expected a mapping, found a sequence",
        ),
        (
            mapping([("labels", mapping([("a.b", 1.into())]))]),
            "labels.a.b: expected a string, found number `1`; quote it",
        ),
        (
            mapping([("targets", mapping([]))]),
            "targets: expected a sequence, found a mapping",
        ),
        (
            target(Value::Null),
            "targets[1]: expected a mapping, found null",
        ),
        (target(mapping([])), "targets[1]: missing field `name`"),
        (
            target(mapping([("name", Value::Null)])),
            "targets[1]: missing field `name`",
        ),
        (
            target(mapping([("name", 1.into())])),
            "targets[1].name: expected a string, found number `1`; quote it",
        ),
        (
            target(mapping([("nam", 1.into())])),
            "targets[1].nam: unknown field `nam`; did you mean `name`?",
        ),
        (
            target(mapping([("nam", Value::Null)])),
            "targets[1].nam: unknown field `nam`; did you mean `name`?",
        ),
        (
            target(Value::Mapping(vec![(1.into(), 1.into())])),
            "targets[1].1: expected a name, found number `1`; quote it",
        ),
        (
            mapping([("policy", "drop".into())]),
            "policy: unknown variant `drop`, expected `keep` or `replace`",
        ),
        (
            mapping([("policy", 1.into())]),
            "policy: expected a string, found number `1`",
        ),
        (
            mapping([(
                "nested",
                mapping([("nested", mapping([("name", Value::Sequence(vec![]))]))]),
            )]),
            "nested.nested.name: expected a string, found a sequence",
        ),
        (
            mapping([("selector", true.into())]),
            "selector: data did not match any variant of untagged enum Selector",
        ),
        (
            mapping([("enabled", "x".repeat(100).into())]),
            &format!(
                "enabled: expected a boolean (true or false), found string \"{}\"...",
                "x".repeat(60)
            ),
        ),
        ("x".into(), "expected a mapping, found string \"x\""),
        (Value::Null, "expected a mapping, found null"),
    ];
    for (value, expected) in table {
        let error = from_value::<Config>(&value).expect_err(expected);
        assert_eq!(error.to_string(), expected);
    }
}
