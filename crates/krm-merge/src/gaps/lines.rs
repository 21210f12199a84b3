//! One version of a document as a sequence: its entries and items, and the lines in the gaps between them.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::leaves::hash;

use super::dashes::{self, AfterDashes};
use crate::naming::names_of;
use krm_yaml::{GapOwner, GapWalk, NodeRef};

/// An entry, an item or a line of a gap.
#[derive(Debug, Clone)]
pub(super) enum GapToken {
    Owner(KeyedOwner),
    Line(GapLine),
}

/// An entry or item.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyedOwner {
    /// Equal in all versions that have the entry or item.
    pub(super) key: u64,
    /// Equal for what has the same name, or the same value if it has none, in whatever is around it.
    pub(super) name: u64,
    /// Equal for what may be a changed version of it.
    pub(super) kind: u64,
    pub(super) column: usize,
}

/// A comment or blank line in a gap.
#[derive(Debug, Clone)]
pub(super) struct GapLine {
    pub(super) key: u64,
    /// The line with its indentation, without its line break.
    pub(super) text: String,
}

impl GapLine {
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub(super) fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start_matches(' ').len()
    }
}

impl GapToken {
    pub(super) fn key(&self) -> u64 {
        match self {
            Self::Owner(owner) => owner.key,
            Self::Line(line) => line.key,
        }
    }

    pub(super) fn line(&self) -> Option<&GapLine> {
        match self {
            Self::Owner(_) => None,
            Self::Line(line) => Some(line),
        }
    }

    pub(super) fn owner(&self) -> Option<KeyedOwner> {
        match self {
            Self::Owner(owner) => Some(*owner),
            Self::Line(_) => None,
        }
    }
}

/// The sequence of a version; its comments after dashes are counted. `None` if its lines are not entries, items and gaps
/// alone.
pub(super) fn tokens(root: NodeRef<'_>, after_dashes: &mut AfterDashes) -> Option<Vec<GapToken>> {
    let walk = GapWalk::of(root)?;
    let text = root.document.text;
    dashes::count(&walk, text, after_dashes);
    let owners = owners(&walk.owners);
    let mut tokens = Vec::new();
    for (gap, owner) in walk.owners.iter().zip(owners) {
        if let Some(above) = &gap.above {
            tokens.extend(lines(&text[above.clone()]));
        }
        tokens.push(GapToken::Owner(owner));
    }
    tokens.extend(lines(&text[walk.foot]));
    Some(tokens)
}

/// A gap of more lines merges in blocks, so that its tokens take no more memory than its text.
const MOST_LINES: usize = 50_000;
/// The fewest and the most lines of a block.
const BLOCK: [usize; 2] = [64, 1024];

fn lines(gap: &str) -> Vec<GapToken> {
    let token = |text: &str| {
        GapToken::Line(GapLine {
            key: line_key(text),
            text: text.trim_end_matches('\r').to_owned(),
        })
    };
    if gap.lines().nth(MOST_LINES).is_none() {
        return gap.lines().map(token).collect();
    }
    blocks(gap).into_iter().map(token).collect()
}

/// A long gap in blocks. A block ends where its lines say so, and not at a number of lines, so that an added line changes
/// one block and not all after it.
fn blocks(gap: &str) -> Vec<&str> {
    let (mut blocks, mut start, mut end, mut count) = (Vec::new(), 0, 0, 0);
    for line in gap.split_inclusive('\n') {
        end += line.len();
        count += 1;
        let is_end = line_key(line).is_multiple_of(64);
        if count >= BLOCK[0] && is_end || count >= BLOCK[1] {
            blocks.push(without_line_break(&gap[start..end]));
            (start, count) = (end, 0);
        }
    }
    if start < end {
        blocks.push(without_line_break(&gap[start..end]));
    }
    blocks
}

fn without_line_break(lines: &str) -> &str {
    lines.strip_suffix('\n').unwrap_or(lines)
}

/// The key of a line of a gap: it is the same with another indentation.
pub(super) fn line_key(line: &str) -> u64 {
    hash(&("line", line.trim()))
}

/// The keys of entries and items: what they are called, within what is around them.
pub(super) fn owners(walk: &[GapOwner<'_>]) -> Vec<KeyedOwner> {
    // The keys of the entries and items around the current one, and how often each key occurred.
    let mut around: Vec<u64> = Vec::new();
    let mut counts: HashMap<u64, usize> = HashMap::new();
    let mut found = Vec::with_capacity(walk.len());
    for GapOwner {
        owner,
        depth,
        column,
        ..
    } in walk
    {
        around.truncate(*depth);
        let (kind, name) = name(*owner);
        let own = hash(&(around.last(), kind, name));
        let count = counts.entry(own).or_default();
        let key = if *count == 0 {
            own
        } else {
            hash(&(own, *count))
        };
        *count += 1;
        around.push(key);
        found.push(KeyedOwner {
            key,
            name: hash(&(depth, kind, name)),
            kind: hash(&(depth, kind)),
            column: *column,
        });
    }
    found
}

/// What may be a version of an entry or item, and what it is called among these.
pub(super) fn name(owner: NodeRef<'_>) -> (u64, u64) {
    let is_entry = owner
        .parent()
        .is_some_and(|parent| parent.kind().is_mapping());
    if is_entry {
        let key = owner.key_text().unwrap_or(owner.source());
        return (hash(&("entry", key)), 0);
    }
    let is_mapping = owner.kind().is_mapping();
    let kind = hash(&("item", is_mapping));
    let named = if is_mapping {
        element_name(owner)
    } else {
        flag(owner).map(|flag| hash(&("flag", flag)))
    };
    (kind, named.unwrap_or_else(|| hash(&beginning(owner))))
}

/// The flag of an argument like `--flag=value`.
fn flag(item: NodeRef<'_>) -> Option<&str> {
    let (flag, _) = item.scalar_text()?.split_once('=')?;
    flag.starts_with('-').then_some(flag)
}

/// The fields that name an element.
fn element_name(element: NodeRef<'_>) -> Option<u64> {
    let named = names_of(element).find_map(|(field, value)| {
        let value = value.value_text()?;
        // An image is the same with another version.
        let end = value.rfind([':', '@']).filter(|_| field == "image");
        Some(hash(&(field, &value[..end.unwrap_or(value.len())])))
    });
    named.or_else(|| {
        let groups = beginning(element.entry("apiGroups")?.value);
        let resources = beginning(element.entry("resources")?.value);
        Some(hash(&("apiGroups", groups, resources)))
    })
}

/// How much of a value is compared: nested values share their text, so it is not read to its end at
/// each level.
const MOST_NODES: usize = 32;
const MOST_BYTES: usize = 256;

/// A value by the scalars among its first nodes, without the comments between them. The order of keys does not count.
fn beginning(node: NodeRef<'_>) -> u64 {
    fn collect(node: NodeRef<'_>, left: &mut usize) -> u64 {
        // Also of nodes without scalars: aliases can repeat them.
        let Some(fewer) = left.checked_sub(1) else {
            return 0;
        };
        *left = fewer;
        let mut hasher = DefaultHasher::new();
        if let Some(text) = node.scalar_text() {
            text.as_bytes()[..text.len().min(MOST_BYTES)].hash(&mut hasher);
        }
        let mut entries = 0_u64;
        for entry in node.entries().take(*left) {
            let entry = (collect(entry.key, left), collect(entry.value, left));
            entries = entries.wrapping_add(hash(&entry));
        }
        entries.hash(&mut hasher);
        for item in node.items().take(*left) {
            collect(item, left).hash(&mut hasher);
        }
        hasher.finish()
    }
    if !node.kind().is_mapping() && !node.kind().is_sequence() && node.scalar_text().is_none() {
        return hash(&node.source());
    }
    let mut left = MOST_NODES;
    collect(node, &mut left)
}

/// For each token of a version, what is around it.
pub(super) struct TokensAround {
    /// The entry or item above, and the one below, each with its position.
    pub(super) above: Vec<Option<usize>>,
    pub(super) below: Vec<Option<usize>>,
    /// Whether only comments are between the token and what is below.
    pub(super) is_direct: Vec<bool>,
}

impl TokensAround {
    pub(super) fn of(tokens: &[GapToken]) -> Self {
        let mut last = None;
        let above = tokens.iter().enumerate().map(|(at, token)| {
            let above = last;
            last = token.owner().map(|_| at).or(last);
            above
        });
        let above = above.collect();
        let (mut next, mut is_above) = (None, false);
        let mut below = vec![None; tokens.len()];
        let mut is_direct = vec![false; tokens.len()];
        for (at, token) in tokens.iter().enumerate().rev() {
            match token {
                GapToken::Owner(_) => (next, is_above) = (Some(at), true),
                GapToken::Line(line) => is_above &= !line.is_blank(),
            }
            (below[at], is_direct[at]) = (next, is_above);
        }
        Self {
            above,
            below,
            is_direct,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaps::GapLines;
    use krm_yaml::{Editor, OwnedDocument};

    /// More lines than merge one by one, above an entry.
    fn document(line: impl Fn(usize) -> String) -> OwnedDocument {
        let lines = (0..=MOST_LINES).map(|at| line(at) + "\n");
        let text = format!("a: 1\n{}b: 2\n", lines.collect::<String>());
        OwnedDocument::parse(text).expect("YAML")
    }

    #[test]
    fn a_long_gap_merges_in_blocks() {
        let plain = |at: usize| format!("# line {at}");
        let changed = |which: usize, by: &'static str| {
            move |at: usize| match at {
                at if at == which => format!("# {by} {at}"),
                at => format!("# line {at}"),
            }
        };
        let base = document(plain);
        let local = document(changed(10, "local"));
        let upstream = document(changed(40_000, "upstream"));
        let expected = document(|at| match at {
            10 => changed(10, "local")(at),
            at => changed(40_000, "upstream")(at),
        });
        let root = base.root().expect("a root");
        let count = tokens(root, &mut AfterDashes::new()).expect("tokens").len();
        assert!(count < MOST_LINES / BLOCK[0] + 3, "{count} tokens");
        let root = local.root().expect("a root");
        let gaps = GapLines::of_all(base.root(), root, upstream.root().expect("a root"));
        let mut editor = Editor::new(local.document());
        gaps.expect("gaps").apply(root, &mut editor);
        let merged = editor.finish_parsed().expect("YAML");
        assert!(merged.document().text == expected.document().text);
    }

    #[test]
    fn an_added_line_changes_one_block() {
        let lines: Vec<String> = (0..3_000).map(|at| format!("# line {at}\n")).collect();
        let old = lines.concat();
        let mut lines = lines;
        lines.insert(1_000, "# new\n".to_owned());
        let new = lines.concat();
        let (old, new) = (blocks(&old), blocks(&new));
        assert!(old.len() > 10);
        let changed = new.iter().filter(|block| !old.contains(block)).count();
        assert!(changed <= 2, "{changed} blocks");
    }
}
