//! A package becomes part of a list.

use std::sync::Arc;

use super::{Form, Item, ItemId, ResourceList};
use crate::source_text::{Locator, SourceText};
use crate::yaml::{EditError, NodeRef};

impl ResourceList {
    /// Takes in all files of a package with their texts and identities. A package gets them as files; a ResourceList gets their
    /// resources as items. Returns those; their order is that of the package.
    ///
    /// # Errors
    /// An edit of the wrapper that cannot be made.
    pub(crate) fn adopt(&mut self, other: Self) -> Result<Vec<ItemId>, EditError> {
        let package_path = self.root_package_path().map(Arc::from);
        let first = self.items.len();
        match &self.form {
            Form::Package(_) => self.adopt_files(other),
            Form::Stream(_) => self.adopt_items(other)?,
            Form::Whole => {
                let new = other.items().map(|(_, new)| new.clone()).collect();
                let ids = other.items().map(|(id, _)| id);
                let nodes: Vec<NodeRef<'_>> = ids.map(|id| other.node(id)).collect();
                self.append_documents(&nodes, new)?;
            }
            Form::ReadOnly => {}
        }
        for item in &mut self.items[first..] {
            item.resource.origin.package_path.clone_from(&package_path);
        }
        Ok((first..self.items.len()).map(ItemId).collect())
    }

    fn adopt_files(&mut self, other: Self) {
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

    fn adopt_items(&mut self, mut other: Self) -> Result<(), EditError> {
        let Form::Stream(stream) = &self.form else {
            return Ok(());
        };
        let ids: Vec<ItemId> = other.items().map(|(id, _)| id).collect();
        self.texts.reserve_exact(ids.len());
        self.items.reserve_exact(ids.len());
        for ids in other.by_text(ids) {
            let file = other.items[ids[0].0].text;
            for id in ids {
                let text = stream.item_of(other.node(id))?;
                let resource = std::mem::take(&mut other.items[id.0].resource);
                let item = Item::new(resource, self.texts.len(), Locator::Item(0));
                self.items.push(item);
                self.texts.push(text);
            }
            // Neither its text nor its tree is read again.
            other.texts[file].clear();
        }
        Ok(())
    }
}
