use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::quote::quote;
use super::*;

fn check(before: Option<&str>, after: Option<&str>, diff: &str) {
    assert_eq!(unified_diff("f", before, after), diff);
}

#[test]
fn equal_texts_have_no_diff() {
    check(None, None, "");
    check(Some(""), Some(""), "");
    check(Some("a\nb"), Some("a\nb"), "");
}

#[test]
fn new_and_deleted_files() {
    check(
        None,
        Some("a\nb\n"),
        "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n",
    );
    check(
        Some("a\n"),
        None,
        "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
    );
    check(
        None,
        Some(""),
        "diff --git a/f b/f\nnew file mode 100644\nindex 0000000..e69de29\n",
    );
    check(
        Some(""),
        None,
        "diff --git a/f b/f\ndeleted file mode 100644\nindex e69de29..0000000\n",
    );
    check(
        Some(""),
        Some("a\n"),
        "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n",
    );
    check(
        Some("a\n"),
        Some(""),
        "--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a\n",
    );
}

#[test]
fn a_new_executable_is_shown_with_its_mode() {
    let diff = |text: &str, mode| file_diff("run.sh", None, Some((text.as_bytes(), mode)));
    let header = "diff --git a/run.sh b/run.sh\nnew file mode 100755\n";
    let lines = "--- /dev/null\n+++ b/run.sh\n@@ -0,0 +1 @@\n+a\n";
    assert_eq!(diff("a\n", 0o755), format!("{header}{lines}"));
    assert_eq!(diff("a\n", 0o644), lines);
    assert_eq!(diff("", 0o755), format!("{header}index 0000000..e69de29\n"));
}

#[test]
fn a_missing_final_newline_is_reported() {
    let header = "--- a/f\n+++ b/f\n";
    let missing = "\\ No newline at end of file\n";
    let one = format!("{header}@@ -1 +1 @@\n-a\n{missing}+a\n");
    check(Some("a"), Some("a\n"), &one);
    let other = format!("{header}@@ -1 +1 @@\n-a\n+a\n{missing}");
    check(Some("a\n"), Some("a"), &other);
    let both = format!("{header}@@ -1,2 +1,2 @@\n-a\n+b\n z\n{missing}");
    check(Some("a\nz"), Some("b\nz"), &both);
}

#[test]
fn crs_are_kept() {
    check(
        Some("a\r\nb\r\n"),
        Some("a\r\nb\n"),
        "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+b\n",
    );
}

#[test]
fn three_lines_of_context_and_near_changes_in_one_hunk() {
    let text = |changed: &[usize]| {
        let line = |n| {
            if changed.contains(&n) {
                format!("{n}!\n")
            } else {
                format!("{n}\n")
            }
        };
        (1..=20).map(line).collect::<String>()
    };
    let hunks = |changed: &[usize]| {
        let diff = unified_diff("f", Some(&text(&[])), Some(&text(changed)));
        let hunks = diff.lines().filter(|line| line.starts_with("@@"));
        hunks.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(hunks(&[10]), ["@@ -7,7 +7,7 @@"]);
    assert_eq!(hunks(&[1]), ["@@ -1,4 +1,4 @@"]);
    assert_eq!(hunks(&[20]), ["@@ -17,4 +17,4 @@"]);
    assert_eq!(hunks(&[5, 12]), ["@@ -2,14 +2,14 @@"]);
    assert_eq!(hunks(&[5, 13]), ["@@ -2,7 +2,7 @@", "@@ -10,7 +10,7 @@"]);
}

#[test]
fn names_are_quoted_as_git_does() {
    for (name, quoted) in [
        ("a.yaml", "a.yaml"),
        ("a b", "a b"),
        ("\u{e9}", "\u{e9}"),
        ("a\"b", "\"a\\\"b\""),
        ("a\\b", "\"a\\\\b\""),
        ("a\tb\n", "\"a\\tb\\n\""),
        ("\u{1b}[31m", "\"\\033[31m\""),
        ("\u{85}\u{7f}", "\"\\302\\205\\177\""),
    ] {
        assert_eq!(quote(name), quoted);
    }
    let diff = unified_diff("a b", Some("x\n"), None);
    assert!(diff.starts_with("--- a/a b\t\n+++ /dev/null\n"), "{diff:?}");
}

/// Large inputs: one changed line, all lines changed, and few lines often repeated in another order.
#[test]
fn time_is_bounded() {
    // Tests are hardly optimized; what is quadratic takes minutes.
    const MOST: f64 = 20.0;
    let seconds = |before: &str, after: &str| {
        let start = (Instant::now(), on_processor());
        assert!(!unified_diff("f", Some(before), Some(after)).is_empty());
        let spent = on_processor().zip(start.1).map(|(end, start)| end - start);
        spent.unwrap_or_else(|| start.0.elapsed()).as_secs_f64()
    };
    let many = |salt: &str| {
        (0..400_000)
            .map(|n| format!("key{n}: a value {salt}\n"))
            .collect::<String>()
    };
    let before = many("of some length");
    let after = before.replacen("key200000:", "key200000 :", 1);
    assert!(seconds(&before, &after) < MOST);
    assert!(seconds(&before, &many("of another length")) < MOST);
    let mut state = 1u64;
    let mut shuffled = || {
        let mut text = String::new();
        for _ in 0..50_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            text.push_str(["a\n", "b\n", "c\n", "d\n"][(state >> 40) as usize % 4]);
        }
        text
    };
    assert!(seconds(&shuffled(), &shuffled()) < MOST);
}

/// The processor time of this thread so far, which hardly depends on other load of the machine.
fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split(' ').next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

fn on_path(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .map(|dir| dir.join(program))
        .find(|file| file.is_file())
}

/// Checks that a program that applies the diff produces `after`.
fn applied(
    program: &str,
    arguments: &[&str],
    path: &str,
    before: Option<&str>,
    after: Option<&str>,
) {
    if on_path(program).is_none() {
        return;
    }
    let diff = unified_diff(path, before, after);
    if diff.is_empty() {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let diff_dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join(path);
    if let Some(before) = before {
        fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        fs::write(&file, before).expect("a file");
    }
    let diff_file = diff_dir.path().join("diff");
    fs::write(&diff_file, &diff).expect("a diff");
    let output = Command::new(program)
        .args(arguments)
        .arg(&diff_file)
        .current_dir(dir.path())
        .env(
            "GIT_CEILING_DIRECTORIES",
            dir.path().parent().unwrap_or(Path::new("/")),
        )
        .output()
        .expect("it runs");
    let found = fs::read_to_string(&file).ok();
    assert!(
        output.status.success() && found.as_deref() == after,
        "{program}: {output:?}\n{path:?} {before:?} -> {after:?}, found {found:?}\n{diff}"
    );
    let left = fs::read_dir(dir.path()).expect("a directory").count();
    assert_eq!(
        left,
        usize::from(after.is_some()),
        "{program} left other files"
    );
}

fn applied_by_all(path: &str, before: Option<&str>, after: Option<&str>) {
    applied(
        "git",
        &["apply", "--whitespace=nowarn"],
        path,
        before,
        after,
    );
    applied(
        "patch",
        &["-p1", "--no-backup-if-mismatch", "-i"],
        path,
        before,
        after,
    );
}

#[test]
fn git_and_patch_apply_every_kind_of_change_to_every_kind_of_name() {
    let names = [
        "f.yaml",
        "a b.yaml",
        "a b/c\td \u{e9}.yaml",
        "q\"u\\o.yaml",
        "\u{1b}[31m\n.yaml",
        "tab\t",
    ];
    let texts = [
        None,
        Some(""),
        Some("a\n"),
        Some("a"),
        Some("a\r\nb\r\n"),
        Some("b\n\nc\n--- a/x\n@@"),
    ];
    for name in names {
        for before in texts {
            for after in texts {
                applied_by_all(name, before, after);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn git_and_patch_apply_random_edits(
        before in prop::collection::vec(0..6u8, 0..40),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..3u8, 0..9u8), 0..6),
        ends in any::<(bool, bool)>(),
    ) {
        let mut after = before.clone();
        for (place, kind, line) in edits {
            let place = place.index(after.len() + 1);
            match kind {
                0 => after.insert(place, line),
                1 if place < after.len() => { after.remove(place); }
                _ if place < after.len() => after[place] = line,
                _ => after.push(line),
            }
        }
        let lines = ["a: 1\n", "b: 2\r\n", "\n", "- c\n", "--- d\n", "+++ e\n", "\tf \n", "g\r\n", "@@\n"];
        let text = |numbers: &[u8], newline: bool| {
            let mut text: String = numbers.iter().map(|&n| lines[n as usize]).collect();
            if !newline && text.ends_with('\n') {
                text.pop();
            }
            text
        };
        applied_by_all("dir/f.yaml", Some(&text(&before, ends.0)), Some(&text(&after, ends.1)));
    }
}
