//! What Kubernetes reads in a value, who a resource is, and which element is which.

use super::{container, review};

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
fn a_boolean_is_one_in_any_spelling_of_kubernetes() {
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
fn a_zero_is_one_in_any_spelling() {
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
