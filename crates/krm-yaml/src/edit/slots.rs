//! The entries or items of a collection after the edit: kept ones, which may move, and new ones.

use std::collections::HashSet;

use super::slot::{NewSlot, Slot, are_entries, new_slots};
use crate::comments::{ValueComments, comment_in_flow, comments_above, line_comment};
use crate::emit::{Emitter, Rendered, Tail};
use crate::format::{Format, Owner};

/// Which slots stay in place: a longest subsequence in the old order.
///
/// A collection after a dash keeps its first line only if its first entry stays first.
pub(super) fn stable_slots(slots: &[Slot<'_>], after_dash: bool) -> Vec<bool> {
    let first_moves = after_dash && !matches!(slots.first(), Some(Slot::Kept(0)));
    let values = slots.iter().enumerate().map(|(position, slot)| match slot {
        Slot::Kept(index) if !first_moves || (*index > 0 && position > 0) => Some(*index),
        _ => None,
    });
    longest_increasing(values)
}

/// Marks the elements of one longest increasing subsequence; `None` is never part of it.
pub(super) fn longest_increasing(values: impl Iterator<Item = Option<usize>> + Clone) -> Vec<bool> {
    if values.clone().flatten().is_sorted_by(|a, b| a < b) {
        return values.map(|value| value.is_some()).collect();
    }
    let values: Vec<_> = values.collect();
    // `tails[n]`: position of the smallest last value of an increasing subsequence of length n + 1.
    let mut tails: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; values.len()];
    for (position, value) in values.iter().enumerate() {
        let Some(value) = value else { continue };
        let at = tails.partition_point(|tail| values[*tail].is_some_and(|v| v < *value));
        before[position] = at.checked_sub(1).map(|previous| tails[previous]);
        if at == tails.len() {
            tails.push(position)
        } else {
            tails[at] = position
        }
    }
    let mut marked = vec![false; values.len()];
    let mut at = tails.last().copied();
    while let Some(position) = at {
        marked[position] = true;
        at = before[position];
    }
    marked
}

/// The entries or items of a collection that had none, in block style, with the comments around the collection.
pub(super) fn new_block(
    slots: &[Slot<'_>],
    comments: ValueComments<'_>,
    owner: Owner,
    format: &Format,
) -> Rendered {
    let column = owner.child(!are_entries(slots), format);
    Rendered::new(owner, format, |emitter| {
        emitter.with_comments(comments, |emitter| {
            emitter.open_collection(column);
            new_slots(slots).for_each(|new| new.emit(column, emitter));
            Tail::Closed
        })
    })
}

/// A flow collection of new entries or items.
pub(super) fn new_flow(slots: &[Slot<'_>], format: &Format) -> String {
    let (open, close) = if are_entries(slots) {
        ('{', '}')
    } else {
        ('[', ']')
    };
    let mut text = String::from(open);
    for (at, new) in new_slots(slots).enumerate() {
        text.push_str(if at > 0 { ", " } else { "" });
        new.emit_flow(format, &mut text);
    }
    text.push(close);
    text
}

impl NewSlot<'_> {
    /// Emits the entry or item in block style at a column.
    pub(super) fn emit(&self, column: usize, emitter: &mut Emitter<'_>) {
        match &self.key {
            Some(key) => emitter.entry(key, &self.content, self.source, column),
            None => emitter.item(&self.content, self.source, column),
        }
    }

    /// Emits the entry or item in flow style.
    pub(super) fn emit_flow(&self, format: &Format, out: &mut String) {
        let mut emitter = Emitter::at_line_start(out, *format);
        if let Some(key) = &self.key {
            emitter.flow_key(key);
        }
        emitter.flow(&self.content);
    }
}

/// The comments above and after the source of an entry or item.
pub(super) fn comments_around<'n>(new: &'n NewSlot<'_>) -> (Vec<&'n str>, Option<&'n str>) {
    let (Some(value), Some(owner)) = (new.source_value(), new.source) else {
        return (Vec::new(), None);
    };
    let above = comments_above(owner);
    let in_block = value
        .parent()
        .is_some_and(|parent| parent.kind().is_block_collection());
    let after = if in_block {
        line_comment(owner).filter(|comment| !comment.is_empty())
    } else {
        comment_in_flow(value)
    };
    (above, after)
}

/// Removes the kept entries or items of these indexes.
pub(super) fn remove_kept(slots: &mut Vec<Slot<'_>>, removed: &HashSet<usize>) {
    if !removed.is_empty() {
        slots.retain(|slot| slot.kept().is_none_or(|kept| !removed.contains(&kept)));
    }
}
