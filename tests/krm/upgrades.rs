//! Upgrades of real packages: each pair of the corpus, with local edits, merged.
//!
//! `tests/cases/upgrades/<pair>` holds the edits (`local.patch`, against the original), what the
//! merge did to the files that local edited (`merged.patch`, against local), and the results.
//! All other files must be upstream's, byte for byte. `UPDATE_EXPECT=1` writes the latter two: read them
//! before you commit them.

#![allow(clippy::print_stderr, reason = "says what was left out")]

use expect_test::expect_file;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use krm_core::diff::unified_diff;

use crate::merge_cases::{DEFAULTS, Files, merge, read};

pub(crate) fn corpus() -> Option<PathBuf> {
    let shared = std::env::var_os("KRM_VARIANTS_SHARED")?;
    Some(PathBuf::from(shared).join("corpus")).filter(|corpus| corpus.is_dir())
}

/// The files that a patch names, and the files with the patch applied.
fn patched(files: &Files, patch: &str) -> (BTreeSet<String>, Files) {
    let (mut touched, mut after) = (BTreeSet::new(), files.clone());
    let mut lines = patch.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(path) = line.strip_prefix("+++ b/") else {
            continue;
        };
        touched.insert(path.to_owned());
        let mut text = after.get(path).cloned().unwrap_or_default();
        while lines.next_if(|line| line.starts_with("@@ ")).is_some() {
            let (mut old, mut new) = (String::new(), String::new());
            let mut last = ' ';
            let is_hunk = |line: &&str| {
                line.starts_with([' ', '+', '-', '\\']) && !line.starts_with("--- a/")
            };
            while let Some(line) = lines.next_if(is_hunk) {
                let (mark, rest) = line.split_at(1);
                if mark == "\\" {
                    // No newline at the end of the file.
                    if last != '+' {
                        old.pop();
                    }
                    if last != '-' {
                        new.pop();
                    }
                    continue;
                }
                last = mark.chars().next().unwrap_or(' ');
                if last != '+' {
                    old = old + rest + "\n";
                }
                if last != '-' {
                    new = new + rest + "\n";
                }
            }
            assert_eq!(
                text.matches(&old).count(),
                1,
                "{path}: one place for\n{old}"
            );
            text = text.replacen(&old, &new, 1);
        }
        if text.is_empty() {
            after.remove(path)
        } else {
            after.insert(path.to_owned(), text)
        };
    }
    (touched, after)
}

pub(crate) fn write(folder: &Path, files: &Files) {
    for (path, text) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
}

/// Lines that a diff takes away and puts in, without their indentation.
fn changed_lines(before: Option<&String>, after: Option<&String>) -> BTreeMap<String, usize> {
    let text = |text: Option<&String>| text.map(|text| format!("{}\n", text.trim_end()));
    let (before, after) = (text(before), text(after));
    let diff = unified_diff("f", before.as_deref(), after.as_deref());
    let mut lines = BTreeMap::new();
    for line in diff
        .lines()
        .skip(2)
        .filter(|line| line.starts_with(['+', '-']))
    {
        let (mark, rest) = line.split_at(1);
        *lines.entry(format!("{mark}{}", rest.trim())).or_default() += 1;
    }
    lines
}

#[test]
fn local_edits_survive_and_upstreams_changes_arrive() {
    let Some(corpus) = corpus() else {
        eprintln!("no corpus: set KRM_VARIANTS_SHARED to the directory that holds it; passed over");
        return;
    };
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/upgrades");
    let mut names: Vec<_> = std::fs::read_dir(&cases)
        .expect("cases")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    names.sort();
    for name in names {
        let (case, pair) = (cases.join(&name), corpus.join(&name));
        let patch = std::fs::read_to_string(case.join("local.patch")).expect("edits");
        let (original, upstream) = (read(&pair.join("original")), read(&pair.join("upstream")));
        let (touched, local) = patched(&original, &patch);
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), &local);
        let (merged, said) = merge(
            &pair.join("original"),
            folder.path(),
            &pair.join("upstream"),
            DEFAULTS,
        );
        let (mut diff, mut wrong) = (String::new(), String::new());
        let paths: BTreeSet<&String> = local
            .keys()
            .chain(merged.keys())
            .chain(upstream.keys())
            .collect();
        for path in paths {
            let of = |files: &'_ Files| files.get(path).cloned();
            let (ours, theirs, found) = (of(&local), of(&upstream), of(&merged));
            if !touched.contains(path) {
                assert!(found == theirs, "{name:?}: {path} is not upstream's");
                continue;
            }
            if ours != found {
                diff += &unified_diff(path, ours.as_deref(), found.as_deref());
            }
            // Nothing happens to local's file that upstream did not do to its own.
            let upstreams = changed_lines(original.get(path), upstream.get(path));
            for (line, count) in changed_lines(local.get(path), merged.get(path)) {
                if upstreams.get(&line).copied().unwrap_or_default() < count {
                    // A conflict that upstream won, or lines that moved: for the eye.
                    wrong += &format!("not a line of upstream's change: {path}: {line}\n");
                }
            }
        }
        // Merged again, nothing changes.
        let again = tempfile::tempdir().expect("a folder");
        write(again.path(), &merged);
        let (second, _) = merge(
            &pair.join("original"),
            again.path(),
            &pair.join("upstream"),
            DEFAULTS,
        );
        assert!(
            second == merged,
            "{name:?}: the second merge changes something"
        );
        let results = said.join("\n") + "\n" + &wrong;
        for (file, text) in [("merged.patch", diff), ("results.txt", results)] {
            expect_file![case.join(file)].assert_eq(&text);
        }
    }
}
