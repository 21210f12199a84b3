//! The ResourceList: items, functionConfig and results, as views on the text they came in.
//!
//! A list is read from a `config.kubernetes.io` ResourceList ([`ResourceList::parse`]) or from the
//! files of a package ([`ResourceList::from_files`]); steps see no difference. Its text is cut into
//! chunks: one per item where the wrapper has the usual shape, else one for the whole wrapper;
//! one per file of a package.

mod adopt;
mod files;
mod printed;
mod restructure;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use thiserror::Error;

pub(crate) use files::FileUnder;
pub(crate) use printed::Printed;
pub use restructure::NewText;

use files::OtherFiles;
use restructure::{documents_text, insert_items, new_items, values_of};

use crate::chunk::Chunk;
use crate::identity;
use crate::package::{FileChange, PackageFiles};
use crate::parallel;
use crate::resource::{INDEX_ANNOTATIONS, Origin, PATH_ANNOTATIONS, Resource};
use crate::results::{Results, with_article};
use crate::split;
use crate::text::Text;
use crate::yaml::scan::IN_USE;
use crate::yaml::{
    Content, Document, EditError, Editor, NodeId, NodeRef, ParseError, ParseOptions, Tree, Value,
    to_block_text,
};

/// `apiVersion`s of a ResourceList; the output keeps the one that came.
const API_VERSIONS: [&str; 3] = [
    "config.kubernetes.io/v1",
    "config.kubernetes.io/v1beta1",
    "config.kubernetes.io/v1alpha1",
];

/// Input that is no ResourceList, or a package file that is no YAML.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InputError {
    /// The text does not parse.
    #[error("{place}: {error}")]
    Yaml {
        /// `standard input` or the path of the file.
        place: String,
        /// What and where.
        error: ParseError,
    },
    /// The text is YAML, but not what it must be.
    #[error("{place}: {message}")]
    Shape {
        /// `standard input`, with line and column where there is one.
        place: String,
        /// What was expected and what was found.
        message: String,
    },
}

/// Where an item's root node is within its chunk.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Alone behind its dash.
    Alone,
    /// An item of the whole wrapper.
    InWrapper(usize),
    /// A document of a file.
    Document(usize),
    /// Any node of a chunk that is never edited.
    Node(NodeId),
}

/// A resource with the place of its text.
#[derive(Debug)]
struct Item {
    resource: Resource,
    chunk: usize,
    place: Place,
    /// No part of the package worked on, but of the output.
    hidden: bool,
}

/// Names an item of a list; stays valid through edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId(usize);

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

/// How the chunks make up the input.
#[derive(Debug)]
enum Layout {
    /// The wrapper without its items, and a chunk per item.
    Split { wrapper: Chunk, indent: usize },
    /// The wrapper is chunk 0, items and all.
    Whole,
    /// One chunk per file, with its path.
    Files {
        paths: Vec<String>,
        /// Files that are not named like KRM, and how to read them.
        others: OtherFiles,
        /// Files that are not KRM and are new, changed or deleted.
        copied: Vec<FileChange>,
        /// Permission bits of new files, where they come from others.
        modes: BTreeMap<String, u32>,
    },
    /// Chunks that are only read: a supplied input.
    Loose,
}

/// Items, functionConfig and results.
#[derive(Debug)]
pub struct ResourceList {
    layout: Layout,
    chunks: Vec<Chunk>,
    items: Vec<Item>,
    added: Vec<WrittenResource>,
    /// Items that are left out of the output.
    removed: BTreeSet<ItemId>,
    /// Resources that are added as they are written.
    texts: Vec<NewText>,
}

const STDIN: &str = "standard input";

/// How many items a ResourceList of this length may have: what is kept of an item is more than the
/// bytes of the shortest ones, and memory shall stay in proportion to the input.
fn max_items(text: &str) -> usize {
    100_000 + text.len() / 64
}

impl ResourceList {
    /// Reads a ResourceList.
    ///
    /// # Errors
    /// [`InputError`]: no YAML, no ResourceList, an item that is no mapping.
    pub fn parse(text: String) -> Result<Self, InputError> {
        let text = Text::from(text);
        match Self::parse_split(&text) {
            Some(list) => Ok(list),
            None => Self::parse_whole(text),
        }
    }

    /// Items each for itself; `None` if the text must be taken as a whole, be it to say what is
    /// wrong with it.
    fn parse_split(text: &Text) -> Option<Self> {
        // Without a final line break what is put behind the last item is another matter.
        let split = split::split(text).filter(|_| text.ends_with('\n'))?;
        if split.pieces.len() > max_items(text) {
            return None;
        }
        let (before, after) = (&text[..split.items.start], &text[split.items.end..]);
        if !before.ends_with('\n') {
            return None;
        }
        // Blank lines and comments behind the last item may be the wrapper's foot, where results go above.
        let foot = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
        if after.is_empty() && text.lines().next_back().is_some_and(foot) {
            return None;
        }
        let wrapper = format!("{before}{after}");
        let read = |document: Document<'_>| {
            let root = document.root(0).filter(|_| document.len() == 1)?;
            check_wrapper(root).ok()?;
            // The value of `items` must be empty exactly where the items were taken out.
            let items = root.entry("items")?.value;
            let line = items.range().end..before.len();
            let alone = items.range().is_empty() && wrapper.get(line)?.trim().is_empty();
            (alone && check_results(root).is_ok()).then_some(())
        };
        Chunk::check(&wrapper, ParseOptions::default(), read).ok()??;
        let options = ParseOptions { depth: 1 };
        let read = |document: Document<'_>| {
            let root = document.root(0).filter(|_| document.len() == 1)?;
            let mut items = root.items();
            let item = items.next().filter(|item| item.kind().is_mapping())?;
            items.next().is_none().then(|| Resource::read(item))
        };
        let resources = parallel::map(&split.pieces, ExactSizeIterator::len, |piece| {
            let piece = &text[piece.clone()];
            let fast = IN_USE.then(|| identity::item(piece, options));
            fast.flatten()
                .or_else(|| Chunk::check(piece, options, read).ok().flatten())
        });
        let mut list = Self {
            chunks: Vec::with_capacity(split.pieces.len()),
            items: Vec::with_capacity(split.pieces.len()),
            added: Vec::new(),
            removed: BTreeSet::new(),
            texts: Vec::new(),
            layout: Layout::Loose,
        };
        for (index, (piece, resource)) in split.pieces.into_iter().zip(resources).enumerate() {
            list.items.push(Item {
                resource: resource?,
                chunk: index,
                place: Place::Alone,
                hidden: false,
            });
            list.chunks.push(Chunk::new(text.slice(piece), options));
        }
        let wrapper = Chunk::new(Text::from(wrapper), ParseOptions::default());
        list.layout = Layout::Split {
            wrapper,
            indent: split.indent,
        };
        Some(list)
    }

    fn parse_whole(text: Text) -> Result<Self, InputError> {
        let yaml = |error| InputError::Yaml {
            place: STDIN.to_owned(),
            error,
        };
        let shape = |place: String, message: String| InputError::Shape { place, message };
        let read = |document: Document<'_>| {
            let found = match document.len() {
                1 => document.root(0),
                0 => None,
                more => {
                    let message = format!("expected one ResourceList, found {more} documents");
                    return Err(shape(STDIN.to_owned(), message));
                }
            };
            let Some(root) = found else {
                let message = "expected a ResourceList, found nothing";
                return Err(shape(STDIN.to_owned(), message.to_owned()));
            };
            check_wrapper(root)?;
            check_results(root)?;
            let Some(items) = root.get("items").filter(|items| !items.is_null()) else {
                return Ok(Vec::new());
            };
            if !items.kind().is_sequence() {
                let message = format!(
                    "`items`: expected a sequence of resources, found {}",
                    with_article(items.kind_name())
                );
                return Err(shape(format!("{STDIN}, {}", items.location()), message));
            }
            let (limit, count) = (max_items(&text), items.items().count());
            if count > limit {
                let message = format!(
                    "`items`: expected at most {limit} items in so short a text, found {count}"
                );
                return Err(shape(format!("{STDIN}, {}", items.location()), message));
            }
            items
                .items()
                .enumerate()
                .map(|(index, item)| {
                    let item = item.resolved();
                    if item.kind().is_mapping() {
                        return Ok(Resource::read(item));
                    }
                    let message = format!(
                        "`items[{index}]`: expected a resource, found {}",
                        with_article(item.kind_name())
                    );
                    Err(shape(format!("{STDIN}, {}", item.location()), message))
                })
                .collect()
        };
        let resources = Chunk::check(&text, ParseOptions::default(), read).map_err(yaml)??;
        let items = resources
            .into_iter()
            .enumerate()
            .map(|(i, resource)| Item {
                resource,
                chunk: 0,
                place: Place::InWrapper(i),
                hidden: false,
            })
            .collect();
        let chunks = vec![Chunk::new(text, ParseOptions::default())];
        Ok(Self {
            layout: Layout::Whole,
            chunks,
            items,
            added: Vec::new(),
            removed: BTreeSet::new(),
            texts: Vec::new(),
        })
    }

    /// Reads the resources of a package's files. YAML that is no KRM stays in its file, unseen.
    ///
    /// # Errors
    /// [`InputError::Yaml`] for a file that does not parse.
    pub fn from_files(files: &PackageFiles) -> Result<Self, InputError> {
        let mut list = Self {
            layout: Layout::Files {
                paths: files.files.iter().map(|f| f.path.clone()).collect(),
                others: OtherFiles::of(files),
                copied: Vec::new(),
                modes: BTreeMap::new(),
            },
            chunks: Vec::with_capacity(files.files.len()),
            items: Vec::new(),
            added: Vec::new(),
            removed: BTreeSet::new(),
            texts: Vec::new(),
        };
        let texts: Vec<&str> = files.files.iter().map(|f| &*f.content.text).collect();
        let found = parallel::map(&texts, |text| text.len(), |text| krm_documents(text));
        for (chunk, (file, found)) in files.files.iter().zip(found).enumerate() {
            let found = found.map_err(|error| InputError::Yaml {
                place: file.path.clone(),
                error,
            })?;
            for (number, (document, mut resource)) in found.into_iter().enumerate() {
                resource.origin.path = Some(file.path.clone());
                resource.origin.index = Some(number);
                resource.origin.package_path = None;
                list.items.push(Item {
                    resource,
                    chunk,
                    place: Place::Document(document),
                    hidden: false,
                });
            }
            let text = Text::from(file.content.text.clone());
            list.chunks.push(Chunk::new(text, ParseOptions::default()));
        }
        Ok(list)
    }

    /// All items with their identity, in order.
    pub fn items(&self) -> impl Iterator<Item = (ItemId, &Resource)> {
        self.items
            .iter()
            .enumerate()
            .filter(|(_, item)| !item.hidden)
            .map(|(i, item)| (ItemId(i), &item.resource))
            .filter(|(id, _)| !self.removed.contains(id))
    }

    /// Whether the items come from the files of a package, not from a ResourceList.
    #[must_use]
    pub fn is_package(&self) -> bool {
        matches!(self.layout, Layout::Files { .. })
    }

    /// A list without items, for resources that are only read.
    pub(crate) fn loose() -> Self {
        Self {
            layout: Layout::Loose,
            chunks: Vec::new(),
            items: Vec::new(),
            added: Vec::new(),
            removed: BTreeSet::new(),
            texts: Vec::new(),
        }
    }

    /// Adds a chunk with some of its nodes as items to a loose list; gives the chunk's number.
    pub(crate) fn push_chunk(
        &mut self,
        chunk: Chunk,
        items: impl IntoIterator<Item = (NodeId, Resource)>,
    ) -> usize {
        let number = self.chunks.len();
        self.chunks.push(chunk);
        self.items
            .extend(items.into_iter().map(|(node, resource)| Item {
                resource,
                chunk: number,
                place: Place::Node(node),
                hidden: false,
            }));
        number
    }

    /// The text of a chunk of a loose list.
    pub(crate) fn chunk_text(&self, number: usize) -> &str {
        self.chunks[number].text()
    }

    /// Hides the items whose files lie under a directory of the root package, and gives a loose
    /// list of them, with paths relative to the directory. They stay in the output as they are.
    pub(crate) fn take_under(&mut self, directory: &str) -> Self {
        let origins = self.items.iter().map(|item| &item.resource.origin);
        let root = origins
            .filter_map(|origin| origin.package_path.as_deref())
            .min_by_key(|path| path.len())
            .map(str::to_owned);
        let mut taken = Self::loose();
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        for item in self.items.iter_mut().filter(|item| !item.hidden) {
            let Some(path) = path_from(root.as_deref(), &item.resource.origin) else {
                continue;
            };
            let below = path.strip_prefix(directory);
            let Some(path) = below.and_then(|path| path.strip_prefix('/')) else {
                continue;
            };
            item.hidden = true;
            let mut resource = item.resource.clone();
            resource.origin.path = Some(path.to_owned());
            resource.origin.package_path = None;
            let number = *numbers.entry(item.chunk).or_insert_with(|| {
                taken.chunks.push(self.chunks[item.chunk].unedited());
                taken.chunks.len() - 1
            });
            taken.items.push(Item {
                resource,
                chunk: number,
                place: item.place,
                hidden: false,
            });
        }
        taken
    }

    /// A loose list of copies of some items as they are now, sharing their text: for a step that
    /// writes a part of one item into another.
    #[must_use]
    pub fn copies_of(&self, ids: &[ItemId]) -> Self {
        let mut copies = Self::loose();
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        for id in ids {
            let item = &self.items[id.0];
            let number = *numbers.entry(item.chunk).or_insert_with(|| {
                copies.chunks.push(self.chunks[item.chunk].copy());
                copies.chunks.len() - 1
            });
            copies.items.push(Item {
                resource: item.resource.clone(),
                chunk: number,
                place: item.place,
                hidden: false,
            });
        }
        copies
    }

    /// Whether a word may stand in an item, escapes in quoted scalars included; false spares
    /// parsing it.
    pub(crate) fn may_contain(&self, id: ItemId, word: &str) -> bool {
        self.chunks[self.items[id.0].chunk].may_contain(word)
    }

    /// Puts the elements of a loose list's `*List` items in the place of those for which `unfold`
    /// gives any.
    pub(crate) fn unfold<E>(
        &mut self,
        unfold: impl Fn(NodeRef<'_>, &Resource) -> Result<Option<Vec<(NodeId, Resource)>>, E>,
    ) -> Result<(), E> {
        let mut items = Vec::with_capacity(self.items.len());
        for item in std::mem::take(&mut self.items) {
            // A kind tells without parsing whether it is a list.
            if !item.resource.kind.ends_with("List") {
                items.push(item);
                continue;
            }
            let node = locate(self.chunks[item.chunk].document(), item.place)
                .expect("edits keep the items of a chunk");
            match unfold(node, &item.resource)? {
                None => items.push(item),
                Some(elements) => {
                    items.extend(elements.into_iter().map(|(node, resource)| Item {
                        resource,
                        chunk: item.chunk,
                        place: Place::Node(node),
                        hidden: false,
                    }));
                }
            }
        }
        self.items = items;
        Ok(())
    }

    /// Identity and origin of an item.
    #[must_use]
    pub fn resource(&self, id: ItemId) -> &Resource {
        &self.items[id.0].resource
    }

    /// The root node of an item.
    #[must_use]
    pub fn node(&self, id: ItemId) -> NodeRef<'_> {
        let item = &self.items[id.0];
        let chunk = &self.chunks[item.chunk];
        let node = match item.place {
            Place::InWrapper(index) => chunk.item_of_wrapper(index),
            place => locate(chunk.document(), place),
        };
        node.expect("edits keep the items of a chunk")
    }

    /// Reads an item without keeping what it takes to do so, where it stands alone.
    pub fn read<T>(&self, id: ItemId, read: impl FnOnce(NodeRef<'_>) -> T) -> T {
        let item = &self.items[id.0];
        if !matches!(item.place, Place::Alone) {
            return read(self.node(id));
        }
        let place = item.place;
        self.chunks[item.chunk].read_once(|document| {
            read(locate(document, place).expect("edits keep the items of a chunk"))
        })
    }

    /// Edits an item. If `change` fails, nothing is changed.
    ///
    /// # Errors
    /// Those of `change` and of the edits.
    pub fn edit<'f, E: From<EditError>>(
        &mut self,
        id: ItemId,
        change: impl for<'d> FnOnce(NodeRef<'d>, &mut Editor<'d, 'f>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Item { chunk, place, .. } = self.items[id.0];
        self.chunks[chunk].edit(|document, editor| {
            let node = locate(document, place).expect("edits keep the items of a chunk");
            change(node, editor)
        })
    }

    /// Takes an item out, with the comments directly above it; a file that has no other document is
    /// deleted.
    pub fn remove(&mut self, id: ItemId) {
        self.removed.insert(id);
    }

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
            Layout::Whole | Layout::Loose => Written::Value(with_annotations(new)),
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

    /// Bytes of the text that the list holds.
    #[must_use]
    pub fn length(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.text().len()).sum()
    }

    /// Whether a file of this path is in the package.
    #[must_use]
    pub fn has_path(&self, package_path: Option<&str>, path: &str) -> bool {
        let in_files = match &self.layout {
            Layout::Files { paths, others, .. } => {
                paths.iter().any(|p| p == path) || others.has(path)
            }
            _ => false,
        };
        in_files
            || self.items.iter().any(|item| {
                let origin = &item.resource.origin;
                origin.path.as_deref() == Some(path)
                    && origin.package_path.as_deref() == package_path
            })
    }

    /// The functionConfig of the wrapper, unless it is absent, empty or `null`.
    #[must_use]
    pub fn function_config(&self) -> Option<NodeRef<'_>> {
        let root = match &self.layout {
            Layout::Split { wrapper, .. } => wrapper.root(),
            Layout::Whole => self.chunks.first().and_then(Chunk::root),
            Layout::Files { .. } | Layout::Loose => None,
        }?;
        root.get("functionConfig")
            .filter(|config| !crate::config::is_empty(*config))
    }

    /// The ResourceList with the results appended: as changed, or (`keep` false) with the items as
    /// they came.
    ///
    /// # Errors
    /// An edit of the wrapper that cannot be made.
    pub fn to_texts(mut self, results: &Results, keep: bool) -> Result<Vec<Text>, EditError> {
        let values: Vec<Value> = results.iter().map(|result| result.to_value()).collect();
        let added = if keep {
            std::mem::take(&mut self.added)
        } else {
            Vec::new()
        };
        if !keep {
            self.texts.clear();
        }
        match self.layout {
            Layout::Split {
                mut wrapper,
                indent,
            } => {
                wrapper.edit(|document, editor| append_results(document, editor, values))?;
                let text = wrapper.text();
                let ItemsLine {
                    behind,
                    end: at,
                    newline,
                } = ItemsLine::of(&wrapper);
                let removed: BTreeSet<usize> = match keep {
                    true => self
                        .removed
                        .iter()
                        .map(|id| self.items[id.0].chunk)
                        .collect(),
                    false => BTreeSet::new(),
                };
                let (before, after) = text.split_at(at);
                let nothing_new = added.is_empty() && self.texts.is_empty();
                let is_emptied = removed.len() == self.chunks.len() && nothing_new;
                let before = match is_emptied {
                    // Nothing behind `items:` would be null, and kpt deletes the package then.
                    true => format!("{} []{}", &text[..behind], &text[behind..at]),
                    false => before.to_owned(),
                };
                let mut texts = vec![Text::from(before)];
                let mut new = new_items(&self.texts, indent, newline);
                for (index, chunk) in self.chunks.iter().enumerate() {
                    texts.extend(new.remove(&Some(ItemId(index))).map(Text::from));
                    if removed.contains(&index) {
                        continue;
                    }
                    if chunk.is_changed() && keep {
                        texts.push(chunk.edited_text());
                        continue;
                    }
                    // Neighbours that nobody changed are one slice of the input.
                    let text = chunk.source_text();
                    if !texts.last_mut().is_some_and(|last| last.extend_to(&text)) {
                        texts.push(text);
                    }
                }
                texts.extend(new.remove(&None).map(Text::from));
                for new in added {
                    if let Written::Text(text) = new.content {
                        texts.push(Text::from(text));
                    }
                }
                texts.push(Text::from(after.to_owned()));
                Ok(texts)
            }
            Layout::Whole => {
                let mut chunk = self.chunks.swap_remove(0);
                if !keep {
                    chunk = Chunk::new(chunk.source_text(), ParseOptions::default());
                }
                let removed: BTreeSet<usize> = match keep {
                    true => self.removed.iter().map(|id| id.0).collect(),
                    false => BTreeSet::new(),
                };
                let texts = self.texts;
                chunk.edit(|document, editor| {
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
                        if items.is_null() && !values.is_empty() && !editor.touches(items) {
                            editor.replace(items, Content::Value(Value::Sequence(Vec::new())))?;
                        }
                    } else if let Some(root) = root {
                        let mut new = values_of(texts)?;
                        new.extend(added.into_iter().filter_map(WrittenResource::value));
                        // kpt takes a list without `items` for none, and shows no results.
                        if !new.is_empty() || !values.is_empty() {
                            editor.set(root, "items", Content::Value(Value::Sequence(new)))?;
                        }
                    }
                    append_results(document, editor, values)
                })?;
                Ok(vec![chunk.edited_text()])
            }
            Layout::Files { .. } | Layout::Loose => Ok(Vec::new()),
        }
    }

    /// The files of a package that are not as they were read, and the new ones.
    #[must_use]
    pub fn file_changes(&self) -> Vec<FileChange> {
        let Layout::Files {
            paths,
            copied,
            modes,
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
            let text = match removed.get(&index) {
                documents if documents.is_some() || !added.is_empty() => {
                    documents_text(chunk.document(), documents, &added)
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
            if let Some(text) = documents_text(Document::new("", &nothing), None, &texts) {
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
    fn of(wrapper: &Chunk) -> Self {
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

/// The items of a file that was put into its chunk.
fn items_of_file(chunk: usize, path: &str, text: &str) -> Result<Vec<Item>, InputError> {
    let found = krm_documents(text).map_err(|error| InputError::Yaml {
        place: path.to_owned(),
        error,
    })?;
    let numbered = found.into_iter().enumerate();
    let item = |(number, (document, mut resource)): (usize, (usize, Resource))| {
        resource.origin.path = Some(path.to_owned());
        resource.origin.index = Some(number);
        resource.origin.package_path = None;
        Item {
            resource,
            chunk,
            place: Place::Document(document),
            hidden: false,
        }
    };
    Ok(numbered.map(item).collect())
}

/// Documents of a file that are KRM: mappings with apiVersion and kind, and their numbers.
fn krm_documents(text: &str) -> Result<Vec<(usize, Resource)>, ParseError> {
    let read = |document: Document<'_>| {
        let roots = (0..document.len()).map(|index| document.root(index));
        let krm = |root: Option<NodeRef<'_>>| root.filter(|root| is_krm(*root)).map(Resource::read);
        roots.map(krm).collect()
    };
    let fast = IN_USE.then(|| identity::documents(text));
    let documents: Vec<Option<Resource>> = match fast.flatten() {
        Some(documents) => documents,
        None => Chunk::check(text, ParseOptions::default(), read)?,
    };
    let numbered = documents.into_iter().enumerate();
    Ok(numbered
        .filter_map(|(index, found)| Some((index, found?)))
        .collect())
}

/// Whether a node is a mapping with apiVersion and kind.
pub(crate) fn is_krm(node: NodeRef<'_>) -> bool {
    let has = |key| node.get(key).is_some_and(|value| value.as_str().is_some());
    node.kind().is_mapping() && has("apiVersion") && has("kind")
}

/// The items of a wrapper that was read as a whole, in order.
fn items_of(document: Document<'_>) -> Vec<NodeRef<'_>> {
    let items = document.root(0).and_then(|root| root.get("items"));
    items.into_iter().flat_map(|items| items.items()).collect()
}

fn locate(document: Document<'_>, place: Place) -> Option<NodeRef<'_>> {
    match place {
        Place::Alone => document.root(0)?.items().next(),
        Place::InWrapper(index) => document.root(0)?.get("items")?.items().nth(index),
        Place::Document(index) => document.root(index),
        Place::Node(id) => Some(document.node(id)),
    }
}

/// The path of a file relative to the root package; `path` of a sub-package's item is relative to
/// the sub-package where kpt renders it.
fn path_from(root: Option<&str>, origin: &Origin) -> Option<String> {
    let path = origin.path.as_deref()?;
    let package = origin.package_path.as_deref().unwrap_or_default();
    let below = package.strip_prefix(root.unwrap_or_default());
    let below = below.unwrap_or_default().trim_matches('/');
    let path = crate::package::normalize_package_path(path);
    Some(match below {
        "" => path,
        below => format!("{below}/{path}"),
    })
}

/// Whether a root is a ResourceList of a version that we know.
fn check_wrapper(root: NodeRef<'_>) -> Result<(), InputError> {
    let field = |key: &str| root.get(key).and_then(|value| value.as_str());
    let found = match (field("apiVersion"), field("kind")) {
        (Some(version), Some("ResourceList")) if API_VERSIONS.contains(&version) => return Ok(()),
        _ if !root.kind().is_mapping() => with_article(root.kind_name()),
        (version, kind) => format!(
            "apiVersion `{}`, kind `{}`",
            version.unwrap_or("(none)"),
            kind.unwrap_or("(none)")
        ),
    };
    Err(InputError::Shape {
        place: format!("{STDIN}, {}", root.location()),
        message: format!(
            "expected a ResourceList ({}), found {found}",
            API_VERSIONS.join(", ")
        ),
    })
}

/// Earlier results, where there are any, are a sequence that ours are appended to.
fn check_results(root: NodeRef<'_>) -> Result<(), InputError> {
    match root.get("results") {
        Some(results) if !results.is_null() && !results.kind().is_sequence() => {
            Err(InputError::Shape {
                place: format!("{STDIN}, {}", results.location()),
                message: format!(
                    "`results`: expected a sequence, found {}",
                    with_article(results.kind_name())
                ),
            })
        }
        _ => Ok(()),
    }
}

fn append_results<'d>(
    document: Document<'d>,
    editor: &mut Editor<'d, '_>,
    results: Vec<Value>,
) -> Result<(), EditError> {
    let Some(root) = document.root(0).filter(|_| !results.is_empty()) else {
        return Ok(());
    };
    match root.entry("results") {
        Some(entry) => {
            for result in results {
                editor.insert_item(entry.value.resolved(), None, Content::Value(result))?;
            }
            Ok(())
        }
        None => editor.insert_entry(
            root,
            None,
            "results",
            Content::Value(Value::Sequence(results)),
        ),
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
