//! Cuts the items out of a ResourceList before anything is parsed.
//!
//! kpt and kustomize write a ResourceList as a block mapping at column 0 with `items:` on a line of
//! its own and every item behind a dash. Such a text is cut at the dashes in one scan, and each
//! piece is a document for the parser by itself. The scan only proposes: the caller parses what is
//! left and every piece, and takes the text as a whole if one of them is not what the scan thought.

use std::ops::Range;

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
    let line_at = |at: usize| memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
    let mut at = 0;
    let start = loop {
        let end = line_at(at);
        if trim_return(&bytes[at..end]) == b"items:" {
            break (end + 1).min(bytes.len());
        }
        if end >= bytes.len() {
            return None;
        }
        at = end + 1;
    };
    let mut starts: Vec<usize> = Vec::new();
    let mut indent = 0;
    // The first of the comment lines that stand directly above the line at hand.
    let mut comments: Option<usize> = None;
    let mut items_end = bytes.len();
    at = start;
    while at < bytes.len() {
        let end = line_at(at);
        let line = trim_return(&bytes[at..end]);
        let column = line.iter().take_while(|b| **b == b' ').count();
        let rest = &line[column..];
        let dash = rest == b"-" || rest.starts_with(b"- ");
        let comment = rest.first() == Some(&b'#');
        if starts.is_empty() {
            match rest {
                [] => comments = None,
                _ if comment => comments = comments.or(Some(at)),
                _ if dash => {
                    indent = column;
                    starts.push(comments.take().unwrap_or(at));
                }
                _ => return None,
            }
        } else if dash && column == indent {
            starts.push(comments.take().unwrap_or(at));
        } else if comment && column == indent {
            comments = comments.or(Some(at));
        } else {
            comments = None;
            if !rest.is_empty() && column <= indent && !comment {
                if column > 0 {
                    return None;
                }
                items_end = at;
                break;
            }
        }
        at = end + 1;
    }
    if starts.is_empty() {
        return None;
    }
    let ends = starts.iter().copied().skip(1).chain([items_end]);
    let pieces = starts
        .iter()
        .zip(ends)
        .map(|(start, end)| *start..end)
        .collect();
    // Blank lines and comments set off above the first item stay with it.
    let mut split = Split {
        items: start..items_end,
        pieces,
        indent,
    };
    if let Some(first) = split.pieces.first_mut() {
        first.start = start;
    }
    Some(split)
}

fn trim_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
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
