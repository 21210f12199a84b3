//! The fast source of events: a scanner for the part of YAML that KRM files are written in.
//!
//! It reads block mappings and sequences, scalars, flow collections on one line or in the layout of printed JSON,
//! comments and documents, and checks all of them. At anything else (anchors, aliases, tags, directives, tabs as white
//! space, a key without a value on its line, ...) it stops with `Bail`. Then granit-parser reads the text and reports
//! every error. So the scanner accepts nothing that granit refuses and reads nothing differently; the differential
//! tests compare both.
//!
//! In reading order: this file walks lines and indentation. `inline` reads keys and scalars of one line,
//! `several_lines` scalars that continue on lines below, `flow` brackets and braces, `block_scalar` `|` and `>`.
//! `bytes` checks every byte first, `search` searches short runs. `decode` decodes the text of a scalar. `build`
//! builds a tree from the events.

mod block_scalar;
mod build;
mod bytes;
mod decode;
mod flow;
mod inline;
mod keys;
mod search;
mod several_lines;

use super::limits::Limits;
use super::scalar::ScalarStyle;
use super::tree::{MAX_DEPTH, NONE, NodeKind};
use crate::test_switch::is_scanner_off;
use keys::OpenKeys;

pub(super) use build::TreeBuilder;
pub use decode::decode;
pub(super) use search::line_end as find_line_end;

/// The scanner stopped: the general parser has to read the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bail;

/// Whether the scanner reads texts first.
#[inline]
pub fn is_in_use() -> bool {
    !is_scanner_off()
}

/// A scalar, by offsets into the text.
#[derive(Debug, Clone, Copy)]
pub struct Scalar {
    pub style: ScalarStyle,
    pub(crate) start: usize,
    /// First byte after the scalar; a block scalar ends before its last line break.
    pub(crate) end: usize,
    /// Offset of the dash or colon before it.
    pub(crate) indicator: Option<usize>,
    /// Whether a plain or quoted scalar continues below its first line.
    pub(crate) folded: bool,
    /// The column of the text of a block scalar, if its header says it.
    pub(crate) indent: Option<usize>,
}

/// Receives events in the order of the text. Keys and values alternate.
pub trait Events {
    /// A document begins at `start`, its content at `body`, after the `---` if there is one.
    fn document(&mut self, _start: usize, _body: usize) {}
    /// The document ends at the next `---`, or at the end of the text.
    fn document_end(&mut self, _end: usize) {}
    /// A comment, from `#` to the end of the line.
    fn comment(&mut self, _start: usize, _end: usize) {}
    /// A key of the mapping that is open, and its text.
    fn key(&mut self, _key: Scalar, _text: &[u8]) {}
    /// A value or item.
    fn scalar(&mut self, _scalar: Scalar) {}
    /// A collection begins; `indicator` is the offset of the dash or colon before it.
    fn open(
        &mut self,
        _kind: NodeKind,
        _start: usize,
        _indicator: Option<usize>,
    ) -> Result<(), Bail> {
        Ok(())
    }
    /// The innermost collection ends.
    fn close(&mut self, _kind: NodeKind, _end: usize) {}
}

/// For texts that are only checked.
impl Events for () {}

/// Reads a text that is within `depth` collections.
///
/// # Errors
/// [`Bail`] at any syntax that the scanner does not know, at a duplicate key, and at the first node or document that
/// exceeds a limit. The events so far are then invalid.
pub fn scan(
    text: &str,
    depth: usize,
    limits: Limits,
    events: &mut impl Events,
) -> Result<(), Bail> {
    if text.len() >= NONE as usize {
        return Err(Bail);
    }
    let bytes = text.as_bytes();
    let seen = bytes::check(bytes)?;
    Scanner {
        text,
        bytes,
        depth,
        nodes_left: limits.nodes.saturating_add(1),
        documents_left: limits.documents,
        keys: OpenKeys::default(),
        tabs: seen.tabs,
        returns: seen.returns,
        events,
        open: Vec::with_capacity(16),
        awaited: None,
        cursor: 0,
        document: DocumentState::None,
    }
    .text()
}

/// A block collection that has not ended yet.
#[derive(Debug, Clone, Copy)]
struct OpenBlock {
    column: usize,
    sequence: bool,
}

impl OpenBlock {
    fn kind(self) -> NodeKind {
        if self.sequence {
            NodeKind::BlockSequence
        } else {
            NodeKind::BlockMapping
        }
    }
}

/// A dash or colon whose node has not begun yet.
#[derive(Debug, Clone, Copy)]
struct Awaited {
    indicator: usize,
    /// Column of the dash, or of the key.
    column: usize,
    dash: bool,
}

/// Parse state of the current document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DocumentState {
    /// Nothing yet.
    None,
    /// A `---`.
    Marked,
    /// The root node.
    Rooted,
}

/// A line of the text.
#[derive(Debug, Clone, Copy)]
struct Line {
    start: usize,
    /// Where its line break begins.
    end: usize,
    /// First byte of the next line.
    next: usize,
}

struct Scanner<'t, E> {
    text: &'t str,
    bytes: &'t [u8],
    /// Number of open collections, including those around the text.
    depth: usize,
    /// How many nodes and documents the text may still have.
    nodes_left: usize,
    documents_left: usize,
    keys: OpenKeys<'t>,
    /// Whether the text has tabs or carriage returns.
    tabs: bool,
    returns: bool,
    events: E,
    open: Vec<OpenBlock>,
    awaited: Option<Awaited>,
    /// First byte after the last node or indicator.
    cursor: usize,
    document: DocumentState,
}

impl<E: Events> Scanner<'_, &mut E> {
    fn text(mut self) -> Result<(), Bail> {
        let mut at = 0;
        while at < self.bytes.len() {
            let line = self.line(at);
            let first = self.skip_spaces(line.start, line.end);
            at = if first == line.end {
                line.next
            } else if self.bytes[first] == b'#' {
                self.events.comment(first, line.end);
                line.next
            } else if first == line.start && self.starts_marker(line) {
                self.document_marker(line)?;
                line.next
            } else {
                self.content(line, first)?
            };
        }
        self.end_document(self.bytes.len())
    }

    fn report_document(&mut self, start: usize, body: usize) -> Result<(), Bail> {
        self.events.document(start, body);
        self.documents_left = self.documents_left.checked_sub(1).ok_or(Bail)?;
        Ok(())
    }

    #[inline]
    fn count_node(&mut self) -> Result<(), Bail> {
        self.nodes_left = self.nodes_left.checked_sub(1).ok_or(Bail)?;
        Ok(())
    }

    #[inline]
    fn report_key(&mut self, key: Scalar) -> Result<(), Bail> {
        self.count_node()?;
        let text = self.keys.add(self.text, &key)?;
        self.events.key(key, text);
        Ok(())
    }

    #[inline]
    fn report_scalar(&mut self, scalar: Scalar) -> Result<(), Bail> {
        self.count_node()?;
        self.events.scalar(scalar);
        Ok(())
    }

    fn report_open(
        &mut self,
        kind: NodeKind,
        start: usize,
        indicator: Option<usize>,
    ) -> Result<(), Bail> {
        self.count_node()?;
        if self.depth >= MAX_DEPTH {
            return Err(Bail);
        }
        self.depth += 1;
        if kind.is_mapping() {
            self.keys.open();
        }
        self.events.open(kind, start, indicator)
    }

    fn report_close(&mut self, kind: NodeKind, end: usize) -> Result<(), Bail> {
        self.depth -= 1;
        if kind.is_mapping() {
            self.keys.close()?;
        }
        self.events.close(kind, end);
        Ok(())
    }

    #[inline]
    fn line(&self, start: usize) -> Line {
        let next = search::line_end(self.bytes, start);
        let mut end = next;
        if self.returns && end > start && next < self.bytes.len() && self.bytes[end - 1] == b'\r' {
            end -= 1;
        }
        let next = (next + 1).min(self.bytes.len());
        Line { start, end, next }
    }

    #[inline]
    fn skip_spaces(&self, at: usize, end: usize) -> usize {
        search::skip_spaces(self.bytes, at, end)
    }

    /// Whether a line begins with `---`, `...` or the `%` of a directive.
    fn starts_marker(&self, line: Line) -> bool {
        let bytes = &self.bytes[line.start..line.end];
        bytes[0] == b'%' || bytes.starts_with(b"---") || bytes.starts_with(b"...")
    }

    fn document_marker(&mut self, line: Line) -> Result<(), Bail> {
        let after = line.start + 3;
        if !self.bytes[line.start..line.end].starts_with(b"---") {
            return Err(Bail);
        }
        let start = match self.document {
            DocumentState::None => 0,
            DocumentState::Marked | DocumentState::Rooted => {
                self.end_document(line.start)?;
                line.start
            }
        };
        self.tail(after, line)?;
        self.report_document(start, after)?;
        self.document = DocumentState::Marked;
        self.cursor = after;
        Ok(())
    }

    fn end_document(&mut self, end: usize) -> Result<(), Bail> {
        match self.document {
            DocumentState::None => return Err(Bail),
            // Nothing follows the marker.
            DocumentState::Marked => self.report_scalar(Scalar {
                style: ScalarStyle::Plain,
                start: self.cursor,
                end: self.cursor,
                indicator: None,
                folded: false,
                indent: None,
            })?,
            DocumentState::Rooted => {}
        }
        self.end_awaited()?;
        while let Some(open) = self.open.pop() {
            self.close(open)?;
        }
        self.events.document_end(end);
        Ok(())
    }

    /// Reads a line with a node; `first` is its first byte that is not a space. Returns the start of the line to
    /// continue with.
    #[inline]
    fn content(&mut self, line: Line, first: usize) -> Result<usize, Bail> {
        let mut at = first;
        let mut dash = self.is_indicator(b'-', at, line.end);
        self.close_deeper_levels(at - line.start, dash)?;
        let mut after_dash = false;
        while dash {
            let column = at - line.start;
            if after_dash || self.awaited.is_some() || self.open.is_empty() {
                self.begin(column, true, at)?;
            }
            self.awaited = Some(Awaited {
                indicator: at,
                column,
                dash: true,
            });
            after_dash = true;
            self.cursor = at + 1;
            at = self.skip_spaces(at + 1, line.end);
            if at == line.end || self.bytes[at] == b'#' {
                self.tail(self.cursor, line)?;
                return Ok(line.next);
            }
            dash = self.is_indicator(b'-', at, line.end);
        }
        match self.key(at, line)? {
            Some((key, colon)) => self.entry(key, colon, line),
            None if after_dash => {
                let awaited = self.awaited.take().ok_or(Bail)?;
                self.value(at, line, awaited)
            }
            // A flow collection as root, as in JSON.
            None if self.open.is_empty() && self.awaited.is_none() && self.is_bracket(at) => {
                self.root()?;
                self.flow_value(at, line, None, 0)
            }
            // A node below its key or dash.
            None if !matches!(self.bytes[at], b'|' | b'>') => {
                let awaited = self.awaited.take().ok_or(Bail)?;
                self.value(at, line, awaited)
            }
            None => Err(Bail),
        }
    }

    /// Reads a key, and its value if that begins on the same line.
    #[inline]
    fn entry(&mut self, key: Scalar, colon: usize, line: Line) -> Result<usize, Bail> {
        let column = key.start - line.start;
        if self.awaited.is_some() || self.open.is_empty() {
            self.begin(column, false, key.start)?;
        }
        self.report_key(key)?;
        self.cursor = colon + 1;
        let awaited = Awaited {
            indicator: colon,
            column,
            dash: false,
        };
        let at = self.skip_spaces(colon + 1, line.end);
        if at == line.end || self.bytes[at] == b'#' {
            self.tail(colon + 1, line)?;
            self.awaited = Some(awaited);
            return Ok(line.next);
        }
        self.value(at, line, awaited)
    }

    /// Closes the collections that a line at this column cannot belong to. `dash` says whether the line begins with a
    /// dash.
    #[inline]
    fn close_deeper_levels(&mut self, column: usize, dash: bool) -> Result<(), Bail> {
        if let Some(awaited) = self.awaited {
            let indentless = !awaited.dash && dash && column == awaited.column;
            if column > awaited.column || indentless {
                return Ok(());
            }
            self.end_awaited()?;
        }
        loop {
            match self.open.last().copied() {
                Some(open) if open.column == column && open.sequence == dash => return Ok(()),
                // A sequence can be at the column of the mapping that contains it.
                Some(open) if open.column > column || (open.column == column && open.sequence) => {
                    self.open.pop();
                    self.close(open)?;
                }
                None if self.document != DocumentState::Rooted => return Ok(()),
                _ => return Err(Bail),
            }
        }
    }

    /// Reports the awaited node as an empty one.
    fn end_awaited(&mut self) -> Result<(), Bail> {
        let Some(Awaited { indicator, .. }) = self.awaited.take() else {
            return Ok(());
        };
        self.report_scalar(Scalar {
            style: ScalarStyle::Plain,
            start: indicator + 1,
            end: indicator + 1,
            indicator: Some(indicator),
            folded: false,
            indent: None,
        })
    }

    /// Notes that the document has a root, and begins the document if no `---` did.
    fn root(&mut self) -> Result<(), Bail> {
        if self.document == DocumentState::None {
            self.report_document(0, 0)?;
        }
        self.document = DocumentState::Rooted;
        Ok(())
    }

    /// Begins a block collection as the awaited node or as the root.
    fn begin(&mut self, column: usize, sequence: bool, start: usize) -> Result<(), Bail> {
        self.root()?;
        let indicator = self.awaited.take().map(|awaited| awaited.indicator);
        let open = OpenBlock { column, sequence };
        self.open.push(open);
        self.report_open(open.kind(), start, indicator)
    }

    /// Ends a block collection with its last descendant, before comments and blank lines.
    fn close(&mut self, open: OpenBlock) -> Result<(), Bail> {
        self.report_close(open.kind(), self.cursor)
    }

    fn is_bracket(&self, at: usize) -> bool {
        matches!(self.bytes[at], b'[' | b'{')
    }

    /// Whether an indicator is at `at`, followed by white space or the end of the line.
    #[inline]
    fn is_indicator(&self, indicator: u8, at: usize, end: usize) -> bool {
        self.bytes[at] == indicator && (at + 1 == end || self.bytes[at + 1] == b' ')
    }

    /// Checks that only white space, or a comment after white space, follows up to the end of the line.
    #[inline]
    fn tail(&mut self, after: usize, line: Line) -> Result<(), Bail> {
        if after == line.end {
            return Ok(());
        }
        let at = self.skip_spaces(after, line.end);
        if at == line.end {
            return Ok(());
        }
        if self.bytes[at] != b'#' || at == after {
            return Err(Bail);
        }
        self.events.comment(at, line.end);
        Ok(())
    }
}
