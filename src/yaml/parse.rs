//! From a text to its tree: by the line scanner, else by the general parser.

use super::error::ParseError;
use super::parser;
use super::scan::{self, Bail, Checker, TreeBuilder};
use super::tree::{NONE, ParseOptions, Reader, Tree, most_documents, most_nodes};

/// Node limit of a document that the line scanner does not read: a fixed part, and one for each so many bytes. The general
/// parser takes half a microsecond for each node; files that need it have thousands.
const MAX_RARE_NODES: usize = 1 << 19;
const BYTES_PER_RARE_NODE: usize = 64;

impl Tree {
    /// Reads every document of a text.
    ///
    /// # Errors
    /// Where the text is not YAML, has a key twice in one mapping, nests deeper than
    /// [`MAX_DEPTH`](super::MAX_DEPTH), has a line that ends in CR alone, or is longer than 4 GiB.
    pub fn parse(text: &str, options: ParseOptions) -> Result<Self, ParseError> {
        Self::build(text, options, TreeBuilder::new(text, options.depth))
    }

    /// Checks that a text can be read, and makes no tree of it if the line scanner reads it.
    ///
    /// # Errors
    /// Those of [`Tree::parse`].
    pub(crate) fn check(text: &str, options: ParseOptions) -> Result<(), ParseError> {
        if !scan::IN_USE || text.len() >= NONE as usize {
            return Self::parse(text, options).map(drop);
        }
        let mut checker = Checker::new(text, options.depth);
        match scan::scan(text, &mut checker) {
            Ok(()) if !checker.is_full() => Ok(()),
            // The scanner stops there again, with a tree that tells the place.
            _ if checker.is_full() => Self::parse(text, options).map(drop),
            _ => Self::parse_rare(text, options).map(drop),
        }
    }

    /// Reads by the line scanner alone; `None` where it leaves the text to the general parser.
    ///
    /// For tests and benchmarks: [`Tree::parse`] does this first.
    #[must_use]
    pub fn parse_fast(text: &str, options: ParseOptions) -> Option<Self> {
        let builder = TreeBuilder::new(text, options.depth);
        Self::scan(text, options, builder).ok().flatten()
    }

    /// As [`Tree::parse`], for a text that the line scanner took before, as a whole or as part of another: that a key is no
    /// alias and no merge key, and is not there twice, is known.
    ///
    /// # Errors
    /// Those of [`Tree::parse`].
    pub(crate) fn parse_again(text: &str, options: ParseOptions) -> Result<Self, ParseError> {
        let builder = TreeBuilder::with_known_keys(text, options.depth);
        let tree = Self::build(text, options, builder)?;
        debug_assert!(
            tree.nodes.len() > most_nodes(text) || tree == Self::parse(text, options)?,
            "{text}"
        );
        Ok(tree)
    }

    fn build(
        text: &str,
        options: ParseOptions,
        builder: TreeBuilder<'_>,
    ) -> Result<Self, ParseError> {
        if !scan::IN_USE {
            return Self::parse_general(text, options);
        }
        if let Some(tree) = Self::scan(text, options, builder)? {
            return Ok(tree);
        }
        Self::parse_rare(text, options)
    }

    /// Reads what the line scanner does not.
    fn parse_rare(text: &str, options: ParseOptions) -> Result<Self, ParseError> {
        let most = MAX_RARE_NODES + text.len() / BYTES_PER_RARE_NODE;
        Self::parse_documents(text, options, most)
    }

    /// Reads by the line scanner; `None` where it stopped. At the node limit the general parser would stop, too.
    fn scan(
        text: &str,
        options: ParseOptions,
        mut builder: TreeBuilder<'_>,
    ) -> Result<Option<Self>, ParseError> {
        if text.len() >= NONE as usize {
            return Ok(None);
        }
        if scan::scan(text, &mut builder) == Err(Bail) {
            return builder.check_limit().map(|()| None);
        }
        let mut tree = builder.finish();
        tree.reader = Reader::Scanner;
        tree.within = options.depth > 0;
        check_documents(text, &tree)?;
        Ok(Some(tree))
    }

    /// Reads by the general parser alone; gives the same tree as [`Tree::parse`].
    ///
    /// # Errors
    /// Those of [`Tree::parse`].
    pub fn parse_general(text: &str, options: ParseOptions) -> Result<Self, ParseError> {
        Self::parse_documents(text, options, usize::MAX)
    }

    /// Reads by the general parser documents of at most so many nodes.
    fn parse_documents(text: &str, options: ParseOptions, most: usize) -> Result<Self, ParseError> {
        let mut tree = parser::parse(text, options, most)?;
        tree.within = options.depth > 0;
        check_documents(text, &tree)?;
        Ok(tree)
    }
}

/// # Errors
/// A text of more documents than [`most_documents`].
fn check_documents(text: &str, tree: &Tree) -> Result<(), ParseError> {
    let most = most_documents(text);
    let Some(next) = tree.documents.get(most) else {
        return Ok(());
    };
    let message = format!("more than {most} documents in one text");
    Err(ParseError::at(text, next.start, message))
}
