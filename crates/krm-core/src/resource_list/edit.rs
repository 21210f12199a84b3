//! Edits of items. All edits of one text are one batch: it is spliced and parsed again once.

use std::collections::BTreeMap;

use super::{ItemId, ResourceList};
use crate::resource::Resource;
use crate::source_text::EditedText;
use krm_yaml::{EditError, Editor, NodeRef};

impl ResourceList {
    /// Edits an item. If `change` fails, nothing is changed.
    ///
    /// # Errors
    /// The errors of `change` and of the edits.
    pub fn edit<'f, E: From<EditError>>(
        &mut self,
        id: ItemId,
        change: impl for<'d> FnOnce(NodeRef<'d>, &mut Editor<'d, 'f>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut change, mut outcome) = (Some(change), Ok(()));
        self.edit_items(
            [id],
            |_, _, node, editor| change.take().map_or(Ok(()), |change| change(node, editor)),
            |_, error| outcome = Err(error),
        );
        outcome
    }

    /// Edits several items. An item whose `change` fails is left unchanged, and `refused` gets the error.
    pub fn edit_items<'f, E: From<EditError>>(
        &mut self,
        ids: impl IntoIterator<Item = ItemId>,
        mut change: impl for<'d> FnMut(
            ItemId,
            &Resource,
            NodeRef<'d>,
            &mut Editor<'d, 'f>,
        ) -> Result<(), E>,
        mut refused: impl FnMut(ItemId, E),
    ) {
        for ids in self.by_text(ids) {
            let list = &*self;
            let (text, errors) = list.rewritten(&ids, |id, node, editor| {
                change(id, list.resource(id), node, editor)
            });
            if let Some(text) = text {
                self.set_text_of(&ids, Some(text));
            }
            errors
                .into_iter()
                .for_each(|(id, error)| refused(id, error));
        }
    }

    /// Groups items by the text that they are in.
    pub fn by_text(&self, ids: impl IntoIterator<Item = ItemId>) -> Vec<Vec<ItemId>> {
        let mut by_text: BTreeMap<usize, Vec<ItemId>> = BTreeMap::new();
        for id in ids {
            by_text.entry(self.items[id.0].text).or_default().push(id);
        }
        by_text.into_values().collect()
    }

    /// Edits items of one text with content that may borrow from the list. An item whose `change` fails is left
    /// unchanged.
    ///
    /// Returns the new text, for [`ResourceList::set_text_of`], and the errors.
    pub fn rewritten<'s, 'f, E: From<EditError>>(
        &'s self,
        ids: &[ItemId],
        mut change: impl FnMut(ItemId, NodeRef<'s>, &mut Editor<'s, 'f>) -> Result<(), E>,
    ) -> (Option<EditedText>, Vec<(ItemId, E)>) {
        let mut refused = Vec::new();
        let Some(first) = ids.first() else {
            return (None, refused);
        };
        let text = &self.texts[self.items[first.0].text];
        let edited = text.rewritten(|_, editor| {
            let nodes: Vec<NodeRef<'s>> = ids.iter().map(|id| self.node(*id)).collect();
            for (id, node) in ids.iter().zip(nodes.iter().copied()) {
                let before = editor.added();
                let edited = change(*id, node, editor)
                    .and_then(|()| Ok(self.budget.take(editor.added() - before)?));
                if let Err(error) = edited {
                    editor.discard(node);
                    refused.push((*id, error));
                }
            }
            for (at, error) in editor.discard_unwritable(&nodes) {
                refused.push((ids[at], error.into()));
            }
            Ok(())
        });
        match edited {
            Ok(text) => (text, refused),
            Err(error) => {
                refused.push((*first, error));
                (None, refused)
            }
        }
    }

    /// Stores the text that [`ResourceList::rewritten`] returned for items, and drops their tree.
    pub fn set_text_of(&mut self, ids: &[ItemId], text: Option<EditedText>) {
        let Some(first) = ids.first() else { return };
        let old = &mut self.texts[self.items[first.0].text];
        match text {
            Some(text) => old.keep(text),
            None => old.drop_tree(),
        }
    }

    /// Reads the identity of an item again after an edit changed it. Its origin is unchanged.
    pub fn identify(&mut self, id: ItemId) {
        let resource = self.read(id, Resource::read);
        let old = &mut self.items[id.0].resource;
        let origin = std::mem::take(&mut old.origin);
        *old = Resource { origin, ..resource };
    }
}
