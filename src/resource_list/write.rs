//! From a list to texts: a ResourceList, or the changed files of a package; and new resources.

use std::collections::{BTreeMap, BTreeSet};

use super::appended::{append_all, append_results};
use super::documents::documents_text;
use super::flow::flow_texts;
use super::restructure::{insert_items, new_items, values_of};
use super::{ItemId, Layout, Place, ResourceList};
use crate::package::FileChange;
use crate::resource::{INDEX_ANNOTATIONS, PATH_ANNOTATIONS};
use crate::results::Results;
use crate::source_text::SourceText;
use crate::text::Text;
use crate::yaml::{Content, Document, EditError, ParseOptions, Tree, Value, to_block_text};

/// A resource that a step adds.
#[derive(Debug, Clone)]
pub struct NewResource {
    /// Path of its file, in the same terms as the paths of the other items.
    pub path: Option<String>,
    /// The package, where a pipeline runs over several.
    pub package_path: Option<String>,
    /// The resource without path annotations.
    pub value: Value,
}

/// A new resource as it will be written.
#[derive(Debug)]
pub struct WrittenResource {
    path: Option<String>,
    content: Written,
}

impl WrittenResource {
    fn value(self) -> Option<Value> {
        match self.content {
            Written::Value(value) => Some(value),
            Written::Text(_) => None,
        }
    }

    /// About how many bytes it takes in memory.
    #[must_use]
    pub fn cost(&self) -> usize {
        const ITSELF: usize = 300;
        ITSELF
            + match &self.content {
                Written::Text(text) => text.len(),
                Written::Value(value) => value.cost(),
            }
    }
}

#[derive(Debug)]
enum Written {
    /// Lines of the output: a tenth of what the value takes in memory.
    Text(String),
    /// For a list that is written as a whole.
    Value(Value),
}

impl ResourceList {
    /// Adds a resource behind the items: in a package, as a new file.
    pub fn add(&mut self, resource: NewResource) {
        let written = self.write(resource);
        self.add_written(written);
    }

    /// What a new resource will be written as, for [`ResourceList::add_written`].
    #[must_use]
    pub fn write(&self, new: NewResource) -> WrittenResource {
        let path = new.path.clone();
        let content = match &self.layout {
            Layout::Split { wrapper, indent } => {
                let newline = ItemsLine::of(wrapper).newline;
                Written::Text(item_text(&with_annotations(new), *indent, newline))
            }
            Layout::Files { .. } => Written::Text(crate::yaml::to_block_text(&new.value)),
            Layout::Flow { .. } | Layout::Whole | Layout::Loose => {
                Written::Value(with_annotations(new))
            }
        };
        WrittenResource { path, content }
    }

    /// A new resource as a document of its own, for [`ResourceList::add_text`].
    #[must_use]
    pub fn document_text(&self, new: NewResource) -> String {
        match &self.layout {
            Layout::Files { .. } => to_block_text(&new.value),
            _ => to_block_text(&with_annotations(new)),
        }
    }

    /// Adds a resource that [`ResourceList::write`] gave.
    pub fn add_written(&mut self, resource: WrittenResource) {
        self.added.push(resource);
    }

    /// The ResourceList with the results appended: as changed, or (`keep` false) with the items as
    /// they came.
    ///
    /// # Errors
    /// An edit of the wrapper that cannot be made.
    pub fn to_texts(&mut self, results: &Results, keep: bool) -> Result<Vec<Text>, EditError> {
        let values = || -> Vec<Value> { results.iter().map(|result| result.to_value()).collect() };
        if !keep {
            self.added.clear();
            self.texts.clear();
            self.removed.clear();
        }
        if self.is_restructured() {
            self.join();
        }
        match &mut self.layout {
            Layout::Flow { wrapper, .. } => {
                wrapper.edit(|document, editor| append_results(document, editor, values()))?;
                Ok(flow_texts(wrapper, &self.chunks, keep))
            }
            Layout::Split { wrapper, indent } => {
                let more_results = append_all(wrapper, results)?;
                let text = wrapper.text();
                let ItemsLine {
                    behind,
                    end: at,
                    newline,
                } = ItemsLine::of(wrapper);
                let removed = self.removed.iter().map(|id| self.items[id.0].chunk);
                let removed: BTreeSet<usize> = removed.collect();
                let (before, after) = text.split_at(at);
                let nothing_new = self.added.is_empty() && self.texts.is_empty();
                let is_emptied = removed.len() == self.chunks.len() && nothing_new;
                let before = match is_emptied {
                    // Nothing behind `items:` would be null, and kpt deletes the package then.
                    true => format!("{} []{}", &text[..behind], &text[behind..at]),
                    false => before.to_owned(),
                };
                let mut texts = vec![Text::from(before)];
                let mut new = new_items(&self.texts, *indent, newline);
                for (index, chunk) in self.chunks.iter().enumerate() {
                    texts.extend(new.remove(&Some(ItemId(index))).map(Text::from));
                    if removed.contains(&index) {
                        continue;
                    }
                    Text::push(&mut texts, chunk.put_out(keep));
                }
                texts.extend(new.remove(&None).map(Text::from));
                for new in self.added.drain(..) {
                    if let Written::Text(text) = new.content {
                        texts.push(Text::from(text));
                    }
                }
                texts.push(Text::from(after.to_owned()));
                texts.extend(more_results);
                Ok(texts)
            }
            Layout::Whole => {
                if !keep {
                    let source = self.chunks[0].source_text();
                    self.chunks[0] = SourceText::new(source, ParseOptions::default());
                }
                self.edit_whole(values())?;
                Ok(vec![self.chunks[0].edited_text()])
            }
            Layout::Files { .. } | Layout::Loose => Ok(Vec::new()),
        }
    }

    /// Whether items were added or removed.
    pub(super) fn is_restructured(&self) -> bool {
        !(self.added.is_empty() && self.texts.is_empty() && self.removed.is_empty())
    }

    /// Makes one text of what was added to a list that is edited as a whole, of what was removed from
    /// it, and of results.
    pub(super) fn edit_whole(&mut self, results: Vec<Value>) -> Result<(), EditError> {
        let (texts, added) = (
            std::mem::take(&mut self.texts),
            std::mem::take(&mut self.added),
        );
        let removed = std::mem::take(&mut self.removed);
        let removed: BTreeSet<usize> = removed.iter().map(|id| id.0).collect();
        self.chunks[0].edit(|document, editor| {
            let root = document.root(0);
            let items = root.and_then(|root| root.get("items"));
            if let Some(items) = items {
                let new = added.into_iter().filter_map(WrittenResource::value);
                insert_items(texts, items, editor)?;
                for value in new {
                    editor.insert_item(items, None, Content::Value(value))?;
                }
                if !removed.is_empty() {
                    editor.remove_items(items, |index| removed.contains(&index))?;
                }
                if items.is_null() && !results.is_empty() && !editor.touches(items) {
                    editor.replace(items, Content::Value(Value::Sequence(Vec::new())))?;
                }
            } else if let Some(root) = root {
                let mut new = values_of(texts)?;
                new.extend(added.into_iter().filter_map(WrittenResource::value));
                // kpt takes a list without `items` for none, and shows no results.
                if !new.is_empty() || !results.is_empty() {
                    editor.set(root, "items", Content::Value(Value::Sequence(new)))?;
                }
            }
            append_results(document, editor, results)
        })
    }

    /// The files of a package that are not as they were read, and the new ones.
    #[must_use]
    pub fn file_changes(&self) -> Vec<FileChange> {
        let Layout::Files {
            paths,
            copied,
            modes,
            heads,
            ..
        } = &self.layout
        else {
            return Vec::new();
        };
        let mut removed: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for id in &self.removed {
            let item = &self.items[id.0];
            if let Place::Document(document) = item.place {
                removed.entry(item.chunk).or_default().insert(document);
            }
        }
        let mut new = self.new_documents();
        let mut changes: Vec<FileChange> = Vec::new();
        for (index, (path, chunk)) in paths.iter().zip(&self.chunks).enumerate() {
            let added = new.remove(path.as_str()).unwrap_or_default();
            let head = heads.get(path).map(String::as_str);
            let text = match removed.get(&index) {
                documents if documents.is_some() || head.is_some() || !added.is_empty() => {
                    documents_text(chunk.document(), head, documents, &added)
                }
                _ if chunk.is_changed() => Some(chunk.text().to_owned()).filter(|t| !t.is_empty()),
                _ => continue,
            };
            changes.push(match text {
                Some(text) => FileChange::Write {
                    path: path.clone(),
                    bytes: text.into(),
                    mode: modes.get(path).copied(),
                },
                None => FileChange::delete(path.clone()),
            });
        }
        for (path, texts) in new {
            let nothing = Tree::default();
            let head = heads.get(path).map(String::as_str);
            let document = Document::new("", &nothing);
            if let Some(text) = documents_text(document, head, None, &texts) {
                changes.push(FileChange::Write {
                    path: path.to_owned(),
                    bytes: text.into(),
                    mode: modes.get(path).copied(),
                });
            }
        }
        // A file whose resources all go can become one that is not KRM.
        let copies: BTreeSet<&str> = copied.iter().map(FileChange::path).collect();
        changes.retain(|change| !copies.contains(change.path()));
        changes.extend(copied.iter().cloned());
        for new in &self.added {
            if let (Some(path), Written::Text(text)) = (&new.path, &new.content) {
                changes.push(FileChange::write(path.clone(), text.as_str()));
            }
        }
        changes
    }
}

/// The line of `items:` in a wrapper.
struct ItemsLine {
    /// Behind `items:`.
    behind: usize,
    /// Behind the line break.
    end: usize,
    newline: &'static str,
}

impl ItemsLine {
    fn of(wrapper: &SourceText) -> Self {
        let text = wrapper.text();
        let items = wrapper.root().and_then(|root| root.entry("items"));
        let behind = items.map_or(text.len(), |items| items.value.range().end);
        let end = text[behind..]
            .find('\n')
            .map_or(text.len(), |n| behind + n + 1);
        let newline = match text[..end].ends_with("\r\n") {
            true => "\r\n",
            false => "\n",
        };
        Self {
            behind,
            end,
            newline,
        }
    }
}

/// A new item says where it goes by the annotations that kpt reads, in both spellings.
fn with_annotations(new: NewResource) -> Value {
    let mut value = new.value;
    let Some(path) = new.path else { return value };
    let mut annotations = Vec::new();
    for (path_name, index_name) in PATH_ANNOTATIONS.iter().zip(INDEX_ANNOTATIONS) {
        annotations.push((Value::from(index_name), Value::from("0")));
        annotations.push((Value::from(*path_name), Value::from(path.as_str())));
    }
    if let Some(package) = new.package_path {
        let name = crate::resource::PACKAGE_PATH_ANNOTATION;
        annotations.push((Value::from(name), Value::from(package)));
    }
    let metadata = field_mut(&mut value, "metadata");
    if let Value::Mapping(entries) = field_mut(metadata, "annotations") {
        entries.extend(annotations);
    }
    value
}

/// The mapping under a key, made if it is not there.
fn field_mut<'v>(value: &'v mut Value, key: &str) -> &'v mut Value {
    if !matches!(value, Value::Mapping(_)) {
        *value = Value::Mapping(Vec::new());
    }
    let Value::Mapping(entries) = value else {
        unreachable!("made a mapping just above")
    };
    let found = entries
        .iter()
        .position(|(name, _)| name.as_str() == Some(key));
    let index = found.unwrap_or_else(|| {
        entries.push((Value::from(key), Value::Mapping(Vec::new())));
        entries.len() - 1
    });
    &mut entries[index].1
}

/// A resource as a block item behind a dash.
fn item_text(value: &Value, indent: usize, newline: &str) -> String {
    let mut text = crate::yaml::to_indented_block_text(value, indent + 2, newline);
    text.replace_range(indent..indent + 2, "- ");
    text
}
