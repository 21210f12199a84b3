//! A piece of the input that is parsed, edited and written by itself.

use std::cell::OnceCell;

use memchr::memmem::Finder;

use crate::text::Text;
use crate::yaml::{Document, EditError, Editor, NodeId, NodeRef, ParseError, ParseOptions, Tree};

/// Text with its edits so far. The tree is made when somebody asks for it, and made anew after an
/// edit.
#[derive(Debug)]
pub(crate) struct SourceText {
    source: Text,
    edited: Option<Text>,
    /// In a box: most chunks never have one.
    made: OnceCell<Box<Made>>,
    options: ParseOptions,
}

/// What is made of a text when somebody asks for it.
#[derive(Debug)]
struct Made {
    tree: Tree,
    /// The items of a wrapper: to count to each anew would take quadratic time.
    items: OnceCell<Vec<NodeId>>,
}

impl From<Tree> for Box<Made> {
    fn from(tree: Tree) -> Self {
        Box::new(Made {
            tree,
            items: OnceCell::new(),
        })
    }
}

/// The tree of a text, with aliases and merge keys read as what they stand for.
fn read(text: &str, options: ParseOptions) -> Result<Tree, ParseError> {
    Ok(Tree::parse(text, options)?.expanded(text))
}

impl SourceText {
    /// Wraps a text that [`SourceText::check`] accepts.
    #[must_use]
    pub(crate) fn new(source: Text, options: ParseOptions) -> Self {
        Self {
            source,
            edited: None,
            made: OnceCell::new(),
            options,
        }
    }

    /// A text of one item or file that was not there; [`SourceText::check`] must accept it.
    #[must_use]
    pub(crate) fn added(text: String, options: ParseOptions) -> Self {
        Self {
            edited: Some(Text::from(text)),
            ..Self::new(Text::from(String::new()), options)
        }
    }

    /// Parses a text and keeps the tree.
    ///
    /// # Errors
    /// What the parser refuses.
    pub(crate) fn parse(source: Text) -> Result<Self, ParseError> {
        let options = ParseOptions::default();
        let tree = read(&source, options)?;
        Ok(Self {
            made: OnceCell::from(Box::from(tree)),
            ..Self::new(source, options)
        })
    }

    /// Another chunk of the text as it came, sharing its buffer.
    #[must_use]
    pub(crate) fn unedited(&self) -> Self {
        Self::new(self.source.clone(), self.options)
    }

    /// Another chunk of the text with all edits, sharing its buffer.
    #[must_use]
    pub(crate) fn copy(&self) -> Self {
        let text = self.edited.as_ref().unwrap_or(&self.source);
        Self::new(text.clone(), self.options)
    }

    /// Parses the text and hands the document to `read`; keeps nothing of the tree.
    ///
    /// # Errors
    /// What the parser refuses.
    pub(crate) fn check<T>(
        text: &str,
        options: ParseOptions,
        read: impl FnOnce(Document<'_>) -> T,
    ) -> Result<T, ParseError> {
        let tree = self::read(text, options)?;
        Ok(read(Document::new(text, &tree)))
    }

    /// The text as it came, sharing its buffer.
    #[must_use]
    pub(crate) fn source_text(&self) -> Text {
        self.source.clone()
    }

    /// The text with all edits, sharing its buffer.
    #[must_use]
    pub(crate) fn edited_text(&self) -> Text {
        self.edited.as_ref().unwrap_or(&self.source).clone()
    }

    /// What is put out: the text with its edits, if those are to be kept and change anything, else the
    /// text as it came.
    #[must_use]
    pub(crate) fn put_out(&self, keep: bool) -> Text {
        match keep && self.is_changed() {
            true => self.edited_text(),
            false => self.source_text(),
        }
    }

    /// The text with all edits.
    #[must_use]
    pub(crate) fn text(&self) -> &str {
        self.edited.as_ref().unwrap_or(&self.source)
    }

    /// Whether the text differs from what came.
    #[must_use]
    pub(crate) fn is_changed(&self) -> bool {
        self.edited
            .as_ref()
            .is_some_and(|edited| **edited != *self.source)
    }

    /// The document of the text with all edits.
    #[must_use]
    pub(crate) fn document(&self) -> Document<'_> {
        // Every chunk was parsed when it was read, and every edit is parsed before it is kept.
        let parse = || read(self.text(), self.options).unwrap_or_default();
        let made = self.made.get_or_init(|| parse().into());
        Document::new(self.text(), &made.tree)
    }

    /// Reads the document of the text with all edits, and keeps no tree that is not there already.
    pub(crate) fn read_once<T>(&self, read: impl FnOnce(Document<'_>) -> T) -> T {
        if self.made.get().is_some() {
            return read(self.document());
        }
        let tree = self::read(self.text(), self.options).unwrap_or_default();
        read(Document::new(self.text(), &tree))
    }

    /// Makes edits. If `change` fails, nothing is changed.
    ///
    /// # Errors
    /// Those of `change`, and an edit that would leave no YAML.
    pub(crate) fn edit<'f, E: From<EditError>>(
        &mut self,
        change: impl for<'d> FnOnce(Document<'d>, &mut Editor<'d, 'f>) -> Result<(), E>,
    ) -> Result<(), E> {
        let document = self.document();
        let mut editor = Editor::new(document);
        change(document, &mut editor)?;
        if editor.is_empty() {
            return Ok(());
        }
        let spliced = editor.splice()?;
        // Two trees of a large text need not be there at a time.
        self.made = OnceCell::new();
        let (text, tree) = spliced.parse(self.options)?;
        self.made = OnceCell::from(Box::from(tree.expanded(&text)));
        self.edited = Some(Text::from(text));
        Ok(())
    }

    /// The text with edits made of what is read of itself; `None` if there are none.
    ///
    /// # Errors
    /// Those of `change`.
    pub(crate) fn rewritten<'s, E: From<EditError>>(
        &'s self,
        change: impl FnOnce(Document<'s>, &mut Editor<'s, 's>) -> Result<(), E>,
    ) -> Result<Option<String>, E> {
        let document = self.document();
        let mut editor = Editor::new(document);
        change(document, &mut editor)?;
        match editor.is_empty() {
            true => Ok(None),
            false => Ok(Some(editor.finish_with(self.options)?.0)),
        }
    }

    /// Puts another text in place of what there is; [`SourceText::check`] or [`SourceText::rewritten`] must
    /// have accepted it.
    pub(crate) fn rewrite(&mut self, text: String) {
        self.edited = Some(Text::from(text));
        self.made = OnceCell::new();
    }

    /// Drops the tree, which is made again if somebody asks for it.
    pub(crate) fn drop_tree(&mut self) {
        self.made = OnceCell::new();
    }

    /// Whether one of these words may stand in the text, escapes in quoted scalars included.
    pub(crate) fn may_contain(&self, words: &[Finder<'_>]) -> bool {
        let text = self.text().as_bytes();
        words.iter().any(|word| word.find(text).is_some()) || memchr::memchr(b'\\', text).is_some()
    }

    /// An item of a wrapper that was read as a whole.
    pub(crate) fn item_of_wrapper(&self, index: usize) -> Option<NodeRef<'_>> {
        let document = self.document();
        let find = || {
            let items = document.root(0).and_then(|root| root.get("items"));
            let items = items.into_iter().flat_map(|items| items.items());
            items.map(|item| item.id).collect()
        };
        let ids: &Vec<NodeId> = self.made.get()?.items.get_or_init(find);
        ids.get(index).map(|id| document.node(*id))
    }

    /// The only root node of the text.
    #[must_use]
    pub(crate) fn root(&self) -> Option<NodeRef<'_>> {
        self.document().root(0)
    }
}
