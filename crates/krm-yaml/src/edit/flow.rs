//! Changes the elements of flow collections.

use std::borrow::Cow;
use std::ops::Range;

use super::Editor;
use super::slot::Slot;
use super::slots::comments_around;
use crate::children::Children;
use crate::comments::comment_after;
use crate::document::Document;
use crate::error::EditError;
use crate::format::{Format, Json};
use crate::lines::skip_trivia;
use crate::node::NodeRef;
use crate::text_edit::TextEdit;
use crate::tree::NodeKind;

/// An element of a flow collection with its white space, comments and comma.
struct FlowElement {
    /// White space and comments before the element.
    lead: Range<usize>,
    element_end: usize,
    comma: Option<usize>,
    /// After the comma and the comment on its line.
    end: usize,
    ids: Range<u32>,
}

impl<'d, 'f> Editor<'d, 'f> {
    pub(super) fn edit_flow(
        &self,
        node: NodeRef<'d>,
        slots: &[Slot<'f>],
        format: &Format,
        out: &mut TextEdit,
    ) -> Result<(), EditError> {
        let interior = node.range().start + 1..node.range().end - 1;
        let mut text = self.flow_interior(node, interior.clone(), slots, format)?;
        if slots.is_empty() && !text.contains('#') {
            text.clear();
        }
        out.replace(interior, text);
        Ok(())
    }

    /// `[a: b]` cannot have another entry, so it gets braces.
    pub(super) fn edit_pair(
        &self,
        node: NodeRef<'d>,
        slots: &[Slot<'f>],
        format: &Format,
        out: &mut TextEdit,
    ) -> Result<(), EditError> {
        if let [Slot::Kept(0)] = slots {
            return self.edit_nodes(node.id.0 + 1..node.ids().end, out);
        }
        let text = match slots {
            [] => String::new(),
            _ => self.flow_interior(node, node.range(), slots, format)?,
        };
        let text = format!("{{{text}}}");
        out.replace(node.range(), text);
        Ok(())
    }

    /// The new text between the brackets. The white space and comments before an element belong to it, and so do the
    /// comma and the comment after it.
    fn flow_interior(
        &self,
        node: NodeRef<'d>,
        interior: Range<usize>,
        slots: &[Slot<'f>],
        format: &Format,
    ) -> Result<String, EditError> {
        let text = self.document.text;
        let elements = FlowElements::of(node, &interior);
        let leads = Leads::of(text, &elements, format);
        let is_on_several_lines = text[interior].contains('\n');
        let takes_comments = is_on_several_lines && format.json == Json::No;
        let format = &Format {
            json_lines: is_on_several_lines,
            ..*format
        };
        let trailing_comma = elements.last().is_some_and(|last| last.comma.is_some());
        let mut out = Interior::new(&text[elements.opening.clone()], format);
        for (position, slot) in slots.iter().enumerate() {
            let comma = position + 1 < slots.len() || trailing_comma;
            match (slot, slot.added()) {
                (Slot::Kept(index), _) => {
                    let Some(element) = elements.get(*index) else {
                        continue;
                    };
                    let own = &text[element.lead.clone()];
                    let moves_to_or_from_front = (*index == 0) != (position == 0);
                    out.push_lead(if moves_to_or_from_front && !own.contains('#') {
                        leads.at(position)
                    } else {
                        own
                    });
                    out.in_comment = self.push_element(&element, comma, &mut out.text)?;
                }
                (_, None) => {}
                (_, Some(new)) => {
                    let comments = takes_comments.then(|| comments_around(&new));
                    let (above, after) = comments.unwrap_or_default();
                    for comment in above {
                        out.push_lead(leads.at(position));
                        out.push_comment(comment);
                    }
                    out.push_lead(leads.at(position));
                    let mut added = String::new();
                    new.emit_flow(format, &mut added);
                    let line = &out.text[out.text.rfind('\n').map_or(0, |at| at + 1)..];
                    let added = with_indent_of(line, &added);
                    out.text.push_str(&added);
                    out.text.push_str(if comma { "," } else { "" });
                    out.in_comment = false;
                    if let Some(comment) = after {
                        out.text.push(' ');
                        out.push_comment(comment);
                    }
                }
            }
        }
        out.push_lead(&text[elements.foot()]);
        Ok(out.text)
    }

    /// Adds an element with or without a comma; returns whether a comment follows it.
    fn push_element(
        &self,
        element: &FlowElement,
        comma: bool,
        text: &mut String,
    ) -> Result<bool, EditError> {
        let source = self.document.text;
        let mut inner = TextEdit::default();
        self.edit_nodes(element.ids.clone(), &mut inner)?;
        let (start, end) = (element.lead.end, element.element_end);
        text.push_str(&inner.apply(&source[start..end], start)?);
        if text.ends_with('?') {
            // `?,` would be a plain scalar.
            text.push(' ');
        }
        match (element.comma, comma) {
            (Some(at), true) => text.push_str(&source[end..at + 1]),
            (Some(at), false) => text.push_str(&source[end..at]),
            (None, true) => text.push(','),
            (None, false) => {}
        }
        text.push_str(&source[element.comma.map_or(end, |at| at + 1)..element.end]);
        Ok(source[end..element.end].contains('#'))
    }
}

/// The elements of a flow collection.
struct FlowElements<'d> {
    document: Document<'d>,
    children: Children<'d>,
    /// The rest of the opening bracket's line.
    opening: Range<usize>,
    end: usize,
}

impl<'d> FlowElements<'d> {
    fn of(node: NodeRef<'d>, interior: &Range<usize>) -> Self {
        let document = node.document;
        let at = match node.kind() {
            NodeKind::FlowPair => interior.start,
            _ => after_comment(document, interior.start),
        };
        Self {
            document,
            children: Children::of(node),
            opening: interior.start..at,
            end: interior.end,
        }
    }

    fn get(&self, index: usize) -> Option<FlowElement> {
        if index >= self.children.count() {
            return None;
        }
        let lead = match index.checked_sub(1) {
            Some(before) => self.after(before).1,
            None => self.opening.end,
        };
        let range = self.children.range(index);
        let (comma, end) = self.after(index);
        Some(FlowElement {
            lead: lead..range.start,
            element_end: range.end,
            comma,
            end,
            ids: self.children.ids(index),
        })
    }

    fn last(&self) -> Option<FlowElement> {
        self.get(self.children.count().checked_sub(1)?)
    }

    /// The text after the last element.
    fn foot(&self) -> Range<usize> {
        let last = self.last().map(|last| last.end);
        last.unwrap_or(self.opening.end)..self.end
    }

    /// The comma of an element, and the end of the text that belongs to the element.
    fn after(&self, index: usize) -> (Option<usize>, usize) {
        let end = self.children.range(index).end;
        let bytes = &self.document.text.as_bytes()[..self.end];
        let next = skip_trivia(bytes, end);
        let comma = (bytes.get(next) == Some(&b',')).then_some(next);
        // The comma can be on a line below the comment of its element, before the next element.
        let end = after_comment(self.document, comma.map_or(end, |comma| comma + 1));
        (comma, end.min(self.end))
    }
}

/// A text with its lines below the first one indented like the line in which it begins.
pub(super) fn with_indent_of<'t>(line: &str, text: &'t str) -> Cow<'t, str> {
    if !text.contains('\n') {
        return Cow::Borrowed(text);
    }
    let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
    Cow::Owned(text.replace('\n', &format!("\n{indent}")))
}

fn after_comment(document: Document<'_>, at: usize) -> usize {
    comment_after(document, at).map_or(at, |comment| at + comment.len())
}

/// The white space before new and moved elements.
struct Leads {
    first: String,
    next: String,
}

impl Leads {
    fn of(text: &str, elements: &FlowElements<'_>, format: &Format) -> Self {
        let break_of = |lead: &str| match lead.rfind('\n') {
            Some(at) => format!("{}{}", format.newline, &lead[at + 1..]),
            None => String::new(),
        };
        let without_comments = |lead: &str| {
            if lead.contains('#') {
                break_of(lead)
            } else {
                lead.to_owned()
            }
        };
        let lead = |element: FlowElement| without_comments(&text[element.lead]);
        let first = elements.get(0).map(lead).unwrap_or_default();
        let next = match elements.get(1) {
            Some(element) => lead(element),
            None if first.contains('\n') => break_of(&first),
            None => " ".to_owned(),
        };
        Self { first, next }
    }

    fn at(&self, position: usize) -> &str {
        if position == 0 {
            &self.first
        } else {
            &self.next
        }
    }
}

/// The text between the brackets so far.
struct Interior<'e> {
    text: String,
    /// Whether its last line ends in a comment.
    in_comment: bool,
    format: &'e Format,
}

impl<'e> Interior<'e> {
    fn new(opening: &str, format: &'e Format) -> Self {
        Self {
            text: opening.to_owned(),
            in_comment: opening.contains('#'),
            format,
        }
    }

    fn push_comment(&mut self, comment: &str) {
        self.text.push_str(comment);
        self.in_comment = true;
    }

    /// Adds white space and comments, after a line break if the text ends in a comment.
    fn push_lead(&mut self, lead: &str) {
        let breaks = lead
            .trim_start_matches([' ', '\t'])
            .starts_with(['\r', '\n']);
        if self.in_comment && !breaks {
            self.text.push_str(self.format.newline);
            self.text.push(' ');
        }
        self.text.push_str(lead);
    }
}
