//! Unified diffs, in the form that `git apply` and `patch -p1` take.

mod binary;
mod hunks;
mod quote;

use std::fmt::Write;
use std::ops::Range;

use crate::mask::masked_file;
pub use hunks::{Hunk, hunks, kept};
use krm_package::{FileChange, Package, PackageError, USUAL_MODE, join};
use quote::{quote, quote_always};

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// The diff of one file, text or binary, in the form that `git apply` takes. A file is given as its content and
/// permission bits; `None` if it does not exist. The diff is empty if no byte differs.
pub fn file_diff(path: &str, before: Option<(&[u8], u32)>, after: Option<(&[u8], u32)>) -> String {
    let [old, new] = [before, after].map(|file| file.map(|(bytes, _)| bytes));
    if old == new {
        return String::new();
    }
    match (text_of(old), text_of(new)) {
        (Some(old), Some(new)) => {
            let new_mode = after.map_or(USUAL_MODE, |(_, mode)| mode);
            text_diff(path, old, new, new_mode)
        }
        _ => binary::binary_diff(path, before, after),
    }
}

/// The diff of one file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// The path of the file in its package.
    pub path: String,
    /// The diff in the form that `git apply` takes; empty if no byte differs.
    pub text: String,
    /// The diff without the values of Secrets; `None` if the file has none.
    pub masked: Option<String>,
}

impl FileDiff {
    /// The diff to show, without the values of Secrets.
    pub fn shown(&self) -> &str {
        self.masked.as_deref().unwrap_or(&self.text)
    }
}

/// The diff of a change to a package, with paths below a folder.
///
/// # Errors
/// An error if the file can no longer be read.
pub fn change_diff(
    files: &Package,
    change: &FileChange,
    folder: &str,
) -> Result<FileDiff, PackageError> {
    let path = change.path();
    let bytes;
    let before = match files.get(path) {
        Some(file) => {
            bytes = files.read(path)?;
            Some((&*bytes, file.mode.unwrap_or(USUAL_MODE)))
        }
        None => None,
    };
    let (shown, after) = (join(folder, path), change.after());
    let old_mode = files.mode(path);
    let modes = old_mode.and_then(|old| Some((old, change.new_mode(old)?)));
    let header = modes.map_or_else(String::new, |modes| mode_header(&shown, modes));
    let with_header = |diff: String| header.clone() + &diff;
    Ok(FileDiff {
        path: path.to_owned(),
        text: with_header(file_diff(&shown, before, after)),
        masked: masked_diff(&shown, before, after).map(with_header),
    })
}

/// The lines with which Git says that a file becomes executable, or no longer is.
fn mode_header(path: &str, (old, new): (u32, u32)) -> String {
    let quote = if path.contains(' ') {
        quote_always
    } else {
        quote
    };
    let (a, b) = (quote(&format!("a/{path}")), quote(&format!("b/{path}")));
    let [old, new] = [old, new].map(git_mode);
    format!("diff --git {a} {b}\nold mode {old}\nnew mode {new}\n")
}

/// The diff without the values of Secrets; `None` if there are none.
pub fn masked_diff(
    path: &str,
    before: Option<(&[u8], u32)>,
    after: Option<(&[u8], u32)>,
) -> Option<String> {
    let [old, new] = [before, after].map(|file| file.map(|(bytes, _)| bytes));
    let (old, new) = (text_of(old)?, text_of(new)?);
    let (old_masked, new_masked) = masked_file(old.unwrap_or_default(), new.unwrap_or_default())?;
    let old = old.map(|_| &*old_masked);
    let new = new.map(|_| &*new_masked);
    let new_mode = after.map_or(USUAL_MODE, |(_, mode)| mode);
    Some(text_diff(path, old, new, new_mode))
}

/// The mode as Git writes it, which depends only on whether the owner may execute the file.
fn git_mode(mode: u32) -> u32 {
    if mode & 0o100 == 0 { 100_644 } else { 100_755 }
}

/// The content as text; `None` if it has NUL or is not UTF-8. A missing file counts as text.
fn text_of(content: Option<&[u8]>) -> Option<Option<&str>> {
    match content {
        None => Some(None),
        Some(bytes) if bytes.contains(&0) => None,
        Some(bytes) => std::str::from_utf8(bytes).ok().map(Some),
    }
}

/// The unified diff of one file; `None` is a missing file. Empty if nothing differs.
///
/// ```
/// use krm_core::diff::unified_diff;
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
/// quotes it (C style); one with a space gets a tab after it, as in git, so that `patch` sees where it ends. Other characters
/// are not quoted (`core.quotePath=false`). A new or deleted empty file has no lines, so git's extended header names it;
/// `patch` reads that header too. The header also gives the mode of a new executable.
pub fn unified_diff(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    text_diff(path, before, after, USUAL_MODE)
}

/// The unified diff of one file; a new file gets these permission bits.
fn text_diff(path: &str, before: Option<&str>, after: Option<&str>, new_mode: u32) -> String {
    if before == after {
        return String::new();
    }
    let name = |prefix: &str, text: Option<&str>| match text {
        Some(_) => quote(&format!("{prefix}/{path}")),
        None => "/dev/null".into(),
    };
    let (before_text, after_text) = (before.unwrap_or(""), after.unwrap_or(""));
    let mut diff = String::new();
    let is_empty = before_text.is_empty() && after_text.is_empty();
    let new_mode = git_mode(new_mode);
    let is_executable = before.is_none() && new_mode != git_mode(USUAL_MODE);
    if is_empty || is_executable {
        // In this line, `patch` reads a space as the end of a name, unless the name is quoted.
        let quote = if path.contains(' ') {
            quote_always
        } else {
            quote
        };
        let (a, b) = (quote(&format!("a/{path}")), quote(&format!("b/{path}")));
        let what = match before {
            None => format!("new file mode {new_mode}"),
            Some(_) => "deleted file mode 100644".to_owned(),
        };
        put(&mut diff, format_args!("diff --git {a} {b}\n{what}\n"));
    }
    if is_empty {
        // `patch` deletes an empty file only if it sees this line; e69de29 is Git's empty blob.
        diff += match before {
            None => "index 0000000..e69de29\n",
            Some(_) => "index e69de29..0000000\n",
        };
        return diff;
    }
    let tab = if path.contains(' ') { "\t" } else { "" };
    for (sign, prefix, text) in [("---", "a", before), ("+++", "b", after)] {
        // Git writes no tab after /dev/null.
        let tab = if text.is_some() { tab } else { "" };
        put(
            &mut diff,
            format_args!("{sign} {}{tab}\n", name(prefix, text)),
        );
    }
    put_hunks(&mut diff, before_text, after_text);
    diff
}

/// Writes the lines that differ, and the lines around them. Lines end at LF only, as in Git.
fn put_hunks(diff: &mut String, before: &str, after: &str) {
    let [old, new] = [before, after].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let hunks = hunks::line_hunks(&old, &new);
    // Hunks with overlapping or adjacent context are joined.
    for near in hunks.chunk_by(|one, next| next.before.start - one.before.end <= 2 * CONTEXT) {
        let ([first, ..], [.., last]) = (near, near) else {
            continue;
        };
        let context = first.before.start.min(CONTEXT);
        let (from, from_new) = (first.before.start - context, first.after.start - context);
        let context = (old.len() - last.before.end).min(CONTEXT);
        let (to, to_new) = (last.before.end + context, last.after.end + context);
        let (lines, new_lines) = (position(from..to), position(from_new..to_new));
        put(diff, format_args!("@@ -{lines} +{new_lines} @@\n"));
        let mut at = from;
        for Hunk { before, after } in near {
            put_lines(diff, ' ', &old[at..before.start]);
            put_lines(diff, '-', &old[before.clone()]);
            put_lines(diff, '+', &new[after.clone()]);
            at = before.end;
        }
        put_lines(diff, ' ', &old[at..to]);
    }
}

/// A range of lines as the header of a hunk has it: the first line, counted from one, and the number of lines unless it
/// is one. For an empty range, the line before it.
fn position(lines: Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn put_lines(diff: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        put(diff, format_args!("{sign}{line}"));
        if !line.ends_with('\n') {
            diff.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn put(diff: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = diff.write_fmt(text);
}

/// How many elements two lists have in common at their beginnings, and how many of the others at their ends.
pub fn common_ends<T>(old: &[T], new: &[T], is_same: impl Fn(&T, &T) -> bool) -> (usize, usize) {
    let is_same = |(old, new): &(&T, &T)| is_same(old, new);
    let head = old.iter().zip(new).take_while(&is_same).count();
    let tails = old[head..].iter().rev().zip(new[head..].iter().rev());
    (head, tails.take_while(is_same).count())
}

#[cfg(test)]
mod tests;
