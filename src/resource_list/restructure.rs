//! Items edited together, taken out, and added as they are written: what a merge does to a list.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::read::{STDIN, items_of_file};
use super::{InputError, Item, ItemId, Layout, Place, ResourceList, items_of, locate, path_from};
use crate::package::{FileChange, is_krm_name};
use crate::resource::Resource;
use crate::source_text::SourceText;
use crate::text::Text;
use crate::yaml::{Content, EditError, Editor, NodeRef, OwnedDocument, ParseOptions, Value};

/// A resource that a step adds as it is written.
#[derive(Debug, Clone)]
pub struct NewText {
    /// Path of its file.
    pub path: Option<String>,
    /// The resource as the text of a document, comments included, without a `---`.
    pub text: String,
    /// The item that it stands before; else it goes to the end of its file, or of the list.
    pub before: Option<ItemId>,
}

impl ResourceList {
    /// Edits some items, each text once. An item whose `change` fails stays as it is; `refused` hears
    /// of it.
    pub fn edit_items<'f, E: From<EditError>>(
        &mut self,
        ids: impl IntoIterator<Item = ItemId>,
        mut change: impl for<'d> FnMut(ItemId, NodeRef<'d>, &mut Editor<'d, 'f>) -> Result<(), E>,
        mut refused: impl FnMut(ItemId, E),
    ) {
        let mut by_chunk: BTreeMap<usize, Vec<ItemId>> = BTreeMap::new();
        for id in ids {
            by_chunk.entry(self.items[id.0].chunk).or_default().push(id);
        }
        for (chunk, ids) in by_chunk {
            let items = &self.items;
            let edited = self.chunks[chunk].edit(|document, editor| {
                // To count to each item of a wrapper would take quadratic time.
                let in_wrapper = items_of(document);
                let mut changed = Vec::new();
                for id in &ids {
                    let node = match items[id.0].place {
                        Place::InWrapper(index) => in_wrapper.get(index).copied(),
                        place => locate(document, place),
                    };
                    let node = node.expect("edits keep the items of a chunk");
                    if let Err(error) = change(*id, node, editor) {
                        editor.discard(node);
                        refused(*id, error);
                    } else {
                        changed.push((*id, node));
                    }
                }
                let nodes: Vec<_> = changed.iter().map(|(_, node)| *node).collect();
                for (at, error) in editor.settle(&nodes) {
                    refused(changed[at].0, error.into());
                }
                Ok::<_, E>(())
            });
            if let (Err(error), Some(first)) = (edited, ids.first()) {
                refused(*first, error);
            }
        }
    }

    /// Takes items out of the list and its output; gives a loose list of them as they came.
    pub(crate) fn take_out(&mut self, ids: &BTreeSet<ItemId>) -> Self {
        let mut taken = Self::loose();
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        for id in ids {
            let item = &mut self.items[id.0];
            item.hidden = true;
            self.removed.insert(*id);
            let number = *numbers.entry(item.chunk).or_insert_with(|| {
                taken.chunks.push(self.chunks[item.chunk].unedited());
                taken.chunks.len() - 1
            });
            taken.items.push(Item {
                resource: item.resource.clone(),
                chunk: number,
                place: item.place,
                hidden: false,
            });
        }
        taken
    }

    /// Makes what was added, removed and copied items like the others, for steps that come behind.
    /// No [`ItemId`] of before means the same afterwards.
    pub(crate) fn settle(&mut self) -> Result<(), InputError> {
        match &self.layout {
            Layout::Files { .. } => self.settle_files(),
            Layout::Split { indent, .. } => {
                let indent = *indent;
                self.settle_items(indent);
                Ok(())
            }
            Layout::Flow { .. } | Layout::Whole => self.settle_whole(),
            Layout::Loose => Ok(()),
        }
    }

    fn settle_whole(&mut self) -> Result<(), InputError> {
        if !self.is_restructured() {
            return Ok(());
        }
        self.join();
        self.edit_whole(Vec::new())
            .map_err(|error| InputError::Shape {
                place: STDIN.to_owned(),
                message: error.to_string(),
            })?;
        let items = items_of(self.chunks[0].document()).into_iter().enumerate();
        let items =
            items.map(|(index, item)| Item::in_wrapper(index, Resource::read(item.resolved())));
        self.items = items.collect();
        Ok(())
    }

    fn settle_files(&mut self) -> Result<(), InputError> {
        let changes = self.file_changes();
        let Layout::Files {
            paths,
            copied,
            heads,
            ..
        } = &mut self.layout
        else {
            return Ok(());
        };
        copied.clear();
        heads.clear();
        let known: HashMap<String, usize> = paths.iter().cloned().zip(0..).collect();
        let mut changed = BTreeSet::new();
        for change in changes {
            let is_krm = is_krm_name(change.path().rsplit('/').next().unwrap_or_default());
            let text = match &change {
                FileChange::Write { bytes, .. } => std::str::from_utf8(bytes).ok(),
                FileChange::Delete { .. } => Some(""),
            };
            let Some(text) = text.filter(|_| is_krm) else {
                copied.push(change);
                continue;
            };
            let chunk = known.get(change.path()).copied().unwrap_or_else(|| {
                paths.push(change.path().to_owned());
                let nothing = Text::from(String::new());
                self.chunks
                    .push(SourceText::new(nothing, ParseOptions::default()));
                paths.len() - 1
            });
            self.chunks[chunk].rewrite(text.to_owned());
            changed.insert(chunk);
        }
        let mut items: Vec<Item> = std::mem::take(&mut self.items);
        items.retain(|item| !changed.contains(&item.chunk));
        for chunk in changed {
            items.extend(items_of_file(
                chunk,
                &paths[chunk],
                self.chunks[chunk].text(),
            )?);
        }
        // Stable: the items of a file keep their order.
        items.sort_by_key(|item| item.chunk);
        self.items = items;
        self.removed.clear();
        self.texts.clear();
        self.added.clear();
        Ok(())
    }

    fn settle_items(&mut self, indent: usize) {
        let mut new: HashMap<Option<ItemId>, Vec<NewText>> = HashMap::new();
        for text in std::mem::take(&mut self.texts) {
            new.entry(text.before).or_default().push(text);
        }
        if new.is_empty() {
            return;
        }
        let chunks = std::mem::take(&mut self.chunks);
        let items = std::mem::take(&mut self.items);
        let removed = std::mem::take(&mut self.removed);
        let mut take = |list: &mut Self, before: Option<ItemId>| {
            for text in new.remove(&before).unwrap_or_default() {
                let text = behind_dash(&text.text, indent, "\n");
                let chunk = SourceText::added(text, ParseOptions { depth: 1 });
                let item = locate(chunk.document(), Place::Alone);
                let resource = item.map(Resource::read).unwrap_or_default();
                list.items.push(Item {
                    resource,
                    chunk: list.chunks.len(),
                    place: Place::Alone,
                    hidden: false,
                });
                list.chunks.push(chunk);
            }
        };
        for (index, (chunk, item)) in chunks.into_iter().zip(items).enumerate() {
            take(self, Some(ItemId(index)));
            if removed.contains(&ItemId(index)) {
                self.removed.insert(ItemId(self.items.len()));
            }
            let place = self.chunks.len();
            self.chunks.push(chunk);
            self.items.push(Item {
                chunk: place,
                ..item
            });
        }
        take(self, None);
    }

    /// The files of a package, those that are not KRM too.
    pub(crate) fn file_paths(&self) -> BTreeSet<String> {
        match &self.layout {
            Layout::Files { paths, others, .. } => {
                let named = paths.iter().map(String::as_str);
                named.chain(others.paths()).map(str::to_owned).collect()
            }
            _ => BTreeSet::new(),
        }
    }

    /// Adds a resource as it is written.
    pub fn add_text(&mut self, new: NewText) {
        self.texts.push(new);
    }

    /// The paths of the items' files from the root package.
    #[must_use]
    pub fn paths_from_root(&self, ids: &[ItemId]) -> Vec<Option<String>> {
        let origins = self.items.iter().map(|item| &item.resource.origin);
        let packages = origins.filter_map(|origin| origin.package_path.as_deref());
        let root = packages.min_by_key(|path| path.len());
        let items = ids.iter().map(|id| &self.items[id.0]);
        items
            .map(|item| path_from(root, &item.resource.origin))
            .collect()
    }

    /// The new texts of each file of a package, with the document that each stands before.
    pub(super) fn new_documents(&self) -> BTreeMap<&str, Vec<(Option<usize>, &str)>> {
        let mut new: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        if !matches!(self.layout, Layout::Files { .. }) {
            return new;
        }
        for added in &self.texts {
            let Some(path) = added.path.as_deref() else {
                continue;
            };
            let before = added.before.and_then(|id| match self.items[id.0].place {
                Place::Document(index) => Some(index),
                _ => None,
            });
            new.entry(path)
                .or_default()
                .push((before, added.text.as_str()));
        }
        new
    }
}

/// New items of a list, by the item that each stands before; `None` is the end.
pub(super) fn new_items(
    texts: &[NewText],
    indent: usize,
    newline: &str,
) -> HashMap<Option<ItemId>, String> {
    let mut new: HashMap<_, String> = HashMap::new();
    for text in texts {
        let item = behind_dash(&text.text, indent, newline);
        new.entry(text.before).or_default().push_str(&item);
    }
    new
}

/// Puts new items into the `items` of a wrapper.
pub(super) fn insert_items<'d>(
    texts: Vec<NewText>,
    items: NodeRef<'d>,
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    let mut by_place: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let count = items.items().count();
    for new in texts {
        let place = new.before.map_or(count, |id| id.0);
        by_place.entry(place).or_default().push(new.text);
    }
    // From the end, so that the places before stay what they are.
    for (place, texts) in by_place.into_iter().rev() {
        for text in texts.into_iter().rev() {
            let text = OwnedDocument::parse(text).map_err(EditError::Broken)?;
            editor.insert_item(items, Some(place), Content::Text(Arc::new(text)))?;
        }
    }
    Ok(())
}

/// New items as values.
pub(super) fn values_of(texts: Vec<NewText>) -> Result<Vec<Value>, EditError> {
    let value = |new: NewText| {
        let document = OwnedDocument::parse(new.text).map_err(EditError::Broken)?;
        let value = document.root().and_then(|root| root.value());
        Ok(value.unwrap_or(Value::Null))
    };
    texts.into_iter().map(value).collect()
}

/// The text of a document as a block item behind a dash.
fn behind_dash(text: &str, indent: usize, newline: &str) -> String {
    let inner = indent + 2;
    let lines = text.lines().map(|line| match line.is_empty() {
        true => newline.to_owned(),
        false => format!("{:inner$}{line}{newline}", ""),
    });
    let text: String = lines.collect();
    format!(
        "{:indent$}- {}",
        "",
        text.trim_start_matches([' ', '\r', '\n'])
    )
}
