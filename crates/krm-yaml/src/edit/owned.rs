//! Edits of a document that owns its text.

use super::Editor;
use crate::content::OwnedDocument;
use crate::error::EditError;
use crate::node::NodeRef;

impl OwnedDocument {
    /// The text of a document with edits of its root. The new text is checked without building its tree, because it may
    /// be long.
    ///
    /// # Errors
    /// As [`OwnedDocument::edit`].
    pub fn edited<'f, E: From<EditError>>(
        text: String,
        change: impl for<'d> FnOnce(NodeRef<'d>, &mut Editor<'d, 'f>) -> Result<(), E>,
    ) -> Result<String, E> {
        let document = Self::parse(text).map_err(EditError::Broken)?;
        match document.changed(change)? {
            Some(editor) => Ok(editor.finish()?),
            None => Ok(document.text),
        }
    }

    /// The document with edits of its root, parsed again if there are any.
    ///
    /// # Errors
    /// The errors of `change`, and [`EditError::Broken`] if the result is not YAML.
    pub fn edit<'f, E: From<EditError>>(
        self,
        change: impl for<'d> FnOnce(NodeRef<'d>, &mut Editor<'d, 'f>) -> Result<(), E>,
    ) -> Result<Self, E> {
        match self.changed(change)? {
            Some(editor) => {
                let spliced = editor.splice()?;
                let reading = self.document().tree.reading;
                // Freed before the tree of the new text is built.
                drop(self);
                Ok(spliced.document(reading)?)
            }
            None => Ok(self),
        }
    }

    /// An editor with edits of the root; `None` if there are none.
    fn changed<'d, 'f, E>(
        &'d self,
        change: impl FnOnce(NodeRef<'d>, &mut Editor<'d, 'f>) -> Result<(), E>,
    ) -> Result<Option<Editor<'d, 'f>>, E> {
        let Some(root) = self.root() else {
            return Ok(None);
        };
        let mut editor = Editor::new(self.document());
        change(root, &mut editor)?;
        Ok(Some(editor).filter(|editor| !editor.is_empty()))
    }
}
