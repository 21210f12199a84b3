//! Selectors choose a resource among the candidates.

use super::*;
use indoc::indoc;

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
fn the_namespace_must_be_that_of_the_config() {
    let b = point("example.com/v1", "B", "b", "optional", "spec: {}\n");
    let n = point(
        "rbac.authorization.k8s.io/v1",
        "ClusterRole",
        "m",
        "optional",
        "spec: {}\n",
    );
    let in_namespace = |kind: &str, namespace: &str| {
        let (api_version, kind) = kind.split_once(' ').expect("two words");
        resource(api_version, kind, "s", "spec: {x: 1}\n")
            .replace("name: s\n", &format!("name: s\n{namespace}"))
    };
    let crd = indoc! {"
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata:
          name: bs.example.com
        spec:
          group: example.com
          scope: Cluster
          names:
            kind: B
    "};
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
        assert!(status("config.injection.ClusterRole.m"));

        let files = [("Kptfile", KPTFILE), ("b.yaml", &*b), ("crd.yaml", crd)];
        let outcome = run(&config, &files);
        assert_eq!(
            condition(&outcome, "config.injection.B.b"),
            "True ConfigInjected"
        );
    }
}

#[test]
fn candidates_are_supplied_resources_and_items_without_points() {
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
fn items_in_the_directory_of_a_role_are_only_read() {
    let b = point("example.com/v1", "B", "b", "required", "spec: {}\n");
    // A point in it is no point of this package, and a Kptfile in it not the root's.
    let s = point("example.com/v1", "B", "s", "neither", "spec: {x: 1}\n");
    let list = indoc! {"
        apiVersion: v1
        kind: List
        items:
        - apiVersion: example.com/v1
          kind: B
          metadata: {name: in-list}
          spec: {x: 2} # two
    "};
    let config =
        |name: &str| config(&format!("[{{name: {name}}}]"), &[]) + "resources: {path: ./infra/}\n";
    let files = [
        ("infra/Kptfile", KPTFILE),
        ("infra/list.yaml", list),
        ("infra/s.yaml", &*s),
        ("Kptfile", KPTFILE),
        ("b.yaml", &b),
    ];
    for (name, expected) in [("s", "spec: {x: 1}\n"), ("in-list", "spec: {x: 2}\n")] {
        let outcome = run(&config(name), &files);
        assert!(
            outcome.file("b.yaml").ends_with(expected),
            "{}",
            outcome.file("b.yaml")
        );
        assert!(outcome.file("Kptfile").contains("status: \"True\""));
        for (path, text) in &files[..3] {
            assert_eq!(outcome.file(path), *text);
        }
    }
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
