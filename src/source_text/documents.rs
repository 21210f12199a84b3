//! Edits of documents one by one: where the scanner read the text each is parsed alone, and of most only the metadata.

use std::ops::Range;

use super::{EditedText, SourceText};
use crate::identity;
use crate::text::Text;
use crate::yaml::scan::is_in_use;
use crate::yaml::{Document, EditError, Editor, NodeRef, ParseOptions, Tree};

/// What an edit of a resource looks at and touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Nothing but metadata.
    Metadata,
    /// Any part of it.
    Whole,
}

impl Extent {
    fn of(self, document: &str) -> &str {
        match self {
            Self::Metadata => identity::head(document, 0).unwrap_or(document),
            Self::Whole => document,
        }
    }
}

impl SourceText {
    /// The documents of the text that can be edited one by one, by their numbers; `None` where the text has to be edited as a
    /// whole.
    pub(crate) fn editable_documents(&self) -> Option<Vec<Range<usize>>> {
        let is_source = self.is_scanned && self.edited.is_none() && self.parsed.get().is_none();
        let is_editable = is_in_use() && is_source && self.source.ends_with('\n');
        self.scanned_documents().filter(|_| is_editable)
    }

    /// One of the [`SourceText::editable_documents`] with a change, as a text of its own.
    ///
    /// # Errors
    /// Those of `change` and of the edits.
    pub(crate) fn edited_document<'f, E: From<EditError>>(
        &self,
        document: Range<usize>,
        extent: Extent,
        change: impl for<'d> FnOnce(NodeRef<'d>, &mut Editor<'d, 'f>) -> Result<(), E>,
    ) -> Result<Self, E> {
        let document = self.source.slice(document);
        let head = extent.of(&document);
        let document = match edited(head, self.options, change)? {
            Some(edited) => Text::from(edited + &document[head.len()..]),
            None => document,
        };
        debug_assert!(
            Tree::parse_fast(&document, self.options).is_some(),
            "{}",
            &*document
        );
        Ok(Self::scanned(document, self.options))
    }

    /// As [`SourceText::edit`], for changes of the documents with these numbers, in their order. A document whose `change`
    /// fails stays as it is, and `refused` gets the error; both get its place among the numbers.
    ///
    /// False where the text has to be edited as a whole.
    pub(crate) fn edit_documents<'f, E: From<EditError>>(
        &mut self,
        documents: &[(usize, Extent)],
        mut change: impl for<'d> FnMut(usize, NodeRef<'d>, &mut Editor<'d, 'f>) -> Result<(), E>,
        mut refused: impl FnMut(usize, E),
    ) -> bool {
        let in_order = documents.is_sorted_by_key(|(number, _)| *number);
        let Some(ranges) = self.editable_documents().filter(|_| in_order) else {
            return false;
        };
        let text: &str = &self.source;
        if documents
            .last()
            .is_some_and(|(last, _)| *last >= ranges.len())
        {
            return false;
        }
        let mut new = String::new();
        let mut behind = 0;
        for (at, (number, extent)) in documents.iter().enumerate() {
            let start = ranges[*number].start;
            let document = &text[ranges[*number].clone()];
            let head = extent.of(document);
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
        if behind == 0 {
            return true;
        }
        new.push_str(&text[behind..]);
        // Thousands of such texts can be there at a time.
        new.shrink_to_fit();
        self.keep(EditedText(new));
        self.is_scanned = true;
        debug_assert!(
            Tree::parse_fast(self.text(), self.options).is_some(),
            "{}",
            self.text()
        );
        true
    }
}

/// The text of one document with changes; `None` if there are none.
fn edited<'f, E: From<EditError>>(
    text: &str,
    options: ParseOptions,
    change: impl for<'d> FnOnce(NodeRef<'d>, &mut Editor<'d, 'f>) -> Result<(), E>,
) -> Result<Option<String>, E> {
    let tree = Tree::parse_scanned(text, options).map_err(EditError::Broken)?;
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
    Ok(Some(editor.finish_with(options)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Content, Value};

    fn annotate<'d>(node: NodeRef<'d>, editor: &mut Editor<'d, '_>) -> Result<(), EditError> {
        let Some(metadata) = node.get("metadata") else {
            return Ok(());
        };
        let set = |editor: &mut Editor<'d, '_>, mapping, key: &str, value| {
            editor.set(mapping, key, Content::Value(value))
        };
        match metadata.get("annotations") {
            Some(annotations) => set(editor, annotations, "b", Value::from("c")),
            None => {
                let new = Value::Mapping(vec![(Value::from("b"), Value::from("c"))]);
                set(editor, metadata, "annotations", new)
            }
        }
    }

    #[test]
    fn a_document_is_within_the_limit_of_its_file() {
        let text = "kind: A\n---\n".to_owned() + &"- a\n".repeat(1_250_000);
        let (file, _) = SourceText::documents(Text::from(text)).expect("within the limit");
        let ranges = file.scanned_documents().expect("read by the scanner");
        let last = file.source_text().slice(ranges[1].clone());
        let alone = SourceText::scanned(last, ParseOptions::default());
        let items = alone.document().root(0).map(|root| root.items().count());
        assert_eq!(items, Some(1_250_000));
    }

    #[test]
    fn a_document_of_rare_syntax_is_within_the_limit_of_its_file() {
        let rare = "- &a x\n".to_owned() + &"- 1\n".repeat(260_000);
        let text = format!("{rare}---\n# {}\nkind: A\n", "x".repeat(2_000_000));
        SourceText::parse(Text::from(text)).expect("within the limit");
        let alone = SourceText::accepted(Text::from(rare), ParseOptions::default());
        let items = alone.document().root(0).map(|root| root.items().count());
        assert_eq!(items, Some(260_001));
    }

    #[test]
    fn documents_edited_alone_are_those_of_the_whole_text() {
        let documents = [
            "kind: A\nmetadata:\n  name: a\nspec:\n  - x\n",
            "kind: A\nmetadata:\n  name: a # b\n  # below\n\n# above\nspec: {}\n",
            "kind: A\nmetadata:\n    name: a\n    annotations: # c\n        x: y\n    # d\nspec:\n    a: 1\n",
            "# head\n\nmetadata: {name: a}\nkind: A\n",
            "spec:\n- a: |\n    text\n\n\nmetadata:\n  annotations: {a: b} # c\n",
            "metadata:\n  name: |\n    a\n    b\n\nspec: 1\n",
            "spec: 1\n",
            "metadata:\n  annotations:\n    a: \"b\"\n  name: a\n",
        ];
        let crlf = documents.map(|text| text.replace('\n', "\r\n"));
        let all = documents.map(str::to_owned).into_iter().chain(crlf);
        let all: Vec<String> = all.collect();
        let pairs = all.iter().flat_map(|one| {
            let line = if one.contains('\r') {
                "---\r\n"
            } else {
                "---\n"
            };
            let others = all.iter();
            let alike = others.filter(|other| other.contains('\r') == one.contains('\r'));
            alike.map(move |other| format!("{one}{line}{other}"))
        });
        for text in pairs.chain(all.clone()) {
            let count = 1 + text.matches("---").count();
            let source = || SourceText::scanned(Text::from(text.clone()), ParseOptions::default());
            let (mut alone, mut whole) = (source(), source());
            let numbers: Vec<_> = (0..count).map(|n| (n, Extent::Metadata)).collect();
            let is_edited = alone.edit_documents::<EditError>(
                &numbers,
                |_, node, editor| annotate(node, editor),
                |_, error| panic!("{error}"),
            );
            assert!(is_edited || !is_in_use());
            let edited = whole.edit::<EditError>(|document, editor| {
                let mut roots = (0..document.len()).filter_map(|index| document.root(index));
                roots.try_for_each(|root| annotate(root, editor))
            });
            edited.expect("edits");
            if is_edited {
                assert_eq!(alone.text(), whole.text(), "{text}");
            }
        }
    }
}
