//! The lines of an item, replaced by those of a document. The document keeps its lines, comments and
//! indentation, and only moves to the item's column.
//!
//! ```yaml
//! - # of the item          # document:  # of the document      # after:  - # of the document
//!   a: 1                                a: 2                               a: 2
//!   # below the item                    # below the document               # below the document
//! - b: 1                                                                   # below the item
//!                                                                        - b: 1
//! ```
//!
//! Comments between dash and first key stay if the document has none above its first key. A comment that
//! both have is written once.

use crate::yaml::{NodeRef, newline_at};

/// The text of an item with a document after its dash, which is at `dash` and in column `indent`.
pub(super) fn replaced(item: NodeRef<'_>, dash: usize, root: NodeRef<'_>, indent: usize) -> String {
    let piece = item.document.text;
    let text = root.document.text;
    let newline = newline_at(piece, dash);
    let inner = indent + 2;
    let (start, end) = (line_start(text, root.outer_start()), root.range().end);
    let end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    let (head, foot) = (comments(&text[..start]), comments(&text[end..]));
    let behind = &piece[item.range().end..];
    let behind = behind.find('\n').map_or("", |at| &behind[at + 1..]);

    let above = comments(&piece[..dash]);
    let is_above = !head.is_empty() && above.ends_with(&head);
    let mut new = String::with_capacity(piece.len() + text.len());
    let from = if head.is_empty() || is_above {
        // With the comments that the item has there.
        let own = &piece[..item.outer_start()];
        let lines = own[dash..].contains('\n');
        new.push_str(if lines { own } else { &piece[..=dash] });
        new.push_str(if lines { "" } else { " " });
        start
    } else {
        new.push_str(&piece[..=dash]);
        new.push(' ');
        0
    };
    let to = if !foot.is_empty() && comments(behind).starts_with(&foot) {
        end
    } else {
        text.len()
    };
    let lines = text[from..to]
        .lines()
        .skip_while(|line| line.trim().is_empty());
    let mut first = true;
    for line in lines {
        if !line.is_empty() && !first {
            new.extend(std::iter::repeat_n(' ', inner));
        }
        new.push_str(if first { line.trim_start() } else { line });
        new.push_str(newline);
        first = false;
    }
    if behind.is_empty() && !piece.ends_with('\n') {
        new.truncate(new.len() - newline.len());
    }
    new.push_str(behind);
    new
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

/// The comment lines of a text between nodes.
fn comments(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| line.starts_with('#')).collect()
}
