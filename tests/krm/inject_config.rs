//! inject-config: the documents' selector table, each rule of the protocol, what stays.

use std::path::Path;

use assert_cmd::Command;
use krm_variants::functions::inject_config::FUNCTION;
use proptest::prelude::*;

use crate::step::{Clock, Outcome, assert_linear, on_list, on_package};

const KPTFILE: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: example\n";

/// A config with injectors in flow style, and resources.
fn config(injectors: &str, resources: &[&str]) -> String {
    let mut text = format!(
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: InjectConfig\nmetadata:\n  name: example\ninjectors: {injectors}\n"
    );
    if !resources.is_empty() {
        text.push_str("resources:\n");
    }
    for resource in resources {
        for (index, line) in resource.lines().enumerate() {
            let mark = if index == 0 { "- " } else { "  " };
            text.push_str(&format!("{mark}{line}\n"));
        }
    }
    text
}

fn point(api_version: &str, kind: &str, name: &str, how: &str, field: &str) -> String {
    format!(
        "apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: {name}\n  annotations:\n    kpt.dev/config-injection: {how}\n{field}"
    )
}

fn resource(api_version: &str, kind: &str, name: &str, field: &str) -> String {
    format!("apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: {name}\n{field}")
}

/// Runs it on a package; a second run must change nothing and say nothing but warnings.
#[track_caller]
fn run(config: &str, files: &[(&str, &str)]) -> Outcome {
    let outcome = on_package(&FUNCTION, config, files).expect("a readable config");
    if !outcome.failed {
        let files: Vec<_> = outcome
            .files
            .iter()
            .map(|(p, t)| (p.as_str(), t.as_str()))
            .collect();
        let again = on_package(&FUNCTION, config, &files).expect("a readable config");
        assert_eq!(again.files, outcome.files, "the second run");
        let infos = again
            .results
            .iter()
            .filter(|line| line.starts_with("[info]"));
        assert_eq!(infos.count(), 0, "the second run: {:?}", again.results);
    }
    outcome
}

/// `status (reason)` of a condition.
fn condition(outcome: &Outcome, name: &str) -> String {
    let kptfile = outcome.file("Kptfile");
    let mut lines = kptfile.lines();
    let start = format!("- type: {name}");
    if !lines.any(|line| line.trim_start() == start) {
        return String::new();
    }
    let value = |line: &str| {
        line.split_once(": ")
            .map_or("", |(_, v)| v)
            .trim_matches('"')
            .to_owned()
    };
    let fields: Vec<_> = lines.take(2).map(value).collect();
    fields.join(" ")
}

fn warnings(outcome: &Outcome) -> Vec<&String> {
    outcome
        .results
        .iter()
        .filter(|line| line.starts_with("[warning]"))
        .collect()
}

/// A run that fails leaves everything as it was.
#[track_caller]
fn refused(config: &str, files: &[(&str, &str)]) -> Vec<String> {
    let outcome = on_package(&FUNCTION, config, files).expect("a readable config");
    assert!(outcome.failed, "{:?}", outcome.results);
    for (path, text) in files {
        assert_eq!(outcome.file(path), *text);
    }
    outcome.results
}

/// "A Further Note on Selectors": GVK1 foo, GVK1 bar, GVK2 foo, GVK2 bar.
#[test]
fn the_selector_table_of_the_document() {
    let cluster: Vec<String> = [
        ("GVK1", "foo"),
        ("GVK1", "bar"),
        ("GVK2", "foo"),
        ("GVK2", "bar"),
    ]
    .iter()
    .map(|(kind, name)| {
        let field = format!("spec:\n  from: {kind} {name}\n");
        resource("example.com/v1", kind, name, &field)
    })
    .collect();
    let cluster: Vec<&str> = cluster.iter().map(String::as_str).collect();
    let one = point("example.com/v1", "GVK1", "one", "required", "spec: {}\n");
    let two = point("example.com/v1", "GVK2", "two", "required", "spec: {}\n");
    for (injectors, expected) in [
        (
            "[{kind: GVK1, name: foo}, {kind: GVK2, name: bar}]",
            ["GVK1 foo", "GVK2 bar"],
        ),
        (
            "[{kind: GVK2, name: foo}, {kind: GVK1, name: bar}]",
            ["GVK1 bar", "GVK2 foo"],
        ),
        // One injector for several injection points.
        ("[{name: foo}]", ["GVK1 foo", "GVK2 foo"]),
        // The first that matches wins.
        ("[{name: bar}, {name: foo}]", ["GVK1 bar", "GVK2 bar"]),
        (
            "[{kind: GVK2, name: bar}, {name: foo}]",
            ["GVK1 foo", "GVK2 bar"],
        ),
        (
            "[{name: none}, {group: example.com, name: foo}]",
            ["GVK1 foo", "GVK2 foo"],
        ),
        (
            "[{group: example.com, version: v1, kind: GVK1, name: foo}]",
            ["GVK1 foo", ""],
        ),
        // What a selector gives must match the resource of the package too.
        (
            "[{version: v2, name: foo}, {group: other, name: foo}]",
            ["", ""],
        ),
        ("[{group: '', name: foo}]", ["", ""]),
        ("[]", ["", ""]),
    ] {
        let files = [("Kptfile", KPTFILE), ("one.yaml", &one), ("two.yaml", &two)];
        let outcome = run(&config(injectors, &cluster), &files);
        for (path, expected) in [("one.yaml", expected[0]), ("two.yaml", expected[1])] {
            let text = outcome.file(path);
            let tail = match expected {
                "" => "spec: {}\n".to_owned(),
                expected => format!("spec:\n  from: {expected}\n"),
            };
            assert!(text.ends_with(&tail), "{injectors}: {text}");
        }
    }
}

#[test]
fn conditions_and_gates_are_recorded() {
    let a = point("v1", "ConfigMap", "a", "required", "data: {x: \"1\"}\n");
    let b = point("example.com/v1", "B", "b", "optional", "spec:\n  x: 1\n");
    let c = point("example.com/v1", "C", "c", "required", "");
    let source = resource("v1", "ConfigMap", "s", "data:\n  y: \"2\"\nspec: no\n");
    let files = [
        ("Kptfile", KPTFILE),
        ("a.yaml", &*a),
        ("b.yaml", &b),
        ("c.yaml", &c),
    ];
    let outcome = run(&config("[{name: s}]", &[&source]), &files);
    assert_eq!(
        outcome.file("Kptfile"),
        format!(
            "{KPTFILE}info:
  readinessGates:
  - conditionType: config.injection.ConfigMap.a
  - conditionType: config.injection.C.c
status:
  conditions:
  - type: config.injection.ConfigMap.a
    status: \"True\"
    reason: ConfigInjected
    message: injected resource `s`
  - type: config.injection.B.b
    status: \"False\"
    reason: NoResourceSelected
    message: no resource of apiVersion `example.com/v1` and kind `B` is supplied in namespace `default`
  - type: config.injection.C.c
    status: \"False\"
    reason: NoResourceSelected
    message: no resource of apiVersion `example.com/v1` and kind `C` is supplied in namespace `default`
"
        )
    );
    assert_eq!(
        outcome.file("a.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n    kpt.dev/config-injection: required\n    kpt.dev/injected-resource-name: s\ndata:\n  y: \"2\"\n"
    );
    assert_eq!((outcome.file("b.yaml"), outcome.file("c.yaml")), (&*b, &*c));
    // A required point that is left unfilled is a warning.
    assert_eq!(
        warnings(&outcome),
        [
            "[warning] c.yaml: C/c: metadata.annotations[\"kpt.dev/config-injection\"]: no resource of apiVersion `example.com/v1` and kind `C` is supplied in namespace `default` (NoResourceSelected)"
        ]
    );
}

#[test]
fn gates_and_conditions_of_others_stay_with_their_comments() {
    let kptfile = "apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: example
info:
  readinessGates:
    # ours
    - conditionType: config.injection.B.b # set by hand on an optional point
    - conditionType: other # o
status:
  conditions:
    # of a point that is gone
    - type: config.injection.B.gone
      status: \"True\"
    # about b
    - message: old # m
      status: 'False' # s
      type: config.injection.B.b # t
      since: yesterday # kept
    # foot
# end
";
    let b = point("example.com/v1", "B", "b", "optional", "spec:\n  x: 1\n");
    let source = resource("example.com/v1", "B", "s", "spec: {y: 2}\n");
    let outcome = run(
        &config("[{name: s}]", &[&source]),
        &[("Kptfile", kptfile), ("b.yaml", &b)],
    );
    let expected = kptfile
        .replace("message: old # m", "message: injected resource `s` # m")
        .replace("status: 'False' # s", "status: 'True' # s")
        .replace("# kept\n", "# kept\n      reason: ConfigInjected\n");
    assert_eq!(outcome.file("Kptfile"), expected);
}

#[test]
fn the_field_is_replaced_in_its_place() {
    let before = "# head
apiVersion: example.com/v1
kind: B # k
spec: # of the package
  old: 1 # gone
  list:
  - 1 # gone

metadata:
  annotations: {kpt.dev/config-injection: required, kpt.dev/injected-resource: \"porch\"} # a
  name: b
# status
status: {x: 1}
# foot
";
    let source = "apiVersion: example.com/v1
kind: B
metadata:
  name: s
# about the spec
spec: # of the cluster
    port: 0x1f90 # hexadecimal

    # about on
    'on': \"yes\"
    text: >-
      folded
      text
    list: [a,   b] # l
status: {x: 2}
";
    let files = [("Kptfile", KPTFILE), ("b.yaml", before)];
    let outcome = run(&config("[{name: s}]", &[source]), &files);
    assert_eq!(
        outcome.file("b.yaml"),
        "# head
apiVersion: example.com/v1
kind: B # k
spec: # of the package
  port: 0x1f90 # hexadecimal

  # about on
  'on': \"yes\"
  text: >-
    folded
    text
  list: [a,   b] # l

metadata:
  annotations: {kpt.dev/config-injection: required, kpt.dev/injected-resource: \"s\", kpt.dev/injected-resource-name: s} # a
  name: b
# status
status: {x: 1}
# foot
"
    );
}

#[test]
fn a_source_without_the_field_leaves_the_point() {
    let a = point("v1", "ConfigMap", "a", "optional", "data: {x: \"1\"}\n");
    let source = resource("v1", "ConfigMap", "s", "spec: {y: 2}\n");
    // The search ends with the first selector that matches.
    let other = resource("v1", "ConfigMap", "t", "data: {y: \"2\"}\n");
    let files = [("Kptfile", KPTFILE), ("a.yaml", &*a)];
    for source in [source.clone(), source + "data:\n"] {
        let outcome = run(
            &config("[{name: s}, {name: t}]", &[&source, &other]),
            &files,
        );
        assert_eq!(outcome.file("a.yaml"), a);
        assert_eq!(
            condition(&outcome, "config.injection.ConfigMap.a"),
            "False FieldNotFound"
        );
        assert_eq!(
            warnings(&outcome),
            [
                "[warning] a.yaml: ConfigMap/a: data: the selected resource `s` has no `data` (FieldNotFound)"
            ]
        );
    }
}

#[test]
fn what_changes_outside_is_brought_up_to_date() {
    let b = point("example.com/v1", "B", "b", "required", "spec:\n  x: 1\n");
    let files = [("Kptfile", KPTFILE), ("b.yaml", &*b)];
    let s = resource("example.com/v1", "B", "s", "spec:\n  x: 2\n");
    let first = run(&config("[{name: s}]", &[&s]), &files);
    let files: Vec<_> = first.files.iter().map(|(p, t)| (&**p, &**t)).collect();

    // The resource changed.
    let changed = run(
        &config("[{name: s}]", &[&s.replace("x: 2", "x: 3")]),
        &files,
    );
    assert_eq!(
        changed.file("b.yaml"),
        first.file("b.yaml").replace("x: 2", "x: 3")
    );
    assert_eq!(changed.file("Kptfile"), first.file("Kptfile"));

    // Its comments come along each time, and do not pile up.
    let commented = |x: u8| {
        let spec = format!("spec: # of s\n  # about x\n  x: {x} # x\n");
        resource("example.com/v1", "B", "s", &spec)
    };
    let mut before = first.file("b.yaml").replace("spec:\n", "spec: # of b\n");
    for x in [7, 8, 9] {
        let files = [("Kptfile", first.file("Kptfile")), ("b.yaml", &*before)];
        let outcome = run(&config("[{name: s}]", &[&commented(x)]), &files);
        let spec = format!("spec: # of b\n  # about x\n  x: {x} # x\n");
        assert!(
            outcome.file("b.yaml").ends_with(&spec),
            "{}",
            outcome.file("b.yaml")
        );
        before = outcome.file("b.yaml").to_owned();
    }

    // Another one is selected.
    let t = resource("example.com/v1", "B", "t", "spec:\n  x: 4\n");
    let other = run(&config("[{name: t}]", &[&s, &t]), &files);
    let expected = first
        .file("b.yaml")
        .replace("x: 2", "x: 4")
        .replace("name: s", "name: t");
    assert_eq!(other.file("b.yaml"), expected);
    assert_eq!(
        other.file("Kptfile"),
        first.file("Kptfile").replace("`s`", "`t`")
    );

    // The selector was removed: the last value stays.
    let removed = run(&config("[]", &[&s]), &files);
    assert_eq!(removed.file("b.yaml"), first.file("b.yaml"));
    assert_eq!(
        condition(&removed, "config.injection.B.b"),
        "False NoResourceSelected"
    );
    assert!(
        removed
            .file("Kptfile")
            .contains("- conditionType: config.injection.B.b")
    );
}

#[test]
fn the_namespace_must_be_that_of_the_config() {
    let b = point("example.com/v1", "B", "b", "optional", "spec: {}\n");
    let n = point(
        "rbac.authorization.k8s.io/v1",
        "ClusterRole",
        "n",
        "optional",
        "spec: {}\n",
    );
    let in_namespace = |kind: &str, namespace: &str| {
        let (api_version, kind) = kind.split_once(' ').expect("two words");
        resource(api_version, kind, "s", "spec: {x: 1}\n")
            .replace("name: s\n", &format!("name: s\n{namespace}"))
    };
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: bs.example.com\nspec:\n  group: example.com\n  scope: Cluster\n  names:\n    kind: B\n";
    for (of_config, of_source, fits) in [
        ("", "", true),
        ("", "  namespace: default\n", true),
        ("", "  namespace: other\n", false),
        ("  namespace: default\n", "", true),
        ("  namespace: other\n", "", false),
        ("  namespace: other\n", "  namespace: other\n", true),
    ] {
        let b_source = in_namespace("example.com/v1 B", of_source);
        let n_source = in_namespace("rbac.authorization.k8s.io/v1 ClusterRole", of_source);
        let files = [("Kptfile", KPTFILE), ("b.yaml", &*b), ("n.yaml", &n)];
        let config = config("[{name: s}]", &[&b_source, &n_source]).replace(
            "  name: example\n",
            &format!("  name: example\n{of_config}"),
        );
        let outcome = run(&config, &files);
        let status = |name: &str| condition(&outcome, name).starts_with("True");
        assert_eq!(
            status("config.injection.B.b"),
            fits,
            "{of_config:?} {of_source:?}"
        );
        // Kinds without namespace fit any.
        assert!(status("config.injection.ClusterRole.n"));

        let files = [("Kptfile", KPTFILE), ("b.yaml", &*b), ("crd.yaml", crd)];
        let outcome = run(&config, &files);
        assert_eq!(
            condition(&outcome, "config.injection.B.b"),
            "True ConfigInjected"
        );
    }
}

#[test]
fn candidates_are_supplied_resources_and_items_that_are_no_points() {
    let b = point("example.com/v1", "B", "b", "optional", "spec: {}\n");
    let c = point("example.com/v1", "B", "c", "optional", "spec: {of: c}\n");
    let d = resource("example.com/v1", "B", "d", "spec: {of: d}\n");
    let files = [
        ("Kptfile", KPTFILE),
        ("b.yaml", &*b),
        ("c.yaml", &c),
        ("d.yaml", &d),
    ];
    let outcome = run(&config("[{name: c}, {name: d}]", &[]), &files);
    assert!(
        outcome.file("b.yaml").ends_with("spec: {of: d}\n"),
        "{}",
        outcome.file("b.yaml")
    );
    assert_eq!(outcome.file("d.yaml"), d);
}

#[test]
fn items_under_the_directory_of_the_role_are_only_a_source() {
    let b = point("example.com/v1", "B", "b", "required", "spec: {}\n");
    // A point in it is no point of this package, and a Kptfile in it not the root's.
    let s = point("example.com/v1", "B", "s", "neither", "spec: {x: 1}\n");
    let list = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: example.com/v1\n  kind: B\n  metadata: {name: in-list}\n  spec: {x: 2} # two\n";
    let config =
        |name: &str| config(&format!("[{{name: {name}}}]"), &[]) + "resources: {path: ./infra/}\n";
    let files = [
        ("infra/Kptfile", KPTFILE),
        ("infra/list.yaml", list),
        ("infra/s.yaml", &*s),
        ("p/Kptfile", KPTFILE),
        ("p/b.yaml", &b),
    ];
    for (name, expected) in [("s", "spec: {x: 1}\n"), ("in-list", "spec: {x: 2}\n")] {
        let outcome = run(&config(name), &files);
        assert!(
            outcome.file("p/b.yaml").ends_with(expected),
            "{}",
            outcome.file("p/b.yaml")
        );
        assert!(outcome.file("p/Kptfile").contains("status: \"True\""));
        for (path, text) in &files[..3] {
            assert_eq!(outcome.file(path), *text);
        }
    }
}

#[test]
fn invalid_points_stop_everything_and_all_are_reported() {
    let good = point("example.com/v1", "B", "good", "required", "spec: {}\n");
    let a = point("example.com/v1", "B", "a", "Required", "");
    let b = point("example.com/v1", "B", "b", "true", "");
    let c = point("example.com/v1", "C", "same", "required", "");
    let d = point("other.example.com/v1", "C", "same", "optional", "");
    let e = point("example.com/v1", "B", "''", "optional", "");
    let s = resource("example.com/v1", "B", "s", "spec: {x: 1}\n");
    let files = [
        ("Kptfile", KPTFILE),
        ("a.yaml", &*a),
        ("b.yaml", &b),
        ("c.yaml", &c),
        ("d.yaml", &d),
        ("e.yaml", &e),
        ("good.yaml", &good),
    ];
    let results = refused(&config("[{name: s}, {kind: B}]", &[&s]), &files);
    let expected = [
        "injectors[1].name: expected the name of the resource to inject, found none (InvalidConfig)",
        "a.yaml: B/a: metadata.annotations[\"kpt.dev/config-injection\"]: expected `required` or `optional`, found `Required` (InvalidValue)",
        "b.yaml: B/b: metadata.annotations[\"kpt.dev/config-injection\"]: expected `required` or `optional`, found `true` (InvalidValue)",
        "e.yaml: B/: metadata.name: expected the name of the injection point, found none (InvalidValue)",
        "d.yaml: C/same: metadata.name: expected one injection point for the condition `config.injection.C.same`, found another in `c.yaml` (namespace `default`, apiVersion `example.com/v1`); rename one of them (AmbiguousCondition)",
    ];
    assert_eq!(results, expected.map(|line| format!("[error] {line}")));
}

#[test]
fn points_of_one_kind_and_name_must_not_share_a_condition() {
    let one = point("example.com/v1", "B", "b", "optional", "spec: {}\n");
    let other = one.replace("  name: b\n", "  name: b\n  namespace: far\n");
    let s = resource("example.com/v1", "B", "s", "spec: {x: 1}\n");
    for (path, text) in [("far.yaml", &other), ("sub/b.yaml", &one)] {
        let files = [("Kptfile", KPTFILE), ("b.yaml", &*one), (path, text)];
        let results = refused(&config("[{name: s}]", &[&s]), &files);
        assert_eq!(results.len(), 1, "{results:?}");
        for part in [
            path,
            "metadata.name: ",
            "`config.injection.B.b`",
            "`b.yaml`",
            "(AmbiguousCondition)",
        ] {
            assert!(results[0].contains(part), "{part}: {results:?}");
        }
    }
}

#[test]
fn the_package_context_is_no_injection_point() {
    let context = point(
        "v1",
        "ConfigMap",
        "kptfile.kpt.dev",
        "required",
        "data: {name: example}\n",
    );
    let s = resource("v1", "ConfigMap", "s", "data: {x: \"1\"}\n");
    let b = point("example.com/v1", "B", "b", "true", "spec: {}\n");
    let files = [
        ("Kptfile", KPTFILE),
        ("b.yaml", &*b),
        ("package-context.yaml", &*context),
    ];
    let results = refused(&config("[{name: s}]", &[&s]), &files);
    assert_eq!(results.len(), 2, "{results:?}");
    for part in [
        "package-context.yaml",
        "config-injection",
        "package's `name`",
        "(InvalidValue)",
    ] {
        assert!(results[1].contains(part), "{part}: {results:?}");
    }
}

#[test]
fn each_condition_is_a_result_with_its_type_status_and_reason() {
    let b = point("example.com/v1", "B", "b", "required", "spec: {}\n");
    let c = point("example.com/v1", "C", "c", "optional", "spec: {}\n");
    let s = resource("example.com/v1", "B", "s", "spec: {x: 1}\n");
    let files = [("Kptfile", KPTFILE), ("b.yaml", &*b), ("c.yaml", &c)];
    let outcome = run(&config("[{name: s}]", &[&s]), &files);
    let conditions: Vec<&String> = outcome
        .results
        .iter()
        .filter(|line| line.contains("status.conditions"))
        .collect();
    assert_eq!(
        conditions,
        [
            "[info] Kptfile: Kptfile/example: status.conditions: config.injection.B.b is True: injected resource `s` (ConfigInjected)",
            "[info] Kptfile: Kptfile/example: status.conditions: config.injection.C.c is False: no resource of apiVersion `example.com/v1` and kind `C` is supplied in namespace `default` (NoResourceSelected)",
        ]
    );
    let tags = "\"tags\":{\"reason\":\"ConfigInjected\",\"type\":\"config.injection.B.b\",\"status\":\"True\"}";
    assert!(
        outcome.json.iter().any(|json| json.contains(tags)),
        "{:?}",
        outcome.json
    );
}

#[test]
fn many_points_of_one_text_are_filled_in_linear_time() {
    let s = resource("example.com/v1", "B", "s", "spec: {x: 1}\n");
    let config = config("[{name: s}]", &[&s]);
    assert_linear(100, |count| {
        let points = (0..count).map(|index| {
            point(
                "example.com/v1",
                "B",
                &format!("b{index}"),
                "optional",
                "spec: {}\n",
            )
        });
        let points: Vec<String> = points.collect();
        let points = points.join("---\n");
        let clock = Clock::start();
        let files = [("Kptfile", KPTFILE), ("points.yaml", &*points)];
        let outcome = on_package(&FUNCTION, &config, &files).expect("a config");
        let time = clock.nanoseconds();
        assert_eq!(
            outcome
                .file("points.yaml")
                .matches("spec: {x: 1}\n")
                .count(),
            count
        );
        time
    });
}

#[test]
fn two_candidates_of_one_identity_must_agree() {
    let b = point("example.com/v1", "B", "b", "required", "spec: {}\n");
    let files = [("Kptfile", KPTFILE), ("b.yaml", &*b)];
    let one = resource("example.com/v1", "B", "s", "spec: {x: 1}\n");
    let same = resource(
        "example.com/v1",
        "B",
        "s",
        "spec:\n  \"x\": 0x1\nstatus: {}\n",
    );
    let outcome = run(&config("[{name: s}]", &[&one, &same]), &files);
    assert_eq!(
        condition(&outcome, "config.injection.B.b"),
        "True ConfigInjected"
    );
    for other in ["spec: {x: 2}\n", "spec: {x: \"1\"}\n", ""] {
        let other = resource("example.com/v1", "B", "s", other);
        let results = refused(&config("[{name: s}]", &[&one, &other]), &files);
        assert_eq!(
            results,
            [
                "[error] B/s: spec: expected one resource to inject, found two of this identity whose `spec` differs, in functionConfig, field `resources` and in functionConfig, field `resources` (Ambiguous)"
            ]
        );
        // Where no selector asks for it, it does not matter.
        run(&config("[{name: t}]", &[&one, &other]), &files);
    }
}

#[test]
fn without_a_kptfile_it_injects_and_warns() {
    let b = point("example.com/v1", "B", "b", "required", "spec: {}\n");
    let s = resource("example.com/v1", "B", "s", "spec: {x: 1}\n");
    let outcome = run(&config("[{name: s}]", &[&s]), &[("b.yaml", &b)]);
    assert!(outcome.file("b.yaml").ends_with("spec: {x: 1}\n"));
    assert_eq!(
        warnings(&outcome),
        [
            "[warning] expected a Kptfile to record conditions in, found none; not recorded: `config.injection.B.b` (KptfileNotFound)"
        ]
    );
    // Nor does it matter where there is nothing to record.
    let outcome = run(&config("[{name: s}]", &[&s]), &[("s.yaml", &s)]);
    assert_eq!(outcome.results, Vec::<String>::new());
}

#[test]
fn what_an_alias_reads_stays() {
    let b = "apiVersion: example.com/v1\nkind: B\nmetadata:\n  name: b\n  annotations:\n    kpt.dev/config-injection: required\nspec: &spec {}\nstatus: *spec\n";
    let s = resource("example.com/v1", "B", "s", "spec: {x: 1}\n");
    let outcome = run(
        &config("[{name: s}]", &[&s]),
        &[("Kptfile", KPTFILE), ("b.yaml", b)],
    );
    assert!(
        outcome
            .file("b.yaml")
            .ends_with("spec: &spec {x: 1}\nstatus: {}\n"),
        "{}",
        outcome.file("b.yaml")
    );
    // A changed alias is replaced in place.
    let b = "apiVersion: example.com/v1\nkind: B\nmetadata:\n  name: b\n  annotations:\n    kpt.dev/config-injection: required\nstatus: &spec {}\nspec: *spec # alias\n";
    let outcome = run(
        &config("[{name: s}]", &[&s]),
        &[("Kptfile", KPTFILE), ("b.yaml", b)],
    );
    assert!(
        outcome
            .file("b.yaml")
            .ends_with("status: &spec {}\nspec: {x: 1} # alias\n"),
        "{}",
        outcome.file("b.yaml")
    );
}

#[test]
fn a_json_file_stays_json() {
    let b = "{\n  \"apiVersion\": \"example.com/v1\",\n  \"kind\": \"B\",\n  \"metadata\": {\"name\": \"b\", \"annotations\": {\"kpt.dev/config-injection\": \"required\"}},\n  \"spec\": {}\n}\n";
    let s = resource(
        "example.com/v1",
        "B",
        "s",
        "spec:\n  # why\n  x: yes # y\n  t: |\n    a\n    b\n",
    );
    let outcome = run(
        &config("[{name: s}]", &[&s]),
        &[("Kptfile", KPTFILE), ("b.json", b)],
    );
    assert_eq!(
        outcome.file("b.json"),
        "{\n  \"apiVersion\": \"example.com/v1\",\n  \"kind\": \"B\",\n  \"metadata\": {\"name\": \"b\", \"annotations\": {\"kpt.dev/config-injection\": \"required\", \"kpt.dev/injected-resource-name\": \"s\"}},\n  \"spec\": {\"x\": \"yes\", \"t\": \"a\\nb\\n\"}\n}\n"
    );
}

/// kpt would restore comments of list elements by position: it must not know the item again.
#[test]
fn items_whose_commented_lists_change_lose_kpts_ids() {
    let item = |text: &str, id: usize| {
        let mut item = String::new();
        for (index, line) in text.lines().enumerate() {
            item.push_str(if index == 0 { "- " } else { "  " });
            item.push_str(&format!("{line}\n"));
        }
        let ids = format!(
            "annotations:\n      internal.config.kubernetes.io/id: '{id}'\n      config.k8s.io/id: '{id}'\n"
        );
        item.replace("annotations:\n", &ids)
    };
    let list = |kptfile: &str, b: &str| {
        format!(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{}{}",
            item(kptfile, 1),
            item(b, 2)
        )
    };
    let kptfile = |comment: &str| {
        format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: example\n  annotations:\n    a: b\ninfo:\n  readinessGates:\n  - conditionType: other{comment}\n"
        )
    };
    let b = |comment: &str| {
        point(
            "example.com/v1",
            "B",
            "b",
            "required",
            &format!("spec:\n  list:\n  - 1{comment}\n"),
        )
    };
    let s = resource("example.com/v1", "B", "s", "spec: {x: 1}\n");
    for (kptfile_comment, b_comment, ids) in [
        ("", "", 4),
        (" # why", "", 2),
        ("", " # why", 2),
        (" # c", " # c", 0),
    ] {
        let text = list(&kptfile(kptfile_comment), &b(b_comment));
        let outcome = on_list(&FUNCTION, &config("[{name: s}]", &[&s]), &text).expect("a config");
        let after = outcome.file("-");
        assert_eq!(after.matches("/id: '").count(), ids, "{after}");
        let again = on_list(&FUNCTION, &config("[{name: s}]", &[&s]), after).expect("a config");
        assert_eq!(again.file("-"), after);
    }
}

#[test]
fn a_package_variant_is_a_config_too() {
    let b = point("example.com/v1", "B", "b", "required", "spec: {}\n");
    let s = resource("example.com/v1", "B", "s", "spec: {x: 1}\n");
    let config = "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata:\n  name: pv\n  annotations:\n    fn.kpt.dev/resources-path: infra\nspec:\n  injectors: [{name: s}]\n";
    let files = [("Kptfile", KPTFILE), ("b.yaml", &*b), ("infra/s.yaml", &s)];
    let outcome = run(config, &files);
    assert_eq!(
        condition(&outcome, "config.injection.B.b"),
        "True ConfigInjected"
    );

    let results = refused(&config.replace("{name: s}", "{kind: B}"), &files);
    assert_eq!(
        results,
        [
            "[error] spec.injectors[0].name: expected the name of the resource to inject, found none (InvalidConfig)"
        ]
    );
    for (wrong, message) in [
        (config.replace("injectors:", "injector:"), "injector"),
        (config.replace("{name: s}", "{names: s}"), "names"),
        (
            config.replace("{name: s}", "{name: 5}"),
            "spec.injectors[0].name",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\ndata: {injectors: s}\n".to_owned(),
            "ConfigMap",
        ),
        (
            "apiVersion: fn.kpt.dev/v1alpha1\nkind: InjectConfig\ninjector: []\n".to_owned(),
            "injector",
        ),
    ] {
        let error = on_package(&FUNCTION, &wrong, &files).expect_err("a wrong config");
        assert!(error.to_string().contains(message), "{error}");
    }
}

/// The story of the document, through the binary: one blueprint, a resource for each region.
#[test]
fn each_region_gets_its_endpoints() {
    let example =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/inject-config-service-endpoints");
    let config = std::fs::read_to_string(example.join("fn-config.yaml")).expect("a config");
    for region in ["useast1", "useast2", "uswest1"] {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("config.yaml");
        std::fs::write(&file, config.replace("useast1", region)).expect("a file");
        let mut command = Command::cargo_bin("inject-config").expect("the binary");
        command.arg("--config").arg(&file);
        command.arg("--resources").arg(example.join("cluster.yaml"));
        command
            .arg("--package")
            .arg(example.join("package"))
            .arg("--diff");
        let output = command.assert().code(0).get_output().stdout.clone();
        let diff = String::from_utf8(output).expect("UTF-8");
        let line = format!("\n+  auth: 'auth.{region}.example.com'\n");
        assert!(diff.contains(&line), "{diff}");
        assert!(diff.contains("+  - type: config.injection.ServiceEndpoints.service-endpoints\n+    status: \"True\"\n"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever the package: a second run changes nothing, and points are as the table says.
    #[test]
    fn twice_is_once(
        points in proptest::collection::vec((0..3_usize, 0..3_usize, any::<bool>(), 0..4_usize), 0..6),
        sources in proptest::collection::vec((0..3_usize, 0..3_usize, 0..5_usize), 0..6),
        injectors in proptest::collection::vec((0..4_usize, 0..3_usize), 0..5),
        head in 0..4_usize,
    ) {
        let kinds = [("v1", "ConfigMap"), ("example.com/v1", "B"), ("example.com/v1beta1", "C")];
        let fields = ["", "FIELD:\n", "FIELD: {a: b} # c\n", "FIELD:\n  # c\n  list:\n    - a # a\n    - b\n\n# foot\n"];
        let values = ["", "FIELD: {x: \"1\"}\n", "FIELD:\n    - 1 # one\n    -   a: b\n        c: >\n          d\n", "FIELD: &a\n  x: &b [1]\n  y: *b\n", "FIELD: \"text\"\n"];
        let heads = ["", "status:\n", "info: {readinessGates: []}\nstatus: {conditions: []}\n", "status:\n    conditions:\n        # c\n        - type: config.injection.B.n1 # t\n          status: True\ninfo:\n  readinessGates:\n  - {conditionType: config.injection.B.n1} # g\n"];
        let field = |kind: usize, text: &str| text.replace("FIELD", if kind == 0 { "data" } else { "spec" });
        let mut files = vec![("Kptfile".to_owned(), format!("{KPTFILE}{}", heads[head]))];
        // Points that would share a condition are refused.
        let mut known = std::collections::HashSet::new();
        let points = points.iter().filter(|(kind, name, ..)| known.insert((*kind, *name)));
        for (index, (kind, name, required, with)) in points.enumerate() {
            let how = if *required { "required" } else { "'optional' # o" };
            let (api_version, kind_name) = kinds[*kind];
            let text = point(api_version, kind_name, &format!("n{name}"), how, &field(*kind, fields[*with]));
            files.push((format!("{index}.yaml"), text));
        }
        let sources: Vec<String> = sources
            .iter()
            .map(|(kind, name, with)| {
                let (api_version, kind_name) = kinds[*kind];
                resource(api_version, kind_name, &format!("s{name}"), &field(*kind, values[*with]))
            })
            .collect();
        // One source of each identity.
        let mut seen = Vec::new();
        let sources: Vec<&str> = sources
            .iter()
            .filter(|text| {
                let identity: String = text.lines().take(4).collect();
                let new = !seen.contains(&identity);
                seen.push(identity);
                new
            })
            .map(String::as_str)
            .collect();
        let injectors: Vec<String> = injectors
            .iter()
            .map(|(kind, name)| match kinds.get(*kind) {
                Some((_, kind)) => format!("{{kind: {kind}, name: s{name}}}"),
                None => format!("{{name: s{name}}}"),
            })
            .collect();
        let config = config(&format!("[{}]", injectors.join(", ")), &sources);
        let files: Vec<_> = files.iter().map(|(p, t)| (&**p, &**t)).collect();
        let outcome = run(&config, &files);
        prop_assert!(!outcome.failed, "{:?}", outcome.results);
    }
}
