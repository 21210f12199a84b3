//! Edits of a document that owns its text.

use super::Editor;
use crate::yaml::content::OwnedDocument;
use crate::yaml::error::EditError;
use crate::yaml::node::NodeRef;

impl OwnedDocument {
    /// The text of a document with edits of its root. No tree is made of the new text, which may be long.
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
    /// Those of `change`, and edits whose outcome is no YAML.
    pub fn edit<'f, E: From<EditError>>(
        self,
        change: impl for<'d> FnOnce(NodeRef<'d>, &mut Editor<'d, 'f>) -> Result<(), E>,
    ) -> Result<Self, E> {
        match self.changed(change)? {
            Some(editor) => {
                let spliced = editor.splice()?;
                // Before the tree of the new text is made.
                drop(self);
                Ok(spliced.document()?)
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
