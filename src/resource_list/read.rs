//! From texts to a list: a ResourceList, or the files of a package.

use std::collections::BTreeMap;

use thiserror::Error;

use super::files::OtherFiles;
use super::{Item, Layout, Place, ResourceList};
use crate::identity;
use crate::package::PackageFiles;
use crate::parallel;
use crate::resource::Resource;
use crate::results::with_article;
use crate::source_text::SourceText;
use crate::split;
use crate::text::Text;
use crate::yaml::scan::IN_USE;
use crate::yaml::{Document, NodeRef, ParseError, ParseOptions};

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

pub(super) const STDIN: &str = "standard input";

/// How many items a ResourceList of this length may have: what is kept of an item is more than the
/// bytes of the shortest ones, and memory shall stay in proportion to the input.
pub(super) fn max_items(text: &str) -> usize {
    100_000 + text.len() / 64
}

impl ResourceList {
    /// Reads a ResourceList.
    ///
    /// # Errors
    /// [`InputError`]: no YAML, no ResourceList, an item that is no mapping.
    pub fn parse(text: impl Into<Text>) -> Result<Self, InputError> {
        let text = text.into();
        let split = match text.starts_with('{') {
            true => Self::parse_flow(&text),
            false => Self::parse_split(&text),
        };
        match split {
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
        SourceText::check(&wrapper, ParseOptions::default(), read).ok()??;
        let options = ParseOptions { depth: 1 };
        let read = |document: Document<'_>| {
            let root = document.root(0).filter(|_| document.len() == 1)?;
            let mut items = root.items();
            let item = items.next().filter(|item| item.kind().is_mapping())?;
            items.next().is_none().then(|| Resource::read(item))
        };
        // As items from the beginning: there may be many, and each copy takes memory.
        let items = parallel::map(&split.pieces, ExactSizeIterator::len, |piece| {
            let piece = &text[piece.clone()];
            let fast = IN_USE.then(|| identity::item(piece, options));
            let resource = fast
                .flatten()
                .or_else(|| SourceText::check(piece, options, read).ok().flatten())?;
            Some(Item {
                resource,
                chunk: 0,
                place: Place::Alone,
                hidden: false,
            })
        });
        let mut items: Vec<Item> = items.into_iter().collect::<Option<_>>()?;
        for (number, item) in items.iter_mut().enumerate() {
            item.chunk = number;
        }
        let pieces = split.pieces.into_iter();
        let chunks = pieces.map(|piece| SourceText::new(text.slice(piece), options));
        let wrapper = SourceText::new(Text::from(wrapper), ParseOptions::default());
        Some(Self {
            layout: Layout::Split {
                wrapper,
                indent: split.indent,
            },
            chunks: chunks.collect(),
            items,
            ..Self::loose()
        })
    }

    pub(super) fn parse_whole(text: Text) -> Result<Self, InputError> {
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
        let resources = SourceText::check(&text, ParseOptions::default(), read).map_err(yaml)??;
        let items = resources
            .into_iter()
            .enumerate()
            .map(|(index, resource)| Item::in_wrapper(index, resource))
            .collect();
        let chunks = vec![SourceText::new(text, ParseOptions::default())];
        Ok(Self {
            layout: Layout::Whole,
            chunks,
            items,
            ..Self::loose()
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
                heads: BTreeMap::new(),
            },
            chunks: Vec::with_capacity(files.files.len()),
            items: Vec::new(),
            ..Self::loose()
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
            list.chunks
                .push(SourceText::new(text, ParseOptions::default()));
        }
        Ok(list)
    }
}

/// The items of a file that was put into its chunk.
pub(super) fn items_of_file(chunk: usize, path: &str, text: &str) -> Result<Vec<Item>, InputError> {
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
        None => SourceText::check(text, ParseOptions::default(), read)?,
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

/// Whether a root is a ResourceList of a version that we know.
pub(super) fn check_wrapper(root: NodeRef<'_>) -> Result<(), InputError> {
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
pub(super) fn check_results(root: NodeRef<'_>) -> Result<(), InputError> {
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
