//! Tests that the table of rules is valid, and that `docs/review.md` shows it.

use expect_test::expect_file;
use std::fmt::Write;
use std::path::Path;

use super::references::REFERENCES;
use super::row::{FiresWhen, Row, segments};
use super::rows::{CLASSES, RULES, of_class};
use super::selectors::SELECTORS;
use super::served::REMOVED;
use super::table::section;

const START: &str = "<!-- Made from the code: UPDATE_EXPECT=1 cargo test -p krm-review -->\n";

fn kinds(kinds: &[&str], path: &str) -> String {
    match kinds {
        [] if path.starts_with("{pod}") => "all with pods".to_owned(),
        [] => "all".to_owned(),
        ["*"] => "custom resources".to_owned(),
        kinds => {
            let names = kinds.iter().map(|kind| match kind.split_once('/') {
                Some((_, kind)) => kind,
                None => kind,
            });
            names.collect::<Vec<_>>().join(", ")
        }
    }
}

/// When a rule fires, and its message.
fn condition(row: &Row) -> String {
    let condition = match &row.when {
        FiresWhen::Becomes(values, ..) => format!("becomes `{}`", values.join("` or `")),
        FiresWhen::Changes(_) => "changes".to_owned(),
        FiresWhen::Removed => "is removed".to_owned(),
        FiresWhen::Added => "is added".to_owned(),
        FiresWhen::Holds(_) | FiresWhen::Says(_) | FiresWhen::Finds(_) => {
            "by a function".to_owned()
        }
    };
    match row.message {
        "" => condition,
        message => format!("{condition}: {message}"),
    }
}

/// All rules, in tables.
fn page() -> String {
    let mut page = START.to_owned();
    for class in CLASSES {
        let head =
            "| kinds | field | condition | risk | reason | source |\n|---|---|---|---|---|---|";
        writeln!(page, "\n### {class}\n\n{head}").expect("a text");
        for row in of_class(class) {
            let condition = condition(&row);
            writeln!(
                page,
                "| {} | `{}` | {condition} | {} | `{}` | {} |",
                kinds(&row.kinds, row.path),
                row.path,
                row.risk,
                row.reason,
                row.source
            )
            .expect("a text");
        }
    }
    page += "\n### References\n\n| kinds | field | names |\n|---|---|---|\n";
    for reference in REFERENCES.iter() {
        let dot = if reference.name.is_empty() { "" } else { "." };
        let to = match reference.to {
            "" => "what its `kind` says",
            to => to.rsplit('/').next().expect("a kind"),
        };
        writeln!(
            page,
            "| {} | `{}{dot}{}` | {to} |",
            kinds(&reference.kinds, reference.path),
            reference.path,
            reference.name
        )
        .expect("a text");
    }
    page += "\n### Selectors\n\n| kind | field | selects |\n|---|---|---|\n";
    for selector in SELECTORS.iter() {
        let kind = kinds(&[selector.kind], selector.path);
        writeln!(page, "| {kind} | `{}` | {}s |", selector.path, selector.of).expect("a text");
    }
    page += "\n### Versions that releases no longer serve\n\nSource: Kubernetes documentation, Deprecated API Migration Guide.\n\n\
             | since | version | kinds | instead |\n|---|---|---|---|\n";
    for removed in REMOVED.iter() {
        let kinds = match removed.kinds.as_slice() {
            [] => "all".to_owned(),
            kinds => kinds.join(", "),
        };
        let instead = match removed.instead {
            "" => "nothing".to_owned(),
            instead => format!("`{instead}`"),
        };
        writeln!(
            page,
            "| 1.{} | `{}` | {kinds} | {instead} |",
            removed.minor, removed.version
        )
        .expect("a text");
    }
    page
}

#[test]
fn the_page_of_the_review_has_all_rules() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/review.md");
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    let (prose, _) = found.split_once(START).expect("the page has the tables");
    let expected = prose.to_owned() + &page();
    expect_file![file].assert_eq(&expected);
}

#[test]
fn every_line_of_the_table_is_read() {
    let lines = |title: &str| section::<7>(title).len();
    for class in CLASSES {
        assert_eq!(of_class(class).count(), lines(class), "{class}");
    }
    assert_eq!(REMOVED.len(), lines("Removed versions"));
    let titles = include_str!("rules.txt")
        .lines()
        .filter(|line| line.starts_with("## "));
    assert_eq!(titles.count(), CLASSES.len() + 3);
}

#[test]
fn every_rule_has_a_place_a_source_and_something_to_say() {
    for row in RULES.iter() {
        let path = row.path;
        assert!(!row.source.is_empty(), "{path}");
        let says = matches!(row.when, FiresWhen::Says(_) | FiresWhen::Finds(_));
        assert_eq!(says, row.message.is_empty(), "{path}");
        let any = vec!["apps/Deployment"];
        let kinds = if row.kinds.is_empty() {
            &any
        } else {
            &row.kinds
        };
        for kind in kinds {
            let segments = segments(path, kind);
            assert!(segments.is_some_and(|all| !all.is_empty()), "{path}");
        }
    }
}
