//! Small facts on lines and block scalars.

use crate::yaml::document::Document;
use crate::yaml::node::NodeRef;

pub(super) fn ends_in_block_scalar(document: Document<'_>) -> bool {
    document
        .last_node()
        .is_some_and(|last| last.kind().is_block_scalar())
}

/// Columns that the lines of a block scalar are indented by, if it has any.
pub(super) fn body_indent(node: NodeRef<'_>) -> Option<usize> {
    let mut lines = node.source().split('\n').skip(1);
    lines.find(|line| !line.trim().is_empty()).map(indent_of)
}

pub(super) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// The indicators behind the `|` or `>` of a block scalar.
pub(super) fn block_indicators(node: NodeRef<'_>) -> &str {
    let text = &node.document.text[node.range().start + 1..];
    let length = text
        .bytes()
        .take_while(|b| b"+-123456789".contains(b))
        .count();
    &text[..length]
}

/// The line break at the end of the line of `at` (or, on the last line, of the line before).
pub(super) fn newline_at(text: &str, at: usize) -> &'static str {
    let bytes = text.as_bytes();
    let at = at.min(bytes.len());
    let end = memchr::memchr(b'\n', &bytes[at..])
        .map(|n| at + n)
        .or_else(|| memchr::memrchr(b'\n', &bytes[..at]));
    match end {
        Some(end) if end > 0 && bytes[end - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

/// The end of the line of `at`, before its line break of either kind.
pub(super) fn break_at(document: Document<'_>, at: usize) -> usize {
    let end = document.line_end(at);
    if end > at && document.text.as_bytes()[end - 1] == b'\r' {
        end - 1
    } else {
        end
    }
}
