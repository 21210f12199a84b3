//! Elements of flow collections.

use std::ops::Range;

use super::Editor;
use super::slots::{Slot, comments_around, flow_piece, spans};
use crate::yaml::comments::comment_behind;
use crate::yaml::document::{Document, NodeRef};
use crate::yaml::error::EditError;
use crate::yaml::lines::skip_trivia;
use crate::yaml::render::{Format, Json};
use crate::yaml::text_edit::TextEdit;
use crate::yaml::tree::NodeKind;

/// An element of a flow collection with what belongs to it.
pub(super) struct Element {
    /// White space and comments in front.
    pub(super) lead: Range<usize>,
    pub(super) element_end: usize,
    pub(super) comma: Option<usize>,
    /// Behind the comma and the comment on its line.
    pub(super) end: usize,
    pub(super) ids: Range<u32>,
}

impl<'d, 'f> Editor<'d, 'f> {
    pub(super) fn emit_flow(
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

    /// `[a: b]` has no room for another entry: it gets its braces.
    pub(super) fn emit_pair(
        &self,
        node: NodeRef<'d>,
        slots: &[Slot<'f>],
        format: &Format,
        out: &mut TextEdit,
    ) -> Result<(), EditError> {
        if let [Slot::Kept(0)] = slots {
            return self.emit(node.id.0 + 1..node.ids().end, out);
        }
        let text = match slots {
            [] => String::new(),
            _ => self.flow_interior(node, node.range(), slots, format)?,
        };
        let text = format!("{{{text}}}");
        out.replace(node.range(), text);
        Ok(())
    }

    /// What stands between the brackets afterwards. Each element owns the white space and comments
    /// in front of it, and the comma and comment behind it.
    pub(super) fn flow_interior(
        &self,
        node: NodeRef<'d>,
        interior: Range<usize>,
        slots: &[Slot<'f>],
        format: &Format,
    ) -> Result<String, EditError> {
        let document = self.document;
        let (opening, cells, foot) = flow_elements(document, node, &interior);
        let indent = |lead: &str| match lead.rfind('\n') {
            Some(at) => format!("{}{}", format.newline, &lead[at + 1..]),
            None => String::new(),
        };
        let lead = |cell: &Element| &document.text[cell.lead.clone()];
        // The white space in front of the first element and in front of others.
        let first_lead = cells
            .first()
            .map_or(String::new(), |cell| match lead(cell) {
                text if text.contains('#') => indent(text),
                text => text.to_owned(),
            });
        let next_lead = match cells.get(1).map(lead) {
            Some(text) if !text.contains('#') => text.to_owned(),
            Some(text) => indent(text),
            None if first_lead.contains('\n') => indent(&first_lead),
            None => " ".to_owned(),
        };
        let mut text = document.text[opening].to_owned();
        let mut in_comment = text.contains('#');
        let several_lines =
            format.json == Json::No && document.text[interior.clone()].contains('\n');
        let trailing_comma = cells.last().is_some_and(|cell| cell.comma.is_some());
        for (position, slot) in slots.iter().enumerate() {
            let usual = if position == 0 {
                &first_lead
            } else {
                &next_lead
            };
            let cell = match slot {
                Slot::Kept(index) => Some((*index, &cells[*index])),
                Slot::New(_) => None,
            };
            let own = cell.filter(|(index, cell)| {
                (*index == 0) == (position == 0) || lead(cell).contains('#')
            });
            let own = own.map_or(usual.as_str(), |(_, cell)| lead(cell));
            let mut behind = None;
            if let Slot::New(new) = slot
                && several_lines
            {
                let (above, comment) = comments_around(new);
                behind = comment;
                for comment in above {
                    push_lead(&mut text, in_comment, own, format);
                    text.push_str(comment);
                    in_comment = true;
                }
            }
            push_lead(&mut text, in_comment, own, format);
            let last = position + 1 == slots.len();
            match (cell, slot) {
                (Some((_, cell)), _) => {
                    let comma = !last || trailing_comma;
                    in_comment = self.push_cell(cell, comma, &mut text)?;
                }
                (None, Slot::New(new)) => {
                    text.push_str(&flow_piece(new, format));
                    text.push_str(if !last || trailing_comma { "," } else { "" });
                    in_comment = behind.is_some();
                    if let Some(comment) = behind {
                        text.push(' ');
                        text.push_str(comment);
                    }
                }
                (None, Slot::Kept(_)) => {}
            }
        }
        push_lead(&mut text, in_comment, &document.text[foot], format);
        Ok(text)
    }

    /// Adds an element with or without a comma; says whether a comment stands behind it.
    pub(super) fn push_cell(
        &self,
        cell: &Element,
        comma: bool,
        text: &mut String,
    ) -> Result<bool, EditError> {
        let source = self.document.text;
        let mut inner = TextEdit::default();
        self.emit(cell.ids.clone(), &mut inner)?;
        let (start, end) = (cell.lead.end, cell.element_end);
        text.push_str(&inner.apply(&source[start..end], start)?);
        if text.ends_with('?') {
            // `?,` would be text.
            text.push(' ');
        }
        match (cell.comma, comma) {
            (Some(at), true) => text.push_str(&source[end..at + 1]),
            (Some(at), false) => text.push_str(&source[end..at]),
            (None, true) => text.push(','),
            (None, false) => {}
        }
        text.push_str(&source[cell.comma.map_or(end, |at| at + 1)..cell.end]);
        Ok(source[end..cell.end].contains('#'))
    }
}

/// What stands behind the opening bracket on its line, the elements, and what is left behind them.
pub(super) fn flow_elements(
    document: Document<'_>,
    node: NodeRef<'_>,
    interior: &Range<usize>,
) -> (Range<usize>, Vec<Element>, Range<usize>) {
    let behind_comment =
        |at: usize| comment_behind(document, at).map_or(at, |comment| at + comment.len());
    let bytes = &document.text.as_bytes()[..interior.end];
    let spans = spans(node);
    let mut at = match node.kind() {
        NodeKind::FlowPair => interior.start,
        _ => behind_comment(interior.start),
    };
    let opening = interior.start..at;
    let mut cells = Vec::new();
    for (range, ids) in spans {
        let next = skip_trivia(bytes, range.end);
        let comma = (bytes.get(next) == Some(&b',')).then_some(next);
        // A comma below the comment of its element stands in front of the next one.
        let end = behind_comment(comma.map_or(range.end, |comma| comma + 1)).min(interior.end);
        cells.push(Element {
            lead: at..range.start,
            element_end: range.end,
            comma,
            end,
            ids,
        });
        at = end;
    }
    (opening, cells, at..interior.end)
}

/// Adds white space and comments, behind a line break if a comment stands in front.
pub(super) fn push_lead(text: &mut String, in_comment: bool, lead: &str, format: &Format) {
    let breaks = lead
        .trim_start_matches([' ', '\t'])
        .starts_with(['\r', '\n']);
    if in_comment && !breaks {
        text.push_str(format.newline);
        text.push(' ');
    }
    text.push_str(lead);
}
