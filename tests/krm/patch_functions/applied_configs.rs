//! `apply-config` writes the live resource with the config applied, and keeps the config in it.

use super::*;
use indoc::indoc;
use krm_core::results::LAST_APPLIED;

#[test]
fn the_applied_resource_takes_the_place_of_its_config() {
    let outcome = on_list(
        &apply_config::FUNCTION,
        &config("ApplyConfig", LIVE),
        CONFIG_ITEM,
    );
    let outcome = outcome.expect("a config");
    assert_eq!(outcome.results, Vec::<String>::new());
    assert_eq!(
        outcome.file("-"),
        "\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: c
    uid: x
    annotations:
      kubectl.kubernetes.io/last-applied-configuration: |
        {\"apiVersion\":\"v1\",\"data\":{\"a\":\"new\",\"c\":\"more\"},\"kind\":\"ConfigMap\",\"metadata\":{\"annotations\":{},\"name\":\"c\"}}
      internal.config.kubernetes.io/index: \"0\"
      config.kubernetes.io/index: \"0\"
      internal.config.kubernetes.io/path: c.yaml
      config.kubernetes.io/path: c.yaml
  data:
    # kept
    a: new
    live: only
    # also
    c: more
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: other
    annotations:
      config.kubernetes.io/local-config: \"true\"
"
    );
}

/// Live is one document of several: the others are no part of what is written.
#[test]
fn live_in_a_file_of_several_documents() {
    let document = |name: &str, data: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  # kept\n  a: old # live\n{data}"
        )
    };
    for (before, data, behind) in [
        ("", "  b: x\n", "---\n"),
        ("first", "  b: x\n", "---\n"),
        ("first", "  b: |+\n    x\n\n", "---\n"),
        ("first", "  b: |+\n    x\n", "# foot\n---\n"),
        ("first", "  b: x\n", ""),
        ("first", "  b: |+\n    x\n\n", ""),
    ] {
        let mut text = String::new();
        if !before.is_empty() {
            text += &format!("{}---\n", document(before, "  b: 1\n"));
        }
        text += &document("c", data);
        if !behind.is_empty() {
            text += &format!("{behind}{}", document("last", "  b: 2\n"));
        }
        let lines = text.replace('\n', "\n        ");
        let role = format!(
            "live:\n- apiVersion: porch.kpt.dev/v1alpha1\n  kind: PackageRevisionResources\n  metadata: {{name: live}}\n  spec:\n    resources:\n      live.yaml: |+\n        {}\n",
            lines.trim_end_matches(' ').trim_end_matches('\n')
        );
        let role = if lines.trim_end_matches(' ').ends_with("\n        \n") {
            format!("{role}\n")
        } else {
            role
        };
        let config_item = indoc! {"
                - apiVersion: v1
                  kind: ConfigMap
                  metadata:
                    name: c
                  data:
                    a: new
            "};
        let role = format!("{role}original:\n{}", config_item.replace("new", "old"));
        let list = |item: &str| {
            format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{item}")
        };
        let outcome = on_list(
            &apply_config::FUNCTION,
            &config("ApplyConfig", &role),
            &list(config_item),
        );
        let outcome = outcome.expect("a config");
        assert_eq!(outcome.results, Vec::<String>::new(), "{text}");
        let applied = r#"{"apiVersion":"v1","data":{"a":"new"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"c"}}"#;
        let after = document("c", data)
            .replace("old", "new")
            .replace("  name: c\n", &format!("  name: c\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {applied}\n"));
        let expected = format!("- {}", after.trim_end_matches('\n').replace('\n', "\n  "));
        let expected: String = expected
            .lines()
            .map(|line| format!("{}\n", line.trim_end()))
            .collect();
        assert!(outcome.file("-").contains(&expected), "{text}\n{expected}");
    }
}

/// `kubectl` keeps the configuration as JSON: numbers that JSON does not have are strings.
#[test]
fn numbers_in_the_kept_configuration() {
    for (number, json) in [
        ("7", "7"),
        ("007", "7"),
        ("1.50", "1.5"),
        ("1e400", "\"1e400\""),
        (".inf", "\".inf\""),
        ("1e21", "1e+21"),
        ("1e-7", "1e-7"),
        ("18446744073709551616", "18446744073709552000"),
    ] {
        let live = "live:\n- apiVersion: example.com/v1\n  kind: Thing\n  metadata:\n    name: c\n";
        let item = format!(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: example.com/v1\n  kind: Thing\n  metadata:\n    name: c\n  z: {number}\n"
        );
        let outcome = on_list(&apply_config::FUNCTION, &config("ApplyConfig", live), &item);
        let outcome = outcome.expect("a config");
        let kept = format!("\"z\":{json}}}");
        assert!(
            outcome.file("-").contains(&kept),
            "{number}: {}",
            outcome.file("-")
        );
    }
}

#[test]
fn created_objects_have_no_nulls_in_lists_either() {
    let live = "live:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: c\n";
    let item = indoc! {"
        apiVersion: config.kubernetes.io/v1
        kind: ResourceList
        items:
        - apiVersion: v1
          kind: Pod
          metadata:
            name: p
          spec:
            containers:
            - name: a
              command: null
            - name: b
    "};
    let outcome = on_list(&apply_config::FUNCTION, &config("ApplyConfig", live), item);
    let text = outcome.expect("a config").file("-").to_owned();
    assert!(text.contains("    - name: a\n    - name: b\n"), "{text}");
}

#[test]
fn without_live_and_without_last_applied() {
    let live = "live:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: c\n";
    let item = "\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: c
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: d # new
  data:
    a: <b>
    gone: null
";
    let outcome = on_list(&apply_config::FUNCTION, &config("ApplyConfig", live), item);
    let outcome = outcome.expect("a config");
    assert_eq!(
        outcome.results,
        [
            "[warning] ConfigMap/c: expected the annotation `kubectl.kubernetes.io/last-applied-configuration` on the live resource, or the role `original`, found neither: nothing is deleted (NoLastApplied)",
            "[info] ConfigMap/d: created: no live resource exists",
        ]
    );
    assert_eq!(
        outcome.file("-"),
        "\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: c
    annotations:
      kubectl.kubernetes.io/last-applied-configuration: |
        {\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"annotations\":{},\"name\":\"c\"}}
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: d # new
    annotations:
      kubectl.kubernetes.io/last-applied-configuration: |
        {\"apiVersion\":\"v1\",\"data\":{\"a\":\"\\u003cb\\u003e\",\"gone\":null},\"kind\":\"ConfigMap\",\"metadata\":{\"annotations\":{},\"name\":\"d\"}}
  data:
    a: <b>
"
    );
    let outcome = on_list(&create_patch::FUNCTION, &config("CreatePatch", live), item);
    let outcome = outcome.expect("a config");
    assert!(outcome.failed);
    assert!(
        outcome.results[1].contains("(NoLive)"),
        "{:?}",
        outcome.results
    );
}

#[test]
fn broken_last_applied_is_an_error_that_shows_nothing() {
    let live = LIVE
        .replace("{\"apiVersion\"", "{hunter2")
        .replace("ConfigMap", "Secret");
    let items = CONFIG_ITEM.replace("ConfigMap", "Secret");
    let outcome = on_list(
        &apply_config::FUNCTION,
        &config("ApplyConfig", &live),
        &items,
    );
    let outcome = outcome.expect("a config");
    assert!(outcome.failed);
    assert_eq!(outcome.file("-"), items);
    assert!(
        !outcome.results[0].contains("hunter2"),
        "{:?}",
        outcome.results
    );
    assert!(outcome.results[0].contains("(InvalidLastApplied)"));
}

#[test]
fn comments_around_a_config_item_do_not_double() {
    let list = |item: &str, behind: &str| {
        format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{item}{behind}")
    };
    // What follows the item decides whether the list is cut at its dashes or edited as one text.
    let behind = [
        "- kind: Other\n  apiVersion: v1\n",
        "",
        "# foot of the list\n",
        "- kind: Other\n  apiVersion: v1",
        "- {kind: Other, apiVersion: v1, x: &a 1, y: *a}\n",
    ];
    let live = |comment: &str| {
        format!(
            "live:\n- apiVersion: porch.kpt.dev/v1alpha1\n  kind: PackageRevisionResources\n  metadata: {{name: live}}\n  spec:\n    resources:\n      live.yaml: |\n        {comment}apiVersion: v1\n        kind: ConfigMap\n        metadata:\n            name: c\n            annotations:\n                kubectl.kubernetes.io/last-applied-configuration: |\n                    {{\"apiVersion\":\"v1\",\"data\":{{\"a\":\"old\"}},\"kind\":\"ConfigMap\",\"metadata\":{{\"annotations\":{{}},\"name\":\"c\"}}}}\n        data:\n            # kept\n            a: old   # live\n\n            text: |\n                one\n                  two\n        # their foot\n"
        )
    };
    let item = indoc! {"
        # above
        - # mine
          apiVersion: v1
          kind: ConfigMap
          metadata:
            name: c
          data:
            a: new # config
          # my foot
    "};
    let after = |head: &str| {
        format!(
            "# above\n- {head}  apiVersion: v1\n  kind: ConfigMap\n  metadata:\n      name: c\n      annotations:\n          kubectl.kubernetes.io/last-applied-configuration: |\n              {{\"apiVersion\":\"v1\",\"data\":{{\"a\":\"new\"}},\"kind\":\"ConfigMap\",\"metadata\":{{\"annotations\":{{}},\"name\":\"c\"}}}}\n  data:\n      # kept\n      a: new   # live\n\n      text: |\n          one\n            two\n  # their foot\n  # my foot\n"
        )
    };
    for (comment, head) in [
        ("# theirs\n        ", "# theirs\n"),
        ("# mine\n        ", "# mine\n"),
        ("", "# mine\n"),
    ] {
        let config = config("ApplyConfig", &live(comment));
        for behind in behind {
            let outcome = on_list(&apply_config::FUNCTION, &config, &list(item, behind));
            let outcome = outcome.expect("a config");
            assert_eq!(outcome.results, Vec::<String>::new());
            assert_eq!(outcome.file("-"), list(&after(head), behind));
        }
    }
}

/// A value without its `null` is written from its text: the comment on the line of its key belongs to the key.
#[test]
fn a_new_value_brings_the_comment_of_its_key_once() {
    let head = "apiVersion: example.com/v1\nkind: Foo\nmetadata:\n  name: c\n";
    let last_applied = |spec: &str| {
        format!(
            "  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {{\"apiVersion\":\"example.com/v1\",\"kind\":\"Foo\",\"metadata\":{{\"annotations\":{{}},\"name\":\"c\"}},\"spec\":{spec}}}\n"
        )
    };
    let item = |text: &str| format!("- {}\n", text.trim_end().replace('\n', "\n  "));
    let list = |text: &str| {
        format!(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{}",
            item(text)
        )
    };
    let applied = |spec: &str, live: &str| {
        let live = item(&format!("{head}{}{live}", last_applied("null")));
        let config = config("ApplyConfig", &format!("live:\n{live}"));
        let items = list(&format!("{head}{spec}"));
        let outcome = on_list(&apply_config::FUNCTION, &config, &items).expect("a config");
        assert_eq!(outcome.results, Vec::<String>::new());
        outcome.file("-").to_owned()
    };
    let map = indoc! {"
        spec: # why
          # first
          a: 1
          gone: null # gone
          b: # inner
          - c: 1 # c
    "};
    let json = r#"{"a":1,"b":[{"c":1}],"gone":null}"#;
    let written = |comment: &str| {
        let spec = format!("spec: # {comment}\n  # first\n  a: 1\n  b: # inner\n  - c: 1 # c\n");
        list(&format!("{head}{}{spec}", last_applied(json)))
    };
    assert_eq!(applied(map, ""), written("why"));
    assert_eq!(applied(map, "spec: 1\n"), written("why"));
    // Live's comment stays.
    assert_eq!(applied(map, "spec: 1 # live\n"), written("live"));
}

#[test]
fn annotations_above_the_limit_of_an_api_server_are_a_warning() {
    let live = indoc! {"
        live:
        - apiVersion: v1
          kind: ConfigMap
          metadata:
            name: c
            annotations:
              kubectl.kubernetes.io/last-applied-configuration: '{}'
    "};
    let item = |name: &str, size: usize| {
        let value = "v".repeat(size);
        format!(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  \
             metadata:\n    name: {name}\n  data:\n    a: {value}\n"
        )
    };
    // What is in the annotation apart from the value, and its key.
    let around = r#"{"apiVersion":"v1","data":{"a":""},"kind":"ConfigMap","metadata":{"annotations":{},"name":"c"}}"#;
    let most = 262_144 - LAST_APPLIED.len() - around.len() - "\n".len();
    for (name, size, is_too_large) in [
        ("c", most, false),
        ("c", most + 1, true),
        ("d", most, false),
        ("d", most + 1, true),
    ] {
        let outcome = on_list(
            &apply_config::FUNCTION,
            &config("ApplyConfig", live),
            &item(name, size),
        );
        let results = outcome.expect("a config").results;
        let found = results
            .iter()
            .find(|result| result.contains("ObjectTooLarge"));
        assert_eq!(found.is_some(), is_too_large, "{results:?}");
        if let Some(found) = found {
            assert!(found.contains("found 262145 with"), "{found}");
        }
    }
}

#[test]
fn ids_of_the_pipeline_are_not_part_of_last_applied_in_any_spelling() {
    let live = "live:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: d\n";
    for id in [
        "internal.config.k8s.io/kpt-resource-id",
        "internal.config.kubernetes.io/id",
        "config.k8s.io/id",
        "kustomize.config.k8s.io/id",
    ] {
        let item = format!(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  \
             metadata:\n    name: c\n    annotations:\n      {id}: '3'\n"
        );
        let outcome = on_list(&apply_config::FUNCTION, &config("ApplyConfig", live), &item);
        let text = outcome.expect("a config").file("-").to_owned();
        let annotation =
            r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{},"name":"c"}}"#;
        assert!(text.contains(annotation), "{text}");
    }
}
