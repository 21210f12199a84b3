//! What is refused, and in what words.

use super::*;

#[test]
fn bad_values_are_all_reported_at_once() {
    let outcome = expand(
        r#"upstream: {repo: "", package: foo}
targets:
- {}
- repositories: [{name: ""}, {name: a, packageNames: [""]}]
  repositorySelector: {}
  packageNames: [x]
- objectSelector: {matchExpressions: [{key: a, operator: Is}]}
- repositories: [{name: cluster-01}]
  template:
    adoptionPolicy: always
    deletionPolicy: never
    downstream: {repo: a, repoExpr: repoDefault, package: b, packageExpr: "'b'"}
    labelExprs: [{key: a, keyExpr: "'a'", value: b}, {key: c}, {valueExpr: "'x'"}, {key: d, value: ""}, {key: d, value: x}]
    packageContext:
      data: {name: x}
      removeKeys: [package-path, a, a]
      dataExprs: [{key: package-path, value: x}]
      removeKeyExprs: [""]
    pipeline:
      mutators: [{name: a.b, image: x}, {image: x, exec: z}, {image: x, configPath: c.yaml, configMapExprs: {key: a, value: b}}]
    injectors: [{name: a, nameExpr: "'a'"}, {kind: K}]
    annotationExprs: [{key: a, valueExpr: nope}]
"#,
    );
    let errors = errors(&outcome);
    for field in [
        "spec.upstream.repo",
        "spec.targets[0]:",
        "spec.targets[1]:",
        "spec.targets[1].repositories[0].name",
        "spec.targets[1].repositories[1].packageNames[0]",
        "spec.targets[1].packageNames",
        "spec.targets[2].objectSelector.apiVersion",
        "spec.targets[2].objectSelector.kind",
        "spec.targets[2].objectSelector.matchExpressions[0].operator",
        "spec.targets[3].template.adoptionPolicy",
        "spec.targets[3].template.deletionPolicy",
        "spec.targets[3].template.downstream: expected `repo` or `repoExpr`, found both",
        "spec.targets[3].template.downstream: expected `package` or `packageExpr`, found both",
        "spec.targets[3].template.labelExprs[0]: expected `key` or `keyExpr`, found both",
        "spec.targets[3].template.labelExprs[1]: expected `value` or `valueExpr`, found neither",
        "spec.targets[3].template.labelExprs[2]: expected `key` or `keyExpr`, found neither",
        "spec.targets[3].template.labelExprs[4].key: expected each key once",
        "spec.targets[3].template.packageContext.data.name: the key `name` is reserved",
        "spec.targets[3].template.packageContext.removeKeys[0]: the key `package-path` is reserved",
        "spec.targets[3].template.packageContext.removeKeys[2]: expected each key once",
        "spec.targets[3].template.packageContext.dataExprs[0].key: the key `package-path` is reserved",
        "spec.targets[3].template.packageContext.removeKeyExprs[0]",
        "spec.targets[3].template.pipeline.mutators[0].name",
        "spec.targets[3].template.pipeline.mutators[1]",
        "spec.targets[3].template.pipeline.mutators[2]",
        "spec.targets[3].template.injectors[0]",
        "spec.targets[3].template.injectors[1]",
        "spec.targets[3].template.annotationExprs[0].valueExpr: line 1, column 1: undeclared variable `nope`",
    ] {
        assert!(
            errors.iter().any(|error| error.contains(field)),
            "{field}: {errors:#?}"
        );
    }
    assert_eq!(errors.len(), 28, "{errors:#?}");
}

#[test]
fn missing_cluster_resources_and_invalid_values() {
    let targets = "targets:\n- repositories: [{name: cluster-01}]\n";
    fails(
        &format!("upstream: {{repo: example-repo, package: foo, revision: v2}}\n{targets}"),
        &["spec.upstream", "revision `v2`", "(UpstreamNotFound)"],
    );
    fails(
        &format!(
            "upstream: {{repo: example-repo, package: foo, revision: v1, workspaceName: x}}\n{targets}"
        ),
        &["(UpstreamNotFound)"],
    );
    fails(
        &format!("{UPSTREAM}targets:\n- repositories: [{{name: cluster-01}}, {{name: nowhere}}]\n"),
        &[
            "spec.targets[0].repositories[1]",
            "`nowhere`",
            "(RepositoryNotFound)",
        ],
    );
    fails(
        &format!("{UPSTREAM}targets: []\n"),
        &["spec.targets", "at least one"],
    );
    let template = |template: &str| format!("{UPSTREAM}{targets}  template: {{{template}}}\n");
    fails(
        &template("downstream: {repoExpr: repository.name}"),
        &[
            "template.downstream.repoExpr",
            "undeclared variable `repository`",
        ],
    );
    fails(
        &template("downstream: {repoExpr: \"''\"}"),
        &["template.downstream.repoExpr", "empty"],
    );
    fails(
        &template("labelExprs: [{key: a, valueExpr: repository.labels.zone}]"),
        &[
            "spec.targets[0].template.labelExprs[0].valueExpr",
            "line 1, column",
            "no such key: `zone`",
            "cluster-01",
            "(ExpressionFailed)",
        ],
    );
    fails(
        &template("labelExprs: [{key: a, value: x}, {keyExpr: \"'a'\", value: z}]"),
        &["labelExprs[1]", "once"],
    );
    fails(
        &template("packageContext: {dataExprs: [{keyExpr: \"'na' + 'me'\", value: z}]}"),
        &["dataExprs[0]", "reserved"],
    );
    fails(
        &template("packageContext: {removeKeyExprs: [\"'name'\"]}"),
        &["removeKeyExprs[0]", "reserved"],
    );
    fails(
        &template("injectors: [{nameExpr: \"'' + ''\"}]"),
        &["injectors[0].nameExpr", "empty"],
    );
    // Compiled though nothing is targeted.
    fails(&format!("{UPSTREAM}targets:\n- repositorySelector: {{matchLabels: {{no: one}}}}\n  template: {{labelExprs: [{{key: a, valueExpr: 1}}]}}\n").replace("valueExpr: 1", "valueExpr: \"1\""), &["expected a string, found int"]);
}

#[test]
fn unknown_and_mistyped_fields_are_usage_errors() {
    for (spec, expected) in [
        (
            "upstream: {}\ntarget: []\n",
            "spec.target: unknown field `target`",
        ),
        (
            "targets: [{repos: []}]\n",
            "spec.targets[0].repos: unknown field",
        ),
        (
            "targets: [{template: {label: {}}}]\n",
            "spec.targets[0].template.label: unknown field",
        ),
        (
            "targets: [{template: {labelExprs: {kee: a}}}]\n",
            "spec.targets[0].template.labelExprs[0].kee: unknown field",
        ),
        (
            "targets: [{template: {labels: {a: true}}}]\n",
            "spec.targets[0].template.labels.a: expected a string, found boolean",
        ),
        (
            "targets: [{template: {pipeline: {mutators: [{image: 5}]}}}]\n",
            "image",
        ),
    ] {
        let error = on_package(&FUNCTION, NONE, &[("set.yaml", &set(spec))]);
        match error {
            Err(error) => {
                let said = error.to_string();
                assert!(
                    said.contains(expected) && said.contains("set.yaml"),
                    "{said}"
                );
            }
            Ok(outcome) => panic!("{spec}: {:?}", outcome.results),
        }
    }
    for config in [
        "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariantSet\n",
        "apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n",
    ] {
        assert!(on_package(&FUNCTION, config, &[]).is_err(), "{config}");
    }
}

#[test]
fn empty_targets_and_no_sets_are_warnings() {
    let outcome = expand(&format!(
        "{UPSTREAM}targets:\n- repositorySelector: {{matchLabels: {{no: one}}}}\n"
    ));
    assert!(
        outcome
            .results
            .iter()
            .any(|l| l.contains("spec.targets[0]: the target selects nothing (NoTargetSelected)"))
    );
    let outcome = run(&[("cluster.yaml", &cluster())]);
    assert_eq!(outcome.results.len(), 1);
    assert!(
        outcome.results[0].contains("(NoPackageVariantSet)"),
        "{:?}",
        outcome.results
    );
}

#[test]
fn a_fleet_without_its_repositories_is_not_removed() {
    let spec = format!("{UPSTREAM}targets:\n- repositorySelector: {{matchLabels: {{org: hr}}}}\n");
    let first = expand(&spec);
    assert_eq!(variants(&first).len(), 3);
    // Only the upstream is known the next time.
    let fleet = |set: &dyn Fn(&str) -> String| -> Vec<(String, String)> {
        let files = first.files.iter().map(|(path, text)| match path.as_str() {
            "cluster.yaml" => (path.clone(), revision("example-repo", "foo", "v1")),
            "set.yaml" => (path.clone(), set(text)),
            _ => (path.clone(), text.clone()),
        });
        files.collect()
    };
    let run_with = |config: &str, files: &[(String, String)]| {
        let files: Vec<_> = files
            .iter()
            .map(|(p, t)| (p.as_str(), t.as_str()))
            .collect();
        on_package(&FUNCTION, config, &files).expect("no usage error")
    };
    let files = fleet(&str::to_owned);
    let outcome = run_with(NONE, &files);
    assert!(outcome.failed);
    let all = errors(&outcome);
    assert_eq!(all.len(), 1, "{all:?}");
    for part in [
        "set.yaml",
        "spec.targets",
        "owns 3 PackageVariants",
        "(NoTargets)",
    ] {
        assert!(all[0].contains(part), "{part}: {all:?}");
    }
    assert_eq!(outcome.files, files);
    // Said to be meant, by annotation or argument.
    let annotated = fleet(&|set| {
        set.replace(
            "metadata:\n",
            "metadata:\n  annotations: {fn.kpt.dev/allow-empty: \"true\"}\n",
        )
    });
    let argument = format!("{NONE}data: {{allowEmpty: \"true\"}}\n");
    for outcome in [run_with(NONE, &annotated), run_with(&argument, &files)] {
        assert!(!outcome.failed, "{:?}", outcome.results);
        assert_eq!(variants(&outcome).len(), 0);
    }
    // A word that is none.
    let outcome = run_with(&argument.replace("true", "yes"), &files);
    let all = errors(&outcome);
    assert!(
        all[0].contains("data.allowEmpty") && all[0].contains("(InvalidConfig)"),
        "{all:?}"
    );
    assert!(all[1].contains("(NoTargets)"), "{all:?}");
    // Nothing to lose: a warning, as ever.
    let empty: Vec<_> = files
        .into_iter()
        .filter(|(path, _)| !path.starts_with("example/"))
        .collect();
    let outcome = run_with(NONE, &empty);
    assert!(!outcome.failed && outcome.results[0].contains("(NoTargetSelected)"));
}

#[test]
fn variants_of_a_missing_set_are_a_warning() {
    let spec = format!("{UPSTREAM}targets:\n- repositories: [{{name: cluster-01}}]\n");
    let mut files = expand(&spec).files;
    let own = "example/example-cluster-01-foo.yaml";
    let text = files
        .iter()
        .find(|(path, _)| path == own)
        .expect("made")
        .1
        .clone();
    let lost = text
        .replace("example-cluster", "gone-cluster")
        .replace(": example\n", ": gone\n");
    let far = lost.replace("namespace: default", "namespace: far");
    let old = lost.replace("gone", "old");
    files.extend(
        [("gone.yaml", lost), ("far.yaml", far), ("old.yaml", old)].map(|(p, t)| (p.to_owned(), t)),
    );
    // A set of another version is there, though it is not expanded: that is an error, which says how to convert it.
    files.push((
        "old-set.yaml".to_owned(),
        named_set("old", &spec).replace("v1alpha2", "v1alpha1"),
    ));
    let run_with = |config: &str, files: &[(String, String)]| {
        let files: Vec<_> = files
            .iter()
            .map(|(p, t)| (p.as_str(), t.as_str()))
            .collect();
        let outcome = on_package(&FUNCTION, config, &files).expect("no usage error");
        let unsupported = outcome.results.iter().filter(|line| {
            line.starts_with("[error] old-set.yaml") && line.contains("`repositorySelector`")
        });
        assert_eq!(outcome.failed, config == NONE, "{:?}", outcome.results);
        assert_eq!(unsupported.count(), usize::from(outcome.failed));
        let lost = outcome
            .results
            .iter()
            .filter(|line| line.contains("(OwnerNotFound)"));
        lost.map(|line| {
            line.split(": expected")
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .collect::<Vec<_>>()
    };
    let expected = [
        "[warning] gone.yaml: PackageVariant/default/gone-cluster-01-foo",
        "[warning] far.yaml: PackageVariant/far/gone-cluster-01-foo",
    ];
    let mut found = run_with(NONE, &files);
    found.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(found, expected);
    // The set as functionConfig says nothing of the others.
    assert_eq!(run_with(&set(&spec), &files), [] as [&str; 0]);
    // Not one set is left.
    files.retain(|(path, _)| path != "set.yaml");
    assert_eq!(run_with(NONE, &files).len(), 3);
}

#[test]
fn all_findings_are_reported_at_once() {
    // A bad template, a missing upstream, a missing Repository, a set that appears twice.
    let spec = "upstream: {repo: example-repo, package: gone, revision: v1}
targets:
- repositories: [{name: cluster-09}]
  template:
    labelExprs: [{key: a, valueExpr: nobody.name}]
- repositories: [{name: cluster-08}]
  template:
    labels: {a: b}
    labelExprs: [{key: a, value: x, valueExpr: repoDefault}]
- repositories: [{name: cluster-07}]
";
    let files = [
        ("a.yaml", named_set("a", spec)),
        ("b.yaml", named_set("a", spec)),
        (
            "c.yaml",
            named_set(
                "c",
                "upstream: {repo: example-repo, package: foo, revision: v1}\ntargets:\n- repositories: [{name: cluster-06}]\n",
            ),
        ),
        ("cluster.yaml", cluster()),
    ];
    let outcome = run(&files.each_ref().map(|(path, text)| (*path, text.as_str())));
    let all = errors(&outcome);
    for part in [
        "b.yaml: PackageVariantSet/default/a: the PackageVariantSet `a` appears twice, also in a.yaml (Ambiguous)",
        "labelExprs[0].valueExpr: ",
        "targets[1].template.labelExprs[0]",
        "package `gone`",
        "a Repository `cluster-09`",
        "a Repository `cluster-07`",
        "a Repository `cluster-06`",
    ] {
        assert!(
            all.iter().any(|error| error.contains(part)),
            "{part}: {all:#?}"
        );
    }
}

#[test]
fn a_wrong_value_hides_nothing_else_that_is_wrong() {
    let outcome = expand(
        "upstream: {repo: example-repo, package: foo, revision: v7}
targets:
- repositories: [{name: nope}]
  template: {adoptionPolicy: sometimes}
- repositories: [{name: \"\"}, {name: nada}]
- repositories: [{name: cluster-01}]
  template:
    deletionPolicy: never
    labelExprs: [{key: a, valueExpr: \"repository.labels['none']\"}]
    packageContext: {dataExprs: [{key: name, value: x}]}
",
    );
    let errors = errors(&outcome);
    let fields = [
        "spec.upstream:",
        "spec.targets[0].template.adoptionPolicy:",
        "spec.targets[0].repositories[0]: expected a Repository `nope`",
        "spec.targets[1].repositories[0].name:",
        "spec.targets[1].repositories[1]: expected a Repository `nada`",
        "spec.targets[2].template.deletionPolicy:",
        "spec.targets[2].template.labelExprs[0].valueExpr:",
        "spec.targets[2].template.packageContext.dataExprs[0].key: the key `name` is reserved",
    ];
    for field in fields {
        let found = errors.iter().filter(|error| error.contains(field)).count();
        assert_eq!(found, 1, "{field}: {errors:#?}");
    }
    assert_eq!(errors.len(), fields.len(), "{errors:#?}");
}
