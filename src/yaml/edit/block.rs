//! Entries and items of block collections, with the lines that belong to each.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::lines::{block_indicators, body_indent, indent_of, newline_at};
use super::slots::{Slot, new_lines, spans, stable_slots};
use super::{Change, Editor};
use crate::yaml::comments::head_start;
use crate::yaml::content::Content;
use crate::yaml::document::{EntryRef, NodeRef};
use crate::yaml::error::EditError;
use crate::yaml::render::{Format, Rendered};
use crate::yaml::text_edit::TextEdit;
use crate::yaml::tree::NodeId;

/// An entry or item in block style, and the lines that belong to it.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    /// First comment line directly above, or the line of the key or dash, or `start` itself where
    /// something else stands in front on that line.
    pub(super) lines_start: usize,
    /// Key or dash.
    pub(super) start: usize,
    /// Behind the line break of the last line, or of the comments directly below that are
    /// indented deeper.
    pub(super) lines_end: usize,
    /// Behind deeper comments set off by blank lines as well: where what follows is put in.
    pub(super) below: usize,
    /// Whether only white space stands in front of `start` on its line.
    pub(super) own_line: bool,
    /// Node ids of the entry or item.
    pub(super) ids: Range<u32>,
}

/// Lines that are put in at one place.
#[derive(Debug)]
pub(super) struct Run {
    /// The unit above, one that stays where it is.
    pub(super) behind: Option<usize>,
    pub(super) lines: Vec<String>,
    /// Whether the last line is that of a block scalar which keeps the blank lines behind it.
    pub(super) keeps: bool,
    /// Whether the last line, or that of the unit above if there is none, may be that of a new
    /// block scalar.
    pub(super) scalar: bool,
    /// Whether that one may keep the blank lines behind it.
    pub(super) plus: bool,
    /// Where the edits within the unit above end. They may take the blank lines below along, and
    /// then these lines go in behind them.
    pub(super) least: Option<usize>,
}

impl Run {
    pub(super) fn behind(unit: Option<usize>) -> Self {
        Self {
            behind: unit,
            lines: Vec::new(),
            keeps: false,
            scalar: false,
            plus: false,
            least: None,
        }
    }
}

impl<'d, 'f> Editor<'d, 'f> {
    /// Entries or items of a block collection with the lines that belong to each.
    pub(super) fn units(&self, node: NodeRef<'d>) -> Vec<Unit> {
        let document = self.document;
        let mut floor = self.floor(node);
        spans(node)
            .into_iter()
            .map(|(range, ids)| {
                let line = document.line_start(range.start);
                let own_line = document.text[line..range.start].bytes().all(|b| b == b' ');
                let lines_start = match own_line {
                    true => head_start(document, line, range.start - line, floor),
                    false => range.start,
                };
                let column = document.column(range.start);
                let lines_end = self.behind_line(range.end);
                let below = self.behind_deeper_comments(lines_end, column);
                // Comments directly below that are indented deeper are its own.
                let lines_end = match self.behind_blank_lines(lines_end) {
                    at if at == lines_end => self.behind_adjoining_comments(lines_end, below),
                    _ => lines_end,
                };
                floor = lines_end;
                let start = range.start;
                Unit {
                    lines_start,
                    start,
                    lines_end,
                    below,
                    own_line,
                    ids,
                }
            })
            .collect()
    }

    pub(super) fn emit_block(
        &self,
        node: NodeRef<'d>,
        slots: &[Slot<'f>],
        format: &Format,
        out: &mut TextEdit,
    ) -> Result<(), EditError> {
        let units = self.units(node);
        let Some(first) = units.first() else {
            return Ok(());
        };
        let column = self.document.column(first.start);
        if slots.is_empty() {
            self.emit_emptied(node, &units, format, out);
            return Ok(());
        }
        let behind_dash = !first.own_line;
        let stable = stable_slots(slots, behind_dash);
        let colons = self.missing_colons(node, slots);
        let mut stays = vec![false; units.len()];
        // Runs of lines that are put in: first those before all units that stay.
        let mut runs = vec![Run::behind(None)];
        for (position, (slot, is_stable)) in slots.iter().zip(&stable).enumerate() {
            let colon = colons.get(&position).copied();
            let lines = match slot {
                Slot::Kept(index) if *is_stable => {
                    stays[*index] = true;
                    let before = out.ranges().len();
                    self.emit_with_colon(&units[*index], colon, format, out)?;
                    let mut run = Run::behind(Some(*index));
                    run.least = out.ranges().skip(before).map(|range| range.end).max();
                    (run.scalar, run.plus) = self.changes_block_scalar(&units[*index].ids);
                    runs.push(run);
                    continue;
                }
                Slot::Kept(index) => self.unit_lines(&units[*index], colon, column, format)?,
                Slot::New(new) => {
                    let above = runs.last().and_then(|run| run.behind);
                    let below = units[above.unwrap_or(0)].below;
                    let indent_below = self.indent_below(below);
                    let keep = match above {
                        Some(_) => self.behind_blank_lines(below) == below,
                        None => !behind_dash && stable.contains(&true),
                    };
                    let format = Format {
                        indent_below,
                        keep,
                        ..*format
                    };
                    new_lines(new, column, &format)
                }
            };
            if let Some(run) = runs.last_mut() {
                run.lines.extend(lines);
                (run.scalar, run.plus) = match slot {
                    Slot::Kept(index) => self.changes_block_scalar(&units[*index].ids),
                    Slot::New(new) => scalars_of(&new.content),
                };
                run.keeps = match slot {
                    Slot::Kept(index) => {
                        let above = run.behind.unwrap_or(0);
                        let below = units[above].below;
                        self.takes_lines_below(&units[*index].ids, below)
                            || run.scalar && self.indent_below(below) > 0
                    }
                    Slot::New(_) => false,
                };
            }
        }
        for run in runs.iter().filter(|run| !run.lines.is_empty()) {
            let lines = run
                .lines
                .iter()
                .flat_map(|line| [line.as_str(), format.newline]);
            let mut text: String = lines.collect();
            let range = match run.behind {
                Some(unit) if run.keeps => {
                    let at = self.behind_blank_lines(units[unit].below);
                    at..at
                }
                Some(unit) => {
                    let at = units[unit].below.max(run.least.unwrap_or(0));
                    at..at
                }
                // What comes first stands behind the dash, in the place of what stood there.
                None if behind_dash => {
                    text.replace_range(..text.len() - text.trim_start().len(), "");
                    match run.keeps {
                        true => first.start..self.behind_blank_lines(first.lines_end),
                        false => first.start..first.lines_end,
                    }
                }
                None => {
                    let at = stays.iter().position(|stays| *stays).unwrap_or(0);
                    units[at].lines_start..units[at].lines_start
                }
            };
            out.replace(range, text);
        }
        let takes = |above: &Run, below: usize| match above.behind {
            _ if above.plus && self.behind_blank_lines(below) > below => true,
            _ if above.scalar => self.indent_below(below) > 0,
            Some(unit) if above.lines.is_empty() => self.takes_lines_below(&units[unit].ids, below),
            _ => false,
        };
        // The first run stands above the first unit that stays.
        let mut run = usize::from(stays.contains(&true));
        let mut above = (run == 0).then_some(&runs[0]);
        for (at, unit) in units.iter().enumerate() {
            if stays[at] {
                above = runs.get(run);
                run += 1;
            } else if at > 0 || !behind_dash {
                let mut range = unit.lines_start..unit.lines_end;
                let mut text = String::new();
                if above.is_some_and(|above| takes(above, unit.lines_end)) {
                    // Blank lines that the block scalar above would take for its own go as well;
                    // comments get another indentation.
                    range.end = self.behind_blank_lines(unit.below);
                    let below = unit.lines_end.min(range.end)..range.end;
                    for comment in self.document.text[below].lines().map(str::trim) {
                        if !comment.is_empty() {
                            text.push_str(&format!("{:column$}{comment}{}", "", format.newline));
                        }
                    }
                }
                out.replace(range, text);
            }
        }
        Ok(())
    }

    /// Values without a colon, by slot, that get one: `? lone` would take the value of an entry
    /// without key (`: value`) that comes to stand below it.
    fn missing_colons(
        &self,
        node: NodeRef<'d>,
        slots: &[Slot<'f>],
    ) -> BTreeMap<usize, NodeRef<'d>> {
        let mut colons = BTreeMap::new();
        let is_bare =
            |entry: &EntryRef<'d>| entry.key.mark().is_none() && entry.key.range().is_empty();
        if !node.entries().any(|entry| is_bare(&entry)) {
            return colons;
        }
        let entries: Vec<_> = node.entries().collect();
        for (position, pair) in slots.windows(2).enumerate() {
            let [Slot::Kept(lone), Slot::Kept(below)] = pair else {
                continue;
            };
            let value = entries[*lone].value;
            let changed = self.changes.contains_key(&value.id);
            if value.mark().is_none() && !changed && is_bare(&entries[*below]) {
                colons.insert(position, value);
            }
        }
        colons
    }

    fn emit_with_colon(
        &self,
        unit: &Unit,
        colon: Option<NodeRef<'d>>,
        format: &Format,
        out: &mut TextEdit,
    ) -> Result<(), EditError> {
        self.emit(unit.ids.clone(), out)?;
        if let Some(value) = colon {
            self.place_without_colon(value, Rendered::default(), format, out);
        }
        Ok(())
    }

    /// Whether a change at these nodes may put a block scalar at their end, and one with `+`.
    fn changes_block_scalar(&self, ids: &Range<u32>) -> (bool, bool) {
        let changes = self.changes.range(NodeId(ids.start)..NodeId(ids.end));
        let mut found = (false, false);
        let mut add = |content: &Content<'_>| {
            let (scalar, plus) = scalars_of(content);
            found = (found.0 || scalar, found.1 || plus);
        };
        for (_, change) in changes {
            match change {
                Change::Replace(content) => add(content),
                Change::Slots(slots) => slots.iter().for_each(|slot| {
                    if let Slot::New(new) = slot {
                        add(&new.content);
                    }
                }),
            }
        }
        found
    }

    /// Whether the last of these nodes is a block scalar that would take blank or comment lines at
    /// `below` for its own if it stood above them.
    pub(super) fn takes_lines_below(&self, ids: &Range<u32>, below: usize) -> bool {
        let last = self.document.node(NodeId(ids.end - 1));
        if !last.kind().is_block_scalar() || below >= self.document.text.len() {
            return false;
        }
        let indent = body_indent(last).unwrap_or(1);
        block_indicators(last).contains('+') || self.indent_below(below) >= indent
    }

    /// Behind the comment lines that are indented deeper than `column`, and the blank lines among
    /// them. `from` begins a line.
    pub(super) fn behind_deeper_comments(&self, from: usize, column: usize) -> usize {
        let document = self.document;
        let mut behind = from;
        let mut at = self.behind_blank_lines(from);
        while at < document.text.len() {
            let indent = indent_of(&document.text[at..document.line_end(at)]);
            if indent <= column || document.comment_at(at + indent).is_none() {
                break;
            }
            behind = self.behind_line(at);
            at = self.behind_blank_lines(behind);
        }
        behind
    }

    /// Columns of white space in the blank lines from `from` on and in front of a comment there.
    /// A block scalar that ends at `from` takes what is not indented less than its lines for text.
    pub(super) fn indent_below(&self, from: usize) -> usize {
        let document = self.document;
        let comment = self.behind_blank_lines(from).min(document.text.len());
        let blank = document.text.get(from..comment).unwrap_or_default();
        let blank = blank.lines().map(indent_of).max();
        let indent = indent_of(&document.text[comment..document.line_end(comment)]);
        let comment = document.comment_at(comment + indent).map_or(0, |_| indent);
        blank.unwrap_or(0).max(comment)
    }

    /// The first blank line from `from` on, or `end`.
    pub(super) fn behind_adjoining_comments(&self, from: usize, end: usize) -> usize {
        let mut at = from;
        while at < end && self.behind_blank_lines(at) == at {
            at = self.behind_line(at);
        }
        at
    }

    pub(super) fn behind_blank_lines(&self, from: usize) -> usize {
        let text = self.document.text;
        let mut at = from;
        while at < text.len() {
            let end = self.document.line_end(at);
            if end == text.len() || !text[at..end].trim().is_empty() {
                break;
            }
            at = end + 1;
        }
        at
    }

    /// All entries are gone: `{}` or `[]` stands in their place.
    pub(super) fn emit_emptied(
        &self,
        node: NodeRef<'d>,
        units: &[Unit],
        format: &Format,
        out: &mut TextEdit,
    ) {
        let empty = if node.kind().is_mapping() { "{}" } else { "[]" };
        let first = &units[0];
        let head = self.head_place(node);
        for unit in units.iter().skip(usize::from(head.is_none())) {
            out.delete(unit.lines_start..unit.lines_end);
        }
        match head {
            Some(head) => {
                // The tag says what the collection is: it stays.
                let text = format!(" {empty}");
                out.insert(head, text);
            }
            None => {
                let indent = match first.own_line {
                    true => self.document.column(first.start),
                    false => 0,
                };
                let text = format!("{:indent$}{empty}{}", "", format.newline);
                out.replace(first.lines_start..first.lines_end, text);
            }
        }
    }

    /// The lines of a unit that moves, with its inner changes, re-indented if it stood behind a dash.
    pub(super) fn unit_lines(
        &self,
        unit: &Unit,
        colon: Option<NodeRef<'d>>,
        column: usize,
        format: &Format,
    ) -> Result<Vec<String>, EditError> {
        let mut inner = TextEdit::default();
        self.emit_with_colon(unit, colon, format, &mut inner)?;
        let source = self.document.text;
        self.strip_cut_scalar(unit.start..unit.lines_end, &mut inner);
        let end = unit.lines_end.min(source.len());
        let mut text = Cow::from(&source[unit.lines_start..end]);
        if unit.lines_end > end {
            // Lines that are put in below the last one need its line break.
            text += newline_at(source, end);
        }
        let text = inner.apply(&text, unit.lines_start)?;
        let mut lines: Vec<String> = text
            .split_inclusive('\n')
            .map(|line| line.trim_end_matches(['\r', '\n']).to_owned())
            .collect();
        if !unit.own_line
            && let Some(first) = lines.first_mut()
        {
            *first = format!("{:column$}{first}", "");
        }
        Ok(lines)
    }
}

/// Whether a block scalar may be written for a part of this, and one with `+` for its end.
fn scalars_of(content: &Content<'_>) -> (bool, bool) {
    let scalar = content.holds_block_scalar();
    (scalar, scalar && content.may_keep_blank_lines())
}
