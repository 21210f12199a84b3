//! From a text to its tree: by the line scanner, else by the general parser.

use super::error::ParseError;
use super::limits::Limits;
use super::parser;
use super::scan::{self, Bail, Checker, TreeBuilder};
use super::tree::{NONE, ParseOptions, Tree};

impl Tree {
    /// Reads every document of a text.
    ///
    /// # Errors
    /// Where the text is not YAML, has a key twice in one mapping, nests deeper than
    /// [`MAX_DEPTH`](super::MAX_DEPTH), has a line that ends in CR alone, or is longer than 4 GiB.
    pub fn parse(text: &str, options: ParseOptions) -> Result<Self, ParseError> {
        Self::parse_within(text, options, Limits::of(text))
    }

    fn parse_within(text: &str, options: ParseOptions, limits: Limits) -> Result<Self, ParseError> {
        let builder = TreeBuilder::new(text, options.depth, limits);
        Self::build(text, options, builder, limits)
    }

    /// Checks that a text can be read, and makes no tree of it if the line scanner reads it.
    ///
    /// # Errors
    /// Those of [`Tree::parse`].
    pub(crate) fn check(text: &str, options: ParseOptions) -> Result<(), ParseError> {
        if !scan::is_in_use() || text.len() >= NONE as usize {
            return Self::parse(text, options).map(drop);
        }
        let limits = Limits::of(text);
        let mut checker = Checker::new(text, options.depth, limits);
        match scan::scan(text, &mut checker) {
            Ok(()) if !checker.is_full() => Ok(()),
            // The scanner stops there again, with a tree that tells the place.
            _ if checker.is_full() => Self::parse_within(text, options, limits).map(drop),
            _ => Self::parse_documents(text, options, limits).map(drop),
        }
    }

    /// Reads by the line scanner alone; `None` where it leaves the text to the general parser.
    ///
    /// For tests and benchmarks: [`Tree::parse`] does this first.
    #[must_use]
    pub fn parse_fast(text: &str, options: ParseOptions) -> Option<Self> {
        let limits = Limits::of(text);
        let builder = TreeBuilder::new(text, options.depth, limits);
        Self::scan(text, options, builder, limits).ok().flatten()
    }

    /// As [`Tree::parse`], for a text that was accepted before, as a whole or as a part of another, whose limits may have been
    /// higher.
    ///
    /// # Errors
    /// Those of [`Tree::parse`], but for the limits.
    pub(crate) fn parse_again(text: &str, options: ParseOptions) -> Result<Self, ParseError> {
        Self::parse_within(text, options, Limits::NONE)
    }

    fn build(
        text: &str,
        options: ParseOptions,
        builder: TreeBuilder<'_>,
        limits: Limits,
    ) -> Result<Self, ParseError> {
        if !scan::is_in_use() {
            return Self::parse_documents(text, options, limits.of_any_syntax());
        }
        if let Some(tree) = Self::scan(text, options, builder, limits)? {
            return Ok(tree);
        }
        Self::parse_documents(text, options, limits)
    }

    /// Reads by the line scanner; `None` where it stopped. At the node limit the general parser would stop, too.
    fn scan(
        text: &str,
        options: ParseOptions,
        mut builder: TreeBuilder<'_>,
        limits: Limits,
    ) -> Result<Option<Self>, ParseError> {
        if text.len() >= NONE as usize {
            return Ok(None);
        }
        if scan::scan(text, &mut builder) == Err(Bail) {
            return builder.check_limit().map(|()| None);
        }
        let mut tree = builder.finish();
        tree.within = options.depth > 0;
        check_documents(text, &tree, limits)?;
        Ok(Some(tree))
    }

    /// Reads by the general parser alone; gives the same tree as [`Tree::parse`].
    ///
    /// # Errors
    /// Those of [`Tree::parse`].
    pub fn parse_general(text: &str, options: ParseOptions) -> Result<Self, ParseError> {
        Self::parse_documents(text, options, Limits::of(text).of_any_syntax())
    }

    /// Reads by the general parser.
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

/// # Errors
/// A text of too many documents.
fn check_documents(text: &str, tree: &Tree, limits: Limits) -> Result<(), ParseError> {
    let most = limits.documents;
    let Some(next) = tree.documents.get(most) else {
        return Ok(());
    };
    let message = format!("more than {most} documents in one text");
    Err(ParseError::at(text, next.start, message))
}
