//! Values that both sides changed, merged by their parts.

use krm_core::results::{Reason, Results};

/// A Pod with this image and this argument.
fn pod(image: &str, argument: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: app\n    image: {image}\n    env:\n    - name: RELOADER\n      value: {argument}\n"
    )
}

fn merge_pods(pods: [String; 3], fields: &str) -> (String, Results) {
    let files = pods.each_ref().map(|text| [("a.yaml", text.as_str())]);
    let (mut files, results) =
        crate::merge_cases::merge_with_results([&files[0], &files[1], &files[2]], fields);
    (files.remove("a.yaml").unwrap_or_default(), results)
}

fn images(fields: &str) -> (String, Results) {
    let pods = [
        pod("quay.io/app:1", "--image=quay.io/reload:1"),
        pod("\"mirror/app:1\" # ours", "--image=mirror/reload:1"),
        pod("quay.io/app:2", "--image=quay.io/reload:2"),
    ];
    merge_pods(pods, fields)
}

#[test]
fn locals_registry_with_upstreams_tag() {
    let (text, results) = images("");
    let expected = pod("\"mirror/app:2\" # ours", "--image=mirror/reload:2");
    assert_eq!(text, expected);
    let said: Vec<_> = results.iter().collect();
    let combined = said[0];
    assert_eq!(
        combined.to_string(),
        "[info] a.yaml: Pod/p: spec.containers[0].image: combined local's \"mirror/app\" with upstream's \"2\" (Combined)"
    );
    let tags = [
        ("reason", "Combined"),
        ("kind", "image"),
        ("local", "\"mirror/app\""),
        ("upstream", "\"2\""),
    ];
    assert_eq!(combined.tags, tags.map(|(a, b)| (a.into(), b.into())));
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said[2].to_string().ends_with("0 conflicts"), "{}", said[2]);
}

#[test]
fn only_the_part_that_both_changed_is_a_conflict() {
    let pods = ["quay.io/app:1", "mirror/app:1-fips", "quay.io/app:2"];
    let (text, results) = merge_pods(pods.map(|image| pod(image, "a")), "");
    assert_eq!(text, pod("mirror/app:2", "a"));
    let conflict = results.iter().next().expect("a result");
    assert!(conflict.has_reason(Reason::MergeConflict));
    let within = ("within".to_owned(), "version".to_owned());
    assert!(conflict.tags.contains(&within), "{:?}", conflict.tags);
}

/// By the config, by a rule, and by a rule that also takes a side.
#[test]
fn a_value_is_one_value_where_the_options_say_so() {
    let whole = pod("\"quay.io/app:2\" # ours", "--image=quay.io/reload:2");
    for fields in ["combine: none\n", "combine: [list]\n"] {
        let (text, results) = images(fields);
        assert_eq!(text, whole, "{fields}");
        assert!(results.has_open_conflicts());
    }
    let path = "spec.containers[name=app].image";
    let (text, results) = images(&format!(
        "conflicts: [{{path: '{path}', combine: false}}]\n"
    ));
    assert_eq!(
        text,
        pod("\"quay.io/app:2\" # ours", "--image=mirror/reload:2")
    );
    assert!(results.has_open_conflicts());
    let rule = format!("conflicts: [{{path: '{path}', combine: false, take: local}}]\n");
    let (text, results) = images(&rule);
    assert_eq!(
        text,
        pod("\"mirror/app:1\" # ours", "--image=mirror/reload:2")
    );
    assert!(!results.has_open_conflicts());
    // A rule that only takes a side leaves the parts.
    let (text, _) = images("conflicts: [{take: local}]\n");
    assert_eq!(
        text,
        pod("\"mirror/app:2\" # ours", "--image=mirror/reload:2")
    );
}

/// What kustomize would take is one of them.
#[test]
fn a_tag_and_a_digest_of_a_kustomization_are_one_value() {
    let text = |version: &str| {
        format!(
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nimages:\n- name: app\n  {version}\n"
        )
    };
    let digest = "digest: sha256:0123456789abcdef0123456789abcdef";
    let pods = [text("newTag: v1"), text(digest), text("newTag: v2")];
    let (merged, results) = merge_pods(pods.clone(), "");
    assert_eq!(merged, text("newTag: v2"));
    assert!(results.has_open_conflicts());
    let (merged, _) = merge_pods(pods, "onConflict: local\n");
    assert_eq!(merged, text(digest));
}

/// It stays, since the two need not be one element.
#[test]
fn a_local_replacement_of_an_element_that_upstream_removed_is_reported() {
    let text = |words: &str| {
        format!("apiVersion: example.com/v1\nkind: Words\nmetadata:\n  name: w\nwords: {words}\n")
    };
    let versions = ["[a, b, c]", "[a, x, c]", "[a, c]"].map(text);
    let (merged, results) = merge_pods(versions.clone(), "");
    assert_eq!(merged, versions[1]);
    let said: Vec<String> = results.iter().map(ToString::to_string).collect();
    assert_eq!(
        said[0],
        "[info] a.yaml: Words/w: words: combined local's {\"added\":[\"x\"]} with upstream's {\"removed\":[\"b\"]} (Combined)"
    );
}

#[test]
fn a_combined_value_is_shown_from_its_beginning() {
    let text = |rules: &str| {
        format!("apiVersion: v1\nkind: Words\nmetadata: {{name: w}}\nrules: [{rules}]\n")
    };
    let rule =
        |name: &str, host: &str| format!("{{name: {name}, hosts: [{host}, second.example.com]}}");
    let (old, new) = ("first.example.com", "other.example.com");
    let versions = [(old, old), (old, new), (new, old)];
    let versions = versions.map(|(a, b)| text(&format!("{}, {}", rule("a", a), rule("b", b))));
    let (_, results) = merge_pods(versions, "");
    let said: Vec<String> = results.iter().map(ToString::to_string).collect();
    let [local, upstream] =
        ["b", "a"].map(|name| format!(r#"{{"changed":[{{"name":"{name}","hosts":["other"#));
    assert!(
        said[0].contains(&format!("combined local's {local}")),
        "{said:?}"
    );
    assert!(
        said[0].contains(&format!("with upstream's {upstream}")),
        "{said:?}"
    );
}
