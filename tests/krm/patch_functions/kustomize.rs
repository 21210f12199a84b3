//! `create-patch` with `format: kustomize`: what kustomize can say in a merge patch, and the rest as a JSON patch.
//! `tests/kustomize_patches.py` asks kustomize itself.

use indoc::indoc;
use krm_core::config::Config;
use krm_function::{Inputs, Items, run};

use super::*;

/// The documents that are made from live resources, which are the previous configuration as well, to a package.
fn patches(live: &str, package: &str) -> Vec<String> {
    let items = |text: &str| {
        let documents = text.split("---\n").filter(|text| !text.is_empty());
        let item = |text: &str| format!("- {}\n", text.trim_end().replace('\n', "\n  "));
        documents.map(item).collect::<String>()
    };
    let live = items(live);
    let text = config(
        "CreatePatch",
        &format!("format: kustomize\nlive:\n{live}original:\n{live}"),
    );
    let inputs = Inputs {
        config: Some(Config::parse(text, "config").expect("a config")),
        ..Inputs::default()
    };
    let files = [("new.yaml".to_owned(), package.as_bytes().to_vec())];
    let outcome = run(
        &create_patch::FUNCTION,
        inputs,
        Items::Package(files.into()),
    );
    let outcome = outcome.expect("a config");
    let results: Vec<String> = outcome.results.iter().map(ToString::to_string).collect();
    assert!(!outcome.results.has_errors(), "{results:?}");
    let documents = outcome.documents.into_iter();
    documents.map(|document| document.text).collect()
}

/// Checks the patches between two versions of what stands below the name of a resource.
#[track_caller]
fn check(kind: &str, [live, new]: [&str; 2], expected: &[&str]) {
    let resource = |rest: &str| format!("{kind}metadata:\n  name: x\n{rest}");
    let found = patches(&resource(live), &resource(new));
    let head = resource("");
    let found: Vec<&str> = found
        .iter()
        .map(|text| text.strip_prefix(&head).unwrap_or(text))
        .collect();
    assert_eq!(found, expected);
}

const POD: &str = "apiVersion: v1\nkind: Pod\n";
const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\n";
const THING: &str = "apiVersion: example.com/v1\nkind: Thing\n";
const TARGET: &str =
    "target:\n  group: example\\.com\n  version: v1\n  kind: Thing\n  name: x\npatch: |\n";

/// kustomize puts the elements that a patch names first: those before a changed one are named.
#[test]
fn a_list_has_the_order_of_the_patch() {
    let containers = |items: &str| format!("spec:\n  containers:\n{items}");
    let live = containers("  - name: a\n    image: x\n  - name: b\n  - name: c\n  - name: d\n");
    check(
        POD,
        [
            &live,
            &containers("  - name: c\n  - name: a\n    image: z # why\n  - name: e\n  - name: d\n"),
        ],
        &[&containers(
            "  - name: c\n  - name: a\n    image: z # why\n  - name: e\n  - name: b\n    $patch: delete\n",
        )],
    );
}

/// Ports are found by port and protocol. A list of two keys has no order in a patch.
#[test]
fn list_changes_beyond_a_merge_patch_are_json_patches() {
    let service = "apiVersion: v1\nkind: Service\n";
    let ports = |items: &str| format!("spec:\n  ports:\n{items}");
    let live = ports("  - port: 53\n    protocol: UDP\n  - port: 53\n    protocol: TCP\n");
    check(
        service,
        [
            &live,
            &ports(
                "  - port: 53\n    protocol: UDP\n  - port: 53\n    protocol: TCP\n    name: t\n",
            ),
        ],
        &[&ports("  - port: 53\n    protocol: TCP\n    name: t\n")],
    );
    let reversed = ports("  - port: 53\n    protocol: TCP\n  - port: 53\n    protocol: UDP\n");
    let found = indoc! {"
        target:
          version: v1
          kind: Service
          name: x
        patch: |
          - op: test
            path: /spec/ports/0/port
            value: 53
          - op: test
            path: /spec/ports/0/protocol
            value: UDP
          - op: replace
            path: /spec/ports/0/protocol
            value: TCP
          - op: test
            path: /spec/ports/1/port
            value: 53
          - op: test
            path: /spec/ports/1/protocol
            value: TCP
          - op: replace
            path: /spec/ports/1/protocol
            value: UDP
    "};
    check(service, [&live, &reversed], &[found]);
}

#[test]
fn a_string_removed_from_a_list_is_a_json_patch_next_to_the_merge_patch() {
    let found = indoc! {"
        target:
          version: v1
          kind: ConfigMap
          name: x
        patch: |
          - op: test
            path: /metadata/finalizers/0
            value: x/a
          - op: remove
            path: /metadata/finalizers/0
    "};
    check(
        CONFIG_MAP,
        [
            "  finalizers: [x/a, x/b]\ndata:\n  a: b\n",
            "  finalizers: [x/b]\ndata:\n  a: '5'\n",
        ],
        &["data:\n  a: '5'\n", found],
    );
}

/// A position alone would change another element after the base has moved them: kustomize fails at a test instead. What
/// kubectl and kustomize read differently, as `on` and `0o12`, is not tested.
#[test]
fn the_name_of_an_element_is_tested_before_its_position_is_used() {
    let head = "target:\n  version: v1\n  kind: Pod\n  name: x\npatch: |\n  ";
    let env = |value: &str, more: &str| {
        format!(
            "spec:\n  containers:\n  - name: a\n    env: [{{name: A}}, {{name: A}}, {{name: B, value: {value}}}{more}]\n"
        )
    };
    let container = "- op: test\n    path: /spec/containers/0/name\n    value: a\n  ";
    let replaced = indoc! {"
        - op: test
            path: /spec/containers/0/env/2/name
            value: B
          - op: replace
            path: /spec/containers/0/env/2/value
            value: two
    "};
    check(
        POD,
        [&env("one", ""), &env("two", "")],
        &[&format!("{head}{container}{replaced}")],
    );
    // An element at the end has no position, and one before another is put where that one is.
    let added = "- op: add\n    path: /spec/containers/0/env/-\n    value:\n      name: C\n";
    check(
        POD,
        [&env("one", ""), &env("one", ", {name: C}")],
        &[&format!("{head}{container}{added}")],
    );
    let before = indoc! {"
        - op: test
            path: /spec/containers/0/env/3/name
            value: D
          - op: add
            path: /spec/containers/0/env/3
            value:
              name: C
    "};
    check(
        POD,
        [
            &env("one", ", {name: D}"),
            &env("one", ", {name: C}, {name: D}"),
        ],
        &[&format!("{head}{container}{before}")],
    );
    for (name, is_tested) in [
        ("on", false),
        ("0o12", false),
        ("'on'", true),
        ("12", true),
        ("on1", true),
    ] {
        let env = |value: &str| {
            format!(
                "spec:\n  containers:\n  - name: {name}\n    env: [{{name: A}}, {{name: A, value: {value}}}]\n"
            )
        };
        let [live, new] =
            ["one", "two"].map(|value| format!("{POD}metadata:\n  name: x\n{}", env(value)));
        let found = patches(&live, &new).concat();
        let test = found.contains("path: /spec/containers/0/name\n");
        assert_eq!(test, is_tested, "{name}: {found}");
    }
}

/// kustomize keeps the quotes of live, refuses another kind of value, and drops nulls.
#[test]
fn values_that_a_merge_patch_would_spoil() {
    let operations = "  - op: replace\n    path: /spec/a\n    value: 5\n  \
        - op: replace\n    path: /spec/b\n    value:\n      c: 1\n  \
        - op: add\n    path: /spec/d\n    value:\n      e:\n      - null\n      f: \"5\"\n      $g: h\n";
    check(
        THING,
        [
            "spec: {a: \"5\", b: [1]}\n",
            "spec: {a: 5, b: {c: 1}, d: {e: [null], f: \"5\", $g: h}}\n",
        ],
        &[&format!("{TARGET}{operations}")],
    );
}

#[test]
fn pointers_are_escaped_and_names_are_not_patterns() {
    let live = indoc! {"
            apiVersion: example.com/v1
            kind: Thing
            metadata:
              name: x.y
            spec:
              a/b~c: [1]
        "};
    let new = live.replace("[1]", "{}");
    let found = "target:\n  group: example\\.com\n  version: v1\n  kind: Thing\n  name: x\\.y\npatch: |\n  \
        - op: replace\n    path: /spec/a~1b~0c\n    value: {}\n";
    assert_eq!(patches(live, &new), [found]);
}

/// A target without a group or namespace fits any.
#[test]
fn a_target_names_what_distinguishes_its_resource() {
    let live = |version: &str, namespace: &str| {
        format!(
            "apiVersion: {version}\nkind: Service\nmetadata:\n  name: x\n{namespace}spec: {{a: '5'}}\n"
        )
    };
    let all = [
        live("v1", ""),
        live("v1", "  namespace: here\n"),
        live("serving.knative.dev/v1", "  namespace: here\n"),
    ];
    let all = all.join("---\n");
    let found = patches(&all, &all.replace("'5'", "5"));
    let targets = found
        .iter()
        .map(|text| text.split("patch:").next().unwrap_or_default());
    let expected = [
        indoc! {"
            target:
              group: ^$
              version: v1
              kind: Service
              name: x
              namespace: default
        "},
        indoc! {"
            target:
              group: ^$
              version: v1
              kind: Service
              name: x
              namespace: here
        "},
        "target:\n  group: serving\\.knative\\.dev\n  version: v1\n  kind: Service\n  name: x\n  namespace: here\n",
    ];
    assert_eq!(targets.collect::<Vec<_>>(), expected);
}

/// A merge patch finds its resource by the namespace, so only a JSON patch can set one.
#[test]
fn a_new_namespace_is_a_json_patch() {
    let target = indoc! {"
        target:
          version: v1
          kind: ConfigMap
          name: x
        patch: |
          - op: add
            path: /metadata/namespace
            value: here
    "};
    check(
        CONFIG_MAP,
        ["data: {a: b}\n", "  namespace: here\ndata: {a: c}\n"],
        &["data: {a: c}\n", target],
    );
}

/// kustomize drops one of two elements with one key, wherever a merge patch changes the resource.
#[test]
fn a_resource_that_a_merge_patch_would_spoil_gets_none() {
    let spec = |name: &str| {
        format!(
            "spec:\n  nodeName: {name}\n  containers:\n  - name: a\n    env: [{{name: A, value: x}}, {{name: A, value: y}}]\n"
        )
    };
    let found = indoc! {"
        target:
          version: v1
          kind: Pod
          name: x
        patch: |
          - op: replace
            path: /spec/nodeName
            value: b
    "};
    check(POD, [&spec("a"), &spec("b")], &[found]);
}

/// A null without a text, which kustomize drops while it merges, is set again.
#[test]
fn a_null_without_a_text_stays() {
    let spec = |name: &str| format!("spec:\n  nodeName: {name}\n  hostNetwork:\n");
    let found = indoc! {"
        target:
          version: v1
          kind: Pod
          name: x
        patch: |
          - op: add
            path: /spec/hostNetwork
            value: null
    "};
    check(
        POD,
        [&spec("a"), &spec("b")],
        &["spec:\n  nodeName: b\n", found],
    );
}

/// kustomize trims a patch: a text at its end would lose its line break.
#[test]
fn a_text_at_the_end_of_a_json_patch_keeps_its_line_break() {
    let found = "  - value: |\n      one\n      two\n    path: /spec/a\n    op: replace\n";
    check(
        THING,
        ["spec: {a: 1}\n", "spec:\n  a: |\n    one\n    two\n"],
        &[&format!("{TARGET}{found}")],
    );
}

#[test]
fn a_resource_that_no_longer_exists_is_deleted() {
    let map = |name: &str| format!("{CONFIG_MAP}metadata:\n  name: {name}\ndata: {{a: b}}\n");
    let live = [map("a"), map("b")].join("---\n");
    let expected = format!("{CONFIG_MAP}metadata:\n  name: a\n$patch: delete\n");
    assert_eq!(patches(&live, &map("b")), [expected]);
}

/// Without the role `original` nothing tells that a live resource was configured before.
#[test]
fn a_live_resource_without_a_previous_configuration_stays() {
    let text = config("CreatePatch", &format!("format: kustomize\n{LIVE}"));
    let list = CONFIG_ITEM.replace("name: c\n", "name: d\n");
    let text = text.replacen("format", "allowMissing: true\nformat", 1);
    let outcome = on_list(&create_patch::FUNCTION, &text, &list).expect("a config");
    assert!(outcome.file("-").ends_with("items: []\n"), "{outcome:?}");
}

/// In a ResourceList a JSON patch is an item after the others.
#[test]
fn both_patches_are_items_of_a_list() {
    let live = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c, finalizers: [x/a, x/b]}\n  data: {a: old}\n";
    let fields = format!("format: kustomize\nlive:\n{live}original:\n{live}");
    let list = indoc! {"
        apiVersion: config.kubernetes.io/v1
        kind: ResourceList
        items:
        - apiVersion: v1
          kind: ConfigMap
          metadata: {name: c, finalizers: [x/b]}
          data:
            a: new
    "};
    let outcome = on_list(
        &create_patch::FUNCTION,
        &config("CreatePatch", &fields),
        list,
    );
    let items = indoc! {"
        items:
        - apiVersion: v1
          kind: ConfigMap
          metadata: {name: c}
          data:
            a: new
        - target:
            version: v1
            kind: ConfigMap
            name: c
          patch: |
            - op: test
              path: /metadata/finalizers/0
              value: x/a
            - op: remove
              path: /metadata/finalizers/0
    "};
    let outcome = outcome.expect("a config");
    assert!(outcome.file("-").ends_with(items), "{}", outcome.file("-"));
}

#[test]
fn an_unknown_format_is_an_error() {
    let outcome = on_list(
        &create_patch::FUNCTION,
        &config("CreatePatch", &format!("format: helm\n{LIVE}")),
        CONFIG_ITEM,
    );
    let outcome = outcome.expect("a config");
    assert_eq!(
        outcome.results,
        ["[error] format: expected `kubectl` or `kustomize`, found `helm` (InvalidConfig)"]
    );
}

/// kubectl takes the words for booleans, kustomize for strings: the names are kustomize's.
#[test]
fn words_as_keys_are_named_as_kustomize_reads_them() {
    check(
        THING,
        ["spec: {n: 5, m: {on: x}}\n", "spec: {n: [5], m: {on: z}}\n"],
        &[
            "spec: {m: {\"on\": z}}\n",
            &format!("{TARGET}  - op: replace\n    path: /spec/n\n    value:\n    - 5\n"),
        ],
    );
}
