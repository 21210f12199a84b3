//! ARCHITECTURE.md names every room of `src/`, and no path that does not exist. What it says of imports, files, clocks
//! and names holds.

use std::collections::{BTreeMap, BTreeSet};
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

/// A file of `src/`: its path from there, and its code without comments and tests.
struct Source {
    path: String,
    code: String,
}

impl Source {
    fn room(&self) -> &str {
        let room = self.path.split('/').next().unwrap_or_default();
        room.strip_suffix(".rs").unwrap_or(room)
    }
}

/// All files of `src/` but those of tests.
fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    let mut tests = BTreeSet::new();
    let mut pending = vec![root().join("src")];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder");
            pending.extend(entries.map(|entry| entry.expect("an entry").path()));
            continue;
        }
        let text = fs::read_to_string(&path).expect("a file");
        let path = path.strip_prefix(root().join("src")).expect("below src");
        let path = path.to_str().expect("names are UTF-8").to_owned();
        let folder = path.trim_end_matches("mod.rs").trim_end_matches(".rs");
        let (code, modules) = without_tests(&text);
        let folder = folder.trim_end_matches('/');
        tests.extend(modules.iter().map(|module| format!("{folder}/{module}")));
        found.push(Source { path, code });
    }
    found.retain(|source| {
        let name = source.path.trim_end_matches(".rs");
        !tests
            .iter()
            .any(|test| name == test || source.path.starts_with(&format!("{test}/")))
    });
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(found.len() > 300, "{} files", found.len());
    found
}

/// The code of a file without comments and items of tests, and the names of its modules of tests.
fn without_tests(text: &str) -> (String, Vec<&str>) {
    let (mut code, mut modules) = (String::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let text = line.trim_start();
        if text.starts_with("#[cfg(test)]") {
            let indent = line.len() - text.len();
            for line in lines.by_ref() {
                let text = line.trim_start();
                let module = text
                    .strip_suffix(';')
                    .and_then(|text| text.rsplit_once("mod "));
                modules.extend(module.map(|(_, name)| name));
                let is_end = line.len() - text.len() == indent && !text.starts_with('#');
                if is_end && (text.ends_with(';') || text.starts_with('}') || text.ends_with('}')) {
                    break;
                }
            }
        } else if !text.starts_with("//") {
            code.push_str(line);
            code.push('\n');
        }
    }
    (code, modules)
}

/// The words of a text that follow another one.
fn words_after<'t>(text: &'t str, before: &'t str) -> impl Iterator<Item = &'t str> {
    text.match_indices(before).map(move |(at, _)| {
        let rest = &text[at + before.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
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

#[test]
fn no_two_rooms_import_each_other() {
    let sources = sources();
    let rooms: BTreeSet<&str> = sources.iter().map(Source::room).collect();
    let mut imports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.path != "lib.rs") {
        let room = source.room();
        let imported = words_after(&source.code, "crate::");
        let imported = imported.filter(|name| *name != room && rooms.contains(name));
        imports.entry(room).or_default().extend(imported);
    }
    assert!(imports["filter"].contains("functions"), "{imports:?}");
    // A room whose imports are all on the floors below is on a floor, too.
    while !imports.is_empty() {
        let floor: Vec<&str> = imports
            .iter()
            .filter(|(_, imported)| imported.iter().all(|room| !imports.contains_key(room)))
            .map(|(room, _)| *room)
            .collect();
        assert!(
            !floor.is_empty(),
            "rooms that import each other: {imports:#?}"
        );
        floor.iter().for_each(|room| drop(imports.remove(room)));
    }
}

#[test]
fn steps_do_no_input_or_output() {
    // A fleet in a directory is no step: its packages are too many for a ResourceList.
    let fleet = [
        "functions/render_fleet/directory.rs",
        "functions/render_fleet/report/join.rs",
    ];
    let rooms = [
        "conditions",
        "config",
        "functions",
        "identity",
        "interner",
        "kptfile",
        "latest",
        "mask",
        "merge",
        "patch",
        "resource",
        "resource_list",
        "results",
        "schema",
        "scope",
        "source_text",
        "split",
        "text",
        "variant",
        "yaml",
    ];
    for Source { path, code } in &sources() {
        let room = path.split(['/', '.']).next().unwrap_or_default();
        if fleet.contains(&path.as_str()) || !rooms.contains(&room) {
            continue;
        }
        for word in ["fs::", "std::env", "std::net", "std::process"] {
            let found = code.lines().find(|line| line.contains(word));
            assert_eq!(found, None, "src/{path}: `{word}`");
        }
    }
}

#[test]
fn only_locks_stamps_and_messages_on_a_terminal_know_the_time() {
    // What they do with it is no part of an output.
    let known = [
        "filter/",
        "fleet/lock.rs",
        "package/read/mod.rs",
        "package/temporary.rs",
    ];
    for Source { path, code } in &sources() {
        let knows = code.contains("Instant") || code.contains("SystemTime");
        let may = known.iter().any(|known| path.starts_with(known));
        assert!(may || !knows, "src/{path} reads a clock");
    }
}

/// To be lowered whenever there are fewer.
const MOST_NAMES: usize = 25;

#[test]
fn few_names_of_types_are_defined_more_than_once() {
    let mut defined: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // The program is a crate of its own.
    let library = sources()
        .into_iter()
        .filter(|source| source.room() != "krmv");
    for Source { path, code } in library {
        for keyword in ["struct ", "enum ", "trait "] {
            for name in
                words_after(&code, keyword).filter(|name| name.starts_with(char::is_uppercase))
            {
                defined
                    .entry(name.to_owned())
                    .or_default()
                    .push(path.clone());
            }
        }
    }
    assert!(defined.len() > 400, "{} types", defined.len());
    defined.retain(|_, paths| paths.len() > 1);
    assert!(
        defined.len() <= MOST_NAMES,
        "{}: {defined:#?}",
        defined.len()
    );
}
