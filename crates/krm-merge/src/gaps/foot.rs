//! Comments below the last entry of a document that become a document of their own, by a `---` above them.

use std::collections::HashSet;

use super::lines::{GapToken, line_key};
use krm_yaml::NodeRef;

/// Where upstream only added or removed the `---` above comments, they are not lines that it removed or added.
pub(super) fn follow(
    base: (Option<NodeRef<'_>>, &[GapToken]),
    upstream: (NodeRef<'_>, &mut Vec<GapToken>),
) {
    let (Some(old_root), old) = base else { return };
    let (new_root, new) = upstream;
    let [before, after] = [old_root, new_root].map(comments_after);
    if before == after {
        return;
    }
    let foots = [old, new.as_slice()].map(|tokens| {
        let lines = tokens.iter().skip(foot(tokens));
        lines.map(GapToken::key).collect::<HashSet<u64>>()
    });
    let is_moved = |key: u64| after.contains(&key) && !before.contains(&key);
    if foots[0]
        .iter()
        .any(|key| is_moved(*key) && !foots[1].contains(key))
    {
        let blank = line_key("");
        let lost = old[foot(old)..].iter();
        let lost = lost.filter(|line| !foots[1].contains(&line.key()));
        let lost = lost.filter(|line| is_moved(line.key()) || line.key() == blank);
        new.extend(lost.cloned());
    }
    let mut at = 0;
    let start = foot(new);
    new.retain(|token| {
        let key = token.key();
        let is_twice = at >= start && before.contains(&key) && !after.contains(&key);
        at += 1;
        !is_twice || foots[0].contains(&key)
    });
}

/// Where the lines below the last entry begin.
fn foot(tokens: &[GapToken]) -> usize {
    let last = tokens.iter().rposition(|token| token.owner().is_some());
    last.map_or(0, |last| last + 1)
}

/// The comments of the documents without content directly after a document.
fn comments_after(root: NodeRef<'_>) -> HashSet<u64> {
    let Some(own) = root.own_range() else {
        return HashSet::new();
    };
    let rest = &root.document.text[own.end..];
    if !rest.starts_with("---") {
        return HashSet::new();
    }
    let (mut found, mut current) = (HashSet::new(), Vec::new());
    for line in rest.lines() {
        let text = line.trim();
        if line.starts_with("---") {
            found.extend(current.drain(..));
        } else if text.starts_with('#') {
            current.push(line_key(line));
        } else if !text.is_empty() {
            // They belong to the document that begins here.
            return found;
        }
    }
    found.extend(current);
    found
}
