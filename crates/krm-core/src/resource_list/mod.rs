//! The items of a ResourceList or of a package, as views on the texts that they came in.
//!
//! Steps see resources with identities ([`ItemId`]), read and edit their nodes, and insert and remove
//! resources; they see no difference between the outer forms. Each form has a module, which parses the
//! input into texts and items and emits them again:
//!
//! - `stream`: a block ResourceList as kpt and kustomize write it; a text for each item.
//! - `whole`: any other ResourceList; one text.
//! - `package`: the files of a package; a text for each file.
//! - `read_only`: texts that are never emitted; supplied inputs, for example.

mod changes;
mod documents;
mod edit;
mod edit_budget;
mod insert_package;
mod item_document;
mod package;
mod read_only;
mod results;
mod stream;
mod walks;
mod whole;
mod wrapper;

use memchr::memmem::Finder;

pub use changes::{NewResource, NewText};
pub use edit_budget::MOST_ADDED;
pub use item_document::annotate;
pub use item_document::own_text;
pub use package::NotYaml;
pub use read_only::with_definitions;
pub use walks::RefusedWalks;
pub use wrapper::InputError;

use changes::Changes;
use edit_budget::EditBudget;
use package::PackageForm;
use stream::Stream;

use crate::resource::Resource;
use crate::results::Results;
use crate::schema::{CustomKind, Groups};
use crate::source_text::{EditedTree, Locator, SourceText};
use krm_package::text::Text;
use krm_yaml::{EditError, NodeRef};

/// A resource, and where it is in its text.
#[derive(Debug, Clone)]
struct Item {
    resource: Resource,
    /// Index of its text.
    text: usize,
    locator: Locator,
    /// Whether it is only in the output, and not in the package that steps work on.
    hidden: bool,
}

impl Item {
    fn new(resource: Resource, text: usize, locator: Locator) -> Self {
        Self {
            resource,
            text,
            locator,
            hidden: false,
        }
    }
}

/// Identifies an item of a list. It remains valid through edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId(usize);

/// The form of the input that the texts are parts of.
#[derive(Debug)]
enum Form {
    Stream(Stream),
    Whole,
    Package(PackageForm),
    ReadOnly,
}

/// Items, functionConfig and results.
#[derive(Debug)]
pub struct ResourceList {
    form: Form,
    texts: Vec<SourceText>,
    items: Vec<Item>,
    changes: Changes,
    /// How many bytes edits may still add.
    budget: EditBudget,
    /// Of texts that are edited.
    edited_trees: EditedTree,
}

impl ResourceList {
    fn new(form: Form, texts: Vec<SourceText>, items: Vec<Item>) -> Self {
        Self {
            form,
            texts,
            items,
            changes: Changes::default(),
            budget: EditBudget::unlimited(),
            edited_trees: EditedTree::default(),
        }
    }

    /// Reads a ResourceList.
    ///
    /// # Errors
    /// [`InputError`]: not YAML, not a ResourceList, an item that is not a mapping.
    pub fn parse(text: impl Into<Text>) -> Result<Self, InputError> {
        let text = text.into();
        Stream::parse(&text).map_or_else(|| whole::parse(text), Ok)
    }

    /// The text of the ResourceList in pieces, with its results appended. Items have their changes, or (`keep` false)
    /// their original text.
    ///
    /// # Errors
    /// An error if an edit of the wrapper cannot be made.
    pub fn emit(&mut self, results: &Results, keep: bool) -> Result<Vec<Text>, EditError> {
        if !keep {
            self.changes = Changes::default();
        }
        let (texts, changes) = (&mut self.texts, &mut self.changes);
        match &mut self.form {
            Form::Stream(stream) => stream.emit(texts, changes, results, keep),
            Form::Whole => whole::emit(&mut texts[0], changes, results, keep),
            Form::Package(_) | Form::ReadOnly => Ok(Vec::new()),
        }
    }

    /// Turns inserted resources into items, for the steps that follow. Earlier [`ItemId`]s are not valid afterwards.
    pub fn apply_insertions(&mut self) -> Result<(), InputError> {
        match &self.form {
            Form::Package(_) => self.insert_package_items(),
            Form::Stream(_) => self.insert_stream_items(),
            Form::Whole => self.insert_whole_items(),
            Form::ReadOnly => self.insert_read_only_items(),
        }
    }

    /// Keeps the trees of the texts that are edited, for a caller that reads the edited list again.
    pub fn keep_edited_trees(&mut self) {
        self.edited_trees = EditedTree::Kept;
    }

    /// Whether the items come from the files of a package, not from a ResourceList.
    pub fn is_package(&self) -> bool {
        matches!(self.form, Form::Package(_))
    }

    /// All items with their identity, in order.
    pub fn items(&self) -> impl Iterator<Item = (ItemId, &Resource)> {
        self.items
            .iter()
            .enumerate()
            .filter(|(_, item)| !item.hidden)
            .map(|(i, item)| (ItemId(i), &item.resource))
            .filter(|(id, _)| !self.changes.removed.contains(id))
    }

    /// The items that may contain one of these words. The others need not be parsed.
    pub fn items_that_may_contain<'l>(
        &'l self,
        words: &'l [&str],
    ) -> impl Iterator<Item = (ItemId, &'l Resource)> {
        let words: Vec<Finder<'_>> = words.iter().map(Finder::new).collect();
        self.items_of_texts(move |text| text.may_contain(&words))
    }

    /// The items that may have aliases or merge keys. The others need not be parsed.
    pub(crate) fn items_that_may_have_aliases(&self) -> impl Iterator<Item = (ItemId, &Resource)> {
        self.items_of_texts(SourceText::may_have_aliases)
    }

    /// The items of the texts that have a property.
    fn items_of_texts(
        &self,
        is_wanted: impl Fn(&SourceText) -> bool,
    ) -> impl Iterator<Item = (ItemId, &Resource)> {
        // The items of a text are adjacent, so each text is searched once.
        let mut last: Option<(usize, bool)> = None;
        self.items().filter(move |(id, _)| {
            let number = self.items[id.0].text;
            let (_, found) = match last {
                Some(last) if last.0 == number => last,
                _ => (number, is_wanted(&self.texts[number])),
            };
            last = Some((number, found));
            found
        })
    }

    /// Identity and origin of an item.
    pub fn resource(&self, id: ItemId) -> &Resource {
        &self.items[id.0].resource
    }

    /// The root node of an item.
    #[expect(
        clippy::expect_used,
        reason = "an edit after which an item is missing is refused"
    )]
    pub fn node(&self, id: ItemId) -> NodeRef<'_> {
        let item = &self.items[id.0];
        let node = self.texts[item.text].node(item.locator);
        node.expect("edits keep the items of a text")
    }

    /// What comes before the item's text in the text that it was cut from.
    pub fn text_before(&self, id: ItemId) -> &str {
        self.texts[self.items[id.0].text].before()
    }

    /// Reads an item. Its tree is not kept if the item is alone in its text.
    pub fn read<T>(&self, id: ItemId, read: impl FnOnce(NodeRef<'_>) -> T) -> T {
        match self.form {
            Form::Stream(_) => self.read_once(id, read),
            Form::ReadOnly if self.is_alone(id) => self.read_once(id, read),
            _ => read(self.node(id)),
        }
    }

    /// Whether an item is alone in its text.
    pub(crate) fn is_alone(&self, id: ItemId) -> bool {
        let text = |index: usize| self.items.get(index).map(|item| item.text);
        let own = text(id.0);
        text(id.0 + 1) != own && (id.0 == 0 || text(id.0 - 1) != own)
    }

    /// Reads an item without keeping a tree of its file, for files that are read once.
    #[expect(
        clippy::expect_used,
        reason = "an edit after which an item is missing is refused"
    )]
    pub(crate) fn read_once<T>(&self, id: ItemId, read: impl FnOnce(NodeRef<'_>) -> T) -> T {
        let item = &self.items[id.0];
        let found = self.texts[item.text].read_once(item.locator, read);
        found.expect("edits keep the items of a text")
    }

    /// Whether two items that are alone in their texts have the same bytes; `false` if that is not known.
    pub fn is_same_text(&self, id: ItemId, other: &Self, other_id: ItemId) -> bool {
        let text = |list: &'_ Self, id: ItemId| {
            let is_document = matches!(list.items[id.0].locator, Locator::Document(0));
            (is_document && list.is_alone(id)).then(|| list.text_of(id))
        };
        let own = text(self, id);
        own.is_some() && own == text(other, other_id)
    }

    /// The text that holds an item, with its edits.
    pub fn text_of(&self, id: ItemId) -> Text {
        self.texts[self.items[id.0].text].edited_text()
    }

    /// The text of an item; `None` if the text has other items.
    pub(crate) fn own_text_of(&self, id: ItemId) -> Option<Text> {
        self.is_alone(id).then(|| self.text_of(id))
    }

    /// The kind that an item defines, if it is a CustomResourceDefinition of one of the groups.
    fn custom_kind(&self, id: ItemId, groups: &Groups) -> Option<CustomKind> {
        let item = &self.items[id.0];
        self.texts[item.text].custom_kind(item.locator, groups)
    }

    /// Drops the trees of all items.
    pub fn drop_trees(&mut self) {
        self.texts.iter_mut().for_each(SourceText::drop_tree);
    }

    /// Limits the bytes that the edits of a run may add to 16 MB and the size of its inputs: these texts and the
    /// supplied inputs.
    pub fn limit_edits(&mut self, supplied: usize) {
        self.budget = EditBudget::of_inputs(self.length().saturating_add(supplied));
    }

    /// Bytes of the texts.
    pub fn length(&self) -> usize {
        self.texts.iter().map(|text| text.text().len()).sum()
    }

    /// Whether a file of this path is in the package.
    pub fn has_path(&self, package_path: Option<&str>, path: &str) -> bool {
        if matches!(&self.form, Form::Package(package) if package.has(path)) {
            return true;
        }
        let mut origins = self.items.iter().map(|item| &item.resource.origin);
        origins.any(|origin| {
            origin.path.as_deref() == Some(path) && origin.package_path.as_deref() == package_path
        })
    }

    /// The path of the root package; `None` if items do not name their packages.
    pub fn root_package_path(&self) -> Option<&str> {
        let origins = self.items.iter().map(|item| &item.resource.origin);
        let paths = origins.filter_map(|origin| origin.package_path.as_deref());
        paths.min_by_key(|path| path.len())
    }

    /// The paths of the items' files, relative to the root package.
    pub fn paths_from_root(&self, ids: &[ItemId]) -> Vec<Option<String>> {
        let root = self.root_package_path();
        let origins = ids.iter().map(|id| &self.resource(*id).origin);
        origins.map(|origin| origin.path_from(root)).collect()
    }

    /// The functionConfig of the wrapper, unless it is absent, empty or `null`.
    pub fn function_config(&self) -> Option<NodeRef<'_>> {
        let wrapper = match &self.form {
            Form::Stream(stream) => &stream.wrapper,
            Form::Whole => self.texts.first()?,
            Form::Package(_) | Form::ReadOnly => return None,
        };
        wrapper
            .root()?
            .get("functionConfig")
            .filter(|config| !crate::config::is_empty(*config))
    }
}
