//! The table of rules is as the rest of the program expects it, and is in `docs/review.md`.

use std::fmt::Write;
use std::path::Path;

use super::references::REFERENCES;
use super::row::{FiresWhen, segments};
use super::rows::TABLES;
use super::selectors::SELECTORS;
use super::served::REMOVED;

const START: &str = "<!-- Made from the code: UPDATE=1 cargo test --lib review -->\n";

fn kinds(kinds: &[&str], path: &str) -> String {
    match kinds {
        [] if path.starts_with("{pod}") => "all with pods".to_owned(),
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

/// All rules, in tables.
fn page() -> String {
    let mut page = START.to_owned();
    for (class, rows) in TABLES {
        let head =
            "| kinds | field | condition | risk | reason | source |\n|---|---|---|---|---|---|";
        writeln!(page, "\n### {class}\n\n{head}").expect("a text");
        for row in rows {
            let condition = match row.when {
                FiresWhen::Becomes(values, _) => format!("becomes `{}`", values.join("` or `")),
                when => when.words().to_owned(),
            };
            let condition = match row.message {
                "" => condition,
                message => format!("{condition}: {message}"),
            };
            writeln!(
                page,
                "| {} | `{}` | {condition} | {} | `{}` | {} |",
                kinds(row.kinds, row.path),
                row.path,
                row.risk,
                row.reason,
                row.source
            )
            .expect("a text");
        }
    }
    page += "\n### References\n\n| kinds | field | names |\n|---|---|---|\n";
    for reference in REFERENCES {
        let dot = if reference.name.is_empty() { "" } else { "." };
        let to = match reference.to {
            "" => "what its `kind` says",
            to => to.rsplit('/').next().expect("a kind"),
        };
        writeln!(
            page,
            "| {} | `{}{dot}{}` | {to} |",
            kinds(reference.kinds, reference.path),
            reference.path,
            reference.name
        )
        .expect("a text");
    }
    page += "\n### Selectors\n\n| kind | field | selects |\n|---|---|---|\n";
    for selector in SELECTORS {
        let kind = kinds(&[selector.kind], selector.path);
        writeln!(page, "| {kind} | `{}` | {}s |", selector.path, selector.of).expect("a text");
    }
    page += "\n### Versions that releases no longer serve\n\nSource: Kubernetes documentation, Deprecated API Migration Guide.\n\n\
             | since | version | kinds | instead |\n|---|---|---|---|\n";
    for removed in REMOVED {
        let kinds = match removed.kinds {
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
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/review.md");
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    let (prose, _) = found.split_once(START).expect("the page has the tables");
    let expected = prose.to_owned() + &page();
    if std::env::var_os("UPDATE").is_some() {
        return std::fs::write(&file, expected).expect("a file");
    }
    assert!(found == expected, "run: UPDATE=1 cargo test --lib review");
}

#[test]
fn every_rule_has_a_place_a_source_and_something_to_say() {
    for row in TABLES.iter().flat_map(|(_, rows)| rows.iter()) {
        assert!(!row.source.is_empty(), "{row:?}");
        let says = matches!(row.when, FiresWhen::Says(_));
        assert!(says || !row.message.is_empty(), "{row:?}");
        let any = ["apps/Deployment"];
        let kinds = if row.kinds.is_empty() {
            &any
        } else {
            row.kinds
        };
        for kind in kinds {
            let segments = segments(row.path, kind);
            assert!(segments.is_some_and(|all| !all.is_empty()), "{row:?}");
        }
    }
}
