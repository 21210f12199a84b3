//! Merges texts by lines: a line that one side changed is taken, and where both changed the same lines the
//! winner's stand for those alone.
//!
//! Source: contract, merge-package, Parts (Texts).

use std::borrow::Cow;

use super::lines::{Changed, Chunk, chunks};
use super::rule::{self, Outcome, Side};
use super::versions::Versions;

/// How many lines the merges of one run compare, those left out that all versions have in common at either end. A
/// few bytes of text can be a line, and hostile ones take tens of microseconds each.
pub(super) const MOST_LINES: usize = 500_000;

/// A text made of three.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MergedText {
    pub(super) text: String,
    /// The lines that both sides changed differently, in their order.
    pub(super) conflicts: Vec<LineConflict>,
}

/// Lines that both sides changed differently.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LineConflict {
    /// The place in the merged text: `lines 12-14`.
    pub(super) within: String,
    /// The lines of each version; `None` where it has none there.
    pub(super) lines: Versions<Option<String>>,
}

/// Merges three texts. `None` if that would take more lines than are left, of which those compared are taken.
pub(super) fn merge(
    versions: Versions<&str>,
    winner: Side,
    lines_left: &mut usize,
) -> Option<MergedText> {
    let versions = with_one_line_end(versions);
    let lines = versions.as_ref().map(|text| {
        let lines = text.split_inclusive('\n');
        lines.collect::<Vec<_>>()
    });
    *lines_left = lines_left.checked_sub(compared(&lines))?;
    let slices = lines.as_ref().map(Vec::as_slice);
    let mut merged = MergedText {
        text: String::new(),
        conflicts: Vec::new(),
    };
    // The number of the next line.
    let mut next = 1;
    for Chunk { changed, lines } in chunks(slices) {
        let ranges = slices.zip(lines);
        let parts = ranges.map(|(lines, range)| &lines[range]);
        let side = match changed {
            Changed::One(side) => side,
            Changed::Nobody | Changed::BothAlike => Side::Local,
            Changed::Conflict => winner,
        };
        let stands = match side {
            Side::Local => parts.local,
            Side::Upstream => parts.upstream,
        };
        if changed == Changed::Conflict {
            merged.conflicts.push(LineConflict {
                within: within(next, stands.len()),
                lines: parts.map(|lines| (!lines.is_empty()).then(|| lines.concat())),
            });
        }
        stands.iter().for_each(|line| merged.text.push_str(line));
        next += stands.len();
    }
    Some(merged)
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
    let Versions {
        base,
        local,
        upstream,
    } = lines;
    let all = base.iter().zip(local).zip(upstream);
    let is_common = |((b, l), u): &((&&str, &&str), &&str)| b == l && b == u;
    let start = all.take_while(is_common).count();
    let rests = lines.as_ref().map(|lines| &lines[start..]);
    let all =
        (rests.base.iter().rev().zip(rests.local.iter().rev())).zip(rests.upstream.iter().rev());
    let end = all.take_while(is_common).count();
    let counts = rests.map(|rest| rest.len() - end);
    counts.into_iter().sum()
}

/// The texts with the line end that stands three-way, where each has one kind: to save a file with other line
/// ends changes no line of it.
fn with_one_line_end(versions: Versions<&str>) -> Versions<Cow<'_, str>> {
    let ends = versions.map(line_end);
    let stands = match rule::merge(ends, |a, b| a == b) {
        Outcome::Stands(Side::Local) => ends.local,
        Outcome::Stands(Side::Upstream) => ends.upstream,
        Outcome::Conflict => None,
    };
    let are_known = ends.into_iter().all(|end| end.is_some());
    versions.zip(ends).map(|(text, end)| match stands {
        Some(stands) if are_known && end != Some(stands) => {
            let plain = text.replace("\r\n", "\n");
            Cow::Owned(plain.replace('\n', stands))
        }
        _ => Cow::Borrowed(text),
    })
}

/// The line end of a text, if it has one kind of them.
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

    fn merged([base, local, upstream]: [&str; 3], winner: Side) -> MergedText {
        let versions = Versions {
            base,
            local,
            upstream,
        };
        merge(versions, winner, &mut MOST_LINES.clone()).expect("few lines")
    }

    #[test]
    fn lines_of_both_sides_stand() {
        let text = merged(["a\nb\nc\nd", "a\nB\nc\nd", "a\nb\nc\nd\ne\n"], Side::Local);
        assert_eq!(
            (text.text.as_str(), text.conflicts.len()),
            ("a\nB\nc\nd\ne\n", 0)
        );
    }

    #[test]
    fn the_winners_lines_stand_for_their_hunk_alone() {
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
        let lines = conflict.lines.as_ref().map(Option::as_deref);
        assert_eq!(
            lines.into_array(),
            [Some("d\n"), Some("x\ny\n"), Some("z\n")]
        );
    }

    #[test]
    fn other_line_ends_change_no_line() {
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
    fn lines_beyond_the_limit_are_not_compared() {
        let versions = Versions {
            base: "a\nb\nc\nd\n",
            local: "a\nB\nc\nd\n",
            upstream: "a\nb\nC\nd\n",
        };
        let mut left = 11;
        assert!(merge(versions, Side::Local, &mut left).is_some());
        assert_eq!(left, 5);
        assert_eq!(merge(versions, Side::Local, &mut left), None);
    }
}
