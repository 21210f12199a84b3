//! Comments, three-way like the values that they belong to.

use std::collections::{HashMap, HashSet};

use super::child::Child;
use crate::merge::upstream_identifier::MERGE_COMMENT;
use crate::yaml::{Editor, NodeRef, ValueComments, all_comments, comments_above};

/// Comments of an entry or item: those that only upstream changed are taken. The one beside a value
/// that local changed stays: a setter comment would overwrite that value later.
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
    let (old, ours, theirs) = (base.owner(), local.owner(), upstream.owner());
    let above = comments_above(theirs);
    let old_above = comments_above(old);
    if above != old_above && comments_above(ours) == old_above {
        editor.set_comments_above(ours, &above);
    }
    let [before, here, there] = [base.value, local.value, upstream.value].map(ValueComments::of);
    let is_identifier = |comments: &ValueComments<'_>| comments.contains(MERGE_COMMENT);
    if is_identifier(&here) || is_identifier(&there) {
        return;
    }
    let block = |child: Child<'_>| child.value.kind().is_block_collection();
    let is_own = || !(block(local) && block(upstream) || base.value.equals(&local.value));
    if before != there && before == here && !is_own() {
        editor.set_value_comments(ours, there);
    } else if !here.is_empty() || before == there {
        editor.keep_value_comments(ours);
    }
}

/// The comments within a node: those above its first line and at the end of its last line included,
/// that on the line of its key or dash not.
pub(super) fn comments_of(node: NodeRef<'_>) -> Vec<&str> {
    let document = node.document;
    let range = node.range();
    let rest = &document.text[range.end..];
    let end = rest
        .find('\n')
        .map_or(document.text.len(), |at| range.end + at);
    let mark = node.mark().unwrap_or(range.start);
    let behind = document.text[mark..range.start].find('\n');
    let start = behind.map_or(range.start, |at| mark + at);
    document.comments_within(start..end).collect()
}

/// Comment lines that local removed, and that upstream has no more of than base: where they stand
/// above something new of upstream's, they are not new themselves.
pub(super) fn removed_comments(
    base: NodeRef<'_>,
    local: NodeRef<'_>,
    upstream: NodeRef<'_>,
) -> HashSet<String> {
    let (old, ours) = (all_comments(base), all_comments(local));
    if old.is_empty() || old == ours {
        return HashSet::new();
    }
    let mut counts: HashMap<&str, [usize; 3]> = HashMap::new();
    for (version, comments) in [old, ours, all_comments(upstream)].into_iter().enumerate() {
        for comment in comments {
            counts.entry(comment.trim_end()).or_default()[version] += 1;
        }
    }
    let gone = counts
        .into_iter()
        .filter(|(_, [base, local, upstream])| local < base && upstream <= base);
    gone.map(|(comment, _)| comment.to_owned()).collect()
}
