//! New entries of block mappings and new items of block sequences, with the comments that they bring
//! along.

use std::collections::HashSet;

use super::Emitter;
use super::transcribe::is_simple_key;
use crate::yaml::comments::{comments_above, line_comment};
use crate::yaml::content::Content;
use crate::yaml::format::Owner;
use crate::yaml::node::{EntryRef, NodeRef};
use crate::yaml::value::Value;

impl Emitter<'_> {
    /// Writes an entry at a column. `without`: comment lines above its source that are left out.
    pub(in crate::yaml) fn entry(
        &mut self,
        key: &Value,
        content: &Content<'_>,
        source: Option<EntryRef<'_>>,
        without: &HashSet<String>,
        column: usize,
    ) {
        if let Some(entry) = source {
            self.comments_above(entry.key, without, column);
        }
        self.line(column);
        match source {
            Some(entry) if is_simple_key(entry.key) && matches!(content, Content::Node(_)) => {
                self.key_source(entry.key.source(), column);
            }
            _ => self.key(key, column),
        }
        let from = self.out.len();
        let tail = self.content(content, Owner::Key(column));
        if let Some(entry) = source {
            self.trailing_comment(entry.value, from, tail);
            self.comment_of_key(entry, content, from);
        }
        self.end_part();
    }

    /// Adds the comment on a key's own line, above its value from `from` on.
    fn comment_of_key(&mut self, entry: EntryRef<'_>, content: &Content<'_>, from: usize) {
        // A node brings the comment on its key's line along.
        let is_below = self.out[from..].starts_with(self.format.newline);
        if is_below
            && matches!(content, Content::Text(_) | Content::Map(_))
            && entry.value.kind().is_block_collection()
            && let Some(comment) = line_comment(entry.key).filter(|comment| !comment.is_empty())
        {
            self.add_to_first_line(from, comment);
        }
    }

    /// Writes an item with its dash at a column. `without`: comment lines above its source that are
    /// left out.
    pub(in crate::yaml) fn item(
        &mut self,
        content: &Content<'_>,
        source: Option<NodeRef<'_>>,
        without: &HashSet<String>,
        column: usize,
    ) {
        if let Some(item) = source {
            self.comments_above(item, without, column);
        }
        self.line(column);
        self.dash();
        let from = self.out.len();
        let tail = self.content(content, Owner::Dash(column));
        if let Some(item) = source {
            self.trailing_comment(item, from, tail);
        }
        self.end_part();
    }

    fn comments_above(&mut self, owner: NodeRef<'_>, without: &HashSet<String>, column: usize) {
        let above = comments_above(owner).into_iter();
        for comment in above.filter(|comment| !without.contains(*comment)) {
            self.whole_line(column, comment);
        }
    }
}
