//! The general parser: builds a tree from the events of granit-parser.
//!
//! The events do not contain all positions. Between two events there are only white space, comments and indicators, so
//! the missing positions are found there: the dash of an item, the colon of an entry, the header of a block scalar, the
//! real end of a block collection, the position of an empty value.

mod anchors;
mod keys;
mod scalar;

use std::collections::HashMap;

use granit_parser::{
    BorrowedInput, ErrorKind, Event, Parser, ScanError, Span, StrInput, StructureStyle,
};

use super::document::Document;
use super::error::{Location, ParseError};
use super::lenient::LenientInput;
use super::limits::Limits;
use super::lines::{BYTE_ORDER_MARK, is_marker, line_end, line_start, lone_return, skip_trivia};
use super::scalar::ScalarStyle;
use super::tree::{MAX_DEPTH, NONE, NodeId, NodeKind, ParseOptions, Tree, offset, too_many_nodes};

/// Reads every document of a text.
pub(super) fn parse(text: &str, options: ParseOptions, limits: Limits) -> Result<Tree, ParseError> {
    let tree = parse_as_shown((text, text), options, limits);
    match with_marks_after_markers(text) {
        Some(shown) if tree.is_err() => parse_as_shown((text, &shown), options, limits),
        _ => tree,
    }
}

/// The text as the parser can read it where a byte order mark precedes a `---`, as in files that were put together:
/// the marker comes first, and spaces take the place of the mark. `None` if there is no such mark.
///
/// Everything else is where it was.
fn with_marks_after_markers(text: &str) -> Option<String> {
    const MARKED: &str = "\n\u{feff}---";
    let mut shown = String::new();
    let mut start = 0;
    for (at, _) in text.match_indices(MARKED) {
        let end = at + MARKED.len();
        if is_marker(&text.as_bytes()[end - "---".len()..], b"---") {
            shown.push_str(&text[start..at]);
            shown.push_str("\n---   ");
            start = end;
        }
    }
    (start > 0).then(|| shown + &text[start..])
}

/// Reads a text of which the parser sees another form, with everything in the same place.
fn parse_as_shown(
    (text, shown_text): (&str, &str),
    options: ParseOptions,
    limits: Limits,
) -> Result<Tree, ParseError> {
    let builder = || Builder::new(text, options, limits);
    let mut quoted_indent = false;
    let strict = builder().build(StrInput::new(shown_text), &mut quoted_indent);
    if !quoted_indent {
        return strict;
    }
    let (input, shown) = LenientInput::new(shown_text);
    let lenient = builder().build(input, &mut quoted_indent)?;
    if are_quoted(&lenient, &shown.borrow()) {
        Ok(lenient)
    } else {
        strict
    }
}

/// Limit of anchors in one document: files have a handful, and millions of them take minutes.
const MAX_ANCHORS: usize = 1 << 16;

/// A collection that has not ended yet.
struct OpenCollection {
    node: u32,
    /// In a mapping: whether a key comes next.
    at_key: bool,
    /// The offset of the `?` of its last key.
    question: Option<usize>,
    flow: bool,
}

struct Builder<'t> {
    text: &'t str,
    bytes: &'t [u8],
    options: ParseOptions,
    limits: Limits,
    tree: Tree,
    open: Vec<OpenCollection>,
    /// First byte after the last token.
    cursor: usize,
    /// The anchored nodes that aliases of this document can refer to.
    anchors: HashMap<usize, u32>,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str, options: ParseOptions, limits: Limits) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            options,
            limits,
            tree: Tree::read_as(options.reading),
            open: Vec::new(),
            cursor: 0,
            anchors: HashMap::new(),
        }
    }

    /// Sets `quoted_indent` if the text cannot be read because a line of a quoted scalar is not indented deeper than its
    /// parent.
    fn build(
        mut self,
        input: impl BorrowedInput<'t>,
        quoted_indent: &mut bool,
    ) -> Result<Tree, ParseError> {
        if self.text.len() >= NONE as usize {
            return Err(self.error(0, "the text is longer than 4 GiB".to_owned()));
        }
        // A CR alone ends a line for the parser, but for hardly any other reader: an edit that counts
        // columns would change the wrong collection.
        if let Some(at) = lone_return(self.bytes) {
            let message = "expected a line to end in LF or CRLF, found a lone CR";
            return Err(self.syntax_error(at, message));
        }
        // The parser reads a NUL as the end of its input, and accepts it after a quoted scalar of several lines.
        if let Some(at) = memchr::memchr(0, self.bytes) {
            return Err(self.error(at, "unexpected character: `\\u{0}'".to_owned()));
        }
        let limit = MAX_DEPTH + 2;
        let options = granit_parser::options! {
            emit_anchor_events: true,
            max_buffered_comment_events: usize::MAX,
            flow_nesting_limit: limit,
            block_nesting_limit: limit,
        };
        for event in Parser::with_options(input, options) {
            let (event, span) = event.map_err(|error| {
                *quoted_indent = matches!(error.kind(), ErrorKind::InvalidQuotedScalarIndent);
                self.failure(&error)
            })?;
            self.event(event, span)?;
        }
        self.tree.comments.sort_unstable();
        self.tree.comments.dedup();
        Ok(self.tree)
    }

    fn failure(&self, error: &ScanError) -> ParseError {
        let marker = error.marker();
        let at = marker.byte_offset();
        let place = at.map(|at| Location::of(self.text, at));
        // The parser looks ahead for a colon after a flow collection.
        let is_too_deep = matches!(error.kind(), ErrorKind::RecursionLimitExceeded);
        let message = if is_too_deep {
            too_deep()
        } else {
            error.info() + advice(self.text, &error.info())
        };
        ParseError {
            line: place.map_or(marker.line(), |place| place.line),
            column: place.map_or(marker.col() + 1, |place| place.column),
            message,
            is_syntax: !is_too_deep,
            is_duplicate_key: false,
        }
    }

    fn event(&mut self, event: Event<'t>, span: Span) -> Result<(), ParseError> {
        let range = span.byte_range().unwrap_or(self.cursor..self.cursor);
        match event {
            Event::Comment(..) => {
                self.tree
                    .comments
                    .push((offset(range.start), offset(range.end)));
            }
            Event::DocumentStart(explicit, _) => {
                self.document_start(explicit.then_some(range.end));
            }
            Event::DocumentEnd => self.document_end(),
            Event::Anchor(..) if self.anchors.len() >= MAX_ANCHORS => {
                let message = format!("more than {MAX_ANCHORS} anchors in one document");
                return Err(self.error(range.start, message));
            }
            Event::Anchor(id, _) => self.anchor(id, range),
            Event::Scalar(value, style, _, _) => self.scalar(&value, style, &span, range)?,
            Event::Alias(target) => self.alias(target, range)?,
            Event::SequenceStart(style, _, _) => self.open(style, false, &span, &range)?,
            Event::MappingStart(style, _, _) => self.open(style, true, &span, &range)?,
            Event::SequenceEnd | Event::MappingEnd => self.close(&range)?,
            // Start and end of the stream. The parser itself refuses aliases without an anchor.
            _ => {}
        }
        Ok(())
    }

    /// `body` is the offset after the `---`, if there is one.
    fn document_start(&mut self, body: Option<usize>) {
        let start = self.tree.documents.last().map_or(0, |d| d.end);
        // The parser sees the marker before the mark.
        let is_marked = |body: &usize| self.bytes[..*body].ends_with(BYTE_ORDER_MARK);
        let body = body.map(|body| body + if is_marked(&body) { "---".len() } else { 0 });
        match body {
            Some(body) => self.cursor = body,
            None => {
                self.cursor = self.cursor.max(start);
                if self.cursor == 0 && self.text.starts_with('\u{feff}') {
                    self.cursor = '\u{feff}'.len_utf8();
                }
                self.skip_document_ends();
            }
        }
        let body = body.unwrap_or(start);
        self.tree.push_document(start, body, self.text);
    }

    /// Skips further `...` lines, for which the parser reports no events.
    fn skip_document_ends(&mut self) {
        loop {
            let at = self.skip_trivia(self.cursor);
            if !is_marker(&self.bytes[at..], b"...") || line_start(self.bytes, at) != at {
                return;
            }
            self.cursor = (line_end(self.bytes, at) + 1).min(self.bytes.len());
        }
    }

    fn document_end(&mut self) {
        // The span of this event is useless if the end is implicit, so the marker is searched.
        let end = match self.skip_trivia(self.cursor) {
            at if is_marker(&self.bytes[at..], b"...") => {
                let after = at + 3;
                memchr::memchr(b'\n', &self.bytes[after..])
                    .map_or(self.text.len(), |n| after + n + 1)
            }
            at if at < self.text.len() => line_start(self.bytes, at),
            _ => self.text.len(),
        };
        self.cursor = end.max(self.cursor);
        if let Some(document) = self.tree.documents.last_mut() {
            document.end = end;
            let root = &self.tree.nodes[document.root.index()];
            document.empty = root.start == root.end
                && root.properties == NONE
                && matches!(root.kind, NodeKind::Scalar(ScalarStyle::Plain));
        }
        // Not `clear`, which takes time for the whole capacity: there can be many documents.
        self.anchors = HashMap::new();
    }

    /// Refuses another node if the tree exceeds a limit.
    fn check_limits(&self) -> Result<(), ParseError> {
        let most = self.limits.nodes;
        if self.tree.nodes.len() > most {
            return Err(too_many_nodes(self.text, &self.tree.nodes, most));
        }
        let first = self.tree.documents.last().map_or(0, |d| d.root.index());
        let most = self.limits.rare_nodes;
        if self.tree.nodes.len() - first > most {
            let message = format!(
                "more than {most} values in a document with anchors, tags or other rare syntax"
            );
            return Err(self.error(self.cursor, message));
        }
        Ok(())
    }

    /// Reads the indicators before a node and adds the node to its collection.
    fn begin(&mut self, kind: NodeKind, span: Option<&Span>) -> Result<u32, ParseError> {
        self.check_limits()?;
        let mut parent = NONE;
        let mut indicator = NONE;
        if let Some(open) = self.open.last_mut() {
            parent = open.node;
            let (at_key, flow, question) = (open.at_key, open.flow, open.question.take());
            let in_mapping = self.tree.nodes[parent as usize].kind.is_mapping();
            if in_mapping {
                open.at_key = !at_key;
            }
            let mut at = self.skip_trivia(self.cursor);
            let is_value = in_mapping && !at_key;
            if flow && !is_value && self.bytes.get(at) == Some(&b',') {
                at = self.skip_trivia(at + 1);
            }
            let expected = match (in_mapping, at_key) {
                (false, _) if flow => 0,
                (false, _) => b'-',
                (true, true) => b'?',
                (true, false) => b':',
            };
            // In `[? a : b]` the question mark precedes the pair, where items have no indicator.
            // After a `?` without a `:`, the next key may itself begin with a colon: `::`.
            let spaced = expected == b'?' || (expected == b':' && !flow);
            let lone = spaced && !self.is_indicator(at);
            // After a `?` without a `:`, an entry further left may begin with a colon, too.
            let is_outer = !flow && question.is_some_and(|key| self.column(at) < self.column(key));
            if expected != 0 && self.bytes.get(at) == Some(&expected) && !lone && !is_outer {
                indicator = offset(at);
                self.cursor = at + 1;
                if expected == b'?'
                    && let Some(open) = self.open.last_mut()
                {
                    open.question = Some(at);
                }
            } else if flow && !is_value {
                self.cursor = at;
            }
        }
        let mut properties = NONE;
        if let Some(tag) = span
            .and_then(Span::tag_span)
            .and_then(|tag| tag.byte_range())
        {
            properties = offset(tag.start);
            self.cursor = self.cursor.max(tag.end);
        }
        let id = self.tree.push_node(kind, (NONE, NONE), indicator, parent);
        self.tree.nodes[id as usize].properties = properties;
        if parent != NONE {
            let mut first = properties.min(indicator);
            if self.tree.nodes[parent as usize].start == NONE {
                if first == NONE {
                    first = offset(self.skip_trivia(self.cursor));
                }
                // An anchor is reported by a later event, which corrects this start.
                self.tree.nodes[parent as usize].start = first;
            }
        }
        Ok(id)
    }

    /// The column of a byte, in bytes.
    fn column(&self, at: usize) -> usize {
        at - line_start(self.bytes, at)
    }

    /// Whether the byte at `at` is an indicator, followed by white space or the end of the text.
    fn is_indicator(&self, at: usize) -> bool {
        self.bytes
            .get(at + 1)
            .is_none_or(|b| b" \t\r\n".contains(b))
    }

    /// Lets the parent begin at this node if its start is not known yet.
    fn grow_parent_start(&mut self, id: u32) {
        let start = self.tree.nodes[id as usize].start;
        let parent = self.tree.nodes[id as usize].parent;
        if parent != NONE && self.tree.nodes[parent as usize].start == NONE {
            self.tree.nodes[parent as usize].start = start;
        }
    }

    fn open(
        &mut self,
        style: StructureStyle,
        mapping: bool,
        span: &Span,
        range: &std::ops::Range<usize>,
    ) -> Result<(), ParseError> {
        let bracket = self.bytes.get(range.start).copied();
        let kind = match (style, mapping) {
            (StructureStyle::Block, true) => NodeKind::BlockMapping,
            (StructureStyle::Block, false) => NodeKind::BlockSequence,
            (StructureStyle::Flow, true) if range.is_empty() || bracket != Some(b'{') => {
                NodeKind::FlowPair
            }
            (StructureStyle::Flow, true) => NodeKind::FlowMapping,
            (StructureStyle::Flow, false) => NodeKind::FlowSequence,
        };
        let id = self.begin(kind, Some(span))?;
        if self.open.len() + self.options.depth >= MAX_DEPTH {
            return Err(self.error(range.start, too_deep()));
        }
        if matches!(kind, NodeKind::FlowMapping | NodeKind::FlowSequence) {
            self.tree.nodes[id as usize].start = offset(range.start);
            self.cursor = range.start + 1;
            self.grow_parent_start(id);
        }
        let flow = style == StructureStyle::Flow;
        self.open.push(OpenCollection {
            node: id,
            at_key: true,
            question: None,
            flow,
        });
        Ok(())
    }

    fn close(&mut self, range: &std::ops::Range<usize>) -> Result<(), ParseError> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let next = offset(self.tree.nodes.len());
        let node = &mut self.tree.nodes[open.node as usize];
        node.next = next;
        if matches!(node.kind, NodeKind::FlowMapping | NodeKind::FlowSequence) {
            node.end = offset(range.end);
            self.cursor = range.end;
        } else {
            if node.start == NONE {
                node.start = offset(self.cursor);
            }
            // The end event comes after trailing comments, but a block ends with its last descendant.
            node.end = offset(self.cursor).max(node.start);
        }
        let parent = node.parent;
        let start = node.start;
        if parent != NONE && self.tree.nodes[parent as usize].start == NONE {
            self.tree.nodes[parent as usize].start = start;
        }
        if self.tree.nodes[open.node as usize].kind.is_mapping() {
            let keys = self.keys(open.node);
            self.refuse_duplicate_keys(&keys)?;
            let document = Document::new(self.text, &self.tree);
            let mut keys = keys.iter().map(|key| document.node(NodeId(*key)));
            self.tree.merges |= keys.any(|key| key.is_merge_key());
        }
        Ok(())
    }

    /// The first byte at or after `at` that is neither white space nor a comment.
    fn skip_trivia(&self, at: usize) -> usize {
        skip_trivia(self.bytes, at)
    }

    fn error(&self, at: usize, message: String) -> ParseError {
        ParseError::at(self.text, at, message)
    }

    fn syntax_error(&self, at: usize, message: &str) -> ParseError {
        let is_syntax = true;
        ParseError {
            is_syntax,
            ..self.error(at, message.to_owned())
        }
    }
}

fn too_deep() -> String {
    format!("more than {MAX_DEPTH} nested collections")
}

/// A hint for the two most common reasons why a text is not YAML.
fn advice(text: &str, message: &str) -> &'static str {
    if text.contains("{{") && text.contains("}}") {
        "; a template is not YAML until it is rendered (`helm template`)"
    } else if message.contains("tab") {
        "; YAML is indented with spaces"
    } else {
        ""
    }
}

/// Whether these offsets, in order, all lie within quoted scalars.
fn are_quoted(tree: &Tree, offsets: &[usize]) -> bool {
    let quoted = [ScalarStyle::SingleQuoted, ScalarStyle::DoubleQuoted].map(NodeKind::Scalar);
    let mut offsets = offsets.iter().map(|at| offset(*at)).peekable();
    for node in tree.nodes.iter().filter(|node| quoted.contains(&node.kind)) {
        while offsets
            .next_if(|at| node.start < *at && *at < node.end)
            .is_some()
        {}
    }
    offsets.peek().is_none()
}

#[cfg(test)]
mod tests {
    use crate::OwnedDocument;

    /// As in files put together with `cat`.
    #[test]
    fn a_byte_order_mark_may_precede_the_marker_of_any_document() {
        let text = "\u{feff}---\na: 1\n\u{feff}---\nb: \"x\n  y\"\n\u{feff}--- {c: 3} # d\n";
        let owned = OwnedDocument::parse(text.to_owned()).expect("YAML");
        let document = owned.document();
        let sources = (0..document.len()).filter_map(|index| Some(document.root(index)?.source()));
        let sources: Vec<&str> = sources.collect();
        assert_eq!(sources, ["a: 1", "b: \"x\n  y\"", "{c: 3}"]);
        for text in ["a: 1\n\u{feff}b: 1\n", "a: 1\n\u{feff}---x\n"] {
            assert!(OwnedDocument::parse(text.to_owned()).is_err(), "{text:?}");
        }
        // The line belongs to the text.
        let owned = OwnedDocument::parse("a: |\n  b\n  \u{feff}---\n".to_owned()).expect("YAML");
        let value = owned.root().and_then(|root| root.get("a")).expect("a");
        assert_eq!(value.as_str(), Some("b\n\u{feff}---\n"));
    }
}
