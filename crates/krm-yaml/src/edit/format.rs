//! The format of the text around a node: indentation, sequence style, line break, JSON.

use super::Editor;
use super::lines::body_indent;
use crate::comments::block_indicators;
use crate::format::{Format, Json, KeepChomping, Owner};
use crate::lines::newline_at;
use crate::node::NodeRef;
use crate::scalar::ScalarStyle;
use crate::tree::{NodeId, NodeKind, offset};

impl<'d, 'f> Editor<'d, 'f> {
    /// The format of the text around a node.
    pub(super) fn format_at(&self, node: NodeRef<'d>) -> Format {
        let start = node.range().start;
        Format {
            step: self.step(node),
            wide: self.wide(start),
            dash: self.dash(start),
            newline: self.newline(start),
            json: self.json(node),
            json_lines: false,
            indent_below: 0,
            keep_chomping: KeepChomping::Within,
            body: None,
        }
    }

    /// The format of content that replaces a node.
    pub(super) fn format_of_content(&self, node: NodeRef<'d>) -> Format {
        let below = self.after_line(node.range().end);
        let inherits = node.kind().is_block_scalar()
            && !block_indicators(node).contains(|c: char| c.is_ascii_digit());
        let below = below.min(self.document.text.len());
        Format {
            indent_below: self.indent_below(below),
            keep_chomping: self.kept_scalars_above(below),
            body: body_indent(node).filter(|_| inherits),
            ..self.format_at(node)
        }
    }

    /// Where content that ends at `below` may have block scalars with `+`: everywhere if no blank lines follow, else
    /// only within the content.
    pub(super) fn kept_scalars_above(&self, below: usize) -> KeepChomping {
        if self.after_blank_lines(below) == below {
            KeepChomping::Everywhere
        } else {
            KeepChomping::Within
        }
    }

    /// The line break at the end of the line of `at`. Cached, because a line can be long and have many edits.
    pub(super) fn newline(&self, at: usize) -> &'static str {
        let (from, end, newline) = self.line.get();
        if (from..end).contains(&at) {
            return newline;
        }
        let newline = newline_at(self.document.text, at);
        self.line.set((at, self.document.line_end(at), newline));
        newline
    }

    /// Whether the flow collections around a node are JSON.
    pub(super) fn json(&self, node: NodeRef<'d>) -> Json {
        let mut json = None;
        let mut at = Some(node);
        while let Some(flow) = at {
            if flow.kind().is_block_collection() {
                return json.unwrap_or(Json::No);
            }
            if let Some(entry) = flow.entries().next()
                && json.is_none()
            {
                let quoted = NodeKind::Scalar(ScalarStyle::DoubleQuoted);
                if entry.key.kind() != quoted {
                    return Json::No;
                }
                json = Some(Json::Quoted);
            }
            at = flow.parent();
        }
        json.map_or(Json::No, |_| Json::Document)
    }

    /// Columns of indentation per level, from the nearest block mapping around the node, or the node itself, that
    /// directly contains another one; 2 if there is none.
    pub(super) fn step(&self, node: NodeRef<'d>) -> usize {
        let document = self.document;
        let step_of = |mapping: NodeRef<'d>| {
            mapping.entries().find_map(|entry| {
                let child = entry.value;
                if child.kind() != NodeKind::BlockMapping {
                    return None;
                }
                let outer = document.column(entry.key.outer_start());
                document
                    .column(child.range().start)
                    .checked_sub(outer)
                    .filter(|step| *step > 0)
            })
        };
        let mut at = Some(node);
        while let Some(ancestor) = at {
            at = ancestor.parent();
            if ancestor.kind() != NodeKind::BlockMapping {
                continue;
            }
            let known = self.steps.borrow().get(&ancestor.id).copied();
            let step = known.unwrap_or_else(|| step_of(ancestor));
            if known.is_none() {
                self.steps.borrow_mut().insert(ancestor.id, step);
            }
            if let Some(step) = step {
                return step;
            }
        }
        2
    }

    /// Columns from a dash to its content, as in the nearest block sequence.
    pub(super) fn dash(&self, start: usize) -> usize {
        let dashes = self.dashes.get_or_init(|| {
            let document = self.document;
            let sequences = self.block_sequences();
            let width = |node: NodeRef<'d>| {
                let item = node.items().next()?;
                let width = item.outer_start().checked_sub(item.indicator()?)?;
                let is_gap = width > 1 && document.line_end(item.indicator()?) > item.outer_start();
                is_gap.then_some((node.range().start, width))
            };
            sequences.filter_map(width).collect()
        });
        nearest(dashes, start).unwrap_or(2)
    }

    /// Whether the nearest block sequence under a key is indented.
    pub(super) fn wide(&self, start: usize) -> bool {
        let sequences = self.sequences.get_or_init(|| {
            let document = self.document;
            self.block_sequences()
                .filter(|node| node.indicator().is_some())
                .filter_map(|node| {
                    let Owner::Key(column) = owner_of(node) else {
                        return None;
                    };
                    let start = node.range().start;
                    Some((start, document.column(start) > column))
                })
                .collect()
        });
        nearest(sequences, start).unwrap_or(false)
    }

    fn block_sequences(&self) -> impl Iterator<Item = NodeRef<'d>> + use<'d> {
        let document = self.document;
        let nodes = &document.tree.nodes;
        let found = nodes.iter().enumerate();
        let found = found.filter(|(_, node)| node.kind == NodeKind::BlockSequence);
        found.map(move |(index, _)| document.node(NodeId(offset(index))))
    }
}

/// The value of the place that is nearest to `start`.
fn nearest<T: Copy>(places: &[(usize, T)], start: usize) -> Option<T> {
    let at = places.partition_point(|(place, _)| *place < start);
    let before = at.checked_sub(1).map(|index| places[index]);
    let found = [before, places.get(at).copied()].into_iter().flatten();
    let nearest = found.min_by_key(|(place, _)| place.abs_diff(start));
    nearest.map(|(_, value)| value)
}

pub(super) fn owner_of(node: NodeRef<'_>) -> Owner {
    let document = node.document;
    let Some(parent) = node.parent() else {
        let start = node.outer_start();
        let line = document.line_start(start);
        let own_line = document.text[line..start].bytes().all(|b| b == b' ');
        return Owner::Root(if own_line { start - line } else { 0 });
    };
    if parent.kind().is_sequence() {
        return Owner::Dash(document.column(node.indicator().unwrap_or(node.outer_start())));
    }
    let key = node.key_of_value().unwrap_or(node);
    Owner::Key(document.column(key.indicator().unwrap_or(key.outer_start())))
}
