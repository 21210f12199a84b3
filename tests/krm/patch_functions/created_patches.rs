//! `create-patch` writes the patch that leads from the live resource to the config.

use super::*;

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
    assert_eq!(outcome.results, ["[info] no patch: nothing to change"]);
    assert!(
        outcome.file("-").ends_with("items: []\n"),
        "{}",
        outcome.file("-")
    );
    let outcome = on_list(&apply_config::FUNCTION, &config("ApplyConfig", LIVE), item);
    assert_eq!(outcome.expect("a config").results, Vec::<String>::new());
}

#[test]
fn a_list_among_the_configs_is_named() {
    let (head, item) = CONFIG_ITEM.split_once("items:\n").expect("items");
    let item = item.replace('\n', "\n  ");
    let list = format!(
        "{head}items:\n- apiVersion: v1\n  kind: List\n  items:\n  {}\n",
        item.trim_end()
    );
    let expected = "[warning] List/: the resources in this List are left out; write them as documents (SkippedFile)";
    for (function, kind) in [
        (&create_patch::FUNCTION, "CreatePatch"),
        (&apply_config::FUNCTION, "ApplyConfig"),
    ] {
        let outcome = on_list(function, &config(kind, LIVE), &list).expect("a config");
        assert_eq!(outcome.results[0], expected);
    }
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
                ["[info] no patch: nothing to change"],
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
    assert_eq!(outcome.results, ["[info] no patch: nothing to change"]);
}

/// An element whose key is null has none, even if both sides have the same.
#[test]
fn an_element_whose_key_is_null_is_reported() {
    let pod = "spec:\n  containers:\n  - name: null\n    image: a\n";
    let outcome = patch_between("apiVersion: v1\nkind: Pod\n", [pod; 3]);
    assert!(
        outcome.failed,
        "{:?} {}",
        outcome.results,
        outcome.file("-")
    );
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
