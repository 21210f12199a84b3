//! `apply-patch` changes what a patch names; comments, styles and kpt's annotations stay.

use super::*;
use indoc::indoc;

#[track_caller]
fn check(before: &str, patches: &str, after: &str) {
    let outcome = patched(before, patches);
    assert_eq!(outcome.results, Vec::<String>::new());
    assert_eq!(outcome.file("d.yaml"), after);
    let again = patched(after, patches);
    assert_eq!(again.file("d.yaml"), after, "twice is once");
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
fn a_patch_can_delete_the_resource() {
    let patches = "- target: {name: front}\n  patch: {$patch: delete}\n";
    let outcome = patched(DEPLOYMENT, patches);
    assert!(outcome.files.is_empty(), "{:?}", outcome.files);
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
fn path_and_index_of_a_patch_are_not_part_of_it() {
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

/// An element that stays has its text and comments, however the patch orders its keys.
#[test]
fn elements_of_a_replaced_list_that_are_equal_keep_their_text() {
    let before = indoc! {"
        apiVersion: example.com/v1
        kind: Thing
        metadata:
          name: t
        spec:
          rules:
          - a: 1 # first
            b: {c: 2, d: 3}
          - a: 4 # second
            b: 5
    "};
    let patch =
        "- target: {kind: Thing}\n  patch: {spec: {rules: [{x: 6}, {b: {d: 3, c: 2}, a: 1}]}}\n";
    let after = before
        .replace("  - a: 4 # second\n    b: 5\n", "")
        .replace("  - a: 1", "  - {x: 6}\n  - a: 1");
    check(before, patch, &after);
}

#[test]
fn a_list_is_empty_after_a_patch_removes_all_of_it() {
    let before = indoc! {"
        apiVersion: v1
        kind: Pod
        metadata:
          name: p
          finalizers: # ours
          - a
          - b # second
        spec: {}
    "};
    let patch = "- target: {kind: Pod}\n  patch: {metadata: {$deleteFromPrimitiveList/finalizers: [a, b]}}\n";
    let after = before.replace("# ours\n  - a\n  - b # second\n", "[] # ours\n");
    check(before, patch, &after);
}

#[test]
fn an_empty_order_is_refused_or_sorts_as_an_api_server_does() {
    let before = indoc! {"
            apiVersion: v1
            kind: Pod
            metadata:
              name: p
              finalizers: [x/c, x/a]
            spec: {}
        "};
    // With what kubectl 1.32 makes of it.
    for (list, expected) in [
        ("[x/b]", Some("[x/c, x/a, x/b]")),
        ("[x/b, x/a]", Some("[x/c, x/a, x/b]")),
        ("[]", None),
    ] {
        let fields = |order: &str| {
            config(
                "ApplyPatch",
                &format!(
                    "listOrder: {order}\npatches:\n- target: {{kind: Pod}}\n  patch: {{metadata: {{$setElementOrder/finalizers: [], \
                     finalizers: {list}}}}}\n"
                ),
            )
        };
        let patched = |order| {
            let files = [("d.yaml", before)];
            on_package(&apply_patch::FUNCTION, &fields(order), &files).expect("a config")
        };
        let outcome = patched("document");
        let reasons = outcome
            .results
            .iter()
            .filter(|r| r.contains("(NotInElementOrder)"));
        assert_eq!(
            reasons.count(),
            usize::from(expected.is_some()),
            "{:?}",
            outcome.results
        );
        let outcome = patched("apiserver");
        assert_eq!(outcome.results, Vec::<String>::new());
        let after = expected.map_or(before.to_owned(), |list| before.replace("[x/c, x/a]", list));
        assert_eq!(outcome.file("d.yaml"), after);
    }
}
