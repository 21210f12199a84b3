//! Unified diffs, in the form that `git apply` and `patch -p1` take.

mod binary;

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// After that long the search for common lines is cut short; the diff stays correct, and gets longer.
const PATIENCE: Duration = Duration::from_secs(1);

/// The change of one file, text or not, in the form that `git apply` takes; `None` stands for no file, else its content
/// and permission bits. Empty if no byte differs.
pub fn file_diff(path: &str, before: Option<(&[u8], u32)>, after: Option<(&[u8], u32)>) -> String {
    let [old, new] = [before, after].map(|file| file.map(|(bytes, _)| bytes));
    if old == new {
        return String::new();
    }
    match (text_of(old), text_of(new)) {
        (Some(old), Some(new)) => unified_diff(path, old, new),
        _ => binary::binary_diff(path, before, after),
    }
}

/// A content as text, if it is one; no file can be taken for one.
fn text_of(content: Option<&[u8]>) -> Option<Option<&str>> {
    match content {
        None => Some(None),
        Some(bytes) if bytes.contains(&0) => None,
        Some(bytes) => std::str::from_utf8(bytes).ok().map(Some),
    }
}

/// The unified diff of one file; `None` stands for no file. Empty if nothing differs.
///
/// ```
/// use krm_variants::diff::unified_diff;
/// assert_eq!(
///     unified_diff("app/Kptfile", Some("a: 1\nb: 2\n"), Some("a: 1\nb: 3")),
///     "--- a/app/Kptfile
/// +++ b/app/Kptfile
/// @@ -1,2 +1,2 @@
///  a: 1
/// -b: 2
/// +b: 3
/// \\ No newline at end of file
/// ",
/// );
/// ```
///
/// Lines end at LF only, and keep their CR. A path with control characters, quotes or backslashes is quoted as git
/// quotes it (C style); one with a space gets a tab behind it, as in git, so that `patch` sees where it ends. Other characters
/// stand as they are (`core.quotePath=false`). An empty file that is made or deleted has no lines to show: git's extended
/// header, which `patch` knows as well, says it.
pub fn unified_diff(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    if before == after {
        return String::new();
    }
    let name = |prefix: &str, text: Option<&str>| match text {
        Some(_) => quote(&format!("{prefix}/{path}")),
        None => "/dev/null".into(),
    };
    let (before_text, after_text) = (before.unwrap_or(""), after.unwrap_or(""));
    let mut diff = String::new();
    if before_text.is_empty() && after_text.is_empty() {
        // In this line `patch` takes a space for the end of a name, unless that is quoted.
        let quote = if path.contains(' ') { c_style } else { quote };
        let (a, b) = (quote(&format!("a/{path}")), quote(&format!("b/{path}")));
        // `patch` deletes an empty file only if it sees this index line; e69de29 is the empty blob of git.
        let what = match before {
            None => "new file mode 100644\nindex 0000000..e69de29",
            Some(_) => "deleted file mode 100644\nindex e69de29..0000000",
        };
        put(&mut diff, format_args!("diff --git {a} {b}\n{what}\n"));
        return diff;
    }
    let tab = if path.contains(' ') { "\t" } else { "" };
    for (sign, prefix, text) in [("---", "a", before), ("+++", "b", after)] {
        // git has no tab behind /dev/null.
        let tab = if text.is_some() { tab } else { "" };
        put(
            &mut diff,
            format_args!("{sign} {}{tab}\n", name(prefix, text)),
        );
    }
    let sides = Sides::new(before_text, after_text);
    let changes = changes(&sides);
    let mut rest = changes.as_slice();
    while !rest.is_empty() {
        // Changes that are near enough for their contexts to touch make one hunk.
        let near = |pair: &[Change]| pair[1].before.start - pair[0].before.end <= 2 * CONTEXT;
        let count = 1 + rest.windows(2).take_while(|pair| near(pair)).count();
        let (hunk, others) = rest.split_at(count);
        put_hunk(&mut diff, &sides, hunk);
        rest = others;
    }
    diff
}

/// Lines that differ: these of the one side became those of the other.
#[derive(Debug, PartialEq)]
struct Change {
    before: Range<usize>,
    after: Range<usize>,
}

/// Both texts as lines, without all but three lines of what they have in common at both ends.
struct Sides<'a> {
    before: Vec<&'a str>,
    after: Vec<&'a str>,
    /// How many lines were left out in front of them.
    omitted: usize,
    /// How many of the lines in front and behind are common.
    head: usize,
    tail: usize,
}

impl<'a> Sides<'a> {
    fn new(before: &'a str, after: &'a str) -> Self {
        let head = common_head(before, after);
        let (common, before_rest) = before.split_at(head);
        let after_rest = &after[head..];
        let tail = common_tail(before_rest, after_rest);
        let (before_middle, common_end) = before_rest.split_at(before_rest.len() - tail);
        let after_middle = &after_rest[..after_rest.len() - tail];

        let mut in_front: Vec<_> = common.split_inclusive('\n').rev().take(CONTEXT).collect();
        in_front.reverse();
        let behind: Vec<_> = common_end.split_inclusive('\n').take(CONTEXT).collect();
        let lines = |middle: &'a str| {
            let mut lines = in_front.clone();
            lines.extend(middle.split_inclusive('\n'));
            lines.extend(&behind);
            lines
        };
        Sides {
            before: lines(before_middle),
            after: lines(after_middle),
            omitted: memchr::memchr_iter(b'\n', common.as_bytes()).count() - in_front.len(),
            head: in_front.len(),
            tail: behind.len(),
        }
    }
}

/// How many bytes of whole lines are the same at the start of both.
fn common_head(before: &str, after: &str) -> usize {
    let same = before
        .bytes()
        .zip(after.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    memchr::memrchr(b'\n', &before.as_bytes()[..same]).map_or(0, |newline| newline + 1)
}

/// How many bytes of whole lines are the same at the end of both, which begin with the start of a line.
fn common_tail(before: &str, after: &str) -> usize {
    let (before, after) = (before.as_bytes(), after.as_bytes());
    let pairs = before.iter().rev().zip(after.iter().rev());
    let same = pairs.take_while(|(one, other)| one == other).count();
    let starts_line = |text: &[u8]| text.len() == same || text[text.len() - same - 1] == b'\n';
    if starts_line(before) && starts_line(after) {
        return same;
    }
    let tail = &before[before.len() - same..];
    memchr::memchr(b'\n', tail).map_or(0, |newline| same - newline - 1)
}

/// What differs between the sides, in order.
fn changes(sides: &Sides<'_>) -> Vec<Change> {
    let head = sides.head;
    let before = &sides.before[head..sides.before.len() - sides.tail];
    let after = &sides.after[head..sides.after.len() - sides.tail];

    // Lines as numbers, with the sides that have them. A line that only one side has is in no common
    // sequence, so the search can do without it; else two long texts with little in common would take forever.
    let mut numbers = Numbers::default();
    let before_numbers = numbers.of(before, 0);
    let after_numbers = numbers.of(after, 1);
    let on_side = numbers.on_side;
    let shared = |numbers: &[u32]| -> Vec<(usize, u32)> {
        let on_both = |&(_, number): &(usize, u32)| on_side[number as usize] == [true; 2];
        numbers
            .iter()
            .copied()
            .enumerate()
            .filter(on_both)
            .collect()
    };
    let (before_shared, after_shared) = (shared(&before_numbers), shared(&after_numbers));
    let only_numbers =
        |shared: &[(usize, u32)]| -> Vec<u32> { shared.iter().map(|&(_, n)| n).collect() };
    let ops = capture_diff_slices_deadline(
        Algorithm::Patience,
        &only_numbers(&before_shared),
        &only_numbers(&after_shared),
        Some(Instant::now() + PATIENCE),
    );

    // What lies between two lines that were found to be the same is a change.
    let mut changes = Vec::new();
    let mut done = (0, 0);
    let mut upto = |before: usize, after: usize| {
        if (before, after) != done {
            changes.push(Change {
                before: head + done.0..head + before,
                after: head + done.1..head + after,
            });
        }
        done = (before + 1, after + 1);
    };
    for op in ops {
        if let DiffOp::Equal {
            old_index,
            new_index,
            len,
        } = op
        {
            for step in 0..len {
                upto(
                    before_shared[old_index + step].0,
                    after_shared[new_index + step].0,
                );
            }
        }
    }
    upto(before.len(), after.len());
    changes
}

/// Equal lines have equal numbers.
#[derive(Default)]
struct Numbers<'a> {
    by_line: HashMap<&'a str, u32>,
    /// By number: is the line on this side?
    on_side: Vec<[bool; 2]>,
}

impl<'a> Numbers<'a> {
    fn of(&mut self, lines: &[&'a str], side: usize) -> Vec<u32> {
        let mut all = Vec::with_capacity(lines.len());
        for line in lines {
            let next = u32::try_from(self.on_side.len()).expect("less than 2^32 lines");
            let number = *self.by_line.entry(line).or_insert(next);
            if number == next {
                self.on_side.push([false; 2]);
            }
            self.on_side[number as usize][side] = true;
            all.push(number);
        }
        all
    }
}

/// Changes with their context.
fn put_hunk(diff: &mut String, sides: &Sides<'_>, hunk: &[Change]) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
        return;
    };
    let lead = first.before.start.min(CONTEXT);
    let trail = (sides.before.len() - last.before.end).min(CONTEXT);
    let before = first.before.start - lead..last.before.end + trail;
    let after = first.after.start - lead..last.after.end + trail;
    diff.push_str("@@ -");
    put_range(diff, sides.omitted, &before);
    diff.push_str(" +");
    put_range(diff, sides.omitted, &after);
    diff.push_str(" @@\n");

    let mut position = before.start;
    for change in hunk {
        put_lines(diff, ' ', &sides.before[position..change.before.start]);
        put_lines(diff, '-', &sides.before[change.before.clone()]);
        put_lines(diff, '+', &sides.after[change.after.clone()]);
        position = change.before.end;
    }
    put_lines(diff, ' ', &sides.before[position..before.end]);
}

/// Where a hunk begins, counted from 1, and how many lines it has unless it is one. A hunk without lines names the line before.
fn put_range(diff: &mut String, omitted: usize, lines: &Range<usize>) {
    let start = omitted + lines.start;
    match lines.len() {
        0 => put(diff, format_args!("{start},0")),
        1 => put(diff, format_args!("{}", start + 1)),
        count => put(diff, format_args!("{},{count}", start + 1)),
    }
}

fn put_lines(diff: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        diff.push(sign);
        diff.push_str(line);
        if !line.ends_with('\n') {
            diff.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn put(diff: &mut String, text: std::fmt::Arguments<'_>) {
    diff.write_fmt(text)
        .expect("writing to a String does not fail");
}

/// A file name as git writes it.
fn quote(name: &str) -> String {
    if !name
        .chars()
        .any(|c| c.is_control() || c == '"' || c == '\\')
    {
        return name.into();
    }
    c_style(name)
}

fn c_style(name: &str) -> String {
    let mut quoted = String::from("\"");
    for character in name.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            '\r' => quoted.push_str("\\r"),
            other if other.is_control() => {
                for byte in other.encode_utf8(&mut [0; 4]).bytes() {
                    put(&mut quoted, format_args!("\\{byte:03o}"));
                }
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use proptest::prelude::*;

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
    fn a_missing_final_newline_is_told() {
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
        assert!(seconds(&before, &after) < 5.0);
        assert!(seconds(&before, &many("of another length")) < 5.0);
        let mut state = 1u64;
        let mut shuffled = || {
            let mut text = String::new();
            for _ in 0..400_000 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                text.push_str(["a\n", "b\n", "c\n", "d\n"][(state >> 40) as usize % 4]);
            }
            text
        };
        assert!(seconds(&shuffled(), &shuffled()) < 5.0);
    }

    /// What the processor spent on this thread so far: what else the machine does hardly counts.
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

    /// What a program makes of the diff must be `after`.
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
}
