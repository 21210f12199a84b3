//! The head of a text: comments at its start that belong to the file, not to its first document.
//!
//! ```yaml
//! # Copyright of the file        <- head
//!                                <- head
//! # What this resource is for
//! apiVersion: v1
//! ```
//!
//! A blank line or a `---` separates the head from the first document. A `---` with text after it,
//! as in `--- # first`, belongs to the document.

use super::lines::{BYTE_ORDER_MARK, is_marker, line_end};
use super::node::NodeRef;

/// The end of the head: where the first document's own text begins.
pub fn head_end(text: &str) -> usize {
    end(text, false)
}

/// The end of the head and of the documents after it that have no content: where the first document with content
/// begins.
pub fn whole_head_end(text: &str) -> usize {
    end(text, true)
}

fn end(text: &str, takes_empty_documents: bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = if bytes.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len()
    } else {
        0
    };
    let mut end = at;
    let mut is_opened = false;
    while at < bytes.len() {
        let next = (line_end(bytes, at) + 1).min(bytes.len());
        let line = &bytes[at..next];
        match line.trim_ascii() {
            [] => end = next,
            [b'#', ..] => {}
            _ if is_marker(line, b"---") && (!is_opened || takes_empty_documents) => {
                let is_bare = line[3..].trim_ascii().is_empty();
                end = if is_bare { next } else { at };
                is_opened = true;
                if !is_bare {
                    break;
                }
            }
            // A directive.
            [b'%', ..] if line[0] == b'%' && !is_opened => {}
            _ => break,
        }
        at = next;
    }
    end
}

impl<'a> NodeRef<'a> {
    /// The range of this root's document, without the head of the file. It includes the document's `---` only if text
    /// follows on the same line. `None` for nodes that are not roots.
    #[must_use]
    pub fn own_range(&self) -> Option<std::ops::Range<usize>> {
        const MARKER: usize = "---".len();
        let (index, span) = self.document_span()?;
        let text = self.document.text;
        let line = line_end(text.as_bytes(), span.body);
        let mut start = match text.get(span.body..line) {
            _ if span.body == span.start => span.start,
            Some(rest) if rest.trim().is_empty() => (line + 1).min(span.end),
            _ => span.body - MARKER.min(span.body),
        };
        if index == 0 {
            start = start.max(head_end(text)).min(span.end);
        }
        Some(start..span.end)
    }

    /// The text of [`NodeRef::own_range`].
    #[must_use]
    pub fn own_text(&self) -> Option<&'a str> {
        self.own_range().map(|range| &self.document.text[range])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OwnedDocument;

    #[test]
    fn a_head_is_what_a_blank_line_or_a_marker_sets_off() {
        let table = [
            ("", ""),
            ("a: 1\n", ""),
            ("# of a\na: 1\n", ""),
            ("# file\n\na: 1\n", "# file\n\n"),
            ("# file\n\n# of a\na: 1\n", "# file\n\n"),
            ("# one\n\n# two\n\n# of a\na: 1\n", "# one\n\n# two\n\n"),
            ("# file\n---\na: 1\n", "# file\n---\n"),
            ("# file\n---\n# of a\na: 1\n", "# file\n---\n"),
            ("---\n# file\n\na: 1\n", "---\n# file\n\n"),
            ("---\na: 1\n---\nb: 1\n", "---\n"),
            ("--- # first\na: 1\n", ""),
            ("# file\n--- # first\na: 1\n", "# file\n"),
            ("%YAML 1.2\n---\na: 1\n", "%YAML 1.2\n---\n"),
            ("---\n# no resource\n---\na: 1\n", "---\n"),
            ("# file\r\n\r\na: 1\r\n", "# file\r\n\r\n"),
            ("\u{feff}# file\n\na: 1\n", "\u{feff}# file\n\n"),
            ("# nothing else\n", ""),
        ];
        for (text, head) in table {
            assert_eq!(&text[..head_end(text)], head, "{text:?}");
        }
    }

    #[test]
    fn documents_without_content_are_part_of_the_whole_head() {
        let table = [
            ("---\n# none\n---\na: 1\n", "---\n# none\n---\n"),
            (
                "# x\n\n---\n# y\n\n---\n# z\na: 1\n",
                "# x\n\n---\n# y\n\n---\n",
            ),
            ("a: 1\n---\n# y\n---\nb: 1\n", ""),
        ];
        for (text, head) in table {
            assert_eq!(&text[..whole_head_end(text)], head, "{text:?}");
        }
    }

    #[test]
    fn a_document_has_no_head_and_no_bare_marker() {
        let table: [(&str, &[&str]); 5] = [
            (
                "# file\n\n# of a\na: 1\n---\nb: 1\n",
                &["# of a\na: 1\n", "b: 1\n"],
            ),
            (
                "# file\n---\na: 1\n--- # of b\nb: 1\n",
                &["a: 1\n", "--- # of b\nb: 1\n"],
            ),
            ("--- # of a\na: 1\n", &["--- # of a\na: 1\n"]),
            ("\u{feff}a: 1\n", &["a: 1\n"]),
            ("---\r\na: 1\r\n---\r\nb: 1", &["a: 1\r\n", "b: 1"]),
        ];
        for (text, expected) in table {
            let owned = OwnedDocument::parse(text.to_owned()).expect("YAML");
            let document = owned.document();
            let roots = document.roots();
            let found: Vec<&str> = roots.filter_map(|root| root.own_text()).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
