//! A package becomes part of a list, and is edited on its way.

use arcstr::ArcStr;

use super::{Form, Item, ItemId, ResourceList};
use crate::resource::Resource;
use crate::source_text::{Extent, Locator, SourceText};
use crate::yaml::{EditError, Editor, NodeRef};

/// What becomes of each resource of a package on its way into a list.
pub(crate) trait Adoption {
    /// What [`Adoption::change`] looks at and touches.
    fn extent(&self, id: ItemId) -> Extent;

    /// Edits a resource.
    ///
    /// # Errors
    /// An edit that cannot be made.
    fn change<'d>(
        &self,
        id: ItemId,
        resource: &Resource,
        node: NodeRef<'d>,
        editor: &mut Editor<'d, 'static>,
    ) -> Result<(), EditError>;
}

impl ResourceList {
    /// Takes in all files of a package with their texts and identities. A package gets them as files; a ResourceList gets their
    /// resources as items, which must have path annotations.
    ///
    /// # Errors
    /// An edit of the wrapper that cannot be made.
    pub(crate) fn adopt(&mut self, other: Self) -> Result<(), EditError> {
        self.adopt_as(other, None).map(drop)
    }

    /// As [`ResourceList::adopt`], edited. Gives the resources that could not be edited.
    ///
    /// # Errors
    /// As [`ResourceList::adopt`].
    pub(crate) fn adopt_edited(
        &mut self,
        other: Self,
        adoption: &dyn Adoption,
    ) -> Result<Vec<(Resource, EditError)>, EditError> {
        self.adopt_as(other, Some(adoption))
    }

    fn adopt_as(
        &mut self,
        mut other: Self,
        adoption: Option<&dyn Adoption>,
    ) -> Result<Vec<(Resource, EditError)>, EditError> {
        let package_path = self.root_package_path().map(ArcStr::from);
        let first = self.items.len();
        self.join()?;
        let ids: Vec<ItemId> = other.items().map(|(id, _)| id).collect();
        let refused = match &self.form {
            Form::Stream(_) => self.adopt_items(other, ids, adoption)?,
            _ => {
                let refused = other.change_all(&ids, adoption);
                self.take_in(other, ids)?;
                refused
            }
        };
        for item in &mut self.items[first..] {
            item.resource.origin.package_path.clone_from(&package_path);
        }
        Ok(refused)
    }

    /// Edits the items where they are.
    fn change_all(
        &mut self,
        ids: &[ItemId],
        adoption: Option<&dyn Adoption>,
    ) -> Vec<(Resource, EditError)> {
        let (mut refused, Some(adoption)) = (Vec::new(), adoption) else {
            return Vec::new();
        };
        self.edit_within(
            ids.iter().map(|id| (*id, adoption.extent(*id))),
            |(id, resource), node, editor| adoption.change(id, resource, node, editor),
            |id, error| refused.push((id, error)),
        );
        let named = refused.into_iter();
        named
            .map(|(id, error)| (self.resource(id).clone(), error))
            .collect()
    }

    fn take_in(&mut self, other: Self, ids: Vec<ItemId>) -> Result<(), EditError> {
        match &mut self.form {
            Form::Package(package) => {
                let Form::Package(new) = &other.form else {
                    return Ok(());
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
            Form::Whole => {
                let new = other.items().map(|(_, new)| new.clone()).collect();
                let nodes: Vec<NodeRef<'_>> = ids.into_iter().map(|id| other.node(id)).collect();
                self.append_documents(&nodes, new)?;
            }
            Form::Stream(_) | Form::Json(_) | Form::ReadOnly => {}
        }
        Ok(())
    }

    /// Makes items of the resources of a package. Of a file that can be edited by documents no edited text is made.
    fn adopt_items(
        &mut self,
        mut other: Self,
        ids: Vec<ItemId>,
        adoption: Option<&dyn Adoption>,
    ) -> Result<Vec<(Resource, EditError)>, EditError> {
        let Form::Stream(stream) = &self.form else {
            return Ok(Vec::new());
        };
        let mut refused = Vec::new();
        self.texts.reserve_exact(ids.len());
        self.items.reserve_exact(ids.len());
        for ids in other.by_text(ids) {
            let number = other.items[ids[0].0].text;
            let documents = other.texts[number].editable_documents();
            if documents.is_none() {
                refused.extend(other.change_all(&ids, adoption));
            }
            for id in ids {
                let Item {
                    resource, locator, ..
                } = &other.items[id.0];
                let text = match (&documents, locator) {
                    (Some(documents), Locator::Document(document)) => {
                        let edited = other.texts[number].edited_document(
                            documents[*document].clone(),
                            adoption.map_or(Extent::Metadata, |adoption| adoption.extent(id)),
                            |node, editor| match adoption {
                                Some(adoption) => adoption.change(id, resource, node, editor),
                                None => Ok(()),
                            },
                        );
                        match edited {
                            Ok(document) => stream.item_of(document.sole_document(), || {
                                document.document().root(0)
                            })?,
                            Err(error) => {
                                refused.push((resource.clone(), error));
                                continue;
                            }
                        }
                    }
                    _ => stream.item_of(other.sole_document(id), || Some(other.node(id)))?,
                };
                let resource = std::mem::take(&mut other.items[id.0].resource);
                let number = self.texts.len();
                self.items
                    .push(Item::new(resource, number, Locator::Item(0)));
                self.texts.push(text);
            }
            other.texts[number].clear();
        }
        Ok(refused)
    }
}
