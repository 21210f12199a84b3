//! Parses a text into its tree: with the line scanner if it can read the text, otherwise with the general parser.

use super::error::ParseError;
use super::limits::Limits;
use super::parser;
use super::scan::{self, Bail, Checker, TreeBuilder};
use super::tree::{NONE, ParseOptions, Tree};

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
        let builder = TreeBuilder::new(text, options.depth, limits);
        Ok(Self::build(text, options, builder, limits)?.expanded(text))
    }

    /// Checks that a text can be read. Builds no tree if the line scanner can read the text.
    ///
    /// # Errors
    /// The errors of [`Tree::parse`].
    pub(crate) fn check(text: &str, options: ParseOptions) -> Result<(), ParseError> {
        if !scan::is_in_use() || text.len() >= NONE as usize {
            return Self::parse(text, options).map(drop);
        }
        let limits = Limits::of(text);
        let mut checker = Checker::new(text, options.depth, limits);
        match scan::scan(text, &mut checker) {
            Ok(()) if !checker.is_full() => Ok(()),
            // The scanner stops at the same place again, now with a tree, from which the error gets its place.
            _ if checker.is_full() => Self::parse_within(text, options, limits).map(drop),
            _ => Self::parse_documents(text, options, limits).map(drop),
        }
    }

    /// Reads with the line scanner only; `None` if the text needs the general parser.
    ///
    /// For tests and benchmarks: [`Tree::parse`] does this first.
    #[must_use]
    pub fn parse_fast(text: &str, options: ParseOptions) -> Option<Self> {
        let limits = Limits::of(text);
        let builder = TreeBuilder::new(text, options.depth, limits);
        Self::scan(text, options, builder, limits).ok().flatten()
    }

    /// Like [`Tree::parse`] without limits, for a text that was accepted before, alone or as part of another text.
    ///
    /// # Errors
    /// The errors of [`Tree::parse`], except those about limits.
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

    /// Reads with the line scanner; `None` where it stopped. An error at the node limit, where the general parser would
    /// stop, too.
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
