//! inject-config: the documents' selector table, each rule of the protocol, what stays.

mod bad_input;
mod candidates;
mod conditions;
mod kept;
mod packages;

use inject_config::FUNCTION;

use crate::step::{Outcome, on_package};

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
