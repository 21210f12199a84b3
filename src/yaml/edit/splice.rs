//! Changes of nodes as sorted, disjoint splices of the source.

use std::ops::Range;

use super::format::owner_of;
use super::lines::{block_indicators, break_at, newline_at};
use super::slots::{Slot, new_block, new_flow};
use super::{Change, Comments, Editor};
use crate::yaml::comments::{comment_place, head_start, unit_start};
use crate::yaml::document::NodeRef;
use crate::yaml::render::Json;
use crate::yaml::tree::{NodeId, NodeKind};

/// Replacement of `range` by `text`.
#[derive(Debug, Clone)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

impl Splice {
    pub(super) fn holds(&self, at: usize) -> bool {
        self.range.start <= at && self.range.end > at
    }
}

impl<'d, 'f> Editor<'d, 'f> {
    /// A block scalar that the end of the text cut short of its line break: where its header
    /// stands, and the indicator that keeps its value when a line break follows.
    pub(super) fn cut_short(&self) -> Option<(usize, Splice)> {
        let node = self.document.node(self.document.tree.unterminated?);
        let header = node.range().start;
        let indicators = block_indicators(node);
        let from = header + 1;
        let range = match indicators.find(['+', '-']) {
            Some(at) => from + at..from + at + 1,
            None => from + indicators.len()..from + indicators.len(),
        };
        let text = "-".to_owned();
        Some((header, Splice { range, text }))
    }

    /// Splices for the changes at the nodes of `ids`.
    pub(super) fn emit(&self, ids: Range<u32>, out: &mut Vec<Splice>) {
        let mut from = ids.start;
        while from < ids.end {
            let next = self.changes.range(NodeId(from)..NodeId(ids.end)).next();
            match next {
                Some((id, Change::Replace(content))) => {
                    self.replace_node(self.document.node(*id), content, out);
                }
                Some((id, Change::Slots(slots))) => {
                    self.emit_slots(self.document.node(*id), slots, out);
                }
                None => {}
            }
            // The comments of a changed node's own line are not part of its content. They go
            // behind it, where nothing stood there before.
            let until = next.map_or(ids.end, |(id, _)| id.0 + 1);
            for (id, comments) in self.comments.range(NodeId(from)..NodeId(until)) {
                self.emit_comments(self.document.node(*id), comments, out);
            }
            let Some((id, _)) = next else { return };
            from = self.document.node(*id).raw().next;
        }
    }

    pub(super) fn emit_comments(
        &self,
        owner: NodeRef<'d>,
        comments: &Comments,
        out: &mut Vec<Splice>,
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
                out.push(Splice {
                    range: head..start + first,
                    text,
                });
            }
        }
        if let Some(comment) = &comments.behind
            && !self.replaces_header(owner)
            && let Some(at) = comment_place(owner)
        {
            let text = match comment.is_empty() {
                true => String::new(),
                false => format!(" {comment}"),
            };
            out.push(Splice {
                range: at..break_at(document, at),
                text,
            });
        }
    }

    /// Whether the value of an entry (by its key) or item is a block scalar that is replaced; the
    /// comment of its header is then written with it.
    fn replaces_header(&self, owner: NodeRef<'d>) -> bool {
        let in_mapping = owner
            .parent()
            .is_some_and(|parent| parent.kind().is_mapping());
        let value = match in_mapping {
            true => self.document.node(NodeId(owner.raw().next)),
            false => owner,
        };
        value.kind().is_block_scalar()
            && matches!(self.changes.get(&value.id), Some(Change::Replace(_)))
    }

    pub(super) fn emit_slots(&self, node: NodeRef<'d>, slots: &[Slot<'f>], out: &mut Vec<Splice>) {
        let format = self.format_at(node);
        let filled = node.entries().next().is_some() || node.items().next().is_some();
        match node.kind() {
            NodeKind::BlockMapping | NodeKind::BlockSequence => {
                self.emit_block(node, slots, &format, out);
            }
            kind if filled || format.json != Json::No || self.flow_only(node) => {
                let is_collection = kind.is_mapping() || kind.is_sequence();
                if is_collection && kind != NodeKind::FlowPair {
                    self.emit_flow(node, slots, &format, out);
                } else if filled {
                    self.emit_pair(node, slots, &format, out);
                } else if !slots.is_empty() {
                    let text = new_flow(slots, &format);
                    self.place_in_flow(node, text, out);
                }
            }
            _ if slots.is_empty() => {}
            // An empty collection, or nothing: lines are put below.
            _ => {
                let owner = owner_of(node);
                let format = self.format_of_content(node);
                let rendered = new_block(slots, owner, &format);
                self.place(node, rendered, &format, out);
            }
        }
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

/// Applies splices to a text that begins at `base` of the document.
pub(super) fn splice(text: &str, base: usize, splices: &mut [Splice]) -> String {
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let grown: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let mut out = String::with_capacity(text.len() + grown);
    let mut at = 0;
    for splice in splices.iter() {
        let start = (splice.range.start - base).min(text.len());
        let end = (splice.range.end - base).min(text.len());
        // Where blank lines go, others may be put in among them.
        debug_assert!(
            start >= at || splice.range.is_empty(),
            "splices overlap at byte {start}"
        );
        out.push_str(&text[at..start.max(at)]);
        out.push_str(&splice.text);
        at = end.max(at);
    }
    out.push_str(&text[at..]);
    out
}
