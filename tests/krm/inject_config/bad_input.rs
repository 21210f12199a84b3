//! Invalid points and wrong configs are refused, and nothing is written.

use super::*;
use indoc::indoc;

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
        "a.yaml:6: B/a: metadata.annotations[\"kpt.dev/config-injection\"]: expected `required` or `optional`, found `Required` (InvalidValue)",
        "b.yaml:6: B/b: metadata.annotations[\"kpt.dev/config-injection\"]: expected `required` or `optional`, found `true` (InvalidValue)",
        "e.yaml:4: B/: metadata.name: expected the name of the injection point, found none (InvalidValue)",
        "d.yaml:4: C/same: metadata.name: expected one injection point for the condition `config.injection.C.same`, found another in `c.yaml` (namespace `default`, apiVersion `example.com/v1`); rename one of them (AmbiguousCondition)",
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
fn the_package_context_is_not_an_injection_point() {
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
fn a_package_variant_is_a_config_too() {
    let b = point("example.com/v1", "B", "b", "required", "spec: {}\n");
    let s = resource("example.com/v1", "B", "s", "spec: {x: 1}\n");
    let config = indoc! {"
        apiVersion: config.porch.kpt.dev/v1alpha1
        kind: PackageVariant
        metadata:
          name: pv
          annotations:
            fn.kpt.dev/resources-path: infra
        spec:
          injectors: [{name: s}]
    "};
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
