//! Work on the same bytes that others are compared with.

use std::hint::black_box;

use krm_yaml::{ParseOptions, Tree};

use super::measure::Row;

/// Rows of this process over a text; what takes many times the text's time or memory only on short ones.
pub(crate) fn rows(text: &str) -> Vec<Row<'_>> {
    let mut rows = vec![
        Row::new("memory copy", || drop(black_box(text.to_owned()))),
        Row::new("count of line breaks", || {
            black_box(memchr::memchr_iter(b'\n', text.as_bytes()).count());
        }),
    ];
    if text.len() < 100_000_000 {
        rows.push(Row::new("granit events, bare", || {
            let events = granit_parser::Parser::new_from_str(text);
            black_box(events.filter(|event| event.is_ok()).count());
        }));
        rows.push(Row::new("tree of the whole text", || {
            black_box(Tree::parse(text, ParseOptions::default()).is_ok());
        }));
    }
    rows
}
