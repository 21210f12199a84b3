//! New text, in the format of its surroundings.
//!
//! Content comes as a value, or as a node of another document; then it brings its own spelling and
//! comments along and only its indentation is made to fit.

use std::collections::HashSet;

use super::comments::{comment_behind, comments_above, entry_end, line_comment};
use super::content::{Content, OwnedDocument};
use super::document::{Document, EntryRef, NodeRef};
use super::scalar::{self, Context, ScalarStyle};
use super::tree::{NONE, NodeKind};
use super::value::Value;
use super::verbatim::collection_text;

/// How the surroundings of an edit are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format {
    /// Columns that one level of mappings is indented by.
    pub(super) step: usize,
    /// Whether sequences are indented below their key (`wide`) or not (`compact`).
    pub(super) wide: bool,
    /// Columns from a dash to what follows it.
    pub(super) dash: usize,
    /// Line break.
    pub(super) newline: &'static str,
    /// How much of JSON there is in flow style.
    pub(super) json: Json,
    /// White space in blank lines and in front of a comment line that follow, which a block scalar
    /// indented no deeper would take for its own.
    pub(super) indent_below: usize,
    /// Whether a line with text follows, so that a block scalar with `+` at the end takes no blank
    /// lines for its own.
    pub(super) keep: bool,
    /// Indentation of the lines of the block scalar that is replaced.
    pub(super) body: Option<usize>,
}

impl Format {
    /// The format for one part of a collection, which other parts may follow.
    fn above_others(&self, are_below: bool) -> Self {
        Self {
            keep: self.keep || are_below,
            ..*self
        }
    }
}

/// How much of JSON there is in flow style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Json {
    /// Strings are plain where they can be.
    No,
    /// Keys and strings are in double quotes.
    Quoted,
    /// The document is JSON, whose keys are strings.
    Document,
}

/// What the content belongs to, with the column of the key or dash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The document, with the column of its root.
    Root(usize),
    Key(usize),
    Dash(usize),
}

impl Owner {
    pub(super) fn column(self) -> usize {
        match self {
            Self::Root(column) | Self::Key(column) | Self::Dash(column) => column,
        }
    }

    /// Column of a collection that belongs to this owner.
    pub(super) fn child(self, sequence: bool, format: &Format) -> usize {
        match self {
            Self::Root(column) => column,
            Self::Key(column) if sequence && !format.wide => column,
            Self::Key(column) => column + format.step,
            Self::Dash(column) => column + format.dash,
        }
    }
}

/// Text for a place behind an indicator.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    /// What stands on the indicator's own line.
    pub(super) inline: String,
    /// Lines below, indented, without line breaks.
    pub(super) lines: Vec<String>,
    /// Column of the collection whose first line has become `inline`.
    pub(super) moved_up: Option<usize>,
    /// Whether the last line ends a scalar or flow collection, so that a comment can follow.
    pub(super) tail: bool,
}

impl Rendered {
    pub(super) fn inline(text: String) -> Self {
        Self {
            inline: text,
            ..Self::default()
        }
    }

    /// Puts a mark (`key:` or `-`) at a column in front.
    pub(super) fn behind(self, column: usize, mark: &str, out: &mut Vec<String>) {
        self.behind_gap(column, mark, " ", out);
    }

    /// The same with other white space behind the mark.
    fn behind_gap(self, column: usize, mark: &str, gap: &str, out: &mut Vec<String>) {
        let gap = if self.inline.is_empty() { "" } else { gap };
        out.push(format!("{:column$}{mark}{gap}{}", "", self.inline));
        out.extend(self.lines);
    }

    /// Puts a dash at a column in front.
    fn behind_dash(self, column: usize, format: &Format, out: &mut Vec<String>) {
        let gap = " ".repeat(format.dash.max(2) - 1);
        self.behind_gap(column, "-", &gap, out);
    }

    /// Takes the comment off the header, if this is a block scalar.
    pub(super) fn take_header_comment(&mut self) -> Option<String> {
        let header = match self.inline.strip_prefix('!') {
            Some(tagged) => tagged.split_once(' ')?.1,
            None => &self.inline,
        };
        if self.tail || self.lines.is_empty() || !header.starts_with(['|', '>']) {
            return None;
        }
        let comment = self.inline.split_off(self.inline.find(" #")?);
        Some(comment.trim().to_owned())
    }

    /// Puts a comment on the line of the owner.
    pub(super) fn put_comment(mut self, comment: &str) -> Self {
        self = self.below();
        match self.lines.last_mut().filter(|_| self.tail) {
            Some(last) => {
                last.push(' ');
                last.push_str(comment);
            }
            None if self.inline.starts_with('#') => {}
            None => self.inline = format!("{} {comment}", self.inline).trim().to_owned(),
        }
        self
    }

    /// Puts a key at a column in front.
    fn behind_key(self, column: usize, key: &str, out: &mut Vec<String>) {
        if is_long(key) {
            out.push(format!("{:column$}? {key}", ""));
            return self.behind(column, ":", out);
        }
        self.behind(column, &format!("{key}:"), out);
    }

    /// Moves the first line up behind a dash.
    pub(super) fn compact(mut self) -> Self {
        if self.inline.is_empty() && !self.lines.is_empty() {
            let first = self.lines.remove(0);
            self.inline = first.trim_start().to_owned();
            self.moved_up = Some(first.len() - self.inline.len());
        }
        self
    }

    /// Whether this is a block scalar with `+`.
    fn keeps_blank_lines(&self) -> bool {
        let mut indicators = self
            .inline
            .bytes()
            .skip(1)
            .take_while(|b| b"+-123456789".contains(b));
        self.inline.starts_with(['|', '>']) && indicators.any(|b| b == b'+')
    }

    /// Moves the first line of a collection down again.
    pub(super) fn below(mut self) -> Self {
        if let Some(column) = self.moved_up.take() {
            let inline = std::mem::take(&mut self.inline);
            self.lines.insert(0, format!("{:column$}{inline}", ""));
        }
        self
    }
}

/// Whether a key needs a question mark: readers look for the colon behind it in the next 1024
/// characters or bytes (YAML 1.2.2, 7.4.2).
pub(super) fn is_long(key: &str) -> bool {
    key.len() > 1000
}

/// A node as the text of a document of its own: its spelling and inner comments stay.
#[must_use]
pub fn node_text(node: NodeRef<'_>) -> String {
    collection_text(node).unwrap_or_else(|| document_text(&Content::Node(node)))
}

fn document_text(content: &Content<'_>) -> String {
    let format = Format {
        step: 2,
        wide: false,
        dash: 2,
        newline: "
",
        json: Json::No,
        indent_below: 0,
        keep: true,
        body: None,
    };
    let rendered = block(content, Owner::Root(0), &format);
    let head = Some(rendered.inline).filter(|inline| !inline.is_empty());
    head.into_iter()
        .chain(rendered.lines)
        .map(|line| line + "\n")
        .collect()
}

/// Content in block style.
pub(super) fn block(content: &Content<'_>, owner: Owner, format: &Format) -> Rendered {
    if let Content::Text(text) = content
        && let Some(lines) = text.lines_as_they_are()
    {
        let column = owner.child(
            text.root().is_some_and(|root| root.kind().is_sequence()),
            format,
        );
        let lines = lines.map(|line| match line {
            "" => String::new(),
            line => format!("{:column$}{line}", ""),
        });
        let lines = lines.collect();
        let rendered = Rendered {
            lines,
            ..Rendered::default()
        };
        return match owner {
            Owner::Dash(_) => rendered.compact(),
            _ => rendered,
        };
    }
    let rendered = match content {
        Content::Text(text) => {
            let content = root_of(text);
            let mut rendered = block_lines(&content, owner, format);
            // The comments at the head of the text belong to its first entry.
            if let Content::Node(root) = content
                && root.kind().is_block_collection()
                && rendered.inline.is_empty()
            {
                let first = root.entries().next().map(|entry| entry.key);
                let head = first.or(root.items().next()).map(comments_above);
                let column = owner.child(root.kind().is_sequence(), format);
                let head = head.into_iter().flatten();
                let head = head.map(|comment| format!("{:column$}{comment}", ""));
                rendered.lines.splice(0..0, head.collect::<Vec<_>>());
            }
            rendered
        }
        content => block_lines(content, owner, format),
    };
    if matches!(owner, Owner::Dash(_)) {
        rendered.compact()
    } else {
        rendered
    }
}

fn block_lines(content: &Content<'_>, owner: Owner, format: &Format) -> Rendered {
    match content {
        Content::Text(text) => block_lines(&root_of(text), owner, format),
        Content::Value(value) => block_value(value, owner, format),
        Content::Node(node) => match transcribe(*node, owner, format) {
            Some(rendered) => rendered,
            None => block_value(&node.value().unwrap_or(Value::Null), owner, format),
        },
    }
}

fn root_of(text: &OwnedDocument) -> Content<'_> {
    text.root()
        .map_or(Content::Value(Value::Null), Content::Node)
}

/// Content in flow style, on one line.
pub(super) fn flow(content: &Content<'_>, format: &Format) -> String {
    match content {
        Content::Text(text) => flow(&root_of(text), format),
        Content::Value(value) => flow_value(value, format.json),
        Content::Node(node) => {
            let is_json = format.json != Json::No && node.document.text.starts_with('{');
            let single = !node.kind().is_block_collection()
                && !node.source().contains('\n')
                && !node.source().is_empty();
            let simple = match node.kind() {
                NodeKind::Scalar(ScalarStyle::Plain) => {
                    let is_safe = format.json == Json::No
                        && scalar::plain_is_safe(node.source(), Context::Flow);
                    is_safe || node.as_str().is_none()
                }
                NodeKind::Scalar(ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted) => true,
                _ => node.is_whole(),
            };
            if single && simple && node.tag().is_none() && (is_json || format.json == Json::No) {
                return node.source().to_owned();
            }
            flow_value(&node.value().unwrap_or(Value::Null), format.json)
        }
    }
}

fn flow_value(value: &Value, json: Json) -> String {
    match value {
        Value::String(text) if json != Json::No => scalar::write_double_quoted(text),
        Value::String(text) => scalar::write_inline(text, ScalarStyle::Plain, Context::Flow),
        Value::Sequence(items) => {
            let items: Vec<_> = items.iter().map(|item| flow_value(item, json)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Mapping(entries) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, value)| flow_entry(key, &flow_value(value, json), json))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => plain(other),
    }
}

/// An entry in flow style.
pub(super) fn flow_entry(key: &Value, value: &str, json: Json) -> String {
    let key = flow_key(key, json);
    // JSON knows no question mark, and its readers no limit.
    let mark = if is_long(&key) && json != Json::Document {
        "? "
    } else {
        ""
    };
    format!("{mark}{key}: {value}")
}

/// A key in flow style.
fn flow_key(key: &Value, json: Json) -> String {
    match key {
        Value::Number(_) | Value::Bool(_) if json == Json::Document => {
            scalar::write_double_quoted(&plain(key))
        }
        other => flow_value(other, json),
    }
}

pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Number(number) => scalar::number_text(number),
        Value::Bool(value) => value.to_string(),
        _ => "null".to_owned(),
    }
}

fn block_value(value: &Value, owner: Owner, format: &Format) -> Rendered {
    match value {
        Value::String(text) => string(text, ScalarStyle::Plain, owner, format),
        Value::Sequence(items) if items.is_empty() => Rendered::inline("[]".to_owned()),
        Value::Mapping(entries) if entries.is_empty() => Rendered::inline("{}".to_owned()),
        Value::Sequence(items) => {
            let column = owner.child(true, format);
            let mut rendered = Rendered::default();
            for (at, item) in items.iter().enumerate() {
                let keep = format.keep || at + 1 < items.len();
                let format = &Format { keep, ..*format };
                let item = block_value(item, Owner::Dash(column), format).compact();
                item.behind_dash(column, format, &mut rendered.lines);
            }
            rendered
        }
        Value::Mapping(entries) => {
            let column = owner.child(false, format);
            let mut rendered = Rendered::default();
            for (at, (key, value)) in entries.iter().enumerate() {
                let keep = format.keep || at + 1 < entries.len();
                let format = &Format { keep, ..*format };
                let value = block_value(value, Owner::Key(column), format);
                value.behind_key(column, &block_key(key), &mut rendered.lines);
            }
            rendered
        }
        other => Rendered::inline(plain(other)),
    }
}

/// A key in block style, without its colon.
pub(super) fn block_key(key: &Value) -> String {
    match key {
        Value::String(text) => scalar::write_inline(text, ScalarStyle::Plain, Context::Block),
        other => flow_value(other, Json::No),
    }
}

/// A string on one line.
pub(super) fn plain_or_quoted(text: &str) -> String {
    scalar::write_inline(text, ScalarStyle::Plain, Context::Block)
}

/// A string in the style asked for, if it can be written so, else double-quoted.
///
/// New strings of several lines become literal block scalars, with `+` only where that takes no
/// blank lines that follow for its own.
pub(super) fn string(text: &str, style: ScalarStyle, owner: Owner, format: &Format) -> Rendered {
    let several = text.trim_end_matches('\n').contains('\n');
    match style {
        ScalarStyle::Literal | ScalarStyle::Folded => {}
        ScalarStyle::Plain if several => {}
        _ => return Rendered::inline(scalar::write_inline(text, style, Context::Block)),
    }
    let rendered = kept_string(text, style, owner, format);
    if rendered.keeps_blank_lines() && !format.keep {
        return Rendered::inline(scalar::write_double_quoted(text));
    }
    rendered
}

/// A string in the place of a block scalar that keeps the blank lines behind it.
pub(super) fn kept_string(
    text: &str,
    style: ScalarStyle,
    owner: Owner,
    format: &Format,
) -> Rendered {
    let indent = match owner {
        Owner::Root(_) => format.step,
        Owner::Key(column) | Owner::Dash(column) => column + format.step,
    };
    let parent = match owner {
        Owner::Root(_) => 0,
        _ => owner.column(),
    };
    let indent = format.body.filter(|body| *body > parent).unwrap_or(indent);
    let folded = style == ScalarStyle::Folded;
    match scalar::write_block(text, folded, indent, "\n", indent - parent) {
        Some((header, body)) if indent > format.indent_below => Rendered {
            inline: header,
            lines: body.split('\n').map(str::to_owned).collect(),
            ..Rendered::default()
        },
        _ => Rendered::inline(scalar::write_double_quoted(text)),
    }
}

/// Lines for a new entry of a block mapping at a column. `without`: comment lines above its source
/// that are left out.
pub(super) fn entry_lines(
    key: &Value,
    content: &Content<'_>,
    source: Option<EntryRef<'_>>,
    without: &HashSet<String>,
    column: usize,
    format: &Format,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rendered = block(content, Owner::Key(column), format);
    let mut mark = block_key(key);
    if let Some(entry) = source {
        let above = comments_above(entry.key).into_iter();
        for comment in above.filter(|comment| !without.contains(*comment)) {
            lines.push(format!("{:column$}{comment}", ""));
        }
        if is_simple_key(entry.key) && matches!(content, Content::Node(_)) {
            mark = entry.key.source().to_owned();
        }
        append_trailing_comment(entry.value, &mut rendered);
        // A node brings the comment on its key's line along.
        if matches!(content, Content::Text(_))
            && entry.value.kind().is_block_collection()
            && rendered.inline.is_empty()
        {
            rendered.inline = line_comment(entry.key).unwrap_or_default().to_owned();
        }
    }
    rendered.behind_key(column, &mark, &mut lines);
    lines
}

/// Lines for a new item of a block sequence with its dash at a column.
pub(super) fn item_lines(
    content: &Content<'_>,
    source: Option<NodeRef<'_>>,
    without: &HashSet<String>,
    column: usize,
    format: &Format,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rendered = block(content, Owner::Dash(column), format);
    if let Some(item) = source {
        let above = comments_above(item).into_iter();
        for comment in above.filter(|comment| !without.contains(*comment)) {
            lines.push(format!("{:column$}{comment}", ""));
        }
        append_trailing_comment(item, &mut rendered);
    }
    rendered.behind_dash(column, format, &mut lines);
    lines
}

/// The comment behind a scalar or flow collection moves along with it.
fn append_trailing_comment(value: NodeRef<'_>, rendered: &mut Rendered) {
    let value = value.written();
    if value.kind().is_block_collection() {
        return;
    }
    let Some(comment) = comment_behind(value.document, value.range().end) else {
        return;
    };
    match rendered.lines.last_mut() {
        Some(last) if rendered.tail => last.push_str(comment),
        _ => rendered.inline.push_str(comment),
    }
}

fn is_simple_key(key: NodeRef<'_>) -> bool {
    key.mark().is_none()
        && matches!(
            key.kind(),
            NodeKind::Scalar(
                ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted
            )
        )
        && key.properties().is_empty()
        && !key.source().contains('\n')
        && !key.source().is_empty()
}

/// A node of another document as its source has it, re-indented.
///
/// `None` where the source cannot be carried over as it is: aliases, anchors, complex keys.
fn transcribe(node: NodeRef<'_>, owner: Owner, format: &Format) -> Option<Rendered> {
    if node.document.tree.expansion.is_none() && node.is_assembled() {
        return None;
    }
    let tag = node.tag().map(|tag| format!("{tag} ")).unwrap_or_default();
    let document = node.document;
    match node.kind() {
        NodeKind::Scalar(ScalarStyle::Literal | ScalarStyle::Folded) => {
            let origin = node.origin();
            let mut rendered = match block_scalar(origin, owner, format) {
                Some(rendered)
                    if format.indent_below == 0
                        && (format.keep || !rendered.keeps_blank_lines())
                        && origin.document.tree.unterminated != Some(origin.id) =>
                {
                    rendered
                }
                _ => {
                    let text = node.scalar_text()?;
                    let mut rendered = string(text, ScalarStyle::Literal, owner, format);
                    let header = node.source().lines().next().unwrap_or_default();
                    if let Some(at) = header.find(" #") {
                        rendered.inline.push_str(header[at..].trim_end());
                    }
                    rendered
                }
            };
            rendered.inline.insert_str(0, &tag);
            Some(rendered)
        }
        NodeKind::BlockMapping => {
            let column = owner.child(false, format);
            let mut rendered = opening(node, column, &tag);
            let mut behind = None;
            let shift = Shift::of(node, column);
            let mut entries = node.entries().peekable();
            while let Some(entry) = entries.next() {
                if !is_simple_key(entry.key) {
                    return None;
                }
                let is_own = entry.is_own(node);
                if is_own {
                    let start = document.line_start(entry.key.outer_start());
                    push_trivia(document, behind, start, shift, &mut rendered.lines);
                }
                let format = &format.above_others(entries.peek().is_some());
                let mut value = transcribe(entry.value, Owner::Key(column), format)?;
                append_trailing_comment(entry.value, &mut value);
                match key_with_gap(entry).filter(|_| is_own) {
                    Some((key, gap)) => value.behind_gap(column, key, gap, &mut rendered.lines),
                    None => value.behind_key(column, entry.key.source(), &mut rendered.lines),
                }
                if is_own {
                    behind = Some(document.line_end(entry_end(entry)));
                }
            }
            Some(rendered)
        }
        NodeKind::BlockSequence => {
            let column = owner.child(true, format);
            let mut rendered = opening(node, column, &tag);
            let mut behind = None;
            let shift = Shift::of(node, column);
            let mut items = node.items().peekable();
            while let Some(item) = items.next() {
                let written = item.written();
                let start = document.line_start(written.mark().unwrap_or(written.outer_start()));
                push_trivia(document, behind, start, shift, &mut rendered.lines);
                let format = &format.above_others(items.peek().is_some());
                let mut value = transcribe(item, Owner::Dash(column), format)?.compact();
                append_trailing_comment(item, &mut value);
                value.behind_dash(column, format, &mut rendered.lines);
                behind = Some(document.line_end(written.range().end));
            }
            Some(rendered)
        }
        _ if !node.is_whole() => None,
        _ => {
            let mut lines = node.source().lines();
            let first = lines.next().unwrap_or_default();
            let old = document.text[document.line_start(node.range().start)..].bytes();
            let old = old.take_while(|b| *b == b' ').count();
            let least = owner.column()
                + if matches!(owner, Owner::Root(_)) {
                    0
                } else {
                    format.step
                };
            let lines = lines
                .map(|line| {
                    let bare = line.trim_start_matches(' ');
                    if bare.is_empty() {
                        return String::new();
                    }
                    let indent = line.len() - bare.len();
                    let flow =
                        matches!(node.kind(), NodeKind::FlowMapping | NodeKind::FlowSequence);
                    let indent = match flow {
                        true => (indent + owner.column())
                            .saturating_sub(old)
                            .max(owner.column()),
                        false => least,
                    };
                    format!("{:indent$}{bare}", "")
                })
                .collect();
            Some(Rendered {
                inline: format!("{tag}{first}").trim_end().to_owned(),
                lines,
                tail: true,
                ..Rendered::default()
            })
        }
    }
}

/// The columns of a collection, before and after.
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

/// A key with its colon, and the white space in front of its value, where the value is on that line
/// and begins no collection.
fn key_with_gap(entry: EntryRef<'_>) -> Option<(&str, &str)> {
    let document = entry.key.document;
    let value = entry.value.written();
    let behind = value.mark()? + 1;
    let key = document.text.get(entry.key.range().start..behind)?;
    let gap = document.text.get(behind..value.outer_start())?;
    let is_gap = !gap.is_empty() && gap.bytes().all(|byte| byte == b' ');
    let fits = is_gap && !entry.value.kind().is_block_collection() && !is_long(key);
    (fits && !key.contains('\n')).then_some((key, gap))
}

/// What stands between a collection's indicator and its first entry: comments.
fn opening(node: NodeRef<'_>, column: usize, tag: &str) -> Rendered {
    let document = node.document;
    let mut rendered = Rendered::inline(tag.trim_end().to_owned());
    let Some(mark) = node.mark() else {
        return rendered;
    };
    let behind = if node.raw().properties == NONE || node.raw().properties < node.raw().mark {
        mark + 1
    } else {
        node.raw().properties as usize + node.properties().len()
    };
    let first = document.line_start(node.range().start);
    if first <= behind {
        return rendered;
    }
    let by_alias = node.written().kind() == NodeKind::Alias;
    if let Some(comment) = comment_behind(document, behind).filter(|_| !by_alias) {
        rendered.inline = format!("{tag}{}", comment.trim_start());
    }
    push_trivia(
        document,
        Some(document.line_end(behind)),
        first,
        Shift::of(node, column),
        &mut rendered.lines,
    );
    rendered
}

/// Comments and blank lines between the line break at `behind` and the line at `start`.
fn push_trivia(
    document: Document<'_>,
    behind: Option<usize>,
    start: usize,
    shift: Shift,
    out: &mut Vec<String>,
) {
    let Some(behind) = behind else { return };
    if behind + 1 >= start {
        return;
    }
    for line in document.text[behind + 1..start].lines() {
        let comment = line.trim();
        // A merge key that stands between has become entries.
        if !comment.is_empty() && !comment.starts_with('#') {
            continue;
        }
        let indent = line.len() - line.trim_start_matches(' ').len();
        let column = shift.to + indent.saturating_sub(shift.from);
        out.push(match comment.is_empty() {
            true => String::new(),
            false => format!("{:column$}{comment}", ""),
        });
    }
}

fn block_scalar(node: NodeRef<'_>, owner: Owner, format: &Format) -> Option<Rendered> {
    let mut lines = node.source().split('\n');
    let header = lines.next()?.trim_end();
    let digit = header.bytes().skip(1).take(2).find(u8::is_ascii_digit);
    let body: Vec<&str> = lines
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .collect();
    let indent_of = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let old = match digit {
        // Relative to a parent whose column the source does not tell: count the spaces instead.
        Some(digit) => {
            let parent = node.parent()?;
            let document = node.document;
            let column = match parent.kind() {
                NodeKind::BlockMapping => {
                    let entry = parent.entries().find(|e| e.value.id == node.id)?;
                    document.column(entry.key.outer_start())
                }
                NodeKind::BlockSequence => document.column(node.mark()?),
                _ => return None,
            };
            column + usize::from(digit - b'0')
        }
        None => body
            .iter()
            .find(|line| !line.trim_matches(' ').is_empty())
            .map_or(0, |l| indent_of(l)),
    };
    let new = match (owner, digit) {
        (Owner::Root(_), _) => return None,
        (_, Some(digit)) => owner.column() + usize::from(digit - b'0'),
        (_, None) => owner.column() + format.step,
    };
    let lines = body
        .into_iter()
        .map(|line| match line.get(old.min(indent_of(line))..) {
            Some(rest) if !rest.is_empty() => format!("{:new$}{rest}", ""),
            _ => String::new(),
        })
        .collect();
    Some(Rendered {
        inline: header.to_owned(),
        lines,
        ..Rendered::default()
    })
}
