//! Anchors, aliases and merge keys in what `apply-config` and `create-patch` read and write: every
//! shape of the contract's last two items of *Bytes*.

use indoc::indoc;
use std::collections::BTreeMap;

use krm_function::supplied::Role;
use krm_function::{Function, Inputs, Items, SuppliedInput, run};

const HEAD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

/// One live resource and a configuration for it, all without [`HEAD`].
struct Case {
    name: &'static str,
    previous: Option<&'static str>,
    config: &'static str,
    live: &'static str,
    /// Live after the apply.
    applied: &'static str,
    /// The fields between `apiVersion` and `kind` in last-applied.
    last_applied: &'static str,
    /// The patch; empty if there is nothing to patch.
    patch: &'static str,
}

/// The text of the document that a function makes, and its results.
fn document(function: &Function, case: &Case) -> (String, Vec<String>) {
    let file = |text: &str| BTreeMap::from([("a.yaml".to_owned(), format!("{HEAD}{text}"))]);
    let mut supplied = vec![(Role::Live, SuppliedInput::Files(file(case.live)))];
    let previous = case.previous.unwrap_or(case.config);
    supplied.push((Role::Original, SuppliedInput::Files(file(previous))));
    let inputs = Inputs {
        supplied,
        ..Inputs::default()
    };
    let config = format!("{HEAD}{}", case.config).into_bytes();
    let items = Items::Package(BTreeMap::from([("a.yaml".to_owned(), config)]));
    let outcome = run(function, inputs, items).expect("inputs");
    let mut texts = outcome.documents.into_iter().map(|document| document.text);
    let results = outcome.results.iter().map(ToString::to_string);
    (texts.next().unwrap_or_default(), results.collect())
}

fn check(case: &Case) {
    let (text, results) = document(&apply_config::FUNCTION, case);
    assert_eq!(results, Vec::<String>::new(), "{}", case.name);
    let json = format!(
        "{{\"apiVersion\":\"v1\",{},\"kind\":\"ConfigMap\",\"metadata\":{{\"annotations\":{{}},\"name\":\"a\"}}}}",
        case.last_applied
    );
    let annotation = format!(
        "  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {json}\n"
    );
    let applied = format!("{HEAD}{annotation}{}", case.applied);
    assert_eq!(text, applied, "{}", case.name);
    let (text, _) = document(&create_patch::FUNCTION, case);
    let patch = match case.patch {
        "" => String::new(),
        patch => format!("{HEAD}{patch}"),
    };
    assert_eq!(text, patch, "{}", case.name);
}

#[test]
fn anchors_and_aliases_of_live() {
    let live = "data:\n  x: &a old\n  z: *a\n";
    for case in [
        Case {
            name: "the alias gets the old value written out",
            previous: None,
            config: "data: {x: new}\n",
            live,
            applied: "data:\n  x: &a new\n  z: old\n",
            last_applied: "\"data\":{\"x\":\"new\"}",
            patch: "data: {x: new}\n",
        },
        Case {
            name: "both get the new value: the anchor is changed and the alias stays",
            previous: None,
            config: "data: {x: new, z: new}\n",
            live,
            applied: "data:\n  x: &a new\n  z: *a\n",
            last_applied: "\"data\":{\"x\":\"new\",\"z\":\"new\"}",
            patch: "data: {x: new, z: new}\n",
        },
        Case {
            name: "a changed alias is replaced in place",
            previous: None,
            config: "data: {z: new}\n",
            live,
            applied: "data:\n  x: &a old\n  z: new\n",
            last_applied: "\"data\":{\"z\":\"new\"}",
            patch: "data: {z: new}\n",
        },
        Case {
            name: "the anchor is deleted, and the alias gets its value",
            previous: Some("data: {x: old, z: old}\n"),
            config: "data: {z: old}\n",
            live,
            applied: "data:\n  z: old\n",
            last_applied: "\"data\":{\"z\":\"old\"}",
            patch: "data: {x: null}\n",
        },
    ] {
        check(&case);
    }
}

#[test]
fn an_alias_of_a_value_with_anchors_is_refused_with_its_field() {
    let case = Case {
        name: "anchors within an anchored value",
        previous: None,
        config: "spec: {x: {p: {q: new}}}\n",
        live: indoc! {"
            spec:
              x: &a
                p: &b
                  q: old
                r: *b
              z: *a
        "},
        applied: "",
        last_applied: "",
        patch: "spec: {x: {p: {q: new}}}\n",
    };
    let (_, results) = document(&apply_config::FUNCTION, &case);
    assert!(
        results[0].contains("spec.z: the value is shared through the anchor `&a`")
            && results[0].ends_with("(SharedAnchor)"),
        "{results:?}"
    );
    let (text, results) = document(&create_patch::FUNCTION, &case);
    assert_eq!(
        (text, results),
        (format!("{HEAD}{}", case.patch), Vec::new())
    );
}

#[test]
fn merge_keys_of_live() {
    let live = "base: &p {k: one, q: two}\ndata:\n  <<: *p\n  z: three\n";
    for case in [
        Case {
            name: "what is written out wins",
            previous: None,
            config: "data: {q: new}\n",
            live: "base: &p {k: one, q: two}\ndata:\n  <<: *p\n  q: three\n",
            applied: "base: &p {k: one, q: two}\ndata:\n  <<: *p\n  q: new\n",
            last_applied: "\"data\":{\"q\":\"new\"}",
            patch: "data: {q: new}\n",
        },
        Case {
            name: "an entry that changes is written out beside it",
            previous: None,
            config: "data: {k: new}\n",
            live,
            applied: "base: &p {k: one, q: two}\ndata:\n  <<: *p\n  k: new\n  z: three\n",
            last_applied: "\"data\":{\"k\":\"new\"}",
            patch: "data: {k: new}\n",
        },
        Case {
            name: "an entry that goes makes the others be written out",
            previous: Some("data: {k: one, z: three}\n"),
            config: "data: {z: three}\n",
            live,
            applied: "base: &p {k: one, q: two}\ndata:\n  q: two\n  z: three\n",
            last_applied: "\"data\":{\"z\":\"three\"}",
            patch: "data: {k: null}\n",
        },
        Case {
            name: "of several mappings the first wins, and all stay",
            previous: None,
            config: "data: {k: one, q: two, r: three}\n",
            live: "b1: &p {k: one, q: two}\nb2: &r {k: other, r: three}\ndata:\n  <<: [*p, *r]\n",
            applied: "b1: &p {k: one, q: two}\nb2: &r {k: other, r: three}\ndata:\n  <<: [*p, *r]\n",
            last_applied: "\"data\":{\"k\":\"one\",\"q\":\"two\",\"r\":\"three\"}",
            patch: "",
        },
        Case {
            name: "what a merge key brings stays when its source changes",
            previous: None,
            config: "base: {k: new}\n",
            live: "base: &p {k: one, q: two}\ndata:\n  <<: *p\n",
            applied: "base: &p {k: new, q: two}\ndata:\n  <<: *p\n  k: one\n",
            last_applied: "\"base\":{\"k\":\"new\"}",
            patch: "base: {k: new}\n",
        },
    ] {
        check(&case);
    }
}

#[test]
fn aliases_and_merge_keys_of_the_configuration_are_written_out() {
    for case in [
        Case {
            name: "a merge key",
            previous: None,
            config: "base: &p {k: one}\ndata:\n  <<: *p\n  z: three\n",
            live: "data:\n  k: one\n",
            applied: "data:\n  k: one\n  z: three\nbase: {k: one}\n",
            last_applied: "\"base\":{\"k\":\"one\"},\"data\":{\"k\":\"one\",\"z\":\"three\"}",
            patch: "base: {k: one}\ndata:\n  z: three\n",
        },
        Case {
            name: "several mappings, and an entry beside them",
            previous: None,
            config: "b1: &p {k: one, q: two}\nb2: &r {k: other, r: three}\ndata:\n  <<: [*p, *r]\n  q: own\n",
            live: "data: {}\n",
            applied: indoc! {"
                data:
                  k: one
                  r: three
                  q: own
                b1: {k: one, q: two}
                b2: {k: other, r: three}
            "},
            last_applied: "\"b1\":{\"k\":\"one\",\"q\":\"two\"},\"b2\":{\"k\":\"other\",\"r\":\"three\"},\"data\":{\"k\":\"one\",\"q\":\"own\",\"r\":\"three\"}",
            patch: indoc! {"
                b1: {k: one, q: two}
                b2: {k: other, r: three}
                data:
                  k: one
                  r: three
                  q: own
            "},
        },
        Case {
            name: "an alias",
            previous: None,
            config: "data:\n  x: &a one\n  z: *a\n",
            live: "data:\n  x: one\n",
            applied: "data:\n  x: one\n  z: one\n",
            last_applied: "\"data\":{\"x\":\"one\",\"z\":\"one\"}",
            patch: "data:\n  z: one\n",
        },
    ] {
        check(&case);
    }
}

/// Neither as a value nor as text: it would take hundreds of megabytes.
#[test]
fn a_configuration_whose_aliases_expand_too_far_is_refused_at_once() {
    let map = |value: &dyn Fn(u8) -> String| {
        let entries = (0..9).map(|key| format!("k{key}: {}", value(key)));
        entries.collect::<Vec<_>>().join(", ")
    };
    let mut bomb = format!("data:\n  m0: &m0 {{{}}}\n", map(&|_| "x".to_owned()));
    for level in 1..7 {
        let aliases = map(&|_| format!("*m{}", level - 1));
        bomb += &format!("  m{level}: &m{level} {{{aliases}}}\n");
    }
    for function in [&apply_config::FUNCTION, &create_patch::FUNCTION] {
        let live = BTreeMap::from([("a.yaml".to_owned(), format!("{HEAD}data: {{a: b}}\n"))]);
        let inputs = Inputs {
            supplied: vec![(Role::Live, SuppliedInput::Files(live))],
            ..Inputs::default()
        };
        let config = format!("{HEAD}{bomb}").into_bytes();
        let items = Items::Package(BTreeMap::from([("a.yaml".to_owned(), config)]));
        let outcome = run(function, inputs, items).expect("inputs");
        let results: Vec<String> = outcome.results.iter().map(ToString::to_string).collect();
        assert_eq!(
            results,
            [
                "[error] a.yaml: ConfigMap/a: the aliases expand to too many values: expected at most 1000747 nodes behind all aliases and merge keys, found more; write the values out, or repeat them less often (InvalidValue)"
            ]
        );
    }
}
