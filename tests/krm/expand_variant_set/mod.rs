//! expand-variant-set: the document's examples and tables as data, each rule of the contract.

mod errors;
mod upkeep;

use expand_variant_set::FUNCTION;
use indoc::indoc;
use krm_core::resource_list::ResourceList;
use krm_core::results::Results;
use krm_yaml::{Document, ParseOptions, Tree, Value};

use crate::step::{Outcome, on_list, on_package};

/// No functionConfig: the items' own sets are expanded.
const NONE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: function-input\n";

/// The four repositories of the document's tables.
const REPOSITORIES: [(&str, &str); 4] = [
    ("cluster-01", "{region: useast1, env: prod, org: hr}"),
    ("cluster-02", "{region: uswest1, env: prod, org: finance}"),
    ("cluster-03", "{region: useast2, env: prod, org: hr}"),
    ("cluster-04", "{region: uswest1, env: prod, org: hr}"),
];

fn repository(name: &str, labels: &str) -> String {
    format!(
        "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: Repository\nmetadata:\n  namespace: default\n  name: {name}\n  labels: {labels}\n"
    )
}

fn revision(repo: &str, package: &str, revision: &str) -> String {
    format!(
        "apiVersion: porch.kpt.dev/v1alpha1\nkind: PackageRevision\nmetadata:\n  namespace: default\n  name: {repo}.{package}.{revision}\n  labels: {{tier: gold}}\nspec:\n  repository: {repo}\n  packageName: {package}\n  revision: {revision}\n  workspaceName: ws-{revision}\n"
    )
}

/// The cluster of the document's examples.
fn cluster() -> String {
    let repositories = REPOSITORIES.map(|(name, labels)| repository(name, labels));
    let revisions = [
        revision("example-repo", "foo", "v1"),
        revision("platform-catalog", "base-ns", "v1"),
    ];
    repositories
        .into_iter()
        .chain(revisions)
        .collect::<Vec<_>>()
        .join("---\n")
}

fn set(spec: &str) -> String {
    named_set("example", spec)
}

fn named_set(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: config.porch.kpt.dev/v1alpha2\nkind: PackageVariantSet\nmetadata:\n  namespace: default\n  name: {name}\nspec:\n{}",
        indented(spec, 2)
    )
}

fn indented(text: &str, by: usize) -> String {
    text.lines()
        .map(|line| format!("{:by$}{line}\n", ""))
        .collect()
}

const UPSTREAM: &str = "upstream: {repo: example-repo, package: foo, revision: v1}\n";

/// Runs it on a package; a second run must change no byte.
#[track_caller]
fn run(files: &[(&str, &str)]) -> Outcome {
    let outcome = on_package(&FUNCTION, NONE, files).expect("no usage error");
    if !outcome.failed {
        let after: Vec<(&str, &str)> = outcome
            .files
            .iter()
            .map(|(p, t)| (p.as_str(), t.as_str()))
            .collect();
        let again = on_package(&FUNCTION, NONE, &after).expect("no usage error");
        assert_eq!(again.files, outcome.files, "the second run");
    }
    outcome
}

/// Expands one set in the cluster of the document.
#[track_caller]
fn expand(spec: &str) -> Outcome {
    run(&[("set.yaml", &set(spec)), ("cluster.yaml", &cluster())])
}

fn value(text: &str) -> Value {
    let tree = Tree::parse(text, ParseOptions::default()).expect("YAML");
    let root = Document::new(text, &tree).root(0).expect("a document");
    root.value().expect("a value")
}

/// Path and value of the PackageVariants, by path.
fn variants(outcome: &Outcome) -> Vec<(String, Value)> {
    let files = outcome
        .files
        .iter()
        .filter(|(_, text)| text.contains("kind: PackageVariant\n"));
    files
        .map(|(path, text)| (path.clone(), value(text)))
        .collect()
}

fn specs(outcome: &Outcome) -> Vec<Value> {
    let spec = |(_, variant): (String, Value)| variant.get("spec").cloned().expect("a spec");
    variants(outcome).into_iter().map(spec).collect()
}

/// Repository and package of each variant.
fn downstreams(outcome: &Outcome) -> Vec<String> {
    let text = |spec: &Value, field: &str| {
        let field = spec
            .get("downstream")
            .and_then(|d| d.get(field))
            .and_then(Value::as_str);
        field.expect("a downstream").to_owned()
    };
    let specs = specs(outcome);
    specs
        .iter()
        .map(|spec| format!("{} | {}", text(spec, "repo"), text(spec, "package")))
        .collect()
}

#[track_caller]
fn errors(outcome: &Outcome) -> Vec<&str> {
    assert!(outcome.failed, "{:?}", outcome.results);
    let results = outcome.results.iter().map(String::as_str);
    results.filter(|line| line.starts_with("[error]")).collect()
}

/// One error, that has all of these words.
#[track_caller]
fn fails(spec: &str, words: &[&str]) {
    let outcome = expand(spec);
    let errors = errors(&outcome);
    let has = |error: &&&str| words.iter().all(|word| error.contains(word));
    assert!(
        errors.iter().any(|error| has(&error)),
        "expected {words:?}, found {errors:#?}"
    );
    assert!(variants(&outcome).is_empty());
    assert_eq!(outcome.file("set.yaml"), set(spec), "nothing is written");
    let stalled = outcome
        .results
        .iter()
        .any(|line| line.contains("Stalled is True"));
    assert!(stalled, "{:?}", outcome.results);
}

// The examples of the document.

#[test]
fn the_list_of_repositories_and_package_names() {
    let outcome = expand(indoc! {"
            upstream:
              repo: example-repo
              package: foo
              revision: v1
            targets:
            - repositories:
              - name: cluster-01
              - name: cluster-02
              - name: cluster-03
                packageNames:
                - foo-a
                - foo-b
                - foo-c
              - name: cluster-04
                packageNames:
                - foo-a
                - foo-b
        "});
    let expected = [
        "cluster-01 | foo",
        "cluster-02 | foo",
        "cluster-03 | foo-a",
        "cluster-03 | foo-b",
        "cluster-03 | foo-c",
        "cluster-04 | foo-a",
        "cluster-04 | foo-b",
    ];
    assert_eq!(downstreams(&outcome), expected);
    for spec in specs(&outcome) {
        let upstream = value("{repo: example-repo, package: foo, revision: v1}");
        assert_eq!(spec.get("upstream"), Some(&upstream));
    }
}

#[test]
fn the_repository_selectors() {
    let outcome = expand(indoc! {"
            upstream:
              repo: example-repo
              package: foo
              revision: v1
            targets:
            - repositorySelector:
                matchLabels:
                  env: prod
                  org: hr
            - repositorySelector:
                matchLabels:
                  region: uswest1
              packageNames:
              - foo-a
              - foo-b
              - foo-c
        "});
    let mut expected = [
        "cluster-01 | foo",
        "cluster-03 | foo",
        "cluster-04 | foo",
        "cluster-02 | foo-a",
        "cluster-02 | foo-b",
        "cluster-02 | foo-c",
        "cluster-04 | foo-a",
        "cluster-04 | foo-b",
        "cluster-04 | foo-c",
    ];
    expected.sort_unstable();
    let mut found = downstreams(&outcome);
    found.sort_unstable();
    assert_eq!(found, expected);
}

/// The document's PackageVariants must come out but for their names.
#[track_caller]
fn assert_document(outcome: &Outcome, expected: &[&str]) {
    let found = variants(outcome);
    assert_eq!(found.len(), expected.len());
    for ((path, found), expected) in found.iter().zip(expected) {
        let expected = value(expected);
        for field in ["apiVersion", "kind", "spec"] {
            assert_eq!(found.get(field), expected.get(field), "{path}: {field}");
        }
        let namespace = |v: &Value| v.get("metadata").and_then(|m| m.get("namespace")).cloned();
        assert_eq!(namespace(found), namespace(&expected), "{path}");
    }
}

#[test]
fn base_ns_with_labels() {
    let plain = indoc! {"
        upstream:
          repo: platform-catalog
          package: base-ns
          revision: v1
        targets:
        - repositories:
          - name: cluster-01
            packageNames:
            - ns-1
            - ns-2
            - ns-3
    "};
    let variant = |package: &str, labels: &str| {
        format!(
            "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata:\n  namespace: default\n  name: example-aaaa\nspec:\n  upstream:\n    repo: platform-catalog\n    package: base-ns\n    revision: v1\n  downstream:\n    repo: cluster-01\n    package: {package}\n{labels}"
        )
    };
    let expected = ["ns-1", "ns-2", "ns-3"].map(|package| variant(package, ""));
    assert_document(&expand(plain), &expected.each_ref().map(String::as_str));
    let labels = "  labels:\n    package-type: namespace\n    org: hr\n";
    let template = "  template:\n    labels:\n      package-type: namespace\n      org: hr\n";
    let expected = ["ns-1", "ns-2", "ns-3"].map(|package| variant(package, labels));
    let outcome = expand(&format!("{plain}{template}"));
    assert_document(&outcome, &expected.each_ref().map(String::as_str));
}

#[test]
fn region_endpoints_in_the_documents_own_spelling() {
    let outcome = expand(indoc! {r#"
            upstream:
              repo: example-repo
              package: foo
              revision: v1
            targets:
            - repositorySelector:
                matchLabels:
                  env: prod
                  org: hr
              template:
                labelExprs:
                  key: org
                  valueExpr: "repository.labels['org']"
                injectorExprs:
                  - nameExpr: "repository.labels['region'] + '-endpoints'"
        "#});
    // The document writes `injectors` as a map; the API type is a list.
    let expected = [("cluster-01", "useast1"), ("cluster-03", "useast2"), ("cluster-04", "uswest1")].map(
        |(repo, region)| {
            format!("apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata:\n  namespace: default\n  name: example-aaaa\nspec:\n  upstream:\n    repo: example-repo\n    package: foo\n    revision: v1\n  downstream:\n    repo: {repo}\n    package: foo\n  labels:\n    org: hr\n  injectors:\n  - name: {region}-endpoints\n")
        },
    );
    assert_document(&outcome, &expected.each_ref().map(String::as_str));
}

#[test]
fn the_object_selector() {
    let team = |name: &str, role: &str| {
        format!(
            "apiVersion: krm-platform.bigco.com/v1\nkind: Team\nmetadata:\n  namespace: default\n  name: {name}\n  labels: {{org: hr, role: {role}}}\n  annotations: {{cluster: cluster-01}}\n"
        )
    };
    let teams = [
        team("dev-1", "dev"),
        team("dev-2", "dev"),
        team("ops", "ops"),
    ]
    .join("---\n");
    let spec = format!(
        "{UPSTREAM}targets:\n- objectSelector:\n    apiVersion: krm-platform.bigco.com/v1\n    kind: Team\n    matchLabels:\n      org: hr\n      role: dev\n"
    );
    let with = |template: &str| {
        let set = set(&format!("{spec}{template}"));
        run(&[
            ("cluster.yaml", &cluster()),
            ("set.yaml", &set),
            ("teams.yaml", &teams),
        ])
    };
    // The repository has the object's name by default.
    let outcome = with("");
    assert_eq!(errors(&outcome).len(), 2);
    assert!(errors(&outcome)[0].contains("spec.targets[0]: expected a Repository `dev-1`"));
    let outcome = with(
        "  template:\n    downstream:\n      repoExpr: target.annotations.cluster\n      packageExpr: packageDefault + '-' + target.name\n",
    );
    assert_eq!(
        downstreams(&outcome),
        ["cluster-01 | foo-dev-1", "cluster-01 | foo-dev-2"]
    );
    let named = spec.replace("    kind: Team\n", "    kind: Team\n    name: dev-2\n");
    let set = set(&format!(
        "{named}  template:\n    downstream:\n      repo: cluster-02\n"
    ));
    let outcome = run(&[
        ("cluster.yaml", &cluster()),
        ("set.yaml", &set),
        ("teams.yaml", &teams),
    ]);
    assert_eq!(downstreams(&outcome), ["cluster-02 | foo"]);
}

#[test]
fn the_whole_template() {
    let outcome = expand(&format!(
        r#"{UPSTREAM}targets:
- repositorySelector:
    matchExpressions:
    - {{key: region, operator: In, values: [useast1]}}
    - {{key: env, operator: NotIn, values: [dev]}}
    - {{key: org, operator: Exists}}
    - {{key: zone, operator: DoesNotExist}}
  template:
    downstream:
      packageExpr: "packageDefault + '-' + repository.labels.env"
    adoptionPolicy: adoptExisting
    deletionPolicy: orphan
    labels: {{b: plain, a: plain}}
    labelExprs:
    - {{key: a, valueExpr: "repoDefault"}}
    - {{keyExpr: "'k-' + target.name", value: fixed}}
    annotations: {{x: plain}}
    annotationExprs:
    - {{keyExpr: "'y'", valueExpr: "upstream.name"}}
    packageContext:
      data: {{site: "042"}}
      removeKeys: [old]
      dataExprs:
      - {{key: region, valueExpr: "repository.labels.region"}}
      removeKeyExprs:
      - "'was-' + repoDefault"
    pipeline:
      validators:
      - exec: ./check --strict
        selectors: [{{kind: Deployment}}]
      mutators:
      - image: set-namespace:v0.1
        name: ns
        configMap: {{namespace: plain, other: "1"}}
        configMapExprs:
        - {{key: namespace, valueExpr: "packageDefault"}}
      - image: set-labels:v0.1
        configMapExprs:
          key: tier
          valueExpr: upstream.labels.tier
    injectors:
    - {{group: g.example.com, version: v1, kind: K, name: fixed}}
    - {{nameExpr: "repository.labels.region"}}
"#
    ));
    let expected = value(
        r#"
upstream: {repo: example-repo, package: foo, revision: v1}
downstream: {repo: cluster-01, package: foo-prod}
adoptionPolicy: adoptExisting
deletionPolicy: orphan
labels: {b: plain, a: cluster-01, k-cluster-01: fixed}
annotations: {x: plain, "y": example-repo.foo.v1}
packageContext:
  data: {site: "042", region: useast1}
  removeKeys: [old, was-cluster-01]
pipeline:
  validators:
  - exec: ./check --strict
    selectors: [{kind: Deployment}]
  mutators:
  - {image: "set-namespace:v0.1", name: ns, configMap: {namespace: foo, other: "1"}}
  - {image: "set-labels:v0.1", configMap: {tier: gold}}
injectors:
- {group: g.example.com, version: v1, kind: K, name: fixed}
- {name: useast1}
"#,
    );
    assert_eq!(specs(&outcome), [expected], "{:?}", outcome.results);
}

// Where results go, and what they are called.

#[test]
fn revisions_are_compared_by_number_and_written_as_given() {
    let files = |given: &str| {
        set(&format!(
            "upstream: {{repo: r, package: p, revision: {given}}}\ntargets: [{{repositories: [{{name: cluster-01}}]}}]\n"
        ))
    };
    for (given, written) in [("1", "revision: 1\n"), ("\"1\"", "revision: \"1\"\n")] {
        for there in ["1", "\"1\"", "v1"] {
            let cluster = [
                cluster(),
                revision("r", "p", there)
                    .replace("ws-\"1\"", "ws-1")
                    .replace("r.p.\"1\"", "r.p.1"),
            ]
            .join("---\n");
            let outcome = run(&[("cluster.yaml", &cluster), ("set.yaml", &files(given))]);
            assert!(
                outcome
                    .file("example/example-cluster-01-p.yaml")
                    .contains(written),
                "{:?}",
                outcome.results
            );
        }
    }
    let by_workspace = "upstream: {repo: example-repo, package: foo, workspaceName: ws-v1, revision: \"\"}\ntargets: [{repositories: [{name: cluster-01}]}]\n";
    let upstream = value("{repo: example-repo, package: foo, workspaceName: ws-v1}");
    assert_eq!(
        specs(&expand(by_workspace))[0].get("upstream"),
        Some(&upstream)
    );
}

#[test]
fn a_set_without_a_revision_uses_the_branch_main() {
    let on_main = revision("r", "p", "-1").replace("ws--1", "main");
    let cluster = [cluster(), on_main, revision("r", "p", "v1")].join("---\n");
    for fields in ["", ", revision: -1", ", workspaceName: main"] {
        let set = set(&format!(
            "upstream: {{repo: r, package: p{fields}}}\ntargets:\n- repositories: [{{name: cluster-01}}]\n  \
             template: {{labelExprs: [{{key: from, valueExpr: upstream.name}}]}}\n"
        ));
        let outcome = run(&[("cluster.yaml", &cluster), ("set.yaml", &set)]);
        let spec = &specs(&outcome)[0];
        let labels = value("{from: r.p.-1}");
        assert_eq!(spec.get("labels"), Some(&labels), "{fields}");
    }
}

#[test]
fn the_latest_revision_is_the_highest_version() {
    let revisions = ["v1", "v10.0.0", "v11.0.0-rc.1", "v9"];
    let revisions = revisions.map(|name| revision("r", "p", name));
    let cluster = [cluster(), revisions.join("---\n")].join("---\n");
    let set = set(
        "upstream: {repo: r, package: p, revision: latest}\ntargets:\n- repositories: [{name: cluster-01}]\n  \
         template: {labelExprs: [{key: from, valueExpr: upstream.name}]}\n",
    );
    let outcome = run(&[("cluster.yaml", &cluster), ("set.yaml", &set)]);
    let spec = &specs(&outcome)[0];
    assert_eq!(spec.get("labels"), Some(&value("{from: r.p.v10.0.0}")));
    let upstream = value("{repo: r, package: p, revision: latest}");
    assert_eq!(spec.get("upstream"), Some(&upstream));
}

#[test]
fn sets_of_one_name_in_two_namespaces_are_two_sets() {
    let set = set(&format!(
        "{UPSTREAM}targets:\n- repositories: [{{name: cluster-01}}]\n"
    ));
    let far = |text: &str| text.replace("namespace: default", "namespace: far");
    let (cluster, far_cluster, far_set) = (cluster(), far(&cluster()), far(&set));
    let both = run(&[
        ("cluster.yaml", &cluster),
        ("far.yaml", &far_cluster),
        ("set.yaml", &set),
        ("far-set.yaml", &far_set),
    ]);
    let paths: Vec<String> = variants(&both).into_iter().map(|(path, _)| path).collect();
    assert_eq!(
        paths,
        [
            "default/example/example-cluster-01-foo.yaml",
            "far/example/example-cluster-01-foo.yaml"
        ],
        "{:?}",
        both.results
    );
    // The other namespace's PackageVariants are in the folder already.
    let first = run(&[("cluster.yaml", &cluster), ("set.yaml", &set)]);
    let own = "example/example-cluster-01-foo.yaml";
    let later = run(&[
        ("far.yaml", &far_cluster),
        ("far-set.yaml", &far_set),
        (own, first.file(own)),
    ]);
    assert_eq!(later.file(own), first.file(own));
    let made = later.file("far/example/example-cluster-01-foo.yaml");
    assert!(made.contains("namespace: far\n"), "{made}");
}

#[test]
fn removed_keys_are_sorted_and_keep_their_comments() {
    let outcome = expand(&format!(
        "{UPSTREAM}targets:\n- repositories: [{{name: cluster-01}}]\n  template:\n    packageContext:\n      removeKeys:\n      \
         # the last letter\n      - z\n      - a # the first\n      removeKeyExprs: [\"'m'\"]\n"
    ));
    let text = outcome.file("example/example-cluster-01-foo.yaml");
    let expected = "removeKeys:\n    - a # the first\n    - m\n    # the last letter\n    - z\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn too_many_variants_are_refused_before_they_are_created() {
    let repositories = (0..1000).map(|i| repository(&format!("c{i}"), "{}"));
    let cluster: Vec<String> = repositories.chain([cluster()]).collect();
    let names = |count: usize| {
        let names = (0..count).map(|i| format!("p{i}"));
        names.collect::<Vec<_>>().join(", ")
    };
    let selector = "targets:\n- repositorySelector: {}\n  packageNames: ";
    for (spec, place) in [
        // A selector and package names multiply.
        (
            format!("{UPSTREAM}{selector}[{}]\n", names(1000)),
            "spec.targets[0]",
        ),
        // A template can be large.
        (
            format!(
                "{UPSTREAM}{selector}[a]\n  template: {{annotations: {{a: {}}}}}\n",
                "x".repeat(60_000)
            ),
            "spec.targets[0].packageNames[0]",
        ),
    ] {
        let outcome = run(&[
            ("set.yaml", &set(&spec)),
            ("cluster.yaml", &cluster.join("---\n")),
        ]);
        let errors = errors(&outcome);
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(
            errors[0].contains("(TooManyTargets)") && errors[0].contains(place),
            "{errors:?}"
        );
        assert!(variants(&outcome).is_empty());
    }
    let outcome = run(&[
        (
            "set.yaml",
            &set(&format!("{UPSTREAM}{selector}[{}]\n", names(3))),
        ),
        ("cluster.yaml", &cluster.join("---\n")),
    ]);
    assert_eq!(variants(&outcome).len(), 3012);
}

#[test]
fn other_namespaces_do_not_count() {
    let elsewhere = cluster().replace("namespace: default", "namespace: elsewhere");
    let spec = format!("{UPSTREAM}targets:\n- repositorySelector: {{}}\n");
    let outcome = run(&[("cluster.yaml", &elsewhere), ("set.yaml", &set(&spec))]);
    assert!(errors(&outcome)[0].contains("(UpstreamNotFound)"));
    let none = cluster().replace("  namespace: default\n", "");
    let outcome = run(&[("cluster.yaml", &none), ("set.yaml", &set(&spec))]);
    assert_eq!(variants(&outcome).len(), 4);
}

#[test]
fn objects_without_namespace_are_targets_everywhere() {
    let spec = |api_version: &str, kind: &str| {
        let set = set(&format!(
            "{UPSTREAM}targets:\n- objectSelector: {{apiVersion: {api_version}, kind: {kind}}}\n  template: {{downstream: {{repo: cluster-01, packageExpr: \"'for-' + target.name + target.namespace\"}}}}\n"
        ));
        set.replace("namespace: default", "namespace: fleet")
    };
    let cluster = cluster().replace("namespace: default", "namespace: fleet");
    let object = |api_version: &str, kind: &str, name: &str| {
        format!("---\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}}}\n")
    };
    let definition = "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: sites.example.com}\nspec: {group: example.com, scope: Cluster, names: {kind: Site}}\n";
    for (api_version, kind, more, count) in [
        ("v1", "Namespace", "", 1),
        ("example.com/v1", "Site", definition, 1),
        // Nothing tells that this one has none.
        ("example.com/v1", "Site", "", 0),
    ] {
        let object = object(api_version, kind, "a");
        let outcome = run(&[
            ("cluster.yaml", &[&cluster, more, &object].concat()),
            ("set.yaml", &spec(api_version, kind)),
        ]);
        let expected = vec!["cluster-01 | for-a"; count];
        assert_eq!(downstreams(&outcome), expected, "{:?}", outcome.results);
    }
}

#[test]
fn a_failing_set_stops_all() {
    let good = named_set(
        "good",
        &format!("{UPSTREAM}targets:\n- repositories: [{{name: cluster-01}}]\n"),
    );
    let bad = named_set("bad", "upstream: {}\n");
    let outcome = run(&[
        ("a.yaml", &good),
        ("b.yaml", &bad),
        ("cluster.yaml", &cluster()),
    ]);
    assert!(outcome.failed && variants(&outcome).is_empty());
    let has = |words: [&str; 2]| {
        outcome
            .results
            .iter()
            .any(|l| words.iter().all(|w| l.contains(w)))
    };
    assert!(has(["default/good", "Stalled is False"]) && has(["default/good", "Ready is False"]));
    assert!(has(["default/bad", "Stalled is True"]));
}
