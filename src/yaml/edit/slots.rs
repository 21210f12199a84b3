//! Entries and items as they shall be: kept ones, which may move, and new ones.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use crate::yaml::comments::{comment_in_flow, comments_above, entry_end, line_comment};
use crate::yaml::content::Content;
use crate::yaml::document::{EntryRef, NodeRef};
use crate::yaml::render::{self, Format, Owner, Rendered};
use crate::yaml::value::Value;

#[derive(Debug, Clone)]
pub(super) struct NewSlot<'a> {
    /// Key of a mapping entry; items have none.
    pub(super) key: Option<Value>,
    pub(super) content: Content<'a>,
    /// The entry of another document whose comments come along.
    pub(super) entry: Option<EntryRef<'a>>,
    pub(super) item: Option<NodeRef<'a>>,
    /// Comment lines above those that do not.
    pub(super) without: Arc<HashSet<String>>,
}

#[derive(Debug, Clone)]
pub(super) enum Slot<'a> {
    /// The entry or item of this index in the source.
    Kept(usize),
    New(Box<NewSlot<'a>>),
}

/// Which slots keep their place: a longest run in the old order.
///
/// A collection behind a dash keeps its first line only if its first entry stays first.
pub(super) fn stable_slots(slots: &[Slot<'_>], behind_dash: bool) -> Vec<bool> {
    let first_moves = behind_dash && !matches!(slots.first(), Some(Slot::Kept(0)));
    let values = slots.iter().enumerate().map(|(position, slot)| match slot {
        Slot::Kept(index) if !first_moves || (*index > 0 && position > 0) => Some(*index),
        _ => None,
    });
    longest_increasing(values)
}

/// Marks the elements of one longest increasing subsequence; `None` is never part of it.
pub(super) fn longest_increasing(values: impl Iterator<Item = Option<usize>>) -> Vec<bool> {
    let values: Vec<_> = values.collect();
    // `tails[n]`: position of the smallest last value of an increasing run of n + 1.
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
/// Entries or items with their marks and keys, and their nodes.
pub(super) fn spans(node: NodeRef<'_>) -> Vec<(Range<usize>, Range<u32>)> {
    let start = |node: NodeRef<'_>| node.mark().unwrap_or_else(|| node.outer_start());
    let entries = node.entries().map(|entry| {
        let ids = entry.key.id.0..entry.value.ids().end;
        (start(entry.key)..entry_end(entry), ids)
    });
    let items = node.items().map(|item| {
        let end = item.range().end.max(item.mark().map_or(0, |mark| mark + 1));
        (start(item)..end, item.ids())
    });
    entries.chain(items).collect()
}

/// Lines for the first entries or items of a collection.
pub(super) fn new_block(slots: &[Slot<'_>], owner: Owner, format: &Format) -> Rendered {
    let new = slots.iter().filter_map(|slot| match slot {
        Slot::New(new) => Some(&**new),
        Slot::Kept(_) => None,
    });
    let mapping = is_mapping(slots);
    let column = owner.child(!mapping, format);
    let lines = new.flat_map(|new| new_lines(new, column, format));
    let rendered = Rendered {
        lines: lines.collect(),
        ..Rendered::default()
    };
    match owner {
        Owner::Dash(_) => rendered.compact(),
        _ => rendered,
    }
}

/// A flow collection of new entries or items.
pub(super) fn new_flow(slots: &[Slot<'_>], format: &Format) -> String {
    let mapping = is_mapping(slots);
    let pieces: Vec<_> = slots
        .iter()
        .filter_map(|slot| match slot {
            Slot::New(new) => Some(flow_piece(new, format)),
            Slot::Kept(_) => None,
        })
        .collect();
    let pieces = pieces.join(", ");
    if mapping {
        format!("{{{pieces}}}")
    } else {
        format!("[{pieces}]")
    }
}

pub(super) fn is_mapping(slots: &[Slot<'_>]) -> bool {
    slots
        .iter()
        .any(|slot| matches!(slot, Slot::New(new) if new.key.is_some()))
}

/// Lines, each behind a line break.
pub(super) fn below_text<'l>(
    lines: &'l [String],
    format: &Format,
) -> impl Iterator<Item = &'l str> {
    let newline = format.newline;
    lines.iter().flat_map(move |line| [newline, line.as_str()])
}

pub(super) fn new_lines(new: &NewSlot<'_>, column: usize, format: &Format) -> Vec<String> {
    match &new.key {
        Some(key) => {
            let (content, entry) = (&new.content, new.entry);
            render::entry_lines(key, content, entry, &new.without, column, format)
        }
        None => render::item_lines(&new.content, new.item, &new.without, column, format),
    }
}

/// The comments above and behind the source of an entry or item.
pub(super) fn comments_around<'n>(new: &'n NewSlot<'_>) -> (Vec<&'n str>, Option<&'n str>) {
    let value = new.entry.map(|entry| entry.value).or(new.item);
    let owner = new.entry.map(|entry| entry.key).or(new.item);
    let (Some(value), Some(owner)) = (value, owner) else {
        return (Vec::new(), None);
    };
    let mut above = comments_above(owner);
    above.retain(|comment| !new.without.contains(*comment));
    let in_block = value
        .parent()
        .is_some_and(|parent| parent.kind().is_block_collection());
    let behind = match in_block {
        true => line_comment(owner).filter(|comment| !comment.is_empty()),
        false => comment_in_flow(value),
    };
    (above, behind)
}

pub(super) fn flow_piece(new: &NewSlot<'_>, format: &Format) -> String {
    let value = render::flow(&new.content, format);
    match &new.key {
        Some(key) => render::flow_entry(key, &value, format.json),
        None => value,
    }
}
