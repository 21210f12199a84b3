//! The comments of an entry or item: on the lines directly above it, and around its value.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use super::document::Document;
use super::node::{EntryRef, NodeRef};
use super::tree::{NodeId, NodeKind};

/// The comments around the value of an entry or item. Comments after text include the white space before them:
///
/// ```yaml
/// plain: value # tail
/// block: |     # tail
///   text
/// list:        # head
/// - item
/// below:       # head
///   # between
///   value      # tail
/// ```
#[derive(Debug, Clone, Default)]
pub struct ValueComments<'a> {
    /// On the line of the indicator, if the value begins on a later line.
    pub(super) head: Option<Cow<'a, str>>,
    /// On separate lines between the indicator and a value that is not a block collection.
    pub(super) between: Vec<Cow<'a, str>>,
    /// At the end of the value, or of the header of a block scalar.
    pub(super) tail: Option<Cow<'a, str>>,
}

impl<'a> ValueComments<'a> {
    /// The comments around a value. In a flow collection, only the comment after the value counts.
    pub fn of(value: NodeRef<'a>) -> Self {
        let value = value.written();
        let document = value.document;
        let parent = value.parent().map(|parent| parent.kind());
        if parent.is_some_and(|parent| !parent.is_block_collection()) {
            let tail = comment_in_flow(value).map(|comment| Cow::Owned(format!(" {comment}")));
            return Self {
                tail,
                ..Self::default()
            };
        }
        let comment = |at: usize| comment_after(document, at).map(Cow::Borrowed);
        let mut comments = Self::default();
        if let Some(head) = head_place(value) {
            comments.head = comment(head);
            let lines = document.text[lines_between(value, head)].lines();
            let lines = lines.map(str::trim).filter(|line| line.starts_with('#'));
            comments.between.extend(lines.map(Cow::Borrowed));
        }
        let kind = value.kind();
        if kind.is_block_collection() {
            comments.between.clear();
        } else if kind.is_block_scalar() {
            comments.tail = comment(header_end(value));
        } else {
            comments.tail = comment(value_end(value));
        }
        comments
    }

    /// Only a comment at the end of the value's line; no comment if `comment` is empty.
    pub(super) fn after(comment: &'a str) -> Self {
        let tail = (!comment.is_empty()).then(|| Cow::Owned(format!(" {comment}")));
        Self {
            tail,
            ..Self::default()
        }
    }

    /// The comments from top to bottom, trimmed.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let head = self.head.iter().chain(&self.between);
        head.chain(&self.tail).map(|comment| comment.trim())
    }

    /// All comments in one, with the white space before it. Empty if there are none.
    pub(super) fn in_line(&self) -> Cow<'_, str> {
        let spaced = self.head.iter().chain(&self.tail);
        let mut spaced = spaced.filter(|comment| comment.starts_with([' ', '\t']));
        match spaced.next() {
            Some(comment) if self.count() == 1 => Cow::Borrowed(comment),
            _ => self.iter().map(|comment| format!(" {comment}")).collect(),
        }
    }

    /// Whether a comment contains a text.
    pub fn contains(&self, text: &str) -> bool {
        self.iter().any(|comment| comment.contains(text))
    }

    pub(super) fn count(&self) -> usize {
        self.between.len() + usize::from(self.head.is_some()) + usize::from(self.tail.is_some())
    }

    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The same comments without the text that they are in.
    #[must_use]
    pub fn into_owned(self) -> ValueComments<'static> {
        let owned = |comment: Cow<'a, str>| Cow::Owned(comment.into_owned());
        ValueComments {
            head: self.head.map(owned),
            between: self.between.into_iter().map(owned).collect(),
            tail: self.tail.map(owned),
        }
    }
}

/// Compares the texts of the comments, not their places.
impl PartialEq for ValueComments<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for ValueComments<'_> {}

impl Hash for ValueComments<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.iter().for_each(|comment| comment.hash(state));
    }
}

/// The end of a value's indicator, anchor and tag, if its content begins on a later line.
pub(super) fn head_place(value: NodeRef<'_>) -> Option<usize> {
    let document = value.document;
    let properties = value.properties_range().map(|range| range.end);
    let at = properties.or(value.indicator().map(|indicator| indicator + 1))?;
    (at <= document.line_start(value.range().start)).then_some(at)
}

/// The lines between the line of `head`, which has the indicator of a value, and the value.
pub(super) fn lines_between(value: NodeRef<'_>, head: usize) -> std::ops::Range<usize> {
    let document = value.document;
    let line = document.line_start(value.range().start);
    (document.line_end(head) + 1).min(line)..line
}

/// The end of a value, or of its indicator if the value is empty.
pub(super) fn value_end(value: NodeRef<'_>) -> usize {
    let indicator = value.indicator().map_or(0, |indicator| indicator + 1);
    value.range().end.max(indicator)
}

/// The comment at the end of the line of an entry (by its key) or item, from its `#`. Empty if there
/// is none, `None` if there cannot be one.
#[must_use]
pub fn line_comment(owner: NodeRef<'_>) -> Option<&str> {
    let owner = owner.written();
    let at = comment_place(owner)?;
    Some(comment_after(owner.document, at).unwrap_or_default().trim())
}

/// The white space at `at` and the comment after it, up to the end of the line. `None` if no comment follows.
pub(super) fn comment_after(document: Document<'_>, at: usize) -> Option<&str> {
    let rest = &document.text[at..];
    let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let comment = document.comment_at(at + blank)?;
    Some(rest[..blank + comment.len()].trim_end_matches('\r'))
}

/// Where an entry (by its key) or an item begins.
pub(super) fn unit_start(owner: NodeRef<'_>) -> usize {
    let start = owner.outer_start();
    owner.indicator().unwrap_or(start).min(start)
}

/// The place of the comment at the end of an entry's or item's line, including the white space before it. If there is
/// no comment, the place for a new one: after the value, after the header of a block scalar, or after the indicator of
/// a block collection. `None` if no comment can be there.
pub(super) fn comment_place(owner: NodeRef<'_>) -> Option<usize> {
    let document = owner.document;
    let value = value_of(owner)?;
    let head = head_place(value);
    if let Some(head) = head.filter(|head| comment_after(document, *head).is_some()) {
        return Some(head);
    }
    let at = match value.kind() {
        kind if kind.is_block_scalar() => header_end(value),
        kind if kind.is_block_collection() => head?,
        _ => {
            value.indicator()?;
            value_end(value)
        }
    };
    let rest = document.text[at..document.line_end(at)].trim();
    (rest.is_empty() || comment_after(document, at).is_some()).then_some(at)
}

/// The value of an entry (by its key) of a block mapping, or an item of a block sequence.
pub(super) fn value_of(owner: NodeRef<'_>) -> Option<NodeRef<'_>> {
    match owner.parent()?.kind() {
        NodeKind::BlockSequence => Some(owner),
        NodeKind::BlockMapping => Some(owner.document.node(NodeId(owner.raw().next))),
        _ => None,
    }
}

/// The comment lines directly above an entry (by its key) or item, each from its `#`.
#[must_use]
pub fn comments_above(node: NodeRef<'_>) -> Vec<&str> {
    let node = node.written();
    let document = node.document;
    let start = document.line_start(unit_start(node));
    // This is the first entry after a dash: the comments above belong to the item.
    if !document.text[start..unit_start(node)]
        .trim_start()
        .is_empty()
    {
        return Vec::new();
    }
    let head = head_start(document, start, document.column(node.outer_start()), 0);
    document.text[head..start].lines().map(str::trim).collect()
}

/// The start of the comment lines directly above the line at `line`, but not before `floor`. A comment that is indented
/// deeper belongs to the text above it.
pub(super) fn head_start(
    document: Document<'_>,
    line: usize,
    column: usize,
    floor: usize,
) -> usize {
    let mut start = line;
    while start > floor && document.text[..start].ends_with('\n') {
        let above = document.line_start(start - 1);
        let text = &document.text[above..start];
        let indent = text.len() - text.trim_start_matches([' ', '\t']).len();
        if above < floor || indent > column || document.comment_at(above + indent).is_none() {
            break;
        }
        start = above;
    }
    start
}

/// The indicators after the `|` or `>` of a block scalar.
pub(super) fn block_indicators(node: NodeRef<'_>) -> &str {
    let after = &node.source()[1..];
    let is_indicator = |c: char| matches!(c, '+' | '-' | '1'..='9');
    &after[..after.find(|c| !is_indicator(c)).unwrap_or(after.len())]
}

/// The offset after the indicators of a block scalar.
pub(super) fn header_end(node: NodeRef<'_>) -> usize {
    node.range().start + 1 + block_indicators(node).len()
}

/// The comment after an entry or item of a flow collection and its comma, from its `#`.
pub(super) fn comment_in_flow(value: NodeRef<'_>) -> Option<&str> {
    let value = value.written();
    let document = value.document;
    let end = value
        .range()
        .end
        .max(value.indicator().map_or(0, |indicator| indicator + 1));
    let rest = &document.text[end..];
    let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let after = if rest[blank..].starts_with(',') {
        end + blank + 1
    } else {
        end
    };
    comment_after(document, after).map(str::trim)
}

/// The end of an entry: the end of its value, or of its colon if it has no value.
pub(super) fn entry_end(entry: EntryRef<'_>) -> usize {
    let (key, value) = (entry.key.written(), entry.value.written());
    let indicator = value.indicator().map_or(0, |indicator| indicator + 1);
    value.range().end.max(key.range().end).max(indicator)
}

/// Whether elements of a list, or entries of a mapping, have comments: above, after or inside them.
#[must_use]
pub fn has_comments(collection: NodeRef<'_>) -> bool {
    let text = collection.document.text;
    let entries = collection.entries().map(|entry| entry.value);
    let Some(last) = collection.items().chain(entries).last() else {
        return false;
    };
    // A comment on the line of the collection's key belongs to the key.
    let indicator = collection.indicator().unwrap_or(collection.range().start);
    let line_end = |at: usize| memchr::memchr(b'\n', &text.as_bytes()[at..]).map(|n| at + n);
    let on_one_line = !text[indicator..collection.range().start].contains('\n');
    let start = match line_end(indicator) {
        Some(end) if !on_one_line => end,
        _ => indicator,
    };
    let end = line_end(last.range().end.max(start)).unwrap_or(text.len());
    collection
        .document
        .comments()
        .any(|comment| comment.start >= start && comment.end <= end)
}
