//! Merges comments three-way, like the values that they belong to.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::child::Child;
use crate::merge::Versions;
use crate::merge::upstream_identifier::MERGE_COMMENT;
use crate::yaml::{
    Editor, NodeRef, ValueComments, all_comments, comments_above, last_part, lines_below,
};

/// Takes the comments of an entry or item that only upstream changed. The comment next to a value that local changed is
/// kept, because a new setter comment would overwrite the value later.
pub(super) fn take_comments<'d>(
    base: Child<'_>,
    local: Child<'d>,
    upstream: Child<'_>,
    editor: &mut Editor<'d, '_>,
) {
    let has_any = |child: Child<'_>| child.value.document.comments().next().is_some();
    let in_block = |child: Child<'_>| {
        child
            .owner()
            .parent()
            .is_some_and(|parent| parent.kind().is_block_collection())
    };
    if !(has_any(base) || has_any(upstream)) || !in_block(local) || !in_block(upstream) {
        return;
    }
    let owner = local.owner();
    let above = comments_above(upstream.owner());
    let old_above = comments_above(base.owner());
    if above != old_above && comments_above(owner) == old_above {
        editor.set_comments_above(owner, &above);
    }
    take_lines_below(base, local, upstream, editor);
    let values = Versions::from([base.value, local.value, upstream.value]);
    let beside = values.map(ValueComments::of);
    let is_identifier = |comments: &ValueComments<'_>| comments.contains(MERGE_COMMENT);
    if is_identifier(&beside.local) || is_identifier(&beside.upstream) {
        return;
    }
    let block = |child: Child<'_>| child.value.kind().is_block_collection();
    let is_own = || !(block(local) && block(upstream) || base.value.equals(&local.value));
    let is_changed = beside.base != beside.upstream;
    if is_changed && beside.base == beside.local && !is_own() {
        editor.set_value_comments(owner, beside.upstream);
    } else if !beside.local.is_empty() || !is_changed {
        editor.keep_value_comments(owner);
    }
}

/// Takes the comment lines below an entry or item that belong to no other part, if only upstream changed them. A line
/// that upstream has as often as base is not a change of upstream: only its neighbour moved.
fn take_lines_below<'d>(
    base: Child<'_>,
    local: Child<'d>,
    upstream: Child<'_>,
    editor: &mut Editor<'d, '_>,
) {
    let ends = [base.value, upstream.value];
    let (base, local, upstream) = (base.owner(), local.owner(), upstream.owner());
    let below = Versions::from([base, local, upstream].map(lines_below));
    let Some(below) = below.all() else { return };
    // There can be millions of lines, so they are not kept.
    let before = || comment_lines(base, &below.base);
    let after = || comment_lines(upstream, &below.upstream);
    if before().eq(after()) || !comment_lines(local, &below.local).eq(before()) {
        return;
    }
    let [next_old, next_own, next_their] = [base, local, upstream].map(next_sibling);
    if !end_alike(ends[0], ends[1])
        || !is_same(next_old, next_own)
        || !is_same(next_own, next_their)
    {
        return;
    }
    let counts = [base, upstream].map(comment_counts);
    let before: HashSet<&str> = before().collect();
    let after: HashSet<&str> = after().collect();
    let mut changed = before.symmetric_difference(&after);
    if !changed.all(|line| counts[0].get(line) != counts[1].get(line)) {
        return;
    }
    let column = |node: NodeRef<'_>| node.column();
    let (from, to) = (column(upstream), column(local));
    let shifted = |line: &str| {
        let comment = line.trim();
        let indent = line.len() - line.trim_start_matches(' ').len();
        if comment.is_empty() {
            String::new()
        } else {
            " ".repeat((indent + to).saturating_sub(from)) + comment
        }
    };
    let lines = upstream.document.text[below.upstream].lines().map(shifted);
    editor.set_lines_below(local, lines.collect());
}

/// The lines of a range that are not blank, trimmed.
fn comment_lines<'n>(
    node: NodeRef<'n>,
    range: &Range<usize>,
) -> impl Iterator<Item = &'n str> + use<'n> {
    let lines = node.document.text[range.clone()].lines().map(str::trim);
    lines.filter(|line| !line.is_empty())
}

/// How often each comment occurs in the document of a node.
fn comment_counts(node: NodeRef<'_>) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for range in node.document.comments() {
        let comment = node.document.text[range].trim_end();
        *counts.entry(comment).or_default() += 1;
    }
    counts
}

/// The entry (by its key) or item after another.
fn next_sibling(owner: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let parent = owner.parent()?;
    let keys = parent.entries().map(|entry| entry.key);
    let mut siblings = keys.chain(parent.items());
    siblings.find(|node| node.id == owner.id)?;
    siblings.next()
}

/// Whether the block collections at the end of two values have the same number of parts, and the same last key.
fn end_alike(one: NodeRef<'_>, other: NodeRef<'_>) -> bool {
    let shape = |value: NodeRef<'_>| {
        let mut shape = Vec::new();
        let mut last = Some(value).filter(|node| node.kind().is_block_collection());
        while let Some(node) = last {
            let keys = node
                .entries()
                .map(|entry| entry.key.field_name().to_owned());
            shape.push((keys.last(), node.entries().count() + node.items().count()));
            last = last_part(node).filter(|node| node.kind().is_block_collection());
        }
        shape
    };
    shape(one) == shape(other)
}

/// Whether two nodes are the same: entries with the same key, or items with the same name or value. Also if both are
/// `None`.
fn is_same(one: Option<NodeRef<'_>>, other: Option<NodeRef<'_>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => match (one.get("name"), other.get("name")) {
            (Some(one), Some(other)) => one.equals(&other),
            _ => one.equals(&other),
        },
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// The comments within a node, including those above its first line and at the end of its last line, but not the
/// comment on the line of its key or dash.
pub(super) fn comments_of(node: NodeRef<'_>) -> Vec<&str> {
    let document = node.document;
    let range = node.range();
    let rest = &document.text[range.end..];
    let end = rest
        .find('\n')
        .map_or(document.text.len(), |at| range.end + at);
    let indicator = node.indicator().unwrap_or(range.start);
    let after = document.text[indicator..range.start].find('\n');
    let start = after.map_or(range.start, |at| indicator + at);
    document.comments_within(start..end).collect()
}

/// The comment lines that local removed, and that upstream does not have more often than base. They are not new, even
/// above a part that upstream added.
pub(super) fn removed_comments(
    base: NodeRef<'_>,
    local: NodeRef<'_>,
    upstream: NodeRef<'_>,
) -> HashSet<String> {
    let (old, own) = (all_comments(base), all_comments(local));
    if old.is_empty() || old == own {
        return HashSet::new();
    }
    let mut counts: HashMap<&str, [usize; 3]> = HashMap::new();
    for (version, comments) in [old, own, all_comments(upstream)].into_iter().enumerate() {
        for comment in comments {
            counts.entry(comment.trim_end()).or_default()[version] += 1;
        }
    }
    let removed = counts
        .into_iter()
        .filter(|(_, [base, local, upstream])| local < base && upstream <= base);
    removed.map(|(comment, _)| comment.to_owned()).collect()
}
