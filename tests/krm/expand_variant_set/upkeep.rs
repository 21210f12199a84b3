//! What is made, changed and removed in a fleet that is there.

use super::*;
use crate::step::{Clock, assert_linear};

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
    let twice = format!(
        "{UPSTREAM}targets:\n- repositories: [{{name: r}}]\n- repositories: [{{name: r}}]\n"
    );
    let (set, repository_r) = (named_set("x", &twice), repository("r", "{}"));
    let outcome = run(&[
        ("a.yaml", &*set),
        ("cluster.yaml", &[cluster(), repository_r].join("---\n")),
    ]);
    assert_eq!(errors(&outcome).len(), 1, "{:?}", errors(&outcome));
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
fn variants_that_are_no_longer_targeted_are_removed() {
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
            "belongs to no PackageVariantSet",
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
fn only_the_selected_items_of_a_resource_list_change() {
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
        let emitted = list.emit(&Results::default(), true).expect("a text");
        let text: String = emitted.iter().map(|piece| &**piece).collect();
        assert_eq!(text, format!("{wrapper}{expected}"));
    }
}

/// The files of an outcome, some of them changed.
fn changed(outcome: &Outcome, change: impl Fn(&str, &str) -> String) -> Vec<(String, String)> {
    let files = outcome.files.iter();
    files
        .map(|(path, text)| (path.clone(), change(path, text)))
        .collect()
}

fn borrowed(files: &[(String, String)]) -> Vec<(&str, &str)> {
    files
        .iter()
        .map(|(p, t)| (p.as_str(), t.as_str()))
        .collect()
}

/// The results with an action, without what says which resource they are about.
fn actions(outcome: &Outcome) -> Vec<String> {
    let results = outcome
        .json
        .iter()
        .filter(|json| json.contains("\"action\""));
    let about = |json: &String| {
        let at = json.find("\"name\":").expect("a name");
        json[at..].to_owned()
    };
    results.map(about).collect()
}

#[test]
fn a_pin_set_by_hand_is_named_when_it_is_undone() {
    let repos = "{name: cluster-01}, {name: cluster-02}";
    let spec = |repos: &str| format!("{UPSTREAM}targets:\n- repositories: [{repos}]\n");
    let first = expand(&spec(repos));
    let path = |name: &str| format!("example/example-{name}-foo.yaml");
    assert_eq!(
        actions(&first),
        ["cluster-01", "cluster-02"].map(|name| format!(
            "\"name\":\"example-{name}-foo\",\"namespace\":\"default\"}},\"file\":{{\"path\":\"{}\"}},\"tags\":{{\"action\":\"created\"}}}}",
            path(name)
        ))
    );
    let pinned = changed(&first, |file, text| {
        if file == path("cluster-01") {
            text.replace("revision: v1", "revision: v0 # until May")
        } else {
            text.replace(", {name: cluster-02}", "")
        }
    });
    let second = run(&borrowed(&pinned));
    assert_eq!(
        actions(&second),
        [
            format!(
                "\"name\":\"example-cluster-01-foo\",\"namespace\":\"default\"}},\"field\":{{\"path\":\"spec.upstream.revision\",\"currentValue\":\"v0\",\"proposedValue\":\"v1\"}},\"file\":{{\"path\":\"{}\"}},\"tags\":{{\"action\":\"updated\",\"line\":\"12\"}}}}",
                path("cluster-01")
            ),
            format!(
                "\"name\":\"example-cluster-02-foo\",\"namespace\":\"default\"}},\"file\":{{\"path\":\"{}\"}},\"tags\":{{\"action\":\"removed\"}}}}",
                path("cluster-02")
            ),
        ]
    );
    let line = format!(
        "[info] {}:12: PackageVariant/default/example-cluster-01-foo: spec.upstream.revision: updated: `\"v0\"` becomes `\"v1\"`",
        path("cluster-01")
    );
    assert!(second.results.contains(&line), "{:?}", second.results);
}

#[test]
fn annotations_of_the_set_go_to_its_variants() {
    let spec = format!("{UPSTREAM}targets:\n- repositories: [{{name: cluster-01}}]\n");
    let annotated = set(&spec).replace(
        "metadata:\n",
        "metadata:\n  annotations:\n    fn.kpt.dev/on-conflict: local\n    fn.kpt.dev/allow-empty: \"true\"\n    other: stays\n",
    );
    let first = run(&[("cluster.yaml", &cluster()), ("set.yaml", &annotated)]);
    let path = "example/example-cluster-01-foo.yaml";
    let new = first.file(path);
    assert!(
        new.contains("  annotations:\n    fn.kpt.dev/on-conflict: local\nspec:"),
        "{new}"
    );
    // Another policy, and one for a fleet that had none.
    let later = changed(&first, |_, text| {
        text.replace("on-conflict: local", "on-conflict: error")
    });
    let kept = changed(&first, |file, text| {
        if file == path {
            text.replace("  annotations:\n    fn.kpt.dev/on-conflict: local\n", "")
        } else {
            text.to_owned()
        }
    });
    let stale = later.iter().map(|(file, text)| {
        let text = if file == path {
            text.replace("error", "upstream # ours")
        } else {
            text.clone()
        };
        (file.clone(), text)
    });
    let second = run(&borrowed(&stale.collect::<Vec<_>>()));
    assert_eq!(second.file(path), new.replace("local", "error # ours"));
    assert!(
        actions(&second)[0].contains("\"currentValue\":\"upstream\",\"proposedValue\":\"error\""),
        "{:?}",
        second.json
    );
    let third = run(&borrowed(&kept));
    assert_eq!(third.file(path), new);
}

#[test]
fn comments_of_the_template_come_along() {
    let spec = format!(
        "{UPSTREAM}targets:
- repositories: [{{name: cluster-01}}]
  template:
    # as finance wants it
    labels:
      tier: gold # until May
      # of the cluster
      region: none
    labelExprs:
    # computed
    - key: team
      valueExpr: repoDefault
    pipeline: # first of all
      mutators:
      # keep this one
      - name: ns
        image: set-namespace:v1 # pinned
        configMap:
          # the team's
          namespace: a
    injectors:
    - name: a
    injectorExprs:
    # the second
    - nameExpr: repoDefault
"
    );
    let expected = "spec:
  upstream:
    repo: example-repo
    package: foo
    revision: v1
  downstream:
    repo: cluster-01
    package: foo
  # as finance wants it
  labels:
    tier: gold # until May
    # of the cluster
    region: none
    # computed
    team: cluster-01
  pipeline: # first of all
    mutators:
    # keep this one
    - name: ns
      image: set-namespace:v1 # pinned
      configMap:
        # the team's
        namespace: a
  injectors:
  - name: a
  # the second
  - name: cluster-01
";
    let outcome = expand(&spec);
    let text = outcome.file("example/example-cluster-01-foo.yaml");
    assert_eq!(&text[text.find("spec:").expect("a spec")..], expected);
    // In a ResourceList too.
    let mut items = String::new();
    for text in [set(&spec), cluster()]
        .iter()
        .flat_map(|text| text.split("---\n"))
    {
        items += &format!("- {}", indented(text, 2).trim_start());
    }
    let list = format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}");
    for list in [list.as_str(), list.trim_end()] {
        let outcome = on_list(&FUNCTION, NONE, list).expect("no usage error");
        let expected = indented(expected, 2);
        assert!(
            outcome.file("-").contains(expected.trim_end()),
            "{}",
            outcome.file("-")
        );
    }
}

/// The text is read once for all of them: with a reading for each, eight times as many would take 64
/// times as long.
#[test]
fn many_variants_in_one_text_are_changed_in_linear_time() {
    let spec = |count: usize| {
        let names: Vec<String> = (0..count).map(|i| format!("p{i}")).collect();
        let names = names.join(", ");
        format!(
            "{UPSTREAM}targets:\n- repositories: [{{name: cluster-01, packageNames: [{names}]}}]\n"
        )
    };
    let on = |files: &[(&str, &str)]| on_package(&FUNCTION, NONE, files).expect("no usage error");
    // In one file.
    assert_linear(100, |count| {
        let first = on(&[
            ("set.yaml", &set(&spec(count))),
            ("cluster.yaml", &cluster()),
        ]);
        let (made, others): (Vec<_>, Vec<_>) = first
            .files
            .iter()
            .partition(|(path, _)| path.starts_with("example/"));
        assert_eq!(made.len(), count);
        let fleet: Vec<&str> = made.iter().map(|(_, text)| text.as_str()).collect();
        let fleet = fleet.join("---\n").replace("revision: v1", "revision: v0");
        let mut files: Vec<(&str, &str)> = others
            .iter()
            .map(|(p, t)| (p.as_str(), t.as_str()))
            .collect();
        files.push(("fleet.yaml", &fleet));
        let clock = Clock::start();
        let outcome = on(&files);
        let time = clock.nanoseconds();
        assert_eq!(
            outcome.file("fleet.yaml"),
            fleet.replace("revision: v0", "revision: v1")
        );
        time
    });
    // In a list without a final newline, which is one text.
    assert_linear(50, |count| {
        let mut items = String::new();
        for text in [set(&spec(count)), cluster()]
            .iter()
            .flat_map(|text| text.split("---\n"))
        {
            items += &format!("- {}", indented(text, 2).trim_start());
        }
        let list =
            format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}");
        let first = on_list(&FUNCTION, NONE, &list).expect("no usage error");
        let list = first.file("-");
        let end = list.find("results:").unwrap_or(list.len());
        let later = list[..end].trim_end().replace(
            "  revision: v1\n    downstream",
            "  revision: v0\n    downstream",
        );
        assert_eq!(later.matches("revision: v0").count(), count);
        let clock = Clock::start();
        let outcome = on_list(&FUNCTION, NONE, &later).expect("no usage error");
        let time = clock.nanoseconds();
        assert_eq!(outcome.file("-").matches("revision: v0").count(), 0);
        time
    });
}

// What is refused.
