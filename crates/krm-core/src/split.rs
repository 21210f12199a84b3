//! Cuts the items out of a ResourceList before anything is parsed.
//!
//! kpt and kustomize write a ResourceList as a block mapping at column 0, with `items:` on a separate line and every
//! item after a dash, or with `items: []`. One scan cuts such a text at the dashes. The scan only proposes: the caller
//! parses the rest and every piece, and reads the whole text instead if one of them is not what the scan expected.

use std::ops::Range;

use krm_package::parallel;

/// Where the items of a ResourceList are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// From the line below `items:` to the next key of the wrapper, or the end. For an empty list, the ` []`.
    pub(crate) items: Range<usize>,
    /// The lines of each item, from the dash (or the comments directly above it) to the next one.
    pub(crate) pieces: Vec<Range<usize>>,
    /// Column of the dashes; `None` if there are no items.
    pub(crate) indent: Option<usize>,
}

/// Proposes a split; `None` if the text is not in the usual shape.
pub(crate) fn split(text: &str) -> Option<Split> {
    let bytes = text.as_bytes();
    match items_key(bytes)? {
        ItemsKey::Below(start) => cut_at_dashes(bytes, start),
        ItemsKey::Empty(items) => Some(Split {
            items,
            pieces: Vec::new(),
            indent: None,
        }),
    }
}

/// Cuts the items that begin at `start`.
fn cut_at_dashes(bytes: &[u8], start: usize) -> Option<Split> {
    let ListLine { at, column, .. } = ListLines(bytes, start)
        .find(|line| !line.rest.is_empty() && !line.is_comment())
        .filter(ListLine::is_dash)?;
    let indent = column;
    let mut starts: Vec<usize> = Vec::new();
    let mut items_end = bytes.len();
    // The comment lines directly above the current line: start of the first, end of the last.
    let mut comments: Option<(usize, usize)> = None;
    for at in shallow_lines(bytes, at, indent) {
        let Some(line) = ListLines(bytes, at).next() else {
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
    // Blank lines and comments above the first item belong to it.
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
        indent: Some(indent),
    })
}

/// The line of the key `items` at column 0.
enum ItemsKey {
    /// `items:`; items begin on the next line.
    Below(usize),
    /// `items: []`, with the range after the colon.
    Empty(Range<usize>),
}

fn items_key(bytes: &[u8]) -> Option<ItemsKey> {
    let end = |line: &ListLine<'_>| line.at + line.rest.len();
    ListLines(bytes, 0).find_map(|line| match (line.column, line.rest) {
        (0, b"items:") => Some(ItemsKey::Below(line.next)),
        (0, b"items: []") => Some(ItemsKey::Empty(end(&line) - " []".len()..end(&line))),
        _ => None,
    })
}

/// The starts of the lines from `start` on that are not blank and not indented deeper than `indent`.
///
/// Each line of the text is checked, on several threads if the text is long.
fn shallow_lines(bytes: &[u8], start: usize, indent: usize) -> Vec<usize> {
    let mut parts = Vec::new();
    let mut from = start;
    while from < bytes.len() {
        let near = (from + parallel::share()).min(bytes.len());
        let next = memchr::memchr(b'\n', &bytes[near..]).map_or(bytes.len(), |n| near + n + 1);
        parts.push(from..next);
        from = next;
    }
    let shallow = |part: &Range<usize>| -> Vec<usize> {
        let text = &bytes[..part.end];
        let breaks = memchr::memchr_iter(b'\n', &text[part.clone()]).map(|n| part.start + n + 1);
        let starts = std::iter::once(part.start).chain(breaks.filter(|at| *at < part.end));
        let deeper = |at: usize| {
            let line = &text[at..];
            line.get(indent) == Some(&b' ') && line[..indent].iter().all(|b| *b == b' ')
        };
        let blank = |at: usize| {
            ListLines(text, at)
                .next()
                .is_none_or(|line| line.rest.is_empty())
        };
        starts.filter(|at| !deeper(*at) && !blank(*at)).collect()
    };
    let found = parallel::map(&parts, ExactSizeIterator::len, shallow);
    found.concat()
}

/// A line of a text.
struct ListLine<'t> {
    at: usize,
    /// Number of spaces at the start.
    column: usize,
    /// The text after the spaces, without the line break.
    rest: &'t [u8],
    /// Start of the next line.
    next: usize,
}

impl ListLine<'_> {
    fn is_dash(&self) -> bool {
        self.rest == b"-" || self.rest.starts_with(b"- ")
    }

    fn is_comment(&self) -> bool {
        self.rest.first() == Some(&b'#')
    }
}

/// The lines of a text from an offset on.
struct ListLines<'t>(&'t [u8], usize);

impl<'t> Iterator for ListLines<'t> {
    type Item = ListLine<'t>;

    fn next(&mut self) -> Option<ListLine<'t>> {
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
        Some(ListLine {
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
        assert_eq!(pieces("items: []\n"), Some(Vec::new()));
        assert_eq!(pieces("items: [] # c\n"), None);
        assert_eq!(pieces("{\"items\": []}\n"), None);
    }
}
