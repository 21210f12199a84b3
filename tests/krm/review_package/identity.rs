//! What Kubernetes reads in a value, who a resource is, and which element is which.

use super::{begins, check, container, review};

const JOB: &str = "spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: 'x:1', \
                   securityContext: {privileged: true}}]}}}\n";

fn job(metadata: &str) -> String {
    format!("apiVersion: batch/v1\nkind: Job\nmetadata: {{{metadata}}}\n{JOB}")
}

fn has(lines: &[String], risk: &str, part: &str) -> bool {
    let mut lines = lines.iter();
    lines.any(|line| line.starts_with(risk) && line.contains(part))
}

#[test]
fn every_kubernetes_spelling_of_a_boolean_is_a_boolean() {
    let pod = |value: &str| container(&format!("securityContext: {{privileged: {value}}}"));
    for value in ["true", "True", "TRUE", "yes", "Yes", "on", "ON", "y"] {
        let found = review(&pod("false"), &pod(value));
        assert!(
            has(&found, "dangerous", "becomes privileged"),
            "{value}: {found:?}"
        );
    }
    // Another word is a string, which an API server refuses.
    for value in ["off", "tRue", "n"] {
        let found = review(&pod("false"), &pod(value));
        assert!(
            !has(&found, "dangerous", "becomes privileged"),
            "{value}: {found:?}"
        );
    }
}

#[test]
fn every_spelling_of_zero_is_zero() {
    let scaled = |replicas: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec: {{replicas: {replicas}}}\n"
        )
    };
    for zero in ["0", "0x0", "0.0", "0o0", "-0", "0b0", "00", "0e0"] {
        let found = review(&scaled("1"), &scaled(zero));
        assert!(
            has(&found, "dangerous", "ScaledToZero"),
            "{zero}: {found:?}"
        );
    }
    let same = review(&scaled("0o10"), &scaled("8"));
    assert!(same.is_empty(), "{same:?}");
}

#[test]
fn a_new_resource_with_a_generate_name_is_reviewed() {
    for metadata in ["name: seed", "generateName: seed-"] {
        let found = review("", &job(metadata));
        assert!(has(&found, "dangerous", "privileged"), "{found:?}");
        assert!(has(&found, "notable", "the Job is new"), "{found:?}");
    }
    // Two of them are two objects, and neither goes from the cluster when it goes from the package.
    let two = format!(
        "{}---\n{}",
        job("generateName: seed-"),
        job("generateName: seed-")
    );
    let found = review(&job("generateName: seed-"), &two);
    assert!(has(&found, "notable", "the Job is new"), "{found:?}");
    let found = review(&two, &job("generateName: seed-"));
    assert!(!has(&found, "dangerous", "deleted"), "{found:?}");
}

#[test]
fn resources_of_a_list_in_a_list_are_reviewed() {
    let lines = job("name: seed")
        .lines()
        .map(|line| format!("    {line}\n"))
        .collect::<String>();
    let nested = format!(
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - {}",
        lines.trim_start()
    );
    let found = review("", &nested);
    assert!(has(&found, "dangerous", "privileged"), "{found:?}");
    assert!(review(&nested, &job("name: seed")).is_empty());
}

#[test]
fn elements_of_a_custom_resource_are_paired_as_in_a_merge() {
    let parts = |parts: &str| {
        format!(
            "apiVersion: example.com/v1\nkind: Machine\nmetadata: {{name: a}}\nspec: {{parts: [{parts}]}}\n"
        )
    };
    let part = |id: &str, version: &str| {
        format!("{{id: {id}, image: 'registry.example.com/{id}:{version}'}}")
    };
    let before = parts(&[part("api", "1.0.0"), part("web", "1.0.0")].join(", "));
    let after = parts(&[part("web", "1.1.0"), part("api", "2.0.0")].join(", "));
    let found = review(&before, &after);
    assert!(
        !found.iter().any(|line| line.contains("comes from")),
        "{found:?}"
    );
    assert!(has(&found, "notable", "spec.parts[1].image"), "{found:?}");
}

/// `kubectl create --dry-run=client` refuses such objects: "cannot unmarshal bool into Go struct field
/// ObjectMeta.metadata.name of type string".
#[test]
fn a_name_that_kubernetes_reads_as_a_boolean_or_a_number_is_blocking() {
    let map =
        |metadata: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{{metadata}}}\n");
    let found = |field: &str, kind: &str| {
        format!("blocking NotAString metadata.{field}: expected a string, found {kind}: kubectl")
    };
    let new = "notable ResourceAdded the ConfigMap is new";
    for name in ["n", "N", "y", "yes", "no", "on", "Off", "true", "False"] {
        let named = map(&format!("name: {name}"));
        check("", &named, &[&found("name", "a boolean"), new]);
        let renamed = review(&map("name: web"), &named);
        assert!(
            begins(&renamed[0], &found("name", "a boolean")),
            "{renamed:#?}"
        );
    }
    for name in ["5", "0x1F", "1e3"] {
        check(
            "",
            &map(&format!("name: {name}")),
            &[&found("name", "a number"), new],
        );
    }
    for name in ["'n'", "\"yes\"", "yep", "tRue", "v1", "1.2.3"] {
        check("", &map(&format!("name: {name}")), &[new]);
    }
    for (field, metadata) in [
        ("namespace", "namespace: on"),
        ("labels.a", "labels: {a: y}"),
        ("annotations.a", "annotations: {a: off, b: 'off', n: x}"),
    ] {
        let after = map(&format!("name: a, {metadata}"));
        let found = found(field, "a boolean");
        check("", &after, &[&found, new]);
        let changed = review(&map("name: a"), &after);
        assert!(
            changed.iter().any(|line| begins(line, &found)),
            "{changed:#?}"
        );
    }
    check(
        "",
        &map("generateName: y"),
        &[&found("generateName", "a boolean"), new],
    );
    check(
        &map("labels: {a: y}, name: a"),
        &map("labels: {a: n}, name: a"),
        &[],
    );
}

#[test]
fn values_that_must_be_strings_are_looked_at_where_they_are_new() {
    let data = |kind: &str, fields: &str| {
        format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: a}}\n{fields}\n")
    };
    for (kind, field) in [("ConfigMap", "data"), ("Secret", "stringData")] {
        let found = format!("blocking NotAString {field}.k: expected a string, found a boolean");
        let [before, after] =
            ["x", "y"].map(|value| data(kind, &format!("{field}: {{k: {value}}}")));
        check(&before, &after, &[&found]);
    }
    check(
        &container("env: []"),
        &container("env: [{name: A, value: 5}, {name: B, value: '5'}]"),
        &[
            "blocking NotAString spec.template.spec.containers[0].env[0].value: expected a string, found a number",
            "notable ArgumentsChanged spec.template.spec.containers[0].env[0]: the environment variable `A` is new",
            "notable ArgumentsChanged spec.template.spec.containers[0].env[1]: the environment variable `B` is new",
        ],
    );
}

/// Programs that read YAML 1.2 take the name for a string, and apply the object.
#[test]
fn the_fields_of_an_object_with_a_risky_name_are_reviewed() {
    let named = |name: &str, privileged: bool| {
        let context = format!("securityContext: {{privileged: {privileged}}}");
        let text = container(&format!("image: a, {context}"));
        text.replace("name: front}", &format!("name: {name}}}"))
    };
    let found =
        "dangerous PodPrivileges spec.template.spec.containers[0].securityContext.privileged";
    check(&named("n", false), &named("n", true), &[found]);
    // In quotes it is another object, which is new with all its fields.
    for privileged in [false, true] {
        let lines = review(&named("n", privileged), &named("'n'", true));
        assert!(lines.iter().any(|line| begins(line, found)), "{lines:#?}");
        assert!(
            lines
                .iter()
                .any(|line| line.starts_with("notable ResourceAdded")),
            "{lines:#?}"
        );
    }
}
