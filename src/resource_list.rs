//! The ResourceList: items, functionConfig and results, as views on the text they came in.
//!
//! A list is read from a `config.kubernetes.io` ResourceList ([`ResourceList::parse`]) or from the
//! files of a package ([`ResourceList::from_files`]); steps see no difference. Its text is cut into
//! chunks: one per item where the wrapper has the usual shape, else one for the whole wrapper;
//! one per file of a package.

mod adopt;
mod appended;
mod documents;
mod files;
mod flow;
mod read;
mod replace;
mod restructure;
mod rewritten;
mod write;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use memchr::memmem::Finder;

pub(crate) use files::FileUnder;
pub use read::InputError;
pub(crate) use read::is_krm;
pub use restructure::NewText;
pub use write::{NewResource, WrittenResource};

use files::OtherFiles;

use crate::package::FileChange;
use crate::resource::{Origin, Resource};
use crate::source_text::SourceText;
use crate::text::Text;
use crate::yaml::{Document, EditError, Editor, NodeId, NodeRef, ParseOptions};

/// Where an item's root node is within its chunk.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Alone behind its dash.
    Alone,
    /// Alone between the commas of a flow sequence.
    AloneInFlow,
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

impl Item {
    /// An item of a list that is one chunk.
    fn in_wrapper(index: usize, resource: Resource) -> Self {
        Self {
            resource,
            chunk: 0,
            place: Place::InWrapper(index),
            hidden: false,
        }
    }
}

/// Names an item of a list; stays valid through edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId(usize);

/// How the chunks make up the input.
#[derive(Debug)]
enum Layout {
    /// The wrapper without its items, and a chunk per item.
    Split { wrapper: SourceText, indent: usize },
    /// The wrapper with its items taken out of their brackets, and a chunk per item, with the white
    /// space in front: JSON.
    Flow { wrapper: SourceText, whole: Text },
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
        /// Heads of files that are other than they were, by path.
        heads: BTreeMap<String, String>,
    },
    /// Texts that are only read: a supplied input.
    Loose,
}

/// Items, functionConfig and results.
#[derive(Debug)]
pub struct ResourceList {
    layout: Layout,
    chunks: Vec<SourceText>,
    items: Vec<Item>,
    added: Vec<WrittenResource>,
    /// Items that are left out of the output.
    removed: BTreeSet<ItemId>,
    /// Resources that are added as they are written.
    texts: Vec<NewText>,
}

impl ResourceList {
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
        chunk: SourceText,
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

    /// Adds a text with some of its documents as items to a loose list; gives the chunk's number.
    pub(crate) fn push_documents(
        &mut self,
        text: Text,
        items: impl IntoIterator<Item = (usize, Resource)>,
    ) -> usize {
        let number = self.chunks.len();
        self.chunks
            .push(SourceText::new(text, ParseOptions::default()));
        self.items
            .extend(items.into_iter().map(|(document, resource)| Item {
                resource,
                chunk: number,
                place: Place::Document(document),
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

    /// The items that may hold one of these words, escapes in quoted scalars included: the others
    /// need not be parsed.
    pub(crate) fn items_that_may_contain<'l>(
        &'l self,
        words: &'l [&str],
    ) -> impl Iterator<Item = (ItemId, &'l Resource)> {
        let words: Vec<Finder<'_>> = words.iter().map(Finder::new).collect();
        // The items of a text are neighbours: it is searched once.
        let mut last: Option<(usize, bool)> = None;
        self.items().filter(move |(id, _)| {
            let number = self.items[id.0].chunk;
            let (_, found) = match last {
                Some(last) if last.0 == number => last,
                _ => (number, self.chunks[number].may_contain(&words)),
            };
            last = Some((number, found));
            found
        })
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
        if !matches!(item.place, Place::Alone | Place::AloneInFlow) {
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
            change(node, editor)?;
            match editor.settle(&[node]).pop() {
                Some((_, error)) => Err(error.into()),
                None => Ok(()),
            }
        })
    }

    /// Takes an item out, with the comments directly above it; a file that has no other document is
    /// deleted.
    pub fn remove(&mut self, id: ItemId) {
        self.removed.insert(id);
    }

    /// Drops the trees that were made of the items so far.
    pub(crate) fn drop_trees(&mut self) {
        self.chunks.iter_mut().for_each(SourceText::drop_tree);
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
            Layout::Split { wrapper, .. } | Layout::Flow { wrapper, .. } => wrapper.root(),
            Layout::Whole => self.chunks.first().and_then(SourceText::root),
            Layout::Files { .. } | Layout::Loose => None,
        }?;
        root.get("functionConfig")
            .filter(|config| !crate::config::is_empty(*config))
    }
}

/// The items of a wrapper that was read as a whole, in order.
fn items_of(document: Document<'_>) -> Vec<NodeRef<'_>> {
    let items = document.root(0).and_then(|root| root.get("items"));
    items.into_iter().flat_map(|items| items.items()).collect()
}

fn locate(document: Document<'_>, place: Place) -> Option<NodeRef<'_>> {
    match place {
        Place::Alone => document.root(0)?.items().next(),
        Place::AloneInFlow => document.root(0),
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
