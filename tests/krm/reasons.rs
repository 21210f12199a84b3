//! docs/reasons.md lists all reasons; `UPDATE_EXPECT=1` writes it.

use expect_test::expect_file;
use indoc::indoc;
use std::path::Path;

use krm_core::results::Reason;

#[test]
fn the_table_of_reasons_is_complete() {
    let mut text = indoc! {"
        # Reasons

        Every error and warning result has one of these words in `tags.reason`. They are part of the interface:
        to rename or remove one is a breaking change. The table is generated from the program's own list
        (`UPDATE_EXPECT=1 cargo test --test krm reasons`).

        | reason | meaning |
        |---|---|
    "}.to_owned();
    for (_, name, meaning) in Reason::ALL {
        text += &format!("| `{name}` | {} |\n", meaning.trim());
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reasons.md");
    expect_file![file].assert_eq(&text);
}
