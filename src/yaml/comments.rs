//! The comments of an entry or item: on the lines directly above it, and at the end of its line.

use super::document::Document;
use super::node::{EntryRef, NodeRef};
use super::tree::{NodeId, NodeKind};

/// The comment at the end of the line of an entry (by its key) or item, from its `#`. Empty if there
/// is none, `None` if there cannot be one.
#[must_use]
pub(crate) fn line_comment(owner: NodeRef<'_>) -> Option<&str> {
    let owner = owner.written();
    let at = comment_place(owner)?;
    Some(
        comment_behind(owner.document, at)
            .unwrap_or_default()
            .trim(),
    )
}

/// All comments of a resource: of its document, or those within its node.
#[must_use]
pub(crate) fn all_comments(root: NodeRef<'_>) -> Vec<&str> {
    let document = root.document;
    let documents = &document.tree.documents;
    let found = documents.binary_search_by_key(&root.id, |d| d.root);
    let range = match found {
        Ok(index) if !document.tree.within => documents[index].start..documents[index].end,
        _ => root.range().start..document.line_end(root.range().end),
    };
    document.comments_within(range).collect()
}

/// White space and comment from `at` to the end of the line, if a comment is there.
pub(super) fn comment_behind(document: Document<'_>, at: usize) -> Option<&str> {
    let rest = &document.text[at..];
    let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let comment = document.comment_at(at + blank)?;
    Some(rest[..blank + comment.len()].trim_end_matches('\r'))
}

/// Where an entry (by its key) or an item begins.
pub(super) fn unit_start(owner: NodeRef<'_>) -> usize {
    let start = owner.outer_start();
    owner.mark().unwrap_or(start).min(start)
}

/// The place of the comment at the end of an entry's or item's line, with the white space in front:
/// behind a value or the header of a block scalar on that line, else behind the indicator. `None` if
/// there cannot be a comment, as in a flow collection of several lines.
pub(super) fn comment_place(owner: NodeRef<'_>) -> Option<usize> {
    let document = owner.document;
    let value = match owner.parent()?.kind() {
        NodeKind::BlockSequence => owner,
        NodeKind::BlockMapping => document.node(NodeId(owner.raw().next)),
        _ => return None,
    };
    let at = match value.kind() {
        kind if kind.is_block_scalar() => {
            // Behind the header, on the line of the indicator.
            let at = header_end(value);
            (document.line_end(value.mark()?) >= at).then_some(at)?
        }
        NodeKind::BlockMapping | NodeKind::BlockSequence => {
            let mark = value.mark()? + 1;
            let at = mark.max(value.properties_range().map_or(0, |range| range.end));
            (document.line_end(at) < value.range().start).then_some(at)?
        }
        _ => {
            let mark = value.mark()?;
            let at = value.range().end.max(mark + 1);
            if document.line_end(mark) >= at {
                at
            } else {
                // A value on lines of its own: behind the indicator, unless its comment is there.
                let head = value.properties_range().map_or(0, |range| range.end);
                let head = head.max(mark + 1);
                let is_below = document.line_end(head) < value.range().start;
                let has_own = comment_behind(document, head).is_some();
                (is_below && (has_own || comment_behind(document, at).is_none())).then_some(head)?
            }
        }
    };
    let rest = document.text[at..document.line_end(at)].trim();
    (rest.is_empty() || comment_behind(document, at).is_some()).then_some(at)
}

/// The comment lines directly above an entry (by its key) or item, each from its `#`.
#[must_use]
pub(crate) fn comments_above(node: NodeRef<'_>) -> Vec<&str> {
    let node = node.written();
    let document = node.document;
    let start = document.line_start(unit_start(node));
    // The first entry behind a dash: the comments above belong to the item.
    if !document.text[start..unit_start(node)]
        .trim_start()
        .is_empty()
    {
        return Vec::new();
    }
    let head = head_start(document, start, document.column(node.outer_start()), 0);
    document.text[head..start].lines().map(str::trim).collect()
}

/// The first of the comment lines directly above the line at `line`; a comment that is indented
/// deeper belongs to what stands above it.
pub(super) fn head_start(
    document: Document<'_>,
    line: usize,
    column: usize,
    floor: usize,
) -> usize {
    let mut start = line;
    while start > floor && document.text[..start].ends_with('\n') {
        let above = document.line_start(start - 1);
        let text = &document.text[above..start];
        let indent = text.len() - text.trim_start_matches([' ', '\t']).len();
        if above < floor || indent > column || document.comment_at(above + indent).is_none() {
            break;
        }
        start = above;
    }
    start
}

/// Behind the indicators of a block scalar.
pub(super) fn header_end(node: NodeRef<'_>) -> usize {
    let behind = &node.source().as_bytes()[1..];
    let indicators = behind.iter().take_while(|b| b"+-123456789".contains(b));
    node.range().start + 1 + indicators.count()
}

/// The comment behind an entry or item of a flow collection and its comma, from its `#`.
pub(super) fn comment_in_flow(value: NodeRef<'_>) -> Option<&str> {
    let value = value.written();
    let document = value.document;
    let end = value
        .range()
        .end
        .max(value.mark().map_or(0, |mark| mark + 1));
    let rest = &document.text[end..];
    let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let behind = if rest[blank..].starts_with(',') {
        end + blank + 1
    } else {
        end
    };
    comment_behind(document, behind).map(str::trim)
}

/// The end of an entry: the end of its value, or of its colon if it has no value.
pub(super) fn entry_end(entry: EntryRef<'_>) -> usize {
    let (key, value) = (entry.key.written(), entry.value.written());
    let mark = value.mark().map_or(0, |mark| mark + 1);
    value.range().end.max(key.range().end).max(mark)
}
