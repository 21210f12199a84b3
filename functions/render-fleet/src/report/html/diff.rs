//! Prepares the diff of a file for the page.

use crate::report::ChangedFile;

pub(super) struct FileView<'r> {
    pub(super) path: &'r str,
    pub(super) added: usize,
    pub(super) removed: usize,
    pub(super) what: &'static str,
    pub(super) lines: Vec<DiffLines>,
}

/// Consecutive lines of a diff with the same sign.
pub(super) struct DiffLines {
    pub(super) tag: &'static str,
    pub(super) text: String,
}

/// The diff of a file, with the numbers of added and removed lines.
pub(super) fn view(file: &ChangedFile) -> FileView<'_> {
    // The headers are dropped, because the summary names the file. A diff without hunks, as of a binary file, keeps
    // them.
    let (head, body) = match file.diff.find("\n@@ ") {
        Some(at) => (&file.diff[..at], &file.diff[at + 1..]),
        None => ("", file.diff.as_str()),
    };
    let what = if head.contains("--- /dev/null") {
        "new"
    } else if head.contains("+++ /dev/null") {
        "deleted"
    } else if file.diff.is_empty() {
        "only values that are not shown"
    } else {
        ""
    };
    let count = |sign| body.lines().filter(|line| line.starts_with(sign)).count();
    let is_text = body.starts_with("@@ ");
    let [added, removed] = ['+', '-'].map(|sign| if is_text { count(sign) } else { 0 });
    FileView {
        path: &file.path,
        added,
        removed,
        what,
        lines: lines(body),
    }
}

/// Groups consecutive lines of a diff by their sign.
fn lines(diff: &str) -> Vec<DiffLines> {
    let tag = |line: &str| match line.as_bytes().first() {
        Some(b'+') => "ins",
        Some(b'-') => "del",
        Some(b'@') => "b",
        Some(b'\\') => "i",
        _ => "span",
    };
    let all: Vec<&str> = diff.split_inclusive('\n').collect();
    let alike = all.chunk_by(|a, b| tag(a) == tag(b));
    let lines = alike.map(|lines| DiffLines {
        tag: tag(lines[0]),
        text: lines.concat(),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_one_sign_are_grouped() {
        let lines = lines("@@ -1 +1 @@\n-a\n-b\n+c\n d\n\\ No newline at end of file\n");
        let tags: Vec<_> = lines
            .iter()
            .map(|lines| (lines.tag, lines.text.as_str()))
            .collect();
        assert_eq!(
            tags,
            [
                ("b", "@@ -1 +1 @@\n"),
                ("del", "-a\n-b\n"),
                ("ins", "+c\n"),
                ("span", " d\n"),
                ("i", "\\ No newline at end of file\n")
            ]
        );
    }
}
