//! `apply-patch` changes an alias without its anchor, and bears deep values or refuses them.

use super::*;
use indoc::indoc;

#[test]
fn deep_patches_do_not_overflow() {
    let deep = |inner: &str| format!("{}{inner}{}", "{a: ".repeat(490), "}".repeat(490));
    let item = |inner: &str| {
        format!(
            "apiVersion: example.com/v1\nkind: Deep\nmetadata:\n  name: d\nspec: {}\n",
            deep(inner)
        )
    };
    let patches = format!(
        "- target: {{name: d}}\n  patch:\n    spec: {}\n",
        deep("new")
    );
    let outcome = patched(&item("old"), &patches);
    assert_eq!(outcome.results, Vec::<String>::new());
    assert_eq!(outcome.file("d.yaml"), item("new"));
}

#[test]
fn aliases_without_end_are_refused() {
    let mut text = indoc! {"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: c
        data:
          a0: &a0 [x, x, x, x, x, x, x, x, x, x]
    "}
    .to_owned();
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        text += &format!("  a{level}: &a{level} [{aliases}]\n");
    }
    let outcome = patched(&text, "- target: {name: c}\n  patch: {data: {new: x}}\n");
    assert!(
        outcome.results[0].contains("expand to too many values"),
        "{:?}",
        outcome.results
    );
}

#[test]
fn an_alias_does_not_change_with_its_anchor() {
    let text = indoc! {"
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: c
            data:
              a: &x one
              b: *x
        "};
    let outcome = patched(text, "- target: {name: c}\n  patch: {data: {a: two}}\n");
    assert_eq!(outcome.results, Vec::<String>::new());
    let written = text.replace("&x one", "&x two").replace("*x", "one");
    assert_eq!(outcome.file("d.yaml"), written);
    // An alias itself is replaced in place.
    let outcome = patched(text, "- target: {name: c}\n  patch: {data: {b: two}}\n");
    assert_eq!(outcome.file("d.yaml"), text.replace("*x", "two"));
}

/// A list that is an alias becomes one of its own; the anchor keeps its elements.
#[test]
fn an_aliased_list_is_written_out_where_it_changes() {
    let before = indoc! {"
        apiVersion: v1
        kind: Pod
        metadata:
          name: p
        spec:
          containers:
          - name: a
            args: &args [x, y]
          - name: b
            args: *args
            env: &env
            - name: K
              value: v # of both
          - name: c
            env: *env
    "};
    let patch = "- target: {kind: Pod}\n  patch: {spec: {containers: [{name: b, args: [z]}, {name: c, env: [{name: L, value: w}]}]}}\n";
    let outcome = patched(before, patch);
    assert_eq!(outcome.results, Vec::<String>::new());
    let written = krm_yaml::OwnedDocument::parse(outcome.file("d.yaml").to_owned());
    let written = written.expect("YAML");
    let value = written.root().expect("a root").value().expect("a value");
    assert!(
        value.to_json().ends_with(
            r#""containers":[{"name":"a","args":["x","y"]},{"name":"b","args":["z"],"env":[{"name":"K","value":"v"}]},{"name":"c","env":[{"name":"K","value":"v"},{"name":"L","value":"w"}]}]}}"#
        ),
        "{}",
        value.to_json()
    );
}

/// Aliases make a value deeper than its text.
#[test]
fn aliases_too_deep_are_refused() {
    let nest =
        |depth: usize, inner: &str| format!("{}{inner}{}", "{a: ".repeat(depth), "}".repeat(depth));
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: &a {}\n  b: &b {}\n  c: {}\n",
        nest(400, "x"),
        nest(400, "*a"),
        nest(400, "*b")
    );
    let outcome = patched(&text, "- target: {name: c}\n  patch: {data: {new: x}}\n");
    assert!(outcome.failed, "{:?}", outcome.results);
}
