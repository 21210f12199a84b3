//! Items rewritten in place, with what is read of the list itself.

use std::collections::BTreeMap;

use super::{ItemId, ResourceList};
use crate::yaml::{EditError, Editor, NodeRef};

impl ResourceList {
    /// Items by the text that they stand in, each text once.
    pub(crate) fn by_text(&self, ids: impl IntoIterator<Item = ItemId>) -> Vec<Vec<ItemId>> {
        let mut by_text: BTreeMap<usize, Vec<ItemId>> = BTreeMap::new();
        for id in ids {
            by_text.entry(self.items[id.0].chunk).or_default().push(id);
        }
        by_text.into_values().collect()
    }

    /// Edits items of one text with what is read of the list itself. An item whose `change` fails
    /// stays as it is.
    ///
    /// Gives the new text, for [`ResourceList::set_text_of`], and what failed.
    pub(crate) fn rewritten<'s>(
        &'s self,
        ids: &[ItemId],
        mut change: impl FnMut(ItemId, NodeRef<'s>, &mut Editor<'s, 's>) -> Result<(), EditError>,
    ) -> (Option<String>, Vec<(ItemId, EditError)>) {
        let mut refused = Vec::new();
        let Some(first) = ids.first() else {
            return (None, refused);
        };
        let chunk = &self.chunks[self.items[first.0].chunk];
        let edited = chunk.rewritten(|_, editor| {
            for id in ids {
                let node = self.node(*id);
                if let Err(error) = change(*id, node, editor) {
                    editor.discard(node);
                    refused.push((*id, error));
                }
            }
            Ok::<_, EditError>(())
        });
        match edited {
            Ok(text) => (text, refused),
            Err(error) => {
                refused.push((*first, error));
                (None, refused)
            }
        }
    }

    /// Puts the text that [`ResourceList::rewritten`] gave in the place of an item's.
    pub(crate) fn set_text_of(&mut self, id: ItemId, text: String) {
        let chunk = self.items[id.0].chunk;
        self.chunks[chunk].rewrite(text);
    }
}
