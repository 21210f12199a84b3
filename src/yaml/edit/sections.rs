//! An edited text, read again where it was changed and not as a whole.
//!
//! ```text
//! spec:
//!   replicas: 2     # 10..11 -> "3": this line is read again
//!   paused: true    # behind it, "  image: a\n": the new line is read
//! ```
//!
//! A change lies in whole lines that hold entries or items of one block collection: its section. If the scanner read the
//! source, and takes the new lines of each section for entries of the same kind of collection at the same column ([`part`]),
//! with no key that the rest of the collection has, then it takes the whole text, too. Where that is not sure, the whole text
//! has to be checked.

use std::ops::Range;

use crate::yaml::document::Document;
use crate::yaml::node::NodeRef;
use crate::yaml::scan::part;
use crate::yaml::text_edit::TextEdit;
use crate::yaml::tree::{NodeId, NodeKind, ParseOptions, Reader, offset};

/// More changes than these, and a check of the whole text takes little beside them.
const MOST_CHANGES: usize = 256;
/// Bytes of a text that cannot have too many nodes, however dense it is.
const MOST_BYTES: usize = 1 << 20;

/// Lines that hold children of a block collection, or a place between two of them.
#[derive(Debug)]
struct Section<'d> {
    collection: NodeRef<'d>,
    /// Column of the keys or dashes.
    column: usize,
    lines: Range<usize>,
    /// Whether the first and the last child of the collection are within.
    first: bool,
    last: bool,
    /// Bytes that the changes add and take away.
    added: usize,
    removed: usize,
}

/// The sections of changes, in the order of the text.
#[derive(Debug)]
pub(super) struct Sections<'d>(Vec<Section<'d>>);

impl<'d> Sections<'d> {
    /// `None` if a change has no section, or if the scanner did not read the source.
    pub(super) fn of(document: Document<'d>, edit: &mut TextEdit) -> Option<Self> {
        let is_known = document.tree.reader == Reader::Scanner && document.text.ends_with('\n');
        if !is_known || edit.len() > MOST_CHANGES {
            return None;
        }
        let mut found: Vec<Section<'d>> = Vec::new();
        for (range, new) in edit.sorted() {
            let mut section = Section::of(document, &range, new)?;
            (section.added, section.removed) = (new.len(), range.len());
            while let Some(before) = found.pop_if(|before| section.takes_in(before)) {
                section.join(&before);
            }
            match found.last_mut() {
                Some(before) if before.takes_in(&section) => before.join(&section),
                Some(before) if !before.may_precede(&section) => return None,
                _ => found.push(section),
            }
        }
        Some(Self(found))
    }

    /// Whether `text`, the source from `start` on with the changes made, is surely YAML within the limits.
    pub(super) fn are_sound(&self, text: &str, start: usize, options: ParseOptions) -> bool {
        // Where the section before ends, in the source and in the text.
        let mut end = (start, 0);
        let mut is_sound = |section: &Section<'d>| {
            let Range { start, end: source } = section.lines.clone();
            let start = end.1 + (start - end.0);
            end = (
                source,
                start + section.lines.len() + section.added - section.removed,
            );
            let lines = text.get(start..end.1);
            lines.is_some_and(|lines| self.takes(section, lines, options.depth))
        };
        text.len() <= MOST_BYTES && self.0.iter().all(&mut is_sound)
    }

    /// Whether these lines can stand in a section.
    fn takes(&self, section: &Section<'d>, lines: &str, depth: usize) -> bool {
        let collection = section.collection;
        if lines.bytes().all(|byte| byte == b'\n') {
            return !(section.first && section.last);
        }
        let around = std::iter::successors(collection.parent(), NodeRef::parent).count();
        let Some(part) = part(lines, depth + around).filter(|_| lines.ends_with('\n')) else {
            return false;
        };
        let line = lines[..part.start].rfind('\n').map_or(0, |at| at + 1);
        if part.kind != collection.kind() || part.start - line != section.column {
            return false;
        }
        // The scanner finds a key twice in the lines, but not one that another section of the mapping has, too.
        let same = |other: &&Section<'d>| other.collection.id == collection.id;
        let is_alone = self.0.iter().filter(same).count() == 1;
        part.keys.iter().all(|key| {
            let mut keys = collection.entries().map(|entry| entry.key);
            match keys.find(|old| old.scalar_text().map(str::as_bytes) == Some(*key)) {
                Some(old) => section.lines.contains(&old.range().start),
                None => is_alone,
            }
        })
    }
}

impl<'d> Section<'d> {
    /// The section of a change that puts `new` in the place of a range.
    fn of(document: Document<'d>, range: &Range<usize>, new: &str) -> Option<Self> {
        let is_line = document.line_start(range.start) == range.start;
        if is_line && range.is_empty() {
            return Self::between(document, range.start, new);
        }
        let nodes = &document.tree.nodes;
        let next = first_at(document, range.start);
        let begins_here =
            |node: usize| document.line_start(nodes[node].start as usize) == range.start;
        let mut at = if is_line && next < nodes.len() && begins_here(next) {
            next
        } else {
            first_at(document, range.start + 1).checked_sub(1)?
        };
        // The first key, rather than the collections that begin with it.
        while nodes
            .get(at + 1)
            .is_some_and(|node| node.parent == offset(at))
        {
            at += 1;
        }
        let mut child = node(document, at)?;
        loop {
            let collection = child.parent()?;
            if let Some(section) = Self::around(collection, child, range) {
                return Some(section);
            }
            child = collection;
        }
    }

    /// The lines of a block collection from the child on that `child` is or is part of, as far as a range goes.
    fn around(collection: NodeRef<'d>, child: NodeRef<'d>, range: &Range<usize>) -> Option<Self> {
        let document = collection.document;
        let nodes = &document.tree.nodes;
        let (first, head, mut next) = whole_child(collection, child)?;
        let start = document.line_start(head);
        let is_indented = document.text[start..head].bytes().all(|byte| byte == b' ');
        if !is_indented || range.start < start {
            return None;
        }
        loop {
            let below = nodes.get(next);
            let last = below.is_none_or(|node| node.parent != collection.id.0);
            let end = below.map_or(document.text.len(), |node| {
                document.line_start(node.start.min(node.mark) as usize)
            });
            let end = end.min(document_end(document, start)?);
            if range.end <= end {
                return Some(Self {
                    first: first == collection.id.index() + 1,
                    last,
                    ..Self::new(collection, head - start, start..end)
                });
            }
            if last {
                return None;
            }
            next = whole_child(collection, collection.at(offset(next)))?.2;
        }
    }

    /// The place of new lines in front of the line at `at`: between two children of a block collection, or at its ends.
    fn between(document: Document<'d>, at: usize, new: &str) -> Option<Self> {
        let is_content = |line: &&str| !matches!(line.trim_start().as_bytes(), [] | [b'#', ..]);
        let line = new.lines().find(is_content)?;
        let column = line.len() - line.trim_start_matches(' ').len();
        let is_dash = matches!(&line.as_bytes()[column..], [b'-'] | [b'-', b' ', ..]);
        let kind = if is_dash {
            NodeKind::BlockSequence
        } else {
            NodeKind::BlockMapping
        };
        let is_wanted = |node: NodeRef<'_>| {
            node.kind() == kind && document.column(node.range().start) == column
        };
        let place = |collection| Self::new(collection, column, at..at);
        let next = first_at(document, at);
        if let Some(below) = node(document, next)
            && below
                .mark()
                .or_else(|| document_body(below))
                .is_some_and(|above| above <= at)
        {
            // A dash, a colon or the document awaits this node.
            let is_first = document.line_start(below.range().start) >= at && is_wanted(below);
            return is_first.then(|| place(below));
        }
        let mut child = node(document, next.checked_sub(1)?)?;
        loop {
            let collection = child.parent()?;
            if is_wanted(collection) {
                let (.., end) = whole_child(collection, child)?;
                let last = collection.at(offset(end - 1)).range().end;
                let is_behind = end <= next && last <= at && at <= document_end(document, last)?;
                return is_behind.then(|| place(collection));
            }
            child = collection;
        }
    }

    fn new(collection: NodeRef<'d>, column: usize, lines: Range<usize>) -> Self {
        Self {
            collection,
            column,
            lines,
            first: false,
            last: false,
            added: 0,
            removed: 0,
        }
    }

    /// Whether another section is part of this one.
    fn takes_in(&self, other: &Self) -> bool {
        let (lines, others) = (&self.lines, &other.lines);
        let is_same = self.collection.id == other.collection.id;
        let touches = is_same && (lines.start == others.end || lines.end == others.start);
        let is_within = lines.start < others.end && others.start < lines.end;
        touches || (is_within && lines.start <= others.start && others.end <= lines.end)
    }

    /// Takes in the lines and changes of another section.
    fn join(&mut self, other: &Self) {
        let start = self.lines.start.min(other.lines.start);
        self.lines = start..self.lines.end.max(other.lines.end);
        if self.collection.id == other.collection.id {
            self.first |= other.first;
            self.last |= other.last;
        }
        self.added += other.added;
        self.removed += other.removed;
    }

    /// Whether the lines of another section behind this one begin where those of this one leave off: at a line that stays, or
    /// in a collection that is still open.
    fn may_precede(&self, other: &Self) -> bool {
        let document = self.collection.document;
        let Range { start, .. } = other.lines;
        let is_apart = first_at(document, self.lines.end) < first_at(document, start);
        let mut open = std::iter::successors(Some(self.collection), NodeRef::parent);
        self.lines.end <= start && (is_apart || open.any(|node| node.id == other.collection.id))
    }
}

/// The first node that begins at or behind a byte.
fn first_at(document: Document<'_>, at: usize) -> usize {
    let nodes = &document.tree.nodes;
    nodes.partition_point(|node| (node.start as usize) < at)
}

fn node(document: Document<'_>, index: usize) -> Option<NodeRef<'_>> {
    (index < document.tree.nodes.len()).then(|| document.node(NodeId(offset(index))))
}

/// The entry or item of a block collection that `child` is, or is the key or value of: its first node, the byte of its key or
/// dash, and the node behind it.
fn whole_child(collection: NodeRef<'_>, child: NodeRef<'_>) -> Option<(usize, usize, usize)> {
    let first = child.id.index();
    match (collection.kind(), child.mark()) {
        (NodeKind::BlockSequence, Some(dash)) => Some((first, dash, child.raw().next as usize)),
        (NodeKind::BlockMapping, None) => {
            let value = child.at(child.raw().next);
            Some((first, child.range().start, value.raw().next as usize))
        }
        // A key is one node, as the scanner reads no other.
        (NodeKind::BlockMapping, Some(_)) => {
            let key = child.at(offset(first - 1));
            Some((first - 1, key.range().start, child.raw().next as usize))
        }
        _ => None,
    }
}

/// Where the document begins that a node is the root of: behind its marker.
fn document_body(root: NodeRef<'_>) -> Option<usize> {
    let documents = &root.document.tree.documents;
    let found = documents.binary_search_by_key(&root.id, |document| document.root);
    found.ok().map(|at| documents[at].body)
}

/// Where the document ends that holds a byte.
fn document_end(document: Document<'_>, at: usize) -> Option<usize> {
    let documents = &document.tree.documents;
    let found = documents.partition_point(|document| document.end <= at);
    documents
        .get(found)
        .or(documents.last())
        .map(|document| document.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{ParseOptions, Tree};

    const SOURCE: &str = "\
# above
spec:
  replicas: 2 # two
  script: |
    a
      b

  empty:
  list:
  - name: a
    value: x
      y
  - b

  - {c: d}
  -
    e: f
# between
data:
    'k': \"v
      w\"
";

    type Changes<'c> = &'c [(Range<usize>, &'c str)];

    /// What is known of the changes alone (`None` if they overlap), and whether the text with them can be read.
    fn made(source: &str, changes: Changes<'_>) -> Option<(bool, bool)> {
        let tree =
            Tree::parse_fast(source, ParseOptions::default()).expect("a text for the scanner");
        let document = Document::new(source, &tree);
        let mut edit = TextEdit::default();
        for (range, new) in changes {
            edit.replace(range.clone(), (*new).to_owned());
        }
        let sections = Sections::of(document, &mut edit);
        let text = edit.apply(source, 0).ok()?;
        let is_sound =
            sections.is_some_and(|sections| sections.are_sound(&text, 0, ParseOptions::default()));
        Some((
            is_sound,
            Tree::check(&text, ParseOptions::default()).is_ok(),
        ))
    }

    /// A change that puts `new` in the place of `old`, or in front of it if it begins with `^`.
    fn change<'c>(old: &str, new: &'c str) -> (Range<usize>, &'c str) {
        let at = SOURCE.find(old).expect("it is there");
        match new.strip_prefix('^') {
            Some(new) => (at..at, new),
            None => (at..at + old.len(), new),
        }
    }

    #[test]
    fn a_change_is_known_from_its_lines() {
        let table: [&[(&str, &str)]; 14] = [
            &[("2 #", "3 #")],
            &[("2 #", "\n    max: 3\n    min: 1 #")],
            &[("  script: |\n    a\n      b\n\n", "")],
            &[("  script", "^  # new\n  image: a\n")],
            &[("# between", "^  last: 1\n")],
            &[("  replicas", "^  first: 1\n")],
            &[("# above", "^top: 1\n")],
            &[("  - b\n", "")],
            &[("  - b\n", "  - g: h\n    i: j\n")],
            &[("# between", "^  - new\n"), ("# between", "^  last: 1\n")],
            &[("x\n", "z\n"), ("name: a", "name: e")],
            &[("c: d", "c: e"), ("    a\n", "    aa\n"), ("\"v", "\"u")],
            &[("    e", "^    f: g\n")],
            &[("  empty:\n", "  empty: 1\n"), ("  list", "^  more: 2\n")],
        ];
        for changes in table {
            let changes: Vec<_> = changes.iter().map(|(old, new)| change(old, new)).collect();
            assert_eq!(made(SOURCE, &changes), Some((true, true)), "{changes:?}");
        }
    }

    #[test]
    fn what_needs_the_whole_text_is_left_to_it() {
        let table: [(&[(&str, &str)], bool); 9] = [
            // A key twice, in two sections or in one.
            (&[("  script", "^  empty: 1\n")], false),
            (&[("2 #", "2\n  empty: 1 #")], false),
            (
                &[("  replicas", "^  a: 1\n"), ("# between", "^  a: 1\n")],
                false,
            ),
            (&[("# between", "^ a: 1\n")], false),
            (&[("    value", "^    - a\n")], false),
            (&[("  - name", "^- a\n")], false),
            (&[("    e: f", "^  f: g\n")], false),
            // In the order in which the lines come, the inner one is closed.
            (
                &[("# between", "^last: {}\n"), ("# between", "^  - new\n")],
                false,
            ),
            (&[("2 #", "&a 2 #")], true),
        ];
        for (changes, expected) in table {
            let changes: Vec<_> = changes.iter().map(|(old, new)| change(old, new)).collect();
            assert_eq!(
                made(SOURCE, &changes),
                Some((false, expected)),
                "{changes:?}"
            );
        }
    }

    #[test]
    fn no_change_is_known_that_the_whole_text_refuses() {
        let mut state: u64 = 7;
        let mut below = |limit: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % limit
        };
        let behind_dash = format!("- {}", SOURCE.replace('\n', "\n  ").trim_end_matches(' '));
        let documents = format!("{SOURCE}---\n{SOURCE}");
        let compact = "a:\n- b: 1\n  c:\n  - d\n- - e\n  - f\ng:\n- h\n".to_owned();
        let new = [
            "",
            "",
            "\n",
            "a: 1\n",
            "  a: 1\n",
            "  - a\n",
            "- a\n",
            "    a: b\n",
            "    - c: d\n",
            "# c\n",
            "  # c\n",
            "  replicas: 3\n",
            "  x: |\n    y\n",
            "  x:\n",
            "    z",
            "z",
            ": ",
            "- ",
            "\n\n  k: v\n",
            "---\n",
            "  'q': \"r\n",
            "{",
            " #",
        ];
        let (mut known, mut refused) = (0, 0);
        for source in [SOURCE, &behind_dash, &documents, &compact] {
            let lines: Vec<usize> = std::iter::once(0)
                .chain(source.match_indices('\n').map(|(at, _)| at + 1))
                .collect();
            for _ in 0..20_000 {
                let mut changes = Vec::new();
                for _ in 0..=below(3) {
                    // Whole lines for the most part.
                    let mut place = || match below(4) {
                        0 => below(source.len() + 1),
                        _ => lines[below(lines.len())],
                    };
                    let (from, to) = (place(), place());
                    let range = match below(2) {
                        0 => from..from,
                        _ => from.min(to)..from.max(to),
                    };
                    changes.push((range, new[below(new.len())]));
                }
                let Some((is_known, can_be_read)) = made(source, &changes) else {
                    continue;
                };
                assert!(!is_known || can_be_read, "{changes:?} of\n{source}");
                known += usize::from(is_known);
                refused += usize::from(!can_be_read);
            }
        }
        assert!(
            known > 4_000 && refused > 4_000,
            "{known} known, {refused} refused"
        );
    }
}
