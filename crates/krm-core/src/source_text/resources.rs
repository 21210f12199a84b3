//! Texts with their resources. The scanner reads the resources without a tree if possible.

use std::ops::Range;

use super::SourceText;
use crate::identity;
use crate::resource::Resource;
use krm_package::parallel;
use krm_package::text::Text;
use krm_yaml::scan::is_in_use;
use krm_yaml::{Document, NodeRef, OwnedDocument, ParseError, ParseOptions, Tree};

impl SourceText {
    /// The documents of a text, each with its resource if it is KRM. No tree is built if the scanner can read the text.
    ///
    /// Values of a text that has a resource are what Kubernetes reads there.
    ///
    /// # Errors
    /// An error if the parser refuses the text.
    pub(crate) fn documents(source: Text) -> Result<(Self, Vec<Option<Resource>>), ParseError> {
        let scanned = is_in_use().then(|| identity::documents(&source));
        if let Some(documents) = scanned.flatten() {
            return Ok((Self::accepted(source, options_for(&documents)), documents));
        }
        let as_resources = Self::read(source.clone(), krm_documents);
        match as_resources {
            Ok((_, ref documents)) if documents.iter().any(Option::is_some) => as_resources,
            _ => {
                let (text, documents) =
                    Self::read_with(source, ParseOptions::default(), krm_documents)?;
                // A key that is null, or twice in one mapping, is an error in resources alone.
                if documents.iter().any(Option::is_some) {
                    as_resources?;
                }
                Ok((text, documents))
            }
        }
    }

    /// The resource of each document that is KRM, from the tree.
    pub(crate) fn resources(&self) -> Vec<Option<Resource>> {
        krm_documents(self.document())
    }

    /// Cuts a text into pieces of one item each, with its dash. `None` if a piece is anything else.
    ///
    /// `item` converts each resource at once: a second vector of many resources would take memory.
    pub(crate) fn cut<T: Send>(
        text: &Text,
        pieces: &[Range<usize>],
        options: ParseOptions,
        item: impl Fn(Resource) -> T + Sync,
    ) -> Option<(Vec<Self>, Vec<T>)> {
        let items = parallel::map(pieces, ExactSizeIterator::len, |piece| {
            resource_after_dash(&text[piece.clone()], options).map(&item)
        });
        let items = items.into_iter().collect::<Option<_>>()?;
        let texts = pieces.iter();
        let texts = texts.map(|piece| Self::accepted(text.slice(piece.clone()), options));
        Some((texts.collect(), items))
    }

    /// A new text of one item after a dash, and its resource. `None` if the text is anything else.
    pub(crate) fn new_item(text: String, options: ParseOptions) -> Option<(Self, Resource)> {
        let resource = resource_after_dash(&text, options)?;
        Some((Self::added(text, options), resource))
    }
}

/// Parses a text that may hold resources, as Kubernetes reads them if it does.
///
/// # Errors
/// An error if the parser refuses the text.
pub fn parse_document(text: String) -> Result<OwnedDocument, ParseError> {
    let has_resource = |document: Document<'_>| krm_documents(document).iter().any(Option::is_some);
    let other = |text| OwnedDocument::parse(text);
    match OwnedDocument::parse_resource(text.clone()) {
        Ok(parsed) if has_resource(parsed.document()) => Ok(parsed),
        Ok(_) => other(text),
        Err(error) => match other(text)? {
            parsed if has_resource(parsed.document()) => Err(error),
            parsed => Ok(parsed),
        },
    }
}

/// The resource of each document that is KRM.
fn krm_documents(document: Document<'_>) -> Vec<Option<Resource>> {
    let roots = (0..document.len()).map(|index| document.root(index));
    let krm = |root: Option<NodeRef<'_>>| root.filter(|r| is_krm(*r)).map(Resource::read);
    roots.map(krm).collect()
}

/// How a text with these documents is read.
fn options_for(documents: &[Option<Resource>]) -> ParseOptions {
    if documents.iter().any(Option::is_some) {
        ParseOptions::of_resources(0)
    } else {
        ParseOptions::default()
    }
}

/// The resource of a text that is a sequence of one mapping.
fn resource_after_dash(text: &str, options: ParseOptions) -> Option<Resource> {
    let scanned = is_in_use().then(|| identity::item(text, options));
    if let Some(resource) = scanned.flatten() {
        return Some(resource);
    }
    let tree = Tree::parse(text, options).ok()?;
    let document = Document::new(text, &tree);
    let root = document.root(0).filter(|_| document.len() == 1)?;
    let mut items = root.items();
    let item = items.next().filter(|item| item.kind().is_mapping())?;
    items.next().is_none().then(|| Resource::read(item))
}

/// Whether a node is a mapping with apiVersion and kind.
pub fn is_krm(node: NodeRef<'_>) -> bool {
    let has = |key| node.get(key).is_some_and(|value| value.as_str().is_some());
    node.kind().is_mapping() && has("apiVersion") && has("kind")
}
