//! The lines between the entries and items of a block collection: comments and blank lines.
//!
//! ```yaml
//! # above         <- gap
//! a: # head
//!   b: 1
//! #  c: 2         <- gap
//!                 <- gap
//! d: |
//!   # text, so not in a gap
//! # foot          <- gap
//! ```
//!
//! A gap belongs to no entry. Comments between a key and a value that is not a collection are part of the entry. A
//! collection in flow style on several lines has gaps above its entries and items that begin a line.

use std::ops::Range;

use super::comments::{block_indicators, unit_start, value_of};
use super::document::Document;
use super::edit::body_indent;
use super::node::{EntryRef, NodeRef};

/// An entry or item, with the gap above it.
#[derive(Debug, Clone)]
pub struct GapOwner<'a> {
    /// The key of the entry, or the item.
    pub owner: NodeRef<'a>,
    /// How many collections of the walk are around it.
    pub depth: usize,
    /// Column in bytes of the key, or of the dash.
    pub column: usize,
    /// The lines of the gap above it. `None` if other text precedes it on its line.
    pub above: Option<Range<usize>>,
    /// If a block scalar directly precedes the gap, what lines must be like that are not part of its text.
    pub scalar: Option<ScalarAbove>,
}

impl<'a> GapOwner<'a> {
    /// The value of the entry, or the item.
    #[must_use]
    pub fn value(&self) -> NodeRef<'a> {
        let is_key = self
            .owner
            .parent()
            .is_some_and(|one| one.kind().is_mapping());
        if is_key {
            EntryRef::of_key(self.owner).value
        } else {
            self.owner
        }
    }
}

/// A block scalar above a gap.
#[derive(Debug, Clone, Copy)]
pub struct ScalarAbove {
    /// Comments that are indented this deep would be part of the scalar.
    pub body: usize,
    /// The column of the entry or item that has the scalar.
    pub column: usize,
    /// Whether blank lines would be part of its value.
    pub keeps_blank_lines: bool,
}

/// All entries and items of a block collection and of the collections in it, with the gaps around them. Collections in
/// flow style on one line have none.
#[derive(Debug, Clone)]
pub struct GapWalk<'a> {
    pub owners: Vec<GapOwner<'a>>,
    /// The gap below the last entry or item. Only in the root of a document, it can contain lines.
    pub foot: Range<usize>,
    pub scalar_above_foot: Option<ScalarAbove>,
}

impl<'a> GapWalk<'a> {
    /// `None` if the node is not a block collection, or if it has a key that is one.
    pub fn of(root: NodeRef<'a>) -> Option<Self> {
        // An alias stands for itself here: what it refers to has other lines.
        let root = root.origin();
        if !root.kind().is_block_collection() {
            return None;
        }
        let document = root.document;
        let first = root.children().next()?;
        let own = root.own_range();
        let start = match &own {
            Some(own) if is_line_start(document, own.start) => own.start,
            Some(own) => (document.line_end(own.start) + 1).min(own.end),
            None => document.line_start(unit_start(first)),
        };
        let is_marker = own.is_some() && document.text[start..].starts_with("---");
        let mut walker = Walker {
            document,
            at: if is_marker {
                document.line_end(start) + 1
            } else {
                start
            },
            scalar: None,
            owners: Vec::new(),
        };
        walker.collection(root, 0)?;
        let Walker {
            at, owners, scalar, ..
        } = walker;
        let at = at.min(document.text.len());
        let foot = at..own.map_or(at, |own| own.end).max(at);
        has_only_gaps(&document.text[foot.clone()]).then_some(Self {
            owners,
            foot,
            scalar_above_foot: scalar,
        })
    }
}

/// The blank lines and the comments on lines of their own in a node, or in the document of a root.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LinesAlone<'a> {
    /// Each with the number of nodes above it. Lines of scalars can be among them.
    lines: Vec<(u32, &'a str)>,
    has_gaps: bool,
}

impl LinesAlone<'_> {
    /// Whether any of them is in a gap, and not in a scalar.
    #[must_use]
    pub fn has_gaps(&self) -> bool {
        self.has_gaps
    }
}

/// The blank lines and the comments on lines of their own in a node, or in the document of a root.
pub fn lines_alone(root: NodeRef<'_>) -> LinesAlone<'_> {
    let root = root.origin();
    let document = root.document;
    let text = document.text;
    let range = root.own_range().unwrap_or_else(|| root.range());
    let comments = document.comments().map(|comment| comment.start);
    let comments = comments.skip_while(|start| *start < range.start);
    let comments = comments.take_while(|start| *start < range.end);
    let comments = comments.map(|start| document.line_start(start)..document.line_end(start));
    let is_alone = |line: &Range<usize>| text[line.clone()].trim_start().starts_with('#');
    let mut lines: Vec<Range<usize>> = comments.filter(is_alone).collect();
    let bytes = &text.as_bytes()[range.clone()];
    // The start of a blank line, by the position of its line break. Most lines end in text, so that one byte decides.
    let blank_before = |end: usize| {
        let mut start = end;
        while start > 0 && matches!(bytes[start - 1], b' ' | b'\t' | b'\r') {
            start -= 1;
        }
        (start == 0 || bytes[start - 1] == b'\n').then_some(range.start + start)
    };
    let comments = lines.len();
    lines.extend(
        memchr::memchr_iter(b'\n', bytes)
            .filter_map(blank_before)
            .map(|at| at..at),
    );
    if comments > 0 && lines.len() > comments {
        lines.sort_unstable_by_key(|line| line.start);
    }
    let ids = root.ids();
    let number = |at: usize| {
        let (mut low, mut high) = (ids.start, ids.end);
        while low < high {
            let middle = low + (high - low) / 2;
            if root.at(middle).range().start < at {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low - ids.start
    };
    let mut has_gaps = false;
    let lines = lines.into_iter().map(|line| {
        let number = number(line.start);
        has_gaps |= !is_in_scalar(
            number
                .checked_sub(1)
                .map(|above| root.at(ids.start + above)),
            &line,
        );
        (number, &text[line])
    });
    LinesAlone {
        lines: lines.collect(),
        has_gaps,
    }
}

/// Whether a line is in the text of a scalar, and not after it.
fn is_in_scalar(above: Option<NodeRef<'_>>, line: &Range<usize>) -> bool {
    above.is_some_and(|above| {
        let range = above.range();
        let rest = range.start.max(line.end)..range.end;
        let text = above.document.text.get(rest).unwrap_or_default();
        range.start < line.start && above.scalar_text().is_some() && !text.trim().is_empty()
    })
}

/// The text of a node, or of the document of a root.
pub fn own_text(root: NodeRef<'_>) -> &str {
    let root = root.origin();
    let range = root.own_range().unwrap_or_else(|| root.range());
    &root.document.text[range]
}

fn is_line_start(document: Document<'_>, at: usize) -> bool {
    document.line_start(at) == at
}

/// Whether a node is a collection in flow style on several lines.
fn has_flow_lines(node: NodeRef<'_>) -> bool {
    let kind = node.kind();
    let is_collection = kind.is_mapping() || kind.is_sequence();
    is_collection && !kind.is_block_collection() && node.source().contains('\n')
}

fn has_only_gaps(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    lines.all(|line| line.is_empty() || line.starts_with('#'))
}

struct Walker<'a> {
    document: Document<'a>,
    /// After the lines of the last entry or item.
    at: usize,
    scalar: Option<ScalarAbove>,
    owners: Vec<GapOwner<'a>>,
}

impl<'a> Walker<'a> {
    fn collection(&mut self, node: NodeRef<'a>, depth: usize) -> Option<()> {
        let keys = node.entries().map(|entry| entry.key);
        for owner in keys.chain(node.items()) {
            self.owner(owner, depth)?;
        }
        Some(())
    }

    fn owner(&mut self, owner: NodeRef<'a>, depth: usize) -> Option<()> {
        let document = self.document;
        let start = unit_start(owner);
        let line = document.line_start(start);
        let column = start - line;
        let is_alone = document.text[line..start].bytes().all(|byte| byte == b' ');
        let above = (is_alone && self.at <= line).then_some(self.at..line);
        if let Some(above) = &above
            && !has_only_gaps(&document.text[above.clone()])
        {
            return None;
        }
        self.owners.push(GapOwner {
            owner,
            depth,
            column,
            above,
            scalar: self.scalar.take(),
        });
        let value = value_of(owner)?;
        let is_entry = value.id != owner.id;
        if is_entry && owner.kind().is_block_collection() {
            return None;
        }
        let indicator = value.indicator().map_or(0, |indicator| indicator + 1);
        if value.kind().is_block_collection() {
            let properties = value.properties_range().map_or(0, |range| range.end);
            let key = if is_entry { owner.range().end } else { 0 };
            self.end_at(indicator.max(properties).max(key));
            return self.collection(value, depth + 1);
        }
        if has_flow_lines(value) {
            self.flow(value, depth + 1);
            return Some(());
        }
        let end = value.range().end.max(owner.range().end).max(indicator);
        self.end_at(end);
        if value.kind().is_block_scalar() {
            self.block_scalar(value, column);
        }
        Some(())
    }

    /// The entries or items of a collection in flow style on several lines.
    fn flow(&mut self, node: NodeRef<'a>, depth: usize) {
        let document = self.document;
        self.end_at(node.range().start);
        let keys = node.entries().map(|entry| entry.key);
        for owner in keys.chain(node.items()) {
            let start = owner.outer_start();
            let line = document.line_start(start);
            let is_alone = document.text[line..start].bytes().all(|byte| byte == b' ');
            let above = self.at..line;
            let is_gap =
                is_alone && self.at <= line && has_only_gaps(&document.text[above.clone()]);
            let owner = GapOwner {
                owner,
                depth,
                column: start - line,
                above: is_gap.then_some(above),
                scalar: None,
            };
            let value = owner.value();
            self.owners.push(owner);
            if has_flow_lines(value) {
                self.flow(value, depth + 1);
            } else {
                self.end_at(value.range().end.max(start));
            }
        }
        self.end_at(node.range().end);
    }

    fn end_at(&mut self, end: usize) {
        self.at = self.document.line_end(end) + 1;
    }

    /// The blank lines below a block scalar are in the gap, unless they are part of its value.
    fn block_scalar(&mut self, value: NodeRef<'a>, column: usize) {
        let text = self.document.text;
        let keeps_blank_lines = block_indicators(value).contains('+');
        let start = value.range().start;
        let body = body_indent(value).unwrap_or(column + 1);
        if keeps_blank_lines {
            while self.at < text.len() {
                let end = self.document.line_end(self.at);
                if !text[self.at..end].trim().is_empty() {
                    break;
                }
                self.at = end + 1;
            }
        } else {
            let length = value.source().trim_end().len();
            let mut last = start + length;
            // White space that is deeper than the text, or a tab, is a line of the text.
            let mut at = self.document.line_end(last) + 1;
            while at < text.len() {
                let end = self.document.line_end(at);
                let line = text[at..end].trim_end_matches('\r');
                if !line.trim().is_empty() {
                    break;
                }
                if line.len() > body || line.contains('\t') {
                    last = at;
                }
                at = end + 1;
            }
            self.end_at(last);
        }
        self.scalar = Some(ScalarAbove {
            body,
            column,
            keeps_blank_lines,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OwnedDocument;

    #[test]
    fn lines_of_scalars_are_in_no_gap() {
        for (text, expected) in [
            ("a: 1\nb: 2\n", false),
            ("a: 1 # one\nb: 2\n", false),
            ("a: |-\n  one\n\n  # two\nb: 2\n", false),
            ("a: |\n\n  one\nb: 2\n", false),
            ("a: >\n  one\n\n\n  two\n", false),
            ("a: one\n\n  two\nb: 2\n", false),
            ("a: \"one\n\n  two\"\nb: 2\n", false),
            ("a:\n- |\n  one\n\n  two\n- 2\n", false),
            ("# one\na: 1\n", true),
            ("a: 1\n\nb: 2\n", true),
            ("a: 1\n# one\n", true),
            ("a: |-\n  one\n\nb: 2\n", true),
            ("a: |-\n  one\n# two\nb: 2\n", true),
            ("a: |-\n  one\n\n  two\n\nb: 2\n", true),
            ("a: one\n  two\n\nb: 2\n", true),
            ("a:\n\n  b: 1\n", true),
            ("a:\n  # one\n  1\n", true),
        ] {
            let document = OwnedDocument::parse(text.to_owned()).expect("YAML");
            let root = document.root().expect("a root");
            assert_eq!(lines_alone(root).has_gaps(), expected, "{text}");
            let walk = GapWalk::of(root).expect("a collection");
            let gaps = walk.owners.iter().filter_map(|owner| owner.above.clone());
            let mut gaps = gaps.chain([walk.foot.clone()]);
            // Comments between a key and its value are in no gap, and count.
            assert!(expected || gaps.all(|gap| gap.is_empty()), "{text}");
        }
    }
}
