//! New entries of block mappings and new items of block sequences, with the comments of their sources.

use super::Emitter;
use super::transcribe::is_simple_key;
use crate::comments::{ValueComments, comments_above};
use crate::content::Content;
use crate::format::Owner;
use crate::node::{EntryRef, NodeRef};
use crate::value::Value;

impl Emitter<'_> {
    /// Writes an entry at a column.
    pub(crate) fn entry(
        &mut self,
        key: &Value,
        content: &Content<'_>,
        source: Option<NodeRef<'_>>,
        column: usize,
    ) {
        if let Some(key) = source {
            self.comments_above(key, column);
        }
        self.line(column);
        match source {
            Some(key) if is_simple_key(key) && matches!(content, Content::Node(_)) => {
                self.key_source(key.source(), column);
            }
            _ => self.key(key, column),
        }
        let value = source.map(|key| EntryRef::of_key(key).value);
        self.part(content, value, Owner::Key(column));
    }

    /// Writes content with the comments around the value that it copies.
    fn part(&mut self, content: &Content<'_>, source: Option<NodeRef<'_>>, owner: Owner) {
        let comments = source.map(ValueComments::of).unwrap_or_default();
        self.with_comments(comments, |emitter| emitter.content(content, owner));
        self.end_part();
    }

    /// Writes an item with its dash at a column.
    pub(crate) fn item(
        &mut self,
        content: &Content<'_>,
        source: Option<NodeRef<'_>>,
        column: usize,
    ) {
        if let Some(item) = source {
            self.comments_above(item, column);
        }
        self.line(column);
        self.dash();
        self.part(content, source, Owner::Dash(column));
    }

    fn comments_above(&mut self, owner: NodeRef<'_>, column: usize) {
        for comment in comments_above(owner) {
            self.whole_line(column, comment);
        }
    }
}
