//! `apply-patch`, `create-patch` and `apply-config` as functions: texts in, texts out.

use krm_variants::config::Config;
use krm_variants::functions::{apply_config, apply_patch, create_patch};

use crate::step::{Outcome, on_list, on_package};

const DEPLOYMENT: &str = "\
# The front end.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: front # its name
  namespace: shop
spec:
  template:
    spec:
        containers:
          # the application
          - name: app
            image: \"app:1\" # tag
            env: [{name: A, value: one}, {name: B, value: two}]
          # helps
          - name: sidecar
            image: sidecar:1
";

fn config(kind: &str, fields: &str) -> String {
    format!("apiVersion: fn.kpt.dev/v1alpha1\nkind: {kind}\nmetadata:\n  name: c\n{fields}")
}

/// Applies patches (the field's text) to one file.
fn patched(text: &str, patches: &str) -> Outcome {
    let config = config("ApplyPatch", &format!("patches:\n{patches}"));
    on_package(&apply_patch::FUNCTION, &config, &[("d.yaml", text)]).expect("a config")
}

#[track_caller]
fn check(before: &str, patches: &str, after: &str) {
    let outcome = patched(before, patches);
    assert_eq!(outcome.results, Vec::<String>::new());
    assert_eq!(outcome.file("d.yaml"), after);
    let again = patched(after, patches);
    assert_eq!(again.file("d.yaml"), after, "twice is once");
}

#[track_caller]
fn check_refused(patches: &str, result: &str) {
    let outcome = patched(DEPLOYMENT, patches);
    assert_eq!(outcome.results, [result]);
    assert!(outcome.failed);
    assert_eq!(outcome.file("d.yaml"), DEPLOYMENT);
}

/// Found by the fuzz target `patches`: what `create-patch` made of a named Kustomization was refused.
#[test]
fn a_kustomization_with_a_name_is_patched_as_any_resource() {
    let before =
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nmetadata:\n  name: k\n";
    let patch = "- apiVersion: kustomize.config.k8s.io/v1beta1\n  kind: Kustomization\n  \
                 metadata: {name: k}\n  namePrefix: a-\n";
    let outcome = patched(before, patch);
    assert!(!outcome.failed, "{:?}", outcome.results);
    assert_eq!(outcome.file("d.yaml"), format!("{before}namePrefix: a-\n"));
}

#[test]
fn only_what_changes_is_written() {
    let patch = "\
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: front, namespace: shop}
  spec:
    replicas: 3 # from the patch
    template:
      spec:
        containers:
        - name: app
          image: app:2
";
    let after = DEPLOYMENT.replace("\"app:1\"", "\"app:2\"") + "  replicas: 3 # from the patch\n";
    check(DEPLOYMENT, patch, &after);
}

#[test]
fn elements_move_with_their_comments() {
    let patch = "\
- target: {kind: Deployment}
  patch: |
    spec:
      template:
        spec:
          $setElementOrder/containers: [{name: sidecar}, {name: new}, {name: app}]
          containers:
          # fresh
          - name: new
            image: new:1
";
    let after = "\
# The front end.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: front # its name
  namespace: shop
spec:
  template:
    spec:
        containers:
          # helps
          - name: sidecar
            image: sidecar:1
          # fresh
          - name: new
            image: new:1
          # the application
          - name: app
            image: \"app:1\" # tag
            env: [{name: A, value: one}, {name: B, value: two}]
";
    check(DEPLOYMENT, patch, after);
}

#[test]
fn flow_style_stays() {
    let patch = "\
- target: {name: front, labelSelector: '!gone'}
  patch:
    spec:
      template:
        spec:
          containers:
          - name: app
            env:
            - name: B
              $patch: delete
            - name: C
              value: \"yes\"
";
    let after = DEPLOYMENT.replace(
        "env: [{name: A, value: one}, {name: B, value: two}]",
        "env: [{name: A, value: one}, {name: C, value: \"yes\"}]",
    );
    check(DEPLOYMENT, patch, &after);
}

#[test]
fn what_cannot_be_a_patch_is_named() {
    check_refused(
        "- target: {kind: Deployment}\n  patch: |\n    - op: remove\n      path: /spec\n",
        "[error] functionConfig, field `patches`, line 6, column 3: patch: expected a strategic merge patch, found a list of JSON 6902 operations; write the part of the resource that changes, with apiVersion, kind and metadata.name (InvalidPatch)",
    );
    check_refused(
        "- target: {kind: Service}\n  patch: {spec: {}}\n",
        "[error] functionConfig, field `patches`, line 6, column 3: expected a resource for the patch (kind `Service`) among the items, found none (TargetNotFound)",
    );
    check_refused(
        "- spec: {}\n",
        "[error] functionConfig, field `patches`, line 6, column 3: expected apiVersion, kind and metadata.name, or a target beside `patch`, found a patch without them (InvalidPatch)",
    );
}

#[test]
fn a_missing_target_can_be_a_warning() {
    let config = config(
        "ApplyPatch",
        "allowMissing: true\npatches:\n- target: {kind: Service}\n  patch: {spec: {}}\n",
    );
    let outcome = on_package(&apply_patch::FUNCTION, &config, &[("d.yaml", DEPLOYMENT)]);
    let outcome = outcome.expect("a config");
    assert!(!outcome.failed);
    assert_eq!(outcome.results.len(), 1);
}

#[test]
fn a_patch_can_delete_the_resource() {
    let patches = "- target: {name: front}\n  patch: {$patch: delete}\n";
    let outcome = patched(DEPLOYMENT, patches);
    assert!(outcome.files.is_empty(), "{:?}", outcome.files);
}

#[test]
fn values_of_secrets_are_not_shown() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\ndata:\n  a: b\n";
    let patches = "- target: {name: s}\n  patch: {data: {$patch: hunter2}}\n";
    let outcome = patched(secret, patches);
    assert_eq!(
        outcome.results,
        [
            "[error] d.yaml: Secret/s: data.$patch: expected another value, found <redacted> (InvalidPatch)"
        ]
    );
}

#[test]
fn a_word_outside_of_the_enumeration() {
    let config = config("ApplyPatch", "listOrder: kubectl\npatches: []\n");
    let outcome = on_package(&apply_patch::FUNCTION, &config, &[("d.yaml", DEPLOYMENT)]);
    assert_eq!(
        outcome.expect("a config").results,
        ["[error] listOrder: expected `document` or `apiserver`, found `kubectl` (InvalidConfig)"]
    );
}

/// An item as kpt hands it over.
fn item(path: &str, name: &str, rest: &str) -> String {
    format!(
        "\
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: {name}
    annotations:
      config.kubernetes.io/index: '0'
      config.kubernetes.io/path: '{path}'
      internal.config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/path: '{path}'
      internal.config.kubernetes.io/seqindent: 'compact'
      config.k8s.io/id: '{path}'
{rest}"
    )
}

fn list(items: &[String]) -> String {
    let items = items.concat();
    format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}")
}

#[test]
fn path_and_index_of_a_patch_are_no_part_of_it() {
    let patch = item(
        "patches/p.yaml",
        "c",
        "      team: web\n  data:\n    a: new\n",
    );
    let target = |rest| item("c.yaml", "c", rest);
    let outcome = on_list(
        &apply_patch::FUNCTION,
        &config("ApplyPatch", "patches: {path: patches}\n"),
        &list(&[patch.clone(), target("  data:\n    a: old\n")]),
    );
    let outcome = outcome.expect("a config");
    assert_eq!(outcome.results, Vec::<String>::new());
    let after = list(&[patch, target("      team: web\n  data:\n    a: new\n")]);
    assert_eq!(outcome.file("-"), after);
}

#[test]
fn no_patch_takes_the_path_from_its_target() {
    for patch in [
        "{metadata: {annotations: null}}",
        "{metadata: {annotations: {$patch: replace}}}",
        "{metadata: {annotations: {$retainKeys: [b], b: null}}}",
        "{metadata: {$patch: replace}, data: {a: old}}",
        "{$patch: replace, data: {a: old}}",
        "{metadata: {annotations: {config.kubernetes.io/path: x.yaml, gone: null}}}",
    ] {
        let target = |rest| item("c.yaml", "c", rest);
        let patches = format!("patches:\n- target: {{name: c}}\n  patch: {patch}\n");
        let outcome = on_list(
            &apply_patch::FUNCTION,
            &config("ApplyPatch", &patches),
            &list(&[target("      gone: x\n  data:\n    a: old\n")]),
        );
        let outcome = outcome.expect("a config");
        let after = list(&[target("  data:\n    a: old\n")]);
        assert_eq!(outcome.file("-"), after, "{patch}");
    }
}

const CONFIG_ITEM: &str = "\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: c
    annotations:
      internal.config.kubernetes.io/path: c.yaml
      config.kubernetes.io/path: c.yaml
      internal.config.kubernetes.io/index: '0'
      config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/id: '7'
  data:
    a: new # from the config
    # also
    c: more
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: other
    annotations:
      config.kubernetes.io/local-config: \"true\"
";

const LIVE: &str = "\
live:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: c
    uid: x
    annotations:
      kubectl.kubernetes.io/last-applied-configuration: |
        {\"apiVersion\":\"v1\",\"data\":{\"a\":\"old\",\"b\":\"gone\"},\"kind\":\"ConfigMap\",\"metadata\":{\"annotations\":{},\"name\":\"c\"}}
  data:
    # kept
    a: old
    b: gone
    live: only
";

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

#[test]
fn the_patch_takes_the_place_of_its_config() {
    let outcome = on_list(
        &create_patch::FUNCTION,
        &config("CreatePatch", LIVE),
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
  data:
    a: new # from the config
    # also
    c: more
    b: null
"
    );
}

#[test]
fn no_patch_where_nothing_differs() {
    let item = "\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: c
  data:
    a: old
    b: gone
";
    let outcome = on_list(&create_patch::FUNCTION, &config("CreatePatch", LIVE), item);
    let outcome = outcome.expect("a config");
    assert_eq!(
        outcome.results,
        ["[info] no patch: nothing is to be changed"]
    );
    assert!(
        outcome.file("-").ends_with("items: []\n"),
        "{}",
        outcome.file("-")
    );
    let outcome = on_list(&apply_config::FUNCTION, &config("ApplyConfig", LIVE), item);
    assert_eq!(outcome.expect("a config").results, Vec::<String>::new());
}

/// The patch of an original, a live and a modified resource, each given as what stands below `metadata`.
fn patch_between(kind: &str, [original, live, modified]: [&str; 3]) -> Outcome {
    let item = |rest: &str| {
        let text = format!("{kind}metadata:\n  name: c\n{rest}");
        format!("- {}\n", text.trim_end().replace('\n', "\n  "))
    };
    let list = format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{}",
        item(modified)
    );
    let role = format!("live:\n{}original:\n{}", item(live), item(original));
    on_list(
        &create_patch::FUNCTION,
        &config("CreatePatch", &role),
        &list,
    )
    .expect("a config")
}

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\n";

#[test]
fn a_merge_key_is_read_before_a_patch_is_made() {
    let modified = "data:\n  <<: {a: one}\n";
    for (live, patch) in [
        (
            "data:\n  <<: {a: one}\n  a: two\n",
            Some("  data:\n    a: one\n"),
        ),
        ("data:\n  <<: {a: one}\n  b: two\n", None),
        ("data:\n  a: one\n", None),
    ] {
        let outcome = patch_between(CONFIG_MAP, [modified, live, modified]);
        match patch {
            Some(patch) => assert!(outcome.file("-").ends_with(patch), "{}", outcome.file("-")),
            None => assert_eq!(
                outcome.results,
                ["[info] no patch: nothing is to be changed"],
                "{}",
                outcome.file("-")
            ),
        }
    }
}

/// A `strategy` is replaced as a whole but for the keys that the patch names.
#[test]
fn the_keys_that_stay_are_named_where_live_has_more() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\n";
    let live = "spec:\n  strategy:\n    type: Recreate\n    rollingUpdate: {maxSurge: 1}\n";
    let modified = "spec:\n  strategy:\n    type: Recreate\n";
    let outcome = patch_between(deployment, [modified, live, modified]);
    let patch = "  spec:\n    strategy:\n      $retainKeys:\n      - type\n";
    assert!(outcome.file("-").contains(patch), "{}", outcome.file("-"));
    let outcome = patch_between(deployment, [modified; 3]);
    assert_eq!(
        outcome.results,
        ["[info] no patch: nothing is to be changed"]
    );
}

/// An element whose key is null has none, even if both sides have the same.
#[test]
fn an_element_whose_key_is_null_is_told() {
    let pod = "spec:\n  containers:\n  - name: null\n    image: a\n";
    let outcome = patch_between("apiVersion: v1\nkind: Pod\n", [pod; 3]);
    assert!(
        outcome.failed,
        "{:?} {}",
        outcome.results,
        outcome.file("-")
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
        let config_item =
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: c\n  data:\n    a: new\n";
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
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: example.com/v1\n  kind: Thing\n  metadata:\n    name: c\n  n: {number}\n"
        );
        let outcome = on_list(&apply_config::FUNCTION, &config("ApplyConfig", live), &item);
        let outcome = outcome.expect("a config");
        let kept = format!("\"n\":{json}}}");
        assert!(
            outcome.file("-").contains(&kept),
            "{number}: {}",
            outcome.file("-")
        );
    }
}

/// A field that the modified resource has as null is named in its spelling.
#[test]
fn a_field_that_is_null_keeps_the_spelling_of_its_key() {
    let live = "data:\n  a b: x\n  on: y\n  z: w\n";
    let modified = "data:\n  'a b': null # gone\n  'on': ~\n  z: w\n";
    let outcome = patch_between(CONFIG_MAP, ["data: {}\n", live, modified]);
    let patch = "  data:\n    'a b': null # gone\n    'on': ~\n";
    assert!(outcome.file("-").ends_with(patch), "{}", outcome.file("-"));
}

/// An element that stays has its text and comments, however the patch orders its keys.
#[test]
fn elements_of_a_replaced_list_that_are_equal_keep_their_text() {
    let before = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: t\nspec:\n  rules:\n  - a: 1 # first\n    b: {c: 2, d: 3}\n  - a: 4 # second\n    b: 5\n";
    let patch =
        "- target: {kind: Thing}\n  patch: {spec: {rules: [{x: 6}, {b: {d: 3, c: 2}, a: 1}]}}\n";
    let after = before
        .replace("  - a: 4 # second\n    b: 5\n", "")
        .replace("  - a: 1", "  - {x: 6}\n  - a: 1");
    check(before, patch, &after);
}

#[test]
fn a_string_that_is_new_to_a_set_is_put_in_its_order() {
    let with = |finalizers: &str| {
        format!("- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: c\n{finalizers}")
    };
    let (one, two) = (
        with("    finalizers:\n    - x/a\n"),
        with("    finalizers:\n    - x/a\n    - x/b\n"),
    );
    let list = |item: &str| {
        format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{item}")
    };
    let roles = format!("live:\n{one}original:\n{one}");
    let outcome = on_list(
        &create_patch::FUNCTION,
        &config("CreatePatch", &roles),
        &list(&two),
    );
    let order =
        "    $setElementOrder/finalizers:\n    - x/a\n    - x/b\n    finalizers:\n    - x/b\n";
    assert_eq!(outcome.expect("a config").file("-"), list(&with(order)));
}

#[test]
fn what_is_created_has_no_nulls_in_lists_either() {
    let live = "live:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: c\n";
    let item = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: Pod\n  \
                metadata:\n    name: p\n  spec:\n    containers:\n    - name: a\n      command: null\n    - name: b\n";
    let outcome = on_list(&apply_config::FUNCTION, &config("ApplyConfig", live), item);
    let text = outcome.expect("a config").file("-").to_owned();
    assert!(text.contains("    - name: a\n    - name: b\n"), "{text}");
}

/// Live has none of the list, so that all of it is in the patch; what the original had is deleted all the same.
#[test]
fn a_list_that_is_new_to_live_is_ordered_if_something_is_deleted() {
    let deployment = |containers: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\nspec:\n  template:\n    spec:\n{containers}"
        )
    };
    let one = "      containers:\n      - name: a\n        image: x\n";
    let role =
        |name: &str, text: &str| format!("{name}:\n- {}\n", text.trim_end().replace('\n', "\n  "));
    let roles = role("live", &deployment("      hostNetwork: true\n"))
        + &role("original", &deployment(&format!("{one}      - name: b\n")));
    let modified = role("items", &deployment(one));
    let list = format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n{modified}");
    let outcome = on_list(
        &create_patch::FUNCTION,
        &config("CreatePatch", &roles),
        &list,
    );
    let outcome = outcome.expect("a config");
    assert_eq!(outcome.results, Vec::<String>::new());
    let patch = "      $setElementOrder/containers:\n      - name: a\n".to_owned()
        + one
        + "      - name: b\n        $patch: delete\n";
    let list = list.replacen(
        &role("items", &deployment(one)),
        &role("items", &deployment(&patch)),
        1,
    );
    assert_eq!(outcome.file("-"), list);
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
            "[info] ConfigMap/d: created: there is no live resource",
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
fn custom_resources_merge_by_the_list_types_of_their_definition() {
    const CRD: &str = "
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata:
    name: routes.example.com
  spec:
    group: example.com
    names: {kind: Route, plural: routes}
    versions:
    - name: v1
      schema:
        openAPIV3Schema:
          properties:
            spec:
              properties:
                ports:
                  type: array
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [port, protocol]
                  items:
                    properties:
                      port: {type: integer}
                      protocol: {type: string, default: TCP}
";
    let items = format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:{CRD}\
- apiVersion: example.com/v1
  kind: Route
  metadata:
    name: r
  spec:
    ports:
    - {{port: 53, protocol: UDP, name: dns}}
"
    );
    let live = "original:
- apiVersion: example.com/v1
  kind: Route
  metadata: {name: r}
  spec:
    ports:
    - {port: 53, protocol: UDP}
    - {port: 80}
live:
- apiVersion: example.com/v1
  kind: Route
  metadata: {name: r}
  spec:
    ports:
    - {port: 80, protocol: TCP}
    - {port: 53, name: mine}
    - {port: 53, protocol: UDP}
";
    let config = config("CreatePatch", &format!("allowMissing: true\n{live}"));
    let outcome = on_list(&create_patch::FUNCTION, &config, &items).expect("a config");
    let patch = outcome.file("-");
    assert!(
        patch.ends_with(
            "\
  spec:
    $setElementOrder/ports:
    - {port: 53, protocol: UDP}
    ports:
    - {port: 53, protocol: UDP, name: dns}
    - port: 80
      protocol: TCP
      $patch: delete
"
        ),
        "{patch}"
    );
}

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
    let mut text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        text += &format!("  a{level}: &a{level} [{aliases}]\n");
    }
    let outcome = patched(&text, "- target: {name: c}\n  patch: {data: {new: x}}\n");
    assert!(
        outcome.results[0].contains("at most 10 million nodes"),
        "{:?}",
        outcome.results
    );
}

#[test]
fn an_alias_does_not_change_with_its_anchor() {
    let text =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: &x one\n  b: *x\n";
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
    let before = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: a\n    args: &args [x, y]\n  - name: b\n    args: *args\n    env: &env\n    - name: K\n      value: v # of both\n  - name: c\n    env: *env\n";
    let patch = "- target: {kind: Pod}\n  patch: {spec: {containers: [{name: b, args: [z]}, {name: c, env: [{name: L, value: w}]}]}}\n";
    let outcome = patched(before, patch);
    assert_eq!(outcome.results, Vec::<String>::new());
    let written = krm_variants::yaml::OwnedDocument::parse(outcome.file("d.yaml").to_owned());
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

#[test]
fn a_list_of_which_a_patch_takes_all_is_empty() {
    let before = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  finalizers: # ours\n  - a\n  - b # second\nspec: {}\n";
    let patch = "- target: {kind: Pod}\n  patch: {metadata: {$deleteFromPrimitiveList/finalizers: [a, b]}}\n";
    let after = before.replace("# ours\n  - a\n  - b # second\n", "[] # ours\n");
    check(before, patch, &after);
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

#[test]
fn comments_around_a_config_item_do_not_double() {
    let list = |item: &str| {
        format!(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{item}- kind: Other\n  apiVersion: v1\n"
        )
    };
    let live = |comment: &str| {
        format!(
            "live:\n- apiVersion: porch.kpt.dev/v1alpha1\n  kind: PackageRevisionResources\n  metadata: {{name: live}}\n  spec:\n    resources:\n      live.yaml: |\n        {comment}apiVersion: v1\n        kind: ConfigMap\n        metadata:\n            name: c\n            annotations:\n                kubectl.kubernetes.io/last-applied-configuration: |\n                    {{\"apiVersion\":\"v1\",\"data\":{{\"a\":\"old\"}},\"kind\":\"ConfigMap\",\"metadata\":{{\"annotations\":{{}},\"name\":\"c\"}}}}\n        data:\n            # kept\n            a: old   # live\n\n            text: |\n                one\n                  two\n        # their foot\n"
        )
    };
    let item = "# above\n- # mine\n  apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: c\n  data:\n    a: new # config\n  # my foot\n";
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
        let outcome = on_list(&apply_config::FUNCTION, &config, &list(item));
        let outcome = outcome.expect("a config");
        assert_eq!(outcome.results, Vec::<String>::new());
        assert_eq!(outcome.file("-"), list(&after(head)));
    }
}

#[test]
fn dollar_keys_are_fields_at_every_depth_below_unknown_ones() {
    const CRD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: routes.example.com
spec:
  group: example.com
  names: {kind: Route, plural: routes}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              closed: {properties: {a: {type: string}}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              named: {properties: {$ref: {type: string}}}
";
    let item = "apiVersion: example.com/v1\nkind: Route\nmetadata:\n  name: r\nspec:\n  free:\n    a: {b: {c: 1}}\n";
    let run = |field: &str| {
        let patches = format!("patches:\n- target: {{name: r}}\n  patch: {{spec: {{{field}}}}}\n");
        let config = config("ApplyPatch", &patches);
        let files = [("crd.yaml", CRD), ("r.yaml", item)];
        on_package(&apply_patch::FUNCTION, &config, &files).expect("a config")
    };
    let outcome = run("free: {a: {b: {$ref: '#/x', d: [{$ref: y}]}}}");
    assert_eq!(outcome.results, Vec::<String>::new());
    let after = item.replace("c: 1", "c: 1, $ref: '#/x', d: [{$ref: y}]");
    assert_eq!(outcome.file("r.yaml"), after);
    // In the free one itself, and where a schema names it.
    for field in ["free: {$ref: x}", "named: {$ref: x}"] {
        assert_eq!(run(field).results, Vec::<String>::new(), "{field}");
    }
    let outcome = run("closed: {$ref: x}");
    assert!(
        outcome.results[0].contains("(UnknownDirective)"),
        "{:?}",
        outcome.results
    );
}

#[test]
fn patches_of_a_directory_need_not_be_resources() {
    let config = config("ApplyPatch", "patches: {path: patches}\n");
    let run = |patch: &str| {
        let files = [("d.yaml", DEPLOYMENT), ("patches/p.yaml", patch)];
        on_package(&apply_patch::FUNCTION, &config, &files).expect("a config")
    };
    let outcome = run("target: {kind: Deployment}\npatch: {spec: {replicas: 3}}\n");
    assert_eq!(outcome.results, Vec::<String>::new());
    assert_eq!(
        outcome.file("d.yaml"),
        DEPLOYMENT.to_owned() + "  replicas: 3\n"
    );
    for (patch, found) in [
        (
            "- op: remove\n  path: /spec\n",
            "found a list of JSON 6902 operations",
        ),
        ("op: remove\npath: /spec\n", "found a JSON 6902 operation"),
        ("just: this\n", "found a patch without them"),
        ("text\n", "expected a patch, found a string"),
    ] {
        let outcome = run(patch);
        assert_eq!(outcome.results.len(), 1, "{:?}", outcome.results);
        let result = &outcome.results[0];
        assert!(
            result.contains(found) && result.contains("patches/p.yaml"),
            "{result}"
        );
    }
}

#[test]
fn an_absent_namespace_fits_the_only_candidate() {
    let object = |namespace: &str| {
        format!(
            "  - apiVersion: v1\n    kind: ConfigMap\n    metadata: {{name: c{namespace}}}\n    data: {{a: old}}\n"
        )
    };
    let run = |own: &str, live: &[&str]| {
        let live: String = live.iter().map(|namespace| object(namespace)).collect();
        let item = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{own}}}\ndata: {{a: new}}\n"
        );
        let config = config("CreatePatch", &format!("live:\n{live}original:\n{live}"));
        let outcome = on_package(&create_patch::FUNCTION, &config, &[("c.yaml", &item)]);
        outcome.expect("a config").results.concat()
    };
    let (none, empty, shop, shelf) = (
        "",
        ", namespace: ''",
        ", namespace: shop",
        ", namespace: shelf",
    );
    for (own, live) in [
        (none, shop),
        (shop, none),
        (empty, shop),
        (shop, empty),
        (empty, none),
    ] {
        assert_eq!(run(own, &[live]), "", "{own} {live}");
    }
    assert!(run(none, &[shop, shelf]).contains("(Ambiguous)"));
    assert!(run(shop, &[shelf]).contains("(NoLive)"));
}

#[test]
fn a_config_of_comments_is_the_absent_one() {
    for text in ["", "\n", "# nothing\n", "---\n# nothing\n"] {
        let config = Config::parse(text.to_owned(), "config").expect("YAML");
        assert!(config.node().is_none(), "{text:?}");
    }
}
