//! Edits of items. All edits of one text are one batch: it is spliced and parsed again once.

use std::collections::{BTreeMap, BTreeSet};

use super::{ItemId, ResourceList, own_text};
use crate::resource::Resource;
use crate::source_text::{EditedText, Locator, SourceText};
use krm_package::text::Text;
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
        let mut change = Some(change);
        let mut refused = self.edit_items([id], |_, _, node, editor| {
            change.take().map_or(Ok(()), |change| change(node, editor))
        });
        refused.pop().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Edits several items. An item whose `change` fails is left unchanged, and returned with the error.
    pub fn edit_items<'f, E: From<EditError>>(
        &mut self,
        ids: impl IntoIterator<Item = ItemId>,
        mut change: impl for<'d> FnMut(
            ItemId,
            &Resource,
            NodeRef<'d>,
            &mut Editor<'d, 'f>,
        ) -> Result<(), E>,
    ) -> Vec<(ItemId, E)> {
        let mut refused = Vec::new();
        let ids: Vec<ItemId> = ids.into_iter().collect();
        self.separate_elements(&ids);
        for ids in self.by_text(ids) {
            let list = &*self;
            let (text, errors) = list.rewritten(&ids, |id, node, editor| {
                change(id, list.resource(id), node, editor)
            });
            if let Some(text) = text {
                self.set_text_of(&ids, Some(text));
            }
            refused.extend(errors);
        }
        refused
    }

    /// Gives each element of the lists that hold these items a separate text. An element of a list is found by its
    /// node, and an edit of the list's text would give that node's number to another one.
    fn separate_elements(&mut self, ids: &[ItemId]) {
        let elements = ids.iter().map(|id| &self.items[id.0]);
        let elements = elements.filter(|item| matches!(item.locator, Locator::Node(_)));
        let texts: BTreeSet<usize> = elements.map(|item| item.text).collect();
        if texts.is_empty() {
            return;
        }
        for index in 0..self.items.len() {
            let item = &self.items[index];
            if !texts.contains(&item.text) || !matches!(item.locator, Locator::Node(_)) {
                continue;
            }
            let text = Text::from(own_text(self.node(ItemId(index))));
            // One that does not parse alone stays in the list, and its edits are refused.
            if let Ok((text, true)) = SourceText::read(text, |document| document.len() == 1) {
                self.items[index].locator = Locator::Document(0);
                self.items[index].text = self.texts.len();
                self.texts.push(text);
            }
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
        let edited = text.rewritten(self.edited_trees, |_, editor| {
            let nodes: Vec<NodeRef<'s>> = ids.iter().map(|id| self.node(*id)).collect();
            for (id, node) in ids.iter().zip(nodes.iter().copied()) {
                let before = editor.added();
                let edited = self
                    .check_locator(*id)
                    .map_err(E::from)
                    .and_then(|()| change(*id, node, editor))
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

    /// Refuses an item that would not be found again after an edit of its text.
    fn check_locator(&self, id: ItemId) -> Result<(), EditError> {
        match self.items[id.0].locator {
            Locator::Item(_) | Locator::Document(_) => Ok(()),
            Locator::Node(_) => Err(EditError::WrongKind {
                place: "items".to_owned(),
                expected: "resource in a separate text",
                found: "an element of a list",
            }),
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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use krm_yaml::{Content, Value};

    const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

    /// A list of ConfigMaps, the third of which shares a value with the first.
    fn elements_of_a_list() -> ResourceList {
        let mut text = "apiVersion: v1\nkind: List\nitems:\n".to_owned();
        for name in NAMES {
            let data = match name {
                "a" => "&data {k: a}",
                "c" => "*data",
                _ => "{k: b}",
            };
            text += &format!(
                "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: {name}\n  data: {data}\n"
            );
        }
        let mut list = ResourceList::from_texts([("l.yaml".to_owned(), text)]).expect("a list");
        let Ok(()) = list.unfold(|node, _| {
            let items = node.get("items").expect("items");
            let items = items.items();
            let items = items.map(|item| (item.id, Resource::read(item)));
            Ok::<_, Infallible>(Some(items.collect()))
        });
        list
    }

    #[test]
    fn an_element_of_a_list_is_the_same_resource_after_any_edits() {
        for edited in 0..1 << NAMES.len() {
            let mut list = elements_of_a_list();
            let ids: Vec<ItemId> = list.items().map(|(id, _)| id).collect();
            let is_edited = |at: &usize| edited & (1 << at) != 0;
            let chosen = (0..ids.len()).filter(is_edited).map(|at| ids[at]);
            // The new entries come before all nodes of the elements that follow.
            let refused = list.edit_items(chosen, |_, _, node, editor| {
                let value = Value::Sequence((0..9).map(Value::from).collect());
                editor.set(node, "status", Content::Value(value))
            });
            assert!(refused.is_empty(), "{refused:?}");
            for (at, id) in ids.iter().enumerate() {
                let node = list.node(*id);
                let name = node.get_path(&["metadata", "name"]);
                assert_eq!(name.and_then(|name| name.as_str()), Some(NAMES[at]));
                assert_eq!(node.get("status").is_some(), is_edited(&at), "{edited}");
                let data = node.get_path(&["data", "k"]);
                let expected = if [0, 2].contains(&at) { "a" } else { "b" };
                assert_eq!(data.and_then(|data| data.as_str()), Some(expected));
            }
        }
    }
}
