//! Who a resource of a clone is upstream: what `kpt pkg get` (1.0.0-beta.56) writes, and no byte besides. The quotes are kpt's too:
//! it deletes a resource only if the text that it prints is that of the original.
//! `tests/follow_with_kpt.sh` compares whole packages with kpt itself.

use super::{FUNCTION, KPTFILE, Role, VARIANT, directory};
use crate::step::{on_list_with, on_package_with};
use indoc::indoc;

/// A file of upstream in the clone.
fn cloned(path: &str, text: &str) -> String {
    let upstream = directory(&[("Kptfile", KPTFILE), (path, text)]);
    let flags = [(Role::Upstream, upstream.path().to_owned())];
    let outcome = on_package_with(&FUNCTION, VARIANT, &[], &flags).expect("a valid config");
    assert!(!outcome.failed, "{:?}", outcome.results);
    outcome.file(path).to_owned()
}

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\n";

/// The metadata of a ConfigMap upstream, and in the clone.
#[track_caller]
fn check(upstream: &str, clone: &str) {
    let [upstream, clone] =
        [upstream, clone].map(|metadata| format!("{MAP}{metadata}data: {{a:   b}}\n"));
    assert_eq!(cloned("a.yaml", &upstream), clone);
    // With CRLF line endings, and as one of several documents.
    let windows = |text: &str| text.replace('\n', "\r\n");
    assert_eq!(cloned("a.yaml", &windows(&upstream)), windows(&clone));
    let behind = |text: &str| format!("a:   1\n---\n# above\n{text}---\nb: 2\n");
    assert_eq!(cloned("a.yaml", &behind(&upstream)), behind(&clone));
}

#[test]
fn a_comment_and_an_annotation_identify_a_resource() {
    check(
        "metadata:\n  name: x # c\n",
        "metadata: # kpt-merge: /x\n  name: x # c\n  annotations:\n    internal.kpt.dev/upstream-identifier: '|ConfigMap|default|x'\n",
    );
    check(
        indoc! {"
            metadata:

                namespace: ns
                name: 'x'
                annotations:
                    a: b # c
                    # foot
        "},
        indoc! {"
            metadata: # kpt-merge: ns/x

                namespace: ns
                name: 'x'
                annotations:
                    a: b # c
                    internal.kpt.dev/upstream-identifier: '|ConfigMap|ns|x'
                    # foot
        "},
    );
    for empty in ["annotations: {}", "annotations:", "annotations: null"] {
        check(
            &format!("metadata:\n  name: x\n  {empty}\n"),
            "metadata: # kpt-merge: /x\n  name: x\n  annotations:\n    internal.kpt.dev/upstream-identifier: '|ConfigMap|default|x'\n",
        );
    }
    // A name that is no string to YAML, and none with labels or a namespace.
    check(
        "metadata:\n  name: 12\n",
        "metadata: # kpt-merge: /12\n  name: 12\n  annotations:\n    internal.kpt.dev/upstream-identifier: '|ConfigMap|default|12'\n",
    );
    check(
        "metadata:\n  labels: {a: b}\n",
        "metadata: # kpt-merge: /\n  labels: {a: b}\n  annotations:\n    internal.kpt.dev/upstream-identifier: '|ConfigMap|default|'\n",
    );
}

#[test]
fn an_own_comment_moves_to_a_line_above() {
    check(
        "# above\nmetadata: # own\n  name: x\n",
        indoc! {"
            # above
            # own
            metadata: # kpt-merge: /x
              name: x
              annotations:
                internal.kpt.dev/upstream-identifier: '|ConfigMap|default|x'
        "},
    );
}

#[test]
fn an_existing_identity_stays() {
    check(
        "metadata: # kpt-merge: old-ns/old\n  name: x\n",
        "metadata: # kpt-merge: old-ns/old\n  name: x\n  annotations:\n    internal.kpt.dev/upstream-identifier: '|ConfigMap|old-ns|old'\n",
    );
    let both = "metadata: # kpt-merge: /old\n  name: x\n  annotations:\n    internal.kpt.dev/upstream-identifier: '|ConfigMap|default|old'\n";
    check(both, both);
    // kpt goes by the name upstream, and so does a later update.
    let annotation = "  name: x\n  annotations:\n    internal.kpt.dev/upstream-identifier: '|ConfigMap|default|old'\n";
    check(
        &format!("metadata:\n{annotation}"),
        &format!("metadata: # kpt-merge: /x\n{annotation}"),
    );
}

/// kpt loses the comment where the metadata is in flow style, and with it every later update.
#[test]
fn metadata_in_flow_style_is_written_in_lines() {
    check(
        "metadata: {name: x, \"namespace\": 'n s', annotations: {a: b}} # own\n",
        "# own\nmetadata: # kpt-merge: n s/x\n  name: x\n  \"namespace\": 'n s'\n  annotations: {a: b, internal.kpt.dev/upstream-identifier: '|ConfigMap|n s|x'}\n",
    );
    check(
        "metadata: {\n  name: x,\n  labels: {a: b}\n}\n",
        "metadata: # kpt-merge: /x\n  name: x\n  labels: {a: b}\n  annotations:\n    internal.kpt.dev/upstream-identifier: '|ConfigMap|default|x'\n",
    );
    // Those of a file in turn, each with another length.
    let document = |name: &str, metadata: &str| {
        format!("{MAP}# of {name}\nmetadata:{metadata}\n# below {name}\ndata:\n  a: b\n")
    };
    let flow = ["a", "longer", "b"]
        .map(|name| document(name, &format!(" {{name: {name}, labels: {{}}}}")));
    let block = ["a", "longer", "b"].map(|name| {
        let lines = format!(
            " # kpt-merge: /{name}\n  name: {name}\n  labels: {{}}\n  annotations:\n    \
             internal.kpt.dev/upstream-identifier: '|ConfigMap|default|{name}'"
        );
        document(name, &lines)
    });
    assert_eq!(cloned("a.yaml", &flow.join("---\n")), block.join("---\n"));
    // Entries that are no lines stay, and so does what is JSON.
    check(
        "metadata: {name: x, labels: {a: b,\n  # c\n  c: d}}\n",
        "metadata: {name: x, labels: {a: b,\n  # c\n  c: d}, annotations: {internal.kpt.dev/upstream-identifier: \"|ConfigMap|default|x\"}}\n",
    );
    let json =
        "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"x\"}}\n";
    let identifier =
        "\"annotations\": {\"internal.kpt.dev/upstream-identifier\": \"|ConfigMap|default|x\"}";
    assert_eq!(
        cloned("a.yaml", json),
        json.replace("\"x\"}", &format!("\"x\", {identifier}}}"))
    );
}

#[test]
fn items_without_an_identity_of_kpt_stay_as_they_are() {
    for (path, text) in [
        // kpt updates it as a file, which must be as upstream has it.
        (
            "a.json",
            "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"x\"}}\n",
        ),
        (
            "kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n",
        ),
        (
            "local.yaml",
            "apiVersion: a/v1\nkind: A\nmetadata: {annotations: {a: b}}\n",
        ),
        (
            "sub/Kptfile",
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: sub\n",
        ),
        ("values.yaml", "metadata:\n  name: x\n"),
        (
            "list.yaml",
            "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}\n",
        ),
    ] {
        assert_eq!(cloned(path, text), text, "{path}");
    }
}

/// A name from data cannot end the comment.
#[test]
fn a_name_of_several_lines_is_never_in_a_comment() {
    let text = cloned("a.yaml", &format!("{MAP}metadata:\n  name: \"x\\ny: z\"\n"));
    assert_eq!(
        text,
        format!(
            "{MAP}metadata:\n  name: \"x\\ny: z\"\n  annotations:\n    internal.kpt.dev/upstream-identifier: \"|ConfigMap|default|x\\ny: z\"\n"
        )
    );
}

#[test]
fn items_of_a_resource_list_have_the_comment_and_the_annotation() {
    let upstream = format!("{KPTFILE}---\n{MAP}metadata: {{name: x}} # own\n");
    let upstream = directory(&[("all.yaml", &upstream)]);
    let list = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n";
    let flags = [(Role::Upstream, upstream.path().join("all.yaml"))];
    let outcome = on_list_with(&FUNCTION, VARIANT, list, &flags).expect("a config");
    let text = outcome.file("-");
    assert!(
        text.contains("  # own\n  metadata: # kpt-merge: /x\n    name: x\n"),
        "{text}"
    );
}
