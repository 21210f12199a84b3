//! Inserts a package into a list.

use std::sync::Arc;

use super::{Form, InputError, Item, ItemId, NewText, ResourceList};
use crate::source_text::SourceText;
use krm_yaml::document_text;

impl ResourceList {
    /// Inserts all files of a package with their texts and identities. A package gets them as files; a ResourceList
    /// gets their resources as items. Returns the new items, in the order of the package.
    ///
    /// # Errors
    /// An error if a resource cannot be an item of the list.
    pub fn insert_package(&mut self, other: Self) -> Result<Vec<ItemId>, InputError> {
        let package_path = self.root_package_path().map(Arc::from);
        let count = other.items.len();
        if self.is_package() {
            self.insert_files(other);
        } else {
            self.insert_resources(other)?;
        }
        let first = self.items.len() - count;
        for item in &mut self.items[first..] {
            item.resource.origin.package_path.clone_from(&package_path);
        }
        Ok((first..self.items.len()).map(ItemId).collect())
    }

    fn insert_files(&mut self, other: Self) {
        let (Form::Package(package), Form::Package(new)) = (&mut self.form, &other.form) else {
            return;
        };
        let base = self.texts.len();
        for path in new.paths() {
            package.push(path.to_owned());
        }
        self.texts
            .extend(other.texts.iter().map(SourceText::new_file));
        for item in other.items {
            let text = base + item.text;
            self.items.push(Item { text, ..item });
        }
    }

    fn insert_resources(&mut self, mut other: Self) -> Result<(), InputError> {
        for ids in other.by_text(other.items().map(|(id, _)| id)) {
            for id in &ids {
                self.add_text(NewText {
                    path: None,
                    text: document_text(other.node(*id)),
                    before: None,
                });
            }
            // Free the text and its tree, which are not read again.
            other.texts[other.items[ids[0].0].text].clear();
        }
        self.apply_insertions()?;
        let first = self.items.len() - other.items.len();
        for (own, item) in self.items[first..].iter_mut().zip(other.items) {
            own.resource = item.resource;
        }
        Ok(())
    }
}
