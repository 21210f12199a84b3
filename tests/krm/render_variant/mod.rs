//! render-variant: validation, clone, the order of the steps, conditions.

mod directories;
mod identities;
mod lists;
mod updates;

use expect_test::expect;
use indoc::indoc;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use krm_function::supplied::Role;
use proptest::prelude::*;
use render_variant::FUNCTION;

use crate::all_functions::binary;
use crate::step::{Outcome, on_list, on_package, on_package_with};

const VARIANT: &str = "\
apiVersion: config.porch.kpt.dev/v1alpha1
kind: PackageVariant
metadata:
  name: my-pv
spec:
  upstream:
    repo: blueprints
    package: app
    revision: v1
  downstream:
    repo: edge
    package: regions/edge-app
  packageContext:
    data:
      region: useast1 # where
  pipeline:
    mutators:
    - image: set-namespace:v0.1
      name: my-func
  injectors:
  - name: useast1-endpoints
";

const KPTFILE: &str = "\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: app # the blueprint
pipeline:
  mutators:
  - image: set-labels:v0.1 # upstream's
";
const POINT: &str = "\
# What the app talks to.
apiVersion: example.com/v1
kind: ServiceEndpoints
metadata:
  name: endpoints
  annotations:
    kpt.dev/config-injection: required
spec: {}
";
const SUPPLIED: &str = "\
apiVersion: example.com/v1
kind: ServiceEndpoints
metadata:
  name: useast1-endpoints
spec:
  dns: 10.0.0.1
";

/// A directory with these files.
fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (path, text) in files {
        let file = directory.path().join(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
        fs::write(file, text).expect("a file");
    }
    directory
}

/// Runs a process to its good end; what it wrote to standard output and standard error.
#[track_caller]
fn succeed(command: &mut Command) -> (String, String) {
    let output = command.output().expect("a run");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{stderr}");
    (stdout, stderr)
}

/// What can be the files of another run.
fn files_of(outcome: &Outcome) -> Vec<(&str, &str)> {
    let files = outcome.files.iter();
    let files = files.filter(|(path, _)| !path.ends_with(".md"));
    files.map(|(path, text)| (&**path, &**text)).collect()
}

/// A file that outlives the test.
fn directory_file(name: &str, text: &str) -> PathBuf {
    let path = directory(&[(name, text)]).keep();
    path.join(name)
}

fn upstream() -> tempfile::TempDir {
    directory(&[
        ("Kptfile", KPTFILE),
        ("points/endpoints.yaml", POINT),
        ("README.md", "# app\r\n"),
        (
            "two.yaml",
            indoc! {"
                apiVersion: v1
                kind: ConfigMap
                metadata:
                  name: a
                ---
                # second
                apiVersion: apps/v1
                kind: Deployment
                metadata:
                  name: b
                  namespace: n
                  annotations: {x: y}
            "},
        ),
        ("values.yaml", "a:   1\n"),
        (
            "sub/Kptfile",
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: sub\n",
        ),
    ])
}

fn clone(config: &str, files: &[(&str, &str)]) -> Outcome {
    let upstream = upstream();
    let resources = directory(&[("r.yaml", SUPPLIED)]);
    let flags = [
        (Role::Upstream, upstream.path().to_owned()),
        (Role::Resources, resources.path().to_owned()),
    ];
    on_package_with(&FUNCTION, config, files, &flags).expect("a valid config")
}

#[test]
fn clone_into_an_empty_package() {
    let outcome = clone(VARIANT, &[]);
    assert!(!outcome.failed, "{:?}", outcome.results);
    let paths: Vec<&str> = outcome.files.iter().map(|(path, _)| &**path).collect();
    let expected = [
        "Kptfile",
        "README.md",
        "package-context.yaml",
        "points/endpoints.yaml",
        "sub/Kptfile",
        "two.yaml",
        "values.yaml",
    ];
    assert_eq!(paths, expected);
    let kptfile = outcome.file("Kptfile");
    let head = "\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: edge-app # the blueprint
pipeline:
  mutators:
  - image: set-namespace:v0.1
    name: PackageVariant.my-pv.my-func.0
  - image: set-labels:v0.1 # upstream's
";
    assert!(kptfile.starts_with(head), "{kptfile}");
    assert!(
        kptfile.contains("config.injection.ServiceEndpoints.endpoints"),
        "{kptfile}"
    );
    expect![[r#"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: kptfile.kpt.dev
          annotations:
            config.kubernetes.io/local-config: "true"
        data:
          name: edge-app
          region: useast1 # where
    "#]]
    .assert_eq(outcome.file("package-context.yaml"));
    let point = outcome.file("points/endpoints.yaml");
    assert!(point.starts_with("# What the app talks to.\n"), "{point}");
    assert!(point.contains("spec:\n  dns: 10.0.0.1\n"), "{point}");
    assert!(
        point.contains(
            "internal.kpt.dev/upstream-identifier: 'example.com|ServiceEndpoints|default|endpoints'\n"
        ),
        "{point}"
    );
    expect![[r#"
        apiVersion: v1
        kind: ConfigMap
        metadata: # kpt-merge: /a
          name: a
          annotations:
            internal.kpt.dev/upstream-identifier: '|ConfigMap|default|a'
        ---
        # second
        apiVersion: apps/v1
        kind: Deployment
        metadata: # kpt-merge: n/b
          name: b
          namespace: n
          annotations: {x: y, internal.kpt.dev/upstream-identifier: 'apps|Deployment|n|b'}
    "#]]
    .assert_eq(outcome.file("two.yaml"));
    assert_eq!(outcome.file("README.md"), "# app\r\n");
    assert_eq!(outcome.file("values.yaml"), "a:   1\n");
    assert!(outcome.file("sub/Kptfile").ends_with("name: sub\n"));
    let conditions = [
        "[info] PackageVariant/my-pv: status.conditions: Stalled is False: all validation checks passed (Valid)",
        "[info] PackageVariant/my-pv: status.conditions: Ready is True: the package is rendered (NoErrors)",
    ];
    assert_eq!(outcome.results[outcome.results.len() - 2..], conditions);
}

#[test]
fn a_second_run_without_upstream_changes_nothing() {
    let first = clone(VARIANT, &[]);
    let files = files_of(&first);
    let resources = directory(&[("r.yaml", SUPPLIED)]);
    let flags = [(Role::Resources, resources.path().to_owned())];
    let second = on_package_with(&FUNCTION, VARIANT, &files, &flags).expect("a valid config");
    for (path, text) in files {
        assert_eq!(second.file(path), text, "{path}");
    }
    assert_eq!(second.results.len(), 2, "{:?}", second.results);
}

#[test]
fn upstreams_package_context_keeps_its_keys() {
    let upstream = directory(&[
        ("Kptfile", KPTFILE),
        (
            "package-context.yaml",
            indoc! {"
                apiVersion: v1
                kind: ConfigMap
                metadata:
                  name: kptfile.kpt.dev
                data:
                  tier: gold # kept
                  name: example # replaced
            "},
        ),
    ]);
    let flags = [(Role::Upstream, upstream.path().to_owned())];
    let outcome = on_package_with(&FUNCTION, VARIANT, &[], &flags).expect("a valid config");
    assert!(
        outcome.file("package-context.yaml").ends_with(
            "data:\n  tier: gold # kept\n  name: edge-app # replaced\n  region: useast1 # where\n"
        ),
        "{}",
        outcome.file("package-context.yaml")
    );
}

/// Each resource is named, and the reason is not that something is shared.
#[test]
fn metadata_of_upstream_that_is_not_a_mapping() {
    let wrong = |name: &str| format!("apiVersion: v1\nkind: {name}\nmetadata: foo\n");
    let (first, second) = (wrong("First"), wrong("Second"));
    let files = [
        ("Kptfile", KPTFILE),
        ("a.yaml", &*first),
        ("b.yaml", &*second),
    ];
    let upstream = directory(&files);
    let config: String = VARIANT.lines().map(|line| format!("  {line}\n")).collect();
    let list = format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n{config}items: []\n"
    );
    let mut command = assert_cmd::Command::new(binary("render-variant"));
    let output = command.arg("--upstream").arg(upstream.path());
    let output = output.write_stdin(list).output().expect("a run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for file in ["[error] a.yaml: First/: ", "[error] b.yaml: Second/: "] {
        let mut lines = said.lines().filter(|line| line.starts_with(file));
        let reason = "metadata: expected a mapping, found string (InvalidValue)";
        assert!(lines.any(|line| line.ends_with(reason)), "{said}");
    }
}

#[test]
fn an_existing_package_is_not_cloned_over() {
    let outcome = clone(VARIANT, &[("Kptfile", KPTFILE), ("values.yaml", "b: 2\n")]);
    assert!(outcome.failed);
    assert_eq!(outcome.file("Kptfile"), KPTFILE);
    // One cause, one error, which says what to do.
    let [error, stalled, ready] = outcome.results.as_slice() else {
        panic!("{:?}", outcome.results);
    };
    for part in [
        "found 1 resources",
        "`original`",
        "leave out `upstream`",
        "(PackageNotEmpty)",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(stalled.contains("Stalled is True") && ready.contains("Ready is False"));
}

#[test]
fn a_package_revision_of_something_else_is_refused() {
    let upstream = |spec: &str| {
        format!(
            "apiVersion: porch.kpt.dev/v1alpha1\nkind: PackageRevisionResources\nmetadata:\n  name: blueprints.app.v1\nspec:\n  {spec}\n  resources:\n    Kptfile: |\n{}",
            KPTFILE
                .lines()
                .map(|line| format!("      {line}\n"))
                .collect::<String>()
        )
    };
    let run = |spec: &str| {
        let folder = directory(&[("r.yaml", &upstream(spec))]);
        let flags = [(Role::Upstream, folder.path().join("r.yaml"))];
        on_package_with(&FUNCTION, VARIANT, &[], &flags).expect("a valid config")
    };
    for (spec, field, parts) in [
        ("packageName: other", "package", ["`app`", "`other`"]),
        ("repository: theirs", "repo", ["`blueprints`", "`theirs`"]),
        ("revision: v2", "revision", ["`v1`", "`v2`"]),
        ("revision: 2", "revision", ["`v1`", "`2`"]),
    ] {
        let outcome = run(spec);
        assert!(outcome.failed, "{spec}");
        assert_eq!(outcome.files, [], "{spec}");
        let [error, _, ready] = outcome.results.as_slice() else {
            panic!("{:?}", outcome.results);
        };
        assert!(
            error.contains(&format!("spec.upstream.{field}: ")),
            "{error}"
        );
        assert!(error.ends_with("(WrongUpstream)"), "{error}");
        for part in parts {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert!(ready.contains("Ready is False"));
    }
    // The revision that is wanted, and one that does not say what it is.
    for spec in [
        "packageName: app\n  repository: blueprints\n  revision: v1\n  workspaceName: ws",
        "revision: \"\"",
    ] {
        let outcome = run(spec);
        assert!(!outcome.failed, "{:?}", outcome.results);
        assert!(outcome.file("Kptfile").contains("name: edge-app"));
    }
}

#[test]
fn original_alone_is_wrong_usage() {
    let original = upstream();
    let flags = [(Role::Original, original.path().to_owned())];
    let files = [("Kptfile", KPTFILE)];
    let error = on_package_with(&FUNCTION, VARIANT, &files, &flags).expect_err("usage");
    assert!(error.to_string().starts_with("role `upstream`"), "{error}");
}

#[test]
fn one_failing_step_changes_nothing() {
    // The context is there; the pipeline cannot be edited.
    let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: app\npipeline: []\n";
    let context = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\n";
    let files = [("Kptfile", kptfile), ("package-context.yaml", context)];
    let outcome = on_package(&FUNCTION, VARIANT, &files).expect("a valid config");
    assert_eq!(
        outcome.results,
        [
            "[error] Kptfile:5: Kptfile/app: pipeline: expected a mapping, found a sequence (InvalidValue)",
            "[info] PackageVariant/my-pv: status.conditions: Stalled is True: a step failed; nothing is changed (Error)",
            "[info] PackageVariant/my-pv: status.conditions: Ready is False: a step failed; nothing is changed (Error)",
        ]
    );
    assert_eq!(outcome.file("package-context.yaml"), context);
}

#[test]
fn all_findings_of_a_validation_are_reported_at_once() {
    let config = "\
apiVersion: config.porch.kpt.dev/v1alpha1
kind: PackageVariant
metadata:
  annotations:
    fn.kpt.dev/on-conflict: mine
    fn.kpt.dev/strategy: fast-forward
spec:
  upstream:
    package: app
  downstream: {}
  adoptionPolicy: adoptAll
  deletionPolicy: keep
  packageContext:
    data: {name: x, region: y}
    removeKeys: [zone, package-path]
  pipeline:
    mutators: [{name: a.b}]
    validators: [{image: a, exec: b}]
  injectors:
  - name: x
  - kind: \"\"
";
    let outcome = on_package(&FUNCTION, config, &[]).expect("a readable config");
    let errors = outcome.results.iter().filter_map(|result| {
        let result = result.strip_prefix("[error] PackageVariant/: ")?;
        Some(result.split(": ").next().unwrap_or_default())
    });
    let expected = [
        "metadata.name",
        "spec.upstream.repo",
        "spec.downstream.repo",
        "spec.downstream.package",
        "spec.adoptionPolicy",
        "spec.deletionPolicy",
        "spec.packageContext.data.name",
        "spec.packageContext.removeKeys[1]",
        "spec.pipeline.mutators[0]",
        "spec.pipeline.mutators[0].name",
        "spec.pipeline.validators[0]",
        "spec.injectors[1].name",
        "spec.injectors[1].kind",
        "metadata.annotations[\"fn.kpt.dev/on-conflict\"]",
    ];
    assert_eq!(
        errors.collect::<Vec<_>>(),
        expected,
        "{:?}",
        outcome.results
    );
    assert!(
        outcome
            .results
            .iter()
            .any(|r| r.ends_with("(ValidationError)"))
    );
    let empty =
        "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata: {name: x}\n";
    let outcome = on_package(&FUNCTION, empty, &[]).expect("a readable config");
    assert!(
        outcome.results[0].contains("spec.upstream: "),
        "{:?}",
        outcome.results
    );
    assert!(
        outcome.results[1].contains("spec.downstream: "),
        "{:?}",
        outcome.results
    );
}

#[test]
fn unreadable_input_is_wrong_usage() {
    let usage = |spec: &str| {
        let config = VARIANT.replace("spec:\n", &format!("spec:\n{spec}"));
        let error = on_package(&FUNCTION, &config, &[]).expect_err(spec);
        error.to_string()
    };
    let unknown = usage("  upstreams: {}\n");
    assert!(
        unknown.contains("spec.upstreams: unknown field"),
        "{unknown}"
    );
    let mistyped = usage("  labels: {a: 1}\n");
    assert!(
        mistyped.contains("spec.labels.a: expected a string, found number `1`"),
        "{mistyped}"
    );
    let injector = VARIANT.replace("  - name: useast1", "  - namespace: x\n    name: useast1");
    let error = on_package(&FUNCTION, &injector, &[])
        .expect_err("unknown")
        .to_string();
    assert!(
        error.contains("spec.injectors[0].namespace: unknown field"),
        "{error}"
    );
    let revision = VARIANT.replace("revision: v1", "revision: 1.5");
    let error = on_package(&FUNCTION, &revision, &[])
        .expect_err("mistyped")
        .to_string();
    assert!(
        error.contains("spec.upstream.revision: expected a string or an integer"),
        "{error}"
    );
    for fine in ["revision: 1", "revision: -1", "workspaceName: main"] {
        let config = VARIANT.replace("revision: v1", fine);
        let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n";
        let outcome = on_package(&FUNCTION, &config, &[("Kptfile", kptfile)]).expect(fine);
        assert!(
            outcome.results.iter().all(|r| !r.contains("spec.upstream")),
            "{fine}"
        );
    }
}

/// Resources of upstream's package in many spellings.
fn some_resources() -> impl Strategy<Value = Vec<(String, String)>> {
    let kinds = 0..4_u8;
    let styles = 0..4_u8;
    let one = (kinds, styles, any::<bool>(), 0..3_u8).prop_map(|(kind, style, point, head)| {
        let head = ["", "# head\n", "---\n"][usize::from(head)];
        let (api_version, kind, field) = [
            ("v1", "ConfigMap", "data"),
            ("example.com/v1", "ServiceEndpoints", "spec"),
            ("apps/v1", "Deployment", "spec"),
            ("v1", "Service", "spec"),
        ][usize::from(kind)];
        let point = point && kind != "Deployment";
        let annotations = match (point, style % 2) {
            (true, 0) => "  annotations: {kpt.dev/config-injection: 'required'} # a\n",
            (true, _) => "  annotations:\n    # why\n    kpt.dev/config-injection: optional\n",
            (false, 0) => "  annotations: {}\n",
            (false, _) => "",
        };
        let value = [
            format!("{field}: {{a: b}} # c\n"),
            format!("{field}:\n    a: 'b'   # c\n\n# foot\n"),
            format!("{field}:\n  a: |\n    text\n"),
            String::new(),
        ][usize::from(style)]
        .clone();
        format!("{head}apiVersion: {api_version}\nkind: {kind}\nmetadata: # m\n  name: NAME\n{annotations}{value}")
    });
    proptest::collection::vec(one, 0..5).prop_map(|texts| {
        let named = texts.into_iter().enumerate();
        named
            .map(|(i, text)| (format!("r{i}.yaml"), text.replace("NAME", &format!("n{i}"))))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Made once, the variant stays: without upstream, and with an upstream that did not change.
    #[test]
    fn twice_is_once(
        resources in some_resources(),
        kptfile in 0..4_usize,
        context in 0..3_usize,
        functions in 0..3_usize,
        by_kind in any::<bool>(),
    ) {
        let kptfiles = [
            KPTFILE.to_owned(),
            format!("# head\n{KPTFILE}  validators: [] # none\ninfo:\n    readinessGates:\n    - conditionType: x # y\n"),
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: app}\npipeline: {mutators: [{image: a}]}\n".to_owned(),
            indoc! {"
                apiVersion: kpt.dev/v1
                kind: Kptfile
                metadata:
                  name: app
                status:
                  conditions: [] # none
            "}.to_owned(),
        ];
        let contexts = [
            "",
            indoc! {"
                apiVersion: v1
                kind: ConfigMap
                metadata:
                  name: kptfile.kpt.dev
                data:
                  name: app # kpt
                  old: x
            "},
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kptfile.kpt.dev}\ndata: {name: app, region: 'x'}\n",
        ];
        let mut files = resources;
        files.push(("Kptfile".to_owned(), kptfiles[kptfile].clone()));
        files.push(("README.md".to_owned(), "# read me".to_owned()));
        if context > 0 {
            files.push(("package-context.yaml".to_owned(), contexts[context].to_owned()));
        }
        let pipelines = [
            "    mutators:\n    - image: set-namespace:v0.1 # tail\n      name: my-func\n",
            "    mutators: [{image: a, configMap: {b: c}}]\n    validators:\n    # v\n    - exec: v\n",
            "    {}\n",
        ];
        let injector = if by_kind { "{kind: ServiceEndpoints, name: useast1-endpoints}" } else { "{name: useast1-endpoints}" };
        let (head, _) = VARIANT.split_once("  pipeline:").expect("a pipeline");
        let config = format!("{head}    removeKeys: [old]\n  pipeline:\n{}  injectors: [{injector}]\n", pipelines[functions]);
        let pairs: Vec<(&str, &str)> = files.iter().map(|(p, t)| (&**p, &**t)).collect();
        let upstream = directory(&pairs);
        let resources = directory(&[("r.yaml", SUPPLIED)]);
        let flags = [
            (Role::Resources, resources.path().to_owned()),
            (Role::Upstream, upstream.path().to_owned()),
            (Role::Original, upstream.path().to_owned()),
        ];
        let made = on_package_with(&FUNCTION, &config, &[], &flags[..2]).expect("a valid config");
        prop_assert!(!made.failed, "{:?}", made.results);
        let local = directory(&made.files.iter().map(|(p, t)| (&**p, &**t)).collect::<Vec<_>>());
        let local: Vec<(String, String)> = made.files.iter().map(|(p, _)| {
            (p.clone(), fs::read_to_string(local.path().join(p)).expect("a file"))
        }).collect();
        let krm: Vec<(&str, &str)> = local.iter().filter(|(p, _)| p != "README.md").map(|(p, t)| (&**p, &**t)).collect();
        for flags in [&flags[..1], &flags[..]] {
            let again = on_package_with(&FUNCTION, &config, &krm, flags).expect("a valid config");
            prop_assert!(!again.failed, "{:?}", again.results);
            for (path, text) in &krm {
                prop_assert_eq!(again.file(path), *text, "{}, {} inputs", path, flags.len());
            }
        }
    }
}
