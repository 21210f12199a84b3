//! Edits of metadata alone: where the scanner read the text only the heads of its resources are parsed.

use super::{EditedText, SourceText};
use crate::identity;
use crate::yaml::scan::IN_USE;
use crate::yaml::{Document, EditError, Editor, NodeRef, ParseOptions, Tree, scanned_documents};

impl SourceText {
    /// As [`SourceText::edit_last`], for changes of the documents with these numbers, in their order, that look at and touch nothing
    /// but metadata. A document whose `change` fails stays as it is, and `refused` gets the error; both get its place among
    /// the numbers.
    ///
    /// False where the text has to be edited as a whole.
    pub(crate) fn edit_heads<'f, E: From<EditError>>(
        &mut self,
        numbers: &[usize],
        mut change: impl for<'d> FnMut(usize, NodeRef<'d>, &mut Editor<'d, 'f>) -> Result<(), E>,
        mut refused: impl FnMut(usize, E),
    ) -> bool {
        let is_source = self.is_scanned && self.edited.is_none() && self.parsed.get().is_none();
        if !IN_USE || !is_source || !self.source.ends_with('\n') || !numbers.is_sorted() {
            return false;
        }
        let text: &str = &self.source;
        let documents = scanned_documents(text);
        if numbers.last().is_some_and(|last| *last >= documents.len()) {
            return false;
        }
        let mut new = String::with_capacity(text.len() + numbers.len() * USUAL_GROWTH);
        let mut behind = 0;
        for (at, number) in numbers.iter().enumerate() {
            let document = documents[*number].clone();
            let start = document.start;
            let document = &text[document];
            let head = identity::head(document, 0).unwrap_or(document);
            match edited(head, self.options, |node, editor| change(at, node, editor)) {
                Ok(Some(edited)) => {
                    new.push_str(&text[behind..start]);
                    new.push_str(&edited);
                    behind = start + head.len();
                }
                Ok(None) => {}
                Err(error) => refused(at, error),
            }
        }
        if behind > 0 {
            new.push_str(&text[behind..]);
            debug_assert!(Tree::check(&new, self.options).is_ok(), "{new}");
            self.keep(EditedText(new));
        }
        true
    }
}

/// Bytes that an annotation takes, or two.
const USUAL_GROWTH: usize = 200;

/// The text of one document with changes; `None` if there are none.
fn edited<'f, E: From<EditError>>(
    text: &str,
    options: ParseOptions,
    change: impl for<'d> FnOnce(NodeRef<'d>, &mut Editor<'d, 'f>) -> Result<(), E>,
) -> Result<Option<String>, E> {
    let tree = Tree::parse_again(text, options).map_err(EditError::Broken)?;
    let document = Document::new(text, &tree);
    let Some(root) = document.root(0) else {
        return Ok(None);
    };
    let mut editor = Editor::new(document);
    change(root, &mut editor)?;
    if let Some((_, error)) = editor.settle(&[root]).pop() {
        return Err(error.into());
    }
    if editor.is_empty() {
        return Ok(None);
    }
    Ok(Some(editor.finish_checked(options)?))
}
