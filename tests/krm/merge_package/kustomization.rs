//! Kustomization files: their lists have keys.

use super::*;
use indoc::indoc;

fn kustomization(fields: &str) -> String {
    format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n{fields}")
}

/// Merges `kustomization.yaml` without a conflict.
#[track_caller]
fn check(fields: [&str; 3], expected: &str) {
    let texts = fields.map(kustomization);
    let files = texts
        .each_ref()
        .map(|text| [("kustomization.yaml", text.as_str())]);
    let (found, said) = merge_files([&files[0], &files[1], &files[2]], "");
    assert_eq!(
        found["kustomization.yaml"],
        kustomization(expected),
        "{said:?}"
    );
    assert_eq!(conflicts(&said).len(), 0, "{said:?}");
}

#[test]
fn lists_of_files_are_sets_that_keep_their_order() {
    check(
        [
            "resources:\n- a.yaml\n- b.yaml\n",
            "resources:\n- a.yaml\n- b.yaml\n- mine.yaml # ours\n",
            "resources:\n- first.yaml\n- a.yaml\n",
        ],
        "resources:\n- first.yaml\n- a.yaml\n- mine.yaml # ours\n",
    );
    for name in [
        "components",
        "bases",
        "crds",
        "configurations",
        "generators",
        "transformers",
        "validators",
    ] {
        let list = |files: &str| format!("{name}: [{files}]\n");
        let sources = [list("a"), list("a, l"), list("a, u")];
        check(sources.each_ref().map(String::as_str), &list("a, l, u"));
    }
}

#[test]
fn images_and_replicas_are_identified_by_name() {
    check(
        [
            indoc! {"
                images:
                - name: a
                  newTag: v1
                - name: b
                  newTag: v1
                replicas:
                - name: d
                  count: 1
            "},
            indoc! {"
                images:
                - name: a
                  newTag: v1 # pinned
                  newName: mirror/a
                - name: b
                  newTag: v1
                replicas:
                - name: d
                  count: 3
            "},
            indoc! {"
                images:
                - name: a
                  newTag: v1
                - name: b
                  newTag: v2
                replicas:
                - name: d
                  count: 1
                - name: e
                  count: 2
            "},
        ],
        indoc! {"
            images:
            - name: a
              newTag: v1 # pinned
              newName: mirror/a
            - name: b
              newTag: v2
            replicas:
            - name: d
              count: 3
            - name: e
              count: 2
        "},
    );
}

/// As a search and a replacement of the registry leaves it.
#[test]
fn an_image_whose_name_moved_to_another_registry_is_the_same_image() {
    let text = |name: &str, tag: &str| {
        format!(
            "images:\n- name: {name}/app\n  newTag: {tag}\n- name: quay.io/other\n  newTag: v1\n"
        )
    };
    let versions = [("quay.io/a", "v1"), ("mirror/a", "v1"), ("quay.io/a", "v2")];
    let versions = versions.map(|(name, tag)| text(name, tag));
    check(
        versions.each_ref().map(String::as_str),
        &text("mirror/a", "v2"),
    );
    // One value is one value.
    let files = versions.map(|text| [("kustomization.yaml", kustomization(&text))]);
    let files = files
        .each_ref()
        .map(|[(path, text)]| [(*path, text.as_str())]);
    let (_, said) = merge_files([&files[0], &files[1], &files[2]], "combine: none\n");
    assert_eq!(conflicts(&said).len(), 1, "{said:?}");
    // Which of two?
    let two = "images:\n- name: m/app\n  newTag: v1\n- name: n/app\n  newTag: v1\n";
    let texts = ["quay.io/app\n  newTag: v1\n", "quay.io/app\n  newTag: v2\n"]
        .map(|image| kustomization(&format!("images:\n- name: {image}")));
    let two = kustomization(two);
    let files = [&texts[0], &two, &texts[1]].map(|text| [("kustomization.yaml", text.as_str())]);
    let (_, said) = merge_files([&files[0], &files[1], &files[2]], "");
    assert_eq!(conflicts(&said).len(), 1, "{said:?}");
}

#[test]
fn generators_are_identified_by_name_and_namespace() {
    check(
        [
            indoc! {"
                configMapGenerator:
                - name: c
                  literals:
                  - A=1
                  - B=1
                - name: c
                  namespace: n
                  files: [x.conf]
            "},
            indoc! {"
                configMapGenerator:
                - name: c
                  literals:
                  - A=2
                  - B=1
                  - L=1
                - name: c
                  namespace: n
                  files: [x.conf=mine.conf]
            "},
            indoc! {"
                configMapGenerator:
                - name: c
                  literals:
                  - A=1
                  - B=2
                - name: c
                  namespace: n
                  files: [x.conf, y.conf]
            "},
        ],
        indoc! {"
            configMapGenerator:
            - name: c
              literals:
              - A=2
              - B=2
              - L=1
            - name: c
              namespace: n
              files: [x.conf=mine.conf, y.conf]
        "},
    );
    // Both changed one literal: kustomize refuses a key that appears twice.
    let with = |value: &str| {
        kustomization(&format!(
            "secretGenerator:\n- name: s\n  literals: [A={value}]\n"
        ))
    };
    let texts = ["1", "2", "3"].map(with);
    let files = texts
        .each_ref()
        .map(|text| [("kustomization.yaml", text.as_str())]);
    let (found, said) = merge_files([&files[0], &files[1], &files[2]], "");
    assert_eq!(found["kustomization.yaml"], texts[2]);
    assert_eq!(conflicts(&said).len(), 1, "{said:?}");
}

/// kustomize defaults apiVersion and kind: then it is a file that is not KRM.
#[test]
fn a_kustomization_without_kind_merges_too() {
    let texts = ["[a]", "[a, l] # mine", "[a, u]"].map(|list| format!("resources: {list}\n"));
    for path in [
        "kustomization.yaml",
        "base/kustomization.yml",
        "Kustomization",
    ] {
        let files = texts.each_ref().map(|text| [(path, text.as_str())]);
        let (found, said) = merge_files([&files[0], &files[1], &files[2]], "");
        assert_eq!(found[path], "resources: [a, l, u] # mine\n", "{said:?}");
        assert_eq!(
            said,
            ["[info] merged: 1 changed, 0 added, 0 removed, 0 moved, 0 conflicts"]
        );
    }
    // What is none is text.
    let texts = ["a", "b", "c"].map(|text| format!("{text}\n"));
    let files = texts
        .each_ref()
        .map(|text| [("kustomization.yaml", text.as_str())]);
    let (found, said) = merge_files([&files[0], &files[1], &files[2]], "");
    assert_eq!(
        (&found["kustomization.yaml"], conflicts(&said).len()),
        (&texts[2], 1)
    );
}

#[test]
fn inline_patches_are_identified_by_target() {
    let patch = |kind: &str, replicas: &str| {
        format!(
            "patches:\n- path: a.yaml\n- target: {{kind: {kind}, name: w}}\n  patch: |-\n    spec:\n{replicas}"
        )
    };
    check(
        [
            &patch("Deployment", "      replicas: 1\n      paused: false\n"),
            &patch("Deployment", "      replicas: 2\n      paused: false\n"),
            &patch("Deployment", "      replicas: 1\n      paused: true\n"),
        ],
        &patch("Deployment", "      replicas: 2\n      paused: true\n"),
    );
    // Both changed the patch: the second one would overwrite the first.
    let texts = ["1", "2", "3"].map(|replicas| {
        kustomization(&patch(
            "Deployment",
            &format!("      replicas: {replicas}\n"),
        ))
    });
    let files = texts
        .each_ref()
        .map(|text| [("kustomization.yaml", text.as_str())]);
    let (found, said) = merge_files([&files[0], &files[1], &files[2]], "");
    assert_eq!(found["kustomization.yaml"], texts[2]);
    assert_eq!(conflicts(&said).len(), 1, "{said:?}");
}

#[test]
fn patches_are_identified_by_path_or_are_one_value() {
    check(
        [
            "patches:\n- path: a.yaml\n- patch: one\n",
            "patches:\n- path: a.yaml\n  target: {kind: Deployment}\n- patch: one\n- patch: mine\n",
            "patches:\n- path: a.yaml\n- path: b.yaml\n- patch: two\n",
        ],
        indoc! {"
            patches:
            - path: a.yaml
              target: {kind: Deployment}
            - patch: mine
            - path: b.yaml
            - patch: two
        "},
    );
    check(
        [
            "helmCharts:\n- name: h\n  version: 1.0.0\n",
            "helmCharts:\n- name: h\n  version: 1.0.0\n  valuesFile: mine.yaml\n",
            "helmCharts:\n- name: h\n  version: 1.1.0\n",
        ],
        "helmCharts:\n- name: h\n  version: 1.1.0\n  valuesFile: mine.yaml\n",
    );
}
