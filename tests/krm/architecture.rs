//! ARCHITECTURE.md names every room of `src/`, and no path that does not exist.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The words between backticks that are paths of this repository.
fn paths(page: &str) -> BTreeSet<&str> {
    let folders = ["src/", "tests/", "docs/", "tools/", ".ci/"];
    let quoted = page.split('`').skip(1).step_by(2);
    quoted
        .filter(|word| folders.iter().any(|folder| word.starts_with(folder)))
        .collect()
}

#[test]
fn the_architecture_names_every_room_and_no_other() -> io::Result<()> {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md"))?;
    let named = paths(&page);
    for path in &named {
        assert!(root().join(path).exists(), "there is no `{path}`");
    }
    for entry in fs::read_dir(root().join("src"))? {
        let entry = entry?;
        let name = entry.file_name().into_string().expect("names are UTF-8");
        if name == "lib.rs" {
            continue;
        }
        let slash = if entry.file_type()?.is_dir() { "/" } else { "" };
        let room = format!("src/{name}{slash}");
        assert!(named.contains(room.as_str()), "`{room}` is not named");
    }
    Ok(())
}
