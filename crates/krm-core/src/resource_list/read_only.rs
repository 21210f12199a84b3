//! Texts that are only read: supplied inputs, and copies of items.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::package::relative_to;
use super::{Form, InputError, Item, ItemId, NewText, ResourceList};
use crate::resource::Resource;
use crate::schema::{Groups, Schema};
use crate::source_text::{Locator, SourceText};
use krm_package::text::Text;
use krm_package::{Package, PackageError};
use krm_yaml::{NodeId, NodeRef};

impl ResourceList {
    /// A list without items, for resources that are only read.
    pub fn read_only() -> Self {
        Self::new(Form::ReadOnly, Vec::new(), Vec::new())
    }

    /// Reserves capacity for this many texts of one resource each.
    pub fn reserve(&mut self, count: usize) {
        self.texts.reserve_exact(count);
        self.items.reserve_exact(count);
    }

    /// Adds a text with its resources; returns the text's index.
    pub fn push_text(
        &mut self,
        text: SourceText,
        resources: impl IntoIterator<Item = (Locator, Resource)>,
    ) -> usize {
        let number = self.texts.len();
        self.texts.push(text);
        let resources = resources.into_iter();
        let items = resources.map(|(locator, resource)| Item::new(resource, number, locator));
        self.items.extend(items);
        number
    }

    /// Hides the items whose files are in a directory of the root package, and returns a list of them with paths
    /// relative to the directory, and the files there. They are unchanged in the output.
    ///
    /// # Errors
    /// An error if a file can no longer be read.
    pub fn take_under(&mut self, directory: &str) -> Result<(Self, Package), PackageError> {
        let root = self.root_package_path().map(str::to_owned);
        let mut taken = ItemSelection::default();
        for item in self.items.iter_mut().filter(|item| !item.hidden) {
            let path = item.resource.origin.path_from(root.as_deref());
            let Some(path) = path
                .as_deref()
                .and_then(|path| relative_to(directory, path))
            else {
                continue;
            };
            item.hidden = true;
            let mut resource = item.resource.clone();
            resource.origin.path = Some(path.into());
            resource.origin.package_path = None;
            taken.push(item, resource, || self.texts[item.text].unedited());
        }
        Ok((taken.list(), self.files_under(directory)?))
    }

    /// Removes items, and returns a list of them with their original texts.
    pub fn extract(&mut self, ids: &BTreeSet<ItemId>) -> Self {
        let mut taken = ItemSelection::default();
        for id in ids {
            let item = &mut self.items[id.0];
            item.hidden = true;
            self.changes.removed.insert(*id);
            let resource = item.resource.clone();
            taken.push(item, resource, || self.texts[item.text].unedited());
        }
        taken.list()
    }

    /// Copies of some items in their current state, sharing their text, for a step that writes a part of one item into
    /// another.
    pub fn copies_of(&self, ids: &[ItemId]) -> Self {
        let mut copies = ItemSelection::default();
        for id in ids {
            let item = &self.items[id.0];
            let resource = item.resource.clone();
            copies.push(item, resource, || self.texts[item.text].snapshot());
        }
        copies.list()
    }

    /// Adds the items of another list of this form, with their texts.
    pub fn append(&mut self, other: Self) {
        let base = self.texts.len();
        self.texts.extend(other.texts);
        self.items.extend(other.items.into_iter().map(|item| Item {
            text: base + item.text,
            ..item
        }));
    }

    /// Turns inserted texts into items.
    pub(super) fn insert_read_only_items(&mut self) -> Result<(), InputError> {
        for NewText { path, text, .. } in std::mem::take(&mut self.changes.inserted) {
            let place = path.clone().unwrap_or_default();
            let (text, documents) = SourceText::documents(Text::from(text))
                .map_err(|error| InputError::Yaml { place, error })?;
            // An inserted text is one document.
            let items = documents.into_iter().flatten().map(|mut resource| {
                resource.origin.path = path.as_deref().map(Arc::from);
                (Locator::Document(0), resource)
            });
            self.push_text(text, items);
        }
        Ok(())
    }

    /// Replaces `*List` items with their elements, if `unfold` returns any.
    pub fn unfold<E>(
        &mut self,
        unfold: impl Fn(NodeRef<'_>, &Resource) -> Result<Option<Vec<(NodeId, Resource)>>, E>,
    ) -> Result<(), E> {
        // The kind shows whether an item is a list, without parsing it.
        let is_list = |item: &Item| item.resource.kind.ends_with("List");
        if !self.items.iter().any(is_list) {
            return Ok(());
        }
        let mut items = Vec::with_capacity(self.items.len());
        for (index, item) in self.items.iter().enumerate() {
            let elements = if is_list(item) {
                unfold(self.node(ItemId(index)), &item.resource)?
            } else {
                None
            };
            match elements {
                None => items.push(item.clone()),
                Some(elements) => {
                    items.extend(elements.into_iter().map(|(node, resource)| {
                        Item::new(resource, item.text, Locator::Node(node))
                    }))
                }
            }
        }
        self.items = items;
        Ok(())
    }
}

/// Items selected from another list, with their texts.
#[derive(Default)]
struct ItemSelection {
    texts: Vec<SourceText>,
    items: Vec<Item>,
    /// The index of each text, by its index in the other list.
    numbers: HashMap<usize, usize>,
}

impl ItemSelection {
    fn push(&mut self, item: &Item, resource: Resource, text: impl FnOnce() -> SourceText) {
        let number = *self.numbers.entry(item.text).or_insert_with(|| {
            self.texts.push(text());
            self.texts.len() - 1
        });
        self.items.push(Item::new(resource, number, item.locator));
    }

    fn list(self) -> ResourceList {
        ResourceList::new(Form::ReadOnly, self.texts, self.items)
    }
}

/// Adds the types of the CustomResourceDefinitions in some lists to a schema.
pub fn with_definitions(schema: Schema, lists: &[&ResourceList]) -> Schema {
    let items = || {
        let lists = lists.iter();
        lists.flat_map(|list| list.items().map(move |(id, resource)| (list, id, resource)))
    };
    let groups = Groups::of(items().map(|(_, _, resource)| resource.group()));
    let definitions = items().filter(|(list, id, resource)| {
        groups.may_be_defined_by(&resource.kind, || list.own_text_of(*id))
    });
    schema.with_custom_kinds(definitions.filter_map(|(list, id, _)| list.custom_kind(id, &groups)))
}
