//! A value in its place: behind its key or dash, on a line of its own, or on the lines below.

use std::ops::Range;

use super::format::owner_of;
use super::lines::{block_indicators, break_at, newline_at};
use super::slots::below_text;
use super::{Content, Editor};
use crate::yaml::comments::{comment_behind, header_end};
use crate::yaml::document::NodeRef;
use crate::yaml::render::{self, Format, Json, Owner, Rendered};
use crate::yaml::scalar::{self, Context, ScalarStyle};
use crate::yaml::text_edit::TextEdit;
use crate::yaml::tree::NodeKind;
use crate::yaml::value::Value;

impl<'d, 'f> Editor<'d, 'f> {
    pub(super) fn replace_node(
        &self,
        node: NodeRef<'d>,
        content: &Content<'f>,
        out: &mut TextEdit,
    ) {
        let in_json = node.parent().is_none() && self.json(node) != Json::No;
        if in_json || self.flow_only(node) {
            let format = self.format_at(node);
            let text = match (node.kind(), string_in_style_of(node, content)) {
                (NodeKind::Scalar(style), Some(value)) if format.json == Json::No => {
                    scalar::write_inline(value, style, Context::Flow)
                }
                _ => render::flow(content, &format),
            };
            self.place_in_flow(node, text, out);
            return;
        }
        let owner = owner_of(node);
        let format = self.format_of_content(node);
        let mut rendered = match (node.kind(), content) {
            (_, Content::Value(Value::String(text))) if self.is_crowded(node) => {
                // Comments between the indicator and a block scalar would become text.
                Rendered::inline(render::plain_or_quoted(text))
            }
            (_, Content::Node(source))
                if source.kind().is_block_scalar() && self.is_crowded(node) =>
            {
                let tag = source.tag().map(|tag| format!("{tag} "));
                let text = render::plain_or_quoted(source.scalar_text().unwrap_or_default());
                Rendered::inline(tag.unwrap_or_default() + &text)
            }
            (NodeKind::Scalar(style), _) if !node.is_null() => {
                match string_in_style_of(node, content) {
                    Some(text)
                        if node.kind().is_block_scalar()
                            && block_indicators(node).contains('+') =>
                    {
                        render::kept_string(text, style, owner, &format)
                    }
                    Some(text) => render::string(text, style, owner, &format),
                    None => render::block(content, owner, &format),
                }
            }
            _ => render::block(content, owner, &format),
        };
        if let Content::Node(source) = content {
            self.keep_head_comment(node, *source, &mut rendered);
        }
        let rendered = self.keep_header_comment(node, rendered);
        self.place(node, rendered, &format, out);
    }

    /// The comment in the header of a block scalar stays with what takes its place.
    fn keep_header_comment(&self, node: NodeRef<'d>, mut rendered: Rendered) -> Rendered {
        if !matches!(node.kind(), NodeKind::Scalar(_)) {
            return rendered;
        }
        let brought = rendered.take_header_comment();
        let owner = node.key_of_value().unwrap_or(node);
        let asked = self.comments.get(&owner.id);
        let asked = asked.and_then(|comments| comments.behind.as_deref());
        let is_block = node.kind().is_block_scalar();
        let at = match is_block {
            true => header_end(node),
            false => node.range().end,
        };
        let own = comment_behind(self.document, at).map(str::trim);
        let comment = match is_block {
            true => asked.or(own).or(brought.as_deref()),
            // The comment behind the old value stays or comes on its own.
            false if asked.is_some() || own.is_some() => None,
            false => brought.as_deref(),
        };
        match comment.filter(|comment| !comment.is_empty()) {
            Some(comment) => rendered.put_comment(comment),
            None => rendered,
        }
    }

    /// A comment on the line of the indicator stays alone there: if that of the new content joined
    /// it, the line would grow with every replacement.
    pub(super) fn keep_head_comment(
        &self,
        node: NodeRef<'d>,
        source: NodeRef<'f>,
        rendered: &mut Rendered,
    ) {
        let head = self.head_place(node);
        let owner = node.key_of_value().unwrap_or(node);
        let asked = self.comments.get(&owner.id);
        let has_own = asked.is_some_and(|comments| comments.behind.is_some())
            || head.is_some_and(|head| comment_behind(self.document, head).is_some());
        if has_own && source.kind().is_block_collection() {
            let tag = source.tag().unwrap_or_default();
            let behind = rendered.inline.strip_prefix(tag).unwrap_or_default();
            if behind.trim_start().starts_with('#') {
                rendered.inline = tag.to_owned();
            }
        }
    }

    /// Puts text in the place of a node in a flow collection.
    pub(super) fn place_in_flow(&self, node: NodeRef<'d>, text: String, out: &mut TextEdit) {
        let range = node.outer_start()..node.range().end;
        let anchor = node.anchor().map(|anchor| format!("{anchor} "));
        let mut text = format!("{}{text}", anchor.unwrap_or_default());
        let is_value = node
            .parent()
            .is_some_and(|parent| parent.kind().is_mapping());
        if is_value && node.mark().is_none() {
            // `{lone}`: an entry without its colon; `{?}`, where `?:` would be text.
            let lone_mark = self.document.text[..range.start].ends_with('?');
            text.insert_str(0, if lone_mark { " : " } else { ": " });
        } else if node.range().is_empty() && node.properties().is_empty() {
            text.insert(0, ' ');
        }
        out.replace(range, text);
    }

    /// Where the indicator's line (or that of anchor and tag) ends its say, if the content of the
    /// node begins on a line further down.
    pub(super) fn head_place(&self, node: NodeRef<'d>) -> Option<usize> {
        let line = self.document.line_start(node.range().start);
        let properties = node.properties_range().map(|range| range.end);
        let at = properties.or(node.mark().map(|mark| mark + 1))?;
        (at <= line).then_some(at)
    }

    /// Puts rendered content in the place of a node outside of flow collections.
    pub(super) fn place(
        &self,
        node: NodeRef<'d>,
        rendered: Rendered,
        format: &Format,
        out: &mut TextEdit,
    ) {
        let is_value = node
            .parent()
            .is_some_and(|parent| parent.kind().is_mapping());
        if is_value && node.mark().is_none() {
            return self.place_without_colon(node, rendered, format, out);
        }
        match self.head_place(node) {
            Some(_)
                if !node.kind().is_block_collection()
                    && (rendered.lines.is_empty() || rendered.tail) =>
            {
                let below = below_text(&rendered.lines, format);
                let text = std::iter::once(&*rendered.inline).chain(below).collect();
                self.place_on_own_line(node, text, out);
            }
            Some(head) => self.place_below(node, head, rendered, format, out),
            None => self.place_behind(node, rendered, format, out),
        }
    }

    /// `? lone` gets its colon, on a line of its own.
    pub(super) fn place_without_colon(
        &self,
        node: NodeRef<'d>,
        rendered: Rendered,
        format: &Format,
        out: &mut TextEdit,
    ) {
        let column = owner_of(node).column();
        let at = break_at(self.document, node.range().start);
        let mut lines = Vec::new();
        rendered.behind(column, ":", &mut lines);
        let text = lines
            .iter()
            .flat_map(|line| [format.newline, line])
            .collect();
        out.insert(at, text);
    }

    /// A scalar, alias or flow collection on a line of its own stays there; its tag goes.
    pub(super) fn place_on_own_line(&self, node: NodeRef<'d>, text: String, out: &mut TextEdit) {
        if let (Some(properties), Some(_)) = (node.properties_range(), node.tag()) {
            let anchor = node.anchor().unwrap_or_default().to_owned();
            let range = match anchor.is_empty() {
                true => self.with_space_before(properties),
                false => properties,
            };
            out.replace(range, anchor);
        }
        out.replace(node.range(), text);
    }

    /// The old content stands on lines below its indicator, whose own line keeps its comment.
    pub(super) fn place_below(
        &self,
        node: NodeRef<'d>,
        head: usize,
        rendered: Rendered,
        format: &Format,
        out: &mut TextEdit,
    ) {
        let document = self.document;
        let rendered = match node.anchor() {
            Some(_) => rendered.below(),
            // Behind a wide dash the first line would stand in another column than the others.
            None if format.dash > 2 => rendered.below(),
            None => rendered,
        };
        let comment = comment_behind(document, head).is_some();
        let mut rendered = rendered;
        if comment && rendered.tail && !rendered.lines.is_empty() {
            // A comment on its first line would end the scalar, or be text of it.
            let column = owner_of(node).column() + format.step;
            let first = std::mem::take(&mut rendered.inline);
            rendered.lines.insert(0, format!("{:column$}{first}", ""));
        }
        self.put_head(node, head, &rendered.inline, out);
        let mut head_end = break_at(document, head);
        let line = document.line_start(node.range().start);
        if self.is_crowded(node) && line > head_end {
            // Comments between the indicator and the content stay.
            let above = document.text[..line].trim_end_matches(['\r', '\n']);
            head_end = above.len();
        }
        let mut below = String::new();
        if !node.kind().is_block_collection()
            && let Some(old) = comment_behind(document, node.range().end)
        {
            // The comment of the old content has to stand somewhere.
            if comment {
                below.push_str(format.newline);
                below.push_str(&" ".repeat(owner_of(node).column() + format.step));
                below.push_str(old.trim_start());
            } else {
                below.push(' ');
                below.push_str(old.trim_start());
            }
        }
        below.extend(below_text(&rendered.lines, format));
        let end = break_at(document, node.range().end);
        out.replace(head_end..end, below);
    }

    /// Whether comment lines stand between an indicator and the content below, other than a block
    /// collection, to which they would belong.
    pub(super) fn is_crowded(&self, node: NodeRef<'d>) -> bool {
        let Some(head) = self.head_place(node) else {
            return false;
        };
        let line = self.document.line_start(node.range().start);
        let head_end = self.document.line_end(head).min(line);
        !node.kind().is_block_collection() && self.document.text[head_end..line].contains('#')
    }

    /// Anchor and inline content behind an indicator whose content stands below; the tag goes.
    pub(super) fn put_head(
        &self,
        node: NodeRef<'d>,
        head: usize,
        inline: &str,
        out: &mut TextEdit,
    ) {
        let anchor = node.anchor().unwrap_or_default();
        let mut text = [anchor, inline].join(" ").trim().to_owned();
        let range = match node.properties_range() {
            Some(range) if text.is_empty() => self.with_space_before(range),
            Some(range) => range,
            None if text.is_empty() => return,
            None => {
                text.insert(0, ' ');
                head..head
            }
        };
        out.replace(range, text);
    }

    /// The old content begins on the line of its indicator; a comment may follow on its last line.
    pub(super) fn place_behind(
        &self,
        node: NodeRef<'d>,
        mut rendered: Rendered,
        format: &Format,
        out: &mut TextEdit,
    ) {
        let document = self.document;
        let start = node.outer_start();
        let line_end = break_at(document, node.range().end);
        let end = match node.kind().is_block_collection() {
            true => line_end,
            false => node.range().end,
        };
        let own_line = matches!(owner_of(node), Owner::Root(_))
            && document.text[document.line_start(start)..start]
                .trim()
                .is_empty();
        let anchor = node.anchor().unwrap_or_default();
        let comment = end != line_end && !rendered.lines.is_empty();
        rendered = match anchor {
            // No collection begins on the line of its anchor, or in front of its owner's comment.
            "" if comment => rendered.below(),
            "" if own_line => rendered.compact(),
            "" => rendered,
            _ => rendered.below(),
        };
        let mut text = [anchor, &rendered.inline].join(" ").trim().to_owned();
        // Lines below a dash begin in the column behind the dash and one space.
        let behind_dash = node.mark().is_some() && rendered.moved_up.is_some();
        let range = match text.is_empty() || behind_dash {
            true => self.with_space_before(start..end),
            false => start..end,
        };
        let glued = !document.text[..range.start].ends_with([' ', '\t', '\n', '\u{feff}']);
        if glued && !text.is_empty() && range.start > 0 {
            let gap = if behind_dash {
                format.dash.max(2) - 1
            } else {
                1
            };
            text.insert_str(0, &" ".repeat(gap));
        }
        let below = below_text(&rendered.lines, format);
        if end == line_end || rendered.tail {
            text.extend(below);
            out.replace(range, text);
            return;
        }
        // Content of several lines: the comment behind the old content stays with the owner.
        out.replace(range, text);
        let text: String = below.collect();
        out.insert(line_end, text);
    }

    pub(super) fn with_space_before(&self, range: Range<usize>) -> Range<usize> {
        let before = &self.document.text[..range.start];
        let blank = before.len() - before.trim_end_matches([' ', '\t']).len();
        range.start - blank..range.end
    }

    /// First byte that comments above the first unit of a block collection can stand at.
    pub(super) fn floor(&self, node: NodeRef<'d>) -> usize {
        let document = self.document;
        if let Some(mark) = node.mark() {
            return (document.line_end(mark) + 1).min(node.range().start);
        }
        if node.parent().is_some() {
            return 0;
        }
        let documents = &document.tree.documents;
        let index = documents.partition_point(|d| d.root.0 <= node.id.0);
        let body = documents.get(index.saturating_sub(1)).map_or(0, |d| d.body);
        if document.line_start(body) == body {
            body
        } else {
            (document.line_end(body) + 1).min(node.range().start)
        }
    }

    /// Behind the line break of the line of `at`, be it the one that the last line will get.
    pub(super) fn behind_line(&self, at: usize) -> usize {
        let text = self.document.text;
        let end = self.document.line_end(at);
        if end < text.len() {
            end + 1
        } else {
            end + newline_at(text, end).len()
        }
    }
}

/// The string that a scalar becomes in its own style; `None` where the content comes as it is
/// written: what is no string, has that style, or needs lines that the scalar has not.
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
