//! Cuts the items out of a ResourceList before anything is parsed.
//!
//! kpt and kustomize write a ResourceList as a block mapping at column 0 with `items:` on a line of
//! its own and every item behind a dash. Such a text is cut at the dashes in one scan, and each
//! piece is a document for the parser by itself. The scan only proposes: the caller parses what is
//! left and every piece, and takes the text as a whole if one of them is not what the scan thought.

use std::ops::Range;

use crate::parallel;

/// Where the items of a ResourceList are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// From the line below `items:` to the next key of the wrapper, or the end.
    pub(crate) items: Range<usize>,
    /// The lines of each item, from the dash (or the comments directly above it) to the next one.
    pub(crate) pieces: Vec<Range<usize>>,
    /// Column of the dashes.
    pub(crate) indent: usize,
}

/// Proposes a split; `None` if the text does not have the usual shape.
pub(crate) fn split(text: &str) -> Option<Split> {
    let bytes = text.as_bytes();
    let start = behind_items_key(bytes)?;
    let Line { at, column, .. } = Lines(bytes, start)
        .find(|line| !line.rest.is_empty() && !line.is_comment())
        .filter(Line::is_dash)?;
    let indent = column;
    let mut starts: Vec<usize> = Vec::new();
    let mut items_end = bytes.len();
    // The first of the comment lines that stand directly above the line at hand, and their end.
    let mut comments: Option<(usize, usize)> = None;
    for at in shallow_lines(bytes, at, indent) {
        let Some(line) = Lines(bytes, at).next() else {
            break;
        };
        let above = comments.take().filter(|(_, end)| *end == at);
        let first = above.map_or(at, |(first, _)| first);
        if line.is_comment() {
            comments = (line.column == indent).then_some((first, line.next));
        } else if line.is_dash() && line.column == indent {
            starts.push(first);
        } else if line.column > 0 {
            return None;
        } else {
            items_end = at;
            break;
        }
    }
    // Blank lines and comments above the first item stay with it.
    *starts.first_mut()? = start;
    let ends = starts.iter().copied().skip(1).chain([items_end]);
    let pieces = starts
        .iter()
        .zip(ends)
        .map(|(start, end)| *start..end)
        .collect();
    Some(Split {
        items: start..items_end,
        pieces,
        indent,
    })
}

/// Behind the line `items:` at column 0.
fn behind_items_key(bytes: &[u8]) -> Option<usize> {
    let key = |line: &Line<'_>| line.column == 0 && line.rest == b"items:";
    Lines(bytes, 0).find(key).map(|line| line.next)
}

/// Where lines begin, from `start`, that are not blank and not indented deeper than `indent`.
///
/// This looks at each line of the text: on several threads where it is long.
fn shallow_lines(bytes: &[u8], start: usize, indent: usize) -> Vec<usize> {
    let mut parts = Vec::new();
    let mut from = start;
    while from < bytes.len() {
        let near = (from + parallel::SHARE).min(bytes.len());
        let next = memchr::memchr(b'\n', &bytes[near..]).map_or(bytes.len(), |n| near + n + 1);
        parts.push(from..next);
        from = next;
    }
    let shallow = |part: &Range<usize>| -> Vec<usize> {
        let text = &bytes[..part.end];
        let breaks = breaks_above_shallow(text, part.clone(), indent);
        let starts = std::iter::once(part.start).chain(breaks.filter(|at| *at < part.end));
        let deeper = |at: usize| {
            let line = &text[at..];
            line.get(indent) == Some(&b' ') && line[..indent].iter().all(|b| *b == b' ')
        };
        let blank = |at: usize| {
            Lines(text, at)
                .next()
                .is_none_or(|line| line.rest.is_empty())
        };
        starts.filter(|at| !deeper(*at) && !blank(*at)).collect()
    };
    let found = parallel::map(&parts, ExactSizeIterator::len, shallow);
    found.concat()
}

/// Where lines begin, but for most of those that are indented deeper than `indent`.
fn breaks_above_shallow(
    text: &[u8],
    part: Range<usize>,
    indent: usize,
) -> impl Iterator<Item = usize> {
    /// Bytes that are looked at together: the loop over them is one of few vector instructions.
    const BLOCK: usize = 256;
    let may_have = move |block: &Range<usize>| {
        let breaks = &text[block.clone()];
        let Some(below) = text.get(block.start + 1 + indent..block.end + 1 + indent) else {
            return true;
        };
        breaks.iter().zip(&text[block.start + 1..]).zip(below).fold(
            false,
            |found, ((at, first), last)| {
                found | ((*at == b'\n') & ((*first != b' ') | (*last != b' ')))
            },
        )
    };
    let starts = part.clone().step_by(BLOCK);
    let blocks = starts.map(move |start| start..(start + BLOCK).min(part.end));
    blocks.filter(may_have).flat_map(|block| {
        let start = block.start;
        memchr::memchr_iter(b'\n', &text[block]).map(move |n| start + n + 1)
    })
}

/// A line of a text.
struct Line<'t> {
    at: usize,
    /// Spaces in front.
    column: usize,
    /// What follows them, without the line break.
    rest: &'t [u8],
    /// Where the next line begins.
    next: usize,
}

impl Line<'_> {
    fn is_dash(&self) -> bool {
        self.rest == b"-" || self.rest.starts_with(b"- ")
    }

    fn is_comment(&self) -> bool {
        self.rest.first() == Some(&b'#')
    }
}

/// The lines of a text from an offset on.
struct Lines<'t>(&'t [u8], usize);

impl<'t> Iterator for Lines<'t> {
    type Item = Line<'t>;

    fn next(&mut self) -> Option<Line<'t>> {
        let Self(bytes, at) = *self;
        if at >= bytes.len() {
            return None;
        }
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
        let line = &bytes[at..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let column = line.iter().take_while(|b| **b == b' ').count();
        let next = (end + 1).min(bytes.len());
        self.1 = next;
        Some(Line {
            at,
            column,
            rest: &line[column..],
            next,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Option<Vec<&str>> {
        let split = split(text)?;
        Some(split.pieces.into_iter().map(|piece| &text[piece]).collect())
    }

    #[test]
    fn items_are_cut_at_their_dashes() {
        let text =
            "kind: ResourceList\nitems:\n# a\n- a: 1\n  b: |\n    - x\n\n# b\n- c: 1\nz: 1\n";
        let cut = ["# a\n- a: 1\n  b: |\n    - x\n\n", "# b\n- c: 1\n"];
        assert_eq!(pieces(text).as_deref(), Some(cut.as_slice()));
        let text = "items:\r\n  - a: 1\r\n  - b: 1";
        assert_eq!(pieces(text), Some(vec!["  - a: 1\r\n", "  - b: 1"]));
        assert_eq!(pieces("items: []\n"), None);
        assert_eq!(pieces("{\"items\": []}\n"), None);
    }
}
