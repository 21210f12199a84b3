//! Items rewritten from what they are, and documents that are printed and no part of a package.

use std::collections::BTreeMap;

use super::{ItemId, Layout, ResourceList};
use crate::resource::Resource;
use crate::source_text::SourceText;
use crate::text::Text;
use crate::yaml::{EditError, Editor, NodeRef, ParseOptions};

/// A document that is printed in place of a package's files.
#[derive(Debug)]
pub(crate) struct Printed {
    /// What it is of.
    pub(crate) resource: Resource,
    /// What is there before; empty for nothing.
    pub(crate) before: String,
    /// What is printed.
    pub(crate) text: String,
}

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

    /// Puts documents in the place of a package: they are printed, and its files stay as they are.
    ///
    /// # Errors
    /// A text that is no YAML.
    pub(crate) fn print(&mut self, documents: Vec<Printed>) -> Result<(), EditError> {
        let mut list = Self::loose();
        for printed in documents {
            let root = SourceText::check(&printed.text, ParseOptions::default(), |document| {
                document.root(0).map(|root| root.id)
            });
            let Some(root) = root.map_err(EditError::Broken)? else {
                continue;
            };
            let chunk = SourceText::changed(printed.before, printed.text);
            list.push_chunk(chunk, [(root, printed.resource)]);
        }
        *self = list;
        Ok(())
    }

    /// The documents that are printed: whose they are, what was before, what is printed. `None` for
    /// a list that is written.
    pub(crate) fn printed(&self) -> Option<impl Iterator<Item = (&Resource, Text, &str)>> {
        let printed = self.items.iter().map(|item| {
            let chunk = &self.chunks[item.chunk];
            (&item.resource, chunk.source_text(), chunk.text())
        });
        matches!(self.layout, Layout::Loose).then_some(printed)
    }
}
