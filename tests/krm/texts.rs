//! The YAML texts that the properties of documents and edits are tested on.

#![allow(clippy::print_stdout, reason = "the figures of a test run")]

use std::path::{Path, PathBuf};

use krm_yaml::{Document, NodeRef, Value};

/// One YAML text.
pub(crate) struct Text {
    /// Its file, for messages.
    pub(crate) name: String,
    pub(crate) text: String,
    /// What its project says of it, if it says anything.
    pub(crate) valid: Option<bool>,
}

/// The cases of this repository, one construct a file.
pub(crate) fn own_cases() -> Vec<Text> {
    let texts = files(&manifest().join("tests/cases/yaml"), Some(true));
    assert!(texts.len() > 30, "the own cases are missing");
    texts
}

/// The shared corpus and cases; nothing where they are absent.
pub(crate) fn shared() -> Vec<Text> {
    let root = std::env::var_os("KRM_VARIANTS_SHARED")
        .map_or_else(|| manifest().join("../shared"), PathBuf::from);
    ["corpus", "cases"]
        .iter()
        .flat_map(|folder| present(&root.join(folder)).map(|root| files(&root, None)))
        .flatten()
        .collect()
}

/// The yaml-test-suite (its `data` branch); nothing where it is absent.
pub(crate) fn suite() -> Vec<Text> {
    let Some(root) = std::env::var_os("KRM_VARIANTS_YAML_SUITE") else {
        println!("skipped: KRM_VARIANTS_YAML_SUITE is not set");
        return Vec::new();
    };
    let Some(root) = present(Path::new(&root)) else {
        return Vec::new();
    };
    let mut texts = files(&root, None);
    texts.retain(|text| text.name.ends_with("/in.yaml"));
    for text in &mut texts {
        let error = root.join(text.name.replace("in.yaml", "error"));
        text.valid = Some(!error.exists());
    }
    texts
}

fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn present(folder: &Path) -> Option<PathBuf> {
    if folder.is_dir() {
        return Some(folder.to_owned());
    }
    println!("skipped: {} is absent", folder.display());
    None
}

/// The YAML files below a folder, in the order of their names.
fn files(root: &Path, valid: Option<bool>) -> Vec<Text> {
    let mut texts = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder that can be read") {
            let path = entry.expect("an entry").path();
            let is_yaml = path.extension().is_some_and(|e| e == "yaml" || e == "yml")
                || path.file_name().is_some_and(|name| name == "Kptfile");
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if is_yaml && let Ok(text) = std::fs::read_to_string(&path) {
                let name = path.strip_prefix(root).expect("below the root");
                texts.push(Text {
                    name: name.display().to_string(),
                    text,
                    valid,
                });
            }
        }
    }
    texts.sort_by(|a, b| a.name.cmp(&b.name));
    texts
}

/// Every node of a document, collections before their children.
pub(crate) fn nodes<'a>(document: Document<'a>) -> Vec<NodeRef<'a>> {
    let roots = (0..document.len()).filter_map(|index| document.root(index));
    let mut stack: Vec<_> = roots.collect();
    stack.reverse();
    let mut nodes = Vec::new();
    while let Some(node) = stack.pop() {
        nodes.push(node);
        let at = stack.len();
        stack.extend(node.items());
        stack.extend(node.entries().flat_map(|entry| [entry.key, entry.value]));
        stack[at..].reverse();
    }
    nodes
}

/// The values of all documents of a text.
pub(crate) fn values(document: Document<'_>) -> Vec<Option<Value>> {
    (0..document.len())
        .map(|index| match document.root(index) {
            Some(root) => root.value(),
            None => Some(Value::Null),
        })
        .collect()
}
