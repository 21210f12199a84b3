//! Tables and examples: base, local, upstream, and the result.

mod comments;
mod kustomizations;
mod lists;
mod pairs;
mod parts;
mod styles;
mod values;

use super::*;
use crate::fields::document::with_gaps;
use crate::gaps::Gaps;
use krm_core::resource::Resource;
use krm_core::schema::Schema;
use krm_yaml::{Document, ParseOptions, Tree};

/// The merged text, and conflicts as `path:winner`.
pub(super) fn merged(
    base: &str,
    local: &str,
    upstream: &str,
    winner: Side,
) -> (String, Vec<String>) {
    let schema = Schema::builtin();
    let trees = [base, local, upstream].map(|text| {
        let options = if text.contains("apiVersion") {
            ParseOptions::of_resources(0)
        } else {
            ParseOptions::default()
        };
        Tree::parse(text, options).unwrap_or_else(|e| panic!("{e}: {text}"))
    });
    let base = Document::new(base, &trees[0]);
    let local = Document::new(local, &trees[1]);
    let upstream = Document::new(upstream, &trees[2]);
    let mut editor = Editor::new(local);
    let (Some(l), Some(u)) = (local.root(0), upstream.root(0)) else {
        panic!("empty")
    };
    let merge_schema = MergeSchema::of(&Resource::read(l), &schema, true);
    let found =
        merge_resource(base.root(0), l, u, merge_schema, winner, &mut editor).expect("merges");
    let conflicts = found.conflicts.iter().map(|conflict| {
        let order = if conflict.kind == ConflictKind::Order {
            "order of "
        } else {
            ""
        };
        format!("{order}{}:{}", conflict.path, conflict.winner.as_str())
    });
    let mut gaps = Gaps::of(base.root(0), l, u, &editor);
    if let Some(gaps) = &mut gaps {
        gaps.note(false, found.take_all_of_upstream());
    }
    let merged = editor.finish_parsed().expect("YAML");
    let merged = with_gaps(merged, gaps).expect("YAML");
    (merged.document().text.to_owned(), conflicts.collect())
}

#[track_caller]
fn check(base: &str, local: &str, upstream: &str, expected: &str) {
    check_conflicts(base, local, upstream, expected, &[]);
}

#[track_caller]
fn check_conflicts(base: &str, local: &str, upstream: &str, expected: &str, paths: &[&str]) {
    let (text, conflicts) = merged(base, local, upstream, Side::Upstream);
    assert_eq!(text, expected);
    assert_eq!(conflicts, paths);
}

/// A Pod with these lines as its `spec`.
fn pod(containers: &str) -> String {
    let lines = containers.lines().map(|line| format!("  {line}\n"));
    format!(
        "apiVersion: v1\nkind: Pod\nspec:\n{}",
        lines.collect::<String>()
    )
}

/// Local changed nothing: the result is upstream's document, spelled as `expected`.
#[track_caller]
fn take(before: &str, upstream: &str, expected: &str) {
    check(before, before, upstream, expected);
}
