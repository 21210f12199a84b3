//! A text with its tree: documents, lines, comments.

use std::ops::Range;

use memchr::memmem;

use super::error::Location;
use super::lines::{BYTE_ORDER_MARK, line_end, line_start, skip_trivia};
use super::node::NodeRef;
use super::tree::{NodeId, Tree};

/// Bytes from one place whose line is known to the next.
const MILESTONE: usize = 1 << 14;

/// A text with its tree.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// The source, byte for byte.
    pub text: &'a str,
    pub(super) tree: &'a Tree,
}

/// What [`NodeRef::document_range`] gives for the root of the first document if the text has no other; `None` where only
/// the tree can tell.
pub(crate) fn sole_document(text: &str) -> Option<Range<usize>> {
    const MARKER: &str = "---\n";
    let start = if text.starts_with(MARKER) {
        MARKER.len()
    } else {
        0
    };
    let body = &text[start..];
    // Another document, the end of this one, directives; or a line of a block scalar that looks so.
    let marks = ["\n---", "\n...", "\n%"];
    let may_have = marks.iter().any(|mark| {
        body.starts_with(&mark[1..]) || memmem::find(body.as_bytes(), mark.as_bytes()).is_some()
    });
    let has_order_mark = text.as_bytes().starts_with(BYTE_ORDER_MARK);
    (!may_have && !has_order_mark).then_some(start..text.len())
}

/// The documents of a text that the scanner takes, each from its marker to the next one: there a line begins with a marker only
/// where a document does.
pub(crate) fn scanned_documents(text: &str) -> Vec<Range<usize>> {
    const MARKER: &str = "\n---";
    let markers = memmem::find_iter(text.as_bytes(), MARKER).map(|at| at + 1);
    let mut starts: Vec<usize> = std::iter::once(0).chain(markers).collect();
    // What stands above the first marker is part of its document if it has no node of its own.
    if let [_, marker, ..] = starts[..]
        && !text.starts_with(&MARKER[1..])
        && skip_trivia(text.as_bytes(), 0) == marker
    {
        starts.remove(1);
    }
    let ends = starts.iter().skip(1).copied();
    let ends = ends.chain(std::iter::once(text.len()));
    starts
        .iter()
        .copied()
        .zip(ends)
        .map(|(start, end)| start..end)
        .collect()
}

impl<'a> Document<'a> {
    /// Whether this is the same tree of the same text.
    pub(crate) fn is(&self, other: Document<'_>) -> bool {
        std::ptr::eq(self.tree, other.tree) && std::ptr::eq(self.text, other.text)
    }

    /// Pairs a tree with the text that it was parsed from.
    #[must_use]
    pub fn new(text: &'a str, tree: &'a Tree) -> Self {
        Self { text, tree }
    }

    /// Number of documents in the stream.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tree.documents.len()
    }

    /// Whether the text holds no document at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tree.documents.is_empty()
    }

    /// The root node of a document of the stream; `None` if the document has no content.
    #[must_use]
    pub fn root(&self, index: usize) -> Option<NodeRef<'a>> {
        let document = self.tree.documents.get(index)?;
        (!document.empty).then(|| self.node(document.root))
    }

    /// Byte range of a document of the stream, from behind the previous one to the next marker.
    #[must_use]
    pub fn range(&self, index: usize) -> Option<std::ops::Range<usize>> {
        self.tree
            .documents
            .get(index)
            .map(|document| document.start..document.end)
    }

    /// The node of an id of this document's tree.
    #[must_use]
    pub fn node(&self, id: NodeId) -> NodeRef<'a> {
        NodeRef {
            document: *self,
            id,
        }
    }

    /// The last node of the stream in the order of the text.
    pub(super) fn last_node(&self) -> Option<NodeRef<'a>> {
        let last = self.tree.nodes.len().checked_sub(1)?;
        Some(self.node(NodeId(u32::try_from(last).ok()?)))
    }

    /// The comments of the text from `#` to the end of the line, in order.
    pub fn comments(&self) -> impl Iterator<Item = std::ops::Range<usize>> + use<'a> {
        let comments = &self.tree.comments;
        comments
            .iter()
            .map(|(start, end)| *start as usize..*end as usize)
    }

    /// The comments that begin within a range, in order.
    pub fn comments_within(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = &'a str> {
        let comments = &self.tree.comments;
        let from = comments.partition_point(|(start, _)| (*start as usize) < range.start);
        let text = self.text;
        let within = comments[from..]
            .iter()
            .map(|(start, end)| *start as usize..*end as usize);
        within
            .take_while(move |comment| comment.start < range.end)
            .map(move |comment| &text[comment])
    }

    /// Whether the last line of a node is that of a block scalar which keeps blank lines.
    pub(super) fn ends_in_kept_scalar(&self, node: NodeRef<'_>) -> bool {
        let last = self.node(NodeId(node.ids().end - 1));
        let header = last.source().lines().next().unwrap_or_default();
        last.kind().is_block_scalar() && header.contains('+')
    }

    /// The comment that begins at `at`, with its `#`.
    pub(super) fn comment_at(&self, at: usize) -> Option<&'a str> {
        let comments = &self.tree.comments;
        let found = comments
            .binary_search_by_key(&at, |(start, _)| *start as usize)
            .ok()?;
        Some(&self.text[at..comments[found].1 as usize])
    }

    /// The place of a byte offset; many of them do not take long in a long text.
    #[must_use]
    pub fn location(&self, offset: usize) -> Location {
        let text = self.text;
        let new = || Location::milestones(text, MILESTONE);
        let milestones = self.tree.milestones.get_or_init(new);
        let offset = offset.min(text.len());
        let at = offset / MILESTONE;
        milestones[at].behind(&text.as_bytes()[at * MILESTONE..offset])
    }

    /// Start of the line that holds `at`, behind a byte order mark.
    pub(super) fn line_start(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let start = line_start(bytes, at);
        if bytes[start..].starts_with(BYTE_ORDER_MARK) {
            (start + BYTE_ORDER_MARK.len()).min(at)
        } else {
            start
        }
    }

    /// The line feed that ends the line of `at`, or the end of the text.
    pub(super) fn line_end(&self, at: usize) -> usize {
        line_end(self.text.as_bytes(), at)
    }

    /// Column in bytes of `at`, counted from 0.
    pub(super) fn column(&self, at: usize) -> usize {
        at - self.line_start(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::tree::ParseOptions;

    #[test]
    fn scanned_documents_are_those_of_the_tree() {
        for text in [
            "a: 1\n",
            "---\na: 1\n",
            "# c\n\n---\na: 1\n",
            "# c\n---\n---\n# d\n---\na: 1\n---\n",
            "a: 1\n---\nb: |\n  ---\n--- # c\nc: x\n",
            "\n\n---\r\na: 1\r\n---\r\nb: 2\r\n",
            "---\n---\n",
        ] {
            let tree = Tree::parse_fast(text, ParseOptions::default()).expect("scanned");
            let documents = tree.documents.iter();
            let expected: Vec<_> = documents.map(|one| one.start..one.end).collect();
            assert_eq!(scanned_documents(text), expected, "{text}");
        }
    }

    #[test]
    fn a_sole_document_is_what_the_tree_says() {
        for (text, is_known) in [
            ("a: 1\n", true),
            ("---\na: 1\n", true),
            ("\n# c\n\na: 1\n\n# d\n", true),
            ("---\n\n# c\na: 1\n", true),
            ("a: |\n  ---\n  ...\n  % d\n", true),
            ("a: x---\n", true),
            ("--- # c\na: 1\n", false),
            ("---\r\na: 1\r\n", false),
            ("# c\n---\na: 1\n", false),
            ("a: 1\n---\n", false),
            ("a: 1\n...\n", false),
            ("%YAML 1.2\n---\na: 1\n", false),
            ("\u{feff}a: 1\n", false),
        ] {
            let tree = Tree::parse(text, ParseOptions::default()).expect("YAML");
            let root = Document::new(text, &tree).root(0).expect("a root");
            let found = sole_document(text);
            assert_eq!(found.is_some(), is_known, "{text}");
            assert!(found.is_none() || found == root.document_range(), "{text}");
        }
    }
}
