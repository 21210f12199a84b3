//! The lists of a kustomization.

use super::*;
use indoc::indoc;

/// A kustomization with these lines.
fn kustomization(lines: &str) -> String {
    format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n{lines}")
}

#[track_caller]
fn of(versions: [&str; 3], expected: &str, conflicts: &[&str]) {
    let [base, local, upstream] = versions.map(kustomization);
    let expected = kustomization(expected);
    check_conflicts(&base, &local, &upstream, &expected, conflicts);
}

#[test]
fn labels_are_identified_by_what_they_set() {
    let entry =
        |env: &str, ver: &str| format!("labels:\n- pairs:\n    env: {env}\n    ver: {ver}\n");
    of(
        [&entry("a", "b"), &entry("c", "b"), &entry("a", "d")],
        &entry("c", "d"),
        &[],
    );
    of(
        [&entry("a", "b"), &entry("c", "b"), &entry("e", "b")],
        &entry("e", "b"),
        &["labels[0].pairs.env:upstream"],
    );
    // Both added an entry that sets one key.
    of(
        [
            "labels: []\n",
            "labels:\n- pairs: {env: a, team: x}\n",
            "labels:\n- pairs: {env: b, ver: z}\n",
        ],
        "labels:\n- pairs: {env: b, team: x, ver: z}\n",
        &["labels[0].pairs.env:upstream"],
    );
}

#[test]
fn charts_are_releases() {
    let chart = |release: &str, version: u8, values: &str| {
        format!("- {{name: c, releaseName: {release}, version: {version}, valuesFile: {values}}}\n")
    };
    let list = |charts: [String; 2]| format!("helmCharts:\n{}", charts.concat());
    of(
        [
            &list([chart("one", 1, "a"), chart("two", 1, "b")]),
            &list([chart("one", 1, "mine"), chart("two", 1, "b")]),
            &list([chart("zero", 2, "z"), chart("one", 2, "a")]),
        ],
        &list([chart("zero", 2, "z"), chart("one", 2, "mine")]),
        &[],
    );
}

#[test]
fn a_mirror_follows_the_version_of_what_it_mirrors() {
    let list = |sources: &str| format!("resources:\n- a.yaml\n{sources}");
    of(
        [
            &list("- https://github.com/org/app//deploy?ref=v1\n"),
            &list("- https://git.local/org/app//deploy?ref=v1\n- b.yaml\n"),
            &list("- https://github.com/org/app//deploy?ref=v2\n"),
        ],
        &list("- https://git.local/org/app//deploy?ref=v2\n- b.yaml\n"),
        &[],
    );
    // Never two of them.
    of(
        [
            &list("- https://github.com/org/app//deploy?ref=v1\n"),
            &list("- https://github.com/org/app//deploy?ref=v1.1\n"),
            &list("- https://github.com/org/app//deploy?ref=v2\n"),
        ],
        &list("- https://github.com/org/app//deploy?ref=v2\n"),
        &["resources[1]:upstream"],
    );
    of(
        [
            "resources: []\n",
            "resources:\n- ./base/\n- b.yaml\n",
            "resources:\n- base\n- c.yaml\n",
        ],
        "resources:\n- ./base/\n- b.yaml\n- c.yaml\n",
        &[],
    );
}

#[test]
fn patches_are_identified_by_what_they_patch() {
    let patch = |replicas: &str, delay: &str| {
        format!(
            "patches:\n- path: a.yaml\n- patch: |\n    kind: Deployment\n    metadata:\n      name: a\n    spec:\n      \
             replicas: {replicas}\n      delay: {delay}\n"
        )
    };
    of(
        [&patch("1", "1"), &patch("2", "1"), &patch("1", "3")],
        &patch("2", "3"),
        &[],
    );
    // Both added a patch of one object.
    of(
        [
            "patches: []\n",
            "patches:\n- target: {kind: A}\n  path: a.yaml\n",
            "patches:\n- target: {kind: A}\n  path: b.yaml\n- target: {kind: B}\n  path: a.yaml\n",
        ],
        indoc! {"
            patches:
            - target: {kind: A}
              path: a.yaml
            - target: {kind: A}
              path: b.yaml
            - target: {kind: B}
              path: a.yaml
        "},
        &[],
    );
    // A patch is a file or a text, and not both.
    of(
        [
            "patches:\n- target: {kind: A}\n  patch: a\n",
            "patches:\n- target: {kind: A}\n  patch: b\n",
            "patches:\n- target: {kind: A}\n  path: a.yaml\n",
        ],
        "patches:\n- target: {kind: A}\n  path: a.yaml\n",
        &["patches[0].patch:upstream"],
    );
}

#[test]
fn replacements_are_their_sources() {
    let entry = |field: &str, paths: &str| {
        format!(
            "replacements:\n- source: {{kind: A, fieldPath: {field}}}\n  targets:\n  - select: {{kind: B}}\n    \
             fieldPaths: [{paths}]\n"
        )
    };
    of(
        [&entry("x", "a"), &entry("y", "a"), &entry("x", "a, b")],
        &entry("y", "a, b"),
        &[],
    );
}

#[test]
fn patches_that_upstream_moved_to_the_newer_field_occur_once() {
    let kustomization = |field: &str, version: &str, path: &str| {
        format!(
            "kind: Kustomization\napiVersion: kustomize.config.k8s.io/v1beta1\n{field}:\n- target:\n    group: apps\n{version}    kind: Deployment\n    \
             name: app\n  path: {path}\n"
        )
    };
    check(
        &kustomization("patchesJson6902", "    version: v1\n", "patch.yaml"),
        &kustomization("patchesJson6902", "    # version: v1\n", "patch.yaml"),
        &kustomization("patches", "    version: v1\n", "patch.yaml"),
        &kustomization("patches", "    # version: v1\n", "patch.yaml"),
    );
    check(
        &kustomization("patchesJson6902", "", "patch.yaml"),
        &kustomization("patches", "", "patch.yaml"),
        &kustomization("patchesJson6902", "", "other.yaml"),
        &kustomization("patches", "", "other.yaml"),
    );
}
