//! Messages, documents and comments say things in the words that Kubernetes, kpt, Git and YAML use.

use std::fs;
use std::path::Path;

/// What is not written, and what is.
const INSTEAD_OF: [(&str, &str); 30] = [
    ("'s stands", "kept upstream's value, kept your value"),
    ("belong into", "belong in"),
    ("by somebody else", "on disk, by another process"),
    ("comes to be", "is created"),
    ("Differences to kpt", "Differences from kpt"),
    ("in silence", "silently"),
    ("is no directory", "is not a directory"),
    ("is no Git", "is not a Git"),
    ("line ends of Windows", "CRLF line endings"),
    ("made anew", "recreated"),
    ("nobody's", "without an owner"),
    (
        "not be YAML any more",
        "the edit would produce invalid YAML",
    ),
    ("an URL", "a URL"),
    ("decided for local", "decided: kept your version"),
    ("hat a cluster has:", "cluster resources"),
    ("is not there:", "does not exist, is missing"),
    ("is there twice", "appears twice"),
    ("if that is meant", "if this is intentional"),
    ("revision wanted", "the upstream revision to upgrade to"),
    ("says the same", "already has this value"),
    ("sets of them:", "PackageVariantSets"),
    ("tand for too many", "expand to too many"),
    ("second judge", "reference implementation"),
    ("stand for tags", "nested annotated tags"),
    ("stands for several commits", "matches several commits"),
    ("tells of", "reports"),
    ("Tried with", "Compatibility"),
    ("wants another place", "now targets another package"),
    ("whose they are", "that record their owner"),
    ("without a word", "silently"),
];

/// The sources and documents below a folder.
fn texts(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if path.is_dir() {
            texts(&path, found);
        } else if matches!(ending, Some("rs" | "md" | "yaml" | "html" | "json" | "txt")) {
            let text = fs::read_to_string(&path).expect("a text");
            found.push((path.display().to_string(), text));
        }
    }
}

#[test]
fn phrases_of_no_other_program_are_not_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for folder in ["src", "functions", "docs", "schemas", "examples"] {
        texts(&root.join(folder), &mut all);
    }
    for page in [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "README.md",
        "SECURITY.md",
    ] {
        let text = fs::read_to_string(root.join(page)).expect("a page");
        all.push((page.to_owned(), text));
    }
    assert!(all.len() > 400, "{} texts", all.len());
    let lines = all
        .iter()
        .flat_map(|(path, text)| text.lines().map(move |line| (path, line)));
    let mut refused = String::new();
    for (path, line) in lines {
        for (phrase, instead) in INSTEAD_OF
            .iter()
            .filter(|(phrase, _)| line.contains(phrase))
        {
            refused += &format!("{path}: `{phrase}`; write `{instead}`: {line}\n");
        }
    }
    assert_eq!(refused, "");
}
