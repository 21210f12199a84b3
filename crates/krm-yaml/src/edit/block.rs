//! Entries and items of block collections, with the lines that belong to each.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::lines::body_indent;
use super::slot::{Slot, new_slots};
use super::slots::stable_slots;
use super::units::{Block, Unit};
use super::{Change, Editor};
use crate::children::Children;
use crate::comments::{block_indicators, head_place};
use crate::content::Content;
use crate::emit::{Emitter, Rendered};
use crate::error::EditError;
use crate::format::{Format, KeepChomping};
use crate::lines::newline_at;
use crate::node::{EntryRef, NodeRef};
use crate::text_edit::TextEdit;
use crate::tree::NodeId;

/// Lines that are inserted at one place.
struct LineRun {
    /// Index of the unit above, which stays in its place; `None` at the start of the block.
    above: Option<usize>,
    text: String,
    /// Whether the text ends in a block scalar that would include the blank lines after it.
    keeps: bool,
    /// Whether the last line may belong to a new block scalar, and whether that scalar may include the blank lines
    /// after it.
    scalar: (bool, bool),
    /// The end of the edits within the unit above. They may cover blank lines below the unit, and these lines are
    /// inserted after them.
    least: usize,
    /// Cache: where the lines are inserted.
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
    /// Changes the entries or items of a block collection: units that stay are edited in place, new and moved ones are
    /// inserted between them, and the others are removed.
    pub(super) fn edit_block(
        &self,
        node: NodeRef<'d>,
        slots: &[Slot<'f>],
        format: &Format,
        out: &mut TextEdit,
    ) -> Result<(), EditError> {
        let children = Children::of(node);
        if children.count() == 0 {
            return Ok(());
        }
        let start = children.range(0).start;
        let line = self.document.line_start(start);
        let own_line = self.document.text[line..start].bytes().all(|b| b == b' ');
        let mut block = Block {
            node,
            children,
            column: start - line,
            after_dash: !own_line,
            any_stays: false,
        };
        if slots.is_empty() {
            self.edit_emptied(&block, format, out);
            return Ok(());
        }
        let stable = stable_slots(slots, block.after_dash);
        block.any_stays = stable.contains(&true);
        let colons = self.missing_colons(&block, slots);
        let mut run = LineRun::below(None);
        let mut untouched = self.next_changed(0);
        for (position, slot) in slots.iter().enumerate() {
            let colon = colons.get(&position).copied();
            match slot {
                Slot::Kept(index) if stable[position] => {
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
                    untouched = self.next_changed(ids.end);
                }
                _ => self.push_slot(&mut run, &block, slot, colon, format)?,
            }
        }
        self.close_run(run, &block, None, format, out);
        Ok(())
    }

    /// The id of the first changed node from an id on; `u32::MAX` if there is none.
    fn next_changed(&self, id: u32) -> u32 {
        let from = NodeId(id)..NodeId(u32::MAX);
        let changed = self.changes.range(from.clone()).next().map(|(id, _)| id.0);
        let commented = self.comments.range(from).next().map(|(id, _)| id.0);
        let none = u32::MAX;
        changed.unwrap_or(none).min(commented.unwrap_or(none))
    }

    /// Adds a moved or new unit to a run.
    fn push_slot(
        &self,
        run: &mut LineRun,
        block: &Block<'d>,
        slot: &Slot<'f>,
        colon: Option<NodeRef<'d>>,
        format: &Format,
    ) -> Result<(), EditError> {
        let below = self.place_of(run, block);
        let Some(new) = slot.added() else {
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
        let keep_chomping = match run.above {
            Some(_) => self.kept_scalars_above(below),
            None if !block.after_dash && block.any_stays => KeepChomping::Everywhere,
            None => KeepChomping::Within,
        };
        let format = Format {
            indent_below: self.indent_below(below),
            keep_chomping,
            ..*format
        };
        let mut emitter = Emitter::at_line_start(&mut run.text, format);
        new.emit(block.column, &mut emitter);
        run.text.push_str(format.newline);
        run.scalar = scalars_of(&new.content);
        run.keeps = false;
        Ok(())
    }

    /// The end of the unit above a run, comments included. If there is none above, the end of the first unit.
    fn place_of(&self, run: &mut LineRun, block: &Block<'d>) -> usize {
        let above = run.above.unwrap_or(0);
        let below = || self.lines_end(&block.children.range(above)).1;
        *run.place.get_or_insert_with(below)
    }

    /// Removes the units between the ones that stay above and below a run, and inserts the lines of the run.
    fn close_run(
        &self,
        run: LineRun,
        block: &Block<'d>,
        below: Option<usize>,
        format: &Format,
        out: &mut TextEdit,
    ) {
        let from = run.above.map_or(0, |above| above + 1);
        for index in from..below.unwrap_or(block.children.count()) {
            if index > 0 || !block.after_dash {
                self.remove_unit(&self.unit(block, index), block, &run, format, out);
            }
        }
        if !run.text.is_empty() {
            self.insert_run(run, block, below, out);
        }
    }

    /// Inserts the lines of a run; `below` is the unit below that stays.
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
            Some(_) if run.keeps => out.insert(self.after_blank_lines(place), run.text),
            Some(_) => out.insert(place.max(run.least), run.text),
            // The first unit follows the dash and replaces the unit that was there.
            None if block.after_dash => {
                let unit = self.unit(block, 0);
                let end = if run.keeps {
                    self.after_blank_lines(unit.lines_end)
                } else {
                    unit.lines_end
                };
                out.replace(unit.start..end, run.text.trim_start().to_owned());
            }
            None => out.insert(first().lines_start, run.text),
        }
    }

    /// Removes a unit that does not stay and is not replaced after the dash. `run` is the run above it.
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
        // The first run is inserted above the first unit that stays, below the removed units.
        let is_above = run.above.is_some() || !block.any_stays;
        if is_above && self.would_take_lines(run, block, unit.lines_end) {
            // The block scalar above would include the lines below this unit, so its blank lines are removed, too, and
            // its comments are re-indented.
            range.end = self.after_blank_lines(unit.below);
            let below = unit.lines_end.min(range.end)..range.end;
            for comment in self.document.text[below].lines().map(str::trim) {
                if !comment.is_empty() {
                    text.push_str(&format!("{:column$}{comment}{}", "", format.newline));
                }
            }
        }
        out.replace(range, text);
    }

    /// Whether the block scalar that a run, or the unit above it, may end in would include the blank or comment lines
    /// at `below`.
    fn would_take_lines(&self, run: &LineRun, block: &Block<'d>, below: usize) -> bool {
        let (scalar, plus) = run.scalar;
        match run.above {
            _ if plus && self.after_blank_lines(below) > below => true,
            _ if scalar => self.indent_below(below) > 0,
            Some(unit) if run.text.is_empty() => {
                self.takes_lines_below(&block.children.ids(unit), below)
            }
            _ => false,
        }
    }

    /// Values that lack a colon and need one, by the position of their slot. Without it, `? lone` would get the value
    /// of an entry without a key (`: value`) that the edit puts below it.
    fn missing_colons(
        &self,
        block: &Block<'d>,
        slots: &[Slot<'f>],
    ) -> BTreeMap<usize, NodeRef<'d>> {
        let mut colons = BTreeMap::new();
        let is_bare =
            |entry: &EntryRef<'d>| entry.key.indicator().is_none() && entry.key.range().is_empty();
        if !block.node.entries().any(|entry| is_bare(&entry)) {
            return colons;
        }
        for (position, pair) in slots.windows(2).enumerate() {
            let [Slot::Kept(lone), Slot::Kept(below)] = pair else {
                continue;
            };
            let value = block.children.entry(*lone).value;
            let changed = self.changes.contains_key(&value.id);
            if value.indicator().is_none() && !changed && is_bare(&block.children.entry(*below)) {
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

    /// Whether changes of these nodes may write a block scalar, and whether one with `+`.
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
                Change::Slots(slots) => {
                    new_slots(slots).for_each(|new| add(&new.content));
                }
            }
        }
        found
    }

    /// Whether the last of these nodes is a block scalar that would include the blank or comment lines at `below` if it
    /// were directly above them.
    pub(super) fn takes_lines_below(&self, ids: &Range<u32>, below: usize) -> bool {
        let last = self.document.node(NodeId(ids.end - 1));
        if !last.kind().is_block_scalar() || below >= self.document.text.len() {
            return false;
        }
        let indent = body_indent(last).unwrap_or(1);
        block_indicators(last).contains('+') || self.indent_below(below) >= indent
    }

    /// Replaces all entries or items with `{}` or `[]`.
    fn edit_emptied(&self, block: &Block<'d>, format: &Format, out: &mut TextEdit) {
        let node = block.node;
        let empty = if node.kind().is_mapping() { "{}" } else { "[]" };
        let first = self.unit(block, 0);
        let head = head_place(node);
        for index in usize::from(head.is_none())..block.children.count() {
            let unit = self.unit(block, index);
            out.delete(unit.lines_start..unit.lines_end);
        }
        match head {
            Some(head) => {
                // The tag is kept, because it gives the type of the collection.
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

    /// Adds the lines of a moved unit, with its inner changes. A first line after a dash is indented.
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
            // Lines that are inserted below the last line need its line break.
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

/// Whether a part of the content may be written as a block scalar, and its end as one with `+`.
fn scalars_of(content: &Content<'_>) -> (bool, bool) {
    let scalar = content.holds_block_scalar();
    (scalar, scalar && content.may_keep_blank_lines())
}
