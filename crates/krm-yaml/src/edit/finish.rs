//! Makes all changes in the text, and parses the result again before it is returned.

use super::slots::remove_kept;
use super::{Change, Editor};
use crate::content::OwnedDocument;
use crate::document::Document;
use crate::error::EditError;
use crate::lines::newline_at;
use crate::scalar::Reading;
use crate::text_edit::TextEdit;
use crate::tree::{ParseOptions, Tree};

impl Editor<'_, '_> {
    /// The text with all changes made.
    ///
    /// # Errors
    /// [`EditError::Broken`] if the result does not parse. That is a bug of this program; invalid text is never
    /// returned.
    pub fn finish(self) -> Result<String, EditError> {
        let reading = self.document.tree.reading;
        self.finish_with(ParseOptions { depth: 0, reading })
    }

    /// Like [`Editor::finish`], for a text that is part of another.
    ///
    /// # Errors
    /// As [`Editor::finish`].
    pub fn finish_with(self, options: ParseOptions) -> Result<String, EditError> {
        self.splice()?.checked(options)
    }

    /// Like [`Editor::finish_with`], with the tree of the text.
    ///
    /// # Errors
    /// As [`Editor::finish`].
    pub fn finish_with_tree(self, options: ParseOptions) -> Result<(String, Tree), EditError> {
        self.splice()?.parse(options)
    }

    /// The text with all changes made, and its tree.
    ///
    /// # Errors
    /// As [`Editor::finish`].
    pub fn finish_parsed(self) -> Result<OwnedDocument, EditError> {
        let reading = self.document.tree.reading;
        self.splice()?.document(reading)
    }

    /// Removes the slots of removed entries and items.
    pub(super) fn apply_removals(&mut self) {
        for (id, removed) in std::mem::take(&mut self.removed) {
            if let Some(Change::Slots(slots)) = self.changes.get_mut(&id) {
                remove_kept(slots, &removed);
            }
        }
    }

    pub(super) fn apply_edits(mut self) -> Result<Spliced, EditError> {
        let document = self.document;
        let source = document.text;
        let mut edit = TextEdit::default();
        self.edit_nodes(0..u32::MAX, &mut edit)?;
        for (lines, new) in std::mem::take(&mut self.gaps) {
            edit.replace(lines, new);
        }
        if edit.len() == 0 || source.ends_with('\n') || source.is_empty() {
            // The changes can be large; they are freed before the text is built.
            drop(self);
            let text = edit.apply(source, 0)?;
            return Ok(Spliced { text, cut: None });
        }
        // During the edit, every line ends in a line break.
        let end = source.len();
        if edit.ranges_from(0).any(|range| range.start > end) {
            self.strip_cut_scalar(0..end, &mut edit);
        }
        let last_line = document.line_start(end);
        let untouched = edit.ranges_from(0).all(|range| range.end < last_line);
        let newline = newline_at(source, end);
        let mut text = edit.apply(&format!("{source}{newline}"), 0)?;
        // With mixed line endings, the last one may differ from `newline`.
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let length = line.strip_suffix('\r').unwrap_or(line).len();
        let cut = text.split_off(length);
        let cut = (!untouched).then_some(cut);
        Ok(Spliced { text, cut })
    }
}

/// A text with all changes made, not parsed yet.
#[derive(Debug)]
pub(super) struct Spliced {
    text: String,
    /// The line break that was cut off the end of the text again, if the last line changed.
    cut: Option<String>,
}

impl Spliced {
    /// Parses the text into a document.
    pub(super) fn document(self, reading: Reading) -> Result<OwnedDocument, EditError> {
        let (text, tree) = self.parse(ParseOptions { depth: 0, reading })?;
        Ok(OwnedDocument::new(text, tree))
    }

    fn parse(self, options: ParseOptions) -> Result<(String, Tree), EditError> {
        let Self { text, cut } = self;
        let tree = Tree::parse(&text, options).map_err(EditError::Broken)?;
        let last = Document::new(&text, &tree).last_node();
        let is_block_scalar = last.is_some_and(|last| last.kind().is_block_scalar());
        let Some(cut) = cut.filter(|_| is_block_scalar) else {
            return Ok((text, tree));
        };
        // A new block scalar at the end of the text needs a line break, even if the text had none.
        let whole = format!("{text}{cut}");
        let whole_tree = Tree::parse(&whole, options).map_err(EditError::Broken)?;
        let last = |text, tree| {
            Document::new(text, tree)
                .last_node()
                .and_then(|n| n.scalar_text())
        };
        if last(&text, &tree) == last(&whole, &whole_tree) {
            return Ok((text, tree));
        }
        Ok((whole, whole_tree))
    }

    fn checked(self, options: ParseOptions) -> Result<String, EditError> {
        if self.cut.is_some() {
            return self.parse(options).map(|(text, _)| text);
        }
        Tree::check(&self.text, options).map_err(EditError::Broken)?;
        Ok(self.text)
    }
}
