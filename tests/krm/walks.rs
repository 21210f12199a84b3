//! Aliases and merge keys that double, or contain each other: whatever walks over values ends with a result or an error.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use krm_function::supplied::Role;
use krm_function::{Inputs, Items, SuppliedInput, run};
use krmv::FUNCTIONS;

/// Far more than each takes in a debug build, and far less than any of the values without a budget.
const PATIENCE: Duration = Duration::from_secs(30);

/// Parts of a resource whose values are endless, or have far more nodes than their text.
fn hostile_parts() -> Vec<(&'static str, String)> {
    let levels = |level: &dyn Fn(usize) -> String| (1..=30).map(level).collect::<String>();
    let repeated = |line: &str| line.repeat(2000);
    vec![
        ("a map that contains itself", "b: &b {c: *b}\n".to_owned()),
        (
            "a map that contains itself, under a merge key",
            "b: &b {c: *b}\n<<: *b\n".to_owned(),
        ),
        (
            "a list that contains itself twice",
            "b: &b [*b, *b]\n".to_owned(),
        ),
        (
            "maps that contain each other",
            "b: &b\n  c: &c\n    d: *b\n    e: *c\n    f: [*b, *c]\n".to_owned(),
        ),
        (
            "lists that double",
            "a0: &a0 [v, v]\n".to_owned()
                + &levels(&|at| format!("a{at}: &a{at} [*a{0}, *a{0}]\n", at - 1)),
        ),
        (
            "maps that double",
            "a0: &a0 {k: v}\n".to_owned()
                + &levels(&|at| format!("a{at}: &a{at} {{x: *a{0}, y: *a{0}}}\n", at - 1)),
        ),
        (
            "merge keys that double",
            "a0: &a0 {k: v}\n".to_owned()
                + &levels(&|at| format!("a{at}: &a{at} {{<<: [*a{0}, *a{0}]}}\n", at - 1)),
        ),
        (
            "a long list, many times",
            format!("a: &a [{}]\nb:\n{}", "v, ".repeat(2000), repeated("- *a\n")),
        ),
        (
            "containers that contain their pod",
            "spec: &s\n  template: *s\n  containers: &c\n  - name: a\n    containers: *c\n"
                .to_owned(),
        ),
    ]
}

fn resource(kind: &str, value: usize, part: &str) -> String {
    let version = match kind {
        "Deployment" => "apps/v1",
        _ => "v1",
    };
    let annotation = "  annotations: {config.kubernetes.io/local-config: \"false\"}\n";
    format!(
        "apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: a\n{annotation}data: {{k: v{value}}}\n{part}"
    )
}

fn package(kind: &str, value: usize, part: &str) -> BTreeMap<String, String> {
    let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: p}\n";
    BTreeMap::from([
        ("Kptfile".to_owned(), kptfile.to_owned()),
        ("a.yaml".to_owned(), resource(kind, value, part)),
    ])
}

#[test]
fn every_function_ends_on_endless_and_doubling_values() {
    for (name, part) in hostile_parts() {
        for kind in ["ConfigMap", "Deployment"] {
            for function in FUNCTIONS {
                let roles = function.roles.iter().enumerate();
                let supplied = roles.map(|(at, role)| {
                    let files = package(kind, at + 1, &part);
                    (*role, SuppliedInput::Files(files))
                });
                let items = package(kind, 0, &part).into_iter();
                let items = items.map(|(path, text)| (path, text.into_bytes()));
                let inputs = Inputs {
                    supplied: supplied.collect(),
                    ..Inputs::default()
                };
                let start = Instant::now();
                // An error of the usage is an end, too.
                let outcome = run(function, inputs, Items::Package(items.collect()));
                let time = start.elapsed();
                assert!(time < PATIENCE, "{}: {name}: {time:?}", function.name);
                if let ("review-package" | "create-overlay", Ok(outcome)) =
                    (function.name, &outcome)
                {
                    let is_refused = outcome.results.iter().any(|result| {
                        let text = result.text();
                        text.contains("aliases")
                    });
                    assert!(is_refused, "{}: {name}: no result", function.name);
                }
            }
        }
    }
}

#[test]
fn blame_ends_on_endless_and_doubling_values() {
    for (name, part) in hostile_parts() {
        let folder = tempfile::tempdir().expect("a folder");
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
            git.current_dir(folder.path())
                .args(identity)
                .args(arguments);
            assert!(git.output().expect("git runs").status.success(), "{name}");
        };
        git(&["init", "-q"]);
        for value in 0..2 {
            for (path, text) in package("ConfigMap", value, &part) {
                std::fs::write(folder.path().join(path), text).expect("a file");
            }
            git(&["add", "."]);
            git(&["commit", "-q", "-m", "a"]);
        }
        let start = Instant::now();
        let mut krmv = Command::new(env!("CARGO_BIN_EXE_krmv"));
        let run = krmv.current_dir(folder.path()).args(["blame", "a.yaml"]);
        let output = run.output().expect("krmv runs");
        assert!(start.elapsed() < PATIENCE, "{name}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("aliases"), "{name}: {message}");
        assert!(output.status.code().is_some_and(|code| code < 10), "{name}");
    }
}

/// A rule grants each verb for each resource of each group: a million pairs in 2 KB.
#[test]
fn rules_with_too_many_combinations_may_grant_more() {
    let role = |count: usize, verb: &str| {
        let list = |letter: char| {
            let words = (0..count).map(|at| format!("{letter}{at}"));
            words.collect::<Vec<_>>().join(", ")
        };
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: r}}\nrules:\n\
             - apiGroups: [{}]\n  resources: [{}]\n  verbs: [{verb}, {}]\n",
            list('g'),
            list('r'),
            list('v')
        )
    };
    for (count, expected) in [(3, "grants more: z"), (100, "may grant more")] {
        let files = BTreeMap::from([("role.yaml".to_owned(), role(count, "y"))]);
        let items = BTreeMap::from([("role.yaml".to_owned(), role(count, "z").into_bytes())]);
        let inputs = Inputs {
            supplied: vec![(Role::Before, SuppliedInput::Files(files))],
            ..Inputs::default()
        };
        let outcome = run(&review_package::FUNCTION, inputs, Items::Package(items));
        let outcome = outcome.expect("a review");
        let texts: Vec<_> = outcome.results.iter().map(|result| result.text()).collect();
        assert!(
            texts.iter().any(|text| text.contains(expected)),
            "{count}: {texts:?}"
        );
    }
}
