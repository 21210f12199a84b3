//! What a review prints, and what it never prints.

use assert_cmd::Command;
use tempfile::tempdir;

use krm_function::supplied::Role;

use super::{container, results, review};
use crate::all_functions::binary;

const BEFORE: &str =
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nimmutable: true\ndata: {key: hunter2}\n";

fn run(arguments: &[&str], after: &str) -> (i32, String, String) {
    let folder = tempdir().expect("a folder");
    for (name, text) in [("before", BEFORE), ("after", after)] {
        let folder = folder.path().join(name);
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join("a.yaml"), text).expect("a file");
    }
    let output = Command::new(binary("review-package"))
        .args(["--package", "after", "--before", "before"])
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let code = output.status.code().expect("a code");
    (code, text(output.stdout), text(output.stderr))
}

#[test]
fn values_of_secrets_are_in_no_output() {
    let after = BEFORE.replace("hunter2", "swordfish");
    for arguments in [
        &[][..],
        &["--format", "markdown"],
        &["--format", "json"],
        &["--results", "-"],
        &["--output", "json"],
        &["failOn=blocking"],
    ] {
        let (_, out, err) = run(arguments, &after);
        assert!(
            out.contains("ImmutableField") || out.contains("immutable"),
            "{out}{err}"
        );
        for secret in ["hunter2", "swordfish"] {
            assert!(!out.contains(secret) && !err.contains(secret), "{out}{err}");
        }
    }
    let found = review(
        "",
        &after.replace("Secret", "SecretList").replace(
            "metadata: {name: s}",
            "items:\n- {metadata: {name: s}, data: {a: hunter2}}\nx: 1",
        ),
    );
    assert!(!found.concat().contains("hunter2"), "{found:?}");
}

#[test]
fn fail_on_decides_about_the_exit_code() {
    let after = BEFORE.replace("hunter2", "swordfish");
    for (argument, code) in [
        ("failOn=never", 0),
        ("failOn=blocking", 1),
        ("failOn=dangerous", 1),
    ] {
        let (found, out, _) = run(&[argument], &after);
        assert_eq!(found, code, "{argument}");
        assert!(out.contains("1 blocking"), "{out}");
    }
    let (code, out, err) = run(&["failOn=sometimes"], &after);
    assert_eq!(code, 1);
    assert!(
        out.is_empty() && err.contains("expected one of `never`, `dangerous`, `blocking`"),
        "{out}{err}"
    );
    let (code, _, err) = run(&["kubernetesVersion=latest"], &after);
    assert_eq!(code, 1);
    assert!(
        err.contains("expected a release of Kubernetes, such as `1.34`, found `latest`"),
        "{err}"
    );
}

#[test]
fn a_text_report_lists_the_worst_first() {
    let (code, out, err) = run(&[], &BEFORE.replace("hunter2", "swordfish"));
    assert_eq!((code, err.as_str()), (0, ""));
    let expected = "\
blocking
  Secret/s  (a.yaml)
    data: the field is immutable: the API server refuses the change; delete the object and create it again

1 blocking
";
    assert_eq!(out, expected);
    assert_eq!(run(&[], BEFORE).1, "no changes for the cluster\n");
}

#[test]
fn a_comment_is_never_too_long() {
    let many = |tag: &str| -> String {
        let one = |number: usize| {
            let pod = container(&format!(
                "image: 'registry.example.com/some/long/name:{tag}', args: [--tag={tag}]"
            ));
            pod.replace("name: front", &format!("name: front-{number}")) + "---\n"
        };
        (0..400).map(one).collect()
    };
    let folder = tempdir().expect("a folder");
    for (name, text) in [("before", many("1")), ("after", many("2"))] {
        let folder = folder.path().join(name);
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join("a.yaml"), text).expect("a file");
    }
    let output = Command::new(binary("review-package"))
        .args([
            "--package",
            "after",
            "--before",
            "before",
            "--format",
            "markdown",
        ])
        .current_dir(folder.path())
        .output()
        .expect("the binary runs");
    let page = String::from_utf8(output.stdout).expect("UTF-8");
    let length = page.chars().count();
    assert!((40_000..=60_000).contains(&length), "{length}");
    assert!(page.starts_with("### Review: 800 notable\n"), "{page}");
    assert!(
        page.ends_with("more, which the results of the run list.\n\n</details>\n"),
        "{page}"
    );
}

/// The beginnings of both values would be the same.
#[test]
fn two_long_values_are_shown_where_they_differ() {
    let claim = |size: &str| {
        let annotation = format!("a: {}", "x".repeat(300));
        format!(
            "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: a}}\nspec:\n  volumeClaimTemplates:\n  \
             - {{metadata: {{name: data, annotations: {{{annotation}}}}}, spec: {{resources: {{requests: {{storage: {size}}}}}}}}}\n"
        )
    };
    let (before, after) = (claim("1Gi"), claim("2Gi"));
    let found = results("", &[(Role::Before, &before)], &after);
    let field = "spec.volumeClaimTemplates[0].spec.resources.requests.storage";
    let text = krm_review::report::text(&found);
    let text = text.as_str();
    let expected = format!("{field}: the field is immutable");
    assert!(text.contains(&expected), "{text}");
    for shown in ["- \"1Gi\"", "+ \"2Gi\""] {
        assert!(text.contains(shown), "{text}");
    }
}

#[test]
fn a_finding_names_the_one_place_that_differs() {
    let role = |verbs: &str, more: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: r}}\nrules:\n- {{apiGroups: [''], resources: [pods], \
             verbs: [{verbs}]}}\n{more}"
        )
    };
    let secrets = "- {apiGroups: [''], resources: [secrets], verbs: [get]}\n";
    let claims = |size: &str| {
        format!(
            "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: a}}\nspec: {{volumeClaimTemplates: [{{metadata: {{name: c}}, spec: \
             {{resources: {{requests: {{storage: {size}}}}}}}}}]}}\n"
        )
    };
    let schema = |field: &str, more: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: a.x.io}}\nspec:\n  versions:\n  - name: v1\n    \
             schema: {{openAPIV3Schema: {{properties: {{spec: {{properties: {{list: {{items: {{{field}}}}}, b: {{{more}}}}}}}}}}}}}\n"
        )
    };
    for (before, after, expected) in [
        (
            role("get", ""),
            role("get, list", ""),
            "dangerous GrantsMore rules[0].verbs[1]: ",
        ),
        (
            role("get", ""),
            role("get", secrets),
            "dangerous GrantsMore rules[1]: ",
        ),
        (
            role("get", secrets),
            role("get, list, watch", secrets),
            "dangerous GrantsMore rules[0].verbs: ",
        ),
        (
            role("get", ""),
            role("list", secrets),
            "dangerous GrantsMore rules: ",
        ),
        (
            claims("1Gi"),
            claims("2Gi"),
            "blocking ImmutableField spec.volumeClaimTemplates[0].spec.resources.requests.storage: ",
        ),
        (
            container("image: 'app:1', args: [--a, --b=1]"),
            container("image: 'app:1', args: [--a, --b=2]"),
            "notable ArgumentsChanged spec.template.spec.containers[0].args[1]: ",
        ),
        (
            container("image: 'app:1', env: [{name: A, value: x}]"),
            container("image: 'app:1', env: [{name: A, value: z}]"),
            "notable ArgumentsChanged spec.template.spec.containers[0].env[0].value: ",
        ),
        (
            schema("maximum: 5", ""),
            schema("maximum: 4", ""),
            "notable SchemaNarrowed spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.list.items: ",
        ),
        (
            schema("maximum: 5", ""),
            schema("maximum: 4", "minimum: 1"),
            "notable SchemaNarrowed spec.versions[0].schema.openAPIV3Schema.properties.spec.properties: ",
        ),
    ] {
        let found = review(&before, &after);
        assert!(
            found.first().is_some_and(|line| line.starts_with(expected)),
            "{expected}: {found:?}"
        );
    }
}

#[test]
fn a_page_names_files_that_were_not_reviewed() {
    let folder = tempdir().expect("a folder");
    for (name, template) in [("before", "{{- if a }}\n"), ("after", "{{- if b }}\n")] {
        let folder = folder.path().join(name);
        std::fs::create_dir(&folder).expect("a folder");
        for (file, text) in [
            ("a.yaml", BEFORE),
            (".krmignore", "left-out.yaml\n"),
            ("left-out.yaml", "a: b\n"),
            ("t.yaml", template),
        ] {
            std::fs::write(folder.join(file), text).expect("a file");
        }
    }
    let arguments = [
        "--package",
        "after",
        "--before",
        "before",
        "--format",
        "markdown",
    ];
    let output = Command::new(binary("review-package"))
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .expect("the binary runs");
    let page = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        page.contains(
            "| notable | <code>t.yaml</code> | not reviewed, because the file is not YAML |"
        ),
        "{page}"
    );
    let note = "\nnot reviewed, because <code>.krmignore</code> excludes them&#58; <code>left-out.yaml</code>\n";
    assert!(page.ends_with(note), "{page}");
}
