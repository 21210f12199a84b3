//! Messages, documents and comments say things in the words that Kubernetes, kpt, Git and YAML use.

use std::fs;
use std::path::Path;

use regex::Regex;

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

/// The sources and documents below these folders, and the pages at the top.
fn texts_of(folders: &[&str]) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for folder in folders {
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
    all
}

#[test]
fn phrases_to_avoid_are_not_written() {
    let all = texts_of(&["src", "crates", "functions", "docs", "schemas", "examples"]);
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

/// Names of tests are sentences.
#[test]
fn names_of_tests_are_plain_sentences() {
    let name =
        Regex::new(r"#\[test\]\n(?:\s*(?:#|///?).*\n)*\s*fn (\w+)").expect("a regular expression");
    let odd = Regex::new(r"^(what|of)_|_(is|are|was|were)_no_[^l]|_(is|are)_(told|gone|there_)|_nobody|_somebody|_anybody|_anew|_beside|_shall_|line_ends")
        .expect("a regular expression");
    let all = texts_of(&["src", "crates", "functions", "tests"]);
    let names: Vec<&str> = all
        .iter()
        .filter(|(path, _)| path.ends_with(".rs"))
        .flat_map(|(_, text)| name.captures_iter(text))
        .map(|found| found.get(1).expect("a name").as_str())
        .collect();
    assert!(names.len() > 1_500, "{} tests", names.len());
    let odd: Vec<_> = names.iter().filter(|name| odd.is_match(name)).collect();
    assert!(odd.is_empty(), "say what happens: {odd:#?}");
}

/// Words that are seldom the plain ones, with the uses that are, and why.
const SELDOM_PLAIN: [(&str, &[(&str, &str)]); 19] = [
    (
        "stands",
        &[(
            "stands (in )?for",
            "an abbreviation or a fixture represents another thing",
        )],
    ),
    (
        "behind",
        &[(
            "left[ -]behind",
            "files that remain after a killed run, and kpt's empty maps",
        )],
    ),
    ("beside", &[]),
    ("besides", &[]),
    ("nobody", &[]),
    ("somebody", &[]),
    ("anybody", &[]),
    ("anew", &[]),
    (
        "told",
        &[(
            "Git ignores or was told not to watch",
            "an instruction to a program",
        )],
    ),
    (
        "tells",
        &[(
            "tells (the reader|Git|a script|the platform team)",
            "somebody receives information",
        )],
    ),
    (
        "whose",
        &[(
            r"[\w`)>*]+,? whose [\w`.{]+",
            "a relative clause after its noun",
        )],
    ),
    (
        "wanted",
        &[(r"[`({]wanted[`)}]", "a variable in a message")],
    ),
    (
        "is no ",
        &[
            ("there is no ", "a statement that something is missing"),
            ("is no longer ", "a state that ended"),
        ],
    ),
    ("any more", &[]),
    (
        "as a whole",
        &[(
            "replaced as a whole",
            "a comment of an example from the document",
        )],
    ),
    ("by itself", &[]),
    (
        "of its own",
        &[(r"of its own [\w`]+", "a part that belongs to the subject")],
    ),
    (
        "what is",
        &[(
            r"[\w`,;:|(]+ +what is ",
            "an indirect question within a sentence",
        )],
    ),
    (
        "(that|those) of",
        &[
            (
                "(like|with|among them|as|than|before|after|over|replace|except|without|through|of|is|are|makes?|become|resources|times|changes|only) (that|those) of",
                "a comparison or an assignment to the noun before it",
            ),
            (
                "(as well as|;|:|,|and|that) (that|those) of",
                "the noun is the one just named",
            ),
            (
                r"own entries win over those of",
                "the noun is the one just named",
            ),
        ],
    ),
];

/// The prose of a file: a page, the comments of a source, and the strings in it.
fn prose(path: &str, text: &str) -> Vec<String> {
    if !path.ends_with(".rs") {
        return text.lines().map(str::to_owned).collect();
    }
    let string = Regex::new(r#""(?:[^"\\]|\\.)*""#).expect("a pattern");
    let lines = text.lines().map(|line| match line.split_once("//") {
        Some((_, comment)) => comment.to_owned(),
        None => {
            let strings = string.find_iter(line).map(|found| found.as_str());
            strings.collect::<Vec<_>>().join(" ")
        }
    });
    lines.collect()
}

#[test]
fn words_that_are_rarely_plain_need_a_reason() {
    let all = texts_of(&["src", "crates", "functions", "docs"]);
    let patterns = SELDOM_PLAIN.map(|(word, uses)| {
        let ending = if word.ends_with(' ') { "" } else { r"\b" };
        let word = Regex::new(&format!(r"(?i)\b{word}{ending}")).expect("a pattern");
        let uses = uses.iter().map(|(plain, _)| format!("(?:{plain})"));
        let uses = uses.collect::<Vec<_>>().join("|");
        let plain = Regex::new(&format!("(?i){uses}")).expect("a pattern");
        (word, (!uses.is_empty()).then_some(plain))
    });
    let mut refused = String::new();
    for (path, text) in &all {
        for line in prose(path, text) {
            for (word, plain) in patterns.iter().filter(|(word, _)| word.is_match(&line)) {
                let left = match plain {
                    Some(plain) => plain.replace_all(&line, ""),
                    None => line.as_str().into(),
                };
                if word.is_match(&left) {
                    refused += &format!("{path}: `{word}`: {}\n", line.trim());
                }
            }
        }
    }
    assert_eq!(
        refused, "",
        "write it plainly, or add the use and its reason"
    );
}
