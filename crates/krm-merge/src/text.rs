//! Merges texts by lines. A line that one side changed is taken. If both changed the same lines, only those lines are
//! taken from the winner.
//!
//! Source: contract, merge-package, Parts (Texts).

use std::borrow::Cow;

use super::lines::{Changed, Chunk, chunks};
use super::rule::{self, Outcome, Side};
use super::versions::Versions;
use krm_yaml::Value;

/// The maximum number of lines that the merges of one run compare. Lines that all versions have in common at either end
/// do not count. A line can be a few bytes, and hostile lines take tens of microseconds each.
pub(super) const MOST_LINES: usize = 500_000;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MergedLines {
    pub(super) text: String,
    /// What local changed: added lines after `+`, and removed lines after `-`. `upstream` is the same for upstream.
    pub(super) local: String,
    pub(super) upstream: String,
    /// The lines that both sides changed differently, in their order.
    pub(super) conflicts: Vec<PartConflict>,
}

/// A part of a value that both sides changed differently.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PartConflict {
    /// Where it is within the merged value: `lines 12-14`.
    pub(super) within: String,
    /// The value in each version. `None` if the version has nothing there.
    pub(super) values: Versions<Option<Value>>,
}

/// How lines that end in an image merge.
#[derive(Clone, Copy)]
pub(super) struct ImageLines {
    /// The key under which versions of such a line are paired. `None` for other lines.
    pub(super) key: fn(&str) -> Option<(&str, &str)>,
    /// The merged line. `None` if it merges as one value.
    pub(super) merge: fn(Versions<&str>) -> Option<String>,
}

/// The key under which lines are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum LineKey<'t> {
    Line(&'t str),
    Image((&'t str, &'t str)),
}

impl<'t> LineKey<'t> {
    fn of(line: &'t str, images: ImageLines) -> Self {
        let image = (images.key)(without_end(line));
        image.map_or(Self::Line(line), Self::Image)
    }
}

fn without_end(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n'])
}

/// Merges three texts, and subtracts the lines that it compares from `lines_left`. `None` if there are not enough lines
/// left.
///
/// With `images`, lines that end in versions of an image count as the same line, and the image merges by its parts.
/// This result is taken if it has fewer lines in conflict.
pub(super) fn merge(
    versions: Versions<&str>,
    winner: Side,
    images: Option<ImageLines>,
    lines_left: &mut usize,
) -> Option<MergedLines> {
    let versions = with_one_line_end(versions);
    let lines = versions.as_ref().map(|text| {
        let lines = text.split_inclusive('\n');
        lines.collect::<Vec<_>>()
    });
    *lines_left = lines_left.checked_sub(compared(&lines))?;
    let lines = lines.as_ref().map(Vec::as_slice);
    let merged = put_together(lines, chunks(lines), winner, None);
    let Some(images) = images.filter(|_| !merged.conflicts.is_empty()) else {
        return Some(merged);
    };
    let keys = lines.map(|lines| {
        let keys = lines.iter().map(|line| LineKey::of(line, images));
        keys.collect::<Vec<_>>()
    });
    let has_image =
        |keys: &Vec<LineKey<'_>>| keys.iter().any(|key| matches!(key, LineKey::Image(_)));
    if !keys.as_ref().into_iter().all(has_image) {
        return Some(merged);
    }
    let chunks = chunks(keys.as_ref().map(Vec::as_slice));
    let apart = put_together(lines, chunks, winner, Some(images));
    Some(if apart.in_conflict() < merged.in_conflict() {
        apart
    } else {
        merged
    })
}

/// Puts the merged text together from chunks of lines. With `images`, lines of an unchanged chunk may differ in their
/// image.
fn put_together(
    lines: Versions<&[&str]>,
    chunks: Vec<Chunk>,
    winner: Side,
    images: Option<ImageLines>,
) -> MergedLines {
    let mut output = LineWriter {
        merged: MergedLines::default(),
        winner,
        next: 1,
    };
    for Chunk {
        changed,
        lines: ranges,
    } in chunks
    {
        let parts = lines.zip(ranges).map(|(lines, range)| &lines[range]);
        match changed {
            Changed::Nobody | Changed::BothAlike if parts.local == parts.upstream => {
                output.push(parts.local);
            }
            Changed::One(Side::Local) if parts.base == parts.upstream => {
                output.push_changed(Side::Local, parts.base, parts.local);
            }
            Changed::One(Side::Upstream) if parts.base == parts.local => {
                output.push_changed(Side::Upstream, parts.base, parts.upstream);
            }
            Changed::Nobody => {
                for at in 0..parts.local.len() {
                    output.push_image(parts.map(|lines| &lines[at..=at]), images);
                }
            }
            Changed::BothAlike | Changed::One(_) | Changed::Conflict => output.push_conflict(parts),
        }
    }
    output.merged
}

struct LineWriter {
    merged: MergedLines,
    winner: Side,
    /// The number of the next line.
    next: usize,
}

impl LineWriter {
    fn push(&mut self, lines: &[&str]) {
        lines
            .iter()
            .for_each(|line| self.merged.text.push_str(line));
        self.next += lines.len();
    }

    fn push_changed(&mut self, side: Side, old: &[&str], new: &[&str]) {
        self.add_changes(side, old, new);
        self.push(new);
    }

    /// Records what a side changed.
    fn add_changes(&mut self, side: Side, old: &[&str], new: &[&str]) {
        let changes = match side {
            Side::Local => &mut self.merged.local,
            Side::Upstream => &mut self.merged.upstream,
        };
        let signed = old.iter().map(|line| ('-', line));
        for (sign, line) in signed.chain(new.iter().map(|line| ('+', line))) {
            changes.push(sign);
            changes.push_str(without_end(line));
            changes.push('\n');
        }
    }

    fn push_conflict(&mut self, parts: Versions<&[&str]>) {
        let kept = self.winner.of(parts);
        self.merged.conflicts.push(PartConflict {
            within: within(self.next, kept.len()),
            values: parts.map(|lines| (!lines.is_empty()).then(|| Value::from(lines.concat()))),
        });
        self.push(kept);
    }

    /// Adds a line that ends in an image in each version.
    fn push_image(&mut self, parts: Versions<&[&str]>, images: Option<ImageLines>) {
        match rule::merge(parts.map(Some), |a, b| a == b) {
            Outcome::Wins(Side::Local) if parts.base == parts.local => self.push(parts.local),
            Outcome::Wins(Side::Local) => self.push_changed(Side::Local, parts.base, parts.local),
            Outcome::Wins(Side::Upstream) => {
                self.push_changed(Side::Upstream, parts.base, parts.upstream);
            }
            Outcome::Conflict => {
                let plain = parts.map(|lines| without_end(lines[0]));
                let Some(line) = images.and_then(|images| (images.merge)(plain)) else {
                    return self.push_conflict(parts);
                };
                self.add_changes(Side::Local, parts.base, parts.local);
                self.add_changes(Side::Upstream, parts.base, parts.upstream);
                let end = &parts.local[0][plain.local.len()..];
                self.push(&[&line, end]);
                self.next -= 1;
            }
        }
    }
}

impl MergedLines {
    /// How many lines of both sides are in conflict.
    fn in_conflict(&self) -> usize {
        let sides = self.conflicts.iter();
        let sides = sides.flat_map(|conflict| [&conflict.values.local, &conflict.values.upstream]);
        let texts = sides.flatten().filter_map(Value::as_str);
        texts.map(|lines| lines.lines().count()).sum()
    }
}

/// How lines of a text are named in `tags.within`.
fn within(first: usize, count: usize) -> String {
    match count {
        0 | 1 => format!("line {first}"),
        _ => format!("lines {first}-{}", first + count - 1),
    }
}

/// How many lines the versions have between the first and the last line in which any two differ.
fn compared(lines: &Versions<Vec<&str>>) -> usize {
    let all = (lines.base.iter().zip(&lines.local)).zip(&lines.upstream);
    let is_common = |((b, l), u): &((&&str, &&str), &&str)| b == l && b == u;
    let start = all.take_while(is_common).count();
    let rests = lines.as_ref().map(|lines| &lines[start..]);
    let all =
        (rests.base.iter().rev().zip(rests.local.iter().rev())).zip(rests.upstream.iter().rev());
    let end = all.take_while(is_common).count();
    let counts = rests.map(|rest| rest.len() - end);
    counts.into_iter().sum()
}

/// The old content of a file with the line endings of the new one, if each is a text with only one kind: a checkout may
/// convert them.
pub fn with_line_ends_of<'t>(old: &'t [u8], new: &'t [u8]) -> Cow<'t, [u8]> {
    let (Ok(base), Ok(local)) = (str::from_utf8(old), str::from_utf8(new)) else {
        return Cow::Borrowed(old);
    };
    let versions = Versions::new(base, local, base);
    match with_one_line_end(versions).base {
        Cow::Borrowed(_) => Cow::Borrowed(old),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// If each text has only one kind of line ending, gives all texts the ending that wins a three-way merge: saving a file
/// with other line endings must not change its lines.
fn with_one_line_end(versions: Versions<&str>) -> Versions<Cow<'_, str>> {
    let ends = versions.map(line_end);
    let kept = match rule::merge(ends, |a, b| a == b) {
        Outcome::Wins(Side::Local) => ends.local,
        Outcome::Wins(Side::Upstream) => ends.upstream,
        Outcome::Conflict => None,
    };
    let are_known = ends.into_iter().all(|end| end.is_some());
    versions.zip(ends).map(|(text, end)| match kept {
        Some(kept) if are_known && end != Some(kept) => {
            let plain = text.replace("\r\n", "\n");
            Cow::Owned(plain.replace('\n', kept))
        }
        _ => Cow::Borrowed(text),
    })
}

/// The line ending of a text. `None` if it has no line endings, or different ones.
fn line_end(text: &str) -> Option<&'static str> {
    let all = text.matches('\n').count();
    match text.matches("\r\n").count() {
        0 if all > 0 => Some("\n"),
        windows if windows == all && all > 0 => Some("\r\n"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged([base, local, upstream]: [&str; 3], winner: Side) -> MergedLines {
        let versions = Versions::new(base, local, upstream);
        merge(versions, winner, None, &mut MOST_LINES.clone()).expect("few lines")
    }

    #[test]
    fn lines_of_both_sides_are_kept() {
        let text = merged(["a\nb\nc\nd", "a\nB\nc\nd", "a\nb\nc\nd\ne\n"], Side::Local);
        assert_eq!(
            (text.text.as_str(), text.conflicts.len()),
            ("a\nB\nc\nd\ne\n", 0)
        );
    }

    #[test]
    fn the_winners_lines_replace_only_their_hunk() {
        let versions = [
            "a\nb\nc\nd\ne\n",
            "A\nb\nc\nx\ny\ne\n",
            "a\nb\nc\nz\ne\nf\n",
        ];
        let local = merged(versions, Side::Local);
        assert_eq!(local.text, "A\nb\nc\nx\ny\ne\nf\n");
        assert_eq!(local.conflicts[0].within, "lines 4-5");
        let upstream = merged(versions, Side::Upstream);
        assert_eq!(upstream.text, "A\nb\nc\nz\ne\nf\n");
        let [conflict] = &upstream.conflicts[..] else {
            panic!("{upstream:?}");
        };
        assert_eq!(conflict.within, "line 4");
        let lines = conflict.values.as_ref();
        let lines = lines.map(|lines| lines.as_ref().and_then(Value::as_str));
        assert_eq!(
            lines.into_array(),
            [Some("d\n"), Some("x\ny\n"), Some("z\n")]
        );
    }

    #[test]
    fn other_line_endings_change_no_line() {
        let table = [
            (
                ["a\nb\nc\n", "a\r\nB\r\nc\r\n", "a\nb\nc\nd\n"],
                "a\r\nB\r\nc\r\nd\r\n",
            ),
            (
                ["a\nb\nc\n", "a\nB\nc\n", "a\r\nb\r\nc\r\nd\r\n"],
                "a\r\nB\r\nc\r\nd\r\n",
            ),
            (
                ["a\r\nb\r\nc\r\n", "a\nB\nc\n", "a\nb\nc\nd\n"],
                "a\nB\nc\nd\n",
            ),
            (
                ["a\r\nb\nc\n", "a\r\nB\nc\n", "a\r\nb\nc\nd"],
                "a\r\nB\nc\nd",
            ),
        ];
        for (versions, expected) in table {
            let text = merged(versions, Side::Upstream);
            assert_eq!(
                (text.text.as_str(), text.conflicts.len()),
                (expected, 0),
                "{versions:?}"
            );
        }
    }

    #[test]
    fn both_sides_lines_are_named() {
        let text = merged(["a\nb\nc\nd", "a\nB\nc\nd", "b\nc\nd"], Side::Local);
        assert_eq!(text.conflicts.len(), 1, "{text:?}");
        let text = merged(["a\nb\nc\nd", "A\nb\nc\nd", "a\nb\nd\ne"], Side::Local);
        assert_eq!(
            (text.local.as_str(), text.upstream.as_str()),
            ("-a\n+A\n", "-c\n-d\n+d\n+e\n")
        );
    }

    #[test]
    fn lines_beyond_the_limit_are_not_compared() {
        let versions = Versions::new("a\nb\nc\nd\n", "a\nB\nc\nd\n", "a\nb\nC\nd\n");
        let mut left = 11;
        assert!(merge(versions, Side::Local, None, &mut left).is_some());
        assert_eq!(left, 5);
        assert_eq!(merge(versions, Side::Local, None, &mut left), None);
    }
}
