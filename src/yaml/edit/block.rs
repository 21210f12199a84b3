//! Entries and items of block collections, with the lines that belong to each.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::lines::{block_indicators, body_indent, newline_at};
use super::slots::{Slot, spans, stable_slots};
use super::{Change, Editor};
use crate::yaml::comments::head_start;
use crate::yaml::content::Content;
use crate::yaml::emit::{Emitter, Rendered};
use crate::yaml::error::EditError;
use crate::yaml::format::{Format, KeptScalars};
use crate::yaml::node::{EntryRef, NodeRef};
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

/// A block collection whose units are rearranged.
struct Block {
    units: Vec<Unit>,
    /// Column of the keys or dashes.
    column: usize,
    /// Whether the first unit stands behind the dash of an item.
    behind_dash: bool,
}

/// Lines that are put in at one place.
struct Run {
    /// The unit above, one that stays where it is.
    above: Option<usize>,
    text: String,
    /// Whether the last line is that of a block scalar which keeps the blank lines behind it.
    keeps: bool,
    /// Whether the last line (without lines, that of the unit above) may belong to a new block
    /// scalar.
    scalar: bool,
    /// Whether that one may keep the blank lines behind it.
    plus: bool,
    /// Where the edits within the unit above end. They may take the blank lines below along, and
    /// then these lines go in behind them.
    least: usize,
}

impl Run {
    fn below(unit: Option<usize>) -> Self {
        Self {
            above: unit,
            text: String::new(),
            keeps: false,
            scalar: false,
            plus: false,
            least: 0,
        }
    }

    /// Behind the unit above with its comments, or the first one.
    fn place(&self, block: &Block) -> usize {
        block.units[self.above.unwrap_or(0)].below
    }
}

impl<'d, 'f> Editor<'d, 'f> {
    /// The entries or items of a block collection, each with the lines that belong to it.
    pub(super) fn units(&self, node: NodeRef<'d>) -> Vec<Unit> {
        let document = self.document;
        let mut floor = self.floor(node);
        spans(node)
            .into_iter()
            .map(|(range, ids)| {
                let line = document.line_start(range.start);
                let own_line = document.text[line..range.start].bytes().all(|b| b == b' ');
                let lines_start = if own_line {
                    head_start(document, line, range.start - line, floor)
                } else {
                    range.start
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

    /// Gives a block collection other entries or items: the units that stay are edited in place,
    /// what is new or moved is put in between, and the others are removed.
    pub(super) fn edit_block(
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
        if slots.is_empty() {
            self.edit_emptied(node, &units, format, out);
            return Ok(());
        }
        let block = Block {
            column: self.document.column(first.start),
            behind_dash: !first.own_line,
            units,
        };
        let runs = self.runs(node, &block, slots, format, out)?;
        for run in runs.iter().filter(|run| !run.text.is_empty()) {
            let below = runs.get(1).and_then(|run| run.above);
            self.insert_run(run, &block, below, out);
        }
        self.remove_units(&block, &runs, format, out);
        Ok(())
    }

    /// Edits the units that stay, and gathers the lines that are put in: those above all units that
    /// stay, then those below each one.
    fn runs(
        &self,
        node: NodeRef<'d>,
        block: &Block,
        slots: &[Slot<'f>],
        format: &Format,
        out: &mut TextEdit,
    ) -> Result<Vec<Run>, EditError> {
        let stable = stable_slots(slots, block.behind_dash);
        let colons = self.missing_colons(node, slots);
        let mut runs = Vec::new();
        let mut run = Run::below(None);
        for (position, slot) in slots.iter().enumerate() {
            let colon = colons.get(&position).copied();
            match slot {
                Slot::Kept(index) if stable[position] => {
                    runs.push(run);
                    run = Run::below(Some(*index));
                    let unit = &block.units[*index];
                    let before = out.ranges().len();
                    self.edit_with_colon(unit, colon, format, out)?;
                    let ends = out.ranges().skip(before).map(|range| range.end);
                    run.least = ends.max().unwrap_or(0);
                    (run.scalar, run.plus) = self.changes_block_scalar(&unit.ids);
                }
                Slot::Kept(index) => {
                    let unit = &block.units[*index];
                    let below = run.place(block);
                    self.push_unit(unit, colon, block.column, format, &mut run.text)?;
                    (run.scalar, run.plus) = self.changes_block_scalar(&unit.ids);
                    run.keeps = self.takes_lines_below(&unit.ids, below)
                        || run.scalar && self.indent_below(below) > 0;
                }
                Slot::New(new) => {
                    let below = run.place(block);
                    let kept_scalars = match run.above {
                        Some(_) => self.kept_scalars_above(below),
                        None if !block.behind_dash && stable.contains(&true) => {
                            KeptScalars::Everywhere
                        }
                        None => KeptScalars::Within,
                    };
                    let format = Format {
                        indent_below: self.indent_below(below),
                        kept_scalars,
                        ..*format
                    };
                    let mut emitter = Emitter::at_line_start(&mut run.text, format);
                    new.emit(block.column, &mut emitter);
                    run.text.push_str(format.newline);
                    (run.scalar, run.plus) = scalars_of(&new.content);
                    run.keeps = false;
                }
            }
        }
        runs.push(run);
        Ok(runs)
    }

    /// Puts in the lines of a run; `first` is the first unit that stays.
    fn insert_run(&self, run: &Run, block: &Block, first: Option<usize>, out: &mut TextEdit) {
        match run.above {
            Some(_) if run.keeps => {
                let at = self.behind_blank_lines(run.place(block));
                out.insert(at, run.text.clone());
            }
            Some(_) => out.insert(run.place(block).max(run.least), run.text.clone()),
            // What comes first stands behind the dash, in the place of what stood there.
            None if block.behind_dash => {
                let unit = &block.units[0];
                let end = if run.keeps {
                    self.behind_blank_lines(unit.lines_end)
                } else {
                    unit.lines_end
                };
                out.replace(unit.start..end, run.text.trim_start().to_owned());
            }
            None => {
                let at = block.units[first.unwrap_or(0)].lines_start;
                out.insert(at, run.text.clone());
            }
        }
    }

    /// Removes the units that neither stay nor are replaced behind their dash.
    fn remove_units(&self, block: &Block, runs: &[Run], format: &Format, out: &mut TextEdit) {
        let column = block.column;
        // The first run stands above the first unit that stays.
        let mut above = runs.first().filter(|_| runs.len() == 1);
        let mut stay = runs.iter().skip(1).peekable();
        for (at, unit) in block.units.iter().enumerate() {
            if let Some(run) = stay.next_if(|run| run.above == Some(at)) {
                above = Some(run);
                continue;
            }
            if at == 0 && block.behind_dash {
                continue;
            }
            let mut range = unit.lines_start..unit.lines_end;
            let mut text = String::new();
            if above.is_some_and(|above| self.would_take_lines(above, block, unit.lines_end)) {
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

    /// Whether the block scalar that a run or the unit above it may end in would take the blank or
    /// comment lines at `below` for its own.
    fn would_take_lines(&self, run: &Run, block: &Block, below: usize) -> bool {
        match run.above {
            _ if run.plus && self.behind_blank_lines(below) > below => true,
            _ if run.scalar => self.indent_below(below) > 0,
            Some(unit) if run.text.is_empty() => {
                self.takes_lines_below(&block.units[unit].ids, below)
            }
            _ => false,
        }
    }

    /// Values without a colon that need one, by slot: without it `? lone` would take the value of an
    /// entry without key (`: value`) that the edit puts below it.
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

    fn edit_with_colon(
        &self,
        unit: &Unit,
        colon: Option<NodeRef<'d>>,
        format: &Format,
        out: &mut TextEdit,
    ) -> Result<(), EditError> {
        self.edit_nodes(unit.ids.clone(), out)?;
        if let Some(value) = colon {
            let nothing = Rendered::of_line(String::new(), format);
            self.place_without_colon(value, nothing, format, out);
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

    /// Writes `{}` or `[]` in the place of all entries or items.
    pub(super) fn edit_emptied(
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
                // The tag stays: it gives the type of the collection.
                let text = format!(" {empty}");
                out.insert(head, text);
            }
            None => {
                let indent = if first.own_line {
                    self.document.column(first.start)
                } else {
                    0
                };
                let text = format!("{:indent$}{empty}{}", "", format.newline);
                out.replace(first.lines_start..first.lines_end, text);
            }
        }
    }

    /// Adds the lines of a unit that moves, with its inner changes; the first one is re-indented if it
    /// stood behind a dash.
    fn push_unit(
        &self,
        unit: &Unit,
        colon: Option<NodeRef<'d>>,
        column: usize,
        format: &Format,
        out: &mut String,
    ) -> Result<(), EditError> {
        let mut inner = TextEdit::default();
        self.edit_with_colon(unit, colon, format, &mut inner)?;
        let source = self.document.text;
        self.strip_cut_scalar(unit.start..unit.lines_end, &mut inner);
        let end = unit.lines_end.min(source.len());
        let mut text = Cow::from(&source[unit.lines_start..end]);
        if unit.lines_end > end {
            // Lines that are put in below the last one need its line break.
            text += newline_at(source, end);
        }
        let text = inner.apply(&text, unit.lines_start)?;
        if !unit.own_line {
            out.push_str(&" ".repeat(column));
        }
        for line in text.split_inclusive('\n') {
            out.push_str(line.trim_end_matches(['\r', '\n']));
            out.push_str(format.newline);
        }
        Ok(())
    }
}

/// Whether a block scalar may be written for a part of this, and one with `+` for its end.
fn scalars_of(content: &Content<'_>) -> (bool, bool) {
    let scalar = content.holds_block_scalar();
    (scalar, scalar && content.may_keep_blank_lines())
}
