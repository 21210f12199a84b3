//! The Kptfile's conditions and gates, and the results, say what was injected.

use super::*;
use expect_test::expect;

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
    message: injected resource \"s\" from cluster
  - type: config.injection.B.b
    status: \"False\"
    reason: NoResourceSelected
    message: no in-cluster resources of type example.com/v1.B
  - type: config.injection.C.c
    status: \"False\"
    reason: NoResourceSelected
    message: no in-cluster resources of type example.com/v1.C
"
        )
    );
    expect![[r#"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: a
          annotations:
            kpt.dev/config-injection: required
            kpt.dev/injected-resource-name: s
        data:
          y: "2"
    "#]]
    .assert_eq(outcome.file("a.yaml"));
    assert_eq!((outcome.file("b.yaml"), outcome.file("c.yaml")), (&*b, &*c));
    // A required point that is left unfilled is a warning.
    assert_eq!(
        warnings(&outcome),
        [
            "[warning] c.yaml:6: C/c: metadata.annotations[\"kpt.dev/config-injection\"]: no resource of apiVersion `example.com/v1` and kind `C` is supplied in namespace `default` (NoResourceSelected)"
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
        .replace(
            "message: old # m",
            "message: injected resource \"s\" from cluster # m",
        )
        .replace("status: 'False' # s", "status: 'True' # s")
        .replace("# kept\n", "# kept\n      reason: ConfigInjected\n");
    assert_eq!(outcome.file("Kptfile"), expected);
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
                "[warning] a.yaml:7: ConfigMap/a: data: the selected resource `s` has no `data` (FieldNotFound)"
            ]
        );
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
            "[info] Kptfile:9: Kptfile/example: status.conditions: config.injection.B.b is True: injected resource \"s\" from cluster (ConfigInjected)",
            "[info] Kptfile:9: Kptfile/example: status.conditions: config.injection.C.c is False: no in-cluster resources of type example.com/v1.C (NoResourceSelected)",
        ]
    );
    let tags = "\"tags\":{\"reason\":\"ConfigInjected\",\"type\":\"config.injection.B.b\",\"status\":\"True\",\"line\":\"9\"}";
    assert!(
        outcome.json.iter().any(|json| json.contains(tags)),
        "{:?}",
        outcome.json
    );
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
