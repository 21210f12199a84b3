//! A text with its tree: documents, lines, comments.

use super::error::Location;
use super::lines::{BYTE_ORDER_MARK, line_end, line_start};
use super::tree::Tree;

/// Distance in bytes between the offsets whose locations are cached.
const MILESTONE: usize = 1 << 14;

/// A text with its tree.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// The source, byte for byte.
    pub text: &'a str,
    pub(super) tree: &'a Tree,
}

impl<'a> Document<'a> {
    /// Whether this is the same tree of the same text.
    pub fn is(&self, other: Document<'_>) -> bool {
        std::ptr::eq(self.tree, other.tree) && std::ptr::eq(self.text, other.text)
    }

    /// Identifies the tree while it is in memory.
    pub fn address(&self) -> usize {
        std::ptr::from_ref(self.tree).addr()
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

    /// Byte range of a document of the stream, from after the previous one to the next marker.
    #[must_use]
    pub fn range(&self, index: usize) -> Option<std::ops::Range<usize>> {
        self.tree
            .documents
            .get(index)
            .map(|document| document.start..document.end)
    }

    /// The ranges of the comments of the text, each from its `#` to the end of the line, in order.
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

    /// The comment that begins at `at`, with its `#`.
    pub(super) fn comment_at(&self, at: usize) -> Option<&'a str> {
        let comments = &self.tree.comments;
        let found = comments
            .binary_search_by_key(&at, |(start, _)| *start as usize)
            .ok()?;
        Some(&self.text[at..comments[found].1 as usize])
    }

    /// The line and column of a byte offset. Cached locations make many lookups in a long text fast.
    #[must_use]
    pub fn location(&self, offset: usize) -> Location {
        let text = self.text;
        let new = || Location::milestones(text, MILESTONE);
        let milestones = self.tree.milestones.get_or_init(new);
        let offset = offset.min(text.len());
        let at = offset / MILESTONE;
        milestones[at].after(&text.as_bytes()[at * MILESTONE..offset])
    }

    /// Start of the line that holds `at`, after a byte order mark.
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
