//! Two changes, each valid, that are not valid next to each other.

use super::*;

/// Merges one file; what both sides changed to other ends is a conflict.
#[track_caller]
fn check(texts: [&str; 3], expected: [&str; 2], path: &str) {
    let files = texts.map(|text| [("r.yaml", text)]);
    for (winner, expected) in ["upstream", "local"].into_iter().zip(expected) {
        let fields = format!("onConflict: {winner}\n");
        let (found, said) = merge_files([&files[0], &files[1], &files[2]], &fields);
        assert_eq!(found["r.yaml"], expected, "{winner}: {said:?}");
        let conflicts = conflicts(&said);
        assert_eq!(conflicts.len(), usize::from(!path.is_empty()), "{said:?}");
        assert!(
            conflicts
                .iter()
                .all(|line| line.contains(&format!(": {path}: "))),
            "{said:?}"
        );
    }
}

fn pipeline(function: &str) -> String {
    format!(
        "{}pipeline:\n  mutators:\n  - name: f\n{function}",
        kptfile("root")
    )
}

#[test]
fn a_function_has_one_config_and_one_program() {
    let merge = |functions: [&str; 3], fields: &str| {
        let texts = functions.map(pipeline);
        let files = texts.each_ref().map(|text| [("Kptfile", text.as_str())]);
        let (found, said) = merge_files([&files[0], &files[1], &files[2]], fields);
        let conflicts: Vec<String> = conflicts(&said).into_iter().cloned().collect();
        (found["Kptfile"].clone(), conflicts)
    };
    let none = "    image: a\n";
    let path = "    image: a\n    configPath: c.yaml\n";
    let map = "    image: a\n    configMap: {x: \"1\"}\n";
    let (found, said) = merge([none, path, map], "");
    assert_eq!(found, pipeline(map));
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("pipeline.mutators[0].configPath"),
        "{said:?}"
    );
    let (found, _) = merge([none, path, map], "onConflict: local\n");
    assert_eq!(found, pipeline(path));
    // One side alone took the other kind.
    let (found, said) = merge([map, path, map], "");
    assert_eq!((found, said.len()), (pipeline(path), 0));
    let (found, said) = merge([map, map, path], "");
    assert_eq!((found, said.len()), (pipeline(path), 0));
    // What both have merges by key.
    let (x, y) = (
        "    image: a\n    configMap:\n      x: \"2\"\n",
        "    image: a\n    configMap:\n      x: \"1\"\n      y: \"1\"\n",
    );
    let (found, said) = merge([map, x, y], "");
    assert!(found.contains("x: \"2\"\n      y: \"1\"\n"), "{found}");
    assert_eq!(said.len(), 0);
    // The program: an image, or a command.
    let (image, exec, newer) = ("    image: a:1\n", "    exec: run\n", "    image: a:2\n");
    let (found, said) = merge([image, exec, newer], "");
    assert_eq!((found, said.len()), (pipeline(newer), 1));
    let (found, said) = merge([image, exec, newer], "onConflict: local\n");
    assert_eq!((found, said.len()), (pipeline(exec), 1));
}

fn service(ports: &str) -> String {
    format!("apiVersion: v1\nkind: Service\nmetadata:\n  name: s\nspec:\n  ports:\n{ports}")
}

#[test]
fn a_port_that_both_sides_renumbered_is_one_port() {
    let of = |port: &str| service(&format!("  - name: http\n    port: {port}\n"));
    let (base, local, upstream) = (of("80"), of("8000"), of("8080"));
    check(
        [&base, &local, &upstream],
        [&upstream, &local],
        "spec.ports[0]",
    );
    // Both added one of that name.
    let none = service("  - name: https\n    port: 443\n");
    let with = |port: &str| format!("{none}  - name: http\n    port: {port}\n");
    let (local, upstream) = (with("8000"), with("8080"));
    check(
        [&none, &local, &upstream],
        [&upstream, &local],
        "spec.ports[1]",
    );
    // One side renumbered it, the other one changed something else of it.
    let (local, upstream) = (of("8000"), of("80\n    targetPort: web"));
    check(
        [&base, &local, &upstream],
        [&upstream, &local],
        "spec.ports[0]",
    );
    // One side alone.
    check([&base, &base, &local], [&local, &local], "");
    check([&base, &local, &base], [&local, &local], "");
    // Ports with other names are no matter of each other.
    let other = |port: &str| format!("{base}  - name: {port}\n    port: {port}1\n");
    let (local, upstream) = (other("a9"), other("b9"));
    let both = format!("{local}  - name: b9\n    port: b91\n");
    check([&base, &local, &upstream], [&both, &both], "");
}

fn pod(container: &str, rest: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: app\n{container}{rest}"
    )
}

#[test]
fn fields_that_exclude_each_other_are_one_value() {
    let env = |value: &str| pod(&format!("    env:\n    - name: A\n      {value}\n"), "");
    let (base, local, upstream) = (
        env("value: a"),
        env("value: b"),
        env("valueFrom: {fieldRef: {fieldPath: metadata.name}}"),
    );
    let path = "spec.containers[0].env[0].value";
    check([&base, &local, &upstream], [&upstream, &local], path);
    check([&base, &base, &upstream], [&upstream, &upstream], "");
    let volume = |source: &str| {
        pod(
            "    image: a\n",
            &format!("  volumes:\n  - name: v\n    {source}\n"),
        )
    };
    let (base, local, upstream) = (
        volume("emptyDir: {}"),
        volume("hostPath: {path: /v}"),
        volume("configMap: {name: v}"),
    );
    check(
        [&base, &local, &upstream],
        [&upstream, &local],
        "spec.volumes[0].hostPath",
    );
    check([&base, &local, &base], [&local, &local], "");
    let probe = |handler: &str| pod(&format!("    livenessProbe:\n      {handler}\n"), "");
    let (base, local, upstream) = (
        probe("httpGet: {port: 80}"),
        probe("tcpSocket: {port: 80}"),
        probe("httpGet: {port: 81}"),
    );
    let path = "spec.containers[0].livenessProbe.tcpSocket";
    check([&base, &local, &upstream], [&upstream, &local], path);
    // The time between two of them is another matter.
    let with = |text: &str| {
        text.replace(
            "livenessProbe:\n",
            "livenessProbe:\n      periodSeconds: 5\n",
        )
    };
    let (local, upstream) = (with(&base), probe("tcpSocket: {port: 80}"));
    let both = with(&upstream);
    check([&base, &local, &upstream], [&both, &both], "");
}

#[test]
fn a_strategy_has_the_fields_of_its_type() {
    let deployment = |strategy: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\nspec:\n  strategy:\n    {strategy}\n"
        )
    };
    let base = deployment("rollingUpdate: {maxSurge: 1}");
    let local = deployment("type: Recreate");
    let upstream = deployment("rollingUpdate: {maxSurge: 2}");
    check(
        [&base, &local, &upstream],
        [&upstream, &local],
        "spec.strategy.type",
    );
    let budget = |field: &str| {
        format!(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata:\n  name: b\nspec:\n  {field}\n"
        )
    };
    let (base, local, upstream) = (
        budget("minAvailable: 1"),
        budget("minAvailable: 2"),
        budget("maxUnavailable: 1"),
    );
    check(
        [&base, &local, &upstream],
        [&upstream, &local],
        "spec.minAvailable",
    );
}

/// Flux takes `semver` where it is next to `tag`, and refuses `chart` beside `chartRef`.
#[test]
fn a_source_of_flux_has_one_reference() {
    let source = |reference: &str| {
        format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: g\nspec:\n  ref:\n    {reference}\n"
        )
    };
    let (base, local, upstream) = (
        source("branch: main"),
        source("tag: v1.2.0"),
        source("semver: '1.x'"),
    );
    check([&base, &local, &upstream], [&upstream, &local], "spec.ref");
    let release = |chart: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: h\nspec:\n  {chart}\n"
        )
    };
    let (base, local, upstream) = (
        release("chart: {spec: {chart: a, version: 1.0.0}}"),
        release("chart: {spec: {chart: a, version: 1.0.1}}"),
        release("chartRef: {kind: OCIRepository, name: a}"),
    );
    check(
        [&base, &local, &upstream],
        [&upstream, &local],
        "spec.chart",
    );
}

/// It has no key, and is the same as one of equal value: the others merge.
#[test]
fn an_element_without_its_key_is_identified_by_its_value() {
    let of = |image: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: x\n    image: {image}\n  - null\n"
        )
    };
    let upstream = format!("{}  - name: y\n", of("a"));
    let both = format!("{}  - name: y\n", of("b"));
    check([&of("a"), &of("b"), &upstream], [&both, &both], "");
}

/// The alternatives of a function's config and program, in both lists and in a sub-package.
#[test]
fn two_alternatives_are_never_in_one_function() {
    let alternatives = [
        "    configPath: c.yaml\n",
        "    configMap: {x: \"1\"}\n",
        "    configRef: {apiVersion: v1, kind: ConfigMap, name: c}\n",
        "    image: a:1\n",
        "    exec: run\n",
    ];
    let (configs, programs) = alternatives.split_at(3);
    for (path, list) in [
        ("Kptfile", "mutators"),
        ("Kptfile", "validators"),
        ("sub/Kptfile", "mutators"),
        ("sub/Kptfile", "validators"),
    ] {
        let function = |one: &str| {
            let text = pipeline(one).replace("mutators", list);
            if path == "Kptfile" {
                text
            } else {
                text.replace("root", "s")
            }
        };
        let merge = |functions: [&str; 3], winner: &str| {
            let texts = functions.map(function);
            let root = kptfile("root");
            let files = texts.each_ref().map(|text| {
                let mut files = vec![(path, text.as_str())];
                files.extend((path != "Kptfile").then_some(("Kptfile", root.as_str())));
                files
            });
            let fields = format!("onConflict: {winner}\n");
            let (found, said) = merge_files([&files[0], &files[1], &files[2]], &fields);
            (found[path].clone(), conflicts(&said).len())
        };
        for group in [configs, programs] {
            for base in group.iter().copied().chain([""]) {
                for local in group.iter().copied().chain([""]) {
                    for upstream in group.iter().copied().chain([""]) {
                        let versions = [base, local, upstream];
                        let (stands, conflicts) = match versions {
                            [base, local, upstream] if base == upstream || local == upstream => {
                                ([local; 2], 0)
                            }
                            [base, local, upstream] if base == local => ([upstream; 2], 0),
                            [_, local, upstream] => ([upstream, local], 1),
                        };
                        for (winner, stands) in ["upstream", "local"].into_iter().zip(stands) {
                            let found = merge(versions, winner);
                            assert_eq!(found, (function(stands), conflicts), "{versions:?}");
                        }
                    }
                }
            }
        }
    }
}

/// Each alternative is one value with the others, and merges by its own parts with itself.
#[test]
fn one_alternative_merges_by_its_parts() {
    let reference = |name: &str, namespace: &str| {
        format!(
            "    configRef:\n      kind: ConfigMap\n      name: {name}\n      namespace: {namespace}\n"
        )
    };
    let texts = [("a", "b"), ("l", "b"), ("a", "u")].map(|(a, b)| pipeline(&reference(a, b)));
    let texts = texts.each_ref().map(String::as_str);
    let merged = pipeline(&reference("l", "u"));
    check(texts, [&merged, &merged], "");
}
