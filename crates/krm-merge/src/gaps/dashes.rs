//! Comments after the dash of an item: they are in no gap. The merge of the fields puts the comment above the first entry
//! of a new element there.
//!
//! ```yaml
//! # upstream     # merged
//! -              - # theirs
//!   # theirs       name: a
//!   name: a
//! ```

use std::collections::HashMap;

use super::merged_line::MergedLine;
use crate::Side;
use krm_yaml::GapWalk;

/// The comment after the dash of the item that a text ends with.
fn comment_at_end(text: &str) -> Option<&str> {
    let line = text.lines().next_back()?.trim_start();
    let comment = line.trim_start_matches(['-', ' ']);
    (line.starts_with("- ") && comment.starts_with('#')).then(|| comment.trim_end())
}

/// The comments after dashes, by the position of the first entry or item below each.
fn comments<'w>(walk: &'w GapWalk<'_>, text: &'w str) -> impl Iterator<Item = (usize, &'w str)> {
    let owners = walk.owners.iter().enumerate();
    owners.filter_map(|(at, owner)| {
        let above = owner.above.as_ref()?;
        Some((at, comment_at_end(&text[..above.start])?))
    })
}

/// How often each comment is after a dash.
pub(super) type AfterDashes = HashMap<String, usize>;

pub(super) fn count(walk: &GapWalk<'_>, text: &str, counts: &mut AfterDashes) {
    for (_, comment) in comments(walk, text) {
        *counts.entry(comment.to_owned()).or_default() += 1;
    }
}

/// Leaves out upstream's lines that the merge of the fields put after dashes, where they have another place than above
/// the first entry of that item. `known` has the comments that the versions have after dashes.
pub(super) fn without_moved(
    walk: &GapWalk<'_>,
    text: &str,
    known: &AfterDashes,
    slots: &mut [Vec<MergedLine>],
) {
    let mut known: HashMap<&str, usize> =
        known.iter().map(|(comment, n)| (&**comment, *n)).collect();
    let mut moved: HashMap<&str, usize> = HashMap::new();
    for (at, comment) in comments(walk, text) {
        let count = known.entry(comment).or_default();
        if *count > 0 {
            *count -= 1;
        } else if !slots[at].iter().any(|line| line.text.trim() == comment) {
            *moved.entry(comment).or_default() += 1;
        }
    }
    if moved.is_empty() {
        return;
    }
    for slot in slots {
        slot.retain(|line| {
            let comment = Some(line.text.trim()).filter(|_| line.origin == Some(Side::Upstream));
            let count = comment.and_then(|comment| moved.remove_entry(comment));
            let Some((comment, count)) = count else {
                return true;
            };
            if count > 1 {
                moved.insert(comment, count - 1);
            }
            false
        });
    }
}

/// Leaves out the line that the merge of the fields put after the dash of an item, because its first entry moved.
pub(super) fn without_own(lines: &mut Vec<MergedLine>, before: &str, gap: &str) {
    let Some(comment) = comment_at_end(before) else {
        return;
    };
    let has = |line: &str| line.trim() == comment;
    if !gap.lines().any(has)
        && let Some(at) = lines.iter().position(|line| has(&line.text))
    {
        lines.remove(at);
    }
}
