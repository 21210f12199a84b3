//! Texts of several lines, by the words of the contract: documents as documents, all others as `git merge-file` does.

use std::process::Command;

use krm_yaml::OwnedDocument;

use super::plain::Plain;

pub(super) fn has_lines(text: &str) -> bool {
    text.trim_end_matches('\n').contains('\n')
}

/// The map that a text of several lines is.
pub(super) fn document(text: &str) -> Option<Plain> {
    if !has_lines(text) {
        return None;
    }
    let document = OwnedDocument::parse(text.to_owned()).ok()?;
    let value = Plain::from(&document.root()?.value()?);
    (document.document().len() == 1 && value.is_map()).then_some(value)
}

/// The same value, with texts that are documents as what they say: their spelling is not judged.
pub(super) fn with_documents(value: Plain) -> Plain {
    match value {
        Plain::Text(text) => match document(&text) {
            Some(inner) => Plain::Map(vec![("a document".to_owned(), with_documents(inner))]),
            None => Plain::Text(text),
        },
        Plain::List(elements) => Plain::List(elements.into_iter().map(with_documents).collect()),
        Plain::Map(entries) => {
            let entries = entries.into_iter();
            Plain::Map(
                entries
                    .map(|(key, value)| (key, with_documents(value)))
                    .collect(),
            )
        }
        other => other,
    }
}

/// The merged lines, and whether both sides changed some of them.
pub(super) fn by_lines(texts: [&str; 3], upstream_wins: bool) -> (String, bool) {
    let folder = tempfile::tempdir().expect("a folder");
    let [base, local, upstream] =
        ["base", "local", "upstream"].map(|name| folder.path().join(name));
    for (path, text) in [&base, &local, &upstream].into_iter().zip(texts) {
        std::fs::write(path, text).expect("a file");
    }
    let merge = |winner: &[&str]| {
        let mut git = Command::new("git");
        git.args(["merge-file", "-p", "-q"]).args(winner);
        git.args([&local, &base, &upstream]).output().expect("git")
    };
    let is_clean = merge(&[]).status.success();
    let winner = if upstream_wins { "--theirs" } else { "--ours" };
    let merged = String::from_utf8(merge(&[winner]).stdout).expect("UTF-8");
    (merged, !is_clean)
}
