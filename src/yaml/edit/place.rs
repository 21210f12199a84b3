//! A value in its place: behind its key or dash, on a line of its own, or on the lines below.

use super::format::owner_of;
use super::lines::{block_indicators, break_at};
use super::{Content, Editor};
use crate::yaml::comments::{comment_behind, header_end};
use crate::yaml::emit::{Emitter, Rendered, Tail, plain_or_quoted};
use crate::yaml::format::{Format, Json, Owner};
use crate::yaml::node::NodeRef;
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
                _ => {
                    let mut text = String::new();
                    Emitter::at_line_start(&mut text, format).flow(content);
                    text
                }
            };
            self.place_in_flow(node, text, out);
            return;
        }
        let format = self.format_of_content(node);
        let mut rendered = self.rendered(node, content, &format);
        if let Content::Node(source) = content {
            self.keep_head_comment(node, *source, &mut rendered);
        }
        self.keep_header_comment(node, &mut rendered);
        self.place(node, rendered, &format, out);
    }

    /// Content in block style for the place of a node.
    fn rendered(&self, node: NodeRef<'d>, content: &Content<'f>, format: &Format) -> Rendered {
        let owner = owner_of(node);
        match (node.kind(), content) {
            (_, Content::Value(Value::String(text))) if self.is_crowded(node) => {
                // Comments between the indicator and a block scalar would become text.
                Rendered::of_line(plain_or_quoted(text), format)
            }
            (_, Content::Node(source))
                if source.kind().is_block_scalar() && self.is_crowded(node) =>
            {
                let tag = source.tag().map(|tag| format!("{tag} "));
                let text = plain_or_quoted(source.scalar_text().unwrap_or_default());
                Rendered::of_line(tag.unwrap_or_default() + &text, format)
            }
            (NodeKind::Scalar(style), _) if !node.is_null() => {
                let keeps = node.kind().is_block_scalar() && block_indicators(node).contains('+');
                let string = string_in_style_of(node, content);
                Rendered::new(owner, format, |emitter| match string {
                    Some(text) if keeps => emitter.kept_string(text, style, owner),
                    Some(text) => emitter.string(text, style, owner),
                    None => emitter.content(content, owner),
                })
            }
            _ => Rendered::new(owner, format, |emitter| emitter.content(content, owner)),
        }
    }

    /// The comment in the header of a block scalar stays with what takes its place.
    fn keep_header_comment(&self, node: NodeRef<'d>, rendered: &mut Rendered) {
        if !matches!(node.kind(), NodeKind::Scalar(_)) {
            return;
        }
        let brought = rendered.take_header_comment();
        let owner = node.key_of_value().unwrap_or(node);
        let asked = self.comments.get(&owner.id);
        let asked = asked.and_then(|comments| comments.behind.as_deref());
        let is_block = node.kind().is_block_scalar();
        let at = if is_block {
            header_end(node)
        } else {
            node.range().end
        };
        let own = comment_behind(self.document, at).map(str::trim);
        let comment = if is_block {
            asked.or(own).or(brought.as_deref())
        } else {
            // The comment behind the old value stays, or is replaced on its own.
            brought.as_deref().filter(|_| asked.or(own).is_none())
        };
        if let Some(comment) = comment.filter(|comment| !comment.is_empty()) {
            rendered.put_comment(comment);
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

    /// The end of the indicator, anchor and tag, if the content of the node begins on a line further
    /// down.
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
                    && (rendered.below.is_empty() || rendered.tail == Tail::Open) =>
            {
                self.place_on_own_line(node, rendered.inline + &rendered.below, out);
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
        let (newline, Rendered { inline, below, .. }) = (format.newline, rendered);
        let gap = if inline.is_empty() { "" } else { " " };
        out.insert(at, format!("{newline}{:column$}:{gap}{inline}{below}", ""));
    }

    /// A scalar, alias or flow collection on a line of its own stays there; its tag goes.
    pub(super) fn place_on_own_line(&self, node: NodeRef<'d>, text: String, out: &mut TextEdit) {
        if let (Some(properties), Some(_)) = (node.properties_range(), node.tag()) {
            let anchor = node.anchor().unwrap_or_default().to_owned();
            let range = if anchor.is_empty() {
                self.with_space_before(properties)
            } else {
                properties
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
        mut rendered: Rendered,
        format: &Format,
        out: &mut TextEdit,
    ) {
        let document = self.document;
        // Behind a wide dash the first line would stand in another column than the others.
        if node.anchor().is_some() || format.dash > 2 {
            rendered.move_down();
        }
        let comment = comment_behind(document, head).is_some();
        if comment && rendered.tail == Tail::Open && !rendered.below.is_empty() {
            // A comment on its first line would end the scalar, or be text of it.
            rendered.push_down(owner_of(node).column() + format.step);
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
        below.push_str(&rendered.below);
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
        let end = if node.kind().is_block_collection() {
            line_end
        } else {
            node.range().end
        };
        let own_line = matches!(owner_of(node), Owner::Root(_))
            && document.text[document.line_start(start)..start]
                .trim()
                .is_empty();
        let anchor = node.anchor().unwrap_or_default();
        let comment = end != line_end && !rendered.below.is_empty();
        // No collection begins on the line of its anchor, or in front of its owner's comment.
        if comment || !anchor.is_empty() {
            rendered.move_down();
        } else if own_line {
            rendered.move_up();
        }
        let mut text = [anchor, &rendered.inline].join(" ").trim().to_owned();
        // Lines below a dash begin in the column behind the dash and one space.
        let behind_dash = node.mark().is_some() && rendered.moved_up.is_some();
        let range = if text.is_empty() || behind_dash {
            self.with_space_before(start..end)
        } else {
            start..end
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
        if end == line_end || rendered.tail == Tail::Open {
            out.replace(range, text + &rendered.below);
            return;
        }
        // Content of several lines: the comment behind the old content stays with the owner.
        out.replace(range, text);
        out.insert(line_end, rendered.below);
    }
}

/// The string to write in the style of the old scalar. `None` if the content keeps its own spelling:
/// it is no string, has that style already, or needs several lines and the old scalar has one.
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
