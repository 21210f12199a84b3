//! Writes changes of nodes as replacements in the source.

use std::ops::Range;

use super::format::owner_of;
use super::slot::Slot;
use super::slots::{new_block, new_flow};
use super::{Around, Change, Comments, Editor};
use crate::comments::{block_indicators, head_start, unit_start, value_of};
use crate::error::EditError;
use crate::format::Json;
use crate::lines::newline_at;
use crate::node::NodeRef;
use crate::text_edit::TextEdit;
use crate::tree::{NodeId, NodeKind};

impl<'d, 'f> Editor<'d, 'f> {
    /// If the text ends in a block scalar without a line break, and its header is within `lines`, gives the header the
    /// indicator `-`. It keeps the scalar's value when a line break follows.
    pub(super) fn strip_cut_scalar(&self, lines: Range<usize>, out: &mut TextEdit) {
        let Some(cut) = self.document.tree.unterminated else {
            return;
        };
        let node = self.document.node(cut);
        let header = node.range().start;
        if !lines.contains(&header) || out.covers(header) {
            return;
        }
        let indicators = block_indicators(node);
        let from = header + 1;
        let range = match indicators.find(['+', '-']) {
            Some(at) => from + at..from + at + 1,
            None => from + indicators.len()..from + indicators.len(),
        };
        out.replace(range, "-".to_owned());
    }

    /// Writes the changes at the nodes of `ids`.
    pub(super) fn edit_nodes(&self, ids: Range<u32>, out: &mut TextEdit) -> Result<(), EditError> {
        let mut from = ids.start;
        while from < ids.end {
            let next = self.changes.range(NodeId(from)..NodeId(ids.end)).next();
            match next {
                Some((id, Change::Replace(content))) => {
                    self.replace_node(self.document.node(*id), content, out);
                }
                Some((id, Change::Slots(slots))) => {
                    self.edit_slots(self.document.node(*id), slots, out)?;
                }
                None => {}
            }
            // Include the comments on the changed node's line. They follow the node and are not part of its content.
            let until = next.map_or(ids.end, |(id, _)| id.0 + 1);
            for (id, comments) in self.comments.range(NodeId(from)..NodeId(until)) {
                self.edit_comments(self.document.node(*id), comments, out);
            }
            let Some((id, _)) = next else { break };
            from = self.document.node(*id).raw().next;
        }
        Ok(())
    }

    pub(super) fn edit_comments(
        &self,
        owner: NodeRef<'d>,
        comments: &Comments,
        out: &mut TextEdit,
    ) {
        let document = self.document;
        if let Some(lines) = &comments.above {
            let start = unit_start(owner);
            let line = document.line_start(start);
            let indent = &document.text[line..start];
            if indent.bytes().all(|byte| byte == b' ') {
                let head = head_start(document, line, start - line, 0);
                let newline = newline_at(document.text, start);
                // The replacement includes the first character, so that it is not an insertion: lines inserted at the
                // same offset are then above it.
                let first = document.text[start..]
                    .chars()
                    .next()
                    .map_or(0, char::len_utf8);
                let above = lines.iter().flat_map(|text| [indent, text, newline]);
                let own = [indent, &document.text[start..start + first]];
                let text = above.chain(own).collect();
                out.replace(head..start + first, text);
            }
        }
        if let Around::These(comments) = &comments.value
            && let Some(value) = value_of(owner)
            && !self.is_placed(value)
        {
            self.edit_value_comments(value, comments, out);
        }
    }

    /// Whether a value gets new content. The comments around it are then written with the content.
    fn is_placed(&self, value: NodeRef<'d>) -> bool {
        match self.changes.get(&value.id) {
            Some(Change::Replace(_)) => true,
            Some(Change::Slots(slots)) => !slots.is_empty() && self.becomes_block(value),
            None => false,
        }
    }

    /// Whether an empty node gets entries or items in block style, on the lines below.
    fn becomes_block(&self, node: NodeRef<'d>) -> bool {
        !node.is_filled() && self.json(node) == Json::No && !self.flow_only(node)
    }

    pub(super) fn edit_slots(
        &self,
        node: NodeRef<'d>,
        slots: &[Slot<'f>],
        out: &mut TextEdit,
    ) -> Result<(), EditError> {
        let format = self.format_at(node);
        match node.kind() {
            NodeKind::BlockMapping | NodeKind::BlockSequence => {
                self.edit_block(node, slots, &format, out)?;
            }
            _ if self.becomes_block(node) => {
                if !slots.is_empty() {
                    let format = self.format_of_content(node);
                    let comments = self.comments_around(node, None);
                    let rendered = new_block(slots, comments, owner_of(node), &format);
                    self.place(node, rendered, &format, out);
                }
            }
            NodeKind::FlowPair => self.edit_pair(node, slots, &format, out)?,
            kind if kind.is_mapping() || kind.is_sequence() => {
                self.edit_flow(node, slots, &format, out)?;
            }
            _ if slots.is_empty() => {}
            _ => {
                let text = new_flow(slots, &format);
                self.place_in_flow(node, text, out);
            }
        }
        Ok(())
    }

    /// Whether the content of a node must be in flow style.
    pub(super) fn flow_only(&self, node: NodeRef<'d>) -> bool {
        match node.parent() {
            Some(parent) => !parent.kind().is_block_collection(),
            None => {
                let start = node.outer_start();
                self.document.text[self.document.line_start(start)..start].contains('\t')
            }
        }
    }
}
