//! Copies the source of a node of another document, with another indentation.
//!
//! ```yaml
//! env:            # the first      - name: "A"   # why
//!   - name: "A"   # why       ->     value:  1
//!     value:  1
//! ```

use super::{Emitter, Tail, is_long};
use crate::comments::{ValueComments, entry_end, header_end};
use crate::document::Document;
use crate::format::Owner;
use crate::node::{EntryRef, NodeRef};
use crate::scalar::ScalarStyle;
use crate::tree::{NONE, NodeKind};

impl Emitter<'_> {
    /// Writes a node with its spelling and the comments within it. `None` if the source cannot be copied: aliases,
    /// anchors, complex keys. The caller must then discard what was written.
    pub(super) fn transcribe(&mut self, node: NodeRef<'_>, owner: Owner) -> Option<Tail> {
        if node.document.tree.expansion.is_none() && node.has_alias_or_merge_key() {
            return None;
        }
        let keep_chomping = self.format.keep_chomping;
        let tail = match node.kind() {
            kind if kind.is_block_scalar() => self.block_scalar(node, owner),
            NodeKind::BlockMapping => self.mapping(node, owner),
            NodeKind::BlockSequence => self.sequence(node, owner),
            _ if !node.is_self_contained() => None,
            _ => Some(self.lines_of(node, owner)),
        };
        self.format.keep_chomping = keep_chomping;
        tail
    }

    fn mapping(&mut self, node: NodeRef<'_>, owner: Owner) -> Option<Tail> {
        let document = node.document;
        let column = owner.child(false, &self.format);
        let shift = Shift::of(node, column);
        self.opening(node, shift);
        let keep_chomping = self.format.keep_chomping;
        let mut after = None;
        let mut entries = node.entries().peekable();
        while let Some(entry) = entries.next() {
            if !is_simple_key(entry.key) {
                return None;
            }
            let is_own = entry.is_own(node);
            if is_own {
                let start = document.line_start(entry.key.outer_start());
                self.trivia(document, after, start, shift);
            }
            self.line(column);
            match key_with_gap(entry).filter(|_| is_own) {
                Some((key, gap)) => {
                    self.out.push_str(key);
                    self.colon(gap);
                }
                None => self.key_source(entry.key.source(), column),
            }
            self.format.keep_chomping = keep_chomping.of_part(entries.peek().is_none());
            self.transcribe_part(entry.value, Owner::Key(column))?;
            if is_own {
                after = Some(document.line_end(entry_end(entry)));
            }
        }
        Some(Tail::Closed)
    }

    fn sequence(&mut self, node: NodeRef<'_>, owner: Owner) -> Option<Tail> {
        let document = node.document;
        let column = owner.child(true, &self.format);
        let shift = Shift::of(node, column);
        self.opening(node, shift);
        let keep_chomping = self.format.keep_chomping;
        let mut after = None;
        let mut items = node.items().peekable();
        while let Some(item) = items.next() {
            let written = item.written();
            let start = document.line_start(written.indicator().unwrap_or(written.outer_start()));
            self.trivia(document, after, start, shift);
            self.line(column);
            self.dash();
            self.format.keep_chomping = keep_chomping.of_part(items.peek().is_none());
            self.transcribe_part(item, Owner::Dash(column))?;
            after = Some(document.line_end(written.range().end));
        }
        Some(Tail::Closed)
    }

    /// Writes the value of an entry, or an item, with the comments around it.
    fn transcribe_part(&mut self, value: NodeRef<'_>, owner: Owner) -> Option<()> {
        self.around = ValueComments::of(value).into_owned();
        self.transcribe(value, owner)?;
        self.close_line();
        self.end_part();
        Some(())
    }

    /// Writes the text between the indicator of a collection and its first entry: tag and comments.
    fn opening(&mut self, node: NodeRef<'_>, shift: Shift) {
        let document = node.document;
        self.inline(node.tag().unwrap_or_default());
        self.open_collection(shift.to);
        let raw = node.raw();
        let after = match node.indicator() {
            Some(at) if raw.properties == NONE || raw.properties < raw.indicator => at + 1,
            // The root of a document has no indicator.
            None if raw.properties == NONE => return,
            _ => raw.properties as usize + node.properties().len(),
        };
        let first = document.line_start(node.range().start);
        if first > after {
            self.trivia(document, Some(document.line_end(after)), first, shift);
        }
    }

    /// Writes the comments and blank lines between the line break at `after` and the line at
    /// `start`.
    fn trivia(&mut self, document: Document<'_>, after: Option<usize>, start: usize, shift: Shift) {
        let Some(after) = after.filter(|after| after + 1 < start) else {
            return;
        };
        for line in document.text[after + 1..start].lines() {
            let comment = line.trim();
            // A merge key between the comments has been replaced with its entries.
            if comment.is_empty() || comment.starts_with('#') {
                let indent = line.len() - line.trim_start_matches(' ').len();
                self.whole_line(shift.to + indent.saturating_sub(shift.from), comment);
            }
        }
    }

    /// Writes a plain or quoted scalar, or a flow collection, of one or several lines.
    fn lines_of(&mut self, node: NodeRef<'_>, owner: Owner) -> Tail {
        let document = node.document;
        let mut lines = node.source().lines();
        let first = lines.next().unwrap_or_default();
        if node.source().is_empty() && node.tag().is_none() {
            self.open_collection(owner.column() + self.format.step);
        }
        self.open_line(owner);
        match node.tag() {
            Some(tag) => self.inline(format!("{tag} {first}").trim_end()),
            None => self.inline(first.trim_end()),
        }
        let is_flow = matches!(node.kind(), NodeKind::FlowMapping | NodeKind::FlowSequence);
        let source_line = &document.text[document.line_start(node.range().start)..];
        let from = source_line.len() - source_line.trim_start_matches(' ').len();
        for line in lines {
            let bare = line.trim_start_matches(' ');
            self.out.push_str(self.format.newline);
            if bare.is_empty() {
                continue;
            }
            let column = match owner {
                _ if is_flow => {
                    let indent = line.len() - bare.len() + owner.column();
                    indent.saturating_sub(from).max(owner.column())
                }
                Owner::Root(column) => column,
                Owner::Key(column) | Owner::Dash(column) => column + self.format.step,
            };
            self.spaces(column);
            self.out.push_str(bare);
        }
        Tail::Open
    }

    fn block_scalar(&mut self, node: NodeRef<'_>, owner: Owner) -> Option<Tail> {
        let tag = node.tag().map(|tag| format!("{tag} ")).unwrap_or_default();
        let origin = node.origin();
        let is_cut = origin.document.tree.unterminated == Some(origin.id);
        if self.format.indent_below == 0
            && !is_cut
            && self.fits_header()
            && let Some(scalar) = BlockScalar::of(origin, owner, self.format.step)
            && (self.may_keep_blank_lines() || !scalar.keeps_blank_lines())
        {
            self.inline(&format!("{tag}{}", scalar.header));
            self.close_header();
            for line in scalar.lines() {
                self.out.push_str(self.format.newline);
                if !line.is_empty() {
                    self.spaces(scalar.to);
                    self.out.push_str(line);
                }
            }
            return Some(Tail::Closed);
        }
        self.inline(&tag);
        Some(self.string(node.scalar_text()?, ScalarStyle::Literal, owner))
    }
}

/// The columns of a collection in its source and in the new text.
#[derive(Clone, Copy)]
struct Shift {
    from: usize,
    to: usize,
}

impl Shift {
    fn of(node: NodeRef<'_>, to: usize) -> Self {
        let from = node.column();
        Self { from, to }
    }
}

/// The source of a block scalar, and the columns of its lines in the source and in the new text.
struct BlockScalar<'a> {
    header: &'a str,
    body: std::str::Split<'a, char>,
    from: usize,
    to: usize,
}

impl<'a> BlockScalar<'a> {
    /// `None` at the root of a document, where the lines cannot move to another column.
    fn of(node: NodeRef<'a>, owner: Owner, step: usize) -> Option<Self> {
        let owner = match owner {
            Owner::Root(_) => return None,
            Owner::Key(column) | Owner::Dash(column) => column,
        };
        let mut lines = node.source().split('\n');
        let header = &lines.next()?[..header_end(node) - node.range().start];
        let digit = header.bytes().skip(1).take(2).find(u8::is_ascii_digit);
        let (from, to) = match digit.map(|digit| usize::from(digit - b'0')) {
            Some(digit) => (column_of_owner(node)? + digit, owner + digit),
            None => {
                let mut body = lines.clone();
                let first = body.find(|line| !line.trim_matches([' ', '\r']).is_empty());
                (first.map_or(0, indent_of), owner + step)
            }
        };
        let body = lines;
        Some(Self {
            header,
            body,
            from,
            to,
        })
    }

    fn keeps_blank_lines(&self) -> bool {
        self.header.contains('+')
    }

    /// The lines without their indentation.
    fn lines(&self) -> impl Iterator<Item = &'a str> {
        let from = self.from;
        self.body.clone().map(move |line| {
            let line = line.strip_suffix('\r').unwrap_or(line);
            &line[from.min(indent_of(line))..]
        })
    }
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The column of the key or dash that a node belongs to, which is not part of the node's source.
fn column_of_owner(node: NodeRef<'_>) -> Option<usize> {
    let document = node.document;
    let parent = node.parent()?;
    match parent.kind() {
        NodeKind::BlockMapping => {
            let entry = parent.entries().find(|entry| entry.value.id == node.id)?;
            Some(document.column(entry.key.outer_start()))
        }
        NodeKind::BlockSequence => Some(document.column(node.indicator()?)),
        _ => None,
    }
}

/// A key, and the width of the white space between its colon and its value. `None` if the value is not on that line or
/// is a block collection, or if the key is long or has several lines.
fn key_with_gap(entry: EntryRef<'_>) -> Option<(&str, usize)> {
    let text = entry.key.document.text;
    let value = entry.value.written();
    let colon = value.indicator()?;
    let key = text.get(entry.key.range().start..colon)?;
    let gap = text.get(colon + 1..value.outer_start())?;
    let is_gap = !gap.is_empty() && gap.bytes().all(|byte| byte == b' ');
    let fits = is_gap && !entry.value.kind().is_block_collection() && !is_long(key);
    (fits && !key.contains('\n')).then_some((key, gap.len()))
}

pub(super) fn is_simple_key(key: NodeRef<'_>) -> bool {
    let is_one_line = matches!(
        key.kind(),
        NodeKind::Scalar(
            ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted
        )
    );
    is_one_line
        && key.indicator().is_none()
        && key.properties().is_empty()
        && !key.source().contains('\n')
        && !key.source().is_empty()
}
