//! prepend-pipeline: the document's example, whose functions are whose, what stays.

use prepend_pipeline::FUNCTION;
use proptest::prelude::*;

use crate::step::{on_list, on_package};

/// A PackageVariant of this name with a pipeline, given as indented by two columns below `spec`.
fn variant(name: &str, pipeline: &str) -> String {
    format!(
        "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata:\n  name: {name}\nspec:\n  pipeline:{pipeline}"
    )
}

fn kptfile(rest: &str) -> String {
    format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: example\n{rest}")
}

/// Given a Kptfile and a config, this Kptfile comes out, also by a second run.
#[track_caller]
fn check(before: &str, config: &str, after: &str) {
    let (before, after) = (kptfile(before), kptfile(after));
    let outcome = on_package(&FUNCTION, config, &[("Kptfile", &before)]).expect("a valid config");
    assert_eq!(outcome.file("Kptfile"), after, "{:?}", outcome.results);
    assert!(!outcome.failed);
    assert_eq!(
        outcome.results.is_empty(),
        before == after,
        "{:?}",
        outcome.results
    );
    let again = on_package(&FUNCTION, config, &[("Kptfile", &after)]).expect("a valid config");
    assert_eq!(again.file("Kptfile"), after, "the second run");
    assert_eq!(again.results, Vec::<String>::new(), "the second run");
}

/// The results of a run that fails, and that it left the Kptfile alone.
#[track_caller]
fn refused(before: &str, config: &str) -> Vec<String> {
    let before = kptfile(before);
    let outcome =
        on_package(&FUNCTION, config, &[("Kptfile", &before)]).expect("a readable config");
    assert!(outcome.failed, "{:?}", outcome.results);
    assert_eq!(outcome.file("Kptfile"), before);
    outcome.results
}

const DOCUMENT: &str = "
    mutators:
    - image: gcr.io/kpt-fn/set-namespace:v0.1
      configMap:
        namespace: my-ns
      name: my-func
    - image: gcr.io/kpt-fn/set-labels:v0.1
      configMap:
        app: foo
";

const DOCUMENT_RESULT: &str = "\
pipeline:
  mutators:
  - image: gcr.io/kpt-fn/set-namespace:v0.1
    configMap:
      namespace: my-ns
    name: PackageVariant.my-pv.my-func.0
  - image: gcr.io/kpt-fn/set-labels:v0.1
    configMap:
      app: foo
    name: PackageVariant.my-pv..1
";

#[test]
fn the_example_of_the_document() {
    let config = variant("my-pv", DOCUMENT);
    check("", &config, DOCUMENT_RESULT);
    check("pipeline: {}\n", &config, DOCUMENT_RESULT);
    check("pipeline:\n", &config, DOCUMENT_RESULT);
    check("pipeline:\n  mutators: []\n", &config, DOCUMENT_RESULT);
    let typed = format!(
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: PrependPipeline\nmetadata:\n  name: my-pv\npipeline:{DOCUMENT}"
    );
    check("", &typed, DOCUMENT_RESULT);
}

#[test]
fn functions_of_others_stay_behind_with_their_bytes() {
    let others = "  # ours first
  - image: \"apply-replacements:v0.1.1\"   # pinned
    configPath: 'a.yaml'

  # set off
  - {image: x, name: PackageVariant.other..0}
  validators:
  - image: kubeconform # last
info:
  description: d
";
    let before = format!("pipeline:\n  mutators:\n{others}");
    let after = format!("{DOCUMENT_RESULT}{others}");
    check(&before, &variant("my-pv", DOCUMENT), &after);
}

#[test]
fn both_lists_and_all_fields_of_a_function_are_prepended() {
    let config = variant(
        "v",
        "
    mutators:
    # before the first
    - exec: ./fn --flag # how
      name: \"one\" # who
      selectors:
      - kind: Deployment
        # which
        name: web
      exclude: [{kind: Secret}]
      tags: [a, 'b']
      futureField: {x: 0x10}
    validators:
    # before the validator
    - image: kubeconform
      configPath: sub/fn.yaml
",
    );
    check(
        "pipeline:\n  mutators:\n  - image: a\n",
        &config,
        "pipeline:
  mutators:
  # before the first
  - exec: ./fn --flag # how
    name: \"PackageVariant.v.one.0\" # who
    selectors:
    - kind: Deployment
      # which
      name: web
    exclude: [{kind: Secret}]
    tags: [a, 'b']
    futureField: {x: 0x10}
  - image: a
  validators:
  # before the validator
  - image: kubeconform
    configPath: sub/fn.yaml
    name: PackageVariant.v..0
",
    );
}

#[test]
fn removed_and_added_again() {
    // One function more in front, one changed, one that stays as it is written.
    let before = "pipeline:
  mutators:
  - image: other # stays
  # an old one, not first any more
  - image: a
    name: PackageVariant.v.f.0
  - name: PackageVariant.v.g.1 # kept as it is written
    image: 'b'
  - image: c
    name: PackageVariant.v..2
";
    let config = variant(
        "v",
        "\n    mutators:\n    - {image: new, name: f}\n    - {image: b, name: g}\n",
    );
    let after = "pipeline:
  mutators:
  - {image: new, name: PackageVariant.v.f.0}
  - name: PackageVariant.v.g.1 # kept as it is written
    image: 'b'
  - image: other # stays
";
    check(before, &config, after);
}

#[test]
fn chains_of_variants() {
    let first = "pipeline:
  mutators:
  - image: a
    name: PackageVariant.first..0
  - image: own
";
    let both = "pipeline:
  mutators:
  - image: b
    name: PackageVariant.second..0
  - image: a
    name: PackageVariant.first..0
  - image: own
";
    let a = variant("first", "\n    mutators:\n    - image: a\n");
    let b = variant("second", "\n    mutators:\n    - image: b\n");
    check("pipeline:\n  mutators:\n  - image: own\n", &a, first);
    check(first, &b, both);
    // Always at the beginning: the one that runs last stands first.
    let swapped = "pipeline:
  mutators:
  - image: a
    name: PackageVariant.first..0
  - image: b
    name: PackageVariant.second..0
  - image: own
";
    check(both, &a, swapped);
    check(both, &variant("second", " {}\n"), first);
}

#[test]
fn names_with_dots_own_exactly_their_functions() {
    let all = [
        ("a", "PackageVariant.a..0"),
        ("a", "PackageVariant.a.f.12"),
        ("a.b", "PackageVariant.a.b..0"),
        ("a.b", "PackageVariant.a.b.f.0"),
        ("a.0", "PackageVariant.a.0.0.0"),
        ("a.b.f", "PackageVariant.a.b.f..0"),
        ("", "PackageVariant.a.0"),
        ("", "PackageVariant.a..x"),
        ("", "PackageVariant.a.f."),
        ("", "PackageVariant.a"),
        ("", "PackageVariant.ab.f.0x"),
        ("", "packageVariant.a.f.0"),
        ("", "a.f.0"),
    ];
    let list = |keep: &dyn Fn(&str) -> bool| {
        let kept = all.iter().filter(|(owner, _)| keep(owner));
        let items: String = kept
            .map(|(_, name)| format!("  - image: i\n    name: {name}\n"))
            .collect();
        format!("pipeline:\n  mutators:\n{items}")
    };
    for name in ["a", "a.b", "a.0", "a.b.f", "b"] {
        check(
            &list(&|_| true),
            &variant(name, " {}\n"),
            &list(&|owner| owner != name),
        );
    }
}

#[test]
fn withdrawing() {
    let ours = "  - image: a\n    name: PackageVariant.v..0\n";
    let none = variant("v", " {}\n");
    check(
        &format!("info: {{}}\npipeline:\n  mutators:\n{ours}"),
        &none,
        "info: {}\n",
    );
    check(
        &format!("pipeline:\n  mutators:\n{ours}  validators:\n{ours}info: {{}}\n"),
        &none,
        "info: {}\n",
    );
    // Lists that were empty before stay.
    check(
        &format!("pipeline:\n  mutators:\n{ours}  validators: []\n"),
        &none,
        "pipeline:\n  validators: []\n",
    );
    check("pipeline: {}\n", &none, "pipeline: {}\n");
    check(
        "pipeline:\n  mutators: []\n",
        &none,
        "pipeline:\n  mutators: []\n",
    );
    check("", &none, "");
    // A PackageVariant without a pipeline wants no functions.
    let absent = "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata:\n  name: v\nspec: {}\n";
    check(&format!("pipeline:\n  validators:\n{ours}"), absent, "");
}

#[test]
fn line_endings_indentation_and_flow_style_of_the_kptfile_are_kept() {
    let config = variant("v", "\n    mutators:\n    - image: a\n");
    let crlf = |text: &str| kptfile(text).replace('\n', "\r\n");
    let before = crlf("pipeline:\n    mutators:\n      - image: b\n");
    let outcome = on_package(&FUNCTION, &config, &[("Kptfile", &before)]).expect("a valid config");
    let after = crlf(
        "pipeline:\n    mutators:\n      - image: a\n        name: PackageVariant.v..0\n      - image: b\n",
    );
    assert_eq!(outcome.file("Kptfile"), after);
    check(
        "pipeline: {mutators: [{image: b}]}\n",
        &config,
        "pipeline: {mutators: [{image: a, name: PackageVariant.v..0}, {image: b}]}\n",
    );
}

#[test]
fn only_the_root_kptfile_is_edited() {
    let text = kptfile("");
    let files = [("Kptfile", &*text), ("sub/Kptfile", &text)];
    let outcome = on_package(&FUNCTION, &variant("v", DOCUMENT), &files).expect("a valid config");
    assert_ne!(outcome.file("Kptfile"), text);
    assert_eq!(outcome.file("sub/Kptfile"), text);
}

#[test]
fn all_findings_at_once() {
    let config = "apiVersion: config.porch.kpt.dev/v1alpha1
kind: PackageVariant
metadata: {}
spec:
  upstream: 5 # read by others
  pipeline:
    mutators:
    - {name: a.b}
    - {image: a, exec: b}
    validators:
    - {image: a, configPath: ../x, configMap: {a: b}}
    - {image: a, configRef: {name: c}, configMap: {a: b}}
    - {image: a, configRef: {name: c}, tag: 1.x, when: 'true', selectors: [{labels: {a: b}}]}
";
    let expected = [
        "[error] metadata.name: expected the name of the object, found none (InvalidConfig)",
        "[error] spec.pipeline.mutators[0]: expected `image` or `exec`, found neither (InvalidConfig)",
        "[error] spec.pipeline.mutators[0].name: expected a name without dots, since dots separate the parts of its name in the Kptfile, found `a.b` (InvalidConfig)",
        "[error] spec.pipeline.mutators[1]: expected `image` or `exec`, found both (InvalidConfig)",
        "[error] spec.pipeline.validators[0]: expected one of `configMap`, `configPath` and `configRef`, found `configMap` and `configPath` (InvalidConfig)",
        "[error] spec.pipeline.validators[0].configPath: path '../x' has a '..' component; expected a path that stays inside the package (InvalidPath)",
        "[error] spec.pipeline.validators[1]: expected one of `configMap`, `configPath` and `configRef`, found `configMap` and `configRef` (InvalidConfig)",
    ];
    assert_eq!(refused("", config), expected);
    let absent = "apiVersion: fn.kpt.dev/v1alpha1\nkind: PrependPipeline\nmetadata:\n  name: v\n";
    let expected = "[error] pipeline: expected a pipeline, found none (`pipeline: {}` removes all functions) (InvalidConfig)";
    assert_eq!(refused("", absent), [expected]);
}

#[test]
fn configs_that_cannot_be_read() {
    let usage = |config: &str| {
        let text = kptfile("");
        let error = on_package(&FUNCTION, config, &[("Kptfile", &text)]).expect_err(config);
        error.to_string()
    };
    let typed = "apiVersion: fn.kpt.dev/v1alpha1\nkind: PrependPipeline\nmetadata:\n  name: v\n";
    assert_eq!(
        usage(&format!("{typed}pipeline: {{generators: []}}\n")),
        "functionConfig (PrependPipeline), line 5, column 12: pipeline.generators: unknown field `generators`, expected `mutators` or `validators`"
    );
    assert_eq!(
        usage(&variant("v", " {mutators: [{image: 5}]}\n")),
        "functionConfig (PackageVariant), line 6, column 26: spec.pipeline.mutators[0].image: expected a string, found number `5`; quote it"
    );
    assert!(
        usage(&variant("v", " {}\n  pipelines: {}\n")).contains("spec.pipelines: unknown field")
    );
    assert!(
        usage("apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n")
            .contains("expected a PrependPipeline")
    );
}

#[test]
fn kptfiles_that_cannot_be_edited() {
    let config = variant("v", DOCUMENT);
    assert_eq!(
        refused("pipeline: []\n", &config),
        [
            "[error] Kptfile:5: Kptfile/example: pipeline: expected a mapping, found a sequence (InvalidValue)"
        ]
    );
    assert_eq!(
        refused("pipeline:\n  validators: {}\n", &config),
        [
            "[error] Kptfile:6: Kptfile/example: pipeline.validators: expected a sequence, found a mapping (InvalidValue)"
        ]
    );
    let other = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n";
    let outcome = on_package(&FUNCTION, &config, &[("x.yaml", other)]).expect("a valid config");
    assert_eq!(
        outcome.results,
        [
            "[error] expected a Kptfile to add functions to, found none; `kpt pkg init DIR` creates one (KptfileNotFound)"
        ]
    );
}

/// The Kptfile as kpt sends it, with these annotations and mutators.
fn resource_list(ids: &str, mutators: &str) -> String {
    format!(
        "apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: kpt.dev/v1
  kind: Kptfile
  metadata:
    name: example
    annotations:
      config.kubernetes.io/index: '0'
      config.kubernetes.io/path: 'Kptfile'
      internal.config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/path: 'Kptfile'
{ids}  pipeline:
    mutators:
{mutators}    validators:
    - image: kubeconform # a comment elsewhere
functionConfig: {{}}
"
    )
}

#[test]
fn ids_go_where_they_would_mislead_kpt() {
    let ids = "      internal.config.kubernetes.io/id: '1'\n      config.k8s.io/id: '1'\n";
    let ours = "    - image: a\n      name: PackageVariant.v..0\n";
    let config = variant("v", "\n    mutators:\n    - image: a # ours\n");
    for (mutators, stay) in [
        ("    - image: b\n", true),
        ("    - image: b # why\n", false),
        ("    # why\n    - image: b\n", false),
        ("    - image: b\n      # why\n      configMap: {}\n", false),
    ] {
        let before = resource_list(ids, mutators);
        let added = "    - image: a # ours\n      name: PackageVariant.v..0\n";
        let ids = if stay { ids } else { "" };
        let after = resource_list(ids, &format!("{added}{mutators}"));
        let outcome = on_list(&FUNCTION, &config, &before).expect("a valid config");
        assert_eq!(outcome.file("-"), after);
        let again = on_list(&FUNCTION, &config, &after).expect("a valid config");
        assert_eq!(again.file("-"), after);
    }
    // Nothing to do: they stay.
    let before = resource_list(ids, &format!("{ours}    - image: b # why\n"));
    let outcome = on_list(&FUNCTION, &config, &before).expect("a valid config");
    assert_eq!(outcome.file("-"), before);
}

/// Text of a list of functions: an image, perhaps a name, perhaps comments.
fn functions(names: &'static str) -> impl Strategy<Value = Vec<String>> {
    let function =
        (0..4u8, proptest::option::of(names), 0..4u8).prop_map(|(image, name, style)| {
            let name = name.map(|name| format!("name: {name}"));
            let image = format!("image: i{image}");
            match (style, name) {
                (0, Some(name)) => format!("- {{{image}, {name}}}\n"),
                (1, Some(name)) => format!("# above\n- {name} # behind\n  {image}\n"),
                (2, name) => format!(
                    "- {image} # behind\n  configMap:\n    # inside\n    a: \"b\"\n{}",
                    name.map(|name| format!("  {name}\n")).unwrap_or_default()
                ),
                (_, name) => format!(
                    "- {image}\n{}",
                    name.map(|name| format!("  {name}\n")).unwrap_or_default()
                ),
            }
        });
    proptest::collection::vec(function, 0..5)
}

fn list(name: &str, functions: &[String], indent: usize) -> String {
    if functions.is_empty() {
        return String::new();
    }
    let lines: String = functions
        .concat()
        .lines()
        .map(|line| format!("{:indent$}{line}\n", ""))
        .collect();
    format!("{:indent$}{name}:\n{lines}", "")
}

fn pipeline(mutators: &[String], validators: &[String], indent: usize) -> String {
    let lists = list("mutators", mutators, indent) + &list("validators", validators, indent);
    if lists.is_empty() {
        " {}\n".to_owned()
    } else {
        format!("\n{lists}")
    }
}

proptest! {
    #[test]
    fn a_second_run_changes_nothing_and_other_files_keep_their_bytes(
        mutators in functions("[fg]"),
        validators in functions("[fg]"),
        there in functions("(x|PackageVariant\\.(v|w|v\\.w)\\.[fg]?\\.[0-2])"),
        also in functions("(x|PackageVariant\\.(v|w|v\\.w)\\.[fg]?\\.[0-2])"),
    ) {
        let config = variant("v", &pipeline(&mutators, &validators, 4));
        let before = kptfile(&format!("pipeline:{}", pipeline(&there, &also, 2)));
        let once = on_package(&FUNCTION, &config, &[("Kptfile", &before)]).expect("a valid config");
        prop_assert!(!once.failed, "{:?}", once.results);
        let after = once.file("Kptfile");
        let twice = on_package(&FUNCTION, &config, &[("Kptfile", after)]).expect("a valid config");
        prop_assert_eq!(twice.file("Kptfile"), after);
        prop_assert_eq!(twice.results, Vec::<String>::new());
        for other in there.iter().chain(&also).filter(|f| !f.contains("PackageVariant.v.f") && !f.contains("PackageVariant.v.g") && !f.contains("PackageVariant.v..")) {
            let lines: String = other.lines().map(|line| format!("  {line}\n")).collect();
            prop_assert!(after.contains(&lines), "lost:\n{}in:\n{}", lines, after);
        }
        // Put in and taken out again: what was there without ours.
        let none = variant("v", " {}\n");
        let withdrawn = on_package(&FUNCTION, &none, &[("Kptfile", after)]).expect("a valid config");
        let direct = on_package(&FUNCTION, &none, &[("Kptfile", &before)]).expect("a valid config");
        let ours_only = direct.file("Kptfile") == before && !before.contains("image");
        if !ours_only {
            prop_assert_eq!(withdrawn.file("Kptfile"), direct.file("Kptfile"));
        }
    }
}
