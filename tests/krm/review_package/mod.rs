//! review-package: what a change of a package means for a cluster.

mod dangerous;
mod identity;
mod immutable;
mod network;
mod notable;
mod output;
mod workloads;

use krm_core::config::Config;
use krm_core::results::Results;
use krm_function::supplied::Role;
use krm_function::{Inputs, Items, SuppliedInput, run};

/// The results of a review of a file.
fn results(config: &str, roles: &[(Role, &str)], after: &str) -> Results {
    let files = |text: &str| [("all.yaml".to_owned(), text.to_owned())].into();
    let config = Config::parse(config.to_owned(), "config").expect("a config");
    let inputs = Inputs {
        config: Some(config),
        supplied: roles
            .iter()
            .map(|(role, text)| (*role, SuppliedInput::Files(files(text))))
            .collect(),
        ..Inputs::default()
    };
    let package = [("all.yaml".to_owned(), after.as_bytes().to_vec())].into();
    let outcome = run(&review_package::FUNCTION, inputs, Items::Package(package));
    outcome.expect("a review").results
}

/// The findings as lines: `risk Reason field: message [by]`.
fn lines(results: &Results) -> Vec<String> {
    let line = |result: &krm_core::results::FunctionResult| {
        let tag = |name: &str| {
            let tags = result.tags.iter();
            tags.filter(|(tag, _)| tag == name)
                .map(|(_, value)| value.as_str())
                .collect::<String>()
        };
        let field = result.field.as_ref();
        let field = field.map(|field| format!("{field}: ")).unwrap_or_default();
        let by = match tag("by") {
            by if by.is_empty() => by,
            by => format!(" [{by}]"),
        };
        format!(
            "{} {} {field}{}{by}",
            tag("risk"),
            tag("reason"),
            result.text()
        )
    };
    results.iter().map(line).collect()
}

fn review(before: &str, after: &str) -> Vec<String> {
    lines(&results("", &[(Role::Before, before)], after))
}

/// Whether a line begins so. Its field can be below the one that is given: a finding names the place that differs.
fn begins(line: &str, start: &str) -> bool {
    let parts = line.split_once(": ").zip(start.split_once(": "));
    let is_below = parts.is_some_and(|((found, message), (field, start))| {
        let below = found.strip_prefix(field);
        below.is_some_and(|below| below.starts_with(['.', '['])) && message.starts_with(start)
    });
    line.starts_with(start) || is_below
}

/// Checks that a change has these findings, each given by how its line begins, and no others but the count of routine changes.
#[track_caller]
fn check(before: &str, after: &str, expected: &[&str]) {
    let mut found = review(before, after);
    found.retain(|line| !line.starts_with("routine "));
    let fits = found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|(line, start)| begins(line, start));
    assert!(fits, "expected {expected:#?}, found {found:#?}");
    assert_eq!(review(before, before), [""; 0], "nothing changes");
    assert_eq!(review(after, after), [""; 0], "nothing changes");
}

/// A Deployment with this spec of its pod.
fn deployment(pod: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: front}}\nspec:\n  \
         selector: {{matchLabels: {{app: front}}}}\n  template:\n    metadata: {{labels: {{app: front}}}}\n    spec: {pod}\n"
    )
}

/// A container of the pod.
fn container(fields: &str) -> String {
    deployment(&format!("{{containers: [{{name: app, {fields}}}]}}"))
}
