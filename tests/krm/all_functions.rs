//! Everything that names the functions names all of them: what is forgotten for a new one fails here.

use indoc::indoc;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use krm_function::Function;
use krm_yaml::OwnedDocument;
use krmv::FUNCTIONS;

/// The binary of a function.
pub(crate) fn binary(name: &str) -> PathBuf {
    crate::running::function(name).into()
}

fn names() -> BTreeSet<String> {
    FUNCTIONS
        .iter()
        .map(|function| function.name.to_owned())
        .collect()
}

/// A file of the repository.
fn read(path: impl AsRef<Path>) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(&path);
    std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", path.as_ref().display()))
}

/// The names in a directory of the repository.
fn listed(path: &str) -> BTreeSet<String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let entries = std::fs::read_dir(directory).expect("a directory");
    let name = |entry: std::fs::DirEntry| entry.file_name().into_string().expect("UTF-8");
    entries
        .map(|entry| name(entry.expect("an entry")))
        .collect()
}

/// What stands between two texts, wherever the first is found.
fn between(text: &str, before: &str, after: &str) -> BTreeSet<String> {
    let parts = text.split(before).skip(1);
    let found = parts.filter_map(|part| Some(part.split_once(after)?.0.to_owned()));
    found.collect()
}

#[test]
fn every_function_is_in_the_table_in_the_order_of_names() {
    assert!(FUNCTIONS.is_sorted_by_key(|function| function.name));
    for name in listed("functions") {
        let step = read(format!("functions/{name}/src/lib.rs"));
        assert!(step.contains("pub const FUNCTION: Function"), "{name}");
        assert!(names().contains(&name), "krmv::FUNCTIONS lacks {name}");
    }
}

#[test]
fn every_function_has_a_folder_with_binary_page_and_metadata() {
    assert_eq!(listed("functions"), names());
    for Function { name, .. } in FUNCTIONS {
        let main = read(format!("functions/{name}/src/main.rs"));
        let constant = format!("{}::FUNCTION", name.replace('-', "_"));
        assert!(main.contains(&constant), "{name}: {main}");
        let page = read(format!("functions/{name}/README.md"));
        assert!(page.starts_with(&format!("# {name}\n")), "{name}: {page}");
        let metadata = read(format!("functions/{name}/metadata.yaml"));
        let image = format!("image: localhost/krm-variants/{name}\n");
        let source = format!("/tree/main/functions/{name}\n");
        assert!(metadata.starts_with(&image), "{metadata}");
        assert!(metadata.contains(&source), "{metadata}");
    }
}

/// As the catalog of functions reads it.
#[test]
fn every_metadata_is_yaml_with_its_fields() {
    for Function { name, .. } in FUNCTIONS {
        let metadata = read(format!("functions/{name}/metadata.yaml"));
        let document = OwnedDocument::parse(metadata);
        let document = document.unwrap_or_else(|error| panic!("{name}: {error}"));
        let root = document.root().expect("a document");
        for entry in root.entries() {
            let key = entry.key.scalar_text().expect("the name of a field");
            let is_right = match key {
                "image" | "description" | "sourceURL" | "license" => {
                    entry.value.as_str().is_some_and(|text| !text.is_empty())
                }
                "tags" | "examplePackageURLs" | "emails" => {
                    let mut items = entry.value.items();
                    entry.value.kind().is_sequence() && items.all(|item| item.as_str().is_some())
                }
                "hidden" => entry.value.as_str().is_none(),
                _ => false,
            };
            assert!(is_right, "{name}: {key}");
        }
        assert!(root.get("description").is_some(), "{name}");
    }
}

#[test]
fn cargo_builds_every_function() {
    assert!(read("Cargo.toml").contains("\"functions/*\"]"));
    for name in names() {
        let manifest = read(format!("functions/{name}/Cargo.toml"));
        let binaries = between(&manifest, "[[bin]]\nname = \"", "\"");
        assert_eq!(binaries, BTreeSet::from([name]));
    }
}

#[test]
fn every_function_says_name_and_version() {
    for function in FUNCTIONS {
        let output = Command::new(binary(function.name))
            .arg("--version")
            .output();
        let output = output.expect("the binary runs").stdout;
        let version = format!("{} {}\n", function.name, env!("CARGO_PKG_VERSION"));
        assert_eq!(String::from_utf8_lossy(&output), version);
    }
}

#[test]
fn the_pages_list_every_function() {
    let row = between(&read("README.md"), "\n| [`", "`](functions/");
    assert_eq!(row, names(), "README.md");
    let entry = between(&read("docs/SUMMARY.md"), "](functions/", "/README.md)");
    assert_eq!(entry, names(), "docs/SUMMARY.md");
}

#[test]
fn every_image_is_built() {
    let matrix = read(".github/workflows/ci.yaml");
    let functions = between(&matrix, "          - ", "\n");
    assert_eq!(functions, names(), ".github/workflows/ci.yaml");
    assert!(matrix.contains("--build-arg FUNCTION=${{ matrix.function }} "));
}

#[test]
fn every_function_is_measured() {
    let benchmark = read("benches/functions/each.rs");
    let binaries = between(&benchmark, "program(\"", "\")");
    assert_eq!(binaries, names(), "benches/functions/each.rs");
    let (script, counts) = (
        read("tests/instructions.sh"),
        read("tests/instructions.txt"),
    );
    for Function { name, .. } in FUNCTIONS {
        let is_counted = script.contains(&format!("\ncount \"{name} "));
        let is_recorded = counts.contains(&format!(" {name} "));
        assert!(is_counted && is_recorded, "tests/instructions.sh: {name}");
    }
}

#[test]
fn an_error_for_a_config_of_another_kind_lists_the_accepted_kinds() {
    let list = indoc! {"
        apiVersion: config.kubernetes.io/v1
        kind: ResourceList
        functionConfig:
          apiVersion: v1
          kind: Nothing
        items: []
    "};
    for function in FUNCTIONS {
        let page = read(format!("functions/{}/README.md", function.name));
        // Without its roles a function that needs them does not come to its config.
        let output = Command::new(binary(function.name))
            .write_stdin(list)
            .output();
        let output = output.expect("the binary runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{}: {error}", function.name);
        for (version, kind) in function.configs {
            assert!(
                error.contains(&format!("{kind} ({version})")),
                "{kind}: {error}"
            );
            assert!(
                page.contains(kind),
                "the page of {} on {kind}",
                function.name
            );
        }
        for role in function.roles {
            let flag = format!("`--{role}");
            let is_told = page.contains(&flag) || page.contains(&format!("--{role} "));
            assert!(is_told, "the page of {} on {role}", function.name);
        }
    }
}
