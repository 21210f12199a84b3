//! Merges the comments after values and keys three-way, with the values that they belong to. Other
//! comments are in gaps.

use super::child::Child;
use crate::Versions;
use krm_core::upstream_identifier::MERGE_COMMENT;
use krm_yaml::{Editor, NodeRef, ValueComments};

/// Takes the comments after an entry or item that only upstream changed. The comment next to a value that local changed is
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
