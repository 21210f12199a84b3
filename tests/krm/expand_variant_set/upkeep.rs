//! What is made, changed and removed in a fleet that is there.

use super::*;

#[test]
fn files_labels_and_owner_references() {
    let spec = format!("{UPSTREAM}targets:\n- repositories: [{{name: cluster-01}}]\n");
    let with_uid = set(&spec).replace("  name: example\n", "  name: example\n  uid: 1234-abcd\n");
    let outcome = run(&[("cluster.yaml", &cluster()), ("set.yaml", &with_uid)]);
    let expected = "apiVersion: config.porch.kpt.dev/v1alpha1
kind: PackageVariant
metadata:
  name: example-cluster-01-foo
  namespace: default
  labels:
    config.porch.kpt.dev/packagevariantset: 1234-abcd
  ownerReferences:
  - apiVersion: config.porch.kpt.dev/v1alpha2
    kind: PackageVariantSet
    name: example
    uid: 1234-abcd
    controller: true
spec:
  upstream:
    repo: example-repo
    package: foo
    revision: v1
  downstream:
    repo: cluster-01
    package: foo
";
    assert_eq!(
        outcome.file("example/example-cluster-01-foo.yaml"),
        expected
    );
    let status = "status:
  conditions:
  - type: Stalled
    status: \"False\"
    reason: Valid
    message: all validation checks passed
  - type: Ready
    status: \"True\"
    reason: Reconciled
    message: package variants successfully reconciled
";
    assert_eq!(outcome.file("set.yaml"), format!("{with_uid}{status}"));
    let counts = "[info] set.yaml: PackageVariantSet/default/example: PackageVariants: 1 created, 0 updated, 0 unchanged, 0 removed";
    assert!(
        outcome.results.iter().any(|line| line == counts),
        "{:?}",
        outcome.results
    );
    // Without a uid the name stands in the label, and nothing refers to it.
    let outcome = expand(&spec);
    let variant = outcome.file("example/example-cluster-01-foo.yaml");
    assert!(
        variant.contains("packagevariantset: example\n") && !variant.contains("ownerReferences")
    );
}

#[test]
fn names_over_63_bytes_are_cut_with_a_hash() {
    let package = "p".repeat(60);
    let outcome = expand(&format!(
        "{UPSTREAM}targets:\n- repositories: [{{name: cluster-01, packageNames: [{package}, Team_A]}}]\n"
    ));
    let paths: Vec<String> = variants(&outcome)
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    let cut = format!("example-cluster-01-{}", "p".repeat(35));
    assert_eq!(paths.len(), 2);
    assert!(
        paths[0].starts_with(&format!("example/{cut}-")),
        "{paths:?}"
    );
    assert_eq!(paths[0].len(), "example/".len() + 63 + ".yaml".len());
    assert!(
        paths[1].starts_with("example/example-cluster-01-team-a-"),
        "{paths:?}"
    );
}

#[test]
fn collisions_name_both_field_paths() {
    fails(
        &format!(
            "{UPSTREAM}targets:\n- repositories: [{{name: cluster-01, packageNames: [foo]}}]\n- repositorySelector: {{matchLabels: {{region: useast1}}}}\n"
        ),
        &[
            "`spec.targets[0].repositories[0].packageNames[0]`",
            "`spec.targets[1]`",
            "example-cluster-01-foo",
            "(NameCollision)",
        ],
    );
    // `a-b` + `c` and `a` + `b-c`.
    let spec = |repo: &str, package: &str| {
        format!(
            "{UPSTREAM}targets:\n- repositories: [{{name: {repo}, packageNames: [{package}]}}]\n"
        )
    };
    let files = [
        ("a.yaml", named_set("x-cluster", &spec("r", "p"))),
        ("b.yaml", named_set("x", &spec("cluster-r", "p"))),
        (
            "cluster.yaml",
            [
                cluster(),
                repository("r", "{}"),
                repository("cluster-r", "{}"),
            ]
            .join("---\n"),
        ),
    ];
    let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
    let outcome = run(&files);
    let errors = errors(&outcome);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].contains("set `x-cluster`") && errors[0].contains("set `x`"),
        "{errors:?}"
    );
}

// Re-runs.

#[test]
fn a_changed_label_changes_only_the_variants_it_concerns() {
    let spec = format!(
        "{UPSTREAM}targets:\n- repositorySelector: {{matchLabels: {{org: hr}}}}\n  template:\n    labels: {{keep: me}}\n    labelExprs: [{{key: region, valueExpr: repository.labels.region}}]\n"
    );
    let first = expand(&spec);
    // Somebody has written in two of the files since.
    let edited = |(path, text): &(String, String)| {
        let text = match path.as_str() {
            "example/example-cluster-01-foo.yaml" => text
                .replace("    region: useast1\n", "    region: 'useast1' # where\n")
                .replace("metadata:\n", "metadata:\n  annotations: {mine: stays}\n"),
            "example/example-cluster-03-foo.yaml" => {
                text.replace("spec:\n", "# untouched\nspec:\n")
            }
            "cluster.yaml" => text.replace("useast1", "eu-north"),
            _ => text.clone(),
        };
        (path.clone(), text)
    };
    let before: Vec<(String, String)> = first.files.iter().map(edited).collect();
    let files: Vec<(&str, &str)> = before
        .iter()
        .map(|(p, t)| (p.as_str(), t.as_str()))
        .collect();
    let after = run(&files);
    for (path, text) in &before {
        let expected = match path.as_str() {
            "example/example-cluster-01-foo.yaml" => {
                text.replace("'useast1' # where", "'eu-north' # where")
            }
            _ => text.clone(),
        };
        assert_eq!(after.file(path), expected, "{path}");
    }
    assert!(
        after
            .results
            .iter()
            .any(|line| line.contains("0 created, 1 updated, 2 unchanged, 0 removed"))
    );
}

#[test]
fn what_is_no_longer_targeted_is_removed() {
    let spec = |repos: &str| format!("{UPSTREAM}targets:\n- repositories: [{repos}]\n");
    let first = expand(&spec("{name: cluster-01}, {name: cluster-02}"));
    let mut files = first.files.clone();
    // One of several documents of a file, and one of another owner.
    let gone = files
        .iter()
        .position(|(p, _)| p == "example/example-cluster-02-foo.yaml")
        .expect("made");
    let (_, text) = files.remove(gone);
    let other = text
        .replace("packagevariantset: example", "packagevariantset: other")
        .replace("example-", "other-");
    files.push((
        "many.yaml".to_owned(),
        format!("{other}---\n{text}---\n# last\nkind: NotKRM\n"),
    ));
    for (_, text) in files.iter_mut().filter(|(path, _)| path == "set.yaml") {
        *text = text.replace(", {name: cluster-02}", "");
    }
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(p, t)| (p.as_str(), t.as_str()))
        .collect();
    let after = run(&files);
    assert_eq!(
        after.file("many.yaml"),
        format!("{other}---\n# last\nkind: NotKRM\n")
    );
    assert!(
        after
            .results
            .iter()
            .any(|line| line.contains("1 unchanged, 1 removed")),
        "{:?}",
        after.results
    );
    // Alone in its file: the file goes.
    let mut files = first.files.clone();
    for (_, text) in files.iter_mut().filter(|(path, _)| path == "set.yaml") {
        *text = text.replace(", {name: cluster-02}", "");
    }
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(p, t)| (p.as_str(), t.as_str()))
        .collect();
    assert_eq!(variants(&run(&files)).len(), 1);
}

#[test]
fn a_variant_of_another_owner_is_left_alone() {
    let spec = format!("{UPSTREAM}targets:\n- repositories: [{{name: cluster-01}}]\n");
    let first = expand(&spec);
    let text = first.file("example/example-cluster-01-foo.yaml");
    for (changed, owner) in [
        (
            text.replace("packagevariantset: example", "packagevariantset: other"),
            "the PackageVariantSet `other`",
        ),
        (
            text.replace(
                "    config.porch.kpt.dev/packagevariantset: example\n",
                "    a: b\n",
            ),
            "nobody",
        ),
    ] {
        let outcome = run(&[
            ("cluster.yaml", &cluster()),
            ("set.yaml", &set(&spec)),
            ("pv.yaml", &changed),
        ]);
        let errors = errors(&outcome);
        assert!(
            errors[0].contains("set `example` owns") && errors[0].contains(owner),
            "{errors:?}"
        );
        assert!(
            errors[0].contains("pv.yaml") && errors[0].contains("(OtherOwner)"),
            "{errors:?}"
        );
    }
}

#[test]
fn in_a_resource_list_only_those_items_change() {
    let spec = format!(
        "{UPSTREAM}targets:\n- repositories: [{{name: cluster-01}}, {{name: cluster-02}}]\n"
    );
    let mut items = String::new();
    for text in [set(&spec), cluster()]
        .iter()
        .flat_map(|text| text.split("---\n"))
    {
        items += &format!("- {}", indented(text, 2).trim_start());
    }
    let list = format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}");
    let first = on_list(&FUNCTION, NONE, &list).expect("no usage error");
    let text = first.file("-");
    assert_eq!(text.matches("kind: PackageVariant\n").count(), 2, "{text}");
    assert_eq!(
        on_list(&FUNCTION, NONE, text)
            .expect("no usage error")
            .file("-"),
        text
    );
    let fewer = text.replace(", {name: cluster-02}", "");
    let second = on_list(&FUNCTION, NONE, &fewer).expect("no usage error");
    let at = fewer.rfind("- apiVersion").expect("the last item");
    assert_eq!(second.file("-"), &fewer[..at]);
    // The set as functionConfig: the only one then; its copy in the items gets the status.
    let config = set(&spec);
    let outcome = on_list(&FUNCTION, &config, &list).expect("no usage error");
    assert_eq!(outcome.file("-"), text);
    let other = list.replace("  name: example\n", "  name: unrelated\n");
    let outcome = on_list(&FUNCTION, &config, &other).expect("no usage error");
    assert!(!outcome.file("-").contains("status:"));
    assert!(outcome.file("-").contains("example-cluster-01-foo"));
    // In one line it is taken as a whole.
    let json = value(&fewer).to_json();
    let outcome = on_list(&FUNCTION, NONE, &json).expect("no usage error");
    assert_eq!(value(outcome.file("-")), value(second.file("-")));
}

#[test]
fn a_list_that_loses_its_items_stays_a_list() {
    let wrapper = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n";
    let item = |name: &str| format!("- apiVersion: v1\n  kind: A\n  metadata: {{name: {name}}}\n");
    for (items, expected) in [
        (
            format!("items:\n{}{}z: 1\n", item("a"), item("b")),
            "items: []\nz: 1\n",
        ),
        (
            "items: [{apiVersion: v1, kind: A, metadata: {name: a}}]\n".to_owned(),
            "items: []\n",
        ),
    ] {
        let mut list = ResourceList::parse(format!("{wrapper}{items}")).expect("a ResourceList");
        let ids: Vec<_> = list.items().map(|(id, _)| id).collect();
        for id in ids {
            list.remove(id);
        }
        let texts = list.to_texts(&Results::default(), true).expect("a text");
        let text: String = texts.iter().map(|text| &**text).collect();
        assert_eq!(text, format!("{wrapper}{expected}"));
    }
}

// What is refused.
