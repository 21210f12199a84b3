//! Writes a value to its place: after its key or dash, on a separate line, or on the lines below.

use std::borrow::Cow;

use super::flow::with_indent_of;
use super::format::owner_of;
use super::lines::break_at;
use super::{Around, Content, Editor};
use crate::comments::{
    ValueComments, block_indicators, comment_place, head_place, header_end, lines_between,
    value_end,
};
use crate::emit::{Emitter, Rendered, Tail};
use crate::format::{Format, Json, Owner};
use crate::lines::newline_at;
use crate::node::NodeRef;
use crate::scalar::{self, Context, ScalarStyle};
use crate::text_edit::TextEdit;
use crate::tree::NodeKind;
use crate::value::Value;

/// Whether a node is the key of an entry.
fn is_key(node: NodeRef<'_>) -> bool {
    let parent = node.parent();
    parent.is_some_and(|parent| parent.kind().is_mapping()) && node.key_of_value().is_none()
}

impl<'d, 'f> Editor<'d, 'f> {
    pub(super) fn replace_node(
        &self,
        node: NodeRef<'d>,
        content: &Content<'f>,
        out: &mut TextEdit,
    ) {
        if is_key(node) {
            return self.replace_key(node, content, out);
        }
        let in_json = node.parent().is_none() && self.json(node) != Json::No;
        if in_json || self.flow_only(node) {
            let around = node.parent().unwrap_or(node);
            let format = Format {
                json_lines: around.source().contains('\n'),
                ..self.format_at(node)
            };
            let text = match (node.kind(), string_in_style_of(node, content)) {
                (NodeKind::Scalar(style), Some(value)) if format.json == Json::No => {
                    scalar::write_inline(value, style, Context::Flow).into_owned()
                }
                _ => {
                    let mut text = String::new();
                    Emitter::at_line_start(&mut text, format).flow(content);
                    let line = self.document.line_start(node.range().start);
                    with_indent_of(&self.document.text[line..], &text).into_owned()
                }
            };
            self.place_in_flow(node, text, out);
            return;
        }
        let format = self.format_of_content(node);
        let comments = self.comments_around(node, Some(content));
        let bare = self.rendered(node, content, ValueComments::default(), &format);
        let kind = node.kind();
        let is_below = head_place(node).is_some();
        let has_line = kind.is_block_collection() || kind.is_block_scalar() || !has_indicator(node);
        if !has_line && bare.tail == Tail::Open && (is_below || comments.count() < 2) {
            // The value stays on its line, and its comments stay where they are.
            self.place_on_its_line(node, bare, out);
            return self.edit_value_comments(node, &comments, out);
        }
        let rendered = if comments.is_empty() {
            bare
        } else {
            self.rendered(node, content, comments, &format)
        };
        self.place(node, rendered, &format, out);
    }

    fn replace_key(&self, key: NodeRef<'d>, content: &Content<'f>, out: &mut TextEdit) {
        let parent = key.parent().map_or(key, |parent| parent);
        let text = content.value();
        let text = text.as_str().unwrap_or_default();
        let (is_block, json) = (parent.kind().is_block_collection(), self.json(parent));
        let text = match json {
            Json::No => {
                let context = if is_block {
                    Context::Block
                } else {
                    Context::Flow
                };
                scalar::write_inline(text, ScalarStyle::Plain, context).into_owned()
            }
            Json::Quoted | Json::Document => scalar::write_double_quoted(text),
        };
        out.replace(key.range(), text);
    }

    /// The comments around the new content of a node.
    pub(super) fn comments_around(
        &self,
        node: NodeRef<'d>,
        content: Option<&Content<'f>>,
    ) -> ValueComments<'_> {
        let owner = node.key_of_value().unwrap_or(node);
        let own = ValueComments::of(node);
        let asked = self.comments.get(&owner.id);
        match (asked.map(|comments| &comments.value), content) {
            (Some(Around::These(comments)), _) => comments.clone(),
            (None | Some(Around::OwnElseBrought), Some(Content::Node(source)))
                if own.is_empty() =>
            {
                ValueComments::of(*source).into_owned()
            }
            _ => own,
        }
    }

    /// Content in block style for the place of a node, with the comments around it.
    fn rendered(
        &self,
        node: NodeRef<'d>,
        content: &Content<'f>,
        comments: ValueComments<'_>,
        format: &Format,
    ) -> Rendered {
        let owner = owner_of(node);
        Rendered::new(owner, format, |emitter| {
            emitter.with_comments(comments, |emitter| match node.kind() {
                NodeKind::Scalar(style) if !node.is_null() => {
                    let keeps =
                        node.kind().is_block_scalar() && block_indicators(node).contains('+');
                    match string_in_style_of(node, content) {
                        Some(text) if keeps => emitter.kept_string(text, style, owner),
                        Some(text) => emitter.string(text, style, owner),
                        None => emitter.content(content, owner),
                    }
                }
                _ => emitter.content(content, owner),
            })
        })
    }

    /// Replaces the comments around a value that stays on its lines.
    pub(super) fn edit_value_comments(
        &self,
        value: NodeRef<'d>,
        comments: &ValueComments<'_>,
        out: &mut TextEdit,
    ) {
        let document = self.document;
        let own = ValueComments::of(value);
        if own == *comments {
            return;
        }
        let kind = value.kind();
        let mut replace = |at: usize, comment: Option<Cow<'_, str>>| {
            out.replace(
                at..break_at(document, at),
                comment.unwrap_or_default().into_owned(),
            );
        };
        match head_place(value) {
            Some(head) if !kind.is_block_collection() => {
                replace(head, comments.head.clone());
                let tail = if kind.is_block_scalar() {
                    header_end(value)
                } else {
                    value_end(value)
                };
                replace(tail, comments.tail.clone());
                let lines = lines_between(value, head);
                let indent = " ".repeat(document.column(value.range().start));
                let newline = newline_at(document.text, head);
                let between = comments.between.iter();
                let between = between.map(|line| format!("{indent}{}{newline}", line.trim()));
                out.replace(lines, between.collect());
            }
            head => {
                let owner = value.key_of_value().unwrap_or(value);
                let line = comments.in_line();
                let after_dash = kind.is_block_collection() && head.is_none();
                match (comment_place(owner), value.indicator()) {
                    (Some(at), _) => replace(at, Some(line)),
                    // The first entry or item moves to a line below the dash.
                    (None, Some(indicator)) if after_dash && !line.is_empty() => {
                        let start = value.outer_start();
                        let column = document.column(start);
                        let newline = newline_at(document.text, start);
                        out.replace(
                            indicator + 1..start,
                            format!("{line}{newline}{:column$}", ""),
                        );
                    }
                    _ => {}
                }
            }
        }
    }

    /// Replaces a node in a flow collection with text.
    pub(super) fn place_in_flow(&self, node: NodeRef<'d>, text: String, out: &mut TextEdit) {
        let range = node.outer_start()..node.range().end;
        let anchor = node.anchor().map(|anchor| format!("{anchor} "));
        let mut text = format!("{}{text}", anchor.unwrap_or_default());
        let is_value = node
            .parent()
            .is_some_and(|parent| parent.kind().is_mapping());
        if is_value && node.indicator().is_none() {
            // `{lone}` is an entry without a colon. After the `?` of `{?}`, a colon needs a space: `?:` would be a
            // plain scalar.
            let lone_mark = self.document.text[..range.start].ends_with('?');
            text.insert_str(0, if lone_mark { " : " } else { ": " });
        } else if node.range().is_empty() && node.properties().is_empty() {
            text.insert(0, ' ');
        }
        out.replace(range, text);
    }

    /// Replaces a node outside of flow collections, and the comments around it, with rendered content.
    pub(super) fn place(
        &self,
        node: NodeRef<'d>,
        mut rendered: Rendered,
        format: &Format,
        out: &mut TextEdit,
    ) {
        if !has_indicator(node) {
            return self.place_without_colon(node, rendered, format, out);
        }
        let document = self.document;
        let head = head_place(node).filter(|_| node.properties_range().is_none());
        let start = head.unwrap_or_else(|| node.outer_start());
        let end = break_at(document, value_end(node));
        let is_root_line = matches!(owner_of(node), Owner::Root(_))
            && document.text[document.line_start(start)..start]
                .trim()
                .is_empty();
        let anchor = node.anchor().unwrap_or_default();
        // A block collection cannot begin on the line of its anchor.
        if !anchor.is_empty() {
            rendered.move_down();
        } else if is_root_line {
            rendered.move_up();
        }
        let is_comment = rendered.inline.starts_with([' ', '\t']);
        let gap = if is_comment { "" } else { " " };
        let text = [anchor, &rendered.inline].join(gap);
        let text = if is_comment {
            text.as_str()
        } else {
            text.trim()
        };
        // After a dash, the first line of a block collection must align with the lines below it.
        let after_dash = node.indicator().is_some() && rendered.moved_up.is_some();
        let is_glued = text.is_empty() || text.starts_with([' ', '\t']);
        let range = if is_glued || after_dash {
            self.with_space_before(start..end)
        } else {
            start..end
        };
        let before = &document.text[..range.start];
        let is_apart = before.is_empty() || before.ends_with([' ', '\t', '\n', '\u{feff}']);
        let gap = match (is_glued || is_apart, after_dash) {
            (true, _) => 0,
            (false, true) => format.dash.max(2) - 1,
            (false, false) => 1,
        };
        out.replace(range, format!("{:gap$}{text}{}", "", rendered.below));
    }

    /// Writes the value of `? lone` on a new line, with its colon.
    pub(super) fn place_without_colon(
        &self,
        node: NodeRef<'d>,
        rendered: Rendered,
        format: &Format,
        out: &mut TextEdit,
    ) {
        let column = owner_of(node).column();
        let at = break_at(self.document, node.range().start);
        let (newline, Rendered { inline, below, .. }) = (format.newline, rendered);
        let is_glued = inline.is_empty() || inline.starts_with([' ', '\t']);
        let gap = if is_glued { "" } else { " " };
        out.insert(at, format!("{newline}{:column$}:{gap}{inline}{below}", ""));
    }

    /// Replaces a scalar, alias or flow collection on its line. Its tag is removed.
    fn place_on_its_line(&self, node: NodeRef<'d>, rendered: Rendered, out: &mut TextEdit) {
        let anchor = node.anchor().unwrap_or_default();
        let is_below = head_place(node).is_some();
        let mut text = rendered.inline.trim_start().to_owned() + &rendered.below;
        if !is_below {
            text = [anchor, &text].join(" ").trim().to_owned();
            let start = node.outer_start();
            let range = start..value_end(node).max(start);
            let range = if text.is_empty() {
                self.with_space_before(range)
            } else {
                range
            };
            let before = &self.document.text[..range.start];
            if !text.is_empty()
                && !before.is_empty()
                && !before.ends_with([' ', '\t', '\n', '\u{feff}'])
            {
                text.insert(0, ' ');
            }
            return out.replace(range, text);
        }
        if let (Some(properties), Some(_)) = (node.properties_range(), node.tag()) {
            let range = if anchor.is_empty() {
                self.with_space_before(properties)
            } else {
                properties
            };
            out.replace(range, anchor.to_owned());
        }
        out.replace(node.range(), text);
    }
}

/// Whether a node has the indicator that it needs. `false` for the value of a mapping entry without a colon.
fn has_indicator(node: NodeRef<'_>) -> bool {
    let parent = node.parent();
    node.indicator().is_some() || !parent.is_some_and(|parent| parent.kind().is_mapping())
}

/// The string to write in the style of the old scalar. `None` if the content keeps its spelling: it is not a string,
/// has that style already, or needs several lines while the old scalar has one.
fn string_in_style_of<'c>(node: NodeRef<'_>, content: &'c Content<'_>) -> Option<&'c str> {
    let source = match content {
        Content::Value(Value::String(text)) => return Some(text),
        Content::Node(source) => source,
        _ => return None,
    };
    let text = source.as_str().filter(|_| source.properties().is_empty())?;
    let (own, their) = (node.kind(), source.kind());
    let is_ambiguous = their == NodeKind::Scalar(ScalarStyle::Plain)
        && !scalar::plain_is_safe(text, Context::Block);
    let several = source.source().contains('\n') && !own.is_block_scalar();
    let as_written = own == their || is_ambiguous || several || their == NodeKind::Alias;
    (!as_written).then_some(text)
}
