//! Parses a text into its tree: with the line scanner if it can read the text, otherwise with the general parser.

use super::error::ParseError;
use super::limits::Limits;
use super::parser;
use super::scan::{self, Bail, TreeBuilder};
use super::tree::{ParseOptions, Tree, too_many_nodes};

impl Tree {
    /// Reads every document of a text. Aliases and merge keys are expanded.
    ///
    /// # Errors
    /// An error if the text is not YAML, has a key twice in one mapping, nests deeper than
    /// [`MAX_DEPTH`](super::MAX_DEPTH), has a line that ends in CR alone, or is longer than 4 GiB.
    pub fn parse(text: &str, options: ParseOptions) -> Result<Self, ParseError> {
        Self::parse_within(text, options, Limits::of(text))
    }

    fn parse_within(text: &str, options: ParseOptions, limits: Limits) -> Result<Self, ParseError> {
        let tree = if !scan::is_in_use() {
            Self::parse_documents(text, options, limits.of_any_syntax())?
        } else if let Some(tree) = Self::scan(text, options, limits)? {
            tree
        } else {
            Self::parse_documents(text, options, limits)?
        };
        Ok(tree.expanded(text))
    }

    /// Checks that a text can be read. Builds no tree if the line scanner can read the text.
    ///
    /// # Errors
    /// The errors of [`Tree::parse`].
    pub fn check(text: &str, options: ParseOptions) -> Result<(), ParseError> {
        let scanned =
            scan::is_in_use() && scan::scan(text, options.depth, Limits::of(text), &mut ()).is_ok();
        if scanned {
            return Ok(());
        }
        // The scanner stops at the same place again, now with a tree, from which an error gets its place.
        Self::parse(text, options).map(drop)
    }

    /// Reads with the line scanner only; `None` if the text needs the general parser.
    ///
    /// For tests and benchmarks: [`Tree::parse`] does this first.
    #[must_use]
    pub fn parse_fast(text: &str, options: ParseOptions) -> Option<Self> {
        Self::scan(text, options, Limits::of(text)).ok().flatten()
    }

    /// Like [`Tree::parse`] without limits, for a text that was accepted before, alone or as part of another text.
    ///
    /// # Errors
    /// The errors of [`Tree::parse`], except those about limits.
    pub fn parse_again(text: &str, options: ParseOptions) -> Result<Self, ParseError> {
        Self::parse_within(text, options, Limits::NONE)
    }

    /// Reads with the line scanner; `None` where it stopped. An error at a limit, where the general parser would stop,
    /// too.
    fn scan(text: &str, options: ParseOptions, limits: Limits) -> Result<Option<Self>, ParseError> {
        let mut builder = TreeBuilder::new(text);
        let scanned = scan::scan(text, options.depth, limits, &mut builder);
        let mut tree = builder.finish();
        check_documents(text, &tree, limits)?;
        if scanned == Err(Bail) {
            if tree.nodes.len() > limits.nodes {
                return Err(too_many_nodes(text, &tree.nodes, limits.nodes));
            }
            return Ok(None);
        }
        tree.within = options.depth > 0;
        tree.reading = options.reading;
        Ok(Some(tree))
    }

    /// Reads with the general parser only. The tree equals the one of [`Tree::parse`], but with its aliases and merge keys.
    ///
    /// # Errors
    /// The errors of [`Tree::parse`].
    pub fn parse_general(text: &str, options: ParseOptions) -> Result<Self, ParseError> {
        Self::parse_documents(text, options, Limits::of(text).of_any_syntax())
    }

    /// Reads with the general parser, within `limits`.
    fn parse_documents(
        text: &str,
        options: ParseOptions,
        limits: Limits,
    ) -> Result<Self, ParseError> {
        let mut tree = parser::parse(text, options, limits)?;
        tree.within = options.depth > 0;
        check_documents(text, &tree, limits)?;
        Ok(tree)
    }
}

/// Refuses a text with too many documents.
fn check_documents(text: &str, tree: &Tree, limits: Limits) -> Result<(), ParseError> {
    let most = limits.documents;
    let Some(next) = tree.documents.get(most) else {
        return Ok(());
    };
    let message = format!("more than {most} documents in one text");
    Err(ParseError::at(text, next.start, message))
}
