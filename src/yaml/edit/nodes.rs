//! Changes of nodes as replacements in the source.

use std::ops::Range;

use super::format::owner_of;
use super::lines::{block_indicators, break_at, newline_at};
use super::slots::{Slot, new_block, new_flow};
use super::{Change, Comments, Editor};
use crate::yaml::comments::{comment_place, head_start, unit_start};
use crate::yaml::error::EditError;
use crate::yaml::format::Json;
use crate::yaml::node::NodeRef;
use crate::yaml::text_edit::TextEdit;
use crate::yaml::tree::{NodeId, NodeKind};

impl<'d, 'f> Editor<'d, 'f> {
    /// The text may end in a block scalar without a line break. Its header in `lines` gets the
    /// indicator that keeps its value when a line break follows.
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
                    let content = self.sources.content(content);
                    self.replace_node(self.document.node(*id), &content, out);
                }
                Some((id, Change::Slots(slots))) => {
                    self.edit_slots(self.document.node(*id), slots, out)?;
                }
                None => {}
            }
            // The comments on a changed node's own line are not part of its content. They stand
            // behind it.
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
                // The first character goes in again, so that lines put in at this place stay above.
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
        if let Some(comment) = &comments.behind
            && !self.replaces_header(owner)
            && let Some(at) = comment_place(owner)
        {
            let text = if comment.is_empty() {
                String::new()
            } else {
                format!(" {comment}")
            };
            out.replace(at..break_at(document, at), text);
        }
    }

    /// Whether the value of an entry (by its key) or item is a block scalar that is replaced; the
    /// comment of its header is then written with it.
    fn replaces_header(&self, owner: NodeRef<'d>) -> bool {
        let in_mapping = owner
            .parent()
            .is_some_and(|parent| parent.kind().is_mapping());
        let value = if in_mapping {
            self.document.node(NodeId(owner.raw().next))
        } else {
            owner
        };
        value.kind().is_block_scalar()
            && matches!(self.changes.get(&value.id), Some(Change::Replace(_)))
    }

    pub(super) fn edit_slots(
        &self,
        node: NodeRef<'d>,
        slots: &[Slot<'f>],
        out: &mut TextEdit,
    ) -> Result<(), EditError> {
        let format = self.format_at(node);
        let filled = node.entries().next().is_some() || node.items().next().is_some();
        match node.kind() {
            NodeKind::BlockMapping | NodeKind::BlockSequence => {
                self.edit_block(node, slots, &format, out)?;
            }
            kind if filled || format.json != Json::No || self.flow_only(node) => {
                let is_collection = kind.is_mapping() || kind.is_sequence();
                if is_collection && kind != NodeKind::FlowPair {
                    self.edit_flow(node, slots, &format, out)?;
                } else if filled {
                    self.edit_pair(node, slots, &format, out)?;
                } else if !slots.is_empty() {
                    let text = new_flow(slots, &self.sources, &format);
                    self.place_in_flow(node, text, out);
                }
            }
            _ if slots.is_empty() => {}
            // An empty collection, or nothing: lines are put below.
            _ => {
                let owner = owner_of(node);
                let format = self.format_of_content(node);
                let rendered = new_block(slots, &self.sources, owner, &format);
                self.place(node, rendered, &format, out);
            }
        }
        Ok(())
    }

    /// Whether only flow style can stand in the place of a node.
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
