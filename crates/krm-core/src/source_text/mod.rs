//! A text of the input that is parsed, edited and emitted independently of the others.
//!
//! Invariant: the text is YAML, before and after each edit. Every constructor either parses the text or says where it
//! was accepted; an edit is kept only if its result parses.

mod resources;

pub use resources::{is_krm, parse_document};

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use memchr::memmem::Finder;

use crate::resource::Resource;
use crate::schema::{CustomKind, Groups};
use krm_package::text::Text;
use krm_yaml::{Document, EditError, Editor, NodeId, NodeRef, ParseError, ParseOptions, Tree};

/// A text with its edits so far. It is parsed when its tree is needed, and again after an
/// edit.
#[derive(Debug)]
pub struct SourceText {
    source: Text,
    edited: Option<Text>,
    /// Allocated separately, because most texts never have a tree. Copies share it, whichever is parsed first.
    parsed: OnceLock<Arc<OnceLock<Parsed>>>,
    options: ParseOptions,
}

#[derive(Debug)]
struct Parsed {
    tree: Tree,
    /// Ids of the `items` of a wrapper: counting up to each of them would take quadratic time.
    items: OnceLock<Vec<NodeId>>,
    /// The definitions that were read, by their root nodes: each merge and review with this text needs them.
    custom_kinds: Mutex<Vec<(NodeId, Option<CustomKind>)>>,
}

impl Parsed {
    fn of(tree: Tree) -> Self {
        Self {
            tree,
            items: OnceLock::new(),
            custom_kinds: Mutex::default(),
        }
    }

    /// A tree that is at hand, for a text and its copies.
    fn known(tree: Tree) -> OnceLock<Arc<OnceLock<Self>>> {
        OnceLock::from(Arc::new(OnceLock::from(Self::of(tree))))
    }
}

/// How to find the root node of a resource in its text.
#[derive(Debug, Clone, Copy)]
pub enum Locator {
    /// An item of the list that the text holds: of its root sequence, or of a wrapper's `items`.
    Item(usize),
    /// The root of a document.
    Document(usize),
    /// Any node of a text that is never edited.
    Node(NodeId),
}

impl Locator {
    fn find(self, document: Document<'_>) -> Option<NodeRef<'_>> {
        match self {
            Self::Item(index) => items_of(document.root(0)?).nth(index),
            Self::Document(index) => document.root(index),
            Self::Node(id) => Some(document.node(id)),
        }
    }
}

/// The items of a root sequence, or the `items` of a wrapper.
fn items_of(root: NodeRef<'_>) -> impl Iterator<Item = NodeRef<'_>> {
    let list = if root.kind().is_sequence() {
        Some(root)
    } else {
        root.get("items")
    };
    list.into_iter().flat_map(|list| list.items())
}

/// The text after edits that `SourceText::rewritten` made and parsed.
#[derive(Debug, Default)]
pub struct EditedText {
    text: String,
    /// Its tree, if that is kept.
    tree: Option<Tree>,
}

impl EditedText {
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

/// What becomes of the tree of a text that was edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum EditedTree {
    /// It is built again when it is needed. Most edited texts are only written.
    #[default]
    Dropped,
    Kept,
}

impl Default for SourceText {
    fn default() -> Self {
        Self::accepted(Text::default(), ParseOptions::of_resources(0))
    }
}

impl SourceText {
    /// A text that was accepted before, alone or as part of another, or the text of another tree.
    pub fn accepted(source: Text, options: ParseOptions) -> Self {
        Self {
            source,
            edited: None,
            parsed: OnceLock::new(),
            options,
        }
    }

    /// Parses the text of resources and keeps the tree.
    ///
    /// # Errors
    /// An error if the parser refuses the text.
    pub fn parse(source: Text) -> Result<Self, ParseError> {
        Self::parse_with(source, ParseOptions::of_resources(0))
    }

    /// Parses a ResourceList without its items. kpt writes its functionConfig by YAML 1.2, where `yes` is a string.
    ///
    /// # Errors
    /// An error if the parser refuses the text.
    pub(crate) fn parse_wrapper(source: Text) -> Result<Self, ParseError> {
        Self::parse_with(source, ParseOptions::default())
    }

    fn parse_with(source: Text, options: ParseOptions) -> Result<Self, ParseError> {
        let tree = Tree::parse(&source, options)?;
        Ok(Self {
            parsed: Parsed::known(tree),
            ..Self::accepted(source, options)
        })
    }

    /// Parses the text of resources, passes its document to `read`, and drops the tree.
    ///
    /// # Errors
    /// An error if the parser refuses the text.
    pub(crate) fn read<T>(
        source: Text,
        read: impl FnOnce(Document<'_>) -> T,
    ) -> Result<(Self, T), ParseError> {
        let options = ParseOptions::of_resources(0);
        Self::read_with(source, options, read)
    }

    /// Like [`SourceText::read`], for a text of any kind.
    ///
    /// # Errors
    /// An error if the parser refuses the text.
    pub(crate) fn read_with<T>(
        source: Text,
        options: ParseOptions,
        read: impl FnOnce(Document<'_>) -> T,
    ) -> Result<(Self, T), ParseError> {
        let tree = Tree::parse(&source, options)?;
        let found = read(Document::new(&source, &tree));
        Ok((Self::accepted(source, options), found))
    }

    /// The text with its edits, as the text of a new file.
    pub(crate) fn new_file(&self) -> Self {
        let nothing = Text::default();
        Self {
            edited: Some(self.edited_text()),
            ..Self::accepted(nothing, self.options)
        }
    }

    /// A new text, which must be YAML.
    pub(crate) fn added(text: String, options: ParseOptions) -> Self {
        Self {
            edited: Some(Text::from(text)),
            ..Self::accepted(Text::default(), options)
        }
    }

    /// The original text without its edits, sharing its buffer.
    pub(crate) fn unedited(&self) -> Self {
        Self::accepted(self.source.clone(), self.options)
    }

    /// The text with its edits so far and its tree, sharing both. If it has no tree yet, both share the one that is
    /// built first.
    pub(crate) fn shared(&self) -> Self {
        Self {
            parsed: OnceLock::from(Arc::clone(self.parsed.get_or_init(Arc::default))),
            ..self.snapshot()
        }
    }

    /// A copy of the text with its edits so far, sharing its buffer.
    pub(crate) fn snapshot(&self) -> Self {
        Self::accepted(self.edited_text(), self.options)
    }

    /// The original text, sharing its buffer.
    pub(crate) fn source_text(&self) -> Text {
        self.source.clone()
    }

    /// The text before the original text in the buffer that they share.
    pub(crate) fn before(&self) -> &str {
        self.source.before()
    }

    /// The text with its edits, sharing its buffer.
    pub(crate) fn edited_text(&self) -> Text {
        self.edited.as_ref().unwrap_or(&self.source).clone()
    }

    /// The text to emit: with its edits if they are kept and change anything, else the original.
    pub(crate) fn emitted(&self, keep: bool) -> Text {
        if keep && self.is_changed() {
            self.edited_text()
        } else {
            self.source_text()
        }
    }

    /// The text with its edits.
    pub(crate) fn text(&self) -> &str {
        self.edited.as_ref().unwrap_or(&self.source)
    }

    /// Whether the text with its edits is this one.
    pub(crate) fn has_text(&self, text: &Text) -> bool {
        self.edited.as_ref().unwrap_or(&self.source) == text
    }

    /// Whether the edits change anything.
    pub(crate) fn is_changed(&self) -> bool {
        self.edited
            .as_ref()
            .is_some_and(|edited| **edited != *self.source)
    }

    /// The document of the text with its edits.
    pub fn document(&self) -> Document<'_> {
        Document::new(self.text(), &self.parsed().tree)
    }

    fn parsed(&self) -> &Parsed {
        let shared = self.parsed.get_or_init(Arc::default);
        shared.get_or_init(|| Parsed::of(self.tree()))
    }

    fn tree(&self) -> Tree {
        let text = self.text();
        let tree = Tree::parse_again(text, self.options);
        debug_assert!(tree.is_ok(), "{text}");
        // The text was accepted, so there is no error to report.
        tree.unwrap_or_default()
    }

    /// The root node of a resource in the text.
    pub(crate) fn node(&self, locator: Locator) -> Option<NodeRef<'_>> {
        let document = self.document();
        let Locator::Item(index) = locator else {
            return locator.find(document);
        };
        let root = document.root(0)?;
        if root.kind().is_sequence() {
            return locator.find(document);
        }
        let ids = || items_of(root).map(|item| item.id).collect();
        let ids = self.parsed().items.get_or_init(ids);
        ids.get(index).map(|id| document.node(*id))
    }

    /// The kind that a resource defines, if it is a CustomResourceDefinition of one of the groups. Copies that share the
    /// tree share it.
    pub(crate) fn custom_kind(&self, locator: Locator, groups: &Groups) -> Option<CustomKind> {
        let definition = self.node(locator)?;
        groups.define(definition)?;
        let known = &self.parsed().custom_kinds;
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|(id, _)| *id == definition.id);
        if let Some((_, found)) = found {
            return found.clone();
        }
        let read = CustomKind::of(definition);
        known.push((definition.id, read.clone()));
        read
    }

    /// Reads a resource of the text without keeping a new tree.
    pub(crate) fn read_once<T>(
        &self,
        locator: Locator,
        read: impl FnOnce(NodeRef<'_>) -> T,
    ) -> Option<T> {
        if self.has_tree() {
            return self.node(locator).map(read);
        }
        let tree = self.tree();
        locator.find(Document::new(self.text(), &tree)).map(read)
    }

    /// Makes edits in one batch. If `change` fails, nothing is changed.
    ///
    /// # Errors
    /// The errors of `change`, and edits whose result is not YAML.
    pub(crate) fn edit<'f, E: From<EditError>>(
        &mut self,
        change: impl for<'d> FnOnce(Document<'d>, &mut Editor<'d, 'f>) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(text) = self.rewritten(EditedTree::Dropped, change)? {
            self.keep(text);
        }
        Ok(())
    }

    /// An editor with edits; `None` if there are none.
    fn changed<'s, 'f, E: From<EditError>>(
        &'s self,
        change: impl FnOnce(Document<'s>, &mut Editor<'s, 'f>) -> Result<(), E>,
    ) -> Result<Option<Editor<'s, 'f>>, E> {
        let document = self.document();
        let mut editor = Editor::new(document);
        change(document, &mut editor)?;
        Ok(Some(editor).filter(|editor| !editor.is_empty()))
    }

    /// The text with edits that may borrow from it; `None` if there are none.
    ///
    /// # Errors
    /// As [`SourceText::edit`].
    pub(crate) fn rewritten<'s, 'f, E: From<EditError>>(
        &'s self,
        tree: EditedTree,
        change: impl FnOnce(Document<'s>, &mut Editor<'s, 'f>) -> Result<(), E>,
    ) -> Result<Option<EditedText>, E> {
        let editor = self.changed(change)?;
        let text = editor.map(|editor| self.finished(editor, tree));
        Ok(text.transpose()?)
    }

    fn finished(&self, editor: Editor<'_, '_>, tree: EditedTree) -> Result<EditedText, EditError> {
        Ok(match tree {
            EditedTree::Dropped => EditedText {
                text: editor.finish_with(self.options)?,
                tree: None,
            },
            EditedTree::Kept => {
                let (text, tree) = editor.finish_with_tree(self.options)?;
                let tree = Some(tree);
                EditedText { text, tree }
            }
        })
    }

    /// Stores edits that [`SourceText::rewritten`] made of this text.
    pub(crate) fn keep(&mut self, EditedText { text, tree }: EditedText) {
        self.edited = Some(Text::from(text));
        self.parsed = tree.map_or_else(OnceLock::new, Parsed::known);
    }

    /// Replaces the text of a file. Returns its documents as [`SourceText::documents`] does.
    ///
    /// # Errors
    /// An error if the parser refuses the text.
    pub(crate) fn replace_file(
        &mut self,
        text: String,
    ) -> Result<Vec<Option<Resource>>, ParseError> {
        let (new, documents) = Self::documents(Text::from(text))?;
        self.options = new.options;
        self.edited = Some(new.source);
        self.parsed = OnceLock::new();
        Ok(documents)
    }

    /// Whether its tree is at hand.
    pub(crate) fn has_tree(&self) -> bool {
        let shared = self.parsed.get();
        shared.is_some_and(|shared| shared.get().is_some())
    }

    /// Drops the tree, which is built again when it is needed.
    pub(crate) fn drop_tree(&mut self) {
        self.parsed = OnceLock::new();
    }

    pub(crate) fn clear(&mut self) {
        self.keep(EditedText::default());
    }

    /// Whether one of these words may be in the text. A text with escapes may contain any word.
    pub(crate) fn may_contain(&self, words: &[Finder<'_>]) -> bool {
        let text = self.text().as_bytes();
        words.iter().any(|word| word.find(text).is_some()) || memchr::memchr(b'\\', text).is_some()
    }

    /// Whether the text may have an alias, judging by its characters: a `*`, and the `&` of an anchor, which begins a word.
    pub(crate) fn may_have_aliases(&self) -> bool {
        let text = self.text().as_bytes();
        let begins_anchor = |at: usize| {
            let follows_word = at > 0 && text[at - 1].is_ascii_alphanumeric();
            let has_name = text
                .get(at + 1)
                .is_some_and(|next| !next.is_ascii_whitespace());
            !follows_word && has_name
        };
        memchr::memchr_iter(b'&', text).any(begins_anchor) && memchr::memchr(b'*', text).is_some()
    }

    /// The items of the list that the text holds.
    pub(crate) fn items(&self) -> impl Iterator<Item = NodeRef<'_>> {
        self.root().into_iter().flat_map(items_of)
    }

    /// The root node of the first document.
    pub(crate) fn root(&self) -> Option<NodeRef<'_>> {
        self.document().root(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(text: &str) -> SourceText {
        SourceText::accepted(Text::from(text.to_owned()), ParseOptions::of_resources(0))
    }

    #[test]
    fn copies_share_the_tree_that_is_built_first() {
        let text = accepted("a: 1\n");
        let (one, other) = (text.shared(), text.shared());
        assert!(!text.has_tree() && !one.has_tree());
        assert_eq!(other.document().len(), 1);
        for shared in [&text, &one, &other] {
            assert!(shared.has_tree());
        }
        // An edit is of one copy.
        let mut edited = one.shared();
        let replaced = edited.replace_file("a: 2\n".to_owned());
        assert!(replaced.is_ok() && !edited.has_tree() && text.has_tree());
        assert_eq!(edited.text(), "a: 2\n");
        assert_eq!(text.root().map(|root| root.source()), Some("a: 1"));
    }

    #[test]
    fn texts_with_aliases_are_recognized() {
        for text in [
            "a: &x 1\nb: *x\n",
            "{a: &x 1, b: *x}\n",
            "[&x 1,*x]\n",
            "{\"a\":&x 1, b: *x}\n",
            "- !!str &x a\n- *x\n",
            "&x a: 1\nb: *x\n",
            "? &x a\n: *x\n",
            "--- &x\na: {b: *x}\n",
            "a: &x {b: 1}\nc:\n  <<: *x\n",
            "a: &\u{e9} 1\nb: *\u{e9}\n",
        ] {
            assert!(accepted(text).may_have_aliases(), "{text}");
        }
        for text in [
            "a: '*'\n",
            "a: R&D, *, AWS & others\n",
            "a: x &\nb: '*'\n",
            "a: \"\\u0026 *\"\n",
            "a: &x 1\n",
        ] {
            assert!(!accepted(text).may_have_aliases(), "{text}");
        }
    }
}
