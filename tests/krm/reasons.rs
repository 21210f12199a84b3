//! docs/reasons.md lists all reasons; `UPDATE=1` writes it.

use std::path::Path;

use krm_core::results::Reason;

#[test]
fn the_table_of_reasons_is_complete() {
    let mut text = "# Reasons\n\nEvery error and warning result has one of these words in `tags.reason`. They are part of the interface:\nto rename or remove one is a breaking change. The table is generated from the program's own list\n(`UPDATE=1 cargo test reasons`).\n\n| reason | meaning |\n|---|---|\n".to_owned();
    for (_, name, meaning) in Reason::ALL {
        text += &format!("| `{name}` | {} |\n", meaning.trim());
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reasons.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
        std::fs::write(&file, &text).expect("a file");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(found, text, "run with UPDATE=1");
}
