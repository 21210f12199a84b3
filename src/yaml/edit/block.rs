//! Entries and items of block collections, with the lines that belong to each.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::lines::body_indent;
use super::slots::stable_slots;
use super::sources::Slot;
use super::units::{Block, Unit};
use super::{Change, Editor};
use crate::yaml::children::Children;
use crate::yaml::comments::{block_indicators, head_place};
use crate::yaml::content::Content;
use crate::yaml::emit::{Emitter, Rendered};
use crate::yaml::error::EditError;
use crate::yaml::format::{Format, KeptScalars};
use crate::yaml::lines::newline_at;
use crate::yaml::node::{EntryRef, NodeRef};
use crate::yaml::text_edit::TextEdit;
use crate::yaml::tree::NodeId;

/// Lines that are put in at one place.
struct LineRun {
    /// The unit above, one that stays where it is.
    above: Option<usize>,
    text: String,
    /// Whether the last line is that of a block scalar which keeps the blank lines after it.
    keeps: bool,
    /// Whether the last line may belong to a new block scalar, and whether that one may keep the
    /// blank lines after it.
    scalar: (bool, bool),
    /// Where the edits within the unit above end. They may take the blank lines below along, and
    /// then these lines go in after them.
    least: usize,
    /// Where the lines go in, once that was looked up.
    place: Option<usize>,
}

impl LineRun {
    fn below(unit: Option<usize>) -> Self {
        Self {
            above: unit,
            text: String::new(),
            keeps: false,
            scalar: (false, false),
            least: 0,
            place: None,
        }
    }
}

impl<'d, 'f> Editor<'d, 'f> {
    /// Gives a block collection other entries or items: the units that stay are edited in place,
    /// what is new or moved is put in between, and the others are removed.
    pub(super) fn edit_block(
        &self,
        node: NodeRef<'d>,
        slots: &[Slot<'f>],
        format: &Format,
        out: &mut TextEdit,
    ) -> Result<(), EditError> {
        let children = Children::of(node);
        if children.len() == 0 {
            return Ok(());
        }
        let start = children.range(0).start;
        let line = self.document.line_start(start);
        let own_line = self.document.text[line..start].bytes().all(|b| b == b' ');
        let mut block = Block {
            node,
            children,
            column: start - line,
            behind_dash: !own_line,
            any_stays: false,
        };
        if slots.is_empty() {
            self.edit_emptied(&block, format, out);
            return Ok(());
        }
        let stable = stable_slots(slots, block.behind_dash);
        block.any_stays = stable.contains(&true);
        let colons = self.missing_colons(&block, slots);
        let mut run = LineRun::below(None);
        let mut untouched = self.untouched_from(0);
        let below_last = |above: Option<usize>, next: usize, out: &mut TextEdit| {
            if let Some(last) = above.filter(|above| above + 1 == next) {
                self.edit_lines_below(block.children.owner(last), out);
            }
        };
        for (position, slot) in slots.iter().enumerate() {
            let colon = colons.get(&position).copied();
            match slot {
                Slot::Kept(index) if stable[position] => {
                    if run.text.is_empty() {
                        below_last(run.above, *index, out);
                    }
                    self.close_run(run, &block, Some(*index), format, out);
                    run = LineRun::below(Some(*index));
                    let ids = block.children.ids(*index);
                    if ids.end <= untouched && colon.is_none() {
                        continue;
                    }
                    let before = out.len();
                    self.edit_with_colon(&ids, colon, format, out)?;
                    let ends = out.ranges_from(before).map(|range| range.end);
                    run.least = ends.max().unwrap_or(0);
                    run.scalar = self.changes_block_scalar(&ids);
                    untouched = self.untouched_from(ids.end);
                }
                _ => self.push_slot(&mut run, &block, slot, colon, format)?,
            }
        }
        if run.text.is_empty() {
            below_last(run.above, block.children.len(), out);
        }
        self.close_run(run, &block, None, format, out);
        Ok(())
    }

    /// The first node from an id on that is changed, or no node.
    fn untouched_from(&self, id: u32) -> u32 {
        let from = NodeId(id)..NodeId(u32::MAX);
        let changed = self.changes.range(from.clone()).next().map(|(id, _)| id.0);
        let commented = self.comments.range(from).next().map(|(id, _)| id.0);
        let none = u32::MAX;
        changed.unwrap_or(none).min(commented.unwrap_or(none))
    }

    /// Adds what is moved or new to a run.
    fn push_slot(
        &self,
        run: &mut LineRun,
        block: &Block<'d>,
        slot: &Slot<'f>,
        colon: Option<NodeRef<'d>>,
        format: &Format,
    ) -> Result<(), EditError> {
        let below = self.place_of(run, block);
        let Some(new) = self.sources.new_slot(slot) else {
            let Slot::Kept(index) = slot else {
                return Ok(());
            };
            let unit = self.unit(block, *index);
            self.push_unit(&unit, colon, block.column, format, &mut run.text)?;
            run.scalar = self.changes_block_scalar(&unit.ids);
            run.keeps = self.takes_lines_below(&unit.ids, below)
                || run.scalar.0 && self.indent_below(below) > 0;
            return Ok(());
        };
        let kept_scalars = match run.above {
            Some(_) => self.kept_scalars_above(below),
            None if !block.behind_dash && block.any_stays => KeptScalars::Everywhere,
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
        run.scalar = scalars_of(&new.content);
        run.keeps = false;
        Ok(())
    }

    /// Behind the unit above a run with its comments, or the first one.
    fn place_of(&self, run: &mut LineRun, block: &Block<'d>) -> usize {
        let above = run.above.unwrap_or(0);
        let below = || self.lines_end(&block.children.range(above)).1;
        *run.place.get_or_insert_with(below)
    }

    /// Removes the units between those that stay above and below a run, and puts its lines in.
    fn close_run(
        &self,
        run: LineRun,
        block: &Block<'d>,
        below: Option<usize>,
        format: &Format,
        out: &mut TextEdit,
    ) {
        let from = run.above.map_or(0, |above| above + 1);
        for index in from..below.unwrap_or(block.children.len()) {
            if index > 0 || !block.behind_dash {
                self.remove_unit(&self.unit(block, index), block, &run, format, out);
            }
        }
        if !run.text.is_empty() {
            self.insert_run(run, block, below, out);
        }
    }

    /// Puts in the lines of a run; `below` is the unit below that stays.
    fn insert_run(
        &self,
        mut run: LineRun,
        block: &Block<'d>,
        below: Option<usize>,
        out: &mut TextEdit,
    ) {
        let first = || self.unit(block, below.unwrap_or(0));
        let place = self.place_of(&mut run, block);
        match run.above {
            Some(_) if run.keeps => out.insert(self.behind_blank_lines(place), run.text),
            Some(_) => out.insert(place.max(run.least), run.text),
            // What comes first is after the dash, in the place of what was there.
            None if block.behind_dash => {
                let unit = self.unit(block, 0);
                let end = if run.keeps {
                    self.behind_blank_lines(unit.lines_end)
                } else {
                    unit.lines_end
                };
                out.replace(unit.start..end, run.text.trim_start().to_owned());
            }
            None => out.insert(first().lines_start, run.text),
        }
    }

    /// Removes a unit that neither stays nor is replaced after its dash. `run` is the one above it.
    fn remove_unit(
        &self,
        unit: &Unit,
        block: &Block<'d>,
        run: &LineRun,
        format: &Format,
        out: &mut TextEdit,
    ) {
        let column = block.column;
        let mut range = unit.lines_start..unit.lines_end;
        let mut text = String::new();
        // The first run stands above the first unit that stays, and below what is removed.
        let is_above = run.above.is_some() || !block.any_stays;
        if is_above && self.would_take_lines(run, block, unit.lines_end) {
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

    /// Whether the block scalar that a run or the unit above it may end in would take the blank or
    /// comment lines at `below` for its own.
    fn would_take_lines(&self, run: &LineRun, block: &Block<'d>, below: usize) -> bool {
        let (scalar, plus) = run.scalar;
        match run.above {
            _ if plus && self.behind_blank_lines(below) > below => true,
            _ if scalar => self.indent_below(below) > 0,
            Some(unit) if run.text.is_empty() => {
                self.takes_lines_below(&block.children.ids(unit), below)
            }
            _ => false,
        }
    }

    /// Values without a colon that need one, by slot: without it `? lone` would take the value of an
    /// entry without key (`: value`) that the edit puts below it.
    fn missing_colons(
        &self,
        block: &Block<'d>,
        slots: &[Slot<'f>],
    ) -> BTreeMap<usize, NodeRef<'d>> {
        let mut colons = BTreeMap::new();
        let is_bare =
            |entry: &EntryRef<'d>| entry.key.mark().is_none() && entry.key.range().is_empty();
        if !block.node.entries().any(|entry| is_bare(&entry)) {
            return colons;
        }
        for (position, pair) in slots.windows(2).enumerate() {
            let [Slot::Kept(lone), Slot::Kept(below)] = pair else {
                continue;
            };
            let value = block.children.entry(*lone).value;
            let changed = self.changes.contains_key(&value.id);
            if value.mark().is_none() && !changed && is_bare(&block.children.entry(*below)) {
                colons.insert(position, value);
            }
        }
        colons
    }

    fn edit_with_colon(
        &self,
        ids: &Range<u32>,
        colon: Option<NodeRef<'d>>,
        format: &Format,
        out: &mut TextEdit,
    ) -> Result<(), EditError> {
        self.edit_nodes(ids.clone(), out)?;
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
                Change::Replace(content) => add(&self.sources.content(content)),
                Change::Slots(slots) => {
                    let new = self.sources.new_slots(slots);
                    new.for_each(|new| add(&new.content));
                }
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
    fn edit_emptied(&self, block: &Block<'d>, format: &Format, out: &mut TextEdit) {
        let node = block.node;
        let empty = if node.kind().is_mapping() { "{}" } else { "[]" };
        let first = self.unit(block, 0);
        let head = head_place(node);
        for index in usize::from(head.is_none())..block.children.len() {
            let unit = self.unit(block, index);
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
    /// was after a dash.
    fn push_unit(
        &self,
        unit: &Unit,
        colon: Option<NodeRef<'d>>,
        column: usize,
        format: &Format,
        out: &mut String,
    ) -> Result<(), EditError> {
        let mut inner = TextEdit::default();
        self.edit_with_colon(&unit.ids, colon, format, &mut inner)?;
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
