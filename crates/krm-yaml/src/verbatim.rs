//! Text that moves to another column: only the white space at the start of its lines changes.
//!
//! ```yaml
//! # a package's file          # the same as an item
//! # why                       - # why
//! replicas:   1                 replicas:   1
//! ```

use std::sync::Arc;

use super::comments::comment_after;
use super::content::{Content, OwnedDocument};
use super::document::Document;
use super::lines::{line_end, line_start};
use super::node::NodeRef;
use super::scan::find_line_end;
use super::tree::{NONE, NodeKind};

/// The lines of a whole document; `None` if they cannot move to another column.
pub(super) fn document_lines(root: NodeRef<'_>) -> Option<&str> {
    let text = root.document_text()?;
    let kind = root.kind();
    // Moving the lines would lose the document's directives.
    let (_, span) = root.document_span()?;
    let head = root.document.text[span.start..span.body].trim_start_matches('\u{feff}');
    let has_directives = head.lines().any(|line| line.starts_with('%'));
    let is_collection = kind.is_block_collection() || kind == NodeKind::FlowMapping;
    if !is_collection || has_directives || root.document.tree.unterminated.is_some() {
        return None;
    }
    let lines = without_blank_start(text.trim_start_matches('\u{feff}'));
    if root.document.ends_in_kept_scalar(root) {
        return Some(lines);
    }
    let end = lines.trim_end().len();
    Some(&lines[..line_end(lines.as_bytes(), end)])
}

/// The text without the blank lines at its start.
fn without_blank_start(text: &str) -> &str {
    let content = text.len() - text.trim_start().len();
    &text[line_start(text.as_bytes(), content)..]
}

/// The text of a document as an item with its dash at a column.
pub fn text_as_item(text: &str, indent: usize, newline: &str) -> String {
    let lines = without_blank_start(text);
    let (dash, below) = (format!("{:indent$}- ", ""), format!("{:indent$}  ", ""));
    let bytes = lines.as_bytes();
    let count = 1 + memchr::memchr_iter(b'\n', bytes).count();
    let more = below.len() + newline.len() - 1;
    let mut out = String::with_capacity(lines.len() + count * more + 1);
    let mut at = 0;
    while at < lines.len() {
        let end = find_line_end(bytes, at);
        let line = &lines[at..end];
        // The line gets `newline` instead of its own line break.
        let line = line.strip_suffix('\r').unwrap_or(line);
        if at == 0 {
            out.push_str(&dash);
        } else if !line.is_empty() {
            out.push_str(&below);
        }
        out.push_str(line);
        out.push_str(newline);
        at = end + 1;
    }
    out
}

/// A whole document as content that keeps its lines, comments included; `None` if the lines cannot
/// move.
#[must_use]
pub fn document_as_content(root: NodeRef<'_>) -> Option<Content<'static>> {
    let lines = document_lines(root)?;
    let lines: String = lines.lines().flat_map(|line| [line, "\n"]).collect();
    let text = OwnedDocument::as_it_is(root.reading(), lines).ok()?;
    Some(Content::Text(Arc::new(text)))
}

impl NodeRef<'_> {
    /// Whether the lines of this block collection can be a separate document.
    pub(crate) fn can_be_document(&self) -> bool {
        let tree = self.document.tree;
        let fits = self.kind().is_block_collection() && self.properties_range().is_none();
        // The content of an alias or a merge key is elsewhere in the text.
        let is_own = tree.expansion.is_none() && !self.holds_properties_or_aliases();
        fits && is_own && tree.unterminated.is_none()
    }

    /// Whether this holds an anchor, a tag or an alias.
    fn holds_properties_or_aliases(&self) -> bool {
        let mut nodes = self.ids().map(|id| self.at(id).raw());
        nodes.any(|node| node.kind == NodeKind::Alias || node.properties != NONE)
    }

    /// Whether the values of two entries or items are block collections with the same bytes at the same column,
    /// including all comments in and below them, and without anything that depends on other text: anchors, aliases,
    /// tags, merge keys.
    pub fn is_written_like(&self, other: NodeRef<'_>) -> bool {
        let alike = self.kind().is_block_collection()
            && self.kind() == other.kind()
            && self.column() == other.column();
        let (Some(own), Some(others)) = (self.with_comments(), other.with_comments()) else {
            return false;
        };
        alike
            && own == others
            && memchr::memchr3(b'*', b'&', b'!', own.0.as_bytes()).is_none()
            && !own.0.contains("<<")
    }

    /// The text from the indicator of an entry or item to the end of the comments and blank lines below it, and whether
    /// a line break follows.
    fn with_comments(&self) -> Option<(&str, bool)> {
        let text = self.document.text;
        let start = self.indicator()?;
        let mut end = self.document.line_end(self.range().end);
        while end < text.len() {
            let next = self.document.line_end(end + 1);
            let line = text[end + 1..next].trim_start();
            if !(line.is_empty() || line.starts_with('#')) {
                break;
            }
            end = next;
        }
        Some((&text[start..end], end < text.len()))
    }
}

/// A block collection as the text of a separate document: with the comment on the line of its indicator if `with_head`,
/// with the lines between the indicator and its first line, and with the comments below an item. `None` if its lines
/// cannot move.
pub(super) fn collection_text(node: NodeRef<'_>, with_head: bool) -> Option<String> {
    if !node.can_be_document() {
        return None;
    }
    let document = node.document;
    let (column, start) = (node.column(), node.range().start);
    let mut out = String::new();
    if let Some(indicator) = node.indicator() {
        let first_line = document.line_start(start);
        if let Some(comment) = comment_after(document, indicator + 1).filter(|_| with_head) {
            out.push_str(comment.trim());
            out.push('\n');
        }
        if first_line > indicator {
            let head = document.line_end(indicator) + 1..first_line;
            push_lines(document, head, column, &mut out)?;
        }
    }
    let own_line = document.line_end(start).min(node.range().end);
    let own_line = document.line_end(own_line);
    out.push_str(document.text[start..own_line].trim_end_matches('\r'));
    out.push('\n');
    let end = foot_end(node, column);
    if end > own_line {
        push_lines(document, own_line + 1..end, column, &mut out)?;
        // The last blank line of a scalar that keeps it has no byte before its line break.
        if document.text[..end].ends_with('\n') && document.ends_in_kept_scalar(node) {
            out.push('\n');
        }
    }
    Some(out)
}

/// The end of the last line of a collection. For an item that is a mapping, this includes the comments below it that
/// are indented at least as deep as its entries.
fn foot_end(node: NodeRef<'_>, column: usize) -> usize {
    let document = node.document;
    let text = document.text;
    let last = document.line_end(node.range().end);
    let is_item = node
        .parent()
        .is_some_and(|parent| parent.kind().is_sequence());
    if !is_item || !node.kind().is_mapping() || document.ends_in_kept_scalar(node) {
        return last;
    }
    let (mut end, mut at) = (last, last + 1);
    while at < text.len() {
        let line_end = document.line_end(at);
        let line = &text[at..line_end];
        let indent = line.len() - line.trim_start().len();
        let is_own = indent >= column && document.comment_at(at + indent).is_some();
        if is_own {
            end = line_end;
        } else if !line.trim().is_empty() {
            break;
        }
        at = line_end + 1;
    }
    end
}

/// Adds lines without `column` columns of indentation. Blank lines and comments may be indented less; `None` if another
/// line is.
fn push_lines(
    document: Document<'_>,
    range: std::ops::Range<usize>,
    column: usize,
    out: &mut String,
) -> Option<()> {
    let mut at = range.start;
    while at < range.end {
        let end = document.line_end(at);
        let line = &document.text[at..end.min(range.end)];
        let line = line.strip_suffix('\r').unwrap_or(line);
        let indent = line.len() - line.trim_start_matches(' ').len();
        let is_free = indent == line.len() || document.comment_at(at + indent).is_some();
        if indent < column && !is_free {
            return None;
        }
        out.push_str(&line[indent.min(column)..]);
        out.push('\n');
        at = end + 1;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::{Document, ParseOptions, Tree};

    /// Whether the values of `a` in two texts are written alike.
    fn alike(one: &str, other: &str) -> bool {
        let options = ParseOptions::default();
        let trees = [one, other].map(|text| Tree::parse(text, options).expect("YAML"));
        let values = [(one, &trees[0]), (other, &trees[1])].map(|(text, tree)| {
            let root = Document::new(text, tree).root(0);
            root.and_then(|root| root.get("a")).expect("a value")
        });
        values[0].is_written_like(values[1])
    }

    #[test]
    fn directives_belong_to_one_document() {
        let text = "%YAML 1.2\n---\na:   1\n---\nb:   |\n  x\n\n  % y\n---\nc:   3\n...\n%YAML 1.2\n---\nd:   4\n";
        let tree = Tree::parse(text, ParseOptions::default()).expect("YAML");
        let document = Document::new(text, &tree);
        let items = (0..document.len()).map(|index| {
            let root = document.root(index).expect("a root");
            super::document_lines(root)
        });
        let items: Vec<Option<&str>> = items.collect();
        let is_moved: Vec<bool> = items.iter().map(Option::is_some).collect();
        assert_eq!(is_moved, [false, true, true, false], "{items:?}");
        let item = items[1].map(|lines| super::text_as_item(lines, 0, "\n"));
        assert_eq!(item.as_deref(), Some("- b:   |\n    x\n\n    % y\n"));
    }

    #[test]
    fn values_are_written_alike_with_their_comments() {
        let text = "a: # one\n  # two\n  b: 1 # three\n  c: |\n    d\n  # four\n\n# five\ne: 2\n";
        assert!(alike(text, text));
        assert!(alike(text, &text.replace("e: 2", "e: 3")));
        for word in ["one", "two", "three", "four", "five", "1", "d"] {
            assert!(!alike(text, &text.replace(word, "other")), "{word}");
        }
        assert!(!alike("a:\n  b: 1\n", "a:\n    b: 1\n"));
        assert!(!alike("a:\n  b: |\n    c", "a:\n  b: |\n    c\n"));
    }

    #[test]
    fn values_that_are_written_elsewhere_are_unknown() {
        for text in [
            "a:\n  b: &x 1\n",
            "x: &x {}\na:\n  b: *x\n",
            "a:\n  b: !t 1\n",
            "a: {b: 1}\n",
            "a: 1\n",
        ] {
            assert!(!alike(text, text), "{text}");
        }
    }
}
